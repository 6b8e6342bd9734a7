// Spatial, with prefetch. Against 15e without it: before it loads its own values, a block
// prefetches into L2 a long piece of a few images, a part of what a clump of later channels needs.
// Memory is fastest when neighbouring lines are requested together, and the rows of a batch are
// megabytes apart. Loads then take less time, during which a block's registers are empty, so
// smaller blocks are enough. Device code; NVIDIA only: gfx9 and gfx10 have no such instruction.
#pragma once

#include <hip/hip_runtime.h>

namespace hipscope::batch_norm {

/// Images are asked for in pieces of `columns` floats: each piece by the blocks of the one before
/// it, of which there are `readers`, each with its share of the images. What the first blocks load
/// at once nobody needs to ask for: pieces before `first`.
struct AskAhead {
  unsigned columns;
  unsigned readers;
  unsigned first;
  unsigned images;
  unsigned image;  // floats of one
};

/// Asks for `bytes`, a multiple of 16, and waits for nothing: from sm_90 on in one instruction,
/// before that one for each line.
__device__ inline void ask_for([[maybe_unused]] const float* first,
                               [[maybe_unused]] unsigned bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;"
               :
               : "l"(__cvta_generic_to_global(first)), "r"(bytes)
               : "memory");
#elif defined(__CUDA_ARCH__)
  constexpr unsigned line = 128;
  for (unsigned at = 0; at < bytes; at += line) {
    asm volatile("prefetch.global.L2 [%0];"
                 :
                 : "l"(__cvta_generic_to_global(first) + at / sizeof(float)));
  }
#endif
}

/// Of block `number`, in the order in which blocks begin.
__device__ inline void ask_ahead(const float* input, const AskAhead& ahead, unsigned number) {
  const unsigned piece = number / ahead.readers + 1;
  const unsigned reader = number % ahead.readers;
  const unsigned begin = piece * ahead.columns;
  if (piece < ahead.first || begin >= ahead.image) {
    return;
  }
  const unsigned floats = min(ahead.columns, ahead.image - begin);
  const unsigned share = (ahead.images + ahead.readers - 1) / ahead.readers;
  // A share may be of more images than a block has threads.
  for (unsigned i = threadIdx.x; i < share; i += blockDim.x) {
    const unsigned n = reader * share + i;
    if (n < ahead.images) {
      ask_for(input + (std::size_t{n} * ahead.image + begin), floats * unsigned{sizeof(float)});
    }
  }
}

}  // namespace hipscope::batch_norm
