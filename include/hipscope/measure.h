// What a measurement is: samples, their clock, and the rule that says when there are enough.
// Plain C++, no GPU headers.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "hipscope/statistics.h"

namespace hipscope {

/// One timed sample: the time of one execution of the measured body.
struct Sample {
  double seconds = 0;      ///< time of one execution (a batch's time over its size)
  double shader_mhz = 0;   ///< shader clock measured over the sample; 0 when it could not be
  bool gated = false;      ///< everything was enqueued before the device began
  bool throttled = false;  ///< shader clock more than 2 % under the highest of the whole run
};

/// Why sampling stopped.
enum class StopReason {
  quiet,         ///< the relative spread fell under the wanted noise
  steady,        ///< the relative spread is above it but no longer falls
  time_limit,    ///< the time limit was reached first
  sample_limit,  ///< the greatest number of samples was reached first
};

/// "quiet", "steady", "time limit" or "sample limit".
const char* to_string(StopReason reason);

/// When to stop sampling. Times are sums over the samples of one measurement, in seconds.
struct StoppingRule {
  double minimum_seconds = 0.01;
  double maximum_seconds = 1.0;
  double noise = 0.005;  ///< wanted interquartile range over median
  std::size_t minimum_samples = 5;
  std::size_t maximum_samples = 1000;
};

/// A named series of samples of one body.
struct Measurement {
  std::string name{};    ///< "time", "enqueue", ...
  std::string method{};  ///< how the time was taken: "device events", "graph" or "host clock"
  unsigned batch = 1;    ///< executions of the body per sample
  StopReason stop = StopReason::quiet;
  std::vector<Sample> samples{};
  double given_mhz = 0;     ///< the clock for all cycles, from --clock-mhz; 0: not given
  double fallback_mhz = 0;  ///< the clock where no sample has one of its own; 0: there is none

  /// Order statistics of the samples' times, in seconds.
  [[nodiscard]] Summary seconds() const;

  /// The median time in shader clock cycles: each sample's time by `given_mhz` if that is given, by
  /// its own measured clock, by the median of the others' where it has none, or by `fallback_mhz`
  /// where none has. NaN when there is none (the host backend).
  [[nodiscard]] double cycles() const;
};

/// How a body is measured.
struct MeasureOptions {
  std::string name = "time";
  unsigned batch = 0;        ///< executions per sample; 0 lets the harness choose
  bool cold = false;         ///< flush the caches before each sample (then batch is 1)
  bool graph = false;        ///< record the batch as a graph, which each sample replays
  bool synchronous = false;  ///< the body waits for the device itself: no gate (see stopwatch.hip)
};

/// Decides after each sample whether to go on; one object per measurement.
/// The rule has two ways to stop, as in nvbench: little noise, or noise that no longer falls.
class Stopper {
 public:
  explicit Stopper(const StoppingRule& rule);

  /// Takes one sample's time in seconds of the whole batch and of one execution.
  void add(double batch_seconds, double seconds);

  /// True when there are enough samples; `reason` then says why.
  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] StopReason reason() const { return reason_; }

 private:
  void stop(StopReason reason);
  [[nodiscard]] bool noise_is_steady() const;

  StoppingRule rule_;
  double elapsed_ = 0;
  bool done_ = false;
  StopReason reason_ = StopReason::quiet;
  std::vector<double> seconds_;
  std::vector<double> noise_history_;
};

}  // namespace hipscope
