// How a stage of reduction.hip is verified and timed.
#pragma once

#include <hipscope/hipscope.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "00-read.h"
#include "data.h"
#include "stage.h"
#include "vendor.h"

namespace hipscope::reduction {

constexpr const char* gigabytes = "GB/s";

inline double bandwidth(double bytes, double seconds) { return bytes * 1e-9 / seconds; }

template <typename Value>
double bytes_of(const Array<Value>& array) {
  return static_cast<double>(array.count()) * sizeof(Value);
}

// An array, and what it must sum to.
template <typename Value>
struct Checked {
  Array<Value>& array;
  Reference reference;
};

template <typename Value>
Checked<Value> with_reference(Point& point, Array<Value>& array) {
  array.verify_reference(point);
  return {.array = array, .reference = array.reference(0, array.count())};
}

template <typename Value>
void verify(const Sweep& sweep, Point& point, const Stage<Value>& stage,
            const Checked<Value>& checked, const std::string& prefix = "") {
  const Job<Value> job = stage.prepare(sweep, checked.array);
  DeviceBuffer<Value> total(1);
  Comparison comparison;
  const auto run = [&](const Reference& expected) {
    total.poison();
    job.enqueue(total.data());
    compare(comparison, checked.array.data(), expected, total.to_host()[0], job.depth);
  };
  // Again with zeros: what is left of the first run must not matter. A third time, since tickets
  // and marks begin anew after two.
  run(checked.reference);
  checked.array.zero();
  run({});
  checked.array.fill();
  run(checked.reference);
  point.verify(prefix + "total of values " + name_of(checked.array.data()), comparison);
}

// Measures the read kernel on the whole tiles of the values; returns GB/s.
template <typename Value>
double measure_read(Point& point, const Array<Value>& array, const std::string& name = "time") {
  const auto blocks = static_cast<unsigned>(array.count() / read_tile);
  const auto* const vectors = static_cast<const uint4*>(static_cast<const void*>(array.values()));
  DeviceBuffer<unsigned> sums(blocks);
  const auto run = [&] {
    launch(read_kernel, {.grid = dim3(blocks), .block = dim3(read_threads)}, vectors, sums.data());
  };
  run();
  unsigned words = 0;
  for (const unsigned sum : sums.to_host()) {
    words += sum;
  }
  point.check_value("checksum of what was read", words,
                    array.reference(0, blocks * read_tile).words);
  return bandwidth(static_cast<double>(blocks * read_tile) * sizeof(Value),
                   point.measure(run, {.name = name}).seconds().median);
}

template <typename Value>
double measure_sum(const Sweep& sweep, Point& point, const Stage<Value>& stage,
                   const Array<Value>& array, const std::string& name = "time") {
  const Job<Value> job = stage.prepare(sweep, array);
  DeviceBuffer<Value> total(1);
  return point.measure([&] { job.enqueue(total.data()); }, {.name = name}).seconds().median;
}

// The times of a stage's sum beside the vendor's, in all terms; the row says how many times the
// vendor's rate it has. Measurements are named `name` and "vendor's " + `name`.
template <typename Value>
Terms measure_beside_vendor(const Sweep& sweep, Point& point, const Stage<Value>& stage,
                            const Array<Value>& array, const std::string& name = "time") {
  const Job<Value> job = stage.prepare(sweep, array);
  const Job<Value> vendor = vendor_stage<Value>().prepare(sweep, array);
  DeviceBuffer<Value> total(1);
  const std::vector<Terms> times =
      point.compare({[&] { job.enqueue(total.data()); }, [&] { vendor.enqueue(total.data()); }},
                    {name, "vendor's " + name});
  const std::string ratio = "rate over the vendor's";
  point.value(ratio, times[1].graph / times[0].graph, "times");
  point.value(ratio + ", in a stream", times[1].stream / times[0].stream, "times");
  point.value(ratio + ", cold", times[1].cold / times[0].cold, "times");
  return times[0];
}

// The values that are measured: random in all bits that matter.
template <typename Value>
constexpr Data measured_data = std::is_same_v<Value, float> ? Data::positive : Data::all_bits;

// Those that must come out exactly.
template <typename Value>
constexpr Data exact_data = std::is_same_v<Value, float> ? Data::small_integers : Data::all_bits;

inline void require_values(const Sweep& sweep, std::uint64_t count, const std::string& option) {
  sweep.require_memory(2 * count * sizeof(float), option);
}

}  // namespace hipscope::reduction
