// A library in the place of AMD's management library. It knows the device 0000:1b:00.0 alone.
#include <cstdint>

namespace {

int started = 0;
constexpr int success = 0;
constexpr int wrong = 1;

}  // namespace

extern "C" {

/// Times that it was started less times that it was ended.
int fake_amd_smi_started() { return started; }

int amdsmi_init(std::uint64_t flags) {
  constexpr std::uint64_t gpus = 2;
  ++started;
  return flags == gpus ? success : wrong;
}
int amdsmi_shut_down() {
  --started;
  return success;
}
int amdsmi_get_processor_handle_from_bdf(std::uint64_t address, void** device) {
  *device = &started;
  return address == 0x1b00 ? success : wrong;
}
int amdsmi_get_energy_count(void*, std::uint64_t* count, float* microjoules,
                            std::uint64_t* timestamp) {
  *count = 2'000'000;
  *microjoules = 15.25F;
  *timestamp = 0;
  return success;
}
int amdsmi_get_gpu_total_ecc_count(void* device, std::uint64_t* counts) {
  counts[0] = 7;
  counts[1] = 8;
  return device == &started ? success : wrong;
}
}
