// Barriers over all blocks of a grid. A block at a barrier waits for all others, forever if one of
// them has not begun and needs its room. So none is launched with more blocks than are resident.
// The epoch is the barrier's number, from 1 on: flags of the barrier before need no reset.
#pragma once

#include <hip/hip_cooperative_groups.h>
#include <hip/hip_runtime.h>

#include "memory_order.h"

namespace grid_sync {

inline constexpr unsigned line_words = 32;  // 128 bytes: no word of two purposes shares a line

/// Where blocks meet; all words 0 before the first barrier.
struct Meeting {
  unsigned* counter;
  unsigned* epoch;
  unsigned* flags;        // one per block, side by side
  unsigned* group_lines;  // two lines per group: a counter, an epoch
  unsigned groups;        // no more than there are blocks; block i is in group i % groups

  [[nodiscard]] __device__ unsigned group() const { return blockIdx.x % groups; }
  [[nodiscard]] __device__ unsigned members() const {
    return (gridDim.x - group() + groups - 1) / groups;
  }
  [[nodiscard]] __device__ unsigned* group_counter() const {
    return group_lines + 2 * line_words * group();
  }
  [[nodiscard]] __device__ unsigned* group_epoch() const { return group_counter() + line_words; }
};

/// Whether a word that counts up, perhaps past its end, is there.
__device__ inline bool has_reached(const unsigned* word, unsigned value) {
  return static_cast<int>(look_at(word) - value) >= 0;
}

/// A barrier that a block's first thread carries out.
template <typename Meet>
__device__ void by_first_thread(Meet meet) {
  hand_over();
  if (threadIdx.x == 0) {
    meet();
    acquire();
  }
  __syncthreads();
}

/// The vendor's, with what AMD's leaves out. Clang 15 makes it GWS, a counter in hardware, and
/// invalidates the CU's cache only before the wait, when other blocks of the CU may still fill it.
/// ROCm 7.2's releases, on gfx9, what the first thread's wave has stored, and nobody waits for the
/// other waves' stores (LLVM's pull request 160501 mends the same for RDNA's CU mode).
struct CooperativeGroups {
  static __device__ void meet(const Meeting&, unsigned, Patience&) {
#if defined(__HIP_DEVICE_COMPILE__)
    release();
    cooperative_groups::this_grid().sync();
    acquire();
#else
    cooperative_groups::this_grid().sync();
#endif
  }
};

/// All add one to a counter, and read it until all have. The last block knows by its own addition;
/// the others read no sooner than theirs is back, since reads delay additions.
struct OneCounter {
  static __device__ void meet(const Meeting& at, unsigned epoch, Patience& patience) {
    by_first_thread([&] {
      if (add_one(at.counter) != epoch * gridDim.x) {
        patience.wait_until([&] { return has_reached(at.counter, epoch * gridDim.x); });
      }
    });
  }
};

/// The last block stores the epoch to a word in another cache line, so that reads do not delay
/// additions.
struct CounterAndEpoch {
  static __device__ void meet(const Meeting& at, unsigned epoch, Patience& patience) {
    by_first_thread([&] {
      if (add_one(at.counter) == epoch * gridDim.x) {
        acquire_and_release();
        put(at.epoch, epoch);
      } else {
        patience.wait_until([&] { return has_reached(at.epoch, epoch); });
      }
    });
  }
};

/// No atomic at all: each block has a flag, block 0 reads all of them and stores the epoch.
struct Collector {
  static __device__ void meet(const Meeting& at, unsigned epoch, Patience& patience) {
    hand_over();
    if (blockIdx.x == 0) {
      for (unsigned block = threadIdx.x + 1; block < gridDim.x; block += blockDim.x) {
        patience.wait_until([&] { return has_reached(at.flags + block, epoch); });
      }
      acquire();
      __syncthreads();
      if (threadIdx.x == 0) {
        release();
        put(at.epoch, epoch);
      }
    } else if (threadIdx.x == 0) {
      put(at.flags + blockIdx.x, epoch);
      patience.wait_until([&] { return has_reached(at.epoch, epoch); });
      acquire();
    }
    __syncthreads();
  }
};

/// Each block reads the flags of all: one way through memory instead of two, and reads that grow
/// with the square of the blocks.
struct AllFlags {
  static __device__ void meet(const Meeting& at, unsigned epoch, Patience& patience) {
    hand_over();
    if (threadIdx.x == 0) {
      put(at.flags + blockIdx.x, epoch);
    }
    for (unsigned block = threadIdx.x; block < gridDim.x; block += blockDim.x) {
      patience.wait_until([&] { return has_reached(at.flags + block, epoch); });
    }
    if (threadIdx.x < gridDim.x) {
      acquire();
    }
    __syncthreads();
  }
};

/// A counter for each group of blocks, and one for the groups: additions to one word take turns.
struct Tree {
  static __device__ void meet(const Meeting& at, unsigned epoch, Patience& patience) {
    by_first_thread([&] {
      if (add_one(at.group_counter()) == epoch * at.members()) {
        acquire_and_release();
        if (add_one(at.counter) == epoch * at.groups) {
          acquire_and_release();
          put(at.epoch, epoch);
        }
      }
      patience.wait_until([&] { return has_reached(at.epoch, epoch); });
    });
  }
};

/// The way back as a tree, too: one block of each group reads the epoch of all, the others the
/// group's.
struct TreeBothWays {
  static __device__ void meet(const Meeting& at, unsigned epoch, Patience& patience) {
    by_first_thread([&] {
      if (add_one(at.group_counter()) == epoch * at.members()) {
        acquire_and_release();
        if (add_one(at.counter) == epoch * at.groups) {
          acquire_and_release();
          put(at.epoch, epoch);
        } else {
          patience.wait_until([&] { return has_reached(at.epoch, epoch); });
          acquire_and_release();
        }
        put(at.group_epoch(), epoch);
      } else {
        patience.wait_until([&] { return has_reached(at.group_epoch(), epoch); });
      }
    });
  }
};

}  // namespace grid_sync
