// The ladder: all stages in order, first those of fileaccent's sgemm-exercise, under its
// numbers, then ours. Read the files in the order of their numbers; a diff of two neighbours shows
// what changed.
//
// A stage of fileaccent's does the work of that code: the same copies, layout in LDS, buffers,
// barriers, index arithmetic, block and grid. Where that has a mistake, the file says what is
// corrected. All of them take alpha and beta, rows with gaps, and m and n that differ, for which
// fileaccent's grids and stores are not made. All but 3.5, 7.4, 7.5 and 7.8 also say that nothing
// else points to A, B and C, which fileaccent does in 9.1 only: for gfx908 clang 15 makes the same
// of them without it, loads, stores to LDS, barriers and FMAs in the same order (of 3.2 the same
// loop over k, with some copies to AGPRs more before it).
#pragma once

#include <string>
#include <vector>

#include "01-one-thread-per-element.h"
#include "02-lds-tile.h"
#include "03-thread-tile.h"
#include "03.1-operands-in-registers.h"
#include "03.2-eight-by-eight.h"
#include "03.2-unbounded.h"
#include "03.3-a-transposed.h"
#include "03.4-halves-copy.h"
#include "03.5-two-lds-buffers-of-128.h"
#include "03.6-four-k-per-step.h"
#include "04-padding.h"
#include "05-fragments-of-four-k.h"
#include "06-buffers-by-variable.h"
#include "07-two-k-per-step.h"
#include "07.1-copy-helper.h"
#include "07.2-copy-helper-again.h"
#include "07.3-placed-reads.h"
#include "07.4-two-lds-buffers.h"
#include "07.5-two-register-buffers.h"
#include "07.6-loading-waves.h"
#include "07.7-loading-waves-lds-operands.h"
#include "07.8-padding-of-four.h"
#include "08.1-waves-8x8.h"
#include "08.2-waves-4x16.h"
#include "08.3-b-transposed.h"
#include "08.4-waves-4x16-two-k.h"
#include "08.5-lanes-in-pairs.h"
#include "09-four-squares.h"
#include "09.1-halves.h"
#include "10-cuda-kernel.h"
#include "11-held-reads.h"
#include "12-reads-in-assembly.h"
#include "13-register-tile.h"
#include "14-register-tile-8x16.h"
#include "15-matrix-instructions.h"
#include "16-asynchronous-copies.h"
#include "17-eight-by-sixteen.h"
#include "18-fmas-in-columns.h"
#include "19-split-along-k.h"
#include "20-split-along-k-8x8.h"
#include "21-small-tiles.h"
#include "21.1-rows-as-they-lie.h"
#include "22-tile-by-size.h"
#include "sgemm_findings.h"
#include "stage.h"

namespace sgemm {

/// A stage of 128 x 128, compiled for its own 256 threads.
inline Stage bounded(Stage stage) {
  stage.technique += bounded_suffix;
  stage.source_kernel = "";
  return stage;
}

inline std::vector<Stage> all_stages() {
  constexpr unsigned own_threads = tiles_128.threads;
  return {
    one_thread_per_element_stage(), lds_tile_stage(), thread_tile_stage(),
        operands_in_registers_stage(), eight_by_eight_stage<assumed_threads>(),
        a_transposed_stage<assumed_threads>(), halves_copy_stage<assumed_threads>(),
        two_lds_buffers_of_128_stage<assumed_threads>(), four_k_per_step_stage<assumed_threads>(),
        padding_stage(), fragments_stage(), buffers_by_variable_stage(), two_k_per_step_stage(),
        copy_helper_stage(), copy_helper_again_stage(), placed_reads_stage(),
        two_lds_buffers_stage(), two_register_buffers_stage(), loading_waves_stage(),
        loading_waves_lds_operands_stage(), padding_of_four_stage(), waves_8x8_stage(),
        waves_4x16_stage(), b_transposed_stage(), waves_4x16_two_k_stage(), lanes_in_pairs_stage(),
        four_squares_stage(), halves_stage<assumed_threads>(), cuda_stage<assumed_threads>(),
        bounded(eight_by_eight_stage<own_threads>()), bounded(a_transposed_stage<own_threads>()),
        bounded(halves_copy_stage<own_threads>()),
        bounded(two_lds_buffers_of_128_stage<own_threads>()),
        bounded(four_k_per_step_stage<own_threads>()), bounded(halves_stage<own_threads>()),
        bounded(cuda_stage<own_threads>()), held_reads_stage(), reads_in_assembly_stage(),
        // The others are measured at all sizes and against the vendor's library, where they say so.
        register_tile_stage(), register_tile_8x16_stage(), matrix_instructions_stage(),
#if !defined(HIPSCOPE_BACKEND_AMD)
        // clang assumes 1024 threads where no bound is stated: there it would be the first 3.2
        // again.
        eight_by_eight_unbounded_stage(),
#endif
        asynchronous_copies_stage(), eight_by_sixteen_stage(), fmas_in_columns_stage(),
        split_along_k_stage(), split_along_k_8x8_stage(),
#if !defined(HIPSCOPE_BACKEND_AMD)
        small_tiles_stage(), rows_as_they_lie_stage(), tile_by_size_stage(),
#endif
  };
}

}  // namespace sgemm
