// A model that chooses the tile of a product, and the number of blocks for each tile.
//
// The model, in cycles of one CU, when all CUs have equal shares of all blocks:
//   start   a launch, and the first tiles' loads from memory
//   steps   a block goes over its part of k in steps. A CU full of blocks takes `step_cycles` for a
//           step of each; one with few blocks cannot hide the waits between a step's loads, barrier
//           and FMAs, and takes `least_step_cycles` for a step of as many as it has room for.
//           Blocks over CUs are rounded up: one more block for some CUs is a round in which the
//           others idle, a short one with small tiles. (The launch ensures that no CU has more than
//           its share: tile_by_size.h.) Where rows do not begin at multiples of 16 bytes, copies go
//           value by value: they take slots of the step's FMAs, and a step takes at least their
//           time.
//   bytes   the bytes that all steps read, over the rate of L2: small tiles read more for the same
//           FMAs
//   memory  the bytes of the matrices, over the rate of memory, which the bytes in flight limit
//           (Little's law): the floor of flat products
//   end     each block's sums to C; where a tile has several blocks, the sums that the blocks of a
//           cluster read from each other; and where it has several clusters, their sums through
//           memory: the last cluster waits for four at a time, once for each piece of 16 bytes that
//           a thread has
// Of steps, bytes and memory the greatest counts. Plain C++, no GPU headers.
#pragma once

#include <cstddef>
#include <vector>

namespace gemm {

/// How many blocks share a tile: `clusters` times as many as a cluster has.
struct Split {
  unsigned cluster = 1;
  unsigned clusters = 1;
};

struct ProductSize {
  unsigned m;
  unsigned n;
  unsigned k;
  bool is_aligned = true;  ///< all rows begin at multiples of 16 bytes
  bool operator==(const ProductSize&) const = default;
};

/// A kernel, as the model knows it.
struct TileOption {
  unsigned rows;
  unsigned columns;
  unsigned depth;            ///< of k in a step
  unsigned resident;         ///< blocks that a CU has room for
  unsigned threads;          ///< of a block
  double step_cycles;        ///< of a CU that is full, for a step of one block
  double least_step_cycles;  ///< of a CU that is not, for a step of its blocks
  double end_cycles;         ///< of a block: its sums to C
  double bytes_on_way;       ///< to a block at a time
  /// Its blocks share the steps of all tiles (stream-K): no round is partly empty, but each ends as
  /// often as its tile has blocks, and none shares a tile in another way.
  bool stream_k = false;
  bool only_whole_rows = false;  ///< only for rows that begin at multiples of 16 bytes
  unsigned lds_bytes = 0;        ///< of a block, that come with the launch
};

/// CUs that clusters of 1, 2, 4 and 8 blocks can have a block on each: a cluster is within a
/// group of CUs (NVIDIA: GPC), whose CUs need not be a multiple of its blocks.
struct DeviceUnits {
  unsigned of_cluster[4];
  unsigned largest_cluster;  ///< 1: it has none
};

/// The device, as the model knows it.
struct DeviceCosts {
  DeviceUnits units;
  unsigned value_bytes;          ///< of an element
  double start_cycles;           ///< launch and first loads
  double copy_cycles;            ///< of 32 lanes' copies of a value each
  double copy_slots;             ///< that they take of the step's FMAs, in cycles
  double bytes_per_cycle;        ///< that L2 gives all CUs together
  double bytes_from_memory;      ///< per cycle
  double memory_cycles;          ///< that bytes are on their way
  double meeting_cycles;         ///< until the blocks of a cluster have waited for each other
  double summed_per_cycle;       ///< bytes of others' sums that a CU reads
  double memory_meeting_cycles;  ///< until a tile's last cluster knows that it is the last
  double memory_round_cycles;    ///< until sums of up to four clusters have come
  unsigned lds_bytes = ~0U;      ///< that a block may ask for
};

struct TileChoice {
  unsigned option = 0;  ///< which of the kernels
  Split split{};
  double cycles = 0;  ///< that the model says it takes; 0: there is no choice
};

/// CUs that blocks can be on, by the size of their clusters.
unsigned units_of(unsigned cluster, const DeviceUnits& units);

/// Of a product by one kernel, with a number of blocks for each tile.
double cycles_of(const TileOption& option, Split split, const ProductSize& size,
                 const DeviceCosts& device);

/// The splits worth a look, in clusters of each size: 1, 2, 4 ... clusters, up to two rounds of
/// blocks; and as many as fill each CU with one block, two ... up to all that it has room for.
std::vector<Split> splits_of(const TileOption& option, const ProductSize& size,
                             const DeviceCosts& device);

/// Kernels that the device has LDS for, with their splits, from the least on, `most` at the most;
/// of each kernel three, since splits that are near each other take about the same. Of equals the
/// first comes first.
std::vector<TileChoice> likely_tiles(const std::vector<TileOption>& options,
                                     const ProductSize& size, const DeviceCosts& device,
                                     std::size_t most);

/// The first of them.
TileChoice choose_tile(const std::vector<TileOption>& options, const ProductSize& size,
                       const DeviceCosts& device);

}  // namespace gemm
