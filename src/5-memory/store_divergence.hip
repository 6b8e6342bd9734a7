// What does it cost when the lanes of one wave load from, or store to, scattered places?
//
// A wave's (NVIDIA: warp's) memory instruction gives one address per lane, and the hardware moves
// whole segments (sectors, lines) that hold them. Neighbouring dwords share segments; scattered
// ones each pay for one of their own. Four ways to scatter:
//   stray       some lanes of each wave store elsewhere: all to one other region, or (scattered)
//               each to a region of its own
//   stride      lane i accesses dword i x stride
//   misaligned  lanes side by side, their start shifted by some dwords
//   permuted    the lanes' dwords exchanged within a line, across lines, across all of memory
// Each access is a segment count by arithmetic and a time by measurement: the segment size in
// proportion to whose count the time grows is the size that the hardware moves.
//
// Every pattern is measured beyond the caches, where each dword is accessed once, and again (-l2)
// within L2, where the same dwords are accessed over and over: another bottleneck, other costs.
#include <hipscope/hipscope.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::number;
using hipscope::Sweep;

namespace {

#if defined(HIPSCOPE_BACKEND_HOST)
constexpr unsigned block_threads = 64;  // scaled down
constexpr unsigned in_flight = 2;
constexpr std::uint64_t smallest_footprint = 1U << 16;
#else
constexpr unsigned block_threads = 256;
// Accesses that a lane has under way at once: enough for the memory's bandwidth with dwords.
constexpr unsigned in_flight = 8;
constexpr std::uint64_t smallest_footprint = 1U << 20;
#endif

constexpr unsigned dword_bytes = 4;

// --- Patterns -----------------------------------------------------------------------------------

// Memory is cut into tiles. On each tile work `rows` waves, and lane l of the wave of row r
// accesses the dword `offsets[r * lanes + l]` after the tile's start. A scrambled pattern has no
// tiles: each lane of each wave goes to a place of its own anywhere.
struct Pattern {
  std::string label;
  double x = 0;
  unsigned lanes = 0;
  std::uint64_t size = 0;  // dwords of memory that the pattern reaches into
  unsigned step = 0;       // dwords from one tile to the next
  unsigned tiles = 0;      // a power of two, so that a wave's next tile takes no division
  unsigned rows = 1;       // a power of two
  std::vector<unsigned> offsets;
  bool scrambled = false;

  [[nodiscard]] std::uint64_t sources() const { return std::uint64_t{tiles} * rows * lanes; }
};

// As many tiles of `dwords` as fit, rounded down to a power of two.
unsigned tiles_in(std::uint64_t footprint, std::uint64_t dwords) {
  return static_cast<unsigned>(std::bit_floor(footprint / dword_bytes / dwords));
}

std::vector<unsigned> lane_numbers(unsigned lanes) {
  std::vector<unsigned> numbers(lanes);
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

Pattern strided(unsigned lanes, unsigned stride, std::uint64_t footprint) {
  Pattern pattern = {.label = std::to_string(stride),
                     .x = static_cast<double>(stride),
                     .lanes = lanes,
                     .step = lanes * stride,
                     .tiles = tiles_in(footprint, lanes * stride),
                     .offsets = lane_numbers(lanes)};
  pattern.size = std::uint64_t{pattern.tiles} * pattern.step;
  for (unsigned& offset : pattern.offsets) {
    offset *= stride;
  }
  return pattern;
}

constexpr unsigned largest_shift = 32;

Pattern misaligned(unsigned lanes, unsigned shift, std::uint64_t footprint) {
  Pattern pattern = strided(lanes, 1, footprint);
  pattern.label = std::to_string(shift);
  pattern.x = shift;
  pattern.size += largest_shift;
  for (unsigned& offset : pattern.offsets) {
    offset += shift;
  }
  return pattern;
}

// The first `strays` lanes go to another region: all to the same one, or each to its own. There a
// lane keeps its place, so that no two waves share a segment.
Pattern stray(unsigned lanes, unsigned strays, bool scattered, std::uint64_t footprint) {
  const unsigned others = scattered ? strays : std::min(strays, 1U);
  Pattern pattern = strided(lanes, 1, footprint / (others + 1));
  pattern.label = std::to_string(strays);
  pattern.x = strays;
  const auto region = static_cast<unsigned>(pattern.size);
  for (unsigned lane = 0; lane < strays; ++lane) {
    pattern.offsets[lane] += region * (scattered ? lane + 1 : 1);
  }
  pattern.size *= others + 1;
  return pattern;
}

// Lanes take places in a line in the order `places`, and lines in turn: a tile is `lines` lines of
// a wave's width, and the wave of row r finds its place p in line (p + r) % lines.
Pattern permuted(const std::string& label, const std::vector<unsigned>& places, unsigned lines,
                 std::uint64_t footprint) {
  const auto lanes = static_cast<unsigned>(places.size());
  Pattern pattern = {.label = label,
                     .lanes = lanes,
                     .step = lines * lanes,
                     .tiles = tiles_in(footprint, std::uint64_t{lines} * lanes),
                     .rows = lines,
                     .offsets = {}};
  pattern.size = std::uint64_t{pattern.tiles} * pattern.step;
  for (unsigned row = 0; row < lines; ++row) {
    for (const unsigned place : places) {
      pattern.offsets.push_back((place + row) % lines * lanes + place);
    }
  }
  return pattern;
}

// --- What the kernels share -------------------------------------------------------------------

// How the blocks of a launch share the tiles: a chunk is what a block's waves access at once.
struct Walk {
  unsigned rows = 1;
  unsigned step = 0;
  unsigned chunks = 0;  // a power of two
  unsigned rounds = 1;  // chunks that a block takes, one after the other
  unsigned size_bits = 0;
};

// Numbers below 2^bits onto themselves, neighbours far apart: each step can be undone.
__host__ __device__ unsigned scramble(unsigned x, unsigned bits) {
  const unsigned mask = (1U << bits) - 1;
  x = (x * 0x9E3779B1U) & mask;
  x ^= x >> (bits / 2);
  x = (x * 0x85EBCA6BU) & mask;
  return x ^ (x >> (bits / 2));
}

__host__ __device__ unsigned first_tile(const Walk& walk, unsigned block, unsigned round,
                                        unsigned chunk_tiles) {
  const unsigned chunk = (block / walk.rows * walk.rounds + round) & (walk.chunks - 1);
  return chunk * chunk_tiles;
}

// Who accesses: a number for each lane of each row of each tile.
__host__ __device__ unsigned source_number(const Walk& walk, unsigned tile, unsigned row,
                                           unsigned lanes, unsigned lane) {
  return (tile * walk.rows + row) * lanes + lane;
}

// A source's own value: never the poison of a buffer, whose highest bit is set.
constexpr unsigned token_factor = 2654435761U;
constexpr unsigned token_inverse = 244002641U;
static_assert(token_factor * token_inverse == 1U, "so that a token tells its source");
constexpr unsigned token_mask = 0x7fffffffU;

__host__ __device__ unsigned token(unsigned source, unsigned seed) {
  return (source * token_factor + seed) & token_mask;
}
__host__ __device__ unsigned source_of(unsigned token, unsigned seed) {
  return ((token - seed) * token_inverse) & token_mask;
}

// What is loaded is value(i) = factor * i + addend: random to look at, and a thread's sum of any
// number of them is known without adding them up. Both from the seed; the factor is odd.
struct Values {
  unsigned factor;
  unsigned addend;
};

enum class Order { by_table, scrambled };
enum class Path { ordinary, past_l1 };

// --- Kernels ----------------------------------------------------------------------------------

// Within L2 a plain load may find in L1 what another wave has just loaded.
template <Path path>
__device__ unsigned load(const unsigned* address) {
#if defined(__CUDA_ARCH__)
  return path == Path::past_l1 ? __ldcg(address) : *address;
#elif defined(__HIP_DEVICE_COMPILE__)
  return path == Path::past_l1
             ? __hip_atomic_load(address, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
             : *address;
#else
  return *address;
#endif
}

template <Order order, Path path>
__global__ void __launch_bounds__(block_threads)
    load_kernel(const unsigned* data, const unsigned* offsets, Walk walk, unsigned* sums) {
  const unsigned lane = threadIdx.x % warpSize;
  const unsigned waves = block_threads / warpSize;
  const unsigned row = blockIdx.x % walk.rows;
  const unsigned offset = offsets[row * warpSize + lane];
  unsigned sum = 0;
  // One round after the other, so that as much is under way as `in_flight` says.
#if defined(__clang__)
#pragma clang loop vectorize(disable)
#endif
#pragma unroll 1
  for (unsigned round = 0; round < walk.rounds; ++round) {
    const unsigned tile =
        first_tile(walk, blockIdx.x, round, waves * in_flight) + threadIdx.x / warpSize;
    unsigned values[in_flight];
#pragma unroll
    for (unsigned i = 0; i < in_flight; ++i) {
      const unsigned mine = tile + i * waves;
      const unsigned index =
          order == Order::scrambled
              ? scramble(source_number(walk, mine, row, warpSize, lane), walk.size_bits)
              : mine * walk.step + offset;
      values[i] = load<path>(data + index);
    }
#pragma unroll
    for (unsigned i = 0; i < in_flight; ++i) {
      sum += values[i];
    }
  }
  sums[blockIdx.x * block_threads + threadIdx.x] = sum;
}

template <Order order>
__global__ void __launch_bounds__(block_threads)
    store_kernel(unsigned* data, const unsigned* offsets, Walk walk, unsigned seed) {
  const unsigned lane = threadIdx.x % warpSize;
  const unsigned waves = block_threads / warpSize;
  const unsigned row = blockIdx.x % walk.rows;
  const unsigned offset = offsets[row * warpSize + lane];
#pragma unroll 1
  for (unsigned round = 0; round < walk.rounds; ++round) {
    const unsigned tile =
        first_tile(walk, blockIdx.x, round, waves * in_flight) + threadIdx.x / warpSize;
#pragma unroll
    for (unsigned i = 0; i < in_flight; ++i) {
      const unsigned mine = tile + i * waves;
      const unsigned source = source_number(walk, mine, row, warpSize, lane);
      const unsigned index =
          order == Order::scrambled ? scramble(source, walk.size_bits) : mine * walk.step + offset;
      data[index] = token(source, seed);
    }
  }
}

__global__ void __launch_bounds__(block_threads)
    fill_kernel(unsigned* data, unsigned size, Values values) {
  for (unsigned i = blockIdx.x * block_threads + threadIdx.x; i < size;
       i += gridDim.x * block_threads) {
    data[i] = values.factor * i + values.addend;
  }
}

// Counts, over all of memory, the dwords that hold the token of a source that goes there, and those
// that hold anything else but poison.
__global__ void __launch_bounds__(block_threads)
    check_kernel(const unsigned* data, unsigned size, const unsigned* offsets, Walk walk,
                 unsigned sources, unsigned seed, unsigned long long* counts) {
  unsigned right = 0;
  unsigned wrong = 0;
  for (unsigned i = blockIdx.x * block_threads + threadIdx.x; i < size;
       i += gridDim.x * block_threads) {
    constexpr unsigned poison = ~0U;
    if (data[i] == poison) {
      continue;
    }
    const unsigned source = source_of(data[i], seed);
    const unsigned in_tile = source % (walk.rows * warpSize);
    const unsigned tile = source / (walk.rows * warpSize);
    const unsigned index = walk.size_bits != 0 ? scramble(source, walk.size_bits)
                                               : tile * walk.step + offsets[in_tile];
    const bool is_right = source < sources && index == i && data[i] == token(source, seed);
    right += is_right ? 1 : 0;
    wrong += is_right ? 0 : 1;
  }
  atomicAdd(&counts[0], static_cast<unsigned long long>(right));
  atomicAdd(&counts[1], static_cast<unsigned long long>(wrong));
}

// --- One pattern on the device ------------------------------------------------------------------

// What a sweep does with its patterns, and where.
enum class Operation { load, store };
enum class Place { memory, l2 };

// A pattern with its launch.
class Launcher {
 public:
  // `accesses` of a wave in all, a power of two and at least one per source.
  Launcher(const Pattern& pattern, std::uint64_t accesses)
      : pattern_(pattern), offsets_(std::span<const unsigned>(pattern.offsets)) {
    constexpr std::uint64_t most_blocks = 1U << 14;
    const unsigned chunk_tiles = block_threads / pattern.lanes * in_flight;
    const std::uint64_t chunks = accesses / chunk_tiles;
    blocks_ = static_cast<unsigned>(std::min(chunks, most_blocks));
    walk_ = {
        .rows = pattern.rows,
        .step = pattern.step,
        .chunks = pattern.tiles / chunk_tiles,
        .rounds = static_cast<unsigned>(chunks / blocks_),
        .size_bits = pattern.scrambled ? static_cast<unsigned>(std::countr_zero(pattern.size)) : 0};
  }

  void load(Place place, const unsigned* data, unsigned* sums) const {
    const auto kernel = place == Place::memory
                            ? (pattern_.scrambled ? load_kernel<Order::scrambled, Path::ordinary>
                                                  : load_kernel<Order::by_table, Path::ordinary>)
                            : (pattern_.scrambled ? load_kernel<Order::scrambled, Path::past_l1>
                                                  : load_kernel<Order::by_table, Path::past_l1>);
    launch(kernel, shape(), data, offsets_.data(), walk_, sums);
  }

  void store(unsigned* data, unsigned seed) const {
    const auto kernel =
        pattern_.scrambled ? store_kernel<Order::scrambled> : store_kernel<Order::by_table>;
    launch(kernel, shape(), data, offsets_.data(), walk_, seed);
  }

  // Sources whose token is not where it belongs, and dwords that nobody should have written.
  [[nodiscard]] std::uint64_t count_wrong_stores(const DeviceBuffer<unsigned>& data,
                                                 unsigned seed) const {
    DeviceBuffer<unsigned long long> counts(2);
    counts.clear();
    launch(check_kernel, {.grid = dim3(check_blocks), .block = dim3(block_threads)}, data.data(),
           static_cast<unsigned>(data.size()), offsets_.data(), walk_,
           static_cast<unsigned>(pattern_.sources()), seed, counts.data());
    const auto counted = counts.to_host();
    return pattern_.sources() - std::min<std::uint64_t>(counted[0], pattern_.sources()) +
           counted[1];
  }

  // The place of a source, for spot checks by the host alone.
  [[nodiscard]] std::uint64_t index_of(std::uint64_t source) const {
    const std::uint64_t in_tile = pattern_.offsets.size();
    return pattern_.scrambled
               ? scramble(static_cast<unsigned>(source), walk_.size_bits)
               : source / in_tile * pattern_.step + pattern_.offsets[source % in_tile];
  }

  [[nodiscard]] unsigned blocks() const { return blocks_; }

  // The sum, over a block's rounds, of the tile that its first wave begins with.
  [[nodiscard]] unsigned sum_of_tiles(unsigned block) const {
    unsigned sum = 0;
    for (unsigned round = 0; round < walk_.rounds; ++round) {
      sum += first_tile(walk_, block, round, block_threads / pattern_.lanes * in_flight);
    }
    return sum;
  }

  // What a thread must sum up that goes by the table, from the sum of its block's tiles.
  [[nodiscard]] unsigned expected_sum(unsigned block, unsigned thread, unsigned tiles,
                                      const Values& values) const {
    const unsigned waves = block_threads / pattern_.lanes;
    const unsigned wave = thread / pattern_.lanes;
    const unsigned lane = thread % pattern_.lanes;
    const unsigned offset = pattern_.offsets[block % walk_.rows * pattern_.lanes + lane];
    constexpr unsigned sum_of_i = in_flight * (in_flight - 1) / 2;
    const unsigned in_a_round =
        in_flight * (wave * walk_.step + offset) + sum_of_i * waves * walk_.step;
    const unsigned indices = in_flight * tiles * walk_.step + walk_.rounds * in_a_round;
    return values.factor * indices + values.addend * in_flight * walk_.rounds;
  }

  // The same for a thread of a scrambled pattern, which takes as many steps as it has accesses.
  [[nodiscard]] unsigned expected_scrambled_sum(unsigned block, unsigned thread,
                                                const Values& values) const {
    const unsigned waves = block_threads / pattern_.lanes;
    unsigned indices = 0;
    for (unsigned round = 0; round < walk_.rounds; ++round) {
      for (unsigned i = 0; i < in_flight; ++i) {
        const unsigned tile = first_tile(walk_, block, round, waves * in_flight) +
                              thread / pattern_.lanes + i * waves;
        indices += scramble(source_number(walk_, tile, 0, pattern_.lanes, thread % pattern_.lanes),
                            walk_.size_bits);
      }
    }
    return values.factor * indices + values.addend * in_flight * walk_.rounds;
  }

  static constexpr unsigned check_blocks = 2048;

 private:
  [[nodiscard]] hipscope::LaunchShape shape() const {
    return {.grid = dim3(blocks_), .block = dim3(block_threads)};
  }

  const Pattern& pattern_;
  DeviceBuffer<unsigned> offsets_;
  unsigned blocks_ = 0;
  Walk walk_;
};

// --- Verification -------------------------------------------------------------------------------

Values values_of(std::uint64_t seed) {
  std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
  return {.factor = static_cast<unsigned>(random()) | 1U,
          .addend = static_cast<unsigned>(random())};
}

void verify_stores(hipscope::Point& point, const Launcher& launcher, const Pattern& pattern,
                   const DeviceBuffer<unsigned>& data, unsigned seed) {
  point.verify("every dword stored by its lane, all others untouched",
               launcher.count_wrong_stores(data, seed), pattern.sources());
  constexpr std::uint64_t spots = 32;
  const std::uint64_t distance = std::max<std::uint64_t>(1, pattern.sources() / spots);
  std::uint64_t wrong = 0;
  std::uint64_t checked = 0;
  for (std::uint64_t i = 0; i < spots && i * distance < pattern.sources(); ++i) {
    const std::uint64_t source = i * distance + i % distance;
    unsigned stored = 0;
    hipscope::check(hipMemcpy(&stored, data.data() + launcher.index_of(source), sizeof(stored),
                              hipMemcpyDeviceToHost));
    wrong += stored == token(static_cast<unsigned>(source), seed) ? 0 : 1;
    ++checked;
  }
  point.verify("spots read by the host", wrong, checked);
}

// Each thread's sum.
void verify_loads(hipscope::Point& point, const Launcher& launcher,
                  const std::vector<unsigned>& sums, const Values& values) {
  std::uint64_t wrong = 0;
  for (unsigned block = 0; block < launcher.blocks(); ++block) {
    const unsigned tiles = launcher.sum_of_tiles(block);
    for (unsigned thread = 0; thread < block_threads; ++thread) {
      const unsigned expected = launcher.expected_sum(block, thread, tiles, values);
      wrong += sums[std::size_t{block} * block_threads + thread] == expected ? 0 : 1;
    }
  }
  point.verify("sums of the threads", wrong, sums.size());
}

// The sums of some threads, since it takes long to add up where they have been; and the sum of all,
// which must have met every dword equally often.
void verify_scrambled_loads(hipscope::Point& point, const Launcher& launcher,
                            const Pattern& pattern, const std::vector<unsigned>& sums,
                            const Values& values, std::uint64_t accesses) {
  constexpr unsigned distance = 61;
  std::uint64_t wrong = 0;
  std::uint64_t checked = 0;
  for (unsigned number = 0; number < sums.size(); number += distance) {
    const unsigned expected =
        launcher.expected_scrambled_sum(number / block_threads, number % block_threads, values);
    wrong += sums[number] == expected ? 0 : 1;
    ++checked;
  }
  point.verify("sums of one in 61 threads", wrong, checked);
  const unsigned sum = std::accumulate(sums.begin(), sums.end(), 0U);
  const std::uint64_t sum_of_indices = pattern.size / 2 * (pattern.size - 1);
  const std::uint64_t repeats = accesses * pattern.lanes / pattern.size;
  const auto expected = static_cast<unsigned>(
      repeats * (values.factor * sum_of_indices + values.addend * pattern.size));
  point.verify("sum of all threads", sum == expected ? 0 : 1, 1);
}

// --- Sweeps -----------------------------------------------------------------------------------

// How many segments of `bytes` a wave's access touches, on average over the rows.
double segments(const Pattern& pattern, unsigned bytes) {
  if (pattern.scrambled) {
    return pattern.lanes;  // as good as always
  }
  std::size_t touched = 0;
  for (unsigned row = 0; row < pattern.rows; ++row) {
    std::set<unsigned> distinct;
    for (unsigned lane = 0; lane < pattern.lanes; ++lane) {
      distinct.insert(pattern.offsets[row * pattern.lanes + lane] / (bytes / dword_bytes));
    }
    touched += distinct.size();
  }
  return static_cast<double>(touched) / pattern.rows;
}

constexpr std::array<unsigned, 3> segment_bytes = {32, 64, 128};

std::string segment_name(unsigned bytes) { return std::to_string(bytes) + "-byte segments"; }

void add_values(hipscope::Point& point, const hipscope::Measurement& time, const Pattern& pattern,
                std::uint64_t accesses, int compute_units) {
  const auto count = static_cast<double>(accesses);
  const double gigabytes = count * 1e-9 / time.seconds().median;
  point.value("useful", gigabytes * pattern.lanes * dword_bytes, "GB/s");
  point.value("cycles per access", time.cycles() * compute_units / count, "cycles x CUs");
  for (const unsigned bytes : segment_bytes) {
    point.value(segment_name(bytes), segments(pattern, bytes), "per access");
  }
  point.value("in 32-byte segments", gigabytes * segments(pattern, 32) * 32, "GB/s");
}

struct Sizes {
  const hipscope::Size& footprint;
  const hipscope::Size& l2_footprint;
  const hipscope::Size& l2_accesses;
};

// Within L2: no more than half of it, since an H200 keeps data of either half in both. 0 where L2
// is unknown or too small.
std::uint64_t footprint_of(const Sweep& sweep, Place place, const Sizes& sizes) {
  if (place == Place::memory) {
    return sizes.footprint;
  }
  const std::uint64_t half = sweep.device().l2_bytes / 2;
  const std::uint64_t given = sizes.l2_footprint;
  if (!sweep.is_hardware()) {
    return given;
  }
  return half >= smallest_footprint ? std::min(given, half) : 0;
}

using MakePatterns = std::function<std::vector<Pattern>(unsigned lanes, std::uint64_t footprint,
                                                        std::uint64_t seed)>;

void measure(Sweep& sweep, Operation operation, Place place, const MakePatterns& make,
             const Sizes& sizes) {
  sweep.headline("useful");
  const std::uint64_t footprint = footprint_of(sweep, place, sizes);
  if (footprint == 0) {
    sweep.note("not on this device: its L2 is unknown or too small");
    return;
  }
  sweep.note(number(static_cast<double>(footprint) / (1 << 20), 6) + " MiB" +
             (place == Place::memory ? ", each dword once" : ", over and over") +
             "; an access is that of a wave; cycles x CUs: what one CU takes for it while all do");
  constexpr std::uint64_t most_padding = 4096;
  sweep.require_memory(footprint + footprint / 32 + most_padding,
                       place == Place::memory ? "--footprint" : "--l2-footprint");
  DeviceBuffer<unsigned> data(footprint / dword_bytes + most_padding);
  const Values values = values_of(sweep.seed());
  if (operation == Operation::load) {
    launch(fill_kernel, {.grid = dim3(Launcher::check_blocks), .block = dim3(block_threads)},
           data.data(), static_cast<unsigned>(data.size()), values);
  }
  const auto lanes = static_cast<unsigned>(sweep.device().wave_size);
  for (const Pattern& pattern : make(lanes, footprint, sweep.seed())) {
    auto point = sweep.point(pattern.label, pattern.x);
    const std::uint64_t once = pattern.sources() / lanes;
    const std::uint64_t accesses =
        place == Place::memory ? once
                               : std::max(once, std::bit_floor<std::uint64_t>(sizes.l2_accesses));
    const Launcher launcher(pattern, accesses);
    if (operation == Operation::load) {
      const DeviceBuffer<unsigned> sums(std::size_t{launcher.blocks()} * block_threads);
      const auto run = [&] { launcher.load(place, data.data(), sums.data()); };
      run();
      if (pattern.scrambled) {
        verify_scrambled_loads(point, launcher, pattern, sums.to_host(), values, accesses);
      } else {
        verify_loads(point, launcher, sums.to_host(), values);
      }
      add_values(point, point.measure(run), pattern, accesses, sweep.device().compute_units);
    } else {
      const auto seed = static_cast<unsigned>(sweep.seed());
      const auto run = [&] { launcher.store(data.data(), seed); };
      data.poison();
      run();
      verify_stores(point, launcher, pattern, data, seed);
      add_values(point, point.measure(run), pattern, accesses, sweep.device().compute_units);
    }
  }
}

std::vector<Pattern> stray_patterns(unsigned lanes, std::uint64_t footprint, bool scattered) {
  std::vector<Pattern> patterns = {stray(lanes, 0, scattered, footprint)};
  for (unsigned strays = 1; strays < lanes; strays *= 2) {
    patterns.push_back(stray(lanes, strays, scattered, footprint));
  }
  patterns.push_back(stray(lanes, lanes - 1, scattered, footprint));
  patterns.push_back(stray(lanes, lanes, scattered, footprint));
  return patterns;
}

std::vector<Pattern> stride_patterns(unsigned lanes, std::uint64_t footprint) {
  std::vector<Pattern> patterns;
  for (const unsigned stride :
       {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64}) {
    patterns.push_back(strided(lanes, stride, footprint));
  }
  return patterns;
}

std::vector<Pattern> misaligned_patterns(unsigned lanes, std::uint64_t footprint) {
  std::vector<Pattern> patterns;
  for (const unsigned shift : {0, 1, 2, 4, 7, 8, 12, 15, 16, 24, 31, 32}) {
    patterns.push_back(misaligned(lanes, shift, footprint));
  }
  return patterns;
}

std::vector<Pattern> permuted_patterns(unsigned lanes, std::uint64_t footprint,
                                       std::uint64_t seed) {
  const std::vector<unsigned> in_order = lane_numbers(lanes);
  const std::vector<unsigned> reversed(in_order.rbegin(), in_order.rend());
  std::vector<unsigned> random = in_order;
  std::shuffle(random.begin(), random.end(), std::mt19937_64(seed));
  std::vector<Pattern> patterns = {permuted("in order", in_order, 1, footprint),
                                   permuted("reversed", reversed, 1, footprint),
                                   permuted("random in one line", random, 1, footprint)};
  for (unsigned lines = 2; lines <= lanes; lines *= 2) {
    patterns.push_back(
        permuted("across " + std::to_string(lines) + " lines", random, lines, footprint));
  }
  patterns.push_back(permuted("random everywhere", random, 1, footprint));
  patterns.back().scrambled = true;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    patterns[i].x = static_cast<double>(i + 1);
  }
  return patterns;
}

// --- What the curves show ---------------------------------------------------------------------

void infer_granularity(hipscope::Results& results, const std::string& sweep,
                       const std::string& what) {
  const auto costs = results.curve(sweep, "cycles per access");
  if (costs.empty()) {
    return;
  }
  hipscope::Inference inference{
      .name = "access granularity of " + what,
      .unit = "bytes",
      .statement = "the cost does not follow the number of segments of any one size"};
  const auto lanes = static_cast<unsigned>(results.device().wave_size);
  if (const auto found = hipscope::find_access_granularity(costs, lanes)) {
    inference.value = found->bytes;
    inference.confidence = found->confidence;
    inference.statement =
        "a wave's access costs in proportion to the segments of this size that "
        "it touches";
    inference.evidence = {"by strides of up to " + number(2 * found->bytes) + " bytes: " +
                          number(found->cost_per_segment) + " cycles x CUs per segment, at least " +
                          number(found->least_cost) + " per access; largest error " +
                          number(100 * found->largest_relative_residual, 2) + " %"};
  }
  results.infer(inference);
}

// What each lane adds that goes to a place of its own.
void infer_scattered_lane(hipscope::Results& results, const std::string& sweep,
                          const std::string& where) {
  std::vector<double> lanes;
  std::vector<double> cycles;
  for (const auto& point : results.curve(sweep, "cycles per access")) {
    lanes.push_back(point.x);
    cycles.push_back(point.y);
  }
  if (lanes.empty()) {
    return;
  }
  const hipscope::LineFit fit = hipscope::fit_line(lanes, cycles);
  constexpr double largest_residual = 0.25;
  hipscope::Inference inference{.name = "cost of a scattered lane, " + where,
                                .unit = "cycles x CUs",
                                .statement = "the lanes do not cost alike"};
  inference.evidence = {
      "a store with none takes " + number(cycles.front()) +
          " cycles x CUs, with all lanes scattered " + number(cycles.back()),
      "straight line, largest error " + number(100 * fit.largest_relative_residual, 2) + " %"};
  if (fit.largest_relative_residual <= largest_residual && fit.slope > 0) {
    inference.value = fit.slope;
    inference.confidence = 1 - fit.largest_relative_residual;
    inference.statement = "each lane of a wave's store that goes to a place of its own adds this";
  }
  results.infer(inference);
}

// The worst shift over none.
void infer_misalignment(hipscope::Results& results, const std::string& sweep,
                        const std::string& what) {
  const auto curve = results.curve(sweep, "cycles per access");
  if (curve.empty()) {
    return;
  }
  const auto worst = std::max_element(curve.begin(), curve.end(),
                                      [](const auto& a, const auto& b) { return a.y < b.y; });
  const double factor = worst->y / curve.front().y;
  const double noise = worst->relative_spread + curve.front().relative_spread;
  results.infer(
      {.name = "cost of misalignment, " + what,
       .value = factor,
       .unit = "times as long",
       .confidence = factor - 1 > noise ? 1 - noise / (factor - 1) : 0,
       .statement = "the slowest shift, of " + number(worst->x) + " x 4 bytes, against none",
       .evidence = {number(curve.front().y) + " and " + number(worst->y) +
                    " cycles x CUs per access"}});
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "store_divergence",
      {.question = "What does it cost when the lanes of a wave load from or store to scattered "
                   "places?",
       .sources = {"fsword73/HIP-Performance-Optmization-on-VEGA64, 2.7.2 (example 7c); strides, "
                   "alignment and permutations are hipscope's own"}});
  constexpr std::uint64_t mebibyte = 1U << 20;
  constexpr std::uint64_t largest_footprint = 4096 * mebibyte;
  const auto footprint = experiment.size("--footprint", "bytes of memory beyond the caches",
                                         {.gpu = 2048 * mebibyte,
                                          .quick = 256 * mebibyte,
                                          .host = smallest_footprint,
                                          .minimum = smallest_footprint,
                                          .maximum = largest_footprint,
                                          .share_of_memory = 0.25});
  const auto l2_footprint = experiment.size("--l2-footprint", "bytes within L2, at most half of it",
                                            {.gpu = 16 * mebibyte,
                                             .quick = 8 * mebibyte,
                                             .host = smallest_footprint,
                                             .minimum = smallest_footprint,
                                             .maximum = largest_footprint});
  const auto l2_accesses = experiment.size(
      "--l2-accesses", "wave accesses within L2, rounded down to a power of two",
      {.gpu = 1U << 24, .quick = 1U << 20, .host = 1U << 10, .minimum = 1, .maximum = 1U << 28});
  const Sizes sizes = {
      .footprint = footprint, .l2_footprint = l2_footprint, .l2_accesses = l2_accesses};

  const auto add = [&](const std::string& name, const std::string& title,
                       const hipscope::Axis& axis, Operation operation, const MakePatterns& make) {
    for (const Place place : {Place::memory, Place::l2}) {
      const bool in_l2 = place == Place::l2;
      experiment.sweep(name + (in_l2 ? "-l2" : ""), title + (in_l2 ? ", within L2" : ""),
                       [=, &sizes](Sweep& sweep) {
                         sweep.axis(axis);
                         measure(sweep, operation, place, make, sizes);
                       });
    }
  };
  const hipscope::Axis lanes_axis = {.name = "stray lanes"};
  add("stray-stores", "some lanes of each wave store to one other region", lanes_axis,
      Operation::store, [](unsigned lanes, std::uint64_t bytes, std::uint64_t /*seed*/) {
        return stray_patterns(lanes, bytes, false);
      });
  add("scattered-stores", "some lanes of each wave store to a region of their own each", lanes_axis,
      Operation::store, [](unsigned lanes, std::uint64_t bytes, std::uint64_t /*seed*/) {
        return stray_patterns(lanes, bytes, true);
      });
  for (const Operation operation : {Operation::load, Operation::store}) {
    const std::string verb = operation == Operation::load ? "loads" : "stores";
    add("stride-" + verb, "lane i " + verb + " dword i x stride",
        {.name = "stride", .unit = "dwords", .scale = hipscope::Scale::logarithmic}, operation,
        [](unsigned lanes, std::uint64_t bytes, std::uint64_t /*seed*/) {
          return stride_patterns(lanes, bytes);
        });
    add("misaligned-" + verb, "lanes side by side, shifted", {.name = "shift", .unit = "dwords"},
        operation, [](unsigned lanes, std::uint64_t bytes, std::uint64_t /*seed*/) {
          return misaligned_patterns(lanes, bytes);
        });
    add("permuted-" + verb, "the dwords of lanes exchanged", {.name = "order"}, operation,
        permuted_patterns);
  }
  experiment.conclude([](hipscope::Results& results) {
    infer_granularity(results, "stride-loads", "loads from memory");
    infer_granularity(results, "stride-stores", "stores to memory");
    infer_granularity(results, "stride-loads-l2", "loads within L2");
    infer_granularity(results, "stride-stores-l2", "stores within L2");
    infer_scattered_lane(results, "scattered-stores", "memory");
    infer_scattered_lane(results, "scattered-stores-l2", "within L2");
    infer_misalignment(results, "misaligned-loads", "loads from memory");
    infer_misalignment(results, "misaligned-stores", "stores to memory");
    infer_misalignment(results, "misaligned-loads-l2", "loads within L2");
    infer_misalignment(results, "misaligned-stores-l2", "stores within L2");
  });
  return experiment.run(argc, argv);
}
