// Runs the waves of a launch: many blocks at a time, so that blocks may wait for each other.
#pragma once

#include "code_object.h"
#include "wave.h"

namespace emulator {

/// Executes the launch to its end. Throws Stopped where it has none.
void execute(Launch& launch);

/// Blocks of `threads` threads and this much dynamic LDS that a CU holds at once.
unsigned blocks_per_unit(const CodeObject& object, const Kernel& kernel, unsigned threads,
                         unsigned dynamic_lds);

/// Lets the waves of the block go on if all that have not ended are at a barrier. False: one is
/// not.
bool release_barrier(Block& block);

/// LDS of a block, at most, in bytes.
inline constexpr unsigned largest_lds = 65536;

/// Executes the wave's next instruction, and reports what it should not have done.
void step(Wave& wave);

}  // namespace emulator
