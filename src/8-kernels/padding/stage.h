// A stage: its name, and how its kernel is launched. Ours have a second launch bound, one block per
// CU: without it CUDA 13's compiler keeps to 32 registers and loads fewer values at once than the
// source says.
#pragma once

#include <hipscope/hipscope.h>

#include <cstdint>
#include <functional>
#include <string>

#include "reference.h"
#include "shapes.h"

namespace hipscope::padding {

struct Stage {
  std::string name;
  bool is_of_fixed_shape;
  bool is_of_source = false;  // only for tensors that fsword73's kernels are for
  const void* kernel;         // as the runtime knows it
  // Of scalar stages the block's threads may be chosen.
  std::function<void(const Arrays&, unsigned scalar_threads)> run;
};

inline LaunchShape launch_shape(std::uint64_t threads, unsigned block) {
  return {.grid = dim3(static_cast<unsigned>((threads + block - 1) / block)), .block = dim3(block)};
}

// A thread for each pixel of every `channels` planes.
inline LaunchShape pixels_shape(const Sizes& sizes, unsigned channels, unsigned block) {
  return launch_shape((sizes.planes + channels - 1) / channels * sizes.padded_plane(), block);
}

}  // namespace hipscope::padding
