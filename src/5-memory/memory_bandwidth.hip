// How many bytes per second do memory and caches give, and what does it take to get them?
//
// The functions are BabelStream's (read is its first half of dot; write is added), on 32-bit
// integers, whose sums wrap but are exact in any order: one checksum proves that every element was
// read.
//   stream      every function once, in the shape that was found best: the familiar table
//   width       the same bytes per thread in accesses of 4, 8 and 16 bytes
//   shape       block size against 16-byte values per thread, each block with one tile
//   variants    one tile per block or several, and hints to the caches
//   occupancy   few threads with few loads ... many with many: how many bytes must be in flight?
//               Little's law says bandwidth x latency, and does not care whose they are
//   l2          ways to read the same few MiB over and over
//   footprint-* the same data again and again in one launch: from caches to memory
#include <hipscope/hipscope.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using hipscope::check;
using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::number;
using hipscope::Point;
using hipscope::Sweep;

namespace {

constexpr unsigned largest_block = 1024;
constexpr unsigned most_values = 8;  // of 16 bytes per thread: more do not fit into registers

// The largest tile of a block; arrays are multiples of it, so that no thread has to look where they
// end.
constexpr std::uint64_t tile_bytes = std::uint64_t{largest_block} * most_values * sizeof(uint4);

// --- Data -------------------------------------------------------------------------------------

// Element `i` of a random array, which host and device can tell without the array. (The mixing
// constants are those of Chris Wellons' lowbias32.)
__host__ __device__ unsigned random_value(unsigned i, unsigned key) {
  unsigned x = i + key;
  x = (x ^ (x >> 16)) * 0x7feb352dU;
  x = (x ^ (x >> 15)) * 0x846ca68bU;
  return x ^ (x >> 16);
}

// What the two input arrays are made from.
struct Keys {
  unsigned first;
  unsigned second;
};

Keys keys_of(std::uint64_t seed) {
  const unsigned key = random_value(static_cast<unsigned>(seed), static_cast<unsigned>(seed >> 32));
  return {.first = key, .second = random_value(key, 1)};
}

// --- Functions --------------------------------------------------------------------------------

constexpr unsigned scalar = 2654435761U;

// `Inputs` arrays are read; `Stores`: the result goes to another array, else into a sum.
template <unsigned Inputs, bool Stores>
struct Function {
  static constexpr unsigned inputs = Inputs;
  static constexpr bool stores = Stores;
  // What most of them make of an element of the first array; write counts up in its place.
  __host__ __device__ static unsigned apply(unsigned a, unsigned /*b*/) { return a; }
};
struct Read : Function<1, false> {
  static constexpr const char* name = "read";
};
struct Dot : Function<2, false> {
  static constexpr const char* name = "dot";
  __host__ __device__ static unsigned apply(unsigned a, unsigned b) { return a * b; }
};
struct Write : Function<0, true> {
  static constexpr const char* name = "write";
};
struct Copy : Function<1, true> {
  static constexpr const char* name = "copy";
};
struct Scale : Function<1, true> {
  static constexpr const char* name = "scale";
  __host__ __device__ static unsigned apply(unsigned a, unsigned /*b*/) { return scalar * a; }
};
struct Add : Function<2, true> {
  static constexpr const char* name = "add";
  __host__ __device__ static unsigned apply(unsigned a, unsigned b) { return a + b; }
};
struct Triad : Function<2, true> {
  static constexpr const char* name = "triad";
  __host__ __device__ static unsigned apply(unsigned a, unsigned b) { return a + scalar * b; }
};

// Arrays that a function moves: what its bandwidth counts.
template <typename Function>
constexpr unsigned arrays_moved = Function::inputs + (Function::stores ? 1 : 0);

// What `Function` makes of elements `i`.
template <typename Function>
__host__ __device__ unsigned expected_value(unsigned i, Keys keys) {
  const unsigned a = Function::inputs == 0 ? keys.first + i : random_value(i, keys.first);
  return Function::apply(a, Function::inputs == 2 ? random_value(i, keys.second) : 0);
}

// --- Accesses of one, two and four words ------------------------------------------------------

template <typename Function>
__device__ unsigned apply(unsigned a, unsigned b) {
  return Function::apply(a, b);
}
template <typename Function>
__device__ uint2 apply(uint2 a, uint2 b) {
  return make_uint2(Function::apply(a.x, b.x), Function::apply(a.y, b.y));
}
template <typename Function>
__device__ uint4 apply(uint4 a, uint4 b) {
  return make_uint4(Function::apply(a.x, b.x), Function::apply(a.y, b.y), Function::apply(a.z, b.z),
                    Function::apply(a.w, b.w));
}

__device__ unsigned sum_of(unsigned a) { return a; }
__device__ unsigned sum_of(uint2 a) { return a.x + a.y; }
__device__ unsigned sum_of(uint4 a) { return a.x + a.y + a.z + a.w; }

// first, first + 1 ...
template <typename Access>
__device__ Access counting(unsigned first) {
  if constexpr (std::is_same_v<Access, uint4>) {
    return make_uint4(first, first + 1, first + 2, first + 3);
  } else if constexpr (std::is_same_v<Access, uint2>) {
    return make_uint2(first, first + 1);
  } else {
    return first;
  }
}

// What an access tells the caches. clang has one such access for AMD, nontemporal: glc and slc on
// gfx9, which pass L1 by, but only slc on RDNA, which does not pass its L0 by.
enum class Hint {
  none,
  past_l1,    // NVIDIA's .cg: L2 is the first cache that is asked
  streaming,  // NVIDIA's .cs: not needed again
};

#if defined(__HIP_DEVICE_COMPILE__)
// clang's own vectors: its nontemporal accesses do not take HIP's.
template <typename Access>
using Native = unsigned __attribute__((ext_vector_type(sizeof(Access) / sizeof(unsigned))));
#endif

template <Hint hint, typename Access>
__device__ Access load(const Access* address) {
#if defined(__CUDA_ARCH__)
  if constexpr (hint == Hint::past_l1) {
    return __ldcg(address);
  } else if constexpr (hint == Hint::streaming) {
    return __ldcs(address);
  }
#elif defined(__HIP_DEVICE_COMPILE__)
  if constexpr (hint != Hint::none) {
    Native<Access> value =
        __builtin_nontemporal_load(reinterpret_cast<const Native<Access>*>(address));
    return reinterpret_cast<Access&>(value);
  }
#endif
  return *address;
}

template <Hint hint, typename Access>
__device__ void store(Access* address, Access value) {
#if defined(__CUDA_ARCH__)
  if constexpr (hint == Hint::streaming) {
    __stcs(address, value);
    return;
  }
#elif defined(__HIP_DEVICE_COMPILE__)
  if constexpr (hint == Hint::streaming) {
    __builtin_nontemporal_store(reinterpret_cast<Native<Access>&>(value),
                                reinterpret_cast<Native<Access>*>(address));
    return;
  }
#endif
  *address = value;
}

// --- Kernels ----------------------------------------------------------------------------------

// The second launch bound of the kernels that are measured, one block per CU: without it CUDA 13's
// compiler keeps to 32 registers and loads fewer values at once than the source says.

// All loads before this are under way before anything after it waits for the first. Left to itself,
// clang loads a few at a time where that saves registers.
__device__ void end_of_loads() {
#if defined(__HIP_DEVICE_COMPILE__)
  __builtin_amdgcn_sched_barrier(0);
#endif
}

// Adds the threads' sums up, so that no load can be left out.
__device__ void store_block_sum(unsigned sum, unsigned* sums) {
  constexpr unsigned smallest_wave = 32;
  __shared__ unsigned wave_sums[largest_block / smallest_wave];
  for (unsigned distance = warpSize / 2; distance > 0; distance /= 2) {
    sum += __shfl_down(sum, distance);
  }
  if (threadIdx.x % warpSize == 0) {
    wave_sums[threadIdx.x / warpSize] = sum;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned wave = 1; wave < blockDim.x / warpSize; ++wave) {
      sum += wave_sums[wave];
    }
    sums[blockIdx.x] = sum;
  }
}

// A block takes a tile of `Values` accesses per thread, then the tile one grid further, if the grid
// has fewer blocks than there are tiles. (`blocks` is an argument, since HIP finds gridDim by a
// division.) Nothing says that `output` is another array than the inputs, so every load of a tile
// comes before its first store.
template <typename Function, typename Access, unsigned Values, Hint load_hint, Hint store_hint>
__global__ void __launch_bounds__(largest_block, 1)
    stream_kernel(const Access* first, const Access* second, Access* output, unsigned* sums,
                  unsigned tiles, unsigned blocks, unsigned first_count) {
  unsigned sum = 0;
#pragma unroll 1
  for (unsigned tile = blockIdx.x; tile < tiles; tile += blocks) {
    const std::size_t start = std::size_t{tile} * (blockDim.x * Values) + threadIdx.x;
    Access a[Values];
    Access b[Values];
#pragma unroll
    for (unsigned i = 0; i < Values; ++i) {
      const std::size_t at = start + i * blockDim.x;
      if constexpr (Function::inputs == 0) {
        constexpr auto words = static_cast<unsigned>(sizeof(Access) / sizeof(unsigned));
        a[i] = counting<Access>(first_count + static_cast<unsigned>(at) * words);
      } else {
        a[i] = load<load_hint>(first + at);
      }
      b[i] = a[i];
      if constexpr (Function::inputs == 2) {
        b[i] = load<load_hint>(second + at);
      }
    }
    end_of_loads();
#pragma unroll
    for (unsigned i = 0; i < Values; ++i) {
      const Access result = apply<Function>(a[i], b[i]);
      if constexpr (Function::stores) {
        store<store_hint>(output + start + i * blockDim.x, result);
      } else {
        sum += sum_of(result);
      }
    }
  }
  if constexpr (!Function::stores) {
    store_block_sum(sum, sums);
  }
}

// A unit is what 64 threads read at once: a wave of 64 lanes, or two of 32.
constexpr unsigned unit_lanes = 64;
constexpr unsigned unit_words = unit_lanes * sizeof(uint4) / sizeof(unsigned);
constexpr std::uint64_t unit_bytes = unit_words * sizeof(unsigned);

// Who reads what of the data that is gone through again and again.
enum class Pattern {
  once,       // in each pass every tile is taken by one block: no line is asked for twice
  own_part,   // each block has data of its own, and takes all of it
  own_start,  // each block takes all tiles; their starts are at equal distances
  in_step,    // each block takes all tiles; all start together
};

// The way through `tiles` tiles, and from the last back to the first. A tile is `Loads` units.
struct Walk {
  Pattern pattern;
  unsigned tiles;
  unsigned visits;  // to tiles: of each block, or for `once` of all blocks together

  // The first tile of a block, by equal distances as far as whole tiles allow.
  __device__ unsigned start(unsigned block, unsigned blocks) const {
    const unsigned rest = tiles % blocks;
    const unsigned equal = tiles / blocks * block + (block < rest ? block : rest);
    return pattern == Pattern::own_start ? equal : 0;
  }
};

// 64 threads take a tile, the next 64 the next one. The addresses change from visit to visit, so
// that nothing can be kept in registers. The sum is of all that was moved: for a function that
// stores it proves that no visit was left out.
template <typename Function, unsigned Loads, Hint hint>
__global__ void __launch_bounds__(largest_block, 1)
    walk_kernel(const uint4* first, uint4* output, unsigned* sums, Walk walk,
                unsigned first_count) {
  const bool is_shared = walk.pattern == Pattern::once;
  const unsigned groups = blockDim.x / unit_lanes;
  const unsigned stride = is_shared ? groups * gridDim.x : groups;
  const unsigned group = threadIdx.x / unit_lanes + (is_shared ? groups * blockIdx.x : 0);
  const unsigned part = walk.pattern == Pattern::own_part ? blockIdx.x * walk.tiles : 0;
  const std::size_t start = std::size_t{part} * (Loads * unit_lanes) + threadIdx.x % unit_lanes;
  const unsigned step = stride % walk.tiles;
  unsigned tile = (walk.start(blockIdx.x, gridDim.x) + group) % walk.tiles;
  unsigned sum = 0;
#pragma unroll 1
  for (unsigned visit = group; visit < walk.visits; visit += stride) {
    const std::size_t at = start + std::size_t{tile} * (Loads * unit_lanes);
    uint4 values[Loads];
#pragma unroll
    for (unsigned i = 0; i < Loads; ++i) {
      if constexpr (Function::inputs == 0) {
        values[i] = counting<uint4>(first_count + static_cast<unsigned>(at + i * unit_lanes) * 4);
      } else {
        values[i] = load<hint>(first + at + i * unit_lanes);
      }
    }
    end_of_loads();
#pragma unroll
    for (unsigned i = 0; i < Loads; ++i) {
      if constexpr (Function::stores) {
        store<Hint::none>(output + at + i * unit_lanes, values[i]);
      }
      sum += sum_of(values[i]);
    }
    tile += step;
    tile -= tile >= walk.tiles ? walk.tiles : 0;
  }
  store_block_sum(sum, sums);
}

// --- Kernels that make and check the data -----------------------------------------------------

constexpr unsigned checking_block = 256;

__global__ void __launch_bounds__(checking_block)
    fill_kernel(unsigned* array, std::uint64_t count, unsigned key) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * checking_block;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * checking_block + threadIdx.x; i < count;
       i += threads) {
    array[i] = random_value(static_cast<unsigned>(i), key);
  }
}

// Counts right elements, not wrong ones: where it does not run, nothing is right.
template <typename Function>
__global__ void __launch_bounds__(checking_block)
    count_right_kernel(const unsigned* array, std::uint64_t count, Keys keys,
                       unsigned long long* right) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * checking_block;
  unsigned long long mine = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * checking_block + threadIdx.x; i < count;
       i += threads) {
    mine += array[i] == expected_value<Function>(static_cast<unsigned>(i), keys) ? 1 : 0;
  }
  atomicAdd(right, mine);
}

template <typename Function>
__host__ __device__ unsigned expected_unit_sum(unsigned unit, Keys keys) {
  unsigned sum = 0;
  for (unsigned i = 0; i < unit_words; ++i) {
    sum += expected_value<Function>(unit * unit_words + i, keys);
  }
  return sum;
}

// The checksum of each unit, from the elements' numbers alone.
template <typename Function>
__global__ void __launch_bounds__(checking_block)
    expected_sums_kernel(unsigned* sums, unsigned units, Keys keys) {
  const unsigned unit = blockIdx.x * checking_block + threadIdx.x;
  if (unit < units) {
    sums[unit] = expected_unit_sum<Function>(unit, keys);
  }
}

// --- Reference --------------------------------------------------------------------------------

// Checksums of the first so many units. The device computes them; the host repeats a sample.
template <typename Function>
class ExpectedSums {
 public:
  ExpectedSums(std::uint64_t bytes, Keys keys) {
    const auto units = static_cast<unsigned>(bytes / unit_bytes);
    DeviceBuffer<unsigned> device_sums(units);
    launch(expected_sums_kernel<Function>,
           {.grid = dim3((units + checking_block - 1) / checking_block),
            .block = dim3(checking_block)},
           device_sums.data(), units, keys);
    const std::vector<unsigned> sums = device_sums.to_host();
    for (unsigned i = 0; i < sample_size; ++i) {
      const auto unit = static_cast<unsigned>(std::uint64_t{i} * (units - 1) / (sample_size - 1));
      wrong_ += sums[unit] == expected_unit_sum<Function>(unit, keys) ? 0 : 1;
    }
    up_to_.push_back(0);
    for (const unsigned sum : sums) {
      up_to_.push_back(up_to_.back() + sum);
    }
  }

  // Of the first `units`, modulo 2^32.
  [[nodiscard]] unsigned first(std::size_t units) const { return up_to_[units]; }

  [[nodiscard]] unsigned all() const { return up_to_.back(); }

  void verify(Point& point) const {
    point.verify("a sample of the expected checksums, by the host", wrong_, sample_size);
  }

 private:
  static constexpr unsigned sample_size = 16;
  std::uint64_t wrong_ = 0;
  std::vector<unsigned> up_to_;  // the sum of all units before each
};

// Fills on hardware every CU many times over, on the host backend hardly anything.
unsigned checking_blocks(const Sweep& sweep) {
  constexpr unsigned blocks_per_unit = 32;
  return sweep.is_hardware() ? blocks_per_unit * static_cast<unsigned>(sweep.device().compute_units)
                             : 1;
}

DeviceBuffer<unsigned> random_array(const Sweep& sweep, std::uint64_t bytes, unsigned key) {
  DeviceBuffer<unsigned> array(bytes / sizeof(unsigned));
  launch(fill_kernel, {.grid = dim3(checking_blocks(sweep)), .block = dim3(checking_block)},
         array.data(), array.size(), key);
  return array;
}

// Wrong elements among the first `bytes` of what `Function` stored.
template <typename Function>
std::uint64_t count_wrong(const Sweep& sweep, const DeviceBuffer<unsigned>& array,
                          std::uint64_t bytes, Keys keys) {
  const std::uint64_t count = bytes / sizeof(unsigned);
  DeviceBuffer<unsigned long long> right(1);
  right.clear();
  launch(count_right_kernel<Function>,
         {.grid = dim3(checking_blocks(sweep)), .block = dim3(checking_block)}, array.data(), count,
         keys, right.data());
  std::uint64_t wrong = count - right.to_host()[0];
  // The host looks at some itself: the device's count might be wrong as well.
  constexpr unsigned looks = 16;
  for (unsigned look = 0; look < looks; ++look) {
    const std::uint64_t i = look * (count - 1) / (looks - 1);
    unsigned value = 0;
    check(hipMemcpy(&value, array.data() + i, sizeof(value), hipMemcpyDeviceToHost));
    wrong += value == expected_value<Function>(static_cast<unsigned>(i), keys) ? 0 : 1;
  }
  return std::min(wrong, count);
}

double gigabytes_per_second(double bytes, const hipscope::Measurement& time) {
  return bytes * 1e-9 / time.seconds().median;
}

constexpr const char* gigabytes = "GB/s";

// By the driver's clock and bus width, two transfers per clock; NaN where it tells none.
double peak(const hipscope::DeviceDescription& device) {
  const double bytes = device.memory_mhz * 1e6 * 2 * device.memory_bus_bits / 8;
  return bytes > 0 ? bytes * 1e-9 : std::numeric_limits<double>::quiet_NaN();
}

// --- Streams ----------------------------------------------------------------------------------

struct Shape {
  unsigned threads;
  unsigned values;  // 16 bytes each, per thread
};

// The best on an H200: a sum wants many loads under way, what stores wants only one value per
// thread.
template <typename Function>
constexpr Shape best_shape() {
  if constexpr (!Function::stores) {
    return {.threads = 256, .values = Function::inputs == 1 ? 8 : 4};
  } else if constexpr (Function::inputs == 2) {
    return {.threads = 1024, .values = 1};
  } else {
    return {.threads = 256, .values = 1};
  }
}

// Three arrays of a size, filled, with what is known of them.
class Streams {
 public:
  Streams(Sweep& sweep, std::uint64_t bytes)
      : sweep_(sweep),
        bytes_((checked(sweep, bytes) / tile_bytes) * tile_bytes),
        keys_(keys_of(sweep.seed())),
        first_(random_array(sweep, bytes_, keys_.first)),
        second_(random_array(sweep, bytes_, keys_.second)),
        output_(bytes_ / sizeof(unsigned)),
        read_(bytes_, keys_),
        dot_(bytes_, keys_) {}

  // Verifies and measures; returns GB/s. `blocks` 0: one per tile.
  template <typename Function, typename Access, unsigned Values, Hint load_hint = Hint::none,
            Hint store_hint = Hint::none>
  double measure(Point& point, const std::string& time_name, unsigned threads,
                 unsigned tiles_per_block = 1) {
    const auto tiles = static_cast<unsigned>(bytes_ / (threads * Values * sizeof(Access)));
    const unsigned blocks = (tiles + tiles_per_block - 1) / tiles_per_block;
    DeviceBuffer<unsigned> sums(Function::stores ? 1 : blocks);
    const auto run = [&] {
      launch(stream_kernel<Function, Access, Values, load_hint, store_hint>,
             {.grid = dim3(blocks), .block = dim3(threads)}, as<Access>(first_),
             as<Access>(second_), as<Access>(output_), sums.data(), tiles, blocks, keys_.first);
    };
    verify<Function>(point, sums, run);
    const auto time = point.measure(run, {.name = time_name});
    return gigabytes_per_second(static_cast<double>(bytes_) * arrays_moved<Function>, time);
  }

  // The host backend's waves of 64 lanes fill no fewer threads; more only take time.
  [[nodiscard]] unsigned threads(const Shape& shape) const {
    constexpr unsigned threads_on_host = 64;
    return sweep_.is_hardware() ? shape.threads : threads_on_host;
  }

 private:
  static std::uint64_t checked(const Sweep& sweep, std::uint64_t bytes) {
    sweep.require_memory(3 * bytes, "--array");
    return bytes;
  }

  template <typename Access>
  static Access* as(const DeviceBuffer<unsigned>& array) {
    return static_cast<Access*>(static_cast<void*>(array.data()));
  }

  template <typename Function, typename Run>
  void verify(Point& point, DeviceBuffer<unsigned>& sums, Run run) {
    output_.poison();
    sums.poison();
    run();
    if constexpr (Function::stores) {
      point.verify(std::string(Function::name) + ", every element",
                   count_wrong<Function>(sweep_, output_, bytes_, keys_), output_.size());
    } else {
      unsigned sum = 0;
      for (const unsigned block_sum : sums.to_host()) {
        sum += block_sum;
      }
      const unsigned expected = Function::inputs == 1 ? read_.all() : dot_.all();
      point.verify(std::string(Function::name) + ", checksum of all elements",
                   sum == expected ? 0 : 1, 1);
      Function::inputs == 1 ? read_.verify(point) : dot_.verify(point);
    }
  }

  Sweep& sweep_;
  std::uint64_t bytes_;
  Keys keys_;
  DeviceBuffer<unsigned> first_;
  DeviceBuffer<unsigned> second_;
  DeviceBuffer<unsigned> output_;
  ExpectedSums<Read> read_;
  ExpectedSums<Dot> dot_;
};

template <typename Function>
void measure_function(Sweep& sweep, Streams& streams, unsigned row) {
  auto point = sweep.point(Function::name, row);
  constexpr Shape shape = best_shape<Function>();
  const double bandwidth =
      streams.measure<Function, uint4, shape.values>(point, "time", streams.threads(shape));
  point.value("bandwidth", bandwidth, gigabytes);
  point.value("share of the driver's peak", 100 * bandwidth / peak(sweep.device()), "%");
}

// The rows of sweep stream.
enum FunctionRow : unsigned {
  read_row = 1,
  write_row,
  copy_row,
  scale_row,
  add_row,
  triad_row,
  dot_row
};

void measure_stream(Sweep& sweep, std::uint64_t bytes) {
  sweep.axis({.name = "function"});
  sweep.headline("bandwidth");
  sweep.note(
      "counted as BabelStream does: one array for read and write, two for copy, scale and "
      "dot, three for add and triad");
  Streams streams(sweep, bytes);
  measure_function<Read>(sweep, streams, read_row);
  measure_function<Write>(sweep, streams, write_row);
  measure_function<Copy>(sweep, streams, copy_row);
  measure_function<Scale>(sweep, streams, scale_row);
  measure_function<Add>(sweep, streams, add_row);
  measure_function<Triad>(sweep, streams, triad_row);
  measure_function<Dot>(sweep, streams, dot_row);
}

// One of several functions in a row.
template <typename Function, typename Access, unsigned Values, Hint load_hint = Hint::none,
          Hint store_hint = Hint::none>
void measure_column(Point& point, Streams& streams, unsigned threads,
                    unsigned tiles_per_block = 1) {
  const std::string name = Function::name;
  point.value(name,
              streams.measure<Function, Access, Values, load_hint, store_hint>(
                  point, name + " time", threads, tiles_per_block),
              gigabytes);
}

template <typename Function, typename Access>
void measure_width_of(Point& point, Streams& streams) {
  constexpr Shape shape = best_shape<Function>();
  constexpr unsigned values = shape.values * sizeof(uint4) / sizeof(Access);
  measure_column<Function, Access, values>(point, streams, streams.threads(shape));
}

template <typename Access>
void measure_width(Sweep& sweep, Streams& streams) {
  auto point = sweep.point(std::to_string(sizeof(Access)), sizeof(Access));
  measure_width_of<Read, Access>(point, streams);
  measure_width_of<Write, Access>(point, streams);
  measure_width_of<Copy, Access>(point, streams);
  measure_width_of<Triad, Access>(point, streams);
}

void measure_widths(Sweep& sweep, std::uint64_t bytes) {
  sweep.axis({.name = "access", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("copy");
  sweep.note("each thread moves the same bytes: four or two times as many accesses of 4 or 8");
  Streams streams(sweep, bytes);
  measure_width<unsigned>(sweep, streams);
  measure_width<uint2>(sweep, streams);
  measure_width<uint4>(sweep, streams);
}

template <unsigned Values>
void measure_shape(Sweep& sweep, Streams& streams, unsigned threads) {
  auto point = sweep.point(std::to_string(threads) + " x " + std::to_string(Values),
                           threads * Values * sizeof(uint4));
  measure_column<Read, uint4, Values>(point, streams, threads);
  measure_column<Write, uint4, Values>(point, streams, threads);
  measure_column<Copy, uint4, Values>(point, streams, threads);
  if constexpr (Values <= most_values / 2) {  // of two arrays more do not fit into registers
    measure_column<Triad, uint4, Values>(point, streams, threads);
  }
}

void measure_shapes(Sweep& sweep, std::uint64_t bytes) {
  sweep.axis({.name = "tile", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("copy");
  sweep.note("threads per block x values of 16 bytes per thread; each block has one tile");
  Streams streams(sweep, bytes);
  const std::vector<unsigned> blocks = sweep.is_hardware()
                                           ? std::vector<unsigned>{64, 128, 256, 512, 1024}
                                           : std::vector<unsigned>{64};
  for (const unsigned threads : blocks) {
    measure_shape<1>(sweep, streams, threads);
    measure_shape<2>(sweep, streams, threads);
    measure_shape<4>(sweep, streams, threads);
    measure_shape<most_values>(sweep, streams, threads);
  }
}

template <typename Function, Hint load_hint, Hint store_hint>
void measure_variant_of(Point& point, Streams& streams, unsigned tiles_per_block) {
  constexpr Shape shape = best_shape<Function>();
  measure_column<Function, uint4, shape.values, load_hint, store_hint>(
      point, streams, streams.threads(shape), tiles_per_block);
}

template <Hint load_hint = Hint::none, Hint store_hint = Hint::none>
void measure_variant(Sweep& sweep, Streams& streams, const std::string& label, unsigned row,
                     unsigned tiles_per_block = 1) {
  auto point = sweep.point(label, row);
  measure_variant_of<Read, load_hint, store_hint>(point, streams, tiles_per_block);
  measure_variant_of<Write, load_hint, store_hint>(point, streams, tiles_per_block);
  measure_variant_of<Copy, load_hint, store_hint>(point, streams, tiles_per_block);
  measure_variant_of<Triad, load_hint, store_hint>(point, streams, tiles_per_block);
}

void measure_variants(Sweep& sweep, std::uint64_t bytes) {
  sweep.axis({.name = "variant"});
  sweep.headline("copy");
  sweep.note("several tiles per block: a grid apart from each other (grid-stride loop)");
  Streams streams(sweep, bytes);
  unsigned row = 0;
  for (const unsigned tiles : {1U, 2U, 4U, 16U, 64U}) {
    measure_variant(sweep, streams, "tiles per block: " + std::to_string(tiles), ++row, tiles);
  }
  measure_variant<Hint::none, Hint::streaming>(sweep, streams, "streaming stores", ++row);
  measure_variant<Hint::streaming, Hint::none>(sweep, streams, "streaming loads", ++row);
  measure_variant<Hint::streaming, Hint::streaming>(sweep, streams, "streaming both", ++row);
}

// --- Walks ------------------------------------------------------------------------------------

// Persistent blocks: as many as are given, all in place at once.
struct Crew {
  unsigned threads;
  unsigned blocks_per_unit;
};

Crew on_this(const Sweep& sweep, const Crew& crew) {
  constexpr Crew crew_on_host = {.threads = 64, .blocks_per_unit = 1};
  return sweep.is_hardware() ? crew : crew_on_host;
}

// An array with its checksums, and one to store to.
class Walks {
 public:
  Walks(Sweep& sweep, std::uint64_t bytes, bool stores)
      : sweep_(sweep),
        keys_(keys_of(sweep.seed())),
        first_(random_array(sweep, bytes, keys_.first)),
        output_(stores ? bytes / sizeof(unsigned) : 1),
        sums_(bytes, keys_),
        counts_(stores ? bytes : unit_bytes, keys_) {}

  // Whether the crew is in place at once.
  template <typename Function, unsigned Loads, Hint hint>
  [[nodiscard]] static bool fits(const Crew& crew) {
    int blocks = 0;
    check(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, walk_kernel<Function, Loads, hint>,
                                                       static_cast<int>(crew.threads), 0));
    return static_cast<unsigned>(blocks) >= crew.blocks_per_unit;
  }

  // Verifies and measures whole passes through `bytes` (for own_part of each block) until at least
  // `traffic` bytes have been visited; returns GB/s.
  template <typename Function, unsigned Loads, Hint hint>
  double measure(Point& point, Pattern pattern, const Crew& crew, std::uint64_t bytes,
                 std::uint64_t traffic) {
    const bool is_shared = pattern == Pattern::once;
    const unsigned blocks =
        crew.blocks_per_unit * static_cast<unsigned>(sweep_.device().compute_units);
    auto tiles = std::max(1U, static_cast<unsigned>(bytes / (Loads * unit_bytes)));
    // No wave comes to its own tile again, which a cache that is not passed by might still hold.
    if (is_shared && tiles > 1 && crew.threads / unit_lanes * blocks % tiles == 0) {
      --tiles;
    }
    const std::uint64_t pass_tiles = std::uint64_t{tiles} * (is_shared ? 1 : blocks);
    const std::uint64_t pass_bytes = pass_tiles * Loads * unit_bytes;
    const auto passes = static_cast<unsigned>((traffic + pass_bytes - 1) / pass_bytes);
    const Walk walk = {.pattern = pattern, .tiles = tiles, .visits = passes * tiles};
    DeviceBuffer<unsigned> sums(blocks);
    const auto run = [&] {
      launch(walk_kernel<Function, Loads, hint>,
             {.grid = dim3(blocks), .block = dim3(crew.threads)}, as_uint4(first_),
             as_uint4(output_), sums.data(), walk, keys_.first);
    };
    output_.poison();
    sums.poison();
    run();
    const bool has_parts = pattern == Pattern::own_part;
    const std::uint64_t units = (has_parts ? pass_tiles : tiles) * Loads;
    const unsigned repeats = passes * (is_shared || has_parts ? 1 : blocks);
    verify_sum<Function>(point, sums, repeats, units);
    if constexpr (Function::stores) {
      const std::uint64_t stored = units * unit_bytes;
      point.verify("every element", count_wrong<Function>(sweep_, output_, stored, keys_),
                   stored / sizeof(unsigned));
    }
    const double moved = static_cast<double>(pass_bytes) * passes * arrays_moved<Function>;
    return gigabytes_per_second(moved, point.measure(run));
  }

 private:
  static uint4* as_uint4(const DeviceBuffer<unsigned>& array) {
    return static_cast<uint4*>(static_cast<void*>(array.data()));
  }

  // All blocks together must have moved the first `units` so many times.
  template <typename Function>
  void verify_sum(Point& point, const DeviceBuffer<unsigned>& sums, unsigned repeats,
                  std::uint64_t units) const {
    unsigned sum = 0;
    for (const unsigned block_sum : sums.to_host()) {
      sum += block_sum;
    }
    const unsigned once = Function::inputs == 0 ? counts_.first(units) : sums_.first(units);
    point.verify("checksum of all that was moved", sum == repeats * once ? 0 : 1, 1);
    Function::inputs == 0 ? counts_.verify(point) : sums_.verify(point);
  }

  Sweep& sweep_;
  Keys keys_;
  DeviceBuffer<unsigned> first_;
  DeviceBuffer<unsigned> output_;
  ExpectedSums<Read> sums_;
  ExpectedSums<Write> counts_;
};

template <unsigned Loads>
void measure_in_flight(Sweep& sweep, Walks& walks, std::uint64_t bytes) {
  constexpr unsigned threads_of_a_block = 256;
  const std::vector<unsigned> threads_per_unit =
      sweep.is_hardware() ? std::vector<unsigned>{64, 128, 192, 256, 512, 768, 1024, 1536, 2048}
                          : std::vector<unsigned>{64};
  for (const unsigned threads : threads_per_unit) {
    const Crew crew = {.threads = std::min(threads, threads_of_a_block),
                       .blocks_per_unit = std::max(1U, threads / threads_of_a_block)};
    if (!Walks::fits<Read, Loads, Hint::past_l1>(crew)) {
      sweep.note(std::to_string(threads) + " x " + std::to_string(Loads) +
                 ": more threads than a CU has room for");
      continue;
    }
    auto point = sweep.point(std::to_string(threads) + " x " + std::to_string(Loads),
                             static_cast<double>(threads) * Loads * sizeof(uint4));
    const double bandwidth =
        walks.measure<Read, Loads, Hint::past_l1>(point, Pattern::once, crew, bytes, bytes);
    point.value("bandwidth", bandwidth, gigabytes);
    // Little's law: what is in flight = bandwidth x time in flight.
    const double in_flight =
        static_cast<double>(threads) * Loads * sizeof(uint4) * sweep.device().compute_units;
    point.value("time in flight", in_flight / bandwidth, "ns");
  }
}

void measure_occupancy(Sweep& sweep, std::uint64_t footprint) {
  sweep.axis({.name = "bytes in flight per CU", .scale = hipscope::Scale::logarithmic});
  sweep.headline("bandwidth");
  sweep.note(
      "threads per CU x loads of 16 bytes that each has under way before it waits; time in "
      "flight is bytes in flight / bandwidth");
  // At the lowest rates a pass takes long: a GiB is well beyond any L2.
  const std::uint64_t bytes = std::min(footprint, std::uint64_t{1} << 30);
  sweep.require_memory(bytes, "--footprint");
  Walks walks(sweep, bytes, false);
  measure_in_flight<1>(sweep, walks, bytes);
  measure_in_flight<2>(sweep, walks, bytes);
  measure_in_flight<4>(sweep, walks, bytes);
  measure_in_flight<most_values>(sweep, walks, bytes);
}

template <unsigned Loads, Hint hint>
void measure_l2_way(Sweep& sweep, Walks& walks, const std::string& label, unsigned row,
                    Pattern pattern, const Crew& wanted, std::uint64_t bytes,
                    std::uint64_t traffic) {
  const Crew crew = on_this(sweep, wanted);
  if (!Walks::fits<Read, Loads, hint>(crew)) {
    sweep.note(label + ": more threads than a CU has room for");
    return;
  }
  auto point = sweep.point(label, row);
  const double bandwidth = walks.measure<Read, Loads, hint>(point, pattern, crew, bytes, traffic);
  point.value("bandwidth", bandwidth, gigabytes);
  point.value("in flight per CU",
              static_cast<double>(crew.threads) * crew.blocks_per_unit * Loads * sizeof(uint4),
              "bytes");
}

// Many threads with one load each: for L2 more in flight only make it slower, memory wants at least
// this much (sweeps l2 and occupancy on an H200).
constexpr Crew footprint_crew = {.threads = 1024, .blocks_per_unit = 2};

void measure_l2(Sweep& sweep, std::uint64_t bytes, std::uint64_t footprint) {
  sweep.axis({.name = "way"});
  sweep.headline("bandwidth");
  sweep.note(
      "blocks per CU x threads x loads under way; once: each line once per pass, from L2; own "
      "start, in step: every block takes all lines, and one answer of L2 may serve several CUs "
      "that ask for a line at about the same time, the more so in step; through L1 also the "
      "blocks of one CU");
  sweep.require_memory(bytes, "--l2-bytes");
  Walks walks(sweep, bytes, false);
  unsigned row = 0;
  const auto way = [&]<unsigned Loads, Hint hint>(const std::string& name, Pattern pattern,
                                                  const Crew& crew) {
    const std::string label = name + ", " + std::to_string(crew.blocks_per_unit) + " x " +
                              std::to_string(crew.threads) + " x " + std::to_string(Loads);
    measure_l2_way<Loads, hint>(sweep, walks, label, ++row, pattern, crew, bytes, footprint);
  };
  constexpr auto past = Hint::past_l1;
  for (const unsigned threads : {256U, 512U, 768U, 1024U}) {
    way.operator()<1, past>("once", Pattern::once, {threads, 1});
  }
  way.operator()<1, past>("once", Pattern::once, footprint_crew);
  way.operator()<2, past>("once", Pattern::once, {512, 1});
  way.operator()<2, past>("once", Pattern::once, {1024, 1});
  way.operator()<4, past>("once", Pattern::once, {256, 1});
  way.operator()<4, past>("once", Pattern::once, {512, 1});
  way.operator()<4, past>("once", Pattern::once, footprint_crew);
  way.operator()<1, past>("own start", Pattern::own_start, footprint_crew);
  way.operator()<1, past>("in step", Pattern::in_step, footprint_crew);
  way.operator()<1, Hint::none>("in step, through L1", Pattern::in_step, footprint_crew);
}

// Footprints from `first` to `last` in quarter octaves, in whole KiB.
std::vector<std::uint64_t> quarter_octaves(std::uint64_t first, std::uint64_t last) {
  constexpr int per_octave = 4;
  constexpr std::uint64_t granularity = 4096;
  std::vector<std::uint64_t> footprints;
  for (int i = 0;; ++i) {
    const double exact =
        static_cast<double>(first) * std::exp2(static_cast<double>(i) / per_octave);
    const std::uint64_t rounded = static_cast<std::uint64_t>(exact) / granularity * granularity;
    if (rounded > last) {
      return footprints;
    }
    if (rounded > 0 && (footprints.empty() || footprints.back() != rounded)) {
      footprints.push_back(rounded);
    }
  }
}

constexpr std::uint64_t kibibyte = 1024;

std::string footprint_label(std::uint64_t bytes) {
  return bytes < kibibyte * kibibyte
             ? std::to_string(bytes / kibibyte) + " KiB"
             : number(static_cast<double>(bytes) / (kibibyte * kibibyte), 6) + " MiB";
}

void set_footprint_axis(Sweep& sweep, const std::string& name) {
  sweep.axis({.name = name, .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("bandwidth");
}

void measure_footprint_l1(Sweep& sweep, std::uint64_t footprint) {
  set_footprint_axis(sweep, "part of each CU");
  sweep.note("one block on each CU reads its own part again and again, through L1");
  const auto units = static_cast<std::uint64_t>(sweep.device().compute_units);
  const Crew crew = on_this(sweep, {.threads = 1024, .blocks_per_unit = 1});
  constexpr unsigned loads = 4;
  const std::uint64_t smallest = sweep.is_hardware() ? 16 * kibibyte : 4 * kibibyte;
  const std::uint64_t largest = sweep.is_hardware() ? kibibyte * kibibyte : 8 * kibibyte;
  sweep.require_memory(units * largest, "this GPU's number of CUs");
  Walks walks(sweep, units * largest, false);
  for (const std::uint64_t bytes : quarter_octaves(smallest, largest)) {
    auto point = sweep.point(footprint_label(bytes), static_cast<double>(bytes));
    const double bandwidth =
        walks.measure<Read, loads, Hint::none>(point, Pattern::own_part, crew, bytes, footprint);
    point.value("bandwidth", bandwidth, gigabytes);
    point.value("per CU", bandwidth / static_cast<double>(units), gigabytes);
  }
}

template <typename Function>
void measure_footprint(Sweep& sweep, std::uint64_t footprint) {
  set_footprint_axis(sweep, "footprint");
  sweep.note("all CUs together go through the data, each line once per pass, past L1");
  constexpr std::uint64_t smallest_on_gpu = 512 * kibibyte;
  const std::uint64_t smallest =
      std::min(footprint, sweep.is_hardware() ? smallest_on_gpu : 64 * kibibyte);
  const std::uint64_t arrays = arrays_moved<Function>;
  sweep.require_memory((Function::stores ? 2 : 1) * footprint / (arrays == 2 ? 2 : 1),
                       "--footprint");
  Walks walks(sweep, footprint / arrays, Function::stores);
  for (const std::uint64_t bytes : quarter_octaves(smallest, footprint)) {
    auto point = sweep.point(footprint_label(bytes), static_cast<double>(bytes));
    point.value("bandwidth",
                walks.measure<Function, 1, Hint::past_l1>(point, Pattern::once,
                                                          on_this(sweep, footprint_crew),
                                                          bytes / arrays, footprint / arrays),
                gigabytes);
  }
}

// --- What the curves show ---------------------------------------------------------------------

// Bandwidth of one function from sweep stream.
void infer_memory(hipscope::Results& results, const std::string& function, unsigned row) {
  for (const auto& point : results.curve("stream", "bandwidth")) {
    if (point.x != row) {
      continue;
    }
    hipscope::Inference inference{.name = "memory " + function + " bandwidth",
                                  .value = point.y,
                                  .unit = gigabytes,
                                  .confidence = 1 - std::min(1.0, point.relative_spread),
                                  .statement = "sustained over arrays well beyond the caches"};
    const double share = 100 * point.y / peak(results.device());
    if (!std::isnan(share)) {
      inference.evidence.push_back(number(share) + " % of " + number(peak(results.device()), 4) +
                                   " GB/s, by the driver's memory clock and bus width");
    }
    results.infer(inference);
  }
}

// Bandwidth of a cache: the level at the top of a curve over footprints.
void infer_cache(hipscope::Results& results, const std::string& sweep, int level,
                 const std::string& extent) {
  const auto curve = results.curve(sweep, "bandwidth");
  if (curve.empty()) {
    return;
  }
  hipscope::Inference inference{
      .name = "cache level " + std::to_string(level) + " read bandwidth",
      .unit = gigabytes,
      .statement = "the curve has no level at its top that falls off with the footprint"};
  if (const auto top = hipscope::find_top_level(curve)) {
    inference.value = top->y;
    inference.confidence = top->confidence;
    inference.statement = "all CUs together, up to " +
                          footprint_label(static_cast<std::uint64_t>(top->last_x)) + extent;
    inference.evidence = {"median of " + std::to_string(top->points) + " footprints from " +
                              footprint_label(static_cast<std::uint64_t>(top->first_x)) +
                              " on, between " + number(top->lowest, 4) + " and " +
                              number(top->highest, 4) + " GB/s",
                          "beyond it " + number(top->after, 4) + " GB/s"};
  }
  results.infer(inference);
}

// How many bytes in flight it takes, and the latency that Little's law then says.
void infer_in_flight(hipscope::Results& results) {
  const auto curve = results.curve("occupancy", "bandwidth");
  if (curve.empty()) {
    return;
  }
  hipscope::Inference inference{.name = "bytes in flight per CU for 95 % of the read bandwidth",
                                .unit = "bytes",
                                .statement = "even the fewest threads reach 95 %, or too few fit"};
  const auto highest = std::max_element(curve.begin(), curve.end(),
                                        [](const auto& a, const auto& b) { return a.y < b.y; });
  const auto lightest = std::min_element(curve.begin(), curve.end(),
                                         [](const auto& a, const auto& b) { return a.x < b.x; });
  constexpr double nearly_all = 0.95;
  constexpr double still_linear = 0.5;
  double fewest = highest->x;
  double misses = 0;  // points with more in flight that are slower
  for (const auto& point : curve) {
    if (point.y >= nearly_all * highest->y) {
      fewest = std::min(fewest, point.x);
    }
  }
  double more = 0;
  for (const auto& point : curve) {
    if (point.x >= fewest) {
      more += 1;
      misses += point.y < nearly_all * highest->y ? 1 : 0;
    }
  }
  if (lightest->y < still_linear * highest->y) {
    inference.value = fewest;
    inference.confidence = 1 - misses / more;
    inference.statement = "from here on more threads or more loads per thread bring no more";
    const double latency = lightest->x * results.device().compute_units / lightest->y;
    inference.evidence = {
        "with " + number(lightest->x, 6) + " bytes in flight per CU they take " + number(latency) +
            " ns (Little's law), the latency of an idle memory",
        number(more - misses) + " of the " + number(more) +
            " points with as many or more in flight reach 95 %, however they are split into "
            "threads and loads"};
  }
  results.infer(inference);
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "memory_bandwidth",
      {.question = "How many bytes per second do memory and caches give, and what does it take?",
       .sources = {
           "hipscope's own; functions and table as in UoB-HPC/BabelStream, footprints as in "
           "RRZE-HPC/gpu-benches"}});
  const auto array = experiment.size("--array", "bytes of each of three arrays, in whole 128 KiB",
                                     {.gpu = std::uint64_t{4} << 30,
                                      .quick = std::uint64_t{1} << 30,
                                      .host = tile_bytes,
                                      .minimum = tile_bytes,
                                      .maximum = std::uint64_t{16} << 30,
                                      .share_of_memory = 1.0 / 8});
  const auto footprint =
      experiment.size("--footprint", "largest footprint in bytes, and what a launch moves at least",
                      {.gpu = std::uint64_t{4} << 30,
                       .quick = std::uint64_t{1} << 30,
                       .host = 128 * kibibyte,
                       .minimum = 64 * kibibyte,
                       .maximum = std::uint64_t{16} << 30,
                       .share_of_memory = 1.0 / 4});
  const auto l2_bytes = experiment.size("--l2-bytes", "footprint of sweep l2 in bytes",
                                        {.gpu = 5120 * kibibyte,
                                         .quick = 5120 * kibibyte,
                                         .host = 64 * kibibyte,
                                         .minimum = 4 * kibibyte,
                                         .maximum = std::uint64_t{1} << 30});
  experiment.sweep("stream", "device memory, by function",
                   [&](Sweep& sweep) { measure_stream(sweep, array); });
  experiment.sweep("width", "device memory, by bytes per access",
                   [&](Sweep& sweep) { measure_widths(sweep, array); });
  experiment.sweep("shape", "device memory, by block size and values per thread",
                   [&](Sweep& sweep) { measure_shapes(sweep, array); });
  experiment.sweep("variants", "device memory, by tiles per block and cache hints",
                   [&](Sweep& sweep) { measure_variants(sweep, array); });
  experiment.sweep("occupancy", "device memory, by bytes in flight",
                   [&](Sweep& sweep) { measure_occupancy(sweep, footprint); });
  experiment.sweep("l2", "one footprint in L2, by ways to read it",
                   [&](Sweep& sweep) { measure_l2(sweep, l2_bytes, footprint); });
  experiment.sweep("footprint-l1", "reading, by the part that each CU has for itself",
                   [&](Sweep& sweep) { measure_footprint_l1(sweep, footprint); });
  experiment.sweep("footprint-read", "reading, by footprint",
                   [&](Sweep& sweep) { measure_footprint<Read>(sweep, footprint); });
  experiment.sweep("footprint-write", "writing, by footprint",
                   [&](Sweep& sweep) { measure_footprint<Write>(sweep, footprint); });
  experiment.sweep("footprint-copy", "copying, by footprint of both arrays",
                   [&](Sweep& sweep) { measure_footprint<Copy>(sweep, footprint); });
  experiment.conclude([](hipscope::Results& results) {
    infer_cache(results, "footprint-l1", 1, " on each");
    infer_cache(results, "footprint-read", 2, "");
    infer_memory(results, Read::name, read_row);
    infer_memory(results, Write::name, write_row);
    infer_memory(results, Copy::name, copy_row);
    infer_memory(results, Triad::name, triad_row);
    infer_in_flight(results);
  });
  return experiment.run(argc, argv);
}
