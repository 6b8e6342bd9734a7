#include "decoder.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <unordered_map>

#include "disassembly.h"
#include "wave.h"

namespace emulator {
namespace {

const InstructionSet& instruction_set() {
  static const InstructionSet all = [] {
    InstructionSet set;
    add_scalar_instructions(set);
    add_control_instructions(set);
    add_vector_integer_instructions(set);
    add_vector_float_instructions(set);
    add_vector_comparisons(set);
    add_packed_instructions(set);
    add_matrix_instructions(set);
    add_memory_instructions(set);
    return set;
  }();
  return all;
}

// "[1,0,1]" as bits, the first the lowest.
std::uint8_t bits_of_list(std::string_view list) {
  unsigned bits = 0;
  unsigned position = 0;
  for (const char character : list) {
    if (character == '0' || character == '1') {
      bits |= static_cast<unsigned>(character - '0') << position++;
    }
  }
  return static_cast<std::uint8_t>(bits);
}

Part part_of(std::string_view name) {
  static const std::unordered_map<std::string_view, Part> parts = {
      {"BYTE_0", Part::byte_0}, {"BYTE_1", Part::byte_1}, {"BYTE_2", Part::byte_2},
      {"BYTE_3", Part::byte_3}, {"WORD_0", Part::word_0}, {"WORD_1", Part::word_1},
      {"DWORD", Part::dword},
  };
  return parts.at(name);
}

// How a modifier changes an instruction; the value is what follows its colon.
using Modifier = void (*)(Instruction&, std::string_view);

template <auto Instruction::*member>
constexpr Modifier flag() {
  return [](Instruction& instruction, std::string_view) { instruction.*member = true; };
}

template <auto Instruction::*member>
constexpr Modifier numeric() {
  return [](Instruction& instruction, std::string_view value) {
    auto& place = instruction.*member;
    place = static_cast<std::remove_reference_t<decltype(place)>>(number(value));
  };
}

template <auto Instruction::*member>
constexpr Modifier list() {
  return [](Instruction& instruction, std::string_view value) {
    instruction.*member = bits_of_list(value);
  };
}

template <unsigned source>
constexpr Modifier source_part() {
  return [](Instruction& instruction, std::string_view value) {
    instruction.source[source].part = part_of(value);
  };
}

// The lane that each reads from by DPP, or -1: `source` of the lane and of the pattern's number.
template <typename Source>
constexpr Modifier crossing(Source /*source*/) {
  return [](Instruction& instruction, std::string_view value) {
    const int by = value.empty() ? 0 : static_cast<int>(number(value));
    for (int lane = 0; lane < static_cast<int>(wave_size); ++lane) {
      instruction.crossing[static_cast<unsigned>(lane)] =
          static_cast<std::int8_t>(Source{}(lane, by));
    }
  };
}

// "[1,0,3,2]"
void read_quad_permutation(Instruction& instruction, std::string_view value) {
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    const int within = value.at(1 + 2 * std::size_t{lane % 4}) - '0';
    instruction.crossing[lane] = static_cast<std::int8_t>(static_cast<int>(lane & ~3U) + within);
  }
}

void read_rest(Instruction& instruction, std::string_view value) {
  if (value == "UNUSED_SEXT") {
    throw std::runtime_error("the rest of the destination gets the sign");
  }
  instruction.keeps_rest = value == "UNUSED_PRESERVE";
}

void ignore(Instruction& /*instruction*/, std::string_view /*value*/) {}

const std::unordered_map<std::string_view, Modifier> modifiers = {
    // What only hints at caching changes nothing here.
    {"slc", ignore},
    {"scc", ignore},
    {"glc", flag<&Instruction::glc>()},
    {"offen", flag<&Instruction::has_vector_offset>()},
    {"idxen", flag<&Instruction::has_index>()},
    {"clamp", flag<&Instruction::clamp>()},
    {"bound_ctrl", flag<&Instruction::zero_from_outside>()},
    {"offset", numeric<&Instruction::offset>()},
    {"offset0", numeric<&Instruction::offset>()},
    {"offset1", numeric<&Instruction::second_offset>()},
    {"mul", [](Instruction& in, std::string_view by) { in.output_modifier = by == "2" ? 1 : 2; }},
    {"div", [](Instruction& in, std::string_view) { in.output_modifier = 3; }},
    {"op_sel", list<&Instruction::select_low>()},
    {"op_sel_hi", list<&Instruction::select_high>()},
    {"neg_lo", list<&Instruction::negate_low>()},
    {"neg_hi", list<&Instruction::negate_high>()},
    {"dst_sel",
     [](Instruction& in, std::string_view part) { in.destination_part = part_of(part); }},
    {"dst_unused", read_rest},
    {"src0_sel", source_part<0>()},
    {"src1_sel", source_part<1>()},
    {"row_mask", numeric<&Instruction::row_mask>()},
    {"bank_mask", numeric<&Instruction::bank_mask>()},
    {"quad_perm", read_quad_permutation},
    // Vega ISA manual, DPP_CTRL.
    {"row_shl", crossing([](int lane, int by) { return lane % 16 + by < 16 ? lane + by : -1; })},
    {"row_shr", crossing([](int lane, int by) { return lane % 16 >= by ? lane - by : -1; })},
    {"row_ror", crossing([](int lane, int by) { return (lane & ~15) + ((lane - by) & 15); })},
    {"wave_shl", crossing([](int lane, int /*by*/) { return lane < 63 ? lane + 1 : -1; })},
    {"wave_rol", crossing([](int lane, int /*by*/) { return (lane + 1) & 63; })},
    {"wave_shr", crossing([](int lane, int /*by*/) { return lane - 1; })},
    {"wave_ror", crossing([](int lane, int /*by*/) { return (lane - 1) & 63; })},
    {"row_mirror", crossing([](int lane, int /*by*/) { return lane ^ 15; })},
    {"row_half_mirror", crossing([](int lane, int /*by*/) { return lane ^ 7; })},
    {"row_bcast:15", crossing([](int lane, int /*by*/) { return (lane & ~15) - 1; })},
    {"row_bcast:31", crossing([](int lane, int /*by*/) { return lane < 32 ? -1 : 31; })},
};

void read_modifier(std::string_view text, Instruction& instruction) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view value = text.substr(std::min(colon + 1, text.size()));
  auto modifier = modifiers.find(text);
  if (modifier == modifiers.end()) {
    modifier = modifiers.find(text.substr(0, colon));
  }
  if (modifier == modifiers.end()) {
    throw std::runtime_error("modifier " + std::string(text));
  }
  modifier->second(instruction, value);
}

std::vector<Operand> operands_of(const Line& line, Layout layout) {
  std::vector<Operand> operands;
  if (layout == Layout::none || layout == Layout::branch) {
    return operands;
  }
  for (const std::string& text : line.operands) {
    // What these say is read from the encoding.
    if (!text.starts_with("gpr_idx(") && !text.starts_with("hwreg(")) {
      operands.push_back(parse_operand(text));
    }
  }
  return operands;
}

void place_operands(const std::vector<Operand>& operands, Layout layout, Instruction& instruction) {
  std::size_t at = 0;
  const bool has_destination = layout == Layout::destination_first ||
                               layout == Layout::two_destinations ||
                               (layout == Layout::atomic && instruction.glc);
  if (has_destination && !operands.empty()) {
    instruction.destination = operands[at++];
  }
  if (layout == Layout::two_destinations) {
    instruction.second_destination = operands.at(at++);
  }
  const bool is_buffer = instruction.text.starts_with("buffer");
  for (; at < operands.size(); ++at) {
    // An address without a scalar base says "off"; a buffer's, that it has no offset of its own.
    if (operands[at].kind != Operand::Kind::off || is_buffer) {
      // Modifiers may have set the part already.
      const Part part = instruction.source.at(instruction.sources).part;
      instruction.source.at(instruction.sources) = operands[at];
      instruction.source.at(instruction.sources++).part = part;
    }
  }
}

// "s_load_dwordx4 s[0:3], s[4:5], 0x10": a constant third operand is an offset of 21 bits with
// sign.
void finish_scalar_load(Instruction& instruction) {
  instruction.dwords = instruction.destination.count;
  Operand& last = instruction.source[1];
  if (instruction.sources == 2 && last.kind == Operand::Kind::constant) {
    instruction.offset = as_signed(sign_extended(static_cast<Dword>(last.integer & 0x1fffff), 21));
    instruction.sources = 1;
  }
}

void decode_known(const Line& line, const Definition& definition, Instruction& instruction) {
  instruction.run = definition.run;
  instruction.unit = definition.unit;
  const std::vector<Operand> operands = operands_of(line, definition.layout);
  if (line.mnemonic.starts_with("v_fma_mix")) {
    instruction.select_high = 0;  // what is not said there
  }
  if (line.mnemonic.starts_with("v_fma_mixlo") || line.mnemonic.starts_with("v_fma_mixhi")) {
    const bool is_low = line.mnemonic.starts_with("v_fma_mixlo");
    instruction.destination_part = is_low ? Part::word_0 : Part::word_1;
    instruction.keeps_rest = true;
  }
  if (line.mnemonic == "ds_swizzle_b32") {
    instruction.offset = instruction.immediate();
  } else if (definition.layout != Layout::none) {
    for (const std::string& modifier : line.modifiers) {
      read_modifier(modifier, instruction);
    }
  }
  place_operands(operands, definition.layout, instruction);
  if (definition.unit == Unit::scalar_memory) {
    finish_scalar_load(instruction);
  }
  // s_movk_i32 and its like have 16 bits with their sign.
  if (line.mnemonic.starts_with("s_") && line.mnemonic.find("k_") != std::string::npos &&
      line.mnemonic.ends_with("_i32")) {
    instruction.source.at(instruction.sources - 1U).integer = instruction.signed_immediate();
  }
  instruction.is_division_step = line.mnemonic.starts_with("v_div_fmas");
  if (instruction.is_division_step ||
      (line.mnemonic == "v_cndmask_b32" && instruction.sources == 2)) {
    instruction.source.at(instruction.sources++) = parse_operand("vcc");
  }
  const bool is_float = line.mnemonic.ends_with("_f32") || line.mnemonic.ends_with("_f64");
  if ((instruction.output_modifier != 0 || instruction.clamp) && !is_float) {
    throw std::runtime_error("clamp of an integer");
  }
  if (line.mnemonic.starts_with("v_dot") &&
      (instruction.select_low != 0 || (instruction.select_high & 3) != 3 ||
       instruction.negate_low != 0 || instruction.negate_high != 0)) {
    throw std::runtime_error("halves with signs, or in another order");
  }
  instruction.loads_lds = line.mnemonic.ends_with(" lds");
  instruction.selects_lane =
      line.mnemonic == "v_readlane_b32" || line.mnemonic == "v_writelane_b32";
}

void stop_at_unknown(Wave& wave, const Instruction& instruction) {
  wave.stop(instruction, "unknown instruction");
}

Instruction decode_line(Line line) {
  Instruction instruction;
  instruction.text = line.text;
  instruction.address = line.address;
  instruction.encoding = line.encoding;
  instruction.size = static_cast<std::uint8_t>(line.size);
  instruction.is_dpp = line.is_dpp;
  const Instruction bare = instruction;
  const auto makes_another = [&](const std::string& modifier) {
    return instruction_set().contains(line.mnemonic + " " + modifier);
  };
  const auto another = std::ranges::find_if(line.modifiers, makes_another);
  if (another != line.modifiers.end()) {
    line.mnemonic += " " + *another;
    line.modifiers.erase(another);
  }
  const auto definition = instruction_set().find(line.mnemonic);
  try {
    if (definition != instruction_set().end()) {
      decode_known(line, definition->second, instruction);
      return instruction;
    }
  } catch (const std::exception&) {
    // An operand or a modifier that is not known: data between functions disassembles so, too.
  }
  Instruction unknown = bare;
  unknown.run = stop_at_unknown;
  return unknown;
}

void find_targets(std::vector<Instruction>& program) {
  std::unordered_map<Qword, int> at;
  for (std::size_t index = 0; index < program.size(); ++index) {
    at[program[index].address] = static_cast<int>(index);
  }
  for (Instruction& instruction : program) {
    if (instruction.text.starts_with("s_cbranch") || instruction.text.starts_with("s_branch")) {
      const Qword target =
          instruction.address + 4 + as_bits(std::int64_t{instruction.signed_immediate()} * 4);
      const auto found = at.find(target);
      instruction.target = found == at.end() ? -1 : found->second;
    }
  }
}

}  // namespace

std::vector<Instruction> decode(std::string_view disassembly) {
  std::vector<Instruction> program;
  while (!disassembly.empty()) {
    const std::size_t end = std::min(disassembly.find('\n'), disassembly.size() - 1);
    std::string_view text = disassembly.substr(0, end + 1);
    if (text.ends_with('\n')) {
      text.remove_suffix(1);
    }
    if (std::optional<Line> line = read_line(text)) {
      program.push_back(decode_line(std::move(*line)));
    }
    disassembly.remove_prefix(end + 1);
  }
  find_targets(program);
  return program;
}

}  // namespace emulator
