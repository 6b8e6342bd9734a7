// A library in NVML's place that says what a test wants. The tests load it as the harness does.
#pragma once

#include <map>
#include <string>

namespace hipscope::fake {

/// What the library says. Numbers are as NVML has them: milliwatts, millijoules.
struct Nvml {
  int start = 0;                        ///< status of nvmlInit_v2
  std::map<std::string, int> status{};  ///< of other functions, by name; 0 where none is given
  std::string uuid = "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f";
  std::string mig_uuid{};  ///< of a part that is known by its UUID as well
  std::string pci_address = "0000:1b:00.0";
  unsigned mig = 0;
  unsigned power_cap = 700'000;
  unsigned ecc = 1;
  unsigned power = 512'250;
  unsigned long long energy = 12'345'678'901;
  unsigned temperature = 61;
  int memory_status = 0;  ///< of the field of the memory's temperature
  unsigned memory_temperature = 74;
  unsigned shader_clock = 1755;
  unsigned memory_clock = 3201;
  unsigned long long reasons = 0;
  unsigned long long corrected = 3;
  unsigned long long uncorrected = 0;
  unsigned rows = 2;
  unsigned generation = 5;
  unsigned width = 16;
  unsigned sensor_reads = 0;   ///< how often the power was asked for
  unsigned counter_reads = 0;  ///< how often remapped rows were
  int started = 0;             ///< times that it was started less times that it was ended
};

}  // namespace hipscope::fake

/// The library's own; a test finds it by dlsym.
extern "C" hipscope::fake::Nvml* fake_nvml();
