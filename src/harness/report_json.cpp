#include "report_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "build_info.h"

namespace hipscope::detail {

namespace {

using Json = nlohmann::ordered_json;

Json null_if(bool absent, const Json& value) { return absent ? Json(nullptr) : value; }

// JSON has no NaN and no infinity.
Json number(double value) { return null_if(!std::isfinite(value), value); }

Json positive(double value) { return null_if(!(value > 0), value); }

Json device_json(const DeviceDescription& device) {
  return {{"index", device.index},
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
}

Json options_json(const Run& run) {
  Json sizes = Json::object();
  for (const SizeOption& size : run.experiment.sizes) {
    sizes[size.flag.substr(size.flag.find_first_not_of('-'))] = *size.value;
  }
  const Options& options = run.options;
  return {{"preset", to_string(options.preset)},
          {"minimum_seconds", run.stopping_rule.minimum_seconds},
          {"noise", options.noise},
          {"clock_mhz", positive(options.clock_mhz)},
          {"seed", options.seed},
          {"filter", null_if(options.filter.empty(), options.filter)},
          {"sizes", sizes}};
}

Json value_json(const Value& value) {
  return {{"name", value.name}, {"value", number(value.value)}, {"unit", value.unit}};
}

Json measurement_json(const Measurement& measurement) {
  const Summary summary = measurement.seconds();
  Json samples = Json::array();
  Json clocks = Json::array();
  Json throttled = Json::array();
  for (std::size_t i = 0; i < measurement.samples.size(); ++i) {
    const Sample& sample = measurement.samples[i];
    samples.push_back(sample.seconds);
    clocks.push_back(positive(sample.shader_mhz));
    if (sample.throttled) {
      throttled.push_back(i);
    }
  }
  return {{"name", measurement.name},
          {"method", measurement.method},
          {"unit", "s"},
          {"batch", measurement.batch},
          {"stop", hipscope::to_string(measurement.stop)},
          {"median", summary.median},
          {"minimum", summary.minimum},
          {"maximum", summary.maximum},
          {"first_quartile", summary.first_quartile},
          {"third_quartile", summary.third_quartile},
          {"relative_spread", summary.relative_spread()},
          {"samples", samples},
          {"shader_mhz", clocks},
          {"throttled", throttled}};
}

Json row_json(const Row& row) {
  Json measurements = Json::array();
  for (const Measurement& measurement : row.measurements) {
    measurements.push_back(measurement_json(measurement));
  }
  Json values = Json::array();
  for (const Value& value : row.values) {
    values.push_back(value_json(value));
  }
  Json checks = Json::array();
  for (const Check& check : row.checks) {
    checks.push_back({{"what", check.what}, {"checked", check.checked}, {"wrong", check.wrong}});
  }
  Json published = Json::array();
  for (const PublishedFigure& figure : row.published) {
    published.push_back({{"gpu", figure.gpu},
                         {"metric", figure.metric},
                         {"value", figure.value},
                         {"unit", figure.unit},
                         {"source", figure.source},
                         {"note", figure.note}});
  }
  return {{"label", row.label}, {"x", row.x},       {"measurements", measurements},
          {"values", values},   {"checks", checks}, {"published", published}};
}

Json sweep_json(const SweepRecord& sweep) {
  Json rows = Json::array();
  for (const auto& row : sweep.rows) {
    rows.push_back(row_json(*row));
  }
  const char* scale = sweep.axis.scale == Scale::logarithmic ? "logarithmic" : "linear";
  return {{"name", sweep.name},
          {"title", sweep.title},
          {"axis", {{"name", sweep.axis.name}, {"unit", sweep.axis.unit}, {"scale", scale}}},
          {"headline", sweep.headline},
          {"notes", sweep.notes},
          {"rows", rows}};
}

Json inference_json(const Inference& inference) {
  return {{"name", inference.name},
          {"value", inference.value ? number(*inference.value) : Json(nullptr)},
          {"unit", inference.unit},
          {"confidence", inference.confidence},
          {"statement", inference.statement},
          {"evidence", inference.evidence},
          {"driver", inference.driver ? number(*inference.driver) : Json(nullptr)}};
}

}  // namespace

std::string to_json(const Run& run) {
  const ClockRecord clock = run.clock();
  const std::vector<std::string> failures = run.failures();
  Json json = {
      {"schema_version", 1},
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
      {"duration_s", run.duration_seconds},
      {"device", device_json(run.device->description())},
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
  for (const Value& overhead : run.overheads) {
    json["overheads"].push_back(value_json(overhead));
  }
  for (const auto& sweep : run.sweeps) {
    json["sweeps"].push_back(sweep_json(*sweep));
  }
  for (const Inference& inference : run.inferences) {
    json["inferences"].push_back(inference_json(inference));
  }
  constexpr int indent = 1;
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hipscope::detail
