// What energy concludes from its rows. Plain C++, no GPU headers.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "hipscope/experiment.h"

namespace energy {

/// What operands, or the bytes that are moved, hold.
enum class Data { zeros, integers, random };
inline constexpr std::array kinds_of_data = {Data::zeros, Data::integers, Data::random};
inline constexpr const char* name_of(Data data) {
  return data == Data::zeros ? "zeros" : data == Data::integers ? "small integers" : "random bits";
}

/// The x of the row of thing `number`, counted from 0, with such data: sweeps of things have three
/// rows for each, some of which may not be there.
inline double row_of(std::size_t number, Data data) {
  return static_cast<double>(kinds_of_data.size() * number + static_cast<std::size_t>(data) + 1);
}

/// The row of sweep "power" with the idle board.
inline constexpr double idle_row = 1;

/// Where two of the three operands of sweep "registers" come from: what all lanes share, the same
/// two registers in every FMA, one of them another each time, or both. Its rows are things of these
/// numbers; one more has registers that hold different bits.
enum class Operands { shared, same, one_other, two_others };
inline constexpr std::array kinds_of_operands = {Operands::shared, Operands::same,
                                                 Operands::one_other, Operands::two_others};
inline constexpr std::size_t other_bits_row = kinds_of_operands.size();
inline constexpr const char* name_of(Operands from) {
  constexpr std::array names = {"shared by all lanes", "the same two registers",
                                "one other each time", "two others each time"};
  return names.at(static_cast<std::size_t>(from));
}
inline double row_of(Operands from, Data data) {
  return row_of(static_cast<std::size_t>(from), data);
}

/// The value that tells what an FMA takes more than one of the same data with operands from there.
inline std::string difference_name(Operands from) {
  constexpr std::array names = {"over shared", "over same", "over one other"};
  return names.at(static_cast<std::size_t>(from));
}

/// What the rows of a sweep are of: "FP32 FMA", "L2".
using Things = std::vector<std::string>;

/// Power of the idle board (sweep "power": "power", "power error"), energy per FMA (sweeps "fma",
/// "matrix": "energy", "error"), per byte ("bytes"; "peer", of both boards), and of a register's
/// byte ("registers": "over shared", "over same", "over one other" and their errors: pJ that an FMA
/// takes more than the one of the same data whose operands come from there). A net energy that is
/// less than twice its error is not resolved: nothing is said but how small it is. Sweeps that were
/// left out, or had no sensor, say nothing.
void conclude(hipscope::Results& results, const Things& fmas, const Things& matrix,
              const Things& bytes, const Things& peers);

}  // namespace energy
