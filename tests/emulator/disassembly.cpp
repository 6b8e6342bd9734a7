#include "disassembly.h"

#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <system_error>

namespace emulator {
namespace {

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

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

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

}  // namespace emulator
