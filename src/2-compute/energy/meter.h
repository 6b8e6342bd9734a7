// Windows of work, long enough for the sensors of a board, and the power in them; with the power of
// the idle board and of one that only spins, before and after.
#pragma once

#include <hipscope/hipscope.h>
#include <hipscope/keep_busy.h>
#include <hipscope/mean_power.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "2-compute/board_sensors.h"
#include "findings.h"

namespace energy {

using hipscope::DeviceBuffer;
using hipscope::MeanPower;
using hipscope::NetEnergy;
using hipscope::Point;
using hipscope::Sweep;

inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
inline constexpr double pico = 1e-12;

// One wave on each SIMD.
inline constexpr unsigned spinning_block = 4 * 64;
inline constexpr unsigned first_counts = 8;  // that threads begin with

/// One step of the count: two dependent instructions of integers, whose result shows how many steps
/// were made.
__host__ __device__ inline unsigned spun(unsigned x, unsigned step) {
  return (x << 1U | x >> 31U) ^ step;
}

/// The least that a wave does when it runs: an addition, a branch, and a step.
static __global__ void __launch_bounds__(spinning_block)
    spin_kernel(unsigned* output, unsigned rounds) {
  unsigned x = threadIdx.x % first_counts;
#pragma unroll 1
  for (unsigned round = 0; round < rounds; ++round) {
    x = spun(x, round);
  }
  output[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

/// What was seen in a window. Of several boards power is their sum; the rest is the first one's.
struct Load {
  double launches_per_second = unknown;
  unsigned rounds = 0;  ///< of each launch
  std::optional<MeanPower> power{};
  std::vector<MeanPower> boards{};
  double degrees = unknown;
  double shader_mhz = unknown;
  double held_back = unknown;  ///< share of the readings that told why the clock was not higher
};

/// On top of which work is done.
struct Bases {
  Load idle{};
  Load spinning{};  ///< of one board alone
};

/// What sweeps share.
struct Board {
  hipscope::Size warm_up;                   ///< milliseconds of the same work before a window
  hipscope::Size window;                    ///< milliseconds
  hipscope::Size launch;                    ///< microseconds of one launch in it
  std::optional<board::Sensors> sensors{};  ///< found by the first sweep that asks
  std::optional<Bases> latest{};            ///< that were measured last
};

/// Measures windows, and what they begin from.
class Meter {
 public:
  /// `other`: the sensors of another board beside this one. Notes why energies are left out.
  Meter(Sweep& sweep, Board& board, board::Sensors* other = nullptr)
      : sweep_(sweep), board_(board) {
    if (!board.sensors) {
      board.sensors.emplace(sweep.telemetry());
    }
    sensors_ = {&*board.sensors};
    if (other != nullptr) {
      sensors_.push_back(other);
    }
    for (const board::Sensors* const one : sensors_) {
      if (has_sensors_ && !one->tell_power()) {
        has_sensors_ = false;
        sweep.note("energies are left out: " + one->why_not());
      }
    }
  }

  [[nodiscard]] Sweep& sweep() const { return sweep_; }
  [[nodiscard]] bool has_sensors() const { return has_sensors_; }  ///< of all boards
  [[nodiscard]] std::size_t boards() const { return sensors_.size(); }

  /// So many blocks on each CU.
  [[nodiscard]] unsigned blocks(unsigned per_unit) const {
    return sweep_.is_hardware() ? per_unit * units() : 2;
  }
  [[nodiscard]] unsigned units() const {
    return static_cast<unsigned>(sweep_.device().compute_units);
  }

  /// The same launch again and again: for a while, and then for a window in which sensors are read.
  template <typename Enqueue>
  Load measure(const Enqueue& enqueue) {
    if (!has_sensors_) {  // three launches
      const auto busy = hipscope::keep_busy(3 * launch_seconds(), enqueue, [] {});
      return {.launches_per_second = busy.launches_per_second()};
    }
    hipscope::keep_busy(warm_up(), enqueue, [] {});
    forget_readings();
    const auto busy = hipscope::keep_busy(window(), enqueue, [&] { read_if_due(); });
    return seen(busy.launches_per_second());
  }

  /// The same of launches of `run(rounds)`, with as many rounds, up to `most`, as make one take its
  /// time; one on the host backend.
  template <typename Run>
  Load measure_rounds(const Run& run, unsigned most = ~0U) {
    const unsigned rounds = std::min(most, hipscope::rounds_for(launch_seconds(), run));
    Load load = measure([&] { run(rounds); });
    load.rounds = rounds;
    return load;
  }

  /// Several of them, each with `run(rounds)`, in turns, so that a chip that warms up or cools down
  /// meets all of them alike.
  template <typename Runs>
  std::vector<Load> measure_in_turns(Runs& runs) {
    const std::size_t turns = has_sensors_ ? 3 : 1;
    std::vector<std::vector<MeanPower>> power(turns);
    std::vector<Load> means;
    for (auto& one : runs) {
      const auto run = [&](unsigned wanted) { one.run(wanted); };
      means.push_back({.launches_per_second = 0,
                       .rounds = hipscope::rounds_for(launch_seconds(), run),
                       .degrees = 0,
                       .shader_mhz = 0,
                       .held_back = 0});
    }
    for (auto& of_turn : power) {
      for (std::size_t i = 0; i < means.size(); ++i) {
        const Load load = measure([&] { runs[i].run(means[i].rounds); });
        for (const auto value :
             {&Load::launches_per_second, &Load::degrees, &Load::shader_mhz, &Load::held_back}) {
          means[i].*value += load.*value / static_cast<double>(turns);
        }
        if (load.power) {
          of_turn.push_back(*load.power);
        }
      }
    }
    const auto is_whole = [&](const auto& of_turn) { return of_turn.size() == means.size(); };
    if (std::all_of(power.begin(), power.end(), is_whole)) {
      const std::vector<MeanPower> watts = hipscope::mean_of_turns(power);
      for (std::size_t i = 0; i < means.size(); ++i) {
        means[i].power = watts[i];
      }
    }
    return means;
  }

  /// The boards with nothing to do.
  Load measure_idle() {
    const auto wait = [](double seconds) {
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    };
    hipscope::check(hipDeviceSynchronize());
    wait(warm_up());
    forget_readings();
    const double end = board::seconds_now() + window();
    while (board::seconds_now() < end) {
      read_if_due();
      wait(reading_interval);
    }
    return seen(unknown);
  }

  /// A block on each CU that counts; checks every count where there is a `point`.
  Load measure_spinning(Point* point) {
    DeviceBuffer<unsigned> output(std::size_t{units()} * spinning_block);
    const auto run = [&](unsigned rounds) {
      hipscope::launch(spin_kernel, {.grid = dim3(units()), .block = dim3(spinning_block)},
                       output.data(), rounds);
    };
    const Load load = measure_rounds(run);
    if (point != nullptr) {
      output.poison();
      run(load.rounds);
      std::array<unsigned, first_counts> expected{};
      std::iota(expected.begin(), expected.end(), 0);
      for (unsigned round = 0; round < load.rounds; ++round) {
        std::ranges::for_each(expected, [=](unsigned& x) { x = spun(x, round); });
      }
      point->check("every count", output.to_host(),
                   [&](std::uint64_t i) { return expected[i % first_counts]; });
    }
    return load;
  }

  Bases measure_bases() {
    if (!has_sensors_) {
      return {};
    }
    return {.idle = measure_idle(), .spinning = boards() == 1 ? measure_spinning(nullptr) : Load{}};
  }

 private:
  static constexpr double reading_interval = 0.005;

  [[nodiscard]] double launch_seconds() const {
    return sweep_.is_hardware() ? 1e-6 * static_cast<double>(board_.launch) : 0;
  }

  [[nodiscard]] double window() const { return 1e-3 * static_cast<double>(board_.window); }

  // Samples of power are averages over up to a second: only then are they of this work alone.
  [[nodiscard]] double warm_up() const {
    constexpr double longest_average = 1;
    const bool all_count =
        std::ranges::all_of(sensors_, [](const auto* one) { return one->count_energy(); });
    const double wished = 1e-3 * static_cast<double>(board_.warm_up);
    return all_count ? wished : std::max(wished, longest_average);
  }

  void forget_readings() {
    for (board::Sensors* const one : sensors_) {
      one->forget();
    }
  }

  void read_if_due() {
    for (board::Sensors* const one : sensors_) {
      one->read_if_due(reading_interval);
    }
  }

  [[nodiscard]] Load seen(double launches_per_second) const {
    using hipscope::TelemetryReading;
    Load load = {.launches_per_second = launches_per_second,
                 .degrees = sensors_[0]->mean(&TelemetryReading::temperature_c),
                 .shader_mhz = sensors_[0]->mean(&TelemetryReading::shader_mhz),
                 .held_back = sensors_[0]->held_back()};
    for (const board::Sensors* const one : sensors_) {
      if (const auto power = one->power()) {
        load.boards.push_back(*power);
      }
    }
    if (load.boards.size() == sensors_.size()) {
      load.power = hipscope::sum_of(load.boards);
    }
    return load;
  }

  Sweep& sweep_;
  Board& board_;
  std::vector<board::Sensors*> sensors_;
  bool has_sensors_ = true;
};

inline void add_power(Point& point, const Load& load) {
  point.value("power", load.power ? load.power->watts : unknown, "W");
  point.value("power error", load.power ? load.power->error : unknown, "W");
  point.value("clock", load.shader_mhz, "MHz");
  point.value("temperature", load.degrees, "C");
  point.value("held back", 100 * load.held_back, "%");
}

/// What one of `per_second` takes beyond the base; empty where that is unknown.
inline std::optional<NetEnergy> net_of(const Load& load, const Load& base, double per_second) {
  return load.power && base.power
             ? std::optional(hipscope::net_energy(*load.power, *base.power, per_second))
             : std::nullopt;
}

/// Energy in units of `unit`: unknown where it is not resolved.
inline void add_energy(Point& point, const std::string& name, const std::string& error_name,
                       const std::optional<NetEnergy>& energy, double scale = pico,
                       const std::string& unit = "pJ") {
  point.value(name, energy && energy->is_resolved() ? energy->joules / scale : unknown, unit);
  point.value(error_name, energy ? energy->error / scale : unknown, unit);
}

/// Of what a row's energy is.
enum class Per { fma, byte };

/// A row that was measured.
struct Row {
  Point point;
  Load load;
  Per per;
  double per_launch;

  [[nodiscard]] double rate() const { return per_launch * load.launches_per_second; }
};

/// A sweep's rows: what each takes beyond its base is known when the base was measured once more,
/// after them.
class Rows {
 public:
  /// `latest`: the bases that were measured last, which one sweep leaves for the next one.
  Rows(Meter& meter, std::optional<Bases>& latest) : meter_(meter), latest_(latest) {
    latest = latest ? latest : meter.measure_bases();
  }

  void add(const Row& row) { rows_.push_back(row); }

  /// Measures the bases again and adds every row's values; returns both bases' mean power.
  Bases finish() {
    const Bases before = *std::exchange(latest_, meter_.measure_bases());
    const Bases bases = {.idle = mean_of("idle", before.idle, latest_->idle),
                         .spinning = mean_of("spinning", before.spinning, latest_->spinning)};
    for (Row& row : rows_) {
      add_energy(row.point, "energy", "error", net_of(row.load, bases.idle, row.rate()));
      if (meter_.boards() == 1) {
        add_energy(row.point, "added energy", "added error",
                   net_of(row.load, bases.spinning, row.rate()));
      }
      if (row.per == Per::fma) {
        row.point.value("rate", 1e-12 * row.rate(), "10^12 FMA/s");
      } else {
        row.point.value("bandwidth", 1e-9 * row.rate(), "GB/s");
      }
      if (meter_.boards() > 1) {
        const bool is_known = row.load.power.has_value();
        row.point.value("this board", is_known ? row.load.boards[0].watts : unknown, "W");
        row.point.value("the other board", is_known ? row.load.boards[1].watts : unknown, "W");
      }
      add_power(row.point, row.load);
    }
    return bases;
  }

 private:
  // Notes both, each board's.
  [[nodiscard]] Load mean_of(const std::string& name, const Load& before, const Load& after) const {
    if (before.power && after.power) {
      const auto watts = [](const Load& load) {
        std::string text;
        for (const MeanPower& board : load.boards) {
          text += (text.empty() ? "" : " and ") + hipscope::number(board.watts, 4);
        }
        return text + " W";
      };
      const std::string source = !before.power->by_counter ? "samples of power"
                                 : meter_.boards() > 1     ? "the counters of energy"
                                                           : "the counter of energy";
      meter_.sweep().note(name + ": " + watts(before) + " before, " + watts(after) + " after; by " +
                          source);
    }
    return {.power = hipscope::mean_of(before.power, after.power)};
  }

  Meter& meter_;
  std::optional<Bases>& latest_;
  std::vector<Row> rows_;
};

}  // namespace energy
