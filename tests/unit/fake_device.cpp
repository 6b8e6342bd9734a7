#include "fake_device.h"

#include <algorithm>
#include <memory>

#include "hipscope/describe_device.h"

namespace hipscope {

namespace fake {

namespace {

std::unique_ptr<Script> script_in_force;

}  // namespace

DeviceDescription describe() {
  DeviceDescription description;
  description.name = "Fake GPU (TM) 9";
  description.architecture = "gfx90a";
  description.compute_units = 60;
  description.wave_size = 64;
  description.maximum_shader_mhz = 1500;
  description.memory_bytes = std::uint64_t{16} << 30;
  description.free_memory_bytes = std::uint64_t{15} << 30;
  description.driver = "1.2";
  description.runtime = "3.4";
  return description;
}

Script& script() { return *script_in_force; }

void start_script() { script_in_force = std::make_unique<Script>(); }

void forget_calls() {
  script_in_force->batches.clear();
  script_in_force->cold.clear();
  script_in_force->recorded.clear();
}

}  // namespace fake

namespace {

class FakeDevice : public Device {
 public:
  explicit FakeDevice(int index) : description_(fake::script().description) {
    description_.index = index;
  }

  [[nodiscard]] const DeviceDescription& description() const override { return description_; }
  [[nodiscard]] bool is_hardware() const override { return fake::script().is_hardware; }
  [[nodiscard]] std::uint64_t free_memory() const override { return fake::script().free_memory; }

  Sample time(const std::function<void()>& body, unsigned batch,
              const MeasureOptions& options) override {
    fake::Script& script = fake::script();
    if (!script.error.empty()) {
      throw DeviceError(script.error);
    }
    for (unsigned i = 0; i < batch; ++i) {
      body();
    }
    const std::size_t call = std::min(script.batches.size(), script.samples.size() - 1);
    script.batches.push_back(batch);
    script.cold.push_back(options.cold);
    return script.samples[call];
  }

  std::function<void()> record(const std::function<void()>& body, unsigned times) override {
    fake::script().recorded.push_back(times);
    return [=] {
      for (unsigned i = 0; i < times; ++i) {
        body();
      }
    };
  }

  void warm_up(double seconds) override {
    if (seconds > 0) {
      fake::script().warm_ups.push_back(fake::script().batches.size());
    }
  }

  void synchronize() override {}

 private:
  DeviceDescription description_;
};

}  // namespace

int device_count(std::string& why_none) {
  if (fake::script().count == 0) {
    why_none = "the script has none";
  }
  return fake::script().count;
}

DeviceDescription describe_device(int index) {
  DeviceDescription description = fake::script().description;
  description.index = index;
  return description;
}

std::unique_ptr<Device> open_device(int index) {
  ++fake::script().opened;
  return std::make_unique<FakeDevice>(index);
}

}  // namespace hipscope
