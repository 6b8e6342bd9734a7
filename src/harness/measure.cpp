#include "hipscope/measure.h"

#include <algorithm>
#include <limits>

namespace hipscope {

namespace {

// The noise is called steady when over its last entries it moved by less than a tenth of itself.
constexpr std::size_t steady_window = 16;
constexpr double steady_tolerance = 0.1;

// A body so slow that the time limit comes early still gets a spread from three samples.
constexpr std::size_t fewest_samples = 3;

}  // namespace

const char* to_string(StopReason reason) {
  switch (reason) {
    case StopReason::quiet:
      return "quiet";
    case StopReason::steady:
      return "steady";
    case StopReason::time_limit:
      return "time limit";
    case StopReason::sample_limit:
      return "sample limit";
  }
  return "";
}

Summary Measurement::seconds() const {
  std::vector<double> times;
  times.reserve(samples.size());
  for (const Sample& sample : samples) {
    times.push_back(sample.seconds);
  }
  return summarize(times);
}

double Measurement::cycles() const {
  std::vector<double> measured;
  for (const Sample& sample : samples) {
    if (sample.shader_mhz > 0) {
      measured.push_back(sample.shader_mhz);
    }
  }
  const double others_mhz = measured.empty() ? fallback_mhz : summarize(measured).median;
  std::vector<double> cycles;
  for (const Sample& sample : samples) {
    const double measured_mhz = sample.shader_mhz > 0 ? sample.shader_mhz : others_mhz;
    const double mhz = given_mhz > 0 ? given_mhz : measured_mhz;
    if (!(mhz > 0)) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    cycles.push_back(sample.seconds * mhz * 1e6);
  }
  return summarize(cycles).median;
}

Stopper::Stopper(const StoppingRule& rule) : rule_(rule) {}

void Stopper::add(double batch_seconds, double seconds) {
  elapsed_ += batch_seconds;
  seconds_.push_back(seconds);
  const double noise = summarize(seconds_).relative_spread();
  noise_history_.push_back(noise);
  const bool enough = seconds_.size() >= rule_.minimum_samples && elapsed_ >= rule_.minimum_seconds;
  if (enough && noise <= rule_.noise) {
    stop(StopReason::quiet);
  } else if (enough && noise_is_steady()) {
    stop(StopReason::steady);
  } else if (elapsed_ >= rule_.maximum_seconds &&
             seconds_.size() >= std::min(rule_.minimum_samples, fewest_samples)) {
    stop(StopReason::time_limit);
  } else if (seconds_.size() >= rule_.maximum_samples) {
    stop(StopReason::sample_limit);
  }
}

void Stopper::stop(StopReason reason) {
  done_ = true;
  reason_ = reason;
}

bool Stopper::noise_is_steady() const {
  if (noise_history_.size() < 2 * steady_window) {
    return false;
  }
  const auto [lowest, highest] =
      std::minmax_element(noise_history_.end() - steady_window, noise_history_.end());
  return *highest - *lowest <= steady_tolerance * *highest;
}

}  // namespace hipscope
