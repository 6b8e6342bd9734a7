// A device as the harness sees it: its description, and a stopwatch.
// Plain C++, no GPU headers: src/device implements it once per backend, the harness's unit tests by
// a fake.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "hipscope/measure.h"

namespace hipscope {

/// The driver's report. A value that it does not report is 0 or empty.
struct DeviceDescription {
  std::string name{};
  std::string architecture{};  ///< "gfx90a", "sm_90", "host"
  int index = 0;
  int compute_units = 0;  ///< CUs (NVIDIA: SMs; RDNA: WGPs, pairs of CUs, as HIP counts)
  int wave_size = 0;      ///< lanes of a wave (NVIDIA: threads of a warp)
  double maximum_shader_mhz = 0;
  double memory_mhz = 0;
  int memory_bus_bits = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t free_memory_bytes = 0;
  std::uint64_t l2_bytes = 0;
  std::uint64_t lds_bytes_per_block = 0;
  /// The most that a launch may ask for; on NVIDIA more than the above, for kernels that opt in.
  std::uint64_t largest_lds_bytes_per_block = 0;
  int registers_per_block = 0;
  int maximum_threads_per_block = 0;
  int maximum_threads_per_compute_unit = 0;
  unsigned cycle_counter_bits = 64;  ///< of a CU's cycle counter; 0: it was seen to stand still
  std::string driver{};              ///< the driver's version
  std::string runtime{};             ///< the runtime library's version
  std::string uuid{};                ///< "GPU-..." of an NVIDIA GPU
  std::string pci_address{};         ///< "0000:1b:00.0"
};

/// The device or its runtime refused something. Exit status 3.
class DeviceError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One opened device.
class Device {
 public:
  virtual ~Device() = default;
  [[nodiscard]] virtual const DeviceDescription& description() const = 0;

  /// False on the host backend, whose times are a CPU's: no cycles and no inference there.
  [[nodiscard]] virtual bool is_hardware() const = 0;

  /// Free device memory in bytes, now.
  [[nodiscard]] virtual std::uint64_t free_memory() const = 0;

  /// Keeps the memory busy for `seconds`, so that an idle GPU raises its clocks. Throws
  /// DeviceError.
  virtual void warm_up(double seconds) = 0;

  /// Runs `body` `batch` times back to back on the default stream and returns the device time of
  /// one execution, by events, with the shader clock over the sample.
  /// `body` only enqueues work unless `options.synchronous`. Throws DeviceError.
  virtual Sample time(const std::function<void()>& body, unsigned batch,
                      const MeasureOptions& options) = 0;

  /// Records `body` `times` times as a graph; returns a function that enqueues its replay. `body`
  /// must have run before. Throws DeviceError.
  virtual std::function<void()> record(const std::function<void()>& body, unsigned times) = 0;

  /// Waits for all work on the device. Throws DeviceError.
  virtual void synchronize() = 0;
};

/// The number of devices of this backend; if 0, `why_none` has the reason. Never throws.
int device_count(std::string& why_none);

/// Opens device `index` (0 ... device_count - 1) and makes it current. Throws DeviceError.
std::unique_ptr<Device> open_device(int index);

}  // namespace hipscope
