#include "findings.h"

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

// One thing's energy: of random bits where they were measured, else of what was. `base` is what is
// taken off.
void infer_energy(hipscope::Results& results, const std::string& sweep, std::size_t number_of_thing,
                  const std::string& name, const std::string& base) {
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
    inference.statement = std::string("with ") + name_of(of) + ", net of " + base;
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

// What FMAs with two operands from other registers each time take more than those with fewer.
// NVIDIA reads one register less, 4 bytes, where one of the two is the same, which a cache keeps;
// where both are, FMAs come faster, and what is paid per second would be in the difference. AMD has
// no such cache, but a scalar register for all lanes: 8 bytes less. Random bits, the same
// everywhere, are the value; zeros are beside it.
void infer_register(hipscope::Results& results) {
  const bool has_operand_cache = results.device().architecture.starts_with("sm_");
  const double bytes = (has_operand_cache ? 1 : 2) * sizeof(float);
  const std::string name =
      difference_name(has_operand_cache ? Operands::one_other : Operands::shared);
  const auto more = [&](double x) -> std::optional<NetEnergy> {
    const auto joules = value_at(results, "registers", name, x);
    const auto error = value_at(results, "registers", name + " error", x);
    return joules && error
               ? std::optional(NetEnergy{.joules = *joules / bytes, .error = *error / bytes})
               : std::nullopt;
  };
  const auto energy = more(row_of(Operands::two_others, Data::random));
  if (!energy) {
    return;
  }
  hipscope::Inference inference{
      .name = "energy per byte from registers",
      .unit = "pJ",
      .statement = with_error(*energy, "pJ"),
      .evidence = {"random bits, the same in all registers: " + with_error(*energy, "pJ")}};
  if (const auto zeros = more(row_of(Operands::two_others, Data::zeros))) {
    inference.evidence.push_back("zeros: " + with_error(*zeros, "pJ"));
  }
  if (const auto most = more(row_of(other_bits_row, Data::random))) {
    inference.evidence.push_back("bits that change each time, the multiplier's share in it: " +
                                 with_error(*most, "pJ"));
  }
  if (energy->is_resolved()) {
    inference.value = energy->joules;
    inference.confidence = confidence_of_two_errors;
    inference.statement = has_operand_cache
                              ? "what one more operand of an FMA takes that is read from another "
                                "register each time, by its 4 bytes"
                              : "what two operands of an FMA from vector registers take more than "
                                "from a scalar one, by their 8 bytes";
    inference.interval = {.low = energy->joules - 2 * energy->error,
                          .high = energy->joules + 2 * energy->error};
  }
  results.infer(inference);
}

}  // namespace

double deviation_of(double predicted_watts, double measured_watts) {
  return (predicted_watts - measured_watts) / measured_watts;
}

void conclude(hipscope::Results& results, const Things& fmas, const Things& matrix,
              const Things& bytes, const Things& peers) {
  infer_power(results, idle_row, "idle power", "nothing runs, the context is open");
  infer_power(results, spinning_row, "launch power",
              "one wave on each SIMD counts: what is paid before any work is done");
  infer_launch(results);
  const auto infer_all = [&](const std::string& sweep, const Things& things,
                             const std::string& prefix,
                             const std::string& base = "the idle board") {
    for (std::size_t i = 0; i < things.size(); ++i) {
      infer_energy(results, sweep, i, prefix + things[i], base);
    }
  };
  infer_all("fma", fmas, "energy per ");
  infer_all("matrix", matrix, "energy per ");
  infer_register(results);
  infer_all("bytes", bytes, "energy per byte from ");
  infer_all("peer", peers, "energy per byte, ", "both idle boards");
}

}  // namespace energy
