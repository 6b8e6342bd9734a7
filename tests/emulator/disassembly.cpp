#include "disassembly.h"

#include <cctype>
#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <unordered_map>

namespace emulator {
namespace {

// Without blanks and tabs around it.
std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

bool take_ending(std::string& text, std::string_view ending) {
  if (!text.ends_with(ending) || text.size() == ending.size()) {
    return false;
  }
  text.resize(text.size() - ending.size());
  return true;
}

// The comment of a line: "// 000000001234: 7E000280 00000000 <label>".
bool read_comment(std::string_view comment, Line& line) {
  const std::size_t colon = comment.find(':');
  if (colon == std::string_view::npos) {
    return false;
  }
  const std::string_view address = trimmed(comment.substr(0, colon));
  if (std::from_chars(address.data(), address.data() + address.size(), line.address, 16).ec !=
      std::errc{}) {
    return false;
  }
  std::string_view rest = trimmed(comment.substr(colon + 1));
  while (!rest.empty() && rest.front() != '<') {
    const std::string_view word = rest.substr(0, rest.find(' '));
    if (line.size == 0) {
      std::from_chars(word.data(), word.data() + word.size(), line.encoding, 16);
    }
    line.size += 4;
    rest = trimmed(rest.substr(word.size()));
  }
  return line.size > 0;
}

// The first word; brackets keep together what is in them.
std::string_view first_word(std::string_view text) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '[' || text[at] == '(') {
      ++depth;
    } else if (text[at] == ']' || text[at] == ')') {
      --depth;
    } else if (text[at] == ' ' && depth == 0) {
      return text.substr(0, at);
    }
  }
  return text;
}

// Cuts at commas outside brackets. What follows the last operand are modifiers.
void read_operands(std::string_view text, Line& line) {
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '[' || text[at] == '(') {
      ++depth;
    } else if (text[at] == ']' || text[at] == ')') {
      --depth;
    } else if (text[at] == ',' && depth == 0) {
      line.operands.emplace_back(trimmed(text.substr(begin, at - begin)));
      begin = at + 1;
    }
  }
  std::string_view last = trimmed(text.substr(begin));
  for (bool is_operand = true; !last.empty(); is_operand = false) {
    const std::string_view word = first_word(last);
    (is_operand ? line.operands : line.modifiers).emplace_back(word);
    last = trimmed(last.substr(word.size()));
  }
}

struct NamedRegister {
  unsigned index;
  unsigned count;
};

const std::unordered_map<std::string_view, NamedRegister> named_registers = {
    {"vcc", {scalar::vcc, 2}},
    {"vcc_lo", {scalar::vcc, 1}},
    {"vcc_hi", {scalar::vcc + 1, 1}},
    {"exec", {scalar::exec, 2}},
    {"exec_lo", {scalar::exec, 1}},
    {"exec_hi", {scalar::exec + 1, 1}},
    {"m0", {scalar::m0, 1}},
    {"flat_scratch", {scalar::flat_scratch, 2}},
    {"flat_scratch_lo", {scalar::flat_scratch, 1}},
    {"flat_scratch_hi", {scalar::flat_scratch + 1, 1}},
    {"xnack_mask", {scalar::xnack_mask, 2}},
    {"xnack_mask_lo", {scalar::xnack_mask, 1}},
    {"xnack_mask_hi", {scalar::xnack_mask + 1, 1}},
};

const std::unordered_map<std::string_view, Special> special_registers = {
    {"scc", Special::scc},
    {"src_scc", Special::scc},
    {"vccz", Special::vccz},
    {"src_vccz", Special::vccz},
    {"execz", Special::execz},
    {"src_execz", Special::execz},
    {"src_shared_base", Special::shared_base},
    {"src_shared_limit", Special::shared_limit},
    {"src_private_base", Special::private_base},
    {"src_private_limit", Special::private_limit},
};

// "v7", "s[2:3]", "a[0:15]", "ttmp8".
bool read_register(std::string_view text, Operand& operand) {
  if (const auto named = named_registers.find(text); named != named_registers.end()) {
    operand.kind = Operand::Kind::scalar;
    operand.index = static_cast<std::uint16_t>(named->second.index);
    operand.count = static_cast<std::uint8_t>(named->second.count);
    return true;
  }
  if (const auto special = special_registers.find(text); special != special_registers.end()) {
    operand.kind = Operand::Kind::special;
    operand.special = special->second;
    return true;
  }
  const bool is_trap = text.starts_with("ttmp");
  const char file = text.empty() ? ' ' : text.front();
  if (!is_trap && file != 'v' && file != 's' && file != 'a') {
    return false;
  }
  std::string_view numbers = text.substr(is_trap ? 4 : 1);
  if (numbers.starts_with('[') && numbers.ends_with(']')) {
    numbers = numbers.substr(1, numbers.size() - 2);
  }
  if (numbers.empty() || std::isdigit(static_cast<unsigned char>(numbers.front())) == 0) {
    return false;
  }
  const std::size_t colon = numbers.find(':');
  const auto first = static_cast<unsigned>(number(numbers.substr(0, colon)));
  const auto last = colon == std::string_view::npos
                        ? first
                        : static_cast<unsigned>(number(numbers.substr(colon + 1)));
  const unsigned base = is_trap ? scalar::trap_temporary : file == 'a' ? first_accumulator : 0;
  operand.kind = file == 's' || is_trap ? Operand::Kind::scalar : Operand::Kind::vector;
  operand.index = static_cast<std::uint16_t>(base + first);
  operand.count = static_cast<std::uint8_t>(last - first + 1);
  return true;
}

// Takes PREFIX and the character at the end away.
bool take_around(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) {
    return false;
  }
  text = text.substr(prefix.size(), text.size() - prefix.size() - 1);
  return true;
}

}  // namespace

std::int64_t number(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const std::int64_t value = copy.starts_with("0x")
                                 ? static_cast<std::int64_t>(std::strtoull(copy.c_str(), &end, 16))
                                 : std::strtoll(copy.c_str(), &end, 10);
  if (end == copy.c_str() || *end != '\0') {
    throw std::runtime_error("operand " + copy);
  }
  return value;
}

std::optional<Line> read_line(std::string_view text) {
  const std::size_t comment = text.find("// ");
  if (text.empty() || text.front() != '\t' || comment == std::string_view::npos) {
    return std::nullopt;
  }
  Line line;
  if (!read_comment(text.substr(comment + 3), line)) {
    return std::nullopt;
  }
  const std::string_view body = trimmed(text.substr(0, comment));
  line.text = body;
  line.mnemonic = body.substr(0, body.find(' '));
  const std::string_view operands = body.substr(line.mnemonic.size());
  if (!take_ending(line.mnemonic, "_e32")) {
    take_ending(line.mnemonic, "_e64");
  }
  take_ending(line.mnemonic, "_sdwa");
  line.is_dpp = take_ending(line.mnemonic, "_dpp");
  read_operands(operands, line);
  return line;
}

Operand parse_operand(std::string_view text) {
  Operand operand;
  text = trimmed(text);
  if (text == "off" || text == "null") {
    operand.kind = Operand::Kind::off;
    return operand;
  }
  operand.sign_extend = take_around(text, "sext(");
  operand.negate = take_around(text, "neg(");
  // LLVM 22 names a literal so where an inline constant would say the same.
  const bool is_named = take_around(text, "lit(");
  Operand probe;
  if (text.starts_with("-|") || (text.starts_with('-') && read_register(text.substr(1), probe))) {
    operand.negate = true;
    text.remove_prefix(1);
  }
  operand.absolute = take_around(text, "|");
  if (read_register(text, operand)) {
    return operand;
  }
  operand.kind = Operand::Kind::constant;
  if (text.find('.') != std::string_view::npos) {
    operand.is_float = true;
    // 1 / (2 pi) is a constant of its own, of which the disassembly shows eight digits.
    operand.floating = text.starts_with("0.1591549")
                           ? 0.15915494309189532
                           : std::strtod(std::string(text).c_str(), nullptr);
  } else {
    operand.is_literal = is_named || text.starts_with("0x");
    operand.integer = number(text);
  }
  return operand;
}

}  // namespace emulator
