; count_wrong of src/1-threads/thread_rate/thread_rate.hip for gfx1030 by hipcc 5.2.3 (clang 15),
; encodings by llvm-mc; recorded, and cut down to what is read.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx1030"
	.section	.text._ZN12_GLOBAL__N_111count_wrongEPKjmjPy,#alloc,#execinstr
	.globl	_ZN12_GLOBAL__N_111count_wrongEPKjmjPy
	.p2align	8	; -- Begin function _ZN12_GLOBAL__N_111count_wrongEPKjmjPy
	.type	_ZN12_GLOBAL__N_111count_wrongEPKjmjPy,@function
_ZN12_GLOBAL__N_111count_wrongEPKjmjPy:	; @_ZN12_GLOBAL__N_111count_wrongEPKjmjPy
	; %bb.0:
	s_clause 0x1                            ; encoding: [0x01,0x00,0xa1,0xbf]
	s_load_dword s0, s[4:5], 0x4            ; encoding: [0x02,0x00,0x00,0xf4,0x04,0x00,0x00,0xfa]
	s_load_dword s12, s[4:5], 0xc           ; encoding: [0x02,0x03,0x00,0xf4,0x0c,0x00,0x00,0xfa]
	s_mov_b32 s10, 0                        ; encoding: [0x80,0x03,0x8a,0xbe]
	s_mov_b32 s5, exec_lo                   ; encoding: [0x7e,0x03,0x85,0xbe]
	s_waitcnt lgkmcnt(0)                    ; encoding: [0x7f,0xc0,0x8c,0xbf]
	s_and_b32 s13, s0, 0xffff               ; encoding: [0x00,0xff,0x0d,0x87,0xff,0xff,0x00,0x00]
	s_load_dwordx4 s[0:3], s[6:7], 0x0      ; encoding: [0x03,0x00,0x08,0xf4,0x00,0x00,0x00,0xfa]
	v_cvt_f32_u32_e32 v1, s13               ; encoding: [0x0d,0x0c,0x02,0x7e]
	s_mul_i32 s4, s8, s13                   ; encoding: [0x08,0x0d,0x04,0x93]
	s_sub_i32 s4, s12, s4                   ; encoding: [0x0c,0x04,0x84,0x81]
	s_min_u32 s9, s4, s13                   ; encoding: [0x04,0x0d,0x89,0x83]
	v_rcp_iflag_f32_e32 v2, v1              ; encoding: [0x01,0x57,0x04,0x7e]
	v_mov_b32_e32 v1, 0                     ; encoding: [0x80,0x02,0x02,0x7e]
	v_mad_u64_u32 v[0:1], null, s9, s8, v[0:1] ; encoding: [0x00,0x7d,0x76,0xd5,0x09,0x10,0x00,0x04]
	v_mul_f32_e32 v2, 0x4f7ffffe, v2        ; encoding: [0xff,0x04,0x04,0x10,0xfe,0xff,0x7f,0x4f]
	v_cvt_u32_f32_e32 v2, v2                ; encoding: [0x02,0x0f,0x04,0x7e]
	v_readfirstlane_b32 s4, v2              ; encoding: [0x02,0x05,0x08,0x7e]
	s_waitcnt lgkmcnt(0)                    ; encoding: [0x7f,0xc0,0x8c,0xbf]
	v_cmpx_gt_u64_e64 s[2:3], v[0:1]        ; encoding: [0x00,0x00,0xf4,0xd4,0x02,0x00,0x02,0x00]
	s_cbranch_execz .LBB2_5                 ; encoding: [A,A,0x88,0xbf]
                                        ;   fixup A - offset: 0, value: .LBB2_5, kind: fixup_si_sopp_br
	; %bb.1:
	s_sub_i32 s5, 0, s13                    ; encoding: [0x80,0x0d,0x85,0x81]
	v_mov_b32_e32 v4, 0                     ; encoding: [0x80,0x02,0x08,0x7e]
	s_mul_i32 s5, s5, s4                    ; encoding: [0x05,0x04,0x05,0x93]
	s_mul_hi_u32 s5, s4, s5                 ; encoding: [0x04,0x05,0x85,0x9a]
	s_add_i32 s4, s4, s5                    ; encoding: [0x04,0x05,0x04,0x81]
	s_mul_hi_u32 s4, s12, s4                ; encoding: [0x0c,0x04,0x84,0x9a]
	s_mul_i32 s5, s4, s13                   ; encoding: [0x04,0x0d,0x05,0x93]
	s_sub_i32 s5, s12, s5                   ; encoding: [0x0c,0x05,0x85,0x81]
	s_cmp_ge_u32 s5, s13                    ; encoding: [0x05,0x0d,0x09,0xbf]
	s_cselect_b32 vcc_lo, -1, 0             ; encoding: [0xc1,0x80,0x6a,0x85]
	s_add_i32 s8, s4, 1                     ; encoding: [0x04,0x81,0x08,0x81]
	s_sub_i32 s11, s5, s13                  ; encoding: [0x05,0x0d,0x8b,0x81]
	v_mov_b32_e32 v2, s8                    ; encoding: [0x08,0x02,0x04,0x7e]
	v_mov_b32_e32 v3, s11                   ; encoding: [0x0b,0x02,0x06,0x7e]
	v_cndmask_b32_e32 v2, s4, v2, vcc_lo    ; encoding: [0x04,0x04,0x04,0x02]
	v_cndmask_b32_e32 v3, s5, v3, vcc_lo    ; encoding: [0x05,0x06,0x06,0x02]
	v_readfirstlane_b32 s8, v2              ; encoding: [0x02,0x05,0x10,0x7e]
	v_readfirstlane_b32 s4, v3              ; encoding: [0x03,0x05,0x08,0x7e]
	v_lshlrev_b64 v[2:3], 2, v[0:1]         ; encoding: [0x02,0x00,0xff,0xd6,0x82,0x00,0x02,0x00]
	s_add_i32 s14, s8, 1                    ; encoding: [0x08,0x81,0x0e,0x81]
	s_cmp_ge_u32 s4, s13                    ; encoding: [0x04,0x0d,0x09,0xbf]
	s_clause 0x1                            ; encoding: [0x01,0x00,0xa1,0xbf]
	s_load_dword s11, s[6:7], 0x10          ; encoding: [0xc3,0x02,0x00,0xf4,0x10,0x00,0x00,0xfa]
	s_load_dwordx2 s[4:5], s[6:7], 0x18     ; encoding: [0x03,0x01,0x04,0xf4,0x18,0x00,0x00,0xfa]
	s_cselect_b32 s6, s14, s8               ; encoding: [0x0e,0x08,0x06,0x85]
	v_add_co_u32 v2, vcc_lo, s0, v2         ; encoding: [0x02,0x6a,0x0f,0xd7,0x00,0x04,0x02,0x00]
	s_mul_i32 s7, s6, s13                   ; encoding: [0x06,0x0d,0x07,0x93]
	v_add_co_ci_u32_e32 v3, vcc_lo, s1, v3, vcc_lo ; encoding: [0x01,0x06,0x06,0x50]
	s_cmp_gt_u32 s12, s7                    ; encoding: [0x0c,0x07,0x08,0xbf]
	s_cselect_b32 s7, -1, 0                 ; encoding: [0xc1,0x80,0x07,0x85]
	s_cmpk_lg_u32 s7, 0x0                   ; encoding: [0x00,0x00,0x07,0xb5]
	s_addc_u32 s6, s6, 0                    ; encoding: [0x06,0x80,0x06,0x82]
	s_mul_hi_u32 s7, s6, s9                 ; encoding: [0x06,0x09,0x87,0x9a]
	s_mul_i32 s6, s6, s9                    ; encoding: [0x06,0x09,0x06,0x93]
	s_lshl_b64 s[8:9], s[6:7], 2            ; encoding: [0x06,0x82,0x88,0x8f]
	s_inst_prefetch 0x1                     ; encoding: [0x01,0x00,0xa0,0xbf]
	s_branch .LBB2_3                        ; encoding: [A,A,0x82,0xbf]
                                        ;   fixup A - offset: 0, value: .LBB2_3, kind: fixup_si_sopp_br
	.p2align	6
.LBB2_2:	;   in Loop: Header=BB2_3 Depth=1
	s_or_b32 exec_lo, exec_lo, s0           ; encoding: [0x7e,0x00,0x7e,0x88]
	v_add_co_u32 v0, vcc_lo, v0, s6         ; encoding: [0x00,0x6a,0x0f,0xd7,0x00,0x0d,0x00,0x00]
	v_add_co_ci_u32_e32 v1, vcc_lo, s7, v1, vcc_lo ; encoding: [0x07,0x02,0x02,0x50]
	v_add_co_u32 v2, s0, v2, s8             ; encoding: [0x02,0x00,0x0f,0xd7,0x02,0x11,0x00,0x00]
	v_add_co_ci_u32_e64 v3, s0, s9, v3, s0  ; encoding: [0x03,0x00,0x28,0xd5,0x09,0x06,0x02,0x00]
	v_cmp_le_u64_e32 vcc_lo, s[2:3], v[0:1] ; encoding: [0x02,0x00,0xc6,0x7d]
	s_or_b32 s10, vcc_lo, s10               ; encoding: [0x6a,0x0a,0x0a,0x88]
	s_andn2_b32 exec_lo, exec_lo, s10       ; encoding: [0x7e,0x0a,0x7e,0x8a]
	s_cbranch_execz .LBB2_5                 ; encoding: [A,A,0x88,0xbf]
                                        ;   fixup A - offset: 0, value: .LBB2_5, kind: fixup_si_sopp_br
.LBB2_3:	; =>This Inner Loop Header: Depth=1
	global_load_dword v5, v[2:3], off       ; encoding: [0x00,0x80,0x30,0xdc,0x02,0x00,0x7d,0x05]
	s_waitcnt lgkmcnt(0)                    ; encoding: [0x7f,0xc0,0x8c,0xbf]
	v_xor_b32_e32 v6, s11, v0               ; encoding: [0x0b,0x00,0x0c,0x3a]
	s_mov_b32 s0, exec_lo                   ; encoding: [0x7e,0x03,0x80,0xbe]
	v_and_b32_e32 v6, 0x7fffffff, v6        ; encoding: [0xff,0x0c,0x0c,0x36,0xff,0xff,0xff,0x7f]
	s_waitcnt vmcnt(0)                      ; encoding: [0x70,0x3f,0x8c,0xbf]
	v_cmpx_ne_u32_e64 v5, v6                ; encoding: [0x00,0x00,0xd5,0xd4,0x05,0x0d,0x02,0x00]
	s_cbranch_execz .LBB2_2                 ; encoding: [A,A,0x88,0xbf]
                                        ;   fixup A - offset: 0, value: .LBB2_2, kind: fixup_si_sopp_br
	; %bb.4:                                ;   in Loop: Header=BB2_3 Depth=1
	v_mov_b32_e32 v5, 1                     ; encoding: [0x81,0x02,0x0a,0x7e]
	v_mov_b32_e32 v6, 0                     ; encoding: [0x80,0x02,0x0c,0x7e]
	global_atomic_add_x2 v4, v[5:6], s[4:5] ; encoding: [0x00,0x80,0x48,0xdd,0x04,0x05,0x04,0x00]
	s_branch .LBB2_2                        ; encoding: [A,A,0x82,0xbf]
                                        ;   fixup A - offset: 0, value: .LBB2_2, kind: fixup_si_sopp_br
.LBB2_5:
	s_inst_prefetch 0x2                     ; encoding: [0x02,0x00,0xa0,0xbf]
	s_endpgm                                ; encoding: [0x00,0x00,0x81,0xbf]
	.section	.rodata,#alloc
	.p2align	6
	.amdhsa_kernel _ZN12_GLOBAL__N_111count_wrongEPKjmjPy
	.end_amdhsa_kernel

	.section	.text._ZN12_GLOBAL__N_111count_wrongEPKjmjPy,#alloc,#execinstr
.Lfunc_end2:
	.size	_ZN12_GLOBAL__N_111count_wrongEPKjmjPy, .Lfunc_end2-_ZN12_GLOBAL__N_111count_wrongEPKjmjPy
	; -- End function
	.section	.AMDGPU.csdata
	; Kernel info:
	; codeLenInByte = 420
	; NumSgprs: 17
	; NumVgprs: 7
	; ScratchSize: 0
	; MemoryBound: 0
	; FloatMode: 240
	; IeeeMode: 1
	; LDSByteSize: 0 bytes/workgroup (compile time only)
	; SGPRBlocks: 2
	; VGPRBlocks: 0
	; NumSGPRsForWavesPerEU: 17
	; NumVGPRsForWavesPerEU: 7
	; Occupancy: 16
	; WaveLimiterHint : 0
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args: []
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 32
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 256
    .name:           _ZN12_GLOBAL__N_111count_wrongEPKjmjPy
    .private_segment_fixed_size: 0
    .sgpr_count:     17
    .sgpr_spill_count: 0
    .symbol:         _ZN12_GLOBAL__N_111count_wrongEPKjmjPy.kd
    .uses_dynamic_stack: false
    .vgpr_count:     7
    .vgpr_spill_count: 0
    .wavefront_size: 32
amdhsa.target:   amdgcn-amd-amdhsa--gfx1030
amdhsa.version:
  - 1
  - 1
...
	.end_amdgpu_metadata
