// The device on the backend that this library was built for.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "hipscope/buffer.h"
#include "hipscope/check.h"
#include "hipscope/cycle_counter.h"
#include "hipscope/describe_device.h"
#include "hipscope/device.h"
#include "hipscope/graph.h"
#include "hipscope/launch_stream.h"
#include "stopwatch.h"

namespace hipscope {

namespace {

#if defined(HIPSCOPE_BACKEND_HOST)
constexpr bool backend_is_hardware = false;
#else
constexpr bool backend_is_hardware = true;
#endif

std::string architecture(const hipDeviceProp_t& properties) {
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  return "sm_" + std::to_string(properties.major) + std::to_string(properties.minor);
#else
  return properties.gcnArchName;
#endif
}

// "13.0" from 13000 as CUDA counts, "5.2.21151" from 50221151 as HIP does.
std::string version(int number) {
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
#else
  return std::to_string(number / 10'000'000) + "." + std::to_string(number / 100'000 % 100) + "." +
         std::to_string(number % 100'000);
#endif
}

// The version of the kernel's GPU driver, in the first line that it gives of itself; empty when it
// gives none.
std::string kernel_driver() {
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  std::ifstream file("/proc/driver/nvidia/version");
#elif defined(HIPSCOPE_BACKEND_AMD)
  std::ifstream file("/sys/module/amdgpu/version");
#else
  std::istringstream file;
#endif
  std::string word;
  while (file >> word) {
    const bool is_version = std::isdigit(static_cast<unsigned char>(word[0])) != 0 &&
                            word.find('.') != std::string::npos;
    if (is_version) {
      return word;
    }
  }
  return "";
}

// "580.159.04 (API 13.0)", or the latter part alone.
std::string driver_version(int api_version) {
  const std::string kernel_version = kernel_driver();
  return kernel_version.empty() ? version(api_version)
                                : kernel_version + " (API " + version(api_version) + ")";
}

// A driver too old for an attribute refuses it; the value is then unknown, 0. CUDA and, from
// version 7 on, HIP keep the last error until it is asked for: the next launch would be blamed for
// it.
double attribute_mhz(hipDeviceAttribute_t attribute, int index) {
  int kilohertz = 0;
  if (hipDeviceGetAttribute(&kilohertz, attribute, index) != hipSuccess) {
    static_cast<void>(hipGetLastError());
    return 0;
  }
  return kilohertz * 1e-3;
}

// A CUDA kernel must ask for more LDS than the properties tell.
std::uint64_t largest_lds_bytes([[maybe_unused]] const hipDeviceProp_t& properties,
                                [[maybe_unused]] int index) {
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  int bytes = 0;
  check(hipDeviceGetAttribute(&bytes, hipDeviceAttributeSharedMemPerBlockOptin, index));
  return static_cast<std::uint64_t>(bytes);
#else
  return properties.sharedMemPerBlock;
#endif
}

// What may be in the way of the runtime, as the end of a sentence.
std::string obstacle() {
#if defined(HIPSCOPE_BACKEND_AMD)
  const char* const kfd = "/dev/kfd";
  if (access(kfd, F_OK) != 0) {
    return "; there is no /dev/kfd: the driver amdgpu is not loaded, or a container has not got it";
  }
  if (access(kfd, R_OK | W_OK) != 0) {
    return "; this user may not open /dev/kfd, as members of its group, render or video, may: sudo "
           "usermod -aG render,video $USER, and log in again";
  }
  for (const char* const variable : {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"}) {
    if (const char* const value = std::getenv(variable)) {
      return std::string("; ") + variable + " is '" + value + "'";
    }
  }
#endif
  return "";
}

// "0000:1b:00.0", as the operating system writes it.
std::string pci_address(const hipDeviceProp_t& properties) {
  std::array<char, 32> text{};
  std::snprintf(
      text.data(), text.size(), "%04x:%02x:%02x.0", static_cast<unsigned>(properties.pciDomainID),
      static_cast<unsigned>(properties.pciBusID), static_cast<unsigned>(properties.pciDeviceID));
  return backend_is_hardware ? text.data() : "";
}

// "GPU-" and 32 digits in five groups, as NVIDIA's tools write it. Of AMD's GPUs the driver's files
// tell it.
std::string uuid([[maybe_unused]] const hipDeviceProp_t& properties) {
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  std::string text = "GPU";
  for (int i = 0; i < 16; ++i) {
    std::array<char, 4> byte{};
    const auto value = static_cast<unsigned char>(properties.uuid.bytes[i]);
    std::snprintf(byte.data(), byte.size(), "%02x", static_cast<unsigned>(value));
    const bool begins_a_group = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
    text += begins_a_group ? "-" : "";
    text += byte.data();
  }
  return text;
#else
  return "";
#endif
}

DeviceDescription describe(int index) {
  hipDeviceProp_t properties{};
  check(hipGetDeviceProperties(&properties, index));
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check(hipMemGetInfo(&free_bytes, &total_bytes));
  int driver = 0;
  int runtime = 0;
  check(hipDriverGetVersion(&driver));
  check(hipRuntimeGetVersion(&runtime));
  // ROCm takes an AMD GPU's name from a file of libdrm's, and gives none where that is not
  // installed.
  const std::string name = properties.name;
  return {.name = name.empty() ? architecture(properties) : name,
          .architecture = architecture(properties),
          .index = index,
          .compute_units = properties.multiProcessorCount,
          .wave_size = properties.warpSize,
          .maximum_shader_mhz =
              backend_is_hardware ? attribute_mhz(hipDeviceAttributeClockRate, index) : 0,
          .memory_mhz = attribute_mhz(hipDeviceAttributeMemoryClockRate, index),
          .memory_bus_bits = properties.memoryBusWidth,
          .memory_bytes = properties.totalGlobalMem,
          .free_memory_bytes = free_bytes,
          .l2_bytes = static_cast<std::uint64_t>(properties.l2CacheSize),
          .lds_bytes_per_block = properties.sharedMemPerBlock,
          .largest_lds_bytes_per_block = largest_lds_bytes(properties, index),
          .registers_per_block = properties.regsPerBlock,
          .maximum_threads_per_block = properties.maxThreadsPerBlock,
          .maximum_threads_per_compute_unit = properties.maxThreadsPerMultiProcessor,
          .cycle_counter_bits = cycle_counter_bits(architecture(properties)),
          .driver = backend_is_hardware ? driver_version(driver) : "none",
          .runtime = version(runtime),
          .uuid = uuid(properties),
          .pci_address = pci_address(properties)};
}

class HipDevice : public Device {
 public:
  explicit HipDevice(int index)
      : description_(describe(index)),
        stopwatch_(backend_is_hardware, description_.cycle_counter_bits) {
    if (!stopwatch_.counts_cycles()) {
      description_.cycle_counter_bits = 0;
    }
  }

  [[nodiscard]] const DeviceDescription& description() const override { return description_; }

  [[nodiscard]] bool is_hardware() const override { return backend_is_hardware; }

  [[nodiscard]] std::uint64_t free_memory() const override {
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    check(hipMemGetInfo(&free_bytes, &total_bytes));
    return free_bytes;
  }

  void warm_up(double seconds) override {
    constexpr std::size_t most_bytes = std::size_t{512} << 20;
    if (!is_hardware() || seconds <= 0) {
      return;
    }
    const std::chrono::duration<double> long_enough(seconds);
    const DeviceBuffer<unsigned char> buffer(std::min<std::size_t>(most_bytes, free_memory() / 4));
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < long_enough) {
      constexpr int launches_between_looks = 16;
      for (int i = 0; i < launches_between_looks; ++i) {
        check(hipMemsetAsync(buffer.data(), 0, buffer.size(), nullptr));
      }
      synchronize();
    }
  }

  Sample time(const std::function<void()>& body, unsigned batch,
              const MeasureOptions& options) override {
    if (options.cold) {
      flush_caches();
    }
    return stopwatch_.time(body, batch, options.synchronous);
  }

  std::function<void()> record(const std::function<void()>& body, unsigned times) override {
    const auto graph = std::make_shared<Graph>([&](hipStream_t stream) {
      launch_stream = stream;
      for (unsigned i = 0; i < times; ++i) {
        body();
      }
      launch_stream = nullptr;
    });
    return [graph] { graph->launch(); };
  }

  void synchronize() override { check(hipDeviceSynchronize()); }

 private:
  // Writes more than the last-level cache holds. AMD's Infinity Cache is not in the properties;
  // 512 MiB is twice the largest there is (MI300X, 256 MiB). Graphics within a processor may have
  // no more memory than that, and caches of a few MiB.
  void flush_caches() {
    constexpr std::size_t most_flush_bytes = std::size_t{512} << 20;
    if (!flush_buffer_) {
      flush_buffer_ = std::make_unique<DeviceBuffer<unsigned char>>(
          is_hardware() ? std::min<std::size_t>(most_flush_bytes, description_.memory_bytes / 8)
                        : std::size_t{1} << 20);
    }
    check(hipMemsetAsync(flush_buffer_->data(), 0, flush_buffer_->size(), nullptr));
  }

  DeviceDescription description_;
  detail::Stopwatch stopwatch_;
  std::unique_ptr<DeviceBuffer<unsigned char>> flush_buffer_;
};

}  // namespace

int device_count(std::string& why_none) {
  int count = 0;
  const hipError_t error = hipGetDeviceCount(&count);
  if (error == hipErrorNoDevice) {
    why_none = "the runtime finds none" + obstacle();
    return 0;
  }
  if (error == hipErrorInsufficientDriver) {
    why_none = "the GPU's driver is missing or older than the runtime that this was built with";
    return 0;
  }
  if (error != hipSuccess) {
    why_none = hipGetErrorString(error);
    return 0;
  }
  if (count == 0) {
    why_none = "the runtime finds none" + obstacle();
  }
  return count;
}

DeviceDescription describe_device(int index) {
  check(hipSetDevice(index));
  return describe(index);
}

std::unique_ptr<Device> open_device(int index) {
  check(hipSetDevice(index));
  return std::make_unique<HipDevice>(index);
}

}  // namespace hipscope
