// See fake_nvml.h. With FAKE_NVML_IS_OLD it has no function that came with later drivers.
#include "fake_nvml.h"

#include <cstring>

namespace {

using Device = void*;

constexpr int success = 0;
constexpr int not_found = 6;

hipscope::fake::Nvml& self() {
  static hipscope::fake::Nvml nvml;
  return nvml;
}

template <typename Value>
int give(const char* function, Value* place, Value value) {
  const auto found = self().status.find(function);
  if (found != self().status.end() && found->second != success) {
    return found->second;
  }
  *place = value;
  return success;
}

int give_text(const char* function, char* place, unsigned bytes, const std::string& text) {
  char end = 0;
  const int status = give(function, &end, '\0');
  if (status == success) {
    std::strncpy(place, text.c_str(), bytes - 1);
  }
  return status;
}

}  // namespace

extern "C" {

hipscope::fake::Nvml* fake_nvml() { return &self(); }

int nvmlInit_v2() {
  self().started += self().start == success ? 1 : 0;
  return self().start;
}
int nvmlShutdown() {
  --self().started;
  return success;
}
const char* nvmlErrorString(int status) { return status == not_found ? "Not Found" : "Trouble"; }
int nvmlSystemGetNVMLVersion(char* text, unsigned bytes) {
  return give_text(__func__, text, bytes, "13.580.1");
}
int nvmlDeviceGetHandleByUUID(const char* uuid, Device* device) {
  const bool is_known =
      uuid == self().uuid || (!self().mig_uuid.empty() && uuid == self().mig_uuid);
  return is_known ? give(__func__, device, Device(&self())) : not_found;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* address, Device* device) {
  return address == self().pci_address ? give(__func__, device, Device(&self())) : not_found;
}
int nvmlDeviceGetUUID(Device, char* text, unsigned bytes) {
  return give_text(__func__, text, bytes, self().uuid);
}
int nvmlDeviceGetSerial(Device, char* text, unsigned bytes) {
  return give_text(__func__, text, bytes, "1652023000001");
}
int nvmlDeviceGetVbiosVersion(Device, char* text, unsigned bytes) {
  return give_text(__func__, text, bytes, "96.00.89.00.01");
}
int nvmlDeviceGetMigMode(Device, unsigned* now, unsigned* pending) {
  *pending = 0;
  return give(__func__, now, self().mig);
}
int nvmlDeviceGetEccMode(Device, unsigned* now, unsigned* pending) {
  *pending = 0;
  return give(__func__, now, self().ecc);
}
int nvmlDeviceGetPowerUsage(Device, unsigned* value) {
  ++self().sensor_reads;
  return give(__func__, value, self().power);
}
int nvmlDeviceGetTemperature(Device, int, unsigned* value) {
  return give(__func__, value, self().temperature);
}
int nvmlDeviceGetClockInfo(Device, int which, unsigned* value) {
  constexpr int memory = 2;
  return give(__func__, value, which == memory ? self().memory_clock : self().shader_clock);
}
int nvmlDeviceGetTotalEccErrors(Device, int type, int, unsigned long long* value) {
  return give(__func__, value, type == 0 ? self().corrected : self().uncorrected);
}
int nvmlDeviceGetCurrPcieLinkGeneration(Device, unsigned* value) {
  return give(__func__, value, self().generation);
}
int nvmlDeviceGetMaxPcieLinkGeneration(Device, unsigned* value) {
  return give(__func__, value, 5U);
}
int nvmlDeviceGetCurrPcieLinkWidth(Device, unsigned* value) {
  return give(__func__, value, self().width);
}
int nvmlDeviceGetMaxPcieLinkWidth(Device, unsigned* value) { return give(__func__, value, 16U); }

#ifdef FAKE_NVML_IS_OLD
int nvmlDeviceGetCurrentClocksThrottleReasons(Device, unsigned long long* value) {
  return give(__func__, value, self().reasons);
}
#else
int nvmlDeviceGetCurrentClocksEventReasons(Device, unsigned long long* value) {
  return give(__func__, value, self().reasons);
}
int nvmlDeviceGetTotalEnergyConsumption(Device, unsigned long long* value) {
  return give(__func__, value, self().energy);
}
int nvmlDeviceGetEnforcedPowerLimit(Device, unsigned* value) {
  return give(__func__, value, self().power_cap);
}
int nvmlDeviceGetRemappedRows(Device, unsigned* corrected, unsigned* uncorrected, unsigned* pending,
                              unsigned* failed) {
  ++self().counter_reads;
  *uncorrected = *pending = *failed = 0;
  return give(__func__, corrected, self().rows);
}
// What a field's value looks like: 40 bytes, the type and the status before the value.
struct Field {
  unsigned field;
  unsigned scope;
  long long timestamp;
  long long latency;
  int type;
  int status;
  unsigned long long value;
};
int nvmlDeviceGetFieldValues(Device, int count, Field* fields) {
  constexpr unsigned memory_temperature = 82;
  constexpr int type_of_unsigned = 1;
  for (int i = 0; i < count; ++i) {
    fields[i].type = type_of_unsigned;
    fields[i].status = fields[i].field == memory_temperature ? self().memory_status : not_found;
    fields[i].value = self().memory_temperature;
  }
  return success;
}
#endif
}
