// Results made of curves, for the tests of what an experiment concludes from its own.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fake_device.h"
#include "hipscope/experiment.h"
#include "hipscope/inference.h"
#include "record.h"

namespace hipscope {

/// An experiment's results as they would be after sweeps with the curves that a test gives.
class MadeResults {
 public:
  /// `experiment` is the binary's name, which published curves go by; `description` what the driver
  /// says of the device, and `clock_mhz` its shader clock.
  explicit MadeResults(const std::string& experiment,
                       const DeviceDescription& description = fake::describe(),
                       double clock_mhz = 1000);

  /// Gives sweep `sweep` the curve of `value`, in whatever unit: at each x the row that is there,
  /// or a new one. "time" is a measurement in seconds, any other name a value beside it.
  MadeResults& curve(const std::string& sweep, const std::string& value,
                     std::span<const CurvePoint> points);

  /// For what concludes.
  Results& results() { return results_; }

  /// What was concluded, in order.
  [[nodiscard]] const std::vector<Inference>& inferences() const { return run_.inferences; }

  /// The inference of that name; one without a name where there is none.
  [[nodiscard]] Inference inference(const std::string& name) const;

 private:
  detail::ExperimentRecord experiment_;
  std::unique_ptr<Device> device_;
  detail::Run run_;
  Results results_;
};

/// Of an experiment without a curve `conclude` must say nothing.
void expect_nothing_from_nothing(const std::string& experiment, void (*conclude)(Results&));

}  // namespace hipscope
