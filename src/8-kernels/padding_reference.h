// What the padding kernels are held against: tensors whose every element is known from its index,
// the check of all of them, and streams that move as many bytes and do nothing else.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace hipscope::padding {

/// Planes of height x width, padded by `pad` zeros on each side.
struct Sizes {
  std::uint64_t planes;
  std::uint64_t height;
  std::uint64_t width;
  std::uint64_t pad;

  __host__ __device__ std::uint64_t plane() const { return height * width; }
  __host__ __device__ std::uint64_t padded_height() const { return height + 2 * pad; }
  __host__ __device__ std::uint64_t padded_width() const { return width + 2 * pad; }
  __host__ __device__ std::uint64_t padded_plane() const {
    return padded_height() * padded_width();
  }
  [[nodiscard]] std::uint64_t inputs() const { return planes * plane(); }
  [[nodiscard]] std::uint64_t outputs() const { return planes * padded_plane(); }
  /// What must move: the input is read once, the output written once.
  [[nodiscard]] std::uint64_t bytes() const { return (inputs() + outputs()) * sizeof(float); }
};

// --- Known values -----------------------------------------------------------------------------

/// Element `i` of a random input: never 0, so that a border in the wrong place shows.
__host__ __device__ inline float value_of(std::uint64_t i, unsigned key) {
  const unsigned bits = random_bits(static_cast<unsigned>(i) + key);
  return static_cast<float>((bits >> 8) + 1);  // of 24 bits, which FP32 holds exactly
}

/// What padding makes of the input: element `i` of the output, by the definition.
struct PaddedValue {
  Sizes sizes;
  unsigned key;

  __device__ float operator()(std::uint64_t i) const {
    const std::uint64_t plane = i / sizes.padded_plane();
    const std::uint64_t pixel = i % sizes.padded_plane();
    const std::uint64_t row = pixel / sizes.padded_width();
    const std::uint64_t column = pixel % sizes.padded_width();
    if (row < sizes.pad || row >= sizes.pad + sizes.height || column < sizes.pad ||
        column >= sizes.pad + sizes.width) {
      return 0;
    }
    return value_of((plane * sizes.height + (row - sizes.pad)) * sizes.width + column - sizes.pad,
                    key);
  }
};

constexpr unsigned checking_block = 256;

static __global__ void __launch_bounds__(checking_block)
    make_input_kernel(float* input, std::uint64_t count, unsigned key) {
  const std::uint64_t threads = std::uint64_t{gridDim.x} * checking_block;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * checking_block + threadIdx.x; i < count;
       i += threads) {
    input[i] = value_of(i, key);
  }
}

// Right ones, not wrong ones: where it does not run, nothing is right.
template <typename Expected>
__global__ void __launch_bounds__(checking_block)
    count_right_kernel(const float* output, std::uint64_t count, Expected expected,
                       unsigned long long* right) {
  unsigned long long mine = 0;
  const std::uint64_t threads = std::uint64_t{gridDim.x} * checking_block;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * checking_block + threadIdx.x; i < count;
       i += threads) {
    mine += output[i] == expected(i) ? 1 : 0;
  }
  atomicAdd(right, mine);
}

/// A grid that goes through any number of elements.
inline LaunchShape checking_shape(const Sweep& sweep) {
  constexpr unsigned blocks_per_unit = 32;
  const unsigned blocks =
      sweep.is_hardware() ? blocks_per_unit * static_cast<unsigned>(sweep.device().compute_units)
                          : 1;
  return {.grid = dim3(blocks), .block = dim3(checking_block)};
}

template <typename Expected>
std::uint64_t count_wrong(const Sweep& sweep, const DeviceBuffer<float>& output,
                          std::uint64_t count, const Expected& expected) {
  DeviceBuffer<unsigned long long> right(1);
  right.clear();
  launch(count_right_kernel<Expected>, checking_shape(sweep), output.data(), count, expected,
         right.data());
  return count - right.to_host()[0];
}

/// A random input, and room for the output.
struct Arrays {
  Arrays(const Sweep& sweep, const Sizes& tensor)
      : sizes(tensor),
        units(static_cast<unsigned>(sweep.device().compute_units)),
        key(static_cast<unsigned>(value_of(sweep.seed(), 0))),
        input(sizes.inputs()),
        output(sizes.outputs() + guard) {
    launch(make_input_kernel, checking_shape(sweep), input.data(), input.size(), key);
  }

  /// Poisoned elements behind the output, which no kernel may touch.
  static constexpr std::uint64_t guard = 64;

  Sizes sizes;
  unsigned units;  // CUs
  unsigned key;
  DeviceBuffer<float> input;
  DeviceBuffer<float> output;
};

/// What the host expects of the last plane: zeros, into which it puts the interior.
inline std::vector<float> last_plane(const Arrays& arrays) {
  const Sizes& sizes = arrays.sizes;
  std::vector<float> plane(sizes.padded_plane());
  std::uint64_t i = (sizes.planes - 1) * sizes.plane();
  for (std::uint64_t row = 0; row < sizes.height; ++row) {
    for (std::uint64_t column = 0; column < sizes.width; ++column) {
      plane[(row + sizes.pad) * sizes.padded_width() + sizes.pad + column] =
          value_of(i++, arrays.key);
    }
  }
  return plane;
}

/// Calls `run`, which must pad the whole input, and checks what came out.
template <typename Run>
void verify(const Sweep& sweep, Point& point, Arrays& arrays, const std::string& name,
            const Run& run) {
  arrays.output.poison();
  run();
  const std::uint64_t count = arrays.sizes.outputs();
  point.verify(name + "every element, border and interior",
               count_wrong(sweep, arrays.output, count,
                           PaddedValue{.sizes = arrays.sizes, .key = arrays.key}),
               count);
  // By the host as well: the device's reference might be as wrong as its results.
  const std::vector<float> expected = last_plane(arrays);
  std::vector<float> made(expected.size() + Arrays::guard);
  check(hipMemcpy(made.data(), arrays.output.data() + (count - expected.size()),
                  made.size() * sizeof(float), hipMemcpyDeviceToHost));
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < made.size(); ++i) {
    wrong += (i < expected.size() ? made[i] == expected[i] : std::isnan(made[i])) ? 0 : 1;
  }
  point.verify(name + "the last plane by the host, and nothing behind it", wrong, made.size());
}

// --- Streams ----------------------------------------------------------------------------------

/// One 16-byte value per thread, in blocks of 256: what memory_bandwidth found best.
constexpr unsigned stream_block = 256;

enum class Stream {
  copy,  // reads and writes as many bytes as padding does together
  fill,  // writes the output
  mix,   // reads the input and writes the output, without an index that needs to be thought about
};

/// Where a block's input lies if each has the same share of the whole, in values of 16 bytes.
struct Shares {
  std::uint64_t per_block;  // in units of 2^-24 values

  static Shares of(std::uint64_t values, std::uint64_t blocks) {
    return {.per_block = (values << 24) / blocks};
  }
  __host__ __device__ std::uint64_t begin(std::uint64_t block) const {
    return (block * per_block) >> 24;
  }
};

/// Reading ahead: memory loses time whenever it turns from reading to writing. So the input comes
/// into L2 in clumps, long before it is needed: of the blocks that share a clump the first
/// `readers` ask for all of a later one, each for `pieces` blocks' input.
struct ReadAhead {
  unsigned readers;  // 0: nobody reads ahead
  unsigned pieces;
  unsigned distance;  // in clumps
  unsigned blocks;    // of the grid
  Shares shares;
};

#if defined(HIPSCOPE_BACKEND_AMD)
inline constexpr bool can_read_ahead = false;  // gfx9 and gfx10 have no such instruction
#else
inline constexpr bool can_read_ahead = true;
#endif

/// Asks for the `values` from `first` on, and waits for nothing: on NVIDIA from sm_90 on all in one
/// instruction, before that one for each line.
__device__ inline void ask_for([[maybe_unused]] const float4* first,
                               [[maybe_unused]] std::uint64_t values) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;"
               :
               : "l"(__cvta_generic_to_global(first)),
                 "r"(static_cast<unsigned>(values * sizeof(float4)))
               : "memory");
#elif defined(__CUDA_ARCH__)
  constexpr unsigned line = 128 / sizeof(float4);
  for (std::uint64_t at = 0; at < values; at += line) {
    asm volatile("prefetch.global.L2 [%0];" : : "l"(__cvta_generic_to_global(first + at)));
  }
#endif
}

__device__ inline void read_ahead(const float* input, const ReadAhead& ahead) {
  if (threadIdx.x != 0 || ahead.readers == 0) {
    return;
  }
  const unsigned clump_blocks = ahead.readers * ahead.pieces;
  const unsigned clump = blockIdx.x / clump_blocks;
  const unsigned reader = blockIdx.x - clump * clump_blocks;
  const std::uint64_t first =
      std::uint64_t{clump + ahead.distance} * clump_blocks + std::uint64_t{reader} * ahead.pieces;
  if (reader < ahead.readers && first + ahead.pieces <= ahead.blocks) {
    const std::uint64_t begin = ahead.shares.begin(first);
    const std::uint64_t end = ahead.shares.begin(first + ahead.pieces);
    if (end > begin) {
      ask_for(reinterpret_cast<const float4*>(input) + begin, end - begin);
    }
  }
}

/// For clumps of so many bytes; none for 0. `values` of 16 bytes are the whole input.
inline ReadAhead read_ahead_of(std::uint64_t clump_bytes, unsigned units, std::uint64_t values,
                               std::uint64_t blocks) {
  if (clump_bytes == 0) {
    return {};
  }
  // At an H200's rate this is asked for some 3 us before it is needed.
  constexpr std::uint64_t least_bytes_ahead = 3000000;
  const std::uint64_t piece_bytes = clump_bytes / units;
  const std::uint64_t block_bytes = std::max<std::uint64_t>(1, values * sizeof(float4) / blocks);
  return {.readers = units,
          .pieces = static_cast<unsigned>(std::max<std::uint64_t>(1, piece_bytes / block_bytes)),
          .distance = static_cast<unsigned>((least_bytes_ahead + clump_bytes - 1) / clump_bytes),
          .blocks = static_cast<unsigned>(blocks),
          .shares = Shares::of(values, blocks)};
}

/// Element `i` of what a stream leaves behind.
template <Stream stream>
struct StreamValue {
  unsigned key;
  Shares shares;

  __host__ __device__ float operator()(std::uint64_t i) const {
    if constexpr (stream == Stream::copy) {
      return value_of(i, key);
    } else if constexpr (stream == Stream::fill) {
      return static_cast<float>(i);
    } else {
      constexpr unsigned words_of_block = 4 * stream_block;
      const std::uint64_t block = i / words_of_block;
      const std::uint64_t at = 4 * shares.begin(block) + i % words_of_block;
      return at < 4 * shares.begin(block + 1) ? value_of(at, key) : 0;
    }
  }
};

template <Stream stream>
__global__ void __launch_bounds__(stream_block, 1)
    stream_kernel(const float* words, float4* output, unsigned count, Shares shares,
                  ReadAhead ahead) {
  const auto* input = reinterpret_cast<const float4*>(words);
  const unsigned i = blockIdx.x * stream_block + threadIdx.x;
  if constexpr (stream == Stream::mix) {
    read_ahead(words, ahead);
  }
  if (i >= count) {
    return;
  }
  if constexpr (stream == Stream::copy) {
    output[i] = input[i];
  } else if constexpr (stream == Stream::fill) {
    const auto element = [&](unsigned e) { return static_cast<float>(std::uint64_t{i} * 4 + e); };
    output[i] = make_float4(element(0), element(1), element(2), element(3));
  } else {
    const std::uint64_t at = shares.begin(blockIdx.x) + threadIdx.x;
    output[i] = at < shares.begin(blockIdx.x + 1) ? input[at] : make_float4(0, 0, 0, 0);
  }
}

/// Verifies and measures a stream of the bytes that padding `sizes` moves, in whole 16-byte values;
/// returns its GB/s.
template <Stream stream>
double measure_stream(const Sweep& sweep, Point& point, const Sizes& sizes,
                      const std::string& time_name, std::uint64_t clump_bytes = 0) {
  const auto values = [](std::uint64_t bytes) { return (bytes + 15) / sizeof(float4); };
  const std::uint64_t outputs =
      values(stream == Stream::copy ? sizes.bytes() / 2 : sizes.outputs() * sizeof(float));
  const std::uint64_t inputs = stream == Stream::copy   ? outputs
                               : stream == Stream::fill ? 0
                                                        : values(sizes.inputs() * sizeof(float));
  const std::uint64_t blocks = (outputs + stream_block - 1) / stream_block;
  const Shares shares = Shares::of(inputs, blocks);
  const ReadAhead ahead = read_ahead_of(
      clump_bytes, static_cast<unsigned>(sweep.device().compute_units), inputs, blocks);
  DeviceBuffer<float> input(std::max<std::uint64_t>(4 * inputs, 1));
  DeviceBuffer<float> output(4 * outputs);
  const auto key = static_cast<unsigned>(value_of(sweep.seed(), 1));
  launch(make_input_kernel, checking_shape(sweep), input.data(), input.size(), key);
  const auto run = [&] {
    launch(stream_kernel<stream>,
           {.grid = dim3(static_cast<unsigned>(blocks)), .block = dim3(stream_block)}, input.data(),
           static_cast<float4*>(static_cast<void*>(output.data())), outputs, shares, ahead);
  };
  run();
  point.verify(
      time_name + ", every element",
      count_wrong(sweep, output, output.size(), StreamValue<stream>{.key = key, .shares = shares}),
      output.size());
  const auto time = point.measure(run, {.name = time_name});
  return static_cast<double>(inputs + outputs) * sizeof(float4) * 1e-9 / time.seconds().median;
}

}  // namespace hipscope::padding
