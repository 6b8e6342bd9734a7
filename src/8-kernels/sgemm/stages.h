// The ladder: all stages in order, first those of fileaccent's sgemm-exercise, under its
// numbers, then ours. Read the files in the order of their numbers; each heading says, after
// "Against", which stage it improves on, and a diff with that one shows what changed. Mostly that
// is the one before; 3.2 and its successors, with tiles of 128 x 128, are a ladder of their own
// next to 4 to 9.
//
// A stage of fileaccent's does the work of that code: the same copies, layout in LDS, buffers,
// barriers, index arithmetic, block and grid. Where that has a mistake, the file says what is
// corrected. All of them take alpha and beta, rows with gaps, and m and n that differ, for which
// fileaccent's grids and stores are not made. All but 3.5, 7.4 to 7.6 and 7.8 also have
// __restrict__ on A, B and C, which fileaccent's have in 9.1 only: for gfx908 clang 15 makes the
// same of them without it, loads, stores to LDS, barriers and FMAs in the same order (of 3.2 the
// same loop over k, with some copies to AGPRs more before it).
#pragma once

#include <vector>

#include "01-one-thread-per-element.h"
#include "02-lds-tile.h"
#include "03-thread-tile.h"
#include "03.1-operands-in-registers.h"
#include "03.2-eight-by-eight.h"
#include "03.3-a-transposed.h"
#include "03.4-halves-copy.h"
#include "03.5-two-lds-buffers-of-128.h"
#include "03.6-four-k-per-step.h"
#include "04-padding.h"
#include "05-fragments-of-four-k.h"
#include "06-buffers-by-variable.h"
#include "07-two-k-per-step.h"
#include "07.1-copy-helper.h"
#include "07.3-placed-reads.h"
#include "07.4-two-lds-buffers.h"
#include "07.5-two-register-buffers.h"
#include "07.6-loads-in-pairs.h"
#include "07.7-loading-waves-lds-operands.h"
#include "08.1-waves-8x8.h"
#include "08.2-waves-4x16.h"
#include "08.3-b-transposed.h"
#include "09-four-squares.h"
#include "09.1-halves.h"
#include "10-cuda-kernel.h"
#include "11-held-reads.h"
#include "12-reads-in-assembly.h"
#include "13-register-tile.h"
#include "15-matrix-instructions.h"
#include "16-asynchronous-copies.h"
#include "19-split-along-k.h"
#include "21-small-tiles.h"
#include "21.1-row-major-lds.h"
#include "22-tile-by-size.h"
#include "8-kernels/gemm/mfma/stages.h"
#include "pipelined_launch.h"
#include "stage.h"

namespace sgemm {

/// A stage of 128 x 128, compiled for its own 256 threads.
inline Stage bounded(Stage stage) {
  stage.technique += ", launch bounds";
  return stage;
}

/// A stage whose kernel states no launch bound.
inline Stage without_bound(Stage stage) {
  stage.needs = {.what = "a compiler that takes no bound for none stated",
                 .on = gemm::is_no_amd_gpu};
  return stage;
}

inline std::vector<Stage> numbered_stages() {
  // fileaccent's tiles: a block's rows, columns and depth, its threads, a thread's rows and
  // columns. Then the LDS that its launches ask for, in floats: A's tile and B's.
  constexpr Tiles t64 = {64, 64, 16, 256, 4, 4};
  constexpr Tiles t64_of_512_threads = {64, 64, 16, 512, 4, 4};
  constexpr Tiles t128 = {128, 128, 8, 256, 8, 8};
  constexpr Tiles t128_of_16_k = {128, 128, 16, 256, 8, 8};
  constexpr unsigned bare = 64 * 16 + 16 * 64;
  constexpr unsigned padded_by_4 = 64 * (16 + 4) + 16 * (64 + 4);
  constexpr unsigned padded_by_8 = 64 * (16 + 8) + 16 * (64 + 8);
  constexpr unsigned padded_128 = 128 * (8 + 4) + 8 * (128 + 4);
  constexpr unsigned turned_128 = 8 * (128 + 4) + 8 * (128 + 4);
  constexpr unsigned own = t128.threads;
  using enum Grid;
  return {
    stage_of<one_thread_per_element_kernel, one_row>("1", "one thread per element",
                                                     {1, 32, 1, 32, 1, 1}),
        stage_of<lds_tile_kernel, one_row>("2", "tiles of 16 x 16 in LDS", {16, 16, 16, 256, 1, 1},
                                           16 * 16 + 16 * 16),
        stage_of<thread_tile_kernel>("3", "4 x 4 per thread", t64, bare),
        stage_of<operands_in_registers_kernel>("3.1", "4 x 4, operands in registers", t64, bare),
        stage_of<eight_by_eight_kernel<assumed_threads>, x_over_rows>("3.2", "8 x 8 per thread",
                                                                      t128, padded_128),
        stage_of<a_transposed_kernel<assumed_threads>, x_over_rows>("3.3", "8 x 8, A transposed",
                                                                    t128, padded_128),
        stage_of<halves_copy_kernel<assumed_threads>, x_over_rows>(
            "3.4", "8 x 8, half of the threads copy A", t128, turned_128),
        stage_of<two_lds_buffers_of_128_kernel<assumed_threads>, x_over_rows>(
            "3.5", "8 x 8, two LDS buffers", t128, 2 * turned_128),
        stage_of<four_k_per_step_kernel<assumed_threads>>("3.6", "8 x 8, four k per step",
                                                          t128_of_16_k, 2 * turned_128),
        stage_of<padding_kernel>("4", "4 x 4, padding, copies of 16 bytes", t64, padded_by_4),
        stage_of<fragments_kernel>("5", "4 x 4 values of A and B in registers", t64, padded_by_4),
        stage_of<buffers_by_variable_kernel>("6", "double buffers chosen by a variable", t64,
                                             2 * padded_by_4),
        stage_of<two_k_per_step_kernel, x_over_rows>("7", "two k per step", t64, padded_by_4),
        stage_of<copy_helper_kernel>("7.1", "helper for any copy, tile at run time", t64,
                                     padded_by_4),
        // fileaccent's 7.1 and 7.2 are one text under two names: what differs is two measurements
        // of one kernel, on fileaccent's card 0.5 %.
        stage_of<copy_helper_kernel>("7.2", "the same once more", t64, padded_by_4),
        stage_of<placed_reads_kernel>("7.3", "unrolled, LDS loads placed by hand", t64,
                                      padded_by_4),
        stage_of<two_lds_buffers_kernel<8>>("7.4", "two LDS buffers, early loads, padding 8", t64,
                                            2 * padded_by_8),
        stage_of<two_register_buffers_kernel>("7.5", "two register buffers too, launch bounds", t64,
                                              2 * padded_by_8),
        stage_of<loads_in_pairs_kernel>("7.6", "two register buffers, loads in pairs", t64,
                                        2 * padded_by_8),
        stage_of<loading_waves_lds_operands_kernel, x_over_columns, 2>(
            "7.7", "half of the waves load, operands in LDS", t64_of_512_threads, 2 * padded_by_4),
        stage_of<two_lds_buffers_kernel<4>>("7.8", "two LDS buffers, early loads, padding 4", t64,
                                            2 * padded_by_4),
        stage_of<waves_kernel<Lanes8x8>>("8.1", "waves of 8 x 8 lanes", t64, padded_by_4),
        stage_of<waves_4x16_kernel>("8.2", "waves of 4 x 16 lanes", t64, padded_by_4),
        stage_of<b_transposed_kernel>("8.3", "8 x 8 lanes, B transposed", t64, 2 * 64 * (16 + 4)),
        stage_of<waves_kernel<Lanes4x16>>("8.4", "4 x 16 lanes, two k per step", t64, padded_by_4),
        stage_of<waves_kernel<LanesInPairs>>("8.5", "4 x 16 lanes in z-order", t64, padded_by_4),
        stage_of<four_squares_kernel>("9", "z-order lanes, four squares of 2 x 2", t64,
                                      padded_by_4),
        stage_of<halves_kernel<assumed_threads>, x_over_columns, 16>(
            "9.1", "8 x 8 in halves, two LDS buffers", t128, padded_128),
        stage_of<cuda_kernel<assumed_threads>>(
            "10", "8 x 8, buffers in LDS and registers, waves of 32", t128),
        bounded(stage_of<eight_by_eight_kernel<own>, x_over_rows>("", "8 x 8 per thread", t128,
                                                                  padded_128)),
        bounded(stage_of<a_transposed_kernel<own>, x_over_rows>("", "8 x 8, A transposed", t128,
                                                                padded_128)),
        bounded(stage_of<halves_copy_kernel<own>, x_over_rows>(
            "", "8 x 8, half of the threads copy A", t128, turned_128)),
        bounded(stage_of<two_lds_buffers_of_128_kernel<own>, x_over_rows>(
            "", "8 x 8, two LDS buffers", t128, 2 * turned_128)),
        bounded(stage_of<four_k_per_step_kernel<own>>("", "8 x 8, four k per step", t128_of_16_k,
                                                      2 * turned_128)),
        bounded(stage_of<halves_kernel<own>, x_over_columns, 16>(
            "", "8 x 8 in halves, two LDS buffers", t128, padded_128)),
        bounded(stage_of<cuda_kernel<own>>("", "8 x 8, buffers in LDS and registers, waves of 32",
                                           t128)),
        stage_of<held_reads_kernel>("", "LDS loads held in their places", t64),
        stage_of<reads_in_assembly_kernel>("", "LDS loads in assembly", t64),
        contender(stage_of<register_tile_kernel<2>>("", "register tile of 8 x 8", t128_of_16_k)),
        contender(stage_of<register_tile_kernel<4>>("", "register tile of 8 x 16",
                                                    {128, 256, 16, 256, 8, 16})),
        contender(matrix_instructions_stage()),
#if defined(HIPSCOPE_BACKEND_AMD)
        pipelined_stage<AsynchronousCopies<ThreadTile<8, 8>>>("copies of any size, 8 x 8"),
        pipelined_stage<EightBySixteen>("8 x 16 per thread"),
        pipelined_stage<FmasInColumns>("FMAs in columns"),
#else
        // clang assumes 1024 threads where no bound is stated: there it would be the first 3.2
        // again.
        without_bound(stage_of<eight_by_eight_kernel<no_bound>, x_over_rows>(
            "", "8 x 8 per thread, no launch bounds", t128, padded_128)),
        pipelined_stage<AsynchronousCopies<ThreadTile<8, 8>>>("asynchronous copies, 8 x 8"),
        pipelined_stage<EightBySixteen>("8 x 16 per thread"),
        pipelined_stage<FmasInColumns>("FMAs in columns, copies amid them"),
#endif
        pipelined_stage<TilesSplitAlongK>("tiles split along k"),
        pipelined_stage<EightByEightSplitAlongK>("8 x 8, tiles split along k"),
#if !defined(HIPSCOPE_BACKEND_AMD)
        small_tile_stage<SmallTile>("64 x 64, several blocks for a tile",
                                    gemm::copies_to_any_place),
        small_tile_stage<RowMajorTile>("16 x 128, row-major LDS", gemm::copies_to_any_place),
        tile_by_size_stage(),
#endif
#if !defined(HIPSCOPE_BACKEND_NVIDIA)
        small_tile_stage<SmallTileThroughRegisters>(
            "through registers, 64 x 64, several blocks for a tile",
            gemm::copies_through_registers),
        through_registers::tile_by_size_stage(),
#endif
  };
}

/// AMD's last stages are gemm/mfma's.
inline std::vector<Stage> all_stages() { return gemm::with_mfma_stages(numbered_stages()); }

}  // namespace sgemm
