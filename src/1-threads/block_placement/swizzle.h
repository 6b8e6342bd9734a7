// Sweep swizzle: what is it worth that blocks read what others near the same part of L2 read?
//
// Where L2 has several parts, each keeps copies of what its own CUs read, so that one part's size
// is what all CUs can keep. If the CUs near a part read but one piece of the data, all parts
// together can. So blocks read in three ways: any block any piece; those of each part of the CUs
// the pieces of their own; and, to see what of it is due to the place, the same with parts that
// have nothing to do with it.
#pragma once

#include <hipscope/compute_unit.h>
#include <hipscope/elements.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "5-memory/loads.h"
#include "findings.h"

namespace block_placement {

using hipscope::DeviceBuffer;
using hipscope::Sweep;

inline unsigned units_of(const Sweep& sweep) {
  return sweep.is_hardware() ? static_cast<unsigned>(sweep.device().compute_units) : 2;
}

struct SwizzleSizes {
  hipscope::Size footprint;
  hipscope::Size passes;
};

inline constexpr unsigned reading_threads = 512;
inline constexpr unsigned piece_words = 1U << 13;
inline constexpr unsigned most_parts = 16;

// So many pieces, each read in every pass; the CUs of each part have some of their own.
struct Pieces {
  unsigned count;
  unsigned passes;
  unsigned parts;

  [[nodiscard]] __device__ unsigned first_of(unsigned part) const { return part * count / parts; }
};

// A CU's blocks read the pieces of its own part one after the other, then what others have left.
static __global__ void __launch_bounds__(reading_threads)
    read_pieces_kernel(const unsigned* words, Pieces pieces, const unsigned char* part_of,
                       unsigned* taken, unsigned* sums) {
  __shared__ unsigned number;
  const unsigned own = part_of[hipscope::compute_unit_id()];
  for (unsigned i = 0; i < pieces.parts; ++i) {
    const unsigned part = (own + i) % pieces.parts;
    const unsigned first = pieces.first_of(part);
    const unsigned count = pieces.first_of(part + 1) - first;
    for (;;) {
      __syncthreads();
      if (threadIdx.x == 0) {
        number = atomicAdd(&taken[part], 1U);
      }
      __syncthreads();
      if (number >= pieces.passes * count) {
        break;
      }
      const unsigned piece = first + number % count;
      const unsigned* const begin = words + std::size_t{piece} * piece_words;
      unsigned sum = 0;
#pragma unroll
      for (unsigned word = 0; word < piece_words; word += reading_threads) {
        sum += begin[word + threadIdx.x];
      }
      atomicAdd(&sums[piece], sum);
    }
  }
}

// How far each CU is from one word of L2: the least time of an atomic.
static __global__ void __launch_bounds__(1) distance_kernel(std::uint64_t* word, unsigned* cycles) {
  auto address = reinterpret_cast<std::uint64_t>(word);
  unsigned least = ~0U;
  for (unsigned i = 0; i < 64; ++i) {
    const long long start = hipscope::cycle_count();
    address += memory::load<memory::Load::atomic>(address);  // of 0
    const long long end = address != 1 ? hipscope::cycle_count() : 0;
    least = min(least, static_cast<unsigned>(hipscope::cycles_between(start, end)));
  }
  atomicMin(&cycles[hipscope::compute_unit_id()], least);
}

// To which part of L2 each CU is near: its XCD, or else one of two halves if some CUs are clearly
// farther from a word than others.
inline std::vector<unsigned char> parts_by_place(const Sweep& sweep) {
  std::vector<unsigned char> part_of(most_units, 0);
  DeviceBuffer<std::uint64_t> word(1);
  word.clear();
  DeviceBuffer<unsigned> cycles(most_units);
  hipscope::launch(distance_kernel, {.grid = dim3(4 * units_of(sweep)), .block = dim3(1)},
                   word.data(), cycles.data());
  const std::vector<unsigned> all = cycles.to_host();
  double nearest = ~0U;
  double farthest = 0;
  for (const unsigned least : all) {
    nearest = std::min<double>(nearest, least);
    farthest = std::max<double>(farthest, least == ~0U ? 0 : least);
  }
  constexpr double clearly = 1.25;
  for (unsigned unit = 0; unit < most_units; ++unit) {
    const bool is_far = farthest > clearly * nearest && all[unit] > std::sqrt(nearest * farthest);
    const unsigned part = xcd_of(sweep.device().architecture, unit).value_or(is_far ? 1 : 0);
    part_of[unit] = static_cast<unsigned char>(all[unit] == ~0U ? 0 : part % most_parts);
  }
  return part_of;
}

// Of `footprint` bytes; the rate of each way to share them out.
inline void measure_footprint(Sweep& sweep, std::uint64_t footprint, unsigned passes,
                              const std::vector<unsigned char>& by_place) {
  const auto count = static_cast<unsigned>(footprint / sizeof(unsigned) / piece_words);
  auto point = sweep.point(std::to_string(footprint), static_cast<double>(footprint));
  const DeviceBuffer<unsigned> words(std::size_t{count} * piece_words);
  const hipscope::RandomWords content = {hipscope::key_of(sweep.seed())};
  hipscope::fill_elements(sweep, words, content);
  std::vector<unsigned> expected(count, 0);
  for (std::size_t word = 0; word < words.size(); ++word) {
    expected[word / piece_words] += passes * content(word);
  }
  DeviceBuffer<unsigned> taken(most_parts);
  DeviceBuffer<unsigned> sums(count);
  const DeviceBuffer<unsigned char> part_of(most_units);
  const auto measure = [&](const std::string& name, unsigned parts,
                           const std::vector<unsigned char>& place) {
    hipscope::check(hipMemcpy(part_of.data(), place.data(), most_units, hipMemcpyHostToDevice));
    const auto read = [&] {
      hipscope::check(hipMemsetAsync(taken.data(), 0, most_parts * sizeof(unsigned), nullptr));
      hipscope::launch(read_pieces_kernel,
                       {.grid = dim3(4 * units_of(sweep)), .block = dim3(reading_threads)},
                       words.data(), Pieces{.count = count, .passes = passes, .parts = parts},
                       part_of.data(), taken.data(), sums.data());
    };
    sums.clear();
    read();
    point.check("sum of each piece, " + name, sums.to_host(),
                [&](std::uint64_t i) { return expected[i]; });
    const auto time = point.measure(read, {.name = name + "time"});
    point.value(name + "rate",
                1e-9 * sizeof(unsigned) * static_cast<double>(words.size()) * passes /
                    time.seconds().median,
                "GB/s");
  };
  const unsigned parts = 1U + *std::max_element(by_place.begin(), by_place.end());
  std::vector<unsigned char> by_number(most_units);
  for (unsigned unit = 0; unit < most_units; ++unit) {
    by_number[unit] = static_cast<unsigned char>(unit % std::max(2U, parts));
  }
  measure("", 1, by_place);
  measure("by number ", std::max(2U, parts), by_number);
  if (parts > 1) {
    measure("by place ", parts, by_place);
  }
}

inline void measure_swizzle(Sweep& sweep, const SwizzleSizes& sizes) {
  sweep.axis({.name = "footprint", .unit = "bytes"});
  sweep.headline("rate");
  sweep.note(
      "rate: any block reads any piece; by place: each part of the CUs near a part of L2 reads its "
      "own; by number: parts of CUs that have nothing to do with the place");
  sweep.require_memory(sizes.footprint, "--footprint");
  const std::vector<unsigned char> by_place = parts_by_place(sweep);
  constexpr unsigned points = 12;
  for (unsigned i = 1; i <= points; ++i) {
    const std::uint64_t footprint = sizes.footprint * i / points;
    if (footprint >= sizeof(unsigned) * piece_words) {
      measure_footprint(sweep, footprint, static_cast<unsigned>(sizes.passes), by_place);
    }
  }
}

}  // namespace block_placement
