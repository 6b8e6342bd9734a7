// Makes the definition of an instruction from a lambda that says what it does to the values of its
// sources, which are read, and whose result is written, as the lambda's types say.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "operands.h"

namespace emulator {

// The types of sources: of one register std::int32_t, Dword, float and 16 bits; of two
// std::int64_t, Qword and double; and these:

/// A dword whose sign may be changed as that of a float.
struct FloatBits {
  Dword bits;
};
/// The lane's number, which no operand says.
struct LaneNumber {
  Dword value;
};
/// `bool` is the lane's bit of a mask. A source too many is what the destination holds.

/// A result, and the lane's bit of the mask that is the second destination.
template <typename Value>
struct WithMask {
  Value value;
  bool bit;
};

namespace detail {

template <typename Value>
using Bits = std::conditional_t<sizeof(Value) == sizeof(Qword), Qword, Dword>;

template <typename Value>
Value from_bits(Bits<Value> bits) {
  if constexpr (std::is_same_v<Value, bool>) {
    return bits != 0;
  } else if constexpr (sizeof(Value) == 2) {
    return std::bit_cast<Value>(static_cast<std::uint16_t>(bits));
  } else {
    return std::bit_cast<Value>(bits);
  }
}

template <typename Value>
Bits<Value> to_bits(Value value) {
  if constexpr (sizeof(Value) == 2) {
    return std::bit_cast<std::uint16_t>(value);
  } else {
    return std::bit_cast<Bits<Value>>(value);
  }
}

template <typename Value>
struct Space {
  // It is not filled first.
  // NOLINTNEXTLINE(modernize-use-equals-default)
  Space() {}
  std::array<Bits<Value>, wave_size> lanes;
};

template <typename Value>
const Bits<Value>* read(Wave& wave, const Instruction& instruction, unsigned number,
                        Space<Value>& space) {
  constexpr bool is_float = std::is_floating_point_v<Value> || std::is_same_v<Value, FloatBits>;
  if constexpr (std::is_same_v<Value, LaneNumber>) {
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      space.lanes[lane] = lane;
    }
    return space.lanes.data();
  } else if constexpr (std::is_same_v<Value, bool>) {
    const Qword mask = scalar_source_of_64(wave, instruction, number);
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      space.lanes[lane] = mask >> lane & 1;
    }
    return space.lanes.data();
  } else if constexpr (sizeof(Value) == sizeof(Qword)) {
    return vector_source_of_64(wave, instruction, number, space.lanes, is_float);
  } else {
    if (std::is_same_v<Value, _Float16> && operand_of(instruction, number).is_float) {
      wave.stop(instruction, "a constant of half precision is not known here");
    }
    return vector_source(wave, instruction, number, space.lanes, is_float);
  }
}

template <typename Value>
struct Output {
  static constexpr Layout layout = Layout::destination_first;
  std::array<Bits<Value>, wave_size> lanes;

  void set(unsigned lane, Value value) { lanes[lane] = to_bits(value); }
  void write(Wave& wave, const Instruction& instruction) {
    if constexpr (std::is_floating_point_v<Value>) {
      if (modifies(instruction)) {
        for (auto& bits : lanes) {
          bits = bits_of(modified(instruction, from_bits<Value>(bits)));
        }
      }
    }
    set_vector(wave, instruction, lanes);
  }
};

template <>
struct Output<bool> {
  static constexpr Layout layout = Layout::destination_first;
  Qword mask = 0;

  void set(unsigned lane, bool bit) { mask |= Qword{bit} << lane; }
  void write_to(Wave& wave, const Operand& destination) const {
    wave.set_pair(destination.index, mask & wave.exec());
  }
  void write(Wave& wave, const Instruction& instruction) const {
    write_to(wave, instruction.destination);
  }
};

template <typename Value>
struct Output<WithMask<Value>> {
  static constexpr Layout layout = Layout::two_destinations;
  Output<Value> values;
  Output<bool> mask;

  void set(unsigned lane, WithMask<Value> value) {
    values.set(lane, value.value);
    mask.set(lane, value.bit);
  }
  void write(Wave& wave, const Instruction& instruction) {
    values.write(wave, instruction);
    mask.write_to(wave, instruction.second_destination);
  }
};

template <typename Operation, typename Result, typename... Arguments>
Result result_of(Result (Operation::*)(Arguments...) const);

template <typename Result, typename... Sources, typename Call>
void for_lanes(Wave& wave, const Instruction& instruction, Call call) {
  [&]<std::size_t... number>(std::index_sequence<number...>) {
    std::tuple<Space<Sources>...> space;
    const std::tuple<const Bits<Sources>*...> source{
        read<Sources>(wave, instruction, number, std::get<number>(space))...};
    Output<Result> output;
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      output.set(lane, call(from_bits<Sources>(std::get<number>(source)[lane])...));
    }
    output.write(wave, instruction);
  }
  (std::index_sequence_for<Sources...>{});
}

template <typename Operation, typename Result, typename... Sources>
void run_vector(Wave& wave, const Instruction& instruction,
                Result (Operation::* /*call*/)(Sources...) const) {
  for_lanes<Result, Sources...>(wave, instruction, Operation{});
}

template <typename Value>
Value read_scalar(Wave& wave, const Instruction& instruction, unsigned number) {
  if constexpr (sizeof(Value) == sizeof(Qword)) {
    return std::bit_cast<Value>(scalar_source_of_64(wave, instruction, number));
  } else {
    return std::bit_cast<Value>(scalar_source(wave, instruction, number));
  }
}

template <typename Result>
void write_scalar(Wave& wave, const Instruction& instruction, Result result) {
  if constexpr (std::is_same_v<Result, bool>) {
    wave.scc = result;
  } else if constexpr (sizeof(Result) == sizeof(Qword)) {
    set_scalar_of_64(wave, instruction, static_cast<Qword>(result));
  } else {
    set_scalar(wave, instruction, static_cast<Dword>(result));
  }
}

template <typename... Sources, typename Call>
auto call_scalar(Wave& wave, const Instruction& instruction, Call call) {
  return [&]<std::size_t... number>(std::index_sequence<number...>) {
    const auto result = call(read_scalar<Sources>(wave, instruction, number)...);
    write_scalar(wave, instruction, result);
    return result;
  }
  (std::index_sequence_for<Sources...>{});
}

template <typename Operation, typename Result, typename... Sources>
auto run_scalar(Wave& wave, const Instruction& instruction,
                Result (Operation::* /*call*/)(Sources...) const) {
  return call_scalar<Sources...>(wave, instruction, Operation{});
}
template <typename Operation, typename Result, typename... Sources>
auto run_scalar(Wave& wave, const Instruction& instruction,
                Result (Operation::* /*call*/)(bool&, Sources...) const) {
  return call_scalar<Sources...>(
      wave, instruction, [&](Sources... sources) { return Operation{}(wave.scc, sources...); });
}

}  // namespace detail

/// An instruction of the vector unit, by what it does in a lane.
template <typename Operation>
Definition vector_unit(Operation /*operation*/) {
  using Result = decltype(detail::result_of(&Operation::operator()));
  return {Unit::vector, detail::Output<Result>::layout,
          [](Wave& wave, const Instruction& instruction) {
            detail::run_vector(wave, instruction, &Operation::operator());
          }};
}

/// An instruction of the scalar unit. A `bool` that is returned is SCC; so is a first argument,
/// which may be changed.
template <typename Operation>
Definition scalar_unit(Operation /*operation*/) {
  using Result = decltype(detail::result_of(&Operation::operator()));
  return {Unit::scalar, std::is_same_v<Result, bool> ? Layout::sources : Layout::destination_first,
          [](Wave& wave, const Instruction& instruction) {
            detail::run_scalar(wave, instruction, &Operation::operator());
          }};
}

/// One whose result, if it is not 0, sets SCC.
template <typename Operation>
Definition with_scc(Operation /*operation*/) {
  return {Unit::scalar, Layout::destination_first, [](Wave& wave, const Instruction& instruction) {
            wave.scc = detail::run_scalar(wave, instruction, &Operation::operator()) != 0;
          }};
}

}  // namespace emulator
