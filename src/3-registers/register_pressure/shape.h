// What the stages of register_pressure have in common: the arguments of a step, and its block.
//
// A step takes 31 pointers, each to cell (0, 0, 0) of an array, g1 to g18 to two halves, of which
// `current` is read and `next` written, as are f1 to f6 in `current`; the last cell's coordinates
// nx, ny, nz; the elements of a row, the rows of a layer; and the model's scalars (model.h), among
// which L has one that its step does not use.
#pragma once

namespace hipscope::register_pressure {

/// Threads of a block in the stages that state a bound.
constexpr unsigned block_threads = 256;

/// One wave per SIMD more than the kernel has by itself: 6 on gfx90a, 3 where a SIMD has 256 VGPRs
/// per lane, not 512; on an H200, one block per SM.
#if defined(HIPSCOPE_BACKEND_NVIDIA) || defined(__gfx900__) || defined(__gfx906__) || \
    defined(__gfx908__)
constexpr unsigned least_waves = 3;
#else
constexpr unsigned least_waves = 6;
#endif

}  // namespace hipscope::register_pressure
