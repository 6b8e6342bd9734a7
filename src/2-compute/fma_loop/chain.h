// The chain of FMAs of fma_loop's counted loops, and where it must end.
#pragma once

#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace fma_loop {

// x -> addend - factor * x jumps about its fixed point, addend / 2, and nears it so slowly that a
// chain keeps its memory: another start or another length ends elsewhere. Its addend is in the
// instruction and its factor the same for all lanes, so that one operand alone is a register of the
// lane's own.
inline constexpr float factor = 1.0F - 0x1p-20F;
inline constexpr float addend = 1.0F;

// How many values threads start from, at this distance from each other; a prime, so that
// neighbouring waves differ.
inline constexpr unsigned start_values = 61;
inline constexpr float start_distance = 0x1p-6F;

// What kernels get as an argument. As a literal the factor would make the instruction longer on
// RDNA (12 bytes for 8). The distance is used before the loop, so that the wait for arguments is
// there too and not in the loop.
struct Numbers {
  float negative_factor;
  float start_distance;
};
inline constexpr Numbers numbers = {.negative_factor = -factor, .start_distance = start_distance};

__host__ __device__ inline float start_value(unsigned thread, Numbers given) {
  return static_cast<float>(thread % start_values + 1) * given.start_distance;
}

// `Fmas` dependent FMAs in a row. Compilers unroll loops up to some length: longer ones by halves.
// Left to itself clang 22 makes functions of the long ones, and a loop that calls 1024 FMAs sixteen
// times is no loop of 16384.
template <unsigned Fmas>
__device__ __forceinline__ float fma_chain(float x, float negative_factor) {
  constexpr unsigned longest_unrolled = 1024;
  if constexpr (Fmas > longest_unrolled) {
    x = fma_chain<Fmas / 2>(x, negative_factor);
    return fma_chain<Fmas - Fmas / 2>(x, negative_factor);
  } else {
#pragma unroll
    for (unsigned i = 0; i < Fmas; ++i) {
      x = fmaf(x, negative_factor, addend);
    }
    return x;
  }
}

// The ends of the chains from all start values. Host and device round an fma once, so they must
// agree to the last bit. Sweeps ask for the same lengths again, and for longer ones.
inline const std::vector<float>& ends_after(std::uint64_t fmas) {
  static std::map<std::uint64_t, std::vector<float>> known;
  if (known.empty()) {
    for (unsigned i = 0; i < start_values; ++i) {
      known[0].push_back(start_value(i, numbers));
    }
  }
  const auto& [steps, values] = *--known.upper_bound(fmas);
  std::vector<float> ends = values;
  for (float& x : ends) {
    for (std::uint64_t step = steps; step < fmas; ++step) {
      x = std::fma(x, -factor, addend);
    }
  }
  return known.insert_or_assign(fmas, std::move(ends)).first->second;
}

}  // namespace fma_loop
