// A move in which no register holds the data: one thread per block asks the CU's copy unit to bring
// pieces into LDS and to store them from there (bulk asynchronous copies; NVIDIA from compute
// capability 9.0 on, AMD has none).
#pragma once

#include <hipscope/hipscope.h>
#include <hipscope/lds_copies.h>

#include <cstdint>

namespace peer_copies {

inline constexpr unsigned piece_bytes = 8192;
inline constexpr unsigned pieces_in_lds = 5;  // under 48 KiB, which every launch has

using hipscope::has_bulk_copies;

#if defined(HIPSCOPE_BULK_COPIES) && defined(__CUDA_ARCH__)
using hipscope::lds_address;

// Brings a piece; `arrived` counts its bytes.
__device__ inline void bring(void* piece, const unsigned char* source, std::uint64_t* arrived) {
  hipscope::arrive_expecting(arrived, piece_bytes);
  hipscope::copy_bulk(piece, source, piece_bytes, arrived);
}

__device__ inline void store(unsigned char* destination, const void* piece) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                   __cvta_generic_to_global(destination)),
               "r"(lds_address(piece)), "r"(piece_bytes)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
#endif

// Moves `pieces` pieces; one wave per block, whose first thread asks for all of the block's.
static __global__ void __launch_bounds__(32)
    bulk_move_kernel([[maybe_unused]] const unsigned char* source,
                     [[maybe_unused]] unsigned char* destination,
                     [[maybe_unused]] std::uint64_t pieces) {
#if defined(HIPSCOPE_BULK_COPIES) && defined(__CUDA_ARCH__)
  __shared__ alignas(128) unsigned char in_lds[pieces_in_lds][piece_bytes];
  __shared__ std::uint64_t arrived[pieces_in_lds];
  if (threadIdx.x != 0) {
    return;
  }
  for (std::uint64_t& barrier : arrived) {
    hipscope::init_barrier(&barrier, 1);
  }
  hipscope::publish_barriers();
  const auto offset = [](std::uint64_t turn) {
    return (blockIdx.x + turn * gridDim.x) * piece_bytes;
  };
  const std::uint64_t turns =
      blockIdx.x < pieces ? (pieces - blockIdx.x + gridDim.x - 1) / gridDim.x : 0;
  for (unsigned turn = 0; turn < pieces_in_lds && turn < turns; ++turn) {
    bring(in_lds[turn], source + offset(turn), &arrived[turn]);
  }
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    const auto slot = static_cast<unsigned>(turn % pieces_in_lds);
    hipscope::wait_for(&arrived[slot], static_cast<unsigned>(turn / pieces_in_lds % 2));
    store(destination + offset(turn), in_lds[slot]);
    // The piece before has been read out of LDS once no more than the newest store is in flight.
    const std::uint64_t next = turn + pieces_in_lds - 1;
    if (turn > 0 && next < turns) {
      asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
      const auto free_slot = static_cast<unsigned>((turn - 1) % pieces_in_lds);
      bring(in_lds[free_slot], source + offset(next), &arrived[free_slot]);
    }
  }
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
}

}  // namespace peer_copies
