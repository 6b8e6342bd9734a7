// The ladder of histograms: its stages, their check, their times, and the vendor's library beside
// them.
#pragma once

#include <hipscope/elements.h>
#include <hipscope/hipscope.h>
#include <hipscope/libraries/histogram.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "01-l2.h"
#include "02-lds.h"
#include "03-vector-loads.h"
#include "04-copy-per-wave.h"
#include "05-wave-first.h"
#include "06-column-per-bank.h"
#include "07-loads-in-flight.h"
#include "samples.h"

namespace atomics::histogram {

using CountsKernel = void (*)(Samples, unsigned*);

/// A stage. One that takes long counts only one sample in `share` of those that are timed.
struct Stage {
  std::string name;
  CountsKernel kernel;
  unsigned blocks_per_unit = 2;
  unsigned share = 1;
};

inline std::vector<Stage> stages() {
  return {
      {"01 atomics in L2", l2_kernel, 2, 64},        {"02 LDS first", lds_kernel},
      {"03 vector loads", vector_loads_kernel},      {"04 copy per wave", copy_per_wave_kernel},
      {"05 wave first", wave_first_kernel},          {"06 column per bank", column_per_bank_kernel},
      {"07 loads in flight", loads_in_flight_kernel}};
}

/// All samples of one kind in device memory.
struct Set {
  SampleOf sample_of;
  Counts whole;
  hipscope::DeviceBuffer<unsigned char> samples;

  [[nodiscard]] unsigned count() const { return static_cast<unsigned>(samples.size()); }

  /// `count` of them from `first` on, and how many of each bin they are.
  [[nodiscard]] Samples part(unsigned first, unsigned count) const {
    return {.first = samples.data() + first, .count = count};
  }
  [[nodiscard]] Counts counts_of_part(unsigned first, unsigned count) const {
    return count == samples.size() ? whole : counts_of(sample_of, first, count);
  }
};

class Ladder {
 public:
  using Run = std::function<void(const Samples&, unsigned* counts)>;

  Ladder(hipscope::Sweep& sweep, std::uint64_t count) : sweep_(sweep), counts_(bins) {
    for (const Data data : {Data::uniform, Data::skewed, Data::one_bin}) {
      const SampleOf sample_of{data, hipscope::key_of(sweep.seed())};
      sets_.push_back({sample_of, counts_of(sample_of, 0, static_cast<unsigned>(count)),
                       hipscope::DeviceBuffer<unsigned char>(count)});
      hipscope::fill_elements(sweep, sets_.back().samples, sample_of);
    }
  }

  void measure() {
    if (sweep_.is_hardware() && !hipscope::vendor::histogram_library().empty()) {
      const auto library = std::make_shared<hipscope::vendor::Histogram>(sets_[0].count());
      const Run vendor = [library](const Samples& samples, unsigned* counts) {
        library->enqueue(samples.first, counts);
      };
      auto point = sweep_.point("vendor library", 0);
      measure_row(point, 1, false, vendor);
      vendor_ = vendor;
    }
    double x = 0;
    for (const Stage& stage : stages()) {
      auto point = sweep_.point(stage.name, ++x);
      measure_row(point, stage.share, true, [&](const Samples& samples, unsigned* counts) {
        hipscope::check(hipMemsetAsync(counts, 0, bins * sizeof(unsigned),
                                       static_cast<hipStream_t>(hipscope::launch_stream)));
        hipscope::launch(stage.kernel, shape(stage, samples.count), samples, counts);
      });
    }
  }

 private:
  // As many blocks as fit, but none that would find nothing to do.
  [[nodiscard]] hipscope::LaunchShape shape(const Stage& stage, unsigned count) const {
    if (!sweep_.is_hardware()) {
      return {.grid = dim3(2), .block = dim3(64)};
    }
    const auto units = static_cast<unsigned>(sweep_.device().compute_units);
    const unsigned needed = count / (block_threads * sizeof(uint4)) + 1;
    return {.grid = dim3(std::min(units * stage.blocks_per_unit, needed)),
            .block = dim3(block_threads)};
  }

  void verify(hipscope::Point& point, const std::string& what, const Samples& samples,
              const Counts& expected, const Run& run) {
    counts_.poison();
    run(samples, counts_.data());
    point.check(what, counts_.to_host(), [&](std::uint64_t bin) { return expected[bin]; });
  }

  // Counts that divide by nothing, and starts between vectors.
  void verify_awkward(hipscope::Point& point, const Set& set, const Run& run) {
    for (const unsigned wanted : {1U, 15U, 16U, 33U, 1021U, 70001U}) {
      for (const unsigned first : {0U, 1U, 13U}) {
        if (wanted + first <= set.count()) {
          verify(point, std::to_string(wanted) + " from " + std::to_string(first) + " on",
                 set.part(first, wanted), set.counts_of_part(first, wanted), run);
        }
      }
    }
  }

  // All three kinds of samples; `starts_anywhere`: also some that begin and end between vectors.
  void measure_row(hipscope::Point& point, unsigned share, bool starts_anywhere, const Run& run) {
    for (Set& set : sets_) {
      const std::string name = name_of(set.sample_of.data);
      const unsigned count = std::max(1U, set.count() / share);
      const Samples samples = set.part(0, count);
      verify(point, name, samples, set.counts_of_part(0, count), run);
      if (starts_anywhere && set.sample_of.data != Data::one_bin) {
        verify_awkward(point, set, run);
      }
      const auto body = [&] { run(samples, counts_.data()); };
      const auto rate_of = [](std::uint64_t of, double seconds) {
        return 1e-9 * static_cast<double>(of) / seconds;
      };
      if (!vendor_) {
        const auto time = point.measure(body, {.name = name + " time"});
        point.value(name, rate_of(count, time.seconds().median), "G/s");
        continue;
      }
      const Samples whole = set.part(0, set.count());
      const std::vector<hipscope::Terms> times =
          point.compare({body, [&] { vendor_(whole, counts_.data()); }},
                        {name + " time", name + " vendor's time"});
      point.value(name, rate_of(count, times[0].stream), "G/s");
      const auto ratio = [&](const std::string& suffix, double hipscope::Terms::*seconds) {
        point.value(name + " over the vendor's" + suffix,
                    rate_of(count, times[0].*seconds) / rate_of(set.count(), times[1].*seconds),
                    "times");
      };
      ratio("", &hipscope::Terms::graph);
      ratio(", in a stream", &hipscope::Terms::stream);
      ratio(", cold", &hipscope::Terms::cold);
    }
  }

  hipscope::Sweep& sweep_;
  std::vector<Set> sets_;
  hipscope::DeviceBuffer<unsigned> counts_;
  Run vendor_;  // the library's, once its own row is there
};

}  // namespace atomics::histogram

namespace atomics {

inline void measure_histograms(hipscope::Sweep& sweep, std::uint64_t count) {
  sweep.axis({.name = "stage"});
  sweep.headline("uniform");
  const std::string library = hipscope::vendor::histogram_library();
  sweep.note("bytes, 256 bins of 32 bits, which are zeroed first; 01 counts one sample in 64");
  if (!sweep.is_hardware()) {
    sweep.note("vendor library: not on this device");
  } else if (library.empty()) {
    sweep.note(std::string("vendor library: this build has none (looked for ") +
               hipscope::vendor::histogram_libraries + ")");
  } else {
    sweep.note("vendor library: " + library);
  }
  sweep.require_memory(3 * count, "--samples");
  histogram::Ladder(sweep, count).measure();
}

}  // namespace atomics
