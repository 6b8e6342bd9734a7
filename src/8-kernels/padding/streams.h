// The references for padding: streams that move as many bytes and do nothing else.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "read_ahead.h"
#include "reference.h"

namespace hipscope::padding {

/// One 16-byte value per thread, in blocks of 256: what memory_bandwidth found best.
constexpr unsigned stream_block = 256;

enum class Stream {
  copy,  // reads and writes as many bytes as padding does together
  fill,  // writes the output
  mix,   // reads the input and writes the output, without an index that needs to be thought about
};

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
  fill_elements(sweep, input, InputValue{key});
  const auto run = [&] {
    launch(stream_kernel<stream>,
           {.grid = dim3(static_cast<unsigned>(blocks)), .block = dim3(stream_block)}, input.data(),
           static_cast<float4*>(static_cast<void*>(output.data())), outputs, shares, ahead);
  };
  run();
  verify_elements(sweep, point, time_name + ", every element", output, output.size(),
                  StreamValue<stream>{.key = key, .shares = shares});
  const auto time = point.measure(run, {.name = time_name});
  return static_cast<double>(inputs + outputs) * sizeof(float4) * 1e-9 / time.seconds().median;
}

}  // namespace hipscope::padding
