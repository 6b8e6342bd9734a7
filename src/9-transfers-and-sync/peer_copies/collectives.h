// Sweep library of peer_copies: collective operations by the vendor's library, as a reference.
#pragma once

#include <hipscope/elements.h>
#include <hipscope/hipscope.h>
#include <hipscope/libraries/collectives.h>

#include <cstdint>
#include <string>
#include <vector>

#include "9-transfers-and-sync/words.h"
#include "devices.h"

namespace peer_copies {

using hipscope::vendor::Collective;

// What an output must hold: pieces of `count` words each, word i of a piece the sum over so many
// devices of what fill_kernel writes, from the first device's on.
struct Sums {
  unsigned count;
  unsigned first_word;
  unsigned first_device;
  unsigned summed;
  unsigned key;

  __host__ __device__ unsigned operator()(std::uint64_t word) const {
    const auto i = static_cast<unsigned>(word);
    unsigned sum = 0;
    for (unsigned device = 0; device < summed; ++device) {
      sum +=
          hipscope::random_bits(first_word + i % count + key + first_device + i / count + device);
    }
    return sum;
  }
};

// The devices, with an input and an output on each.
class Group {
 public:
  Group(const Sweep& sweep, std::size_t words)
      : key_(hipscope::key_of(sweep.seed())), collectives_(all_devices()) {
    for (int device = 0; device < device_total(); ++device) {
      inputs_.emplace_back(device, words);
      outputs_.emplace_back(device, words);
      const On on(device);
      hipscope::launch(transfers::fill_kernel, {.grid = dim3(blocks), .block = dim3(threads)},
                       inputs_.back().data(), words, key_ + static_cast<unsigned>(device));
      check(hipDeviceSynchronize());
      parties_.push_back({inputs_.back().data(), outputs_.back().data(), outputs_.back().stream()});
    }
  }

  void run(Collective operation, std::size_t count) {
    collectives_.enqueue(operation, parties_, count);
    for (const Place& output : outputs_) {
      const On on(output.device());
      output.wait();
    }
  }

  // Runs it once; every word of every output must be right.
  void verify(const Sweep& sweep, Point& point, Collective operation, std::size_t count) {
    const auto devices = static_cast<unsigned>(device_total());
    const auto words = static_cast<unsigned>(count);
    for (const Place& output : outputs_) {
      const On on(output.device());
      check(hipMemset(output.data(), hipscope::poison_byte, output.words() * sizeof(unsigned)));
      check(hipDeviceSynchronize());
    }
    run(operation, count);
    const bool is_sum =
        operation == Collective::all_reduce || operation == Collective::reduce_scatter;
    const std::uint64_t all = count * (operation == Collective::all_gather ? devices : 1);
    const auto expected = [&](const Place& output) {
      const auto device = static_cast<unsigned>(output.device());
      return Sums{.count = words,
                  .first_word = operation == Collective::reduce_scatter ? device * words : 0,
                  .first_device =
                      operation == Collective::send_receive ? (device + devices - 1) % devices : 0,
                  .summed = is_sum ? devices : 1U,
                  .key = key_};
    };
    std::uint64_t wrong = 0;
    for (const Place& output : outputs_) {
      const On on(output.device());
      wrong += hipscope::count_wrong(sweep, output.data(), all, expected(output));
    }
    point.verify("words of all outputs", wrong, all * devices,
                 [&](hipscope::Comparison& comparison) {
                   for (const Place& output : outputs_) {
                     const On on(output.device());
                     hipscope::compare_on_host(comparison, output.data(), all, expected(output));
                   }
                 });
  }

 private:
  static constexpr unsigned blocks = 256;
  static constexpr unsigned threads = 256;

  static std::vector<int> all_devices() {
    std::vector<int> devices;
    for (int device = 0; device < device_total(); ++device) {
      devices.push_back(device);
    }
    return devices;
  }

  unsigned key_;
  hipscope::vendor::Collectives collectives_;
  std::vector<Place> inputs_;
  std::vector<Place> outputs_;
  std::vector<hipscope::vendor::Party> parties_;
};

// Bytes that must leave or reach each device, over the bytes of the array.
inline double share_moved(Collective operation) {
  const double devices = device_total();
  switch (operation) {
    case Collective::all_reduce:
      return 2 * (devices - 1) / devices;
    case Collective::all_gather:
    case Collective::reduce_scatter:
      return (devices - 1) / devices;
    case Collective::send_receive:
      return 1;
  }
  return 0;
}

inline void measure_library(Sweep& sweep, std::uint64_t most_bytes) {
  sweep.axis({.name = "array", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("all_reduce");
  const std::string library = hipscope::vendor::collectives_library();
  if (library.empty() || device_total() < 2) {
    sweep.note(library.empty() ? std::string("this build has no library for collectives: ") +
                                     hipscope::vendor::collectives_libraries
                               : "there is one device");
    return;
  }
  sweep.note(library + "; bytes that must leave each device, over the time by the host's clock");
  sweep.require_memory(2 * most_bytes, "--bytes");
  Group group(sweep, most_bytes / sizeof(unsigned));
  const auto devices = static_cast<std::uint64_t>(device_total());
  constexpr std::uint64_t fewest_bytes = 4096;
  for (std::uint64_t bytes = fewest_bytes; bytes <= most_bytes; bytes *= 4) {
    auto point = sweep.point(std::to_string(bytes), static_cast<double>(bytes));
    const auto column = [&](Collective operation, const std::string& name) {
      const bool is_in_parts =
          operation == Collective::all_gather || operation == Collective::reduce_scatter;
      const std::size_t words = bytes / sizeof(unsigned) / (is_in_parts ? devices : 1);
      group.verify(sweep, point, operation, words);
      const auto time = point.measure_on_host(name + " time", [&] { group.run(operation, words); });
      point.value(
          name, static_cast<double>(bytes) * share_moved(operation) * 1e-9 / time.seconds().median,
          "GB/s");
    };
    column(Collective::all_reduce, "all_reduce");
    column(Collective::all_gather, "all_gather");
    column(Collective::reduce_scatter, "reduce_scatter");
    column(Collective::send_receive, "send_receive");
  }
}

}  // namespace peer_copies
