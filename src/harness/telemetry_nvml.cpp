// NVIDIA's management library, NVML, which comes with the driver. It is loaded when it is asked for
// and not linked, so that a binary runs where it is not; a driver too old for a call has no symbol
// of that name. The numbers are those of NVIDIA's "NVML API Reference Guide".
#include <dlfcn.h>

#include <algorithm>
#include <array>

#include "telemetry_sources.h"

namespace hipscope::detail {

namespace {

constexpr int nvml_success = 0;
constexpr int no_permission = 4;
constexpr int driver_not_loaded = 9;
constexpr int function_not_found = 13;

using Handle = void*;  // nvmlDevice_t

constexpr int gpu_temperature = 0;           // NVML_TEMPERATURE_GPU
constexpr int shader_clock = 1;              // NVML_CLOCK_SM
constexpr int memory_clock = 2;              // NVML_CLOCK_MEM
constexpr int since_driver_loaded = 0;       // NVML_VOLATILE_ECC
constexpr int corrected_errors = 0;          // NVML_MEMORY_ERROR_TYPE_CORRECTED
constexpr int uncorrected_errors = 1;        // NVML_MEMORY_ERROR_TYPE_UNCORRECTED
constexpr unsigned memory_temperature = 82;  // NVML_FI_DEV_MEMORY_TEMP

// nvmlFieldValue_t
struct FieldValue {
  unsigned field;
  unsigned scope;
  long long timestamp;
  long long latency;
  int type;
  int status;
  union {
    double as_double;
    unsigned as_unsigned;
    unsigned long long as_long;
  } value;
};

// Bits of nvmlDeviceGetCurrentClocksEventReasons. Not among them: idle (1), clocks that somebody
// has set (2), the clocks of a display (0x100).
struct Reason {
  unsigned long long bit;
  const char* name;
};
constexpr std::array<Reason, 6> reasons = {{{0x04, "power cap"},
                                            {0x08, "hardware slowdown"},
                                            {0x10, "sync boost"},
                                            {0x20, "thermal"},
                                            {0x40, "thermal"},
                                            {0x80, "power brake"}}};

double gigatransfers(unsigned generation) {
  constexpr std::array<double, 7> per_lane = {0, 2.5, 5, 8, 16, 32, 64};
  return generation < per_lane.size() ? per_lane[generation] : 0;
}

// The library, loaded and started.
class Library {
 public:
  explicit Library(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW)) {
    status_ = handle_ != nullptr ? call("nvmlInit_v2") : function_not_found;
  }
  ~Library() {
    if (handle_ != nullptr) {
      if (status_ == nvml_success) {
        call("nvmlShutdown");
      }
      dlclose(handle_);
    }
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  [[nodiscard]] bool is_loaded() const { return handle_ != nullptr; }
  [[nodiscard]] int status() const { return status_; }

  // Calls a function by its name; the arguments must have the types of its parameters.
  template <typename... Arguments>
  int call(const char* name, Arguments... arguments) const {
    using Function = int (*)(Arguments...);
    const auto function = reinterpret_cast<Function>(dlsym(handle_, name));
    return function != nullptr ? function(arguments...) : function_not_found;
  }

  [[nodiscard]] std::string text_of(int status) const {
    using Function = const char* (*)(int);
    const auto function = reinterpret_cast<Function>(dlsym(handle_, "nvmlErrorString"));
    return function != nullptr ? function(status) : "error " + std::to_string(status);
  }

 private:
  void* handle_;
  int status_;
};

class Nvml final : public RefusableSource {
 public:
  Nvml(std::unique_ptr<Library> library, Handle device, std::string mig_uuid)
      : library_(std::move(library)), device_(device), mig_uuid_(std::move(mig_uuid)) {}

  [[nodiscard]] std::string name() const override {
    std::array<char, text_bytes> version{};
    const int status = library_->call("nvmlSystemGetNVMLVersion", version.data(), text_bytes);
    return status == nvml_success ? std::string("NVML ") + version.data() : "NVML";
  }

  [[nodiscard]] DeviceIdentity identity() override {
    unsigned mig = 0;
    unsigned pending = 0;
    unsigned ecc = 0;
    const bool is_mig =
        !mig_uuid_.empty() || (ask("MIG", "nvmlDeviceGetMigMode", &mig, &pending) && mig == 1);
    const bool tells_ecc = ask("ECC", "nvmlDeviceGetEccMode", &ecc, &pending);
    return {.uuid = mig_uuid_.empty() ? text("UUID", "nvmlDeviceGetUUID") : mig_uuid_,
            .serial = text("serial number", "nvmlDeviceGetSerial"),
            .vbios = text("VBIOS", "nvmlDeviceGetVbiosVersion"),
            .partition = is_mig ? "MIG" : "",
            .power_cap_w =
                number<unsigned>("power cap", watts, 1e-3, "nvmlDeviceGetEnforcedPowerLimit"),
            .ecc = tells_ecc ? std::optional(ecc != 0) : std::nullopt,
            .link = link()};
  }

  void read_sensors(TelemetryReading& reading) override {
    reading.power_w = number<unsigned>("power", watts, 1e-3, "nvmlDeviceGetPowerUsage");
    reading.energy_j =
        number<unsigned long long>("energy", counts, 1e-3, "nvmlDeviceGetTotalEnergyConsumption");
    reading.temperature_c =
        number<unsigned>("temperature", degrees, 1, "nvmlDeviceGetTemperature", gpu_temperature);
    reading.memory_temperature_c = memory_degrees();
    reading.shader_mhz =
        number<unsigned>("clocks", megahertz, 1, "nvmlDeviceGetClockInfo", shader_clock);
    reading.memory_mhz =
        number<unsigned>("clocks", megahertz, 1, "nvmlDeviceGetClockInfo", memory_clock);
    reading.throttle_reasons = throttle_reasons();
  }

  void read_counters(TelemetryReading& reading) override {
    reading.ecc_corrected = errors(corrected_errors);
    reading.ecc_uncorrected = errors(uncorrected_errors);
    unsigned corrected = 0;
    unsigned uncorrected = 0;
    unsigned pending = 0;
    unsigned failed = 0;
    if (ask("remapped rows", "nvmlDeviceGetRemappedRows", &corrected, &uncorrected, &pending,
            &failed)) {
      reading.rows_remapped = static_cast<double>(corrected) + uncorrected;
    }
  }

  [[nodiscard]] std::vector<std::string> throttle_reasons() override {
    unsigned long long bits = 0;
    // The second is what the first was called before driver 535.
    if (!ask("throttle reasons", "nvmlDeviceGetCurrentClocksEventReasons", &bits) &&
        !ask("throttle reasons", "nvmlDeviceGetCurrentClocksThrottleReasons", &bits)) {
      return {};
    }
    std::vector<std::string> names;
    for (const Reason& reason : reasons) {
      if ((bits & reason.bit) != 0 &&
          std::find(names.begin(), names.end(), reason.name) == names.end()) {
        names.emplace_back(reason.name);
      }
    }
    return names;
  }

 private:
  static constexpr unsigned text_bytes = 96;  // as much as the longest of them, the UUID, needs

  template <typename... Arguments>
  bool ask(const char* what, const char* name, Arguments... arguments) {
    const int status = library_->call(name, device_, arguments...);
    if (status == no_permission) {
      refuse(what);
    }
    return status == nvml_success;
  }

  [[nodiscard]] std::string text(const char* what, const char* name) {
    std::array<char, text_bytes> buffer{};
    return ask(what, name, buffer.data(), text_bytes) ? std::string(buffer.data()) : "";
  }

  // What a function of the device and `first` stores as an Integer, in the unit that is that many.
  template <typename Integer, typename... First>
  std::optional<double> number(const char* what, const SensorRange& range, double unit,
                               const char* name, First... first) {
    Integer value = 0;
    if (!ask(what, name, first..., &value) || value == std::numeric_limits<Integer>::max()) {
      return std::nullopt;
    }
    return within(range, unit * static_cast<double>(value));
  }

  [[nodiscard]] std::optional<double> memory_degrees() {
    FieldValue field = {};
    field.field = memory_temperature;
    if (!ask("memory temperature", "nvmlDeviceGetFieldValues", 1, &field) ||
        field.status != nvml_success) {
      return std::nullopt;
    }
    constexpr int type_of_unsigned = 1;
    return field.type == type_of_unsigned ? positive_degrees(field.value.as_unsigned)
                                          : std::nullopt;
  }

  // A GPU without such a sensor says 0.
  static std::optional<double> positive_degrees(unsigned value) {
    return value > 0 ? within(degrees, value) : std::nullopt;
  }

  [[nodiscard]] std::optional<double> errors(int type) {
    return number<unsigned long long>("ECC errors", counts, 1, "nvmlDeviceGetTotalEccErrors", type,
                                      since_driver_loaded);
  }

  [[nodiscard]] HostLink link() {
    const auto said = [&](const char* name) {
      constexpr SensorRange generations_and_lanes = {.lowest = 1, .highest = 32};
      return static_cast<unsigned>(
          number<unsigned>("link", generations_and_lanes, 1, name).value_or(0));
    };
    const unsigned generation = said("nvmlDeviceGetCurrPcieLinkGeneration");
    const unsigned maximum = said("nvmlDeviceGetMaxPcieLinkGeneration");
    return {.generation = static_cast<int>(generation),
            .speed_gts = gigatransfers(generation),
            .width = static_cast<int>(said("nvmlDeviceGetCurrPcieLinkWidth")),
            .maximum_generation = static_cast<int>(maximum),
            .maximum_speed_gts = gigatransfers(maximum),
            .maximum_width = static_cast<int>(said("nvmlDeviceGetMaxPcieLinkWidth"))};
  }

  std::unique_ptr<Library> library_;
  Handle device_;
  std::string mig_uuid_;
};

}  // namespace

OpenedSource open_nvml(const DeviceDescription& device, const std::string& library_path) {
  auto library = std::make_unique<Library>(library_path);
  if (!library->is_loaded()) {
    return {.source = nullptr, .why_not = "there is no " + library_path};
  }
  if (library->status() != nvml_success) {
    const bool no_driver = library->status() == driver_not_loaded;
    return {.source = nullptr,
            .why_not = no_driver ? "NVML finds no driver"
                                 : "NVML does not start: " + library->text_of(library->status())};
  }
  const auto find = [&](const char* function, const std::string& key, Handle& handle) {
    return key.empty() ? function_not_found : library->call(function, key.c_str(), &handle);
  };
  Handle handle = nullptr;
  int status = find("nvmlDeviceGetHandleByUUID", device.uuid, handle);
  std::string mig_uuid;
  if (status != nvml_success && device.uuid.starts_with("GPU-")) {
    // CUDA has a part of a GPU as a device of its own, with the part's UUID.
    const std::string uuid = "MIG-" + device.uuid.substr(4);
    if (find("nvmlDeviceGetHandleByUUID", uuid, handle) == nvml_success) {
      mig_uuid = uuid;
    }
  }
  if (status != nvml_success) {  // the sensors are the whole GPU's
    status = find("nvmlDeviceGetHandleByPciBusId_v2", device.pci_address, handle);
  }
  if (status != nvml_success) {
    return {.source = nullptr,
            .why_not = status == no_permission
                           ? "no permission: NVML's device"
                           : "NVML does not know this device: " + library->text_of(status)};
  }
  return {.source = std::make_unique<Nvml>(std::move(library), handle, mig_uuid), .why_not = ""};
}

}  // namespace hipscope::detail
