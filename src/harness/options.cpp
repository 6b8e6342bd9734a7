#include "options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <regex>
#include <sstream>
#include <string_view>

#include "build_info.h"
#include "output_file.h"

namespace hipscope::detail {

namespace {

constexpr std::uint64_t most_retries = 1000;

/// The range of an option's value.
struct Bounds {
  double lowest;
  double highest;
};

// Takes the number that `text` begins with.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

// Sizes are given as 1048576, 2^20 or 64Ki (Ki, Mi, Gi: powers of 1024).
std::optional<std::uint64_t> parse_size(std::string_view text) {
  constexpr std::array<std::string_view, 4> units = {"", "Ki", "Mi", "Gi"};
  const std::optional<std::uint64_t> base = take_number(text);
  const bool is_power = text.starts_with('^');
  std::optional<std::uint64_t> times = 0;
  if (is_power) {
    text.remove_prefix(1);
    times = take_number(text);
  }
  const auto* const unit = std::ranges::find(units, text);
  if (!base || !times || *times > 64 || unit == units.end() || (is_power && !text.empty())) {
    return std::nullopt;
  }
  const std::uint64_t factor = is_power ? *base : 1024;
  std::uint64_t result = is_power ? 1 : *base;
  for (auto left = *times + static_cast<std::uint64_t>(unit - units.begin()); left > 0; --left) {
    if (__builtin_mul_overflow(result, factor, &result)) {
      return std::nullopt;
    }
  }
  return result;
}

CLI::Validator not_empty() {
  return {[](std::string& text) { return std::string(text.empty() ? "is empty" : ""); }, ""};
}

// Unlike CLI::Range and CLI11's own conversion, refuses NaN and a sign, and says what a person
// would.
template <typename Number>
CLI::Validator between(const char* kind, Number lowest, Number highest) {
  return {[=](std::string& text) {
            Number value = 0;
            const char* const end = text.data() + text.size();
            const auto [stop, error] = std::from_chars(text.data(), end, value);
            const bool is_good =
                error == std::errc() && stop == end && value >= lowest && value <= highest;
            return is_good ? std::string()
                           : fmt::format("{} is not {} from {} to {}", text, kind, lowest, highest);
          },
          ""};
}

CLI::Validator whole_number(std::uint64_t highest) {
  return between("a whole number", std::uint64_t{0}, highest);
}

// An option for a number within bounds, which its help tells.
CLI::Option* add_number(CLI::App& app, const char* name, const char* type, double& value,
                        const Bounds& bounds, const char* help) {
  return app
      .add_option(name, value, fmt::format(fmt::runtime(help), bounds.lowest, bounds.highest))
      ->type_name(type)
      ->check(between("a number", bounds.lowest, bounds.highest));
}

void add_common_options(CLI::App& app, Options& options, double& noise_percent) {
  app.add_option("--device", options.device, "device to run on, see --devices (default 0)")
      ->type_name("N")
      ->check(whole_number(std::numeric_limits<int>::max()));
  app.add_option("--json", options.json_path,
                 "write the results to FILE as JSON; - is standard output, and the tables then go "
                 "to standard error")
      ->type_name("FILE")
      ->check(not_empty());
  app.add_flag("--csv", options.csv, "print the tables as CSV");
  const auto add_preset = [&](const char* name, Preset preset, const char* help) {
    return app.add_flag_callback(
        name, [&options, preset] { options.preset = preset; }, help);
  };
  auto* quick = add_preset("--quick", Preset::quick, "smaller sizes, fewer samples");
  auto* full = add_preset("--full", Preset::full, "more samples")->excludes(quick);
  auto* minimum_seconds =
      add_number(app, "--min-time", "SECONDS", options.minimum_seconds, {1e-6, 3600},
                 "sample each point for at least SECONDS ({} to {}; default: by preset)");
  auto* noise = add_number(app, "--noise", "PERCENT", noise_percent, {1e-3, 100},
                           "stop sampling when the interquartile range is under PERCENT of the "
                           "median ({} to {}; default 0.5)");
  auto* once =
      add_preset("--once", Preset::once,
                 "as --quick, but run everything only once, with no warm-up: for profilers")
          ->excludes(quick, full, minimum_seconds, noise);
  app.add_flag("--tiny", options.tiny,
               "as --once, with sizes that take a checker or an emulator seconds, and without "
               "sweeps whose kernels run in others too")
      ->excludes(quick, full, minimum_seconds, noise, once);
  add_number(app, "--clock-mhz", "MHZ", options.clock_mhz, {1, 100000},
             "compute cycles with this shader clock ({} to {}), not the measured one");
  app.add_flag("--cold", options.cold,
               "flush the caches before each sample; a sample is then one execution");
  app.add_option("--seed", options.seed, "seed of random inputs (default 1)")
      ->type_name("N")
      ->check(whole_number(std::numeric_limits<std::uint64_t>::max()));
  app.add_option("--retry-throttled", options.retry_throttled,
                 fmt::format("take a sample again if its clock fell or the device reports a reason "
                             "for a lower clock, at most N times (0 to {}; default 0)",
                             most_retries))
      ->type_name("N")
      ->check(whole_number(most_retries));
  app.add_flag("--no-telemetry", options.no_telemetry,
               "do not ask the device's sensors between samples");
  app.add_flag("--identity", options.identity,
               "put the host's name and the device's serial number and UUID into the results");
  app.add_flag("--list", options.list_sweeps, "list the sweeps and end");
  app.add_flag("--devices", options.list_devices, "list the devices (index, name) and end");
  app.add_option("--filter", options.filter,
                 "run only sweeps whose name matches this regular expression")
      ->type_name("REGEX")
      ->check(not_empty());
  app.set_version_flag("--version", version_text());
}

std::uint64_t tiny_size(const SizeDefaults& defaults) {
  return defaults.tiny > 0 ? defaults.tiny : defaults.host;
}

void add_size_options(CLI::App& app, ExperimentRecord& experiment) {
  for (SizeOption& size : experiment.sizes) {
    app.add_option(
           size.flag, size.given,
           fmt::format("{} ({} to {}; default {}; --quick {}; on the host backend {}; --tiny {})",
                       size.meaning, size.defaults.minimum, size.defaults.maximum,
                       size.defaults.gpu, size.defaults.quick, size.defaults.host,
                       tiny_size(size.defaults)))
        ->type_name("N")
        ->check(not_empty())
        ->group("Sizes (such as 4096, 2^20 or 64Ki)");
  }
}

// An expression that is matched in polynomial time and with little stack, whatever it is: libstdc++
// searches with recursion, and by default in exponential time. Its number of states is limited by
// this library's compile definitions.
std::regex filter_expression(const std::string& filter) {
  constexpr std::size_t longest = 1000;  // several times the names of all sweeps of an experiment
  if (filter.size() > longest) {
    throw UsageError(fmt::format("--filter: takes at most {} characters", longest));
  }
  try {
    return std::regex(filter, std::regex::ECMAScript | std::regex_constants::__polynomial);
  } catch (const std::regex_error& error) {
    const bool is_too_much = error.code() == std::regex_constants::error_space ||
                             error.code() == std::regex_constants::error_complexity;
    throw UsageError(fmt::format(
        "--filter: '{}' {}", filter,
        is_too_much ? "repeats too much or refers back to itself" : "is not a regular expression"));
  }
}

/// CLI11 2.5 and later breaks a footer's lines anew, and in the middle of those that it has.
template <typename Formatter>
void keep_lines_of_footer([[maybe_unused]] Formatter& formatter) {
  if constexpr (requires { formatter.enable_footer_formatting(false); }) {
    formatter.enable_footer_formatting(false);
  }
}

std::string sources_text(const Purpose& purpose) {
  std::string text = "sources:";
  for (const std::string& source : purpose.sources) {
    text += "\n  " + source;
  }
  return text;
}

std::uint64_t default_on_gpu(const SizeDefaults& defaults, Preset preset,
                             std::uint64_t memory_bytes) {
  const bool small = preset == Preset::once || preset == Preset::quick;
  const std::uint64_t size = small ? defaults.quick : defaults.gpu;
  if (defaults.share_of_memory == 0) {
    return size;
  }
  const double share = defaults.share_of_memory * static_cast<double>(memory_bytes);
  return std::clamp(std::bit_floor(static_cast<std::uint64_t>(share)), defaults.minimum, size);
}

}  // namespace

const char* to_string(Preset preset) {
  switch (preset) {
    case Preset::once:
      return "once";
    case Preset::quick:
      return "quick";
    case Preset::standard:
      return "default";
    case Preset::full:
      return "full";
  }
  return "";
}

ParsedCommandLine parse_command_line(ExperimentRecord& experiment, int argc, char** argv) {
  ParsedCommandLine parsed;
  Options& options = parsed.options;
  options.seed = 1;
  double noise_percent = 0.5;  // as the help says
  CLI::App app(experiment.purpose.question, experiment.name);
  app.footer(sources_text(experiment.purpose) +
             "\nexit status: 0 good, 1 a verification failed, 2 bad usage, 3 device or output "
             "error,\n77 no device, 130 and 143 after SIGINT and SIGTERM");
  keep_lines_of_footer(*app.get_formatter());
  add_common_options(app, options, noise_percent);
  add_size_options(app, experiment);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& end) {
    std::ostringstream text;
    app.exit(end, text);
    print_output(text.str());
    parsed.exit_status = 0;
  } catch (const CLI::ParseError& error) {
    // CLI11 looks at values first; whoever asks for help gets it all the same.
    if (app.count("--help") == 0) {
      throw UsageError(error.what());
    }
    print_output(app.help());
    parsed.exit_status = 0;
  }
  options.noise = noise_percent / 100;
  options.preset = options.tiny ? Preset::once : options.preset;
  return parsed;
}

void resolve_sizes(ExperimentRecord& experiment, const Options& options, bool is_hardware,
                   std::uint64_t memory_bytes) {
  for (const SizeOption& size : experiment.sizes) {
    const SizeDefaults& defaults = size.defaults;
    if (size.given.empty()) {
      *size.value = options.tiny  ? tiny_size(defaults)
                    : is_hardware ? default_on_gpu(defaults, options.preset, memory_bytes)
                                  : defaults.host;
      continue;
    }
    const std::optional<std::uint64_t> value = parse_size(size.given);
    if (!value) {
      throw UsageError(
          fmt::format("{}: {} is not a size such as 4096, 2^20 or 64Ki", size.flag, size.given));
    }
    if (*value < defaults.minimum || *value > defaults.maximum) {
      throw UsageError(fmt::format("{}: {} is not in the range {} to {}", size.flag, size.given,
                                   defaults.minimum, defaults.maximum));
    }
    *size.value = *value;
  }
}

std::vector<const SweepDeclaration*> select_sweeps(const ExperimentRecord& experiment,
                                                   const Options& options) {
  const std::string& filter = options.filter;
  const std::regex expression = filter_expression(filter);
  std::vector<const SweepDeclaration*> selected;
  for (const SweepDeclaration& sweep : experiment.sweeps) {
    const bool wanted = !options.tiny || sweep.in_tiny == InTiny::measured;
    if (filter.empty() ? wanted : std::regex_search(sweep.name, expression)) {
      selected.push_back(&sweep);
    }
  }
  if (selected.empty()) {
    throw UsageError(fmt::format("--filter: '{}' matches no sweep, see --list", filter));
  }
  return selected;
}

StoppingRule stopping_rule(const Options& options, bool is_hardware) {
  StoppingRule rule;
  rule.noise = options.noise;
  switch (options.preset) {
    case Preset::once:
      rule.minimum_seconds = 0;
      rule.minimum_samples = 1;  // which has no spread, and so is the last
      return rule;
    case Preset::quick:
      rule.minimum_seconds = 0.0002;
      rule.maximum_seconds = 0.1;
      rule.minimum_samples = 3;
      rule.maximum_samples = 5;
      break;
    case Preset::standard:
      rule.minimum_seconds = 0.002;
      rule.maximum_seconds = 0.5;
      rule.minimum_samples = 5;
      break;
    case Preset::full:
      rule.minimum_seconds = 0.01;
      rule.maximum_seconds = 1.0;
      rule.minimum_samples = 10;
      break;
  }
  if (!is_hardware) {
    // The host backend checks function; its times are not worth waiting for.
    rule.minimum_seconds = 0;
    rule.maximum_seconds = 0;
    rule.minimum_samples = 2;
  }
  if (options.minimum_seconds > 0) {
    rule.minimum_seconds = options.minimum_seconds;
    rule.maximum_samples = StoppingRule{}.maximum_samples;
    rule.maximum_seconds = std::max(rule.maximum_seconds, 2 * options.minimum_seconds);
  }
  return rule;
}

}  // namespace hipscope::detail
