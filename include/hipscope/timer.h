// A device's constant-rate timer: 100 MHz on most of AMD's, nanoseconds on NVIDIA.
#pragma once

#include <hip/hip_runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

namespace hipscope {

/// Ticks of it since some moment in the past.
__device__ inline long long timer_ticks() {
#if defined(HIPSCOPE_BACKEND_AMD) && !defined(__HIP_DEVICE_COMPILE__)
  return 0;  // HIP 5.2 declares wall_clock64 in the pass for the device only
#else
  return wall_clock64();
#endif
}

/// The timer's rate in ticks per second, against the host's clock: a whole number of MHz, which
/// every such timer has. `read_ticks` lets a kernel read the timer, waits for it and returns the
/// ticks.
template <typename ReadTicks>
double measured_timer_hz(ReadTicks read_ticks) {
  using Clock = std::chrono::steady_clock;
  struct Moment {
    Clock::time_point host;
    long long ticks;
  };
  // The fastest of several readings: a delay of 20 us in the 20 ms between two would be a whole MHz
  // of a timer of nanoseconds.
  const auto read = [&] {
    constexpr int readings = 8;
    Clock::duration least = Clock::duration::max();
    Moment moment{};
    for (int i = 0; i < readings; ++i) {
      const auto before = Clock::now();
      const long long ticks = read_ticks();
      const auto after = Clock::now();
      if (after - before < least) {
        least = after - before;
        moment = {.host = after, .ticks = ticks};
      }
    }
    return moment;
  };
  const Moment start = read();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const Moment stop = read();
  const double hz = static_cast<double>(stop.ticks - start.ticks) /
                    std::chrono::duration<double>(stop.host - start.host).count();
  constexpr double mega = 1e6;
  return std::max(1.0, std::round(hz / mega)) * mega;
}

}  // namespace hipscope
