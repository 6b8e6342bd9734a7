// The device of the unit tests: it says of itself and measures what a test's script tells it to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hipscope/device.h"

namespace hipscope::fake {

/// A GPU of 60 CUs and waves of 64 lanes.
DeviceDescription describe();

/// The same but for one member.
template <typename Member, typename Value>
DeviceDescription describe_with(Member DeviceDescription::*member, Value value) {
  DeviceDescription description = describe();
  description.*member = static_cast<Member>(value);
  return description;
}

/// What the devices do, and what was asked of them.
struct Script {
  int count = 1;
  bool is_hardware = true;
  DeviceDescription description = describe();
  std::uint64_t free_memory = std::uint64_t{1} << 30;
  /// What time() returns, one after another; the last one then stays.
  std::vector<Sample> samples = {{.seconds = 1e-3, .shader_mhz = 1000}};
  std::string error;  ///< time() throws it as a DeviceError unless it is empty

  unsigned opened = 0;                  ///< calls of open_device()
  std::vector<unsigned> batches{};      ///< of each call of time()
  std::vector<bool> cold{};             ///< likewise
  std::vector<unsigned> recorded{};     ///< executions in each graph
  std::vector<std::size_t> warm_ups{};  ///< calls of time() before each warm-up
};

/// The script in force.
Script& script();

/// Puts a fresh script in force.
void start_script();

/// Forgets the calls so far, so that the next one returns the first of the samples.
void forget_calls();

}  // namespace hipscope::fake
