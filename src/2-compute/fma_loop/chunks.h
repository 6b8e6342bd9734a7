// A loop of FMAs whose length is known at run time only: one kernel for all lengths that sweeps
// edge-N of fma_loop may look at.
#pragma once

#include <hip/hip_runtime.h>

#include <utility>

#include "chain.h"

namespace fma_loop {

// The FMAs of a chunk, and the chunks of the longest loop. On AMD a branch reaches 128 KiB, and
// what counts the rounds is before the chunks. nvcc puts it after them all, where it takes a line
// more of the cache: with 256 bytes less than 256 KiB between, one of the set that the chunks use
// last, so that it displaces none of a loop that fits.
inline constexpr unsigned chunk_fmas = 64;
#if defined(HIPSCOPE_BACKEND_AMD)
inline constexpr unsigned most_chunks = 192;
#else
inline constexpr unsigned most_chunks = 248;
#endif

// Whether there is another chunk. AMD's compiler would compare for all chunks before the loop.
template <unsigned>
__device__ __forceinline__ bool run_chunk(float& x, float negative_factor, unsigned& chunks_left) {
  x = fma_chain<chunk_fmas>(x, negative_factor);
  --chunks_left;
#if defined(__HIP_DEVICE_COMPILE__)
  asm volatile("" : "+s"(chunks_left));
#endif
  return chunks_left != 0;
}

template <unsigned... Chunks>
__device__ __forceinline__ float run_chunks(float x, float negative_factor, unsigned chunks,
                                            std::integer_sequence<unsigned, Chunks...> /*all*/) {
  static_cast<void>((run_chunk<Chunks>(x, negative_factor, chunks) && ...));
  return x;
}

// It goes back after the chunk that is asked for.
static __global__ void __launch_bounds__(1024)
    chunked_kernel(float* output, Numbers given, unsigned chunks, unsigned rounds) {
  float x = start_value(threadIdx.x, given);
#pragma unroll 1
  for (unsigned i = 0; i < rounds; ++i) {
    x = run_chunks(x, given.negative_factor, chunks,
                   std::make_integer_sequence<unsigned, most_chunks>{});
  }
  output[threadIdx.x] = x;
}

}  // namespace fma_loop
