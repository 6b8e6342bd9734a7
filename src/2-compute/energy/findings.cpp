#include "findings.h"

#include <optional>
#include <string>

#include "hipscope/format.h"
#include "hipscope/mean_power.h"

namespace energy {

using hipscope::NetEnergy;
using hipscope::number;

namespace {

// Intervals are two errors to either side. A sensor that is wrong throughout is in none of them.
constexpr double confidence_of_two_errors = 0.9;

// In pJ. Where the row did not resolve it, `joules` is 0 or less than two errors.
std::optional<NetEnergy> energy_at(const hipscope::Results& results, const std::string& sweep,
                                   double x, const std::string& value = "energy",
                                   const std::string& error = "error") {
  const auto joules = results.at(sweep, value, x);
  const auto margin = results.at(sweep, error, x);
  return margin ? std::optional(NetEnergy{.joules = joules ? joules->y : 0, .error = margin->y})
                : std::nullopt;
}

std::string with_error(const NetEnergy& energy) {
  return energy.is_resolved() ? number(energy.joules, 3) + " +- " + number(energy.error, 2) + " pJ"
                              : "not resolved, under " + number(2 * energy.error, 2) + " pJ";
}

// Adds the energy to what the inference says already, its statement if there is a value.
void infer_energy(hipscope::Results& results, hipscope::Inference inference,
                  const NetEnergy& energy) {
  inference.unit = "pJ";
  if (energy.is_resolved()) {
    inference.value = energy.joules;
    inference.confidence = confidence_of_two_errors;
    inference.interval = {.low = energy.joules - 2 * energy.error,
                          .high = energy.joules + 2 * energy.error};
  } else {
    inference.statement = with_error(energy);
  }
  results.infer(inference);
}

// One thing's energy: of random bits where they were measured, else of what was. `base` is what is
// taken off.
void infer_thing(hipscope::Results& results, const std::string& sweep, std::size_t number_of_thing,
                 const std::string& name, const std::string& base) {
  std::optional<NetEnergy> shown;
  hipscope::Inference inference{.name = name};
  for (const Data data : kinds_of_data) {
    if (const auto energy = energy_at(results, sweep, row_of(number_of_thing, data))) {
      shown = energy;
      inference.statement = std::string("with ") + name_of(data) + ", net of " + base;
      inference.evidence.push_back(std::string(name_of(data)) + ": " + with_error(*energy));
    }
  }
  if (shown) {
    infer_energy(results, inference, *shown);
  }
}

void infer_idle_power(hipscope::Results& results) {
  const auto power = results.at("power", "power", idle_row);
  const auto error = results.at("power", "power error", idle_row);
  if (power && error) {
    results.infer({.name = "idle power",
                   .value = power->y,
                   .unit = "W",
                   .confidence = confidence_of_two_errors,
                   .statement = "nothing runs, the context is open",
                   .interval = hipscope::Interval{.low = power->y - 2 * error->y,
                                                  .high = power->y + 2 * error->y}});
  }
}

// What FMAs with two operands from other registers each time take more than those with fewer.
// NVIDIA reads one register less, 4 bytes, where one of the two is the same, which a cache keeps;
// where both are, FMAs come faster, and what is paid per second would be in the difference. AMD has
// no such cache, but a scalar register for all lanes: 8 bytes less. Random bits, the same
// everywhere, are the value; zeros are beside it.
void infer_register(hipscope::Results& results) {
  const bool has_operand_cache = results.device().architecture.starts_with("sm_");
  const double bytes = (has_operand_cache ? 1.0 : 2.0) * sizeof(float);
  const std::string name =
      difference_name(has_operand_cache ? Operands::one_other : Operands::shared);
  hipscope::Inference inference{
      .name = "energy per byte from registers",
      .statement = has_operand_cache
                       ? "what one more operand of an FMA takes that is read from another "
                         "register each time, by its 4 bytes"
                       : "what two operands of an FMA from vector registers take more than from a "
                         "scalar one, by their 8 bytes"};
  const auto more = [&](double x, const std::string& what) {
    auto energy = energy_at(results, "registers", x, name, name + " error");
    if (energy) {
      energy = {.joules = energy->joules / bytes, .error = energy->error / bytes};
      inference.evidence.push_back(what + ": " + with_error(*energy));
    }
    return energy;
  };
  const auto energy =
      more(row_of(Operands::two_others, Data::random), "random bits, the same in all registers");
  more(row_of(Operands::two_others, Data::zeros), "zeros");
  more(row_of(other_bits_row, Data::random),
       "bits that change each time, the multiplier's share in it");
  if (energy) {
    infer_energy(results, inference, *energy);
  }
}

}  // namespace

void conclude(hipscope::Results& results, const Things& fmas, const Things& matrix,
              const Things& bytes, const Things& peers) {
  infer_idle_power(results);
  const auto infer_all = [&](const std::string& sweep, const Things& things,
                             const std::string& prefix,
                             const std::string& base = "the idle board") {
    for (std::size_t i = 0; i < things.size(); ++i) {
      infer_thing(results, sweep, i, prefix + things[i], base);
    }
  };
  infer_all("fma", fmas, "energy per ");
  infer_all("matrix", matrix, "energy per ");
  infer_register(results);
  infer_all("bytes", bytes, "energy per byte from ");
  infer_all("peer", peers, "energy per byte, ", "both idle boards");
}

}  // namespace energy
