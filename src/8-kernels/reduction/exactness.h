// Sweeps error and awkward of reduction.hip: how exact totals are, and whether they are right at
// odd sizes.
#pragma once

#include <hipscope/hipscope.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "data.h"
#include "measuring.h"
#include "stages.h"
#include "vendor.h"

namespace hipscope::reduction {

// --- Sweep: error -----------------------------------------------------------------------------

// How many different totals a stage gives when it runs again and again.
inline std::size_t count_totals(const Job<float>& job, unsigned runs) {
  DeviceBuffer<float> totals(runs);
  for (unsigned run = 0; run < runs; ++run) {
    job.enqueue(totals.data() + run);
  }
  const auto made = totals.to_host();
  return std::set<float>(made.begin(), made.end()).size();
}

inline void show_error(Point& point, float total, const Reference& reference, Data data) {
  point.value(std::string("error of values ") + name_of(data),
              std::abs(static_cast<double>(total) - reference.sum) / reference.magnitude,
              "of the sum of absolute values");
}

// What a loop on the host makes of the same values.
inline void measure_loop_error(Sweep& sweep, const std::vector<const Checked<float>*>& inputs) {
  auto point = sweep.point("one loop, on the host", 0);
  for (const auto* const input : inputs) {
    float total = 0;
    for (std::uint64_t i = 0; i < input->array.count(); ++i) {
      total += input->array.value(i);
    }
    show_error(point, total, input->reference, input->array.data());
  }
}

inline void measure_errors(Sweep& sweep, std::uint64_t count) {
  sweep.axis({.name = "stage"});
  sweep.headline(std::string("error of values ") + name_of(Data::positive));
  sweep.note("bound: what rounding can do at most, by the number of additions in a row");
  note_vendor(sweep);
  require_values(sweep, count, "--values");
  Array<float> positive(sweep, Data::positive, count);
  Array<float> centred(sweep, Data::centred, count);
  std::vector<Stage<float>> ways = stages<float>();
  if (has_vendor(sweep)) {
    ways.push_back(vendor_stage<float>());
  }
  const std::vector<Checked<float>> inputs = {
      {.array = positive, .reference = positive.reference(0, count)},
      {.array = centred, .reference = centred.reference(0, count)}};
  measure_loop_error(sweep, {inputs.data(), inputs.data() + 1});
  const unsigned runs = sweep.is_hardware() ? 16 : 2;
  double x = 0;
  for (const auto& stage : ways) {
    auto point = sweep.point(stage.name, ++x);
    for (const auto& input : inputs) {
      verify(sweep, point, stage, input);
      DeviceBuffer<float> total(1);
      const Job<float> job = stage.prepare(sweep, input.array);
      job.enqueue(total.data());
      show_error(point, total.to_host()[0], input.reference, input.array.data());
    }
    const Job<float> job = stage.prepare(sweep, centred);
    point.value("bound", error_bound(job.depth, 1), "of the sum of absolute values");
    point.value("different totals", static_cast<double>(count_totals(job, runs)),
                "in " + std::to_string(runs) + " runs");
  }
}

// --- Sweep: awkward ---------------------------------------------------------------------------

template <typename Value>
void verify_stages(const Sweep& sweep, Point& point, Data data, std::uint64_t count,
                   unsigned skipped) {
  Array<Value> array(sweep, data, count, skipped);
  const Checked<Value> checked = with_reference(point, array);
  for (const auto& stage : stages<Value>()) {
    verify(sweep, point, stage, checked, stage.name + ", ");
  }
}

// `skipped` values before the first one: it is on no boundary of a vector.
inline void measure_awkward_size(Sweep& sweep, std::uint64_t count, unsigned skipped) {
  auto point = sweep.point(
      std::to_string(count) + (skipped > 0 ? " from value " + std::to_string(skipped) + " on" : ""),
      static_cast<double>(count));
  sweep.require_memory(count * sizeof(float), "--largest-awkward");
  // The host backend takes long for many values: integers must do, whose sums are exact.
  if (sweep.is_hardware() || count <= 2 * read_tile) {
    verify_stages<float>(sweep, point, Data::small_integers, count, skipped);
    verify_stages<float>(sweep, point, Data::centred, count, skipped);
  }
  verify_stages<unsigned>(sweep, point, Data::all_bits, count, skipped);
  Array<float> array(sweep, Data::positive, count, skipped);
  const double seconds = measure_sum(sweep, point, best_stage<float>(), array);
  point.value("bandwidth", bandwidth(bytes_of(array), seconds), gigabytes);
}

inline void measure_awkward(Sweep& sweep, std::uint64_t largest) {
  sweep.axis({.name = "values", .scale = Scale::logarithmic});
  sweep.headline("bandwidth");
  sweep.note("every stage on every kind of value; bandwidth of " + best_stage<float>().name);
  constexpr std::uint64_t fermat_prime = 65537;
  for (const std::uint64_t count :
       {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{255},
        std::uint64_t{257}, read_tile - 1, fermat_prime}) {
    measure_awkward_size(sweep, count, 0);
  }
  constexpr std::uint64_t prime = 32771;
  measure_awkward_size(sweep, prime, 1);
  measure_awkward_size(sweep, 257, 2);
  measure_awkward_size(sweep, read_tile + 1, 3);
  measure_awkward_size(sweep, 2, 2);  // no vector at all
  constexpr std::uint64_t large_prime = 16777259;
  constexpr std::uint64_t beyond_2_gibibytes = (std::uint64_t{1} << 29) + (1U << 20) + 7;
  for (const std::uint64_t count : {large_prime, beyond_2_gibibytes}) {
    if (count <= largest) {
      measure_awkward_size(sweep, count, 1);
    }
  }
}

}  // namespace hipscope::reduction
