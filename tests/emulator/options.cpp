#include "options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <sstream>
#include <stdexcept>

namespace emulator {
namespace {

constexpr unsigned most_units = 256;
constexpr std::array<std::string_view, 3> targets = {"gfx906", "gfx908", "gfx90a"};

[[noreturn]] void refuse(const std::string& word, const std::string& why) {
  throw std::invalid_argument("HIPSCOPE_EMULATOR: '" + word + "' " + why);
}

template <typename Number>
Number number(const std::string& word, std::string_view text, Number least, Number most) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most) {
    refuse(word, "needs a number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

const std::map<std::string_view, bool Options::*> flags = {
    {"shuffle", &Options::shuffle},         {"late-stores", &Options::late_stores},
    {"stale-l1", &Options::stale_l1},       {"still-counter", &Options::still_counter},
    {"still-timer", &Options::still_timer}, {"trace", &Options::trace},
    {"conflicts", &Options::conflicts},
};

void set_drop(Options& options, const std::string& word, const std::string& value) {
  const std::size_t first = value.find(':');
  const std::size_t second = first == std::string::npos ? first : value.find(':', first + 1);
  if (second == std::string::npos) {
    refuse(word, "is not drop=KERNEL:INSTRUCTION:N");
  }
  options.drop_kernel = value.substr(0, first);
  options.drop_instruction = value.substr(first + 1, second - first - 1);
  options.drop_index = number(word, std::string_view(value).substr(second + 1), -1, 1 << 20);
}

}  // namespace

Options parse_options(std::string_view words) {
  Options options;
  std::istringstream stream{std::string(words)};
  for (std::string word; stream >> word;) {
    const std::size_t equal = std::min(word.find('='), word.size());
    const std::string name = word.substr(0, equal);
    const std::string value = word.substr(std::min(equal + 1, word.size()));
    if (const auto flag = flags.find(word); flag != flags.end()) {
      options.*flag->second = true;
    } else if (name == "target") {
      if (std::ranges::find(targets, value) == targets.end()) {
        refuse(word, "is no target that is emulated: gfx906, gfx908 or gfx90a");
      }
      options.target = value;
    } else if (name == "units") {
      options.units = number(word, value, 1U, most_units);
    } else if (name == "seed") {
      options.seed = number(word, value, std::uint64_t{1}, ~std::uint64_t{0});
    } else if (name == "drop") {
      set_drop(options, word, value);
    } else {
      refuse(word, "is not known");
    }
  }
  return options;
}

}  // namespace emulator
