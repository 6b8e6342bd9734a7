// The functions and structures are those of amdsmi.h in ROCm's amdsmi, as they have been since
// ROCm 6.
#include "amd_smi.h"

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstdio>

#include "telemetry_sources.h"

namespace hipscope::detail {

namespace {

constexpr int success = 0;
constexpr int no_function = -1;
constexpr std::uint64_t gpus = 2;  // AMDSMI_INIT_AMD_GPUS

// amdsmi_error_count_t
struct ErrorCounts {
  std::uint64_t corrected;
  std::uint64_t uncorrected;
  std::array<std::uint64_t, 6> others;
};

template <typename... Arguments>
int call(void* library, const char* name, Arguments... arguments) {
  using Function = int (*)(Arguments...);
  const auto function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr ? function(arguments...) : no_function;
}

// amdsmi_bdf_t: the parts of an address in the bits of one number.
std::optional<std::uint64_t> bits_of(const std::string& pci_address) {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned function = 0;
  constexpr int parts = 4;
  if (std::sscanf(pci_address.c_str(), "%x:%x:%x.%x", &domain, &bus, &device, &function) != parts) {
    return std::nullopt;
  }
  return std::uint64_t{domain} << 16 | bus << 8 | device << 3 | function;
}

}  // namespace

std::unique_ptr<AmdSmi> AmdSmi::open(const std::string& library, const std::string& pci_address) {
  const std::optional<std::uint64_t> address = bits_of(pci_address);
  void* const handle = address ? dlopen(library.c_str(), RTLD_NOW) : nullptr;
  if (handle == nullptr) {
    return nullptr;
  }
  if (call(handle, "amdsmi_init", gpus) != success) {
    dlclose(handle);
    return nullptr;
  }
  std::unique_ptr<AmdSmi> opened(new AmdSmi(handle, nullptr));
  if (call(handle, "amdsmi_get_processor_handle_from_bdf", *address, &opened->device_) != success) {
    return nullptr;
  }
  return opened;
}

AmdSmi::~AmdSmi() {
  call(library_, "amdsmi_shut_down");
  dlclose(library_);
}

void AmdSmi::add_sensors(TelemetryReading& reading) const {
  std::uint64_t count = 0;
  std::uint64_t timestamp = 0;
  float microjoules = 0;
  if (!reading.energy_j && call(library_, "amdsmi_get_energy_count", device_, &count, &microjoules,
                                &timestamp) == success) {
    const double joules = 1e-6 * static_cast<double>(microjoules) * static_cast<double>(count);
    reading.energy_j = joules > 0 ? within(counts, joules) : std::nullopt;
  }
}

void AmdSmi::add_counters(TelemetryReading& reading) const {
  ErrorCounts errors = {};
  if (!reading.ecc_corrected && !reading.ecc_uncorrected &&
      call(library_, "amdsmi_get_gpu_total_ecc_count", device_, &errors) == success) {
    reading.ecc_corrected = within(counts, static_cast<double>(errors.corrected));
    reading.ecc_uncorrected = within(counts, static_cast<double>(errors.uncorrected));
  }
}

}  // namespace hipscope::detail
