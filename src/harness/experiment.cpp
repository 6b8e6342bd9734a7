#include "hipscope/experiment.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <ctime>
#include <limits>

#include "build_info.h"
#include "device_code.h"
#include "hipscope/describe_device.h"
#include "interrupt.h"
#include "options.h"
#include "output_file.h"
#include "record.h"
#include "report_json.h"
#include "report_text.h"

namespace hipscope {

namespace {

enum ExitStatus {
  good = 0,
  verification_failed = 1,
  bad_usage = 2,
  device_error = 3,
  no_device = 77
};

using detail::Run;

int list_sweeps(const detail::ExperimentRecord& experiment, const detail::Options& options) {
  const auto sweeps = select_sweeps(experiment, options);
  std::size_t width = 0;
  for (const detail::SweepDeclaration* sweep : sweeps) {
    width = std::max(width, sweep->name.size());
  }
  for (const detail::SweepDeclaration* sweep : sweeps) {
    detail::print_output(fmt::format("{:<{}}  {}\n", sweep->name, width, sweep->title));
  }
  return good;
}

int list_devices(int count) {
  for (int index = 0; index < count; ++index) {
    detail::print_output(detail::device_line(describe_device(index)));
  }
  return good;
}

// Prints a part of what a person reads: on standard error where standard output is for the JSON.
void print_tables(const Run& run, const std::string& text) {
  detail::print_output(text, run.options.json_path == detail::standard_output ? stderr : stdout);
}

void measure_sweep(Run& run, const detail::SweepDeclaration& declaration) {
  auto record = std::make_unique<detail::SweepRecord>();
  record->name = declaration.name;
  record->title = declaration.title;
  record->headline = "time";
  Sweep sweep(run, *record);
  if (run.options.preset != detail::Preset::quick) {
    run.is_warm = false;  // while buffers are made the device has nothing to do
  }
  run.telemetry_log.begin(run.telemetry);
  declaration.measure(sweep);
  run.device->synchronize();
  record->telemetry = run.telemetry_log.end(run.telemetry);
  detail::clear_progress();
  if (!record->rows.empty()) {
    print_tables(run, detail::table(*record, run.options.csv));
    run.sweeps.push_back(std::move(record));
  } else if (!run.options.csv) {  // tables of comma-separated values have no notes either
    for (const std::string& note : record->notes) {
      print_tables(run, fmt::format("\n{}: {}\n", record->name, note));
    }
  }
}

// What a sample of nothing takes: the part of every time that is the measurement's own.
void measure_overhead(Run& run) {
  constexpr int repetitions = 9;
  std::vector<double> nanoseconds;
  nanoseconds.reserve(repetitions);
  for (int i = 0; i < repetitions; ++i) {
    nanoseconds.push_back(run.device->time([] {}, 1, {}).seconds * 1e9);
  }
  run.overheads.push_back({.name = "a sample of nothing (two events)",
                           .value = summarize(nanoseconds).median,
                           .unit = "ns"});
}

// The host's name, without its domain.
std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) {
    return "";
  }
  const std::string whole = name.data();
  return whole.substr(0, whole.find('.'));
}

// A telemetry that cannot be opened is no telemetry: nothing of it fails a run.
Telemetry open_telemetry(const Device& device, const detail::Options& options) {
  if (options.no_telemetry) {
    return Telemetry("--no-telemetry");
  }
  return Telemetry::open(device);
}

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

using Selection = std::vector<const detail::SweepDeclaration*>;

int run_on_device(detail::ExperimentRecord& experiment, const detail::Options& options,
                  const Selection& selected) {
  const auto start = std::chrono::steady_clock::now();
  detail::require_code_for(describe_device(options.device).architecture, detail::build_info.backend,
                           detail::build_info.targets);
  const std::unique_ptr<Device> device = open_device(options.device);
  resolve_sizes(experiment, options, device->is_hardware(), device->description().memory_bytes);
  Run run{.experiment = experiment,
          .options = options,
          .device = device.get(),
          .stopping_rule = detail::stopping_rule(options, device->is_hardware()),
          .date = utc_now(),
          .telemetry = open_telemetry(*device, options),
          .host = options.identity ? host_name() : ""};
  if (!options.csv) {
    print_tables(run, detail::heading(run));
  }
  measure_overhead(run);
  for (const detail::SweepDeclaration* sweep : selected) {
    measure_sweep(run, *sweep);
  }
  run.flag_throttled();
  if (experiment.conclude && device->is_hardware() && options.preset != detail::Preset::once) {
    Results results(run);
    experiment.conclude(results);
  }
  if (!options.csv) {
    print_tables(run, detail::conclusion(run));
  }
  run.duration_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!options.json_path.empty()) {
    detail::write_whole(options.json_path, detail::to_json(run));
  }
  return run.failures().empty() ? good : verification_failed;
}

int run_experiment(detail::ExperimentRecord& experiment, const detail::Options& options) {
  // A wrong size is wrong on every device, so it is told before one is looked for.
  resolve_sizes(experiment, options, true, std::numeric_limits<std::uint64_t>::max());
  if (options.list_sweeps) {
    return list_sweeps(experiment, options);
  }
  const Selection selected = select_sweeps(experiment, options);
  if (!options.json_path.empty()) {
    detail::require_writable(options.json_path);
  }
  std::string why_none;
  const int count = device_count(why_none);
  if (count == 0) {
    detail::print_error(experiment.name, "no device: " + why_none);
    return no_device;
  }
  if (options.list_devices) {
    return list_devices(count);
  }
  if (options.device >= count) {
    throw UsageError(fmt::format("--device: there is no device {}, the last one is {}",
                                 options.device, count - 1));
  }
  detail::install_signal_handlers();
  return run_on_device(experiment, options, selected);
}

}  // namespace

Experiment::Experiment(std::string name, Purpose purpose)
    : record_(std::make_unique<detail::ExperimentRecord>()) {
  record_->name = std::move(name);
  record_->purpose = std::move(purpose);
}

Experiment::~Experiment() = default;

Size Experiment::size(const std::string& flag, const std::string& meaning,
                      const SizeDefaults& defaults) {
  auto value = std::make_shared<std::uint64_t>(0);
  record_->sizes.push_back(
      {.flag = flag, .meaning = meaning, .defaults = defaults, .value = value, .given = ""});
  return Size(value);
}

void Experiment::sweep(const std::string& name, const std::string& title,
                       std::function<void(Sweep&)> measure, InTiny in_tiny) {
  record_->sweeps.push_back(
      {.name = name, .title = title, .measure = std::move(measure), .in_tiny = in_tiny});
}

void Experiment::conclude(std::function<void(Results&)> infer) {
  record_->conclude = std::move(infer);
}

int Experiment::run(int argc, char** argv) {
  const auto fail = [&](const char* what, int status) {
    detail::clear_progress();
    detail::print_error(record_->name, what);
    return status;
  };
  try {
    const detail::ParsedCommandLine parsed = parse_command_line(*record_, argc, argv);
    return parsed.exit_status ? *parsed.exit_status : run_experiment(*record_, parsed.options);
  } catch (const UsageError& error) {
    return fail(error.what(), bad_usage);
  } catch (const detail::Interrupted& interrupted) {
    return fail(interrupted.what(), interrupted.exit_status());
  } catch (const std::bad_alloc&) {
    return fail("out of host memory", device_error);
  } catch (const std::exception& error) {
    return fail(error.what(), device_error);
  }
}

}  // namespace hipscope
