// The frame of an experiment: it declares its sizes, its sweeps and its inferences, and `run` does
// the rest: options, device, sampling, tables, JSON, exit status. Plain C++, no GPU headers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "hipscope/comparison.h"
#include "hipscope/device.h"
#include "hipscope/measure.h"
#include "hipscope/telemetry.h"

namespace hipscope {

/// A wrong option or size. Exit status 2.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace detail {
struct Run;
struct Row;
struct SweepRecord;
struct ExperimentRecord;
}  // namespace detail

/// What an experiment asks and where the question comes from.
struct Purpose {
  std::string question;              ///< one sentence, ends in a question mark
  std::vector<std::string> sources;  ///< "fsword73/... 2.1 (examples 1a to 1d)", ...
};

/// A size with its default on each kind of run.
struct SizeDefaults {
  std::uint64_t gpu = 0;
  std::uint64_t quick = 0;
  std::uint64_t host = 0;  ///< of the host backend, scaled down
  std::uint64_t tiny = 0;  ///< of --tiny, for checkers; 0: as `host`
  std::uint64_t minimum = 1;
  std::uint64_t maximum = 0;
  /// For a size in bytes: a GPU's defaults are at most this share of its memory, rounded down to a
  /// power of two. 0: they do not depend on the memory.
  double share_of_memory = 0;
};

/// A size that the user may set; reads as its value once `Experiment::run` has parsed the options.
class Size {
 public:
  explicit Size(std::shared_ptr<std::uint64_t> value) : value_(std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor): a Size is read as the number that it stands for.
  operator std::uint64_t() const { return *value_; }

 private:
  std::shared_ptr<std::uint64_t> value_;
};

/// The median time of one execution under each of the conditions for comparing ours and a library.
struct Terms {
  double stream = 0;  ///< enqueued one after the other: a launch that may begin early does
  double graph = 0;   ///< recorded: each begins when the one before has ended
  double cold = 0;    ///< alone, with cold caches
};

/// One row of a sweep's table: a point x, its measurements, and values derived from them.
class Point {
 public:
  Point(detail::Run& run, detail::Row& row) : run_(run), row_(row) {}

  /// Samples `body`, which enqueues work on the default stream, until the stopping rule is content.
  /// The returned measurement is also kept as part of the row.
  Measurement measure(const std::function<void()>& body, const MeasureOptions& options = {});

  /// Samples `body` by the host's clock; all of `body` is timed, waiting included.
  /// A sample is the mean of `batch` executions; `after` runs untimed after it.
  Measurement measure_on_host(const std::string& name, const std::function<void()>& body,
                              const std::function<void()>& after = {}, unsigned batch = 1);

  /// Samples several bodies in turn, one sample of each per round, so that a drifting clock affects
  /// all alike; until the stopping rule is content with each. `options` has one entry for each
  /// body, with a name of its own.
  std::vector<Measurement> measure_in_turn(const std::vector<std::function<void()>>& bodies,
                                           const std::vector<MeasureOptions>& options);

  /// The same with common options; returns their median times in seconds.
  std::vector<double> measure_in_turn(const std::vector<std::function<void()>>& bodies,
                                      const std::vector<std::string>& names,
                                      const MeasureOptions& options);

  /// Measures several bodies under all conditions, under each in turn with the others. The
  /// measurements are named NAME, "NAME, graph" and "NAME, cold". A body only enqueues work on
  /// `launch_stream`.
  std::vector<Terms> compare(const std::vector<std::function<void()>>& bodies,
                             const std::vector<std::string>& names);

  /// Which of such bodies takes the fewest cycles in a graph, by a few samples that the row does
  /// not keep; with --once the first.
  std::size_t fastest(const std::vector<std::function<void()>>& bodies);

  /// Adds a value to the row, with its unit ("threads/cycle"). A NaN is shown as "-".
  void value(const std::string& name, double value, const std::string& unit);

  /// Records a check of computed values: `wrong` of `checked` differ from the reference.
  /// A check of nothing (`checked` 0) counts as failed, since it could not fail otherwise.
  /// Where some are wrong, `look` compares them again on the host: a failure then also shows the
  /// first of them and the largest error.
  void verify(const std::string& what, std::uint64_t wrong, std::uint64_t checked,
              const std::function<void(Comparison&)>& look = {});

  /// The same for a comparison.
  void verify(const std::string& what, const Comparison& comparison);

  /// Compares one computed value with the expected one.
  template <typename Value, typename Expected>
  void check_value(const std::string& what, const Value& computed, const Expected& expected) {
    using Common = std::common_type_t<Value, Expected>;
    Comparison comparison;
    comparison.compare(0, static_cast<Common>(expected), static_cast<Common>(computed));
    verify(what, comparison);
  }

  /// Compares each element of `computed`, a container on the host, with `expected(i)`, at most
  /// `tolerance` apart.
  template <typename Computed, typename Expected>
  void check(const std::string& what, const Computed& computed, const Expected& expected,
             double tolerance = 0) {
    Comparison comparison;
    comparison.compare_all(computed, expected, tolerance);
    verify(what, comparison);
  }

  /// What the driver says of the device.
  [[nodiscard]] const DeviceDescription& device() const;

 private:
  detail::Run& run_;
  detail::Row& row_;
};

/// How a plot spaces an axis.
enum class Scale { linear, logarithmic };

/// The x axis of a sweep.
struct Axis {
  std::string name;    ///< "block"
  std::string unit{};  ///< "threads"
  Scale scale = Scale::linear;
};

/// One table of an experiment while it is being measured.
class Sweep {
 public:
  Sweep(detail::Run& run, detail::SweepRecord& record) : run_(run), record_(record) {}

  /// Names the x axis; once, before the first point.
  void axis(const Axis& axis);

  /// Names the sweep's main value: it is plotted over x, together with values named "NAME VALUE" in
  /// the same unit.
  void headline(const std::string& value);

  /// Sets this sweep's published counterpart: the rows of results/published/published.csv with
  /// this experiment, this `series`, and the headline as metric. A point whose label equals a
  /// published x shows the published value beside its own.
  void compare(const std::string& series);

  /// Starts the row of one point. The table shows `label`; plots and inference use the number `x`.
  /// `published_series` is the point's own published counterpart: the rows of that series that have
  /// no x, or `published_x` as x (if that is empty, the label). Throws when the user interrupted
  /// the run.
  Point point(const std::string& label, double x, const std::string& published_series = "",
              const std::string& published_x = "");

  /// A line under the table's title, about the whole sweep.
  void note(const std::string& text);

  /// Throws UsageError naming `option` when `bytes` of device memory are not free.
  void require_memory(std::uint64_t bytes, const std::string& option) const;

  /// What the driver says of the device.
  [[nodiscard]] const DeviceDescription& device() const;

  /// False on the host backend.
  [[nodiscard]] bool is_hardware() const;

  /// `cycles` that a kernel counted; NaN on the host backend, whose counter counts nanoseconds, and
  /// where the device's counter stands still.
  [[nodiscard]] double counted(double cycles) const;

  /// The seed of random inputs, from --seed.
  [[nodiscard]] std::uint64_t seed() const;

  /// The device's sensors; none with --no-telemetry and on the host backend.
  [[nodiscard]] const Telemetry& telemetry() const;

 private:
  detail::Run& run_;
  detail::SweepRecord& record_;
};

/// One point of a measured curve: x, the value there, and the relative spread of its time (the
/// largest, if the value is derived from several times).
struct CurvePoint {
  double x = 0;
  double y = 0;
  double relative_spread = 0;
};

/// From least to most.
struct Interval {
  double low = 0;
  double high = 0;
};

/// A statement about the hardware drawn from the curves.
struct Inference {
  std::string name{};             ///< "wave size"
  std::optional<double> value{};  ///< empty: not visible in the curves
  std::string unit{};             ///< "lanes"
  double confidence = 0;          ///< 0 ... 1: at least this share of such answers is right
  std::string statement{};        ///< one line that a reader can quote
  std::vector<std::string> evidence{};
  std::optional<double> driver{};      ///< the driver's value, if any
  std::optional<Interval> interval{};  ///< that has the value, if known
};

/// The results of all sweeps, for inference.
class Results {
 public:
  explicit Results(detail::Run& run) : run_(run) {}

  /// The curve of `value` over x in sweep `sweep`: a value's name, or a measurement's name for its
  /// median time in seconds. Empty when the sweep was filtered out or has no such value.
  [[nodiscard]] std::vector<CurvePoint> curve(const std::string& sweep,
                                              const std::string& value) const;

  /// Its point at that x, and its highest one; empty if there is none.
  [[nodiscard]] std::optional<CurvePoint> at(const std::string& sweep, const std::string& value,
                                             double x) const;
  [[nodiscard]] std::optional<CurvePoint> highest(const std::string& sweep,
                                                  const std::string& value) const;

  /// Adds a statement to the results.
  void infer(const Inference& inference);

  /// What the driver says of the device.
  [[nodiscard]] const DeviceDescription& device() const;

  /// The median shader clock of the run in MHz, measured or as given by --clock-mhz.
  [[nodiscard]] double clock_mhz() const;

 private:
  detail::Run& run_;
};

/// Whether a run with --tiny measures a sweep.
enum class InTiny { measured, left_out };

/// An experiment: declare, then run.
class Experiment {
 public:
  /// `name` is the binary's: lower case, digits and underscores.
  Experiment(std::string name, Purpose purpose);
  ~Experiment();
  Experiment(const Experiment&) = delete;
  Experiment& operator=(const Experiment&) = delete;

  /// Declares a size option, `flag` such as "--threads".
  Size size(const std::string& flag, const std::string& meaning, const SizeDefaults& defaults);

  /// Declares a sweep; --list shows `name`, --filter matches it. `in_tiny` can leave it out with
  /// --tiny, if its kernels run in other sweeps too or it has none of ours.
  void sweep(const std::string& name, const std::string& title, std::function<void(Sweep&)> measure,
             InTiny in_tiny = InTiny::measured);

  /// Declares what is inferred after the sweeps; not called on the host backend.
  void conclude(std::function<void(Results&)> infer);

  /// Parses the options, measures, verifies, reports. Returns the exit status: 0 good, 1 a
  /// verification failed, 2 bad usage, 3 device or runtime error, 77 no device, 130 and 143 after
  /// SIGINT and SIGTERM. Never throws.
  int run(int argc, char** argv);

 private:
  std::unique_ptr<detail::ExperimentRecord> record_;
};

}  // namespace hipscope
