#include "report_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "build_info.h"

namespace hipscope::detail {

namespace {

using Json = nlohmann::ordered_json;

Json null_if(bool absent, const Json& value) { return absent ? Json(nullptr) : value; }

// What results/schema.json states. Six significant digits are finer than any timer here and than
// the noise of any sample. A clock is told by some 50 us of a timer of up to 32 ns: to a MHz.
constexpr int significant_digits = 6;
constexpr double nanoseconds_per_second = 1e9;
constexpr const char* default_method = "device events";

double round_digits(double value) {
  return std::strtod(fmt::format("{:.{}g}", value, significant_digits).c_str(), nullptr);
}

// A number with all its digits, a whole one without a point.
Json exact(double value) {
  constexpr double largest_exact = 0x1p53;
  if (std::abs(value) < largest_exact && value == std::trunc(value)) {
    return static_cast<std::int64_t>(value);
  }
  return value;
}

// A number as it is written: a whole one in full, so that what is counted stays exact, others
// rounded. JSON has no NaN and no infinity.
Json number(double value) {
  if (!std::isfinite(value)) {
    return nullptr;
  }
  const Json whole = exact(value);
  return whole.is_number_integer() ? whole : exact(round_digits(value));
}

Json positive(double value) { return null_if(!(value > 0), number(value)); }

Json nanoseconds(double seconds) { return number(round_digits(seconds * nanoseconds_per_second)); }

// Adds what is told.
void add_text(Json& object, const char* name, const std::string& text) {
  if (!text.empty()) {
    object[name] = text;
  }
}

void add_number(Json& object, const char* name, const std::optional<double>& value) {
  if (value) {
    object[name] = number(*value);
  }
}

void add_positive(Json& object, const char* name, double value) {
  if (value > 0) {
    object[name] = number(value);
  }
}

Json link_json(const HostLink& link) {
  Json json = Json::object();
  add_positive(json, "generation", link.generation);
  add_positive(json, "speed_gts", link.speed_gts);
  add_positive(json, "width", link.width);
  add_positive(json, "maximum_generation", link.maximum_generation);
  add_positive(json, "maximum_speed_gts", link.maximum_speed_gts);
  add_positive(json, "maximum_width", link.maximum_width);
  return json;
}

// Which device it is; without telemetry what the runtime says.
void add_identity(Json& json, const Run& run) {
  const DeviceIdentity& identity = run.telemetry.identity();
  const DeviceDescription& device = run.device->description();
  if (run.options.identity) {
    add_text(json, "uuid", identity.uuid.empty() ? device.uuid : identity.uuid);
    add_text(json, "serial", identity.serial);
  }
  add_text(json, "pci_address",
           identity.pci_address.empty() ? device.pci_address : identity.pci_address);
  add_text(json, "vbios", identity.vbios);
  add_text(json, "partition", identity.partition);
  add_number(json, "power_cap_w", identity.power_cap_w);
  if (identity.ecc) {
    json["ecc"] = *identity.ecc ? "on" : "off";
  }
  if (const Json link = link_json(identity.link); !link.empty()) {
    json["link"] = link;
  }
  add_text(json, "host", run.host);
}

Json device_json(const Run& run) {
  const DeviceDescription& device = run.device->description();
  Json json = {{"index", device.index},
               {"name", device.name},
               {"architecture", device.architecture},
               {"compute_units", device.compute_units},
               {"wave_size", device.wave_size},
               {"maximum_shader_mhz", device.maximum_shader_mhz},
               {"memory_mhz", device.memory_mhz},
               {"memory_bus_bits", device.memory_bus_bits},
               {"memory_bytes", device.memory_bytes},
               {"free_memory_bytes", device.free_memory_bytes},
               {"l2_bytes", device.l2_bytes},
               {"lds_bytes_per_block", device.lds_bytes_per_block},
               {"registers_per_block", device.registers_per_block},
               {"maximum_threads_per_block", device.maximum_threads_per_block},
               {"maximum_threads_per_compute_unit", device.maximum_threads_per_compute_unit},
               {"driver", device.driver},
               {"runtime", device.runtime}};
  add_identity(json, run);
  return json;
}

void add_reasons_json(Json& json, const std::vector<std::string>& reasons) {
  if (!reasons.empty()) {
    json["throttle_reasons"] = reasons;
  }
}

Json reading_json(const TelemetryReading& reading) {
  Json json = Json::object();
  add_number(json, "power_w", reading.power_w);
  if (reading.energy_j) {
    json["energy_j"] = exact(*reading.energy_j);  // what it grew by is small beside it
  }
  add_number(json, "temperature_c", reading.temperature_c);
  add_number(json, "memory_temperature_c", reading.memory_temperature_c);
  add_number(json, "shader_mhz", reading.shader_mhz);
  add_number(json, "memory_mhz", reading.memory_mhz);
  add_number(json, "ecc_corrected", reading.ecc_corrected);
  add_number(json, "ecc_uncorrected", reading.ecc_uncorrected);
  add_number(json, "rows_remapped", reading.rows_remapped);
  add_reasons_json(json, reading.throttle_reasons);
  return json;
}

Json during_json(const TelemetryDuring& during) {
  Json json = {{"samples", during.readings}};
  const auto add = [&](const char* name, const SensorSpan& span) {
    if (span.readings > 0) {
      json[name] = {{"min", number(span.minimum)},
                    {"mean", number(span.mean())},
                    {"max", number(span.maximum)}};
    }
  };
  add("power_w", during.power_w);
  add("temperature_c", during.temperature_c);
  add("memory_temperature_c", during.memory_temperature_c);
  add("shader_mhz", during.shader_mhz);
  add("memory_mhz", during.memory_mhz);
  add_reasons_json(json, during.throttle_reasons);
  return json;
}

Json telemetry_json(const SweepTelemetry& telemetry) {
  const TelemetryReading& before = telemetry.before;
  const TelemetryReading& after = telemetry.after;
  Json delta = Json::object();
  const auto add = [&](const char* name, const std::optional<double>& from,
                       const std::optional<double>& to) {
    if (from && to) {
      delta[name] = number(*to - *from);
    }
  };
  add("ecc_corrected", before.ecc_corrected, after.ecc_corrected);
  add("ecc_uncorrected", before.ecc_uncorrected, after.ecc_uncorrected);
  add("rows_remapped", before.rows_remapped, after.rows_remapped);
  Json json = {{"source", telemetry.source}, {"before", reading_json(before)}};
  if (telemetry.during.readings > 0) {
    json["during"] = during_json(telemetry.during);
  }
  json["after"] = reading_json(after);
  if (!delta.empty()) {
    json["delta"] = delta;
  }
  return json;
}

Json options_json(const Run& run) {
  Json sizes = Json::object();
  for (const SizeOption& size : run.experiment.sizes) {
    sizes[size.flag.substr(size.flag.find_first_not_of('-'))] = *size.value;
  }
  const Options& options = run.options;
  Json json = {{"preset", to_string(options.preset)},
               {"minimum_seconds", run.stopping_rule.minimum_seconds},
               {"noise", options.noise},
               {"clock_mhz", positive(options.clock_mhz)},
               {"seed", options.seed},
               {"filter", null_if(options.filter.empty(), options.filter)}};
  if (options.cold) {
    json["cold"] = true;
  }
  if (options.retry_throttled > 0) {
    json["retry_throttled"] = options.retry_throttled;
  }
  json["sizes"] = sizes;
  return json;
}

Json value_json(const Value& value) {
  return {{"name", value.name}, {"value", number(value.value)}, {"unit", value.unit}};
}

// The clock that turns the median time into the median cycles, of the samples that have one: a
// whole MHz, as fine as it is measured. Null where none has.
Json clock_json(const Measurement& measurement) {
  std::vector<double> seconds;
  std::vector<double> cycles;
  for (const Sample& sample : measurement.samples) {
    if (sample.shader_mhz > 0) {
      seconds.push_back(sample.seconds);
      cycles.push_back(sample.seconds * sample.shader_mhz);
    }
  }
  return seconds.empty()
             ? Json(nullptr)
             : positive(std::round(summarize(cycles).median / summarize(seconds).median));
}

// How many samples there are, what they are spread over, and their clock; last what is unusual,
// the rest of which the schema names as the default.
Json measurement_json(const Measurement& measurement) {
  const Summary summary = measurement.seconds();
  Json json = {summary.count,
               nanoseconds(summary.minimum),
               nanoseconds(summary.first_quartile),
               nanoseconds(summary.median),
               nanoseconds(summary.third_quartile),
               nanoseconds(summary.maximum),
               clock_json(measurement)};
  Json unusual = Json::object();
  if (measurement.method != default_method) {
    unusual["method"] = measurement.method;
  }
  if (measurement.batch != 1) {
    unusual["batch"] = measurement.batch;
  }
  if (measurement.stop != StopReason::quiet) {
    unusual["stop"] = hipscope::to_string(measurement.stop);
  }
  const auto throttled = std::ranges::count_if(measurement.samples, &Sample::throttled);
  if (throttled > 0) {
    unusual["throttled"] = throttled;
  }
  if (!unusual.empty()) {
    json.push_back(unusual);
  }
  return json;
}

// The names of a sweep's measurements, values (with their units) and checks, which its rows share.
struct Names {
  Json measurements = Json::object();
  Json units = Json::object();
  Json checks = Json::object();
};

// Adds a member, under another name where a row has two of one name: nothing that was measured is
// lost. Notes the name, with `what` where it is new; false if it was noted with something else.
bool add_member(Json& object, Json& names, const std::string& name, Json value, const Json& what) {
  std::string key = name;
  for (int count = 2; object.contains(key); ++count) {
    key = fmt::format("{} ({})", name, count);
  }
  object[key] = std::move(value);
  return names.emplace(key, Json(what)).first.value() == what;
}

Json published_json(const PublishedFigure& figure) {
  return {{"gpu", figure.gpu},   {"metric", figure.metric}, {"value", figure.value},
          {"unit", figure.unit}, {"source", figure.source}, {"note", figure.note}};
}

// One row: its measurements, values and checks by name. A label that is x is left out.
Json row_json(const Row& row, Names& names) {
  Json json = {{"x", exact(row.x)}};
  if (row.label != json["x"].dump()) {
    json["label"] = row.label;
  }
  for (const Measurement& measurement : row.measurements) {
    add_member(json["measurements"], names.measurements, measurement.name,
               measurement_json(measurement), nullptr);
  }
  for (const Value& value : row.values) {
    Json& values = json["values"];
    if (!add_member(values, names.units, value.name, number(value.value), value.unit)) {
      values.back() = {values.back(), value.unit};
    }
  }
  for (const Check& check : row.checks) {
    add_member(json["checks"], names.checks, check.what,
               check.wrong == 0 ? Json(check.checked) : Json({check.checked, check.wrong}),
               nullptr);
  }
  for (const PublishedFigure& figure : row.published) {
    json["published"].push_back(published_json(figure));
  }
  return json;
}

Json keys_of(const Json& object) {
  Json keys = Json::array();
  for (const auto& [key, value] : object.items()) {
    keys.push_back(key);
  }
  return keys;
}

// Rows that have at least `fewest` have them without the names: in the order of `names`, null where
// there is none.
void leave_out_names(Json& rows, const char* what, const Json& names, std::size_t fewest) {
  for (Json& row : rows) {
    const auto members = row.find(what);
    if (members != row.end() && members->size() >= fewest) {
      Json list = Json::array();
      for (const auto& [name, unused] : names.items()) {
        list.push_back(members->value(name, Json(nullptr)));
      }
      *members = list;
    }
  }
}

Json sweep_json(const SweepRecord& sweep) {
  Names names;
  Json rows = Json::array();
  for (const auto& row : sweep.rows) {
    rows.push_back(row_json(*row, names));
  }
  if (rows.size() > 1) {
    leave_out_names(rows, "measurements", names.measurements, names.measurements.size() / 2 + 1);
    leave_out_names(rows, "values", names.units, names.units.size());
    leave_out_names(rows, "checks", names.checks, names.checks.size() / 2 + 1);
  }
  const char* scale = sweep.axis.scale == Scale::logarithmic ? "logarithmic" : "linear";
  Json json = {{"name", sweep.name},
               {"title", sweep.title},
               {"axis", {{"name", sweep.axis.name}, {"unit", sweep.axis.unit}, {"scale", scale}}},
               {"headline", sweep.headline},
               {"notes", sweep.notes},
               {"measurements", keys_of(names.measurements)},
               {"units", names.units},
               {"checks", keys_of(names.checks)}};
  if (sweep.telemetry) {
    json["telemetry"] = telemetry_json(*sweep.telemetry);
  }
  json["rows"] = rows;
  return json;
}

Json inference_json(const Inference& inference) {
  Json json = {{"name", inference.name},
               {"value", inference.value ? number(*inference.value) : Json(nullptr)},
               {"unit", inference.unit},
               {"confidence", number(inference.confidence)},
               {"statement", inference.statement},
               {"evidence", inference.evidence},
               {"driver", inference.driver ? number(*inference.driver) : Json(nullptr)}};
  if (inference.interval) {
    json["interval"] = {number(inference.interval->low), number(inference.interval->high)};
  }
  return json;
}

// The JSON with one row of a sweep per line; what is above the rows has a line per member.
// NOLINTNEXTLINE(misc-no-recursion): no deeper than the rows
std::string text_of(const Json& json, int depth) {
  constexpr int depth_of_rows = 4;
  constexpr int no_indent = -1;
  if (depth == depth_of_rows || !json.is_structured() || json.empty()) {
    return json.dump(no_indent, ' ', false, Json::error_handler_t::replace);
  }
  const std::string line = "\n" + std::string(static_cast<std::size_t>(depth) + 1, ' ');
  std::string text;
  for (const auto& [key, value] : json.items()) {
    text += text.empty() ? line : "," + line;
    if (json.is_object()) {
      text += Json(key).dump(no_indent, ' ', false, Json::error_handler_t::replace) + ": ";
    }
    text += text_of(value, depth + 1);
  }
  const std::string end = line.substr(0, line.size() - 1);
  return json.is_object() ? "{" + text + end + "}" : "[" + text + end + "]";
}

}  // namespace

std::string to_json(const Run& run) {
  const ClockRecord clock = run.clock();
  const std::vector<std::string> failures = run.failures();
  Json json = {
      {"schema_version", 4},
      {"experiment", run.experiment.name},
      {"question", run.experiment.purpose.question},
      {"sources", run.experiment.purpose.sources},
      {"status", failures.empty() ? "passed" : "failed"},
      {"hipscope", {{"version", build_info.version}, {"git_revision", build_info.git_revision}}},
      {"build",
       {{"backend", build_info.backend},
        {"compiler", build_info.compiler},
        {"flags", build_info.flags},
        {"targets", build_info.targets}}},
      {"date", run.date},
      {"duration_s", number(run.duration_seconds)},
      {"device", device_json(run)},
      {"options", options_json(run)},
      {"scaled", !run.device->is_hardware()},
      {"clock",
       {{"shader_mhz", positive(clock.shader_mhz)},
        {"highest_shader_mhz", positive(clock.highest_mhz)},
        {"source", clock.source},
        {"samples", clock.samples},
        {"throttled_samples", clock.throttled_samples}}},
      {"overheads", Json::array()},
      {"sweeps", Json::array()},
      {"inferences", Json::array()},
      {"verification", {{"checks", run.check_count()}, {"failures", failures}}}};
  if (run.options.retry_throttled > 0) {
    json["clock"]["retaken_samples"] = clock.retaken_samples;
  }
  if (run.device->is_hardware() && !run.options.no_telemetry) {
    const Telemetry& telemetry = run.telemetry;
    json["telemetry"] = {{"source", null_if(!telemetry, telemetry.source())},
                         {"why_not", null_if(telemetry.why_not().empty(), telemetry.why_not())}};
  }
  for (const Value& overhead : run.overheads) {
    json["overheads"].push_back(value_json(overhead));
  }
  for (const auto& sweep : run.sweeps) {
    json["sweeps"].push_back(sweep_json(*sweep));
  }
  for (const Inference& inference : run.inferences) {
    json["inferences"].push_back(inference_json(inference));
  }
  return text_of(json, 0) + "\n";
}

}  // namespace hipscope::detail
