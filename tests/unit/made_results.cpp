#include "made_results.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hipscope {

namespace {

// Samples with this median and this relative spread.
Measurement made_measurement(const std::string& name, double seconds, double spread) {
  Measurement measurement{.name = name};
  for (const double deviation : {-spread, -spread / 2, 0.0, spread / 2, spread}) {
    measurement.samples.push_back({.seconds = seconds * (1 + deviation)});
  }
  return measurement;
}

detail::SweepRecord& sweep_of(detail::Run& run, const std::string& name) {
  const auto found = std::find_if(run.sweeps.begin(), run.sweeps.end(),
                                  [&](const auto& sweep) { return sweep->name == name; });
  if (found != run.sweeps.end()) {
    return **found;
  }
  run.sweeps.push_back(std::make_unique<detail::SweepRecord>());
  run.sweeps.back()->name = name;
  return *run.sweeps.back();
}

detail::Row& row_at(detail::SweepRecord& sweep, double x) {
  const auto found = std::find_if(sweep.rows.begin(), sweep.rows.end(),
                                  [&](const auto& row) { return row->x == x; });
  if (found != sweep.rows.end()) {
    return **found;
  }
  sweep.rows.push_back(std::make_unique<detail::Row>());
  sweep.rows.back()->x = x;
  return *sweep.rows.back();
}

std::unique_ptr<Device> described_device(const DeviceDescription& description) {
  fake::start_script();
  fake::script().description = description;
  return open_device(0);
}

}  // namespace

MadeResults::MadeResults(const std::string& experiment, const DeviceDescription& description,
                         double clock_mhz)
    : experiment_{.name = experiment},
      device_(described_device(description)),
      run_{.experiment = experiment_,
           .options = {.clock_mhz = clock_mhz},
           .device = device_.get(),
           .stopping_rule = {}},
      results_(run_) {}

MadeResults& MadeResults::curve(const std::string& sweep, const std::string& value,
                                std::span<const CurvePoint> points) {
  for (const CurvePoint& point : points) {
    detail::Row& row = row_at(sweep_of(run_, sweep), point.x);
    if (value == "time") {
      row.measurements.push_back(made_measurement(value, point.y, point.relative_spread));
      continue;
    }
    if (point.relative_spread > 0) {
      row.measurements.push_back(made_measurement("samples", 1, point.relative_spread));
    }
    row.values.push_back({.name = value, .value = point.y});
  }
  return *this;
}

Inference MadeResults::inference(const std::string& name) const {
  const auto found = std::find_if(run_.inferences.begin(), run_.inferences.end(),
                                  [&](const Inference& each) { return each.name == name; });
  return found == run_.inferences.end() ? Inference{} : *found;
}

void expect_nothing_from_nothing(const std::string& experiment, void (*conclude)(Results&)) {
  MadeResults made(experiment);
  conclude(made.results());
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace hipscope
