// What the harness keeps of an experiment and of one run of it; the reports are made from these.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hipscope/device.h"
#include "hipscope/experiment.h"
#include "hipscope/measure.h"
#include "hipscope/telemetry.h"
#include "published.h"
#include "telemetry_log.h"

namespace hipscope::detail {

/// A named number with its unit; NaN where there is none.
struct Value {
  std::string name{};
  double value = 0;
  std::string unit{};
};

/// A check of computed values.
struct Check {
  std::string what{};
  std::uint64_t checked = 0;
  std::uint64_t wrong = 0;
  std::string details{};  ///< of what is wrong; may be empty

  [[nodiscard]] bool passed() const { return checked > 0 && wrong == 0; }
};

/// One point of a sweep.
struct Row {
  std::string label{};
  double x = 0;
  std::vector<Measurement> measurements{};
  std::vector<Value> values{};
  std::vector<Check> checks{};
  std::vector<PublishedFigure> published{};
};

/// One sweep as measured.
struct SweepRecord {
  std::string name{};
  std::string title{};
  Axis axis{};
  std::string headline{};
  std::string published_series{};
  std::vector<std::string> notes{};
  std::vector<std::unique_ptr<Row>> rows{};  ///< pointers: a Point refers to its row for long
  std::optional<SweepTelemetry> telemetry{};
};

/// How much is measured. `once` runs every body a single time: for checkers and profilers.
enum class Preset { once, quick, standard, full };

/// The common options, as parsed.
struct Options {
  int device = 0;
  std::string json_path{};
  bool csv = false;
  Preset preset = Preset::standard;
  bool tiny = false;
  double minimum_seconds = 0;
  double noise = 0;      ///< a fraction
  double clock_mhz = 0;  ///< 0: not given
  bool cold = false;     ///< every sample begins with cold caches
  std::uint64_t seed = 0;
  std::string filter{};  ///< empty: not given
  bool list_sweeps = false;
  bool list_devices = false;
  bool identity = false;
  bool no_telemetry = false;
  unsigned retry_throttled = 0;  ///< how often a throttled sample is taken again
};

/// A declared size option.
struct SizeOption {
  std::string flag{};
  std::string meaning{};
  SizeDefaults defaults{};
  std::shared_ptr<std::uint64_t> value{};
  std::string given{};  ///< as the user wrote it; empty: not given
};

/// A declared sweep.
struct SweepDeclaration {
  std::string name{};
  std::string title{};
  std::function<void(Sweep&)> measure{};
  InTiny in_tiny = InTiny::measured;
};

/// An experiment as declared.
struct ExperimentRecord {
  std::string name{};
  Purpose purpose{};
  std::vector<SizeOption> sizes{};
  std::vector<SweepDeclaration> sweeps{};
  std::function<void(Results&)> conclude{};
};

/// The shader clock over the whole run.
struct ClockRecord {
  double shader_mhz = 0;  ///< median, or as given; 0: none
  double highest_mhz = 0;
  const char* source = "none";  ///< "measured", "given", "driver" or "none"
  std::uint64_t samples = 0;    ///< with a measured clock
  std::uint64_t throttled_samples = 0;
  std::uint64_t retaken_samples = 0;
};

/// One run.
struct Run {
  const ExperimentRecord& experiment;
  Options options;
  Device* device = nullptr;
  StoppingRule stopping_rule;
  std::string date{};
  double duration_seconds = 0;
  std::vector<std::unique_ptr<SweepRecord>> sweeps{};
  std::vector<Inference> inferences{};
  std::vector<Value> overheads{};
  bool is_warm = false;  ///< the device was warmed up, in this sweep or with --quick in this run
  Telemetry telemetry{"it was not asked for"};
  TelemetryLog telemetry_log{};
  std::string host{};                   ///< the host's name; empty without --identity
  std::vector<double> clocks_so_far{};  ///< falling; with --retry-throttled
  std::uint64_t retaken_samples = 0;

  /// Every failed check, as "sweep, point: what: wrong of checked".
  [[nodiscard]] std::vector<std::string> failures() const;
  [[nodiscard]] std::uint64_t check_count() const;
  [[nodiscard]] ClockRecord clock() const;

  /// Marks the samples whose clock is more than 2 % under the highest of the run.
  void flag_throttled();
};

/// "once", "quick", "default" or "full".
const char* to_string(Preset preset);

/// The sweep that is being measured tells where it is, on stderr when that is a terminal.
void show_progress(const std::string& text);
void clear_progress();

}  // namespace hipscope::detail
