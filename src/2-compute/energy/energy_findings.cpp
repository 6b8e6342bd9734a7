#include "energy_findings.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "hipscope/format.h"
#include "hipscope/mean_power.h"

namespace energy {

using hipscope::NetEnergy;
using hipscope::number;

namespace {

// Intervals are two errors to either side. A sensor that is wrong throughout is in none of them.
constexpr double confidence_of_two_errors = 0.9;

std::optional<double> value_at(const hipscope::Results& results, const std::string& sweep,
                               const std::string& value, double x) {
  for (const hipscope::CurvePoint& point : results.curve(sweep, value)) {
    if (point.x == x && !std::isnan(point.y)) {
      return point.y;
    }
  }
  return std::nullopt;
}

// In pJ. Where the row did not resolve it, `joules` is 0 or less than two errors.
std::optional<NetEnergy> energy_at(const hipscope::Results& results, const std::string& sweep,
                                   double x, const std::string& value = "energy",
                                   const std::string& error = "error") {
  const auto margin = value_at(results, sweep, error, x);
  if (!margin) {
    return std::nullopt;
  }
  return NetEnergy{.joules = value_at(results, sweep, value, x).value_or(0), .error = *margin};
}

std::string with_error(const NetEnergy& energy, const std::string& unit) {
  return energy.is_resolved()
             ? number(energy.joules, 3) + " +- " + number(energy.error, 2) + " " + unit
             : "not resolved, under " + number(2 * energy.error, 2) + " " + unit;
}

// One thing's energy: of random bits where they were measured, else of what was.
void infer_energy(hipscope::Results& results, const std::string& sweep, std::size_t number_of_thing,
                  const std::string& name) {
  std::optional<NetEnergy> shown;
  Data of = Data::zeros;
  std::vector<std::string> evidence;
  for (const Data data : kinds_of_data) {
    const double x = row_of(number_of_thing, data);
    const auto energy = energy_at(results, sweep, x);
    if (!energy) {
      continue;
    }
    shown = energy;
    of = data;
    std::string line = std::string(name_of(data)) + ": " + with_error(*energy, "pJ");
    const auto added = energy_at(results, sweep, x, "added energy", "added error");
    if (added) {
      line += "; over a board that spins: " + with_error(*added, "pJ");
    }
    if (const auto clock = value_at(results, sweep, "clock", x)) {
      line += "; " + number(*clock, 4) + " MHz";
    }
    evidence.push_back(line);
  }
  if (!shown) {
    return;
  }
  hipscope::Inference inference{.name = name,
                                .unit = "pJ",
                                .statement = "not resolved: less than what the sensor may be off",
                                .evidence = evidence};
  if (shown->is_resolved()) {
    inference.value = shown->joules;
    inference.confidence = confidence_of_two_errors;
    inference.statement = std::string("with ") + name_of(of) + ", net of the idle board";
    inference.interval = {.low = shown->joules - 2 * shown->error,
                          .high = shown->joules + 2 * shown->error};
  }
  results.infer(inference);
}

void infer_power(hipscope::Results& results, double x, const std::string& name,
                 const std::string& statement) {
  const auto power = value_at(results, "power", "power", x);
  const auto error = value_at(results, "power", "power error", x);
  if (!power || !error) {
    return;
  }
  results.infer(
      {.name = name,
       .value = *power,
       .unit = "W",
       .confidence = confidence_of_two_errors,
       .statement = statement,
       .interval = hipscope::Interval{.low = *power - 2 * *error, .high = *power + 2 * *error}});
}

void infer_launch(hipscope::Results& results) {
  const auto energy = energy_at(results, "power", launching_row, "energy", "error");
  if (!energy) {
    return;
  }
  hipscope::Inference inference{
      .name = "energy per launch",
      .unit = "uJ",
      .statement = with_error(*energy, "uJ"),
      .evidence = {"empty kernels, one after the other, net of the idle board"}};
  if (energy->is_resolved()) {
    inference.value = energy->joules;
    inference.confidence = confidence_of_two_errors;
    inference.statement = "of an empty kernel, where launch follows launch";
    inference.interval = {.low = energy->joules - 2 * energy->error,
                          .high = energy->joules + 2 * energy->error};
  }
  results.infer(inference);
}

// Of an FMA with two operands more in registers than another.
void infer_register(hipscope::Results& results) {
  const auto one = energy_at(results, "registers", 1, "added energy", "added error");
  const auto three = energy_at(results, "registers", 2, "added energy", "added error");
  if (!one || !three || !one->is_resolved() || !three->is_resolved()) {
    return;
  }
  constexpr double bytes = 2 * sizeof(float);
  const NetEnergy energy = {.joules = (three->joules - one->joules) / bytes,
                            .error = std::hypot(one->error, three->error) / bytes};
  hipscope::Inference inference{
      .name = "energy per byte from registers",
      .unit = "pJ",
      .statement = with_error(energy, "pJ"),
      .evidence = {"an FMA of one register: " + with_error(*one, "pJ") +
                   ", of three: " + with_error(*three, "pJ") + ", both over a board that spins"}};
  if (energy.is_resolved()) {
    inference.value = energy.joules;
    inference.confidence = confidence_of_two_errors;
    inference.statement = "what two operands of an FMA more take, by their 8 bytes";
    inference.interval = {.low = energy.joules - 2 * energy.error,
                          .high = energy.joules + 2 * energy.error};
  }
  results.infer(inference);
}

void infer_sum(hipscope::Results& results) {
  const auto deviation = value_at(results, "sum", "deviation", predicted_row);
  if (!deviation) {
    return;
  }
  results.infer({.name = "deviation of the sum of energies",
                 .value = *deviation,
                 .unit = "%",
                 .confidence = 1,
                 .statement = "FMAs and LDS bytes per second times their energies, and the board "
                              "that spins, against the power of a kernel of both"});
}

}  // namespace

double deviation_of(double predicted_watts, double measured_watts) {
  return (predicted_watts - measured_watts) / measured_watts;
}

void conclude(hipscope::Results& results, const Things& fmas, const Things& matrix,
              const Things& bytes) {
  infer_power(results, idle_row, "idle power", "nothing runs, the context is open");
  infer_power(results, spinning_row, "launch power",
              "one wave on each SIMD counts: what is paid before any work is done");
  infer_launch(results);
  const auto infer_all = [&](const std::string& sweep, const Things& things,
                             const std::string& prefix) {
    for (std::size_t i = 0; i < things.size(); ++i) {
      infer_energy(results, sweep, i, prefix + things[i]);
    }
  };
  infer_all("fma", fmas, "energy per ");
  infer_all("matrix", matrix, "energy per ");
  infer_register(results);
  infer_all("bytes", bytes, "energy per byte from ");
  infer_sum(results);
}

}  // namespace energy
