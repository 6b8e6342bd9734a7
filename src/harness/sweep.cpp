// What an experiment does while it runs: rows, measurements, checks, inferences.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "hipscope/experiment.h"
#include "interrupt.h"
#include "record.h"
#include "report_text.h"

namespace hipscope {

namespace {

// An unbatched sample shorter than this, in seconds, is lengthened by a batch: events resolve about
// half a microsecond, a quarter of a percent of the longer one.
double shortest_sample_seconds(detail::Preset preset) {
  return preset == detail::Preset::quick ? 50e-6 : 200e-6;
}

// A batch's launches must all fit into the device's queue while its gate is still closed.
constexpr double largest_batch = 64;

// A graph is one launch. It takes some microseconds to begin, half a percent of such a sample.
constexpr double largest_graph = 256;
constexpr double graph_over_batch = 5;

unsigned choose_batch(double seconds, detail::Preset preset, bool is_graph) {
  if (!(seconds > 0)) {
    return 1;
  }
  const double shortest = shortest_sample_seconds(preset) * (is_graph ? graph_over_batch : 1);
  return static_cast<unsigned>(
      std::clamp(std::ceil(shortest / seconds), 1.0, is_graph ? largest_graph : largest_batch));
}

// What is so long needs no warm-up, and the host's few microseconds make no difference to it.
constexpr double long_seconds = 0.05;

// For how long the device is warmed up, in seconds. The memory of an H200 that was idle takes some
// tens of milliseconds to reach its rate: the first function of a sweep read 4.07 TB/s, the next
// one 4.68.
double warm_up_seconds(detail::Preset preset) {
  switch (preset) {
    case detail::Preset::once:
      return 0;
    case detail::Preset::quick:
      return 0.025;
    case detail::Preset::standard:
    case detail::Preset::full:
      break;
  }
  return 0.1;
}

// The clock for cycles where no sample of a measurement has one of its own.
double fallback_mhz(const detail::Run& run) {
  return run.device->is_hardware() ? run.device->description().maximum_shader_mhz : 0;
}

bool all_gated(const Measurement& measurement) {
  return std::all_of(
      measurement.samples.begin(), measurement.samples.end(),
      [](const Sample& sample) { return sample.gated || sample.seconds > long_seconds; });
}

// A clock that is so much under the highest is no longer the same.
constexpr double clock_tolerance = 0.02;

// The highest of the clocks, which fall. One above what the driver says is possible is an error of
// one sample's time, unless another sample is near it. `most` is what the driver says, 0 where it
// does not.
double highest_clock(const std::vector<double>& falling, double most) {
  for (std::size_t i = 0; i + 1 < falling.size(); ++i) {
    const bool is_possible = most == 0 || falling[i] <= (1 + clock_tolerance) * most;
    if (is_possible || falling[i + 1] >= (1 - clock_tolerance) * falling[i]) {
      return falling[i];
    }
  }
  return falling.back();
}

// Whether the clock was lower than it has been, or the device now tells why it could not be higher.
bool is_throttled(detail::Run& run, const Sample& sample) {
  if (sample.shader_mhz > 0) {
    auto& clocks = run.clocks_so_far;
    clocks.insert(
        std::upper_bound(clocks.begin(), clocks.end(), sample.shader_mhz, std::greater<>()),
        sample.shader_mhz);
  }
  const std::vector<std::string> reasons = run.telemetry.throttle_reasons();
  run.telemetry_log.saw(reasons);
  return !reasons.empty() ||
         (sample.shader_mhz > 0 &&
          sample.shader_mhz <
              (1 - clock_tolerance) * highest_clock(run.clocks_so_far, fallback_mhz(run)));
}

// One sample; a throttled one is thrown away as often as --retry-throttled says.
Sample time_sample(detail::Run& run, const std::function<void()>& body, unsigned batch,
                   const MeasureOptions& options) {
  for (unsigned retries = run.options.retry_throttled;; --retries) {
    const Sample sample = run.device->time(body, batch, options);
    const bool is_taken_again = retries > 0 && is_throttled(run, sample);
    run.telemetry_log.after_sample(run.telemetry);
    if (!is_taken_again) {
      return sample;
    }
    ++run.retaken_samples;
    detail::throw_if_interrupted();
  }
}

// A body that is sampled, and what has been sampled of it.
struct Turn {
  const std::function<void()>* body;
  MeasureOptions options;
  Measurement measurement;
  Stopper stopper;
  std::optional<Sample> first;     // its first execution, where that already is a sample
  bool chooses_batch = false;      // nobody has said how many; until a second execution confirms it
  std::function<void()> replay{};  // of its graph
  unsigned recorded = 0;           // executions in that
};

// The first execution warms up (code upload, clocks, caches) and tells how long the body is. It is
// not gated, since the upload may wait for the device to be idle, which the gate keeps busy.
Turn first_turn(detail::Run& run, const std::function<void()>& body, MeasureOptions options) {
  options.cold = options.cold || run.options.cold;
  Turn turn{.body = &body,
            .options = options,
            .measurement = {.name = options.name,
                            .given_mhz = run.options.clock_mhz,
                            .fallback_mhz = fallback_mhz(run)},
            .stopper = Stopper(run.stopping_rule),
            .first = {}};
  MeasureOptions ungated = options;
  ungated.synchronous = true;
  const Sample first = run.device->time(body, 1, ungated);
  const bool only_once = run.options.preset == detail::Preset::once;
  if (!options.cold && !only_once) {
    turn.chooses_batch = options.batch == 0;
    turn.measurement.batch = turn.chooses_batch
                                 ? choose_batch(first.seconds, run.options.preset, options.graph)
                                 : options.batch;
  }
  if (only_once || (first.seconds > long_seconds && turn.measurement.batch == 1)) {
    turn.first = first;
  }
  return turn;
}

// A sample of a graph is one replay of it, after a first one, with which it goes to the device.
Sample time_turn(detail::Run& run, Turn& turn) {
  const unsigned batch = turn.measurement.batch;
  if (!turn.options.graph) {
    return time_sample(run, *turn.body, batch, turn.options);
  }
  if (turn.recorded != batch) {
    turn.replay = run.device->record(*turn.body, batch);
    turn.recorded = batch;
    run.device->time(turn.replay, 1, turn.options);
  }
  Sample sample = time_sample(run, turn.replay, 1, turn.options);
  sample.seconds /= batch;
  return sample;
}

void take_turn(detail::Run& run, Turn& turn) {
  detail::throw_if_interrupted();
  unsigned& batch = turn.measurement.batch;
  const auto time = [&] { return time_turn(run, turn); };
  const bool is_first = turn.first.has_value();
  Sample sample = is_first ? *std::exchange(turn.first, std::nullopt) : time();
  if (!is_first && std::exchange(turn.chooses_batch, false)) {
    // The first execution of all may have waited for its code, and seemed much longer than it is.
    const unsigned wanted = choose_batch(sample.seconds, run.options.preset, turn.options.graph);
    if (wanted > 2 * batch) {
      batch = wanted;
      turn.measurement.samples.clear();  // of the first execution, if that was one
      turn.stopper = Stopper(run.stopping_rule);
      sample = time();
    }
  }
  if (!turn.stopper.done()) {
    turn.stopper.add(sample.seconds * batch, sample.seconds);
  }
  turn.measurement.samples.push_back(sample);
}

void warm_up(detail::Run& run) {
  detail::throw_if_interrupted();
  if (!std::exchange(run.is_warm, true)) {
    run.device->warm_up(warm_up_seconds(run.options.preset));
  }
}

}  // namespace

Measurement Point::measure(const std::function<void()>& body, const MeasureOptions& options) {
  return measure_in_turn({body}, {options}).front();
}

std::vector<Measurement> Point::measure_in_turn(const std::vector<std::function<void()>>& bodies,
                                                const std::vector<MeasureOptions>& options) {
  if (bodies.empty() || bodies.size() != options.size()) {
    throw std::invalid_argument("measure_in_turn needs options for each of its bodies");
  }
  warm_up(run_);
  std::vector<Turn> turns;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    turns.push_back(first_turn(run_, bodies[i], options[i]));
  }
  const auto all_done = [&] {
    return std::all_of(turns.begin(), turns.end(),
                       [](const Turn& turn) { return turn.stopper.done(); });
  };
  while (!all_done()) {
    for (Turn& turn : turns) {
      take_turn(run_, turn);
    }
  }
  std::vector<Measurement> measurements;
  for (Turn& turn : turns) {
    turn.measurement.stop = turn.stopper.reason();
    turn.measurement.method = std::string(turn.recorded > 0 ? "graph" : "device events") +
                              (all_gated(turn.measurement) ? "" : ", not gated");
    row_.measurements.push_back(turn.measurement);
    measurements.push_back(turn.measurement);
  }
  return measurements;
}

std::vector<double> Point::measure_in_turn(const std::vector<std::function<void()>>& bodies,
                                           const std::vector<std::string>& names,
                                           const MeasureOptions& options) {
  std::vector<MeasureOptions> of_bodies;
  for (const std::string& name : names) {
    of_bodies.push_back(options);
    of_bodies.back().name = name;
  }
  std::vector<double> seconds;
  for (const Measurement& measurement : measure_in_turn(bodies, of_bodies)) {
    seconds.push_back(measurement.seconds().median);
  }
  return seconds;
}

std::vector<Terms> Point::compare(const std::vector<std::function<void()>>& bodies,
                                  const std::vector<std::string>& names) {
  // One term after the other: what a flush leaves would be part of the next sample.
  std::vector<Terms> terms(bodies.size());
  for (const auto& [suffix, options, of_term] :
       {std::tuple<std::string, MeasureOptions, double Terms::*>{"", {}, &Terms::stream},
        {", graph", {.graph = true}, &Terms::graph},
        {", cold", {.cold = true}, &Terms::cold}}) {
    std::vector<std::string> of_bodies;
    of_bodies.reserve(names.size());
    for (const std::string& name : names) {
      of_bodies.push_back(name + suffix);
    }
    const std::vector<double> seconds = measure_in_turn(bodies, of_bodies, options);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      terms[i].*of_term = seconds[i];
    }
  }
  return terms;
}

std::size_t Point::fastest(const std::vector<std::function<void()>>& bodies) {
  constexpr unsigned rounds = 3;
  constexpr double out_of_the_race = 1.25;  // over the fastest of the first round
  if (run_.options.preset == detail::Preset::once) {
    return 0;
  }
  warm_up(run_);
  std::vector<Turn> turns;
  turns.reserve(bodies.size());
  std::vector<double> least(bodies.size(), std::numeric_limits<double>::infinity());
  for (const std::function<void()>& body : bodies) {
    turns.push_back(first_turn(run_, body, {.graph = true}));
  }
  for (unsigned round = 0; round < rounds; ++round) {
    const double limit = out_of_the_race * *std::min_element(least.begin(), least.end());
    for (std::size_t i = 0; i < turns.size(); ++i) {
      if (round == 0 || least[i] <= limit) {
        take_turn(run_, turns[i]);
        least[i] = std::min(least[i], turns[i].measurement.samples.back().seconds);
      }
    }
  }
  // By cycles, since under a power cap the clock changes from one sample to the next; by seconds
  // where the clock of some that are in the race is not known.
  const double limit = out_of_the_race * *std::min_element(least.begin(), least.end());
  std::vector<double> cycles(bodies.size(), std::numeric_limits<double>::infinity());
  bool are_known = true;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    for (const Sample& sample : turns[i].measurement.samples) {
      if (sample.shader_mhz > 0 && least[i] <= limit) {
        cycles[i] = std::min(cycles[i], sample.seconds * sample.shader_mhz);
      }
    }
    are_known = are_known && (least[i] > limit || std::isfinite(cycles[i]));
  }
  const std::vector<double>& costs = are_known ? cycles : least;
  return static_cast<std::size_t>(std::min_element(costs.begin(), costs.end()) - costs.begin());
}

Measurement Point::measure_on_host(const std::string& name, const std::function<void()>& body,
                                   const std::function<void()>& after, unsigned batch) {
  using Clock = std::chrono::steady_clock;
  Measurement measurement;
  measurement.name = name;
  measurement.method = "host clock";
  const bool only_once = run_.options.preset == detail::Preset::once;
  measurement.batch = only_once ? 1 : batch;
  const auto once = [&] {
    const auto start = Clock::now();
    for (unsigned i = 0; i < measurement.batch; ++i) {
      body();
    }
    const auto end = Clock::now();
    if (after) {
      after();
    }
    return Sample{.seconds =
                      std::chrono::duration<double>(end - start).count() / measurement.batch};
  };
  if (!only_once) {
    once();
  }
  Stopper stopper(run_.stopping_rule);
  while (!stopper.done()) {
    detail::throw_if_interrupted();
    const Sample sample = once();
    run_.telemetry_log.after_sample(run_.telemetry);
    stopper.add(sample.seconds * measurement.batch, sample.seconds);
    measurement.samples.push_back(sample);
  }
  measurement.stop = stopper.reason();
  row_.measurements.push_back(measurement);
  return measurement;
}

void Point::value(const std::string& name, double value, const std::string& unit) {
  row_.values.push_back({.name = name, .value = value, .unit = unit});
}

void Point::verify(const std::string& what, std::uint64_t wrong, std::uint64_t checked,
                   const std::function<void(Comparison&)>& look) {
  std::string details;
  if (wrong > 0 && look) {
    Comparison comparison;
    look(comparison);
    details = comparison.wrong() > 0 ? comparison.details() : "the host finds none of them";
  }
  row_.checks.push_back({.what = what, .checked = checked, .wrong = wrong, .details = details});
}

void Point::verify(const std::string& what, const Comparison& comparison) {
  row_.checks.push_back({.what = what,
                         .checked = comparison.checked(),
                         .wrong = comparison.wrong(),
                         .details = comparison.details()});
}

const DeviceDescription& Point::device() const { return run_.device->description(); }

void Sweep::axis(const Axis& axis) { record_.axis = axis; }

void Sweep::headline(const std::string& value) { record_.headline = value; }

void Sweep::compare(const std::string& series) { record_.published_series = series; }

Point Sweep::point(const std::string& label, double x, const std::string& published_series,
                   const std::string& published_x) {
  detail::throw_if_interrupted();
  detail::show_progress(fmt::format("{} {}", record_.name, label));
  auto row = std::make_unique<detail::Row>();
  row->label = label;
  row->x = x;
  for (const detail::PublishedFigure& figure : detail::published_figures()) {
    const bool of_the_sweep = !record_.published_series.empty() &&
                              figure.series == record_.published_series && figure.x == label;
    const bool of_the_point =
        !published_series.empty() && figure.series == published_series &&
        (figure.x.empty() || figure.x == (published_x.empty() ? label : published_x));
    if (figure.experiment == run_.experiment.name && figure.metric == record_.headline &&
        (of_the_sweep || of_the_point)) {
      row->published.push_back(figure);
    }
  }
  record_.rows.push_back(std::move(row));
  return {run_, *record_.rows.back()};
}

void Sweep::note(const std::string& text) { record_.notes.push_back(text); }

void Sweep::require_memory(std::uint64_t bytes, const std::string& option) const {
  const std::uint64_t free_bytes = run_.device->free_memory();
  if (bytes > free_bytes) {
    throw UsageError(fmt::format("{} needs {} of device memory, more than the {} that is free",
                                 option, detail::format_bytes(static_cast<double>(bytes)),
                                 detail::format_bytes(static_cast<double>(free_bytes))));
  }
}

const DeviceDescription& Sweep::device() const { return run_.device->description(); }

bool Sweep::is_hardware() const { return run_.device->is_hardware(); }

double Sweep::counted(double cycles) const {
  const bool counts = is_hardware() && device().cycle_counter_bits > 0;
  return counts ? cycles : std::numeric_limits<double>::quiet_NaN();
}

std::uint64_t Sweep::seed() const { return run_.options.seed; }

const Telemetry& Sweep::telemetry() const { return run_.telemetry; }

std::vector<CurvePoint> Results::curve(const std::string& sweep, const std::string& value) const {
  std::vector<CurvePoint> curve;
  for (const auto& record : run_.sweeps) {
    if (record->name != sweep) {
      continue;
    }
    for (const auto& row : record->rows) {
      double spread = 0;
      double y = std::numeric_limits<double>::quiet_NaN();
      for (const Measurement& measurement : row->measurements) {
        const Summary summary = measurement.seconds();
        if (measurement.name == value) {
          y = summary.median;
          spread = summary.relative_spread();
          break;
        }
        spread = std::max(spread, summary.relative_spread());
      }
      for (const detail::Value& entry : row->values) {
        if (entry.name == value) {
          y = entry.value;
        }
      }
      if (std::isfinite(y)) {
        curve.push_back({.x = row->x, .y = y, .relative_spread = spread});
      }
    }
  }
  return curve;
}

std::optional<CurvePoint> Results::at(const std::string& sweep, const std::string& value,
                                      double x) const {
  for (const CurvePoint& point : curve(sweep, value)) {
    if (point.x == x) {
      return point;
    }
  }
  return std::nullopt;
}

std::optional<CurvePoint> Results::highest(const std::string& sweep,
                                           const std::string& value) const {
  const auto points = curve(sweep, value);
  const auto most =
      std::max_element(points.begin(), points.end(), [](auto& a, auto& b) { return a.y < b.y; });
  return most == points.end() ? std::nullopt : std::optional(*most);
}

void Results::infer(const Inference& inference) { run_.inferences.push_back(inference); }

const DeviceDescription& Results::device() const { return run_.device->description(); }

double Results::clock_mhz() const { return run_.clock().shader_mhz; }

namespace detail {

std::vector<std::string> Run::failures() const {
  std::vector<std::string> failures;
  for (const auto& sweep : sweeps) {
    for (const auto& row : sweep->rows) {
      for (const Check& check : row->checks) {
        if (!check.passed()) {
          failures.push_back(fmt::format("{}, {}: {}: {} of {} wrong{}{}", sweep->name, row->label,
                                         check.what, check.wrong, check.checked,
                                         check.details.empty() ? "" : "; ", check.details));
        }
      }
    }
  }
  return failures;
}

std::uint64_t Run::check_count() const {
  std::uint64_t count = 0;
  for (const auto& sweep : sweeps) {
    for (const auto& row : sweep->rows) {
      count += row->checks.size();
    }
  }
  return count;
}

ClockRecord Run::clock() const {
  ClockRecord clock;
  std::vector<double> measured;
  for (const auto& sweep : sweeps) {
    for (const auto& row : sweep->rows) {
      for (const Measurement& measurement : row->measurements) {
        for (const Sample& sample : measurement.samples) {
          if (sample.shader_mhz > 0) {
            measured.push_back(sample.shader_mhz);
            clock.throttled_samples += sample.throttled ? 1 : 0;
          }
        }
      }
    }
  }
  clock.samples = measured.size();
  clock.retaken_samples = retaken_samples;
  if (!measured.empty()) {
    clock.shader_mhz = summarize(measured).median;
    std::sort(measured.begin(), measured.end(), std::greater<>());
    clock.highest_mhz = highest_clock(measured, fallback_mhz(*this));
    clock.source = "measured";
  } else if (fallback_mhz(*this) > 0) {
    clock.shader_mhz = fallback_mhz(*this);
    clock.source = "driver";
  }
  if (options.clock_mhz > 0) {
    clock.shader_mhz = options.clock_mhz;
    clock.source = "given";
  }
  return clock;
}

void Run::flag_throttled() {
  const double limit = (1 - clock_tolerance) * clock().highest_mhz;
  for (const auto& sweep : sweeps) {
    for (const auto& row : sweep->rows) {
      for (Measurement& measurement : row->measurements) {
        for (Sample& sample : measurement.samples) {
          sample.throttled = sample.shader_mhz > 0 && sample.shader_mhz < limit;
        }
      }
    }
  }
}

void show_progress(const std::string& text) {
  if (isatty(STDERR_FILENO) != 0) {
    static_cast<void>(std::fputs(("\r\033[K" + text).c_str(), stderr));
  }
}

void clear_progress() { show_progress(""); }

}  // namespace detail

}  // namespace hipscope
