#include "options.h"

#include <array>
#include <charconv>
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

bool* flag(Options& options, std::string_view name) {
  if (name == "shuffle") return &options.shuffle;
  if (name == "late-stores") return &options.late_stores;
  if (name == "stale-l1") return &options.stale_l1;
  if (name == "still-counter") return &options.still_counter;
  if (name == "still-timer") return &options.still_timer;
  if (name == "approximate") return &options.approximate;
  if (name == "trace") return &options.trace;
  if (name == "conflicts") return &options.conflicts;
  return nullptr;
}

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

void set_value(Options& options, const std::string& word, const std::string& name,
               const std::string& value) {
  if (name == "target") {
    for (const std::string_view target : targets) {
      if (value == target) {
        options.target = value;
        return;
      }
    }
    refuse(word, "is no target that is emulated: gfx906, gfx908 or gfx90a");
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

}  // namespace

Options parse_options(std::string_view words) {
  Options options;
  std::istringstream stream{std::string(words)};
  for (std::string word; stream >> word;) {
    const std::size_t equal = word.find('=');
    if (equal != std::string::npos) {
      set_value(options, word, word.substr(0, equal), word.substr(equal + 1));
    } else if (bool* on = flag(options, word)) {
      *on = true;
    } else {
      refuse(word, "is not known");
    }
  }
  return options;
}

}  // namespace emulator
