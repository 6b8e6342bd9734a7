#include "decoder.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <unordered_map>

#include "disassembly.h"
#include "parse_operand.h"
#include "wave.h"

namespace emulator {
namespace {

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

bool read_crossing(std::string_view name, std::string_view value, Instruction& instruction) {
  static const std::unordered_map<std::string_view, Crossing> crossings = {
      {"quad_perm", Crossing::quad_perm},    {"row_shl", Crossing::row_shl},
      {"row_shr", Crossing::row_shr},        {"row_ror", Crossing::row_ror},
      {"wave_shl", Crossing::wave_shl},      {"wave_rol", Crossing::wave_rol},
      {"wave_shr", Crossing::wave_shr},      {"wave_ror", Crossing::wave_ror},
      {"row_mirror", Crossing::row_mirror},  {"row_half_mirror", Crossing::row_half_mirror},
      {"row_bcast", Crossing::row_bcast_15},
  };
  const auto crossing = crossings.find(name);
  if (crossing == crossings.end()) {
    return false;
  }
  instruction.crossing = crossing->second;
  if (name == "quad_perm") {
    for (std::size_t lane = 0; lane < 4; ++lane) {
      instruction.crossing_argument[lane] = static_cast<std::uint8_t>(value.at(1 + 2 * lane) - '0');
    }
  } else if (name == "row_bcast") {
    instruction.crossing = value == "15" ? Crossing::row_bcast_15 : Crossing::row_bcast_31;
  } else if (!value.empty()) {
    instruction.crossing_argument[0] = static_cast<std::uint8_t>(number(value));
  }
  return true;
}

// Modifiers that are words alone. What only hints at caching changes nothing here.
bool read_word(std::string_view word, Instruction& instruction) {
  if (word == "glc") {
    instruction.glc = true;
  } else if (word == "offen") {
    instruction.has_vector_offset = true;
  } else if (word == "idxen") {
    instruction.has_index = true;
  } else if (word == "clamp") {
    instruction.clamp = true;
  } else if (word != "slc" && word != "scc" && word != "row_mirror" && word != "row_half_mirror") {
    return false;
  }
  return true;
}

void read_modifier(const std::string& modifier, Instruction& instruction) {
  const std::size_t colon = modifier.find(':');
  const std::string_view name = std::string_view(modifier).substr(0, colon);
  const std::string_view value =
      colon == std::string::npos ? "" : std::string_view(modifier).substr(colon + 1);
  const auto byte = [&] { return static_cast<std::uint8_t>(number(value)); };
  if (read_crossing(name, value, instruction) || read_word(modifier, instruction)) {
    return;
  }
  if (name == "offset" || name == "offset0") {
    instruction.offset = static_cast<std::int32_t>(number(value));
  } else if (name == "offset1") {
    instruction.second_offset = static_cast<std::int32_t>(number(value));
  } else if (name == "mul") {
    instruction.output_modifier = value == "2" ? 1 : 2;
  } else if (name == "div") {
    instruction.output_modifier = 3;
  } else if (name == "op_sel") {
    instruction.select_low = bits_of_list(value);
  } else if (name == "op_sel_hi") {
    instruction.select_high = bits_of_list(value);
  } else if (name == "neg_lo") {
    instruction.negate_low = bits_of_list(value);
  } else if (name == "neg_hi") {
    instruction.negate_high = bits_of_list(value);
  } else if (name == "dst_sel") {
    instruction.destination_part = part_of(value);
  } else if (name == "dst_unused" && value != "UNUSED_SEXT") {
    instruction.keeps_rest = value == "UNUSED_PRESERVE";
  } else if (name == "src0_sel") {
    instruction.source[0].part = part_of(value);
  } else if (name == "src1_sel") {
    instruction.source[1].part = part_of(value);
  } else if (name == "row_mask") {
    instruction.row_mask = byte();
  } else if (name == "bank_mask") {
    instruction.bank_mask = byte();
  } else if (name == "bound_ctrl") {
    instruction.zero_from_outside = true;
  } else {
    throw std::runtime_error("modifier " + modifier);
  }
}

std::vector<Operand> operands_of(const Line& line, Layout layout) {
  std::vector<Operand> operands;
  if (layout == Layout::none || layout == Layout::branch) {
    return operands;
  }
  for (const std::string& text : line.operands) {
    // What gpr_idx() and hwreg() say is read from the encoding.
    if (!text.starts_with("gpr_idx(")) {
      operands.push_back(parse_operand(text));
    }
    if (layout == Layout::register_and_immediate) {
      break;
    }
  }
  return operands;
}

void place_operands(const std::vector<Operand>& operands, Layout layout, Instruction& instruction) {
  std::size_t at = 0;
  const bool has_destination =
      layout == Layout::destination_first || layout == Layout::two_destinations ||
      layout == Layout::register_and_immediate || (layout == Layout::atomic && instruction.glc);
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
  if (line.mnemonic == "v_cndmask_b32" && instruction.sources == 2) {
    instruction.source[instruction.sources++] = parse_operand("vcc");
  }
  const bool is_float = line.mnemonic.ends_with("_f32") || line.mnemonic.ends_with("_f64");
  const bool may_saturate = is_float || line.mnemonic == "v_add_u32" ||
                            line.mnemonic == "v_sub_u32" || line.mnemonic == "v_subrev_u32";
  if (instruction.output_modifier != 0 ? !is_float : instruction.clamp && !may_saturate) {
    throw std::runtime_error("clamp of an integer");
  }
  instruction.is_division_step = line.mnemonic.starts_with("v_div_fmas");
  instruction.loads_lds = line.mnemonic.ends_with(" lds");
  instruction.selects_lane =
      line.mnemonic == "v_readlane_b32" || line.mnemonic == "v_writelane_b32";
}

void stop_at_unknown(Wave& wave, const Instruction& instruction) {
  wave.stop(instruction, "unknown instruction");
}

Instruction decode_line(const Line& line) {
  Instruction instruction;
  instruction.text = line.text;
  instruction.address = line.address;
  instruction.encoding = line.encoding;
  instruction.size = static_cast<std::uint8_t>(line.size);
  instruction.is_sdwa = line.is_sdwa;
  instruction.is_dpp = line.is_dpp;
  const Instruction bare = instruction;
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
    if (const std::optional<Line> line = read_line(text)) {
      program.push_back(decode_line(*line));
    }
    disassembly.remove_prefix(end + 1);
  }
  find_targets(program);
  return program;
}

}  // namespace emulator
