#include "report_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <functional>
#include <optional>

#include "build_info.h"

namespace hipscope::detail {

namespace {

struct Unit {
  const char* name;
  double seconds;
};

constexpr std::array<Unit, 4> time_units = {{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}};

// The largest unit in which `seconds` is at least 1; nanoseconds for what is shorter.
Unit time_unit(double seconds) {
  for (const Unit& unit : time_units) {
    if (seconds >= unit.seconds) {
      return unit;
    }
  }
  return time_units.back();
}

using Cells = std::vector<std::vector<std::string>>;

// The names of all measurements, values or published GPUs of a sweep, in order of appearance.
template <typename Entry, typename Name>
std::vector<std::string> distinct(const SweepRecord& sweep, std::vector<Entry> Row::*list,
                                  Name name) {
  std::vector<std::string> names;
  for (const auto& row : sweep.rows) {
    for (const Entry& entry : (*row).*list) {
      if (std::find(names.begin(), names.end(), std::invoke(name, entry)) == names.end()) {
        names.push_back(std::invoke(name, entry));
      }
    }
  }
  return names;
}

template <typename Entries, typename Name>
auto* find_entry(Entries& entries, const Name& is_wanted) {
  const auto found = std::find_if(entries.begin(), entries.end(), is_wanted);
  return found == entries.end() ? nullptr : &*found;
}

// Three columns per measurement: the median and the minimum, in one unit for the whole column, and
// the spread.
void add_measurement_columns(const SweepRecord& sweep, Cells& cells) {
  for (const std::string& name : distinct(sweep, &Row::measurements, &Measurement::name)) {
    const auto is_wanted = [&](const Measurement& m) { return m.name == name; };
    double shortest = 1e30;
    for (const auto& row : sweep.rows) {
      if (const auto* measurement = find_entry(row->measurements, is_wanted)) {
        shortest = std::min(shortest, measurement->seconds().median);
      }
    }
    const Unit unit = time_unit(shortest);
    cells[0].push_back(fmt::format("{} [{}]", name, unit.name));
    cells[0].push_back(fmt::format("{} min", name));
    cells[0].push_back(fmt::format("{} spread [%]", name));
    for (std::size_t i = 0; i < sweep.rows.size(); ++i) {
      const auto* measurement = find_entry(sweep.rows[i]->measurements, is_wanted);
      if (measurement == nullptr) {
        cells[i + 1].insert(cells[i + 1].end(), {"-", "-", "-"});
        continue;
      }
      const Summary summary = measurement->seconds();
      cells[i + 1].push_back(format_number(summary.median / unit.seconds));
      cells[i + 1].push_back(format_number(summary.minimum / unit.seconds));
      cells[i + 1].push_back(fmt::format("{:.2f}", 100 * summary.relative_spread()));
    }
  }
}

// A column for each kind of value, by what `heading_of` calls it.
template <typename Entry, typename Heading>
void add_value_columns(const SweepRecord& sweep, std::vector<Entry> Row::*list, Heading heading_of,
                       Cells& cells) {
  for (const std::string& name : distinct(sweep, list, heading_of)) {
    cells[0].push_back(name);
    for (std::size_t i = 0; i < sweep.rows.size(); ++i) {
      const auto* entry = find_entry((*sweep.rows[i]).*list,
                                     [&](const Entry& one) { return heading_of(one) == name; });
      cells[i + 1].push_back(entry != nullptr ? format_number(entry->value) : "-");
    }
  }
}

std::string heading_of_value(const Value& value) {
  return value.unit.empty() ? value.name : fmt::format("{} [{}]", value.name, value.unit);
}

std::string heading_of_published(const PublishedFigure& figure) {
  return fmt::format("{} published [{}]", figure.gpu, figure.unit);
}

void add_check_column(const SweepRecord& sweep, Cells& cells) {
  const bool any = std::any_of(sweep.rows.begin(), sweep.rows.end(),
                               [](const auto& row) { return !row->checks.empty(); });
  if (!any) {
    return;
  }
  cells[0].push_back("check");
  for (std::size_t i = 0; i < sweep.rows.size(); ++i) {
    const auto& checks = sweep.rows[i]->checks;
    const bool passed =
        std::all_of(checks.begin(), checks.end(), [](const Check& c) { return c.passed(); });
    cells[i + 1].push_back(checks.empty() ? "-" : passed ? "ok" : "WRONG");
  }
}

std::string aligned(const Cells& cells) {
  std::vector<std::size_t> widths(cells[0].size(), 0);
  for (const auto& row : cells) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], row[column].size());
    }
  }
  std::string text;
  for (const auto& row : cells) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      text += column == 0 ? fmt::format("  {:<{}}", row[column], widths[column])
                          : fmt::format("  {:>{}}", row[column], widths[column]);
    }
    text += '\n';
  }
  return text;
}

std::string comma_separated(const Cells& cells) {
  std::string text;
  for (const auto& row : cells) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      std::string cell = row[column];
      if (cell.find_first_of(",\"\n") != std::string::npos) {
        for (std::size_t at = 0; (at = cell.find('"', at)) != std::string::npos; at += 2) {
          cell.insert(at, 1, '"');
        }
        cell.insert(0, 1, '"');
        cell += '"';
      }
      text += column == 0 ? "" : ",";
      text += cell;
    }
    text += "\r\n";
  }
  return text;
}

// ", 240 to 270" of a value with an interval.
std::string interval_text(const Inference& inference) {
  return inference.interval ? fmt::format(", {} to {}", format_number(inference.interval->low),
                                          format_number(inference.interval->high))
                            : "";
}

std::string inference_text(const Inference& inference) {
  std::string text = inference.value
                         ? fmt::format("  {}: {} {} (confidence {:.2f}{})", inference.name,
                                       format_number(*inference.value), inference.unit,
                                       inference.confidence, interval_text(inference))
                         : fmt::format("  {}: not found", inference.name);
  if (inference.driver) {
    text += fmt::format("; the driver says {}", format_number(*inference.driver));
  }
  text += fmt::format("\n    {}\n", inference.statement);
  for (const std::string& evidence : inference.evidence) {
    text += fmt::format("    - {}\n", evidence);
  }
  return text;
}

std::string clock_text(const Run& run) {
  const ClockRecord clock = run.clock();
  if (!(clock.shader_mhz > 0)) {
    return "";
  }
  std::string text = fmt::format("\nshader clock: {:.0f} MHz ({}", clock.shader_mhz, clock.source);
  if (clock.highest_mhz > 0) {
    text += fmt::format(
        "; highest {:.0f} MHz, {} of {} samples with a measured clock more than 2 % under it",
        clock.highest_mhz, clock.throttled_samples, clock.samples);
  }
  return text + ")\n";
}

// What sensors said over the whole run, and what counted errors.
struct TelemetrySum {
  TelemetryDuring during{};
  double ecc_corrected = 0;
  double ecc_uncorrected = 0;
  double rows_remapped = 0;
};

double growth(const std::optional<double>& before, const std::optional<double>& after) {
  return before && after ? *after - *before : 0;
}

// A sweep that was over before a reading was due has those before and after it.
TelemetrySum telemetry_sum(const Run& run) {
  TelemetrySum sum;
  const auto merge = [](SensorSpan& all, const SensorSpan& one) {
    if (one.readings > 0) {
      all.add(one.minimum);
      all.add(one.maximum);
    }
  };
  for (const auto& sweep : run.sweeps) {
    if (!sweep->telemetry) {
      continue;
    }
    TelemetryDuring during = sweep->telemetry->during;
    if (during.readings == 0) {
      during.add(sweep->telemetry->before);
      during.add(sweep->telemetry->after);
    }
    merge(sum.during.power_w, during.power_w);
    merge(sum.during.temperature_c, during.temperature_c);
    merge(sum.during.shader_mhz, during.shader_mhz);
    add_reasons(sum.during.throttle_reasons, during.throttle_reasons);
    const TelemetryReading& before = sweep->telemetry->before;
    const TelemetryReading& after = sweep->telemetry->after;
    sum.ecc_corrected += growth(before.ecc_corrected, after.ecc_corrected);
    sum.ecc_uncorrected += growth(before.ecc_uncorrected, after.ecc_uncorrected);
    sum.rows_remapped += growth(before.rows_remapped, after.rows_remapped);
  }
  return sum;
}

// ", 213 to 540 W"
std::string span_text(const SensorSpan& span, const char* unit) {
  if (span.readings == 0) {
    return "";
  }
  const std::string lowest = fmt::format("{:.0f}", span.minimum);
  const std::string highest = fmt::format("{:.0f}", span.maximum);
  return lowest == highest ? fmt::format(", {} {}", highest, unit)
                           : fmt::format(", {} to {} {}", lowest, highest, unit);
}

std::string telemetry_text(const Run& run) {
  if (!run.device->is_hardware() || run.options.no_telemetry) {
    return "";
  }
  if (!run.telemetry) {
    return fmt::format("telemetry: none ({})\n", run.telemetry.why_not());
  }
  const TelemetrySum sum = telemetry_sum(run);
  std::string text = fmt::format("telemetry: {}", run.telemetry.source());
  text += span_text(sum.during.power_w, "W") + span_text(sum.during.temperature_c, "C") +
          span_text(sum.during.shader_mhz, "MHz");
  text += sum.during.throttle_reasons.empty()
              ? ", not throttled"
              : fmt::format(", throttled: {}", fmt::join(sum.during.throttle_reasons, ", "));
  if (run.options.retry_throttled > 0) {
    text += fmt::format(", {} samples taken again", run.retaken_samples);
  }
  if (sum.ecc_corrected + sum.ecc_uncorrected + sum.rows_remapped > 0) {
    text += fmt::format("; ECC ERRORS: {:.0f} corrected, {:.0f} uncorrected, {:.0f} rows remapped",
                        sum.ecc_corrected, sum.ecc_uncorrected, sum.rows_remapped);
  }
  if (!run.telemetry.why_not().empty()) {
    text += fmt::format(" ({})", run.telemetry.why_not());
  }
  return text + "\n";
}

// "110 CUs"; of RDNA HIP counts WGPs, each a pair of CUs.
std::string compute_units_text(const DeviceDescription& device) {
  constexpr std::array rdna = {"gfx10", "gfx11", "gfx120"};
  const bool is_rdna = std::ranges::any_of(
      rdna, [&](const char* prefix) { return device.architecture.starts_with(prefix); });
  return fmt::format("{} {}", device.compute_units, is_rdna ? "WGPs" : "CUs");
}

// A name in small letters, digits and hyphens; empty if it has none of the former.
std::string as_folder_name(const std::string& name) {
  std::string slug;
  for (const char c : name) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (is_plain) {
      slug += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!slug.empty() && slug.back() != '-') {
      slug += '-';
    }
  }
  while (!slug.empty() && slug.back() == '-') {
    slug.pop_back();
  }
  return slug;
}

}  // namespace

std::string format_number(double value) {
  if (!std::isfinite(value)) {
    return "-";
  }
  constexpr double largest_plain = 1e7;
  constexpr double largest_integer = 1e15;
  if (value == std::floor(value) && std::abs(value) < largest_integer) {
    return fmt::format("{:.0f}", value);
  }
  if (std::abs(value) >= largest_plain) {
    return fmt::format("{:.3e}", value);
  }
  constexpr double smallest_plain = 1e-4;
  std::string scientific = fmt::format("{:.3e}", value);  // four digits
  if (std::abs(value) < smallest_plain) {
    return scientific;
  }
  const int exponent = std::stoi(scientific.substr(scientific.find('e') + 1));
  return fmt::format("{:.{}f}", value, std::max(3 - exponent, 0));
}

std::string format_bytes(double bytes) {
  constexpr std::array<const char*, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
  constexpr double step = 1024;
  std::size_t unit = 0;
  while (bytes >= step && unit + 1 < units.size()) {
    bytes /= step;
    ++unit;
  }
  return fmt::format("{} {}", format_number(bytes), units[unit]);
}

std::string heading(const Run& run) {
  const DeviceDescription& device = run.device->description();
  std::string text = fmt::format("{}: {}\n", run.experiment.name, run.experiment.purpose.question);
  text += fmt::format("device {}: {} ({}), {}, waves of {}, {} free of {}", device.index,
                      device.name, device.architecture, compute_units_text(device),
                      device.wave_size, format_bytes(static_cast<double>(device.free_memory_bytes)),
                      format_bytes(static_cast<double>(device.memory_bytes)));
  if (device.maximum_shader_mhz > 0) {
    text += fmt::format(", at most {:.0f} MHz", device.maximum_shader_mhz);
  }
  text += fmt::format("\n{}; driver {}, runtime {}; preset {}, seed {}{}\n", version_text(),
                      device.driver, device.runtime, to_string(run.options.preset),
                      run.options.seed, run.options.cold ? ", cold caches" : "");
  if (!run.device->is_hardware()) {
    text +=
        "host backend: kernels run on the CPU to check what they compute; times are the CPU's, "
        "sizes are scaled down, nothing is inferred\n";
  } else if (run.options.preset == Preset::once) {
    text += "everything runs only once: times mean little, nothing is inferred\n";
  }
  if (run.device->is_hardware() && device.cycle_counter_bits == 0) {
    text += "the device's cycle counter stands still: nothing is counted in cycles by kernels\n";
  }
  for (const SizeOption& size : run.experiment.sizes) {
    text += fmt::format("{} {}{}\n", size.flag, *size.value,
                        !run.device->is_hardware() && size.given.empty() ? " (scaled)" : "");
  }
  return text;
}

std::string table(const SweepRecord& sweep, bool csv) {
  Cells cells(sweep.rows.size() + 1);
  cells[0].push_back(sweep.axis.unit.empty()
                         ? sweep.axis.name
                         : fmt::format("{} [{}]", sweep.axis.name, sweep.axis.unit));
  for (std::size_t i = 0; i < sweep.rows.size(); ++i) {
    cells[i + 1].push_back(sweep.rows[i]->label);
  }
  add_measurement_columns(sweep, cells);
  add_value_columns(sweep, &Row::values, heading_of_value, cells);
  add_check_column(sweep, cells);
  add_value_columns(sweep, &Row::published, heading_of_published, cells);
  if (csv) {
    return fmt::format("# {}: {}\r\n", sweep.name, sweep.title) + comma_separated(cells);
  }
  std::string text = fmt::format("\n{}: {}\n", sweep.name, sweep.title);
  for (const std::string& note : sweep.notes) {
    text += fmt::format("  {}\n", note);
  }
  return text + aligned(cells);
}

std::string conclusion(const Run& run) {
  std::string text = clock_text(run) + telemetry_text(run);
  for (const Value& overhead : run.overheads) {
    text += fmt::format("overhead: {}: {} {}\n", overhead.name, format_number(overhead.value),
                        overhead.unit);
  }
  if (!run.inferences.empty()) {
    text += "\ninferred from these curves:\n";
  }
  for (const Inference& inference : run.inferences) {
    text += inference_text(inference);
  }
  if (run.check_count() == 0) {
    return text + "\nverification: nothing was measured, and so nothing checked\n";
  }
  const std::vector<std::string> failures = run.failures();
  text += fmt::format("\nverification: {} of {} checks passed\n",
                      run.check_count() - failures.size(), run.check_count());
  for (const std::string& failure : failures) {
    text += fmt::format("  WRONG: {}\n", failure);
  }
  return text;
}

std::string device_line(const DeviceDescription& device) {
  const bool is_host = device.architecture == "host";
  std::string slug = as_folder_name(is_host ? "host" : device.name);
  if (slug.empty()) {
    slug = as_folder_name(device.architecture);
  }
  return fmt::format("{}\t{}\t{} ({}), {}, {}\n", device.index, slug, device.name,
                     device.architecture, compute_units_text(device),
                     format_bytes(static_cast<double>(device.memory_bytes)));
}

std::string version_text() {
  return fmt::format("hipscope {} ({}), backend {}, {}", build_info.version,
                     build_info.git_revision, build_info.backend, build_info.compiler);
}

}  // namespace hipscope::detail
