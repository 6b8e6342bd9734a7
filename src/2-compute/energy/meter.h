// Windows of work, long enough for the sensors of a board, and the power in them; with the power of
// the idle board and of one that only spins, before and after.
#pragma once

#include <hipscope/hipscope.h>
#include <hipscope/keep_busy.h>
#include <hipscope/mean_power.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "2-compute/board_sensors.h"
#include "base_kernels.h"
#include "findings.h"

namespace energy {

using hipscope::DeviceBuffer;
using hipscope::MeanPower;
using hipscope::NetEnergy;
using hipscope::Point;
using hipscope::Sweep;

inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
inline constexpr double pico = 1e-12;

/// In seconds: of the same work before a window, of the window, and of one launch in it.
struct Lengths {
  double warm_up = 0;
  double window = 0;
  double launch = 0;
};

/// What was seen in a window. Of several boards power is their sum; the rest is the first one's.
struct Load {
  double launches_per_second = unknown;
  std::optional<MeanPower> power{};
  std::vector<MeanPower> boards{};
  double degrees = unknown;
  double shader_mhz = unknown;
  double held_back = unknown;  ///< share of the readings that told why the clock was not higher
};

/// The power on top of which work is done.
struct Bases {
  std::optional<MeanPower> idle{};
  std::optional<MeanPower> spinning{};
};

/// Measures windows, and what they begin from.
class Meter {
 public:
  /// `sensors`: of this device's board first.
  Meter(Sweep& sweep, const Lengths& lengths, std::vector<std::shared_ptr<board::Sensors>> sensors)
      : lengths_(lengths),
        sensors_(std::move(sensors)),
        is_hardware_(sweep.is_hardware()),
        units_(static_cast<unsigned>(sweep.device().compute_units)) {}

  /// Of all boards.
  [[nodiscard]] bool has_sensors() const { return first_silent() == sensors_.end(); }
  [[nodiscard]] std::string why_not() const {
    const auto silent = first_silent();
    return silent == sensors_.end() ? "" : (*silent)->why_not();
  }

  /// As many rounds as make a launch of `run(rounds)` take its time; one on the host backend.
  template <typename Run>
  unsigned rounds_for(const Run& run) const {
    return hipscope::rounds_for(is_hardware_ ? lengths_.launch : 0, run);
  }

  /// The same launch again and again: for a while, and then for a window in which sensors are read.
  template <typename Enqueue>
  Load measure(const Enqueue& enqueue) {
    constexpr double launches_without_sensors = 3;
    if (!has_sensors()) {
      const double seconds = is_hardware_ ? launches_without_sensors * lengths_.launch : 0;
      return {.launches_per_second =
                  hipscope::keep_busy(seconds, enqueue, [] {}).launches_per_second()};
    }
    hipscope::keep_busy(warm_up(), enqueue, [] {});
    forget_readings();
    const auto busy = hipscope::keep_busy(lengths_.window, enqueue, [&] { read_if_due(); });
    return seen(busy.launches_per_second());
  }

  /// Several loads in turns, so that a chip that warms up or cools down meets all of them alike.
  std::vector<Load> measure_in_turns(const std::vector<std::function<void()>>& loads) {
    const std::size_t turns = has_sensors() ? 3 : 1;
    std::vector<std::vector<MeanPower>> power(turns);
    std::vector<Load> means(
        loads.size(),
        Load{.launches_per_second = 0, .degrees = 0, .shader_mhz = 0, .held_back = 0});
    for (auto& of_turn : power) {
      for (std::size_t i = 0; i < loads.size(); ++i) {
        const Load load = measure(loads[i]);
        const auto add = [&](double Load::*value) {
          means[i].*value += load.*value / static_cast<double>(turns);
        };
        add(&Load::launches_per_second);
        add(&Load::degrees);
        add(&Load::shader_mhz);
        add(&Load::held_back);
        if (load.power) {
          of_turn.push_back(*load.power);
        }
      }
    }
    const auto is_whole = [&](const auto& of_turn) { return of_turn.size() == loads.size(); };
    if (std::all_of(power.begin(), power.end(), is_whole)) {
      const std::vector<MeanPower> watts = hipscope::mean_of_turns(power);
      for (std::size_t i = 0; i < loads.size(); ++i) {
        means[i].power = watts[i];
      }
    }
    return means;
  }

  /// The boards with nothing to do.
  Load measure_idle() {
    hipscope::check(hipDeviceSynchronize());
    wait(warm_up());
    forget_readings();
    const double end = board::seconds_now() + lengths_.window;
    while (board::seconds_now() < end) {
      read_if_due();
      wait(reading_interval);
    }
    return seen(unknown);
  }

  /// One wave on each SIMD that counts.
  Load measure_spinning(Point* point) {
    constexpr unsigned waves = 4;
    SpinningBlocks blocks(units_, waves);
    const unsigned rounds = rounds_for([&](unsigned wanted) { blocks.run(wanted); });
    const Load load = measure([&] { blocks.run(rounds); });
    if (point != nullptr) {
      blocks.verify(*point, rounds);
    }
    return load;
  }

  Bases measure_bases() {
    if (!has_sensors()) {
      return {};
    }
    return {.idle = measure_idle().power, .spinning = measure_spinning(nullptr).power};
  }

 private:
  static constexpr double reading_interval = 0.005;

  using Readings = std::vector<board::Reading>;

  [[nodiscard]] std::vector<std::shared_ptr<board::Sensors>>::const_iterator first_silent() const {
    return std::find_if(sensors_.begin(), sensors_.end(),
                        [](const auto& board) { return !board->tell_power(); });
  }

  // Samples of power are averages over up to a second: only then are they of this work alone.
  [[nodiscard]] double warm_up() const {
    constexpr double longest_average = 1;
    const bool all_count = std::all_of(sensors_.begin(), sensors_.end(),
                                       [](const auto& board) { return board->count_energy(); });
    return all_count ? lengths_.warm_up : std::max(lengths_.warm_up, longest_average);
  }

  static void wait(double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }

  void forget_readings() { readings_.assign(sensors_.size(), {}); }

  void read_if_due() {
    for (std::size_t board = 0; board < sensors_.size(); ++board) {
      Readings& readings = readings_[board];
      if (readings.empty() ||
          board::seconds_now() - readings.back().power.seconds >= reading_interval) {
        readings.push_back(sensors_[board]->read());
      }
    }
  }

  template <typename Get>
  [[nodiscard]] double mean(const Get& get) const {
    double sum = 0;
    std::size_t count = 0;
    for (const board::Reading& reading : readings_.front()) {
      if (const std::optional<double> value = get(reading)) {
        sum += *value;
        ++count;
      }
    }
    return count > 0 ? sum / static_cast<double>(count) : unknown;
  }

  [[nodiscard]] std::vector<MeanPower> boards() const {
    std::vector<MeanPower> boards;
    for (const Readings& readings : readings_) {
      std::vector<hipscope::PowerReading> power;
      for (const board::Reading& reading : readings) {
        power.push_back(reading.power);
      }
      if (const auto watts = hipscope::mean_power(power)) {
        boards.push_back(*watts);
      }
    }
    return boards;
  }

  [[nodiscard]] Load seen(double launches_per_second) const {
    const std::vector<MeanPower> power = boards();
    return {
        .launches_per_second = launches_per_second,
        .power =
            power.size() == sensors_.size() ? std::optional(hipscope::sum_of(power)) : std::nullopt,
        .boards = power,
        .degrees = mean([](const board::Reading& reading) { return reading.all.temperature_c; }),
        .shader_mhz = mean([](const board::Reading& reading) { return reading.all.shader_mhz; }),
        .held_back = mean([](const board::Reading& reading) {
          return std::optional<double>(reading.all.throttle_reasons.empty() ? 0 : 1);
        })};
  }

  Lengths lengths_;
  std::vector<std::shared_ptr<board::Sensors>> sensors_;
  bool is_hardware_;
  unsigned units_;
  std::vector<Readings> readings_;  // of each board
};

/// Of what a row's energy is, so much per launch; its rate is shown in units of `rate_scale` per
/// second.
struct Work {
  double per_launch;
  double rate_scale;
  std::string rate_name;
  std::string rate_unit;
};

inline Work fmas(double per_launch) { return {per_launch, 1e12, "rate", "10^12 FMA/s"}; }
inline Work bytes(double per_launch) { return {per_launch, 1e9, "bandwidth", "GB/s"}; }

inline void add_power(Point& point, const Load& load) {
  point.value("power", load.power ? load.power->watts : unknown, "W");
  point.value("power error", load.power ? load.power->error : unknown, "W");
  point.value("clock", load.shader_mhz, "MHz");
  point.value("temperature", load.degrees, "C");
  point.value("held back", 100 * load.held_back, "%");
}

/// Energy in units of `unit`: unknown where it is not resolved.
inline void add_energy(Point& point, const std::string& name, const std::string& error_name,
                       const std::optional<NetEnergy>& energy, double scale,
                       const std::string& unit) {
  point.value(name, energy && energy->is_resolved() ? energy->joules / scale : unknown, unit);
  point.value(error_name, energy ? energy->error / scale : unknown, unit);
}

/// A sweep's rows: what each takes beyond its base is known when the base was measured once more,
/// after them.
class Rows {
 public:
  /// `latest`: the bases that were measured last, which one sweep leaves for the next one.
  Rows(Sweep& sweep, Meter& meter, std::shared_ptr<std::optional<Bases>> latest)
      : sweep_(sweep), meter_(meter), latest_(std::move(latest)) {
    if (!meter.has_sensors()) {
      sweep.note("energies are left out: " + meter.why_not());
    } else if (!*latest_) {
      *latest_ = meter.measure_bases();
    }
    before_ = latest_->value_or(Bases{});
  }

  void add(const Point& point, const Load& load, const Work& work) {
    rows_.push_back({point, load, work});
  }

  /// Measures the bases again and adds every row's values; returns both bases' means.
  Bases finish() {
    const Bases after = meter_.measure_bases();
    *latest_ = after;
    const Bases bases = {.idle = hipscope::mean_of(before_.idle, after.idle),
                         .spinning = hipscope::mean_of(before_.spinning, after.spinning)};
    note_base("idle", before_.idle, after.idle);
    note_base("spinning", before_.spinning, after.spinning);
    for (Row& row : rows_) {
      const double rate = row.work.per_launch * row.load.launches_per_second;
      const auto beyond = [&](const std::optional<MeanPower>& base) {
        return row.load.power && base
                   ? std::optional(hipscope::net_energy(*row.load.power, *base, rate))
                   : std::nullopt;
      };
      add_energy(row.point, "energy", "error", beyond(bases.idle), pico, "pJ");
      add_energy(row.point, "added energy", "added error", beyond(bases.spinning), pico, "pJ");
      row.point.value(row.work.rate_name, rate / row.work.rate_scale, row.work.rate_unit);
      add_power(row.point, row.load);
    }
    return bases;
  }

 private:
  struct Row {
    Point point;
    Load load;
    Work work;
  };

  void note_base(const std::string& name, const std::optional<MeanPower>& before,
                 const std::optional<MeanPower>& after) {
    if (before && after) {
      sweep_.note(name + ": " + hipscope::number(before->watts, 4) + " W before, " +
                  hipscope::number(after->watts, 4) + " W after; by " +
                  (before->by_counter ? "the counter of energy" : "samples of power"));
    }
  }

  Sweep& sweep_;
  Meter& meter_;
  std::shared_ptr<std::optional<Bases>> latest_;
  Bases before_;
  std::vector<Row> rows_;
};

}  // namespace energy
