; src/2-compute/cu_staircase/cu_staircase.hip for gfx900 by hipcc 5.2.3 (clang 15),
; encodings by llvm-mc; recorded, and cut down to what is read.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx900"
	.section	.text._ZN12_GLOBAL__N_111busy_kernelEPfj,#alloc,#execinstr
	.globl	_ZN12_GLOBAL__N_111busy_kernelEPfj
	.p2align	8	; -- Begin function _ZN12_GLOBAL__N_111busy_kernelEPfj
	.type	_ZN12_GLOBAL__N_111busy_kernelEPfj,@function
_ZN12_GLOBAL__N_111busy_kernelEPfj:	; @_ZN12_GLOBAL__N_111busy_kernelEPfj
	; %bb.0:
	s_load_dword s0, s[4:5], 0x4            ; encoding: [0x02,0x00,0x02,0xc0,0x04,0x00,0x00,0x00]
	s_load_dword s1, s[4:5], 0xc            ; encoding: [0x42,0x00,0x02,0xc0,0x0c,0x00,0x00,0x00]
	s_mov_b32 s3, 0x42740000                ; encoding: [0xff,0x00,0x83,0xbe,0x00,0x00,0x74,0x42]
	s_waitcnt lgkmcnt(0)                    ; encoding: [0x7f,0xc0,0x8c,0xbf]
	s_and_b32 s0, s0, 0xffff                ; encoding: [0x00,0xff,0x00,0x86,0xff,0xff,0x00,0x00]
	s_mul_i32 s2, s8, s0                    ; encoding: [0x08,0x00,0x02,0x92]
	s_sub_i32 s1, s1, s2                    ; encoding: [0x01,0x02,0x81,0x81]
	s_min_u32 s0, s1, s0                    ; encoding: [0x01,0x00,0x80,0x83]
	s_mul_i32 s0, s0, s8                    ; encoding: [0x00,0x08,0x00,0x92]
	v_add_u32_e32 v0, s0, v0                ; encoding: [0x00,0x00,0x00,0x68]
	s_mov_b32 s0, 0x4325c53f                ; encoding: [0xff,0x00,0x80,0xbe,0x3f,0xc5,0x25,0x43]
	v_mul_hi_u32 v1, v0, s0                 ; encoding: [0x01,0x00,0x86,0xd2,0x00,0x01,0x00,0x00]
	v_lshrrev_b32_e32 v1, 4, v1             ; encoding: [0x84,0x02,0x02,0x20]
	v_mul_lo_u32 v1, v1, 61                 ; encoding: [0x01,0x00,0x85,0xd2,0x01,0x7b,0x01,0x00]
	v_sub_u32_e32 v1, v0, v1                ; encoding: [0x00,0x03,0x02,0x6a]
	v_cvt_f32_u32_e32 v1, v1                ; encoding: [0x01,0x0d,0x02,0x7e]
	v_div_scale_f32 v2, s[0:1], s3, s3, v1  ; encoding: [0x02,0x00,0xe0,0xd1,0x03,0x06,0x04,0x04]
	v_div_scale_f32 v3, vcc, v1, s3, v1     ; encoding: [0x03,0x6a,0xe0,0xd1,0x01,0x07,0x04,0x04]
	s_load_dword s2, s[6:7], 0x8            ; encoding: [0x83,0x00,0x02,0xc0,0x08,0x00,0x00,0x00]
	s_load_dwordx2 s[0:1], s[6:7], 0x0      ; encoding: [0x03,0x00,0x06,0xc0,0x00,0x00,0x00,0x00]
	s_waitcnt lgkmcnt(0)                    ; encoding: [0x7f,0xc0,0x8c,0xbf]
	s_cmp_eq_u32 s2, 0                      ; encoding: [0x02,0x80,0x06,0xbf]
	v_rcp_f32_e32 v4, v2                    ; encoding: [0x02,0x45,0x08,0x7e]
	v_fma_f32 v5, -v2, v4, 1.0              ; encoding: [0x05,0x00,0xcb,0xd1,0x02,0x09,0xca,0x23]
	v_fma_f32 v4, v5, v4, v4                ; encoding: [0x04,0x00,0xcb,0xd1,0x05,0x09,0x12,0x04]
	v_mul_f32_e32 v5, v3, v4                ; encoding: [0x03,0x09,0x0a,0x0a]
	v_fma_f32 v6, -v2, v5, v3               ; encoding: [0x06,0x00,0xcb,0xd1,0x02,0x0b,0x0e,0x24]
	v_fma_f32 v5, v6, v4, v5                ; encoding: [0x05,0x00,0xcb,0xd1,0x06,0x09,0x16,0x04]
	v_fma_f32 v2, -v2, v5, v3               ; encoding: [0x02,0x00,0xcb,0xd1,0x02,0x0b,0x0e,0x24]
	v_div_fmas_f32 v2, v2, v4, v5           ; encoding: [0x02,0x00,0xe2,0xd1,0x02,0x09,0x16,0x04]
	v_div_fixup_f32 v2, v2, s3, v1          ; encoding: [0x02,0x00,0xde,0xd1,0x02,0x07,0x04,0x04]
	s_cbranch_scc1 .LBB0_7                  ; encoding: [A,A,0x85,0xbf]
                                        ;   fixup A - offset: 0, value: .LBB0_7, kind: fixup_si_sopp_br
	; %bb.1:
	s_add_i32 s3, s2, -1                    ; encoding: [0x02,0xc1,0x03,0x81]
	s_cmp_lt_u32 s3, 15                     ; encoding: [0x03,0x8f,0x0a,0xbf]
	s_cbranch_scc1 .LBB0_4                  ; encoding: [A,A,0x85,0xbf]
                                        ;   fixup A - offset: 0, value: .LBB0_4, kind: fixup_si_sopp_br
	; %bb.2:
	s_and_b32 s3, s2, -16                   ; encoding: [0x02,0xd0,0x03,0x86]
	s_mov_b32 s4, 0xbf7ffff0                ; encoding: [0xff,0x00,0x84,0xbe,0xf0,0xff,0x7f,0xbf]
.LBB0_3:	; =>This Inner Loop Header: Depth=1
	v_fma_f32 v1, v2, s4, 1.0               ; encoding: [0x01,0x00,0xcb,0xd1,0x02,0x09,0xc8,0x03]
	v_fma_f32 v1, v1, s4, 1.0               ; encoding: [0x01,0x00,0xcb,0xd1,0x01,0x09,0xc8,0x03]
	v_fma_f32 v1, v1, s4, 1.0               ; encoding: [0x01,0x00,0xcb,0xd1,0x01,0x09,0xc8,0x03]
	v_fma_f32 v1, v1, s4, 1.0               ; encoding: [0x01,0x00,0xcb,0xd1,0x01,0x09,0xc8,0x03]
	v_fma_f32 v1, v1, s4, 1.0               ; encoding: [0x01,0x00,0xcb,0xd1,0x01,0x09,0xc8,0x03]
	v_fma_f32 v1, v1, s4, 1.0               ; encoding: [0x01,0x00,0xcb,0xd1,0x01,0x09,0xc8,0x03]
	v_fma_f32 v1, v1, s4, 1.0               ; encoding: [0x01,0x00,0xcb,0xd1,0x01,0x09,0xc8,0x03]
	v_fma_f32 v1, v1, s4, 1.0               ; encoding: [0x01,0x00,0xcb,0xd1,0x01,0x09,0xc8,0x03]
	v_fma_f32 v1, v1, s4, 1.0               ; encoding: [0x01,0x00,0xcb,0xd1,0x01,0x09,0xc8,0x03]
	v_fma_f32 v1, v1, s4, 1.0               ; encoding: [0x01,0x00,0xcb,0xd1,0x01,0x09,0xc8,0x03]
	v_fma_f32 v1, v1, s4, 1.0               ; encoding: [0x01,0x00,0xcb,0xd1,0x01,0x09,0xc8,0x03]
	v_fma_f32 v1, v1, s4, 1.0               ; encoding: [0x01,0x00,0xcb,0xd1,0x01,0x09,0xc8,0x03]
	v_fma_f32 v1, v1, s4, 1.0               ; encoding: [0x01,0x00,0xcb,0xd1,0x01,0x09,0xc8,0x03]
	v_fma_f32 v1, v1, s4, 1.0               ; encoding: [0x01,0x00,0xcb,0xd1,0x01,0x09,0xc8,0x03]
	v_fma_f32 v1, v1, s4, 1.0               ; encoding: [0x01,0x00,0xcb,0xd1,0x01,0x09,0xc8,0x03]
	s_add_i32 s3, s3, -16                   ; encoding: [0x03,0xd0,0x03,0x81]
	s_cmp_eq_u32 s3, 0                      ; encoding: [0x03,0x80,0x06,0xbf]
	v_fma_f32 v2, v1, s4, 1.0               ; encoding: [0x02,0x00,0xcb,0xd1,0x01,0x09,0xc8,0x03]
	s_cbranch_scc0 .LBB0_3                  ; encoding: [A,A,0x84,0xbf]
                                        ;   fixup A - offset: 0, value: .LBB0_3, kind: fixup_si_sopp_br
.LBB0_4:
	s_and_b32 s2, s2, 15                    ; encoding: [0x02,0x8f,0x02,0x86]
	s_cmp_eq_u32 s2, 0                      ; encoding: [0x02,0x80,0x06,0xbf]
	s_cbranch_scc1 .LBB0_7                  ; encoding: [A,A,0x85,0xbf]
                                        ;   fixup A - offset: 0, value: .LBB0_7, kind: fixup_si_sopp_br
	; %bb.5:
	s_mov_b32 s3, 0xbf7ffff0                ; encoding: [0xff,0x00,0x83,0xbe,0xf0,0xff,0x7f,0xbf]
.LBB0_6:	; =>This Inner Loop Header: Depth=1
	s_add_i32 s2, s2, -1                    ; encoding: [0x02,0xc1,0x02,0x81]
	s_cmp_eq_u32 s2, 0                      ; encoding: [0x02,0x80,0x06,0xbf]
	v_fma_f32 v2, v2, s3, 1.0               ; encoding: [0x02,0x00,0xcb,0xd1,0x02,0x07,0xc8,0x03]
	s_cbranch_scc0 .LBB0_6                  ; encoding: [A,A,0x84,0xbf]
                                        ;   fixup A - offset: 0, value: .LBB0_6, kind: fixup_si_sopp_br
.LBB0_7:
	v_mov_b32_e32 v1, 0                     ; encoding: [0x80,0x02,0x02,0x7e]
	v_lshlrev_b64 v[0:1], 2, v[0:1]         ; encoding: [0x00,0x00,0x8f,0xd2,0x82,0x00,0x02,0x00]
	v_mov_b32_e32 v3, s1                    ; encoding: [0x01,0x02,0x06,0x7e]
	v_add_co_u32_e32 v0, vcc, s0, v0        ; encoding: [0x00,0x00,0x00,0x32]
	v_addc_co_u32_e32 v1, vcc, v3, v1, vcc  ; encoding: [0x03,0x03,0x02,0x38]
	global_store_dword v[0:1], v2, off      ; encoding: [0x00,0x80,0x70,0xdc,0x00,0x02,0x7f,0x00]
	s_endpgm                                ; encoding: [0x00,0x00,0x81,0xbf]
	.section	.rodata,#alloc
	.p2align	6
	.amdhsa_kernel _ZN12_GLOBAL__N_111busy_kernelEPfj
	.end_amdhsa_kernel

	.section	.text._ZN12_GLOBAL__N_111busy_kernelEPfj,#alloc,#execinstr
.Lfunc_end0:
	.size	_ZN12_GLOBAL__N_111busy_kernelEPfj, .Lfunc_end0-_ZN12_GLOBAL__N_111busy_kernelEPfj
	; -- End function
	.section	.AMDGPU.csdata
	; Kernel info:
	; codeLenInByte = 544
	; NumSgprs: 11
	; NumVgprs: 7
	; ScratchSize: 0
	; MemoryBound: 0
	; FloatMode: 240
	; IeeeMode: 1
	; LDSByteSize: 0 bytes/workgroup (compile time only)
	; SGPRBlocks: 1
	; VGPRBlocks: 1
	; NumSGPRsForWavesPerEU: 11
	; NumVGPRsForWavesPerEU: 7
	; Occupancy: 10
	; WaveLimiterHint : 0
	.section	.text._ZN12_GLOBAL__N_114waiting_kernelEPxx,#alloc,#execinstr
	.globl	_ZN12_GLOBAL__N_114waiting_kernelEPxx
	.p2align	8	; -- Begin function _ZN12_GLOBAL__N_114waiting_kernelEPxx
	.type	_ZN12_GLOBAL__N_114waiting_kernelEPxx,@function
_ZN12_GLOBAL__N_114waiting_kernelEPxx:	; @_ZN12_GLOBAL__N_114waiting_kernelEPxx
	; %bb.0:
	v_cmp_eq_u32_e32 vcc, 0, v0             ; encoding: [0x80,0x00,0x94,0x7d]
	s_and_saveexec_b64 s[8:9], vcc          ; encoding: [0x6a,0x20,0x88,0xbe]
	s_cbranch_execz .LBB1_5                 ; encoding: [A,A,0x88,0xbf]
                                        ;   fixup A - offset: 0, value: .LBB1_5, kind: fixup_si_sopp_br
	; %bb.1:
	s_load_dwordx4 s[0:3], s[4:5], 0x0      ; encoding: [0x02,0x00,0x0a,0xc0,0x00,0x00,0x00,0x00]
	s_memtime s[10:11]                      ; encoding: [0x80,0x02,0x90,0xc0,0x00,0x00,0x00,0x00]
	s_waitcnt lgkmcnt(0)                    ; encoding: [0x7f,0xc0,0x8c,0xbf]
	v_cmp_lt_i64_e64 s[4:5], s[2:3], 1      ; encoding: [0x04,0x00,0xe1,0xd0,0x02,0x02,0x01,0x00]
	s_and_b64 vcc, exec, s[4:5]             ; encoding: [0x7e,0x04,0xea,0x86]
	s_cbranch_vccnz .LBB1_3                 ; encoding: [A,A,0x87,0xbf]
                                        ;   fixup A - offset: 0, value: .LBB1_3, kind: fixup_si_sopp_br
.LBB1_2:	; =>This Inner Loop Header: Depth=1
	s_sleep 4                               ; encoding: [0x04,0x00,0x8e,0xbf]
	s_memtime s[4:5]                        ; encoding: [0x00,0x01,0x90,0xc0,0x00,0x00,0x00,0x00]
	v_mov_b32_e32 v0, s2                    ; encoding: [0x02,0x02,0x00,0x7e]
	v_mov_b32_e32 v1, s3                    ; encoding: [0x03,0x02,0x02,0x7e]
	s_waitcnt lgkmcnt(0)                    ; encoding: [0x7f,0xc0,0x8c,0xbf]
	s_sub_u32 s4, s4, s10                   ; encoding: [0x04,0x0a,0x84,0x80]
	s_subb_u32 s5, s5, s11                  ; encoding: [0x05,0x0b,0x85,0x82]
	v_cmp_lt_i64_e32 vcc, s[4:5], v[0:1]    ; encoding: [0x04,0x00,0xc2,0x7d]
	s_cbranch_vccnz .LBB1_2                 ; encoding: [A,A,0x87,0xbf]
                                        ;   fixup A - offset: 0, value: .LBB1_2, kind: fixup_si_sopp_br
	s_branch .LBB1_4                        ; encoding: [A,A,0x82,0xbf]
                                        ;   fixup A - offset: 0, value: .LBB1_4, kind: fixup_si_sopp_br
.LBB1_3:
	s_mov_b64 s[4:5], 0                     ; encoding: [0x80,0x01,0x84,0xbe]
.LBB1_4:
	s_mov_b32 s7, 0                         ; encoding: [0x80,0x00,0x87,0xbe]
	s_lshl_b64 s[2:3], s[6:7], 3            ; encoding: [0x06,0x83,0x82,0x8e]
	s_add_u32 s0, s0, s2                    ; encoding: [0x00,0x02,0x00,0x80]
	v_mov_b32_e32 v0, s4                    ; encoding: [0x04,0x02,0x00,0x7e]
	s_addc_u32 s1, s1, s3                   ; encoding: [0x01,0x03,0x01,0x82]
	v_mov_b32_e32 v2, 0                     ; encoding: [0x80,0x02,0x04,0x7e]
	v_mov_b32_e32 v1, s5                    ; encoding: [0x05,0x02,0x02,0x7e]
	global_store_dwordx2 v2, v[0:1], s[0:1] ; encoding: [0x00,0x80,0x74,0xdc,0x02,0x00,0x00,0x00]
.LBB1_5:
	s_or_b64 exec, exec, s[8:9]             ; encoding: [0x7e,0x08,0xfe,0x87]
	s_waitcnt vmcnt(0) lgkmcnt(0)           ; encoding: [0x70,0x00,0x8c,0xbf]
	s_barrier                               ; encoding: [0x00,0x00,0x8a,0xbf]
	s_waitcnt lgkmcnt(0)                    ; encoding: [0x7f,0xc0,0x8c,0xbf]
	s_endpgm                                ; encoding: [0x00,0x00,0x81,0xbf]
	.section	.rodata,#alloc
	.p2align	6
	.amdhsa_kernel _ZN12_GLOBAL__N_114waiting_kernelEPxx
	.end_amdhsa_kernel

	.section	.text._ZN12_GLOBAL__N_114waiting_kernelEPxx,#alloc,#execinstr
.Lfunc_end1:
	.size	_ZN12_GLOBAL__N_114waiting_kernelEPxx, .Lfunc_end1-_ZN12_GLOBAL__N_114waiting_kernelEPxx
	; -- End function
	.section	.AMDGPU.csdata
	; Kernel info:
	; codeLenInByte = 152
	; NumSgprs: 14
	; NumVgprs: 3
	; ScratchSize: 0
	; MemoryBound: 0
	; FloatMode: 240
	; IeeeMode: 1
	; LDSByteSize: 0 bytes/workgroup (compile time only)
	; SGPRBlocks: 1
	; VGPRBlocks: 0
	; NumSGPRsForWavesPerEU: 14
	; NumVGPRsForWavesPerEU: 3
	; Occupancy: 10
	; WaveLimiterHint : 0
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args: []
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 12
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 1024
    .name:           _ZN12_GLOBAL__N_111busy_kernelEPfj
    .private_segment_fixed_size: 0
    .sgpr_count:     11
    .sgpr_spill_count: 0
    .symbol:         _ZN12_GLOBAL__N_111busy_kernelEPfj.kd
    .uses_dynamic_stack: false
    .vgpr_count:     7
    .vgpr_spill_count: 0
    .wavefront_size: 64
  - .args: []
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 16
    .language:       OpenCL C
    .language_version:
      - 2
      - 0
    .max_flat_workgroup_size: 1024
    .name:           _ZN12_GLOBAL__N_114waiting_kernelEPxx
    .private_segment_fixed_size: 0
    .sgpr_count:     14
    .sgpr_spill_count: 0
    .symbol:         _ZN12_GLOBAL__N_114waiting_kernelEPxx.kd
    .uses_dynamic_stack: false
    .vgpr_count:     3
    .vgpr_spill_count: 0
    .wavefront_size: 64
amdhsa.target:   amdgcn-amd-amdhsa--gfx900
amdhsa.version:
  - 1
  - 1
...
	.end_amdgpu_metadata
