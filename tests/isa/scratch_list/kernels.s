	.globl	_Z5smallv                       ; -- Begin function _Z5smallv
_Z5smallv:
	s_endpgm
                                        ; -- End function
; ScratchSize: 0
	.globl	_Z5largev                       ; -- Begin function _Z5largev
_Z5largev:
	buffer_store_dword v0, off, s[0:3], 0
	scratch_load_dword v0, off, s32
	s_endpgm
                                        ; -- End function
; ScratchSize: 12
	.globl	_Z5lanesv                       ; -- Begin function _Z5lanesv
_Z5lanesv:
	v_writelane_b32 v0, s0, 0
	s_endpgm
                                        ; -- End function
; ScratchSize: 0
	.amdgpu_metadata
amdhsa.kernels:
  - .args:           []
    .name:           _Z5smallv
    .sgpr_spill_count: 0
    .vgpr_spill_count: 0
    .wavefront_size: 64
  - .args:           []
    .name:           _Z5largev
    .sgpr_spill_count: 0
    .vgpr_spill_count: 2
    .wavefront_size: 64
  - .args:           []
    .name:           _Z5lanesv
    .sgpr_spill_count: 3
    .vgpr_spill_count: 0
    .wavefront_size: 64
