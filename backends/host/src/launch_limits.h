// What the device takes, for its properties and for the checks of a launch.
#pragma once

namespace hip_host {

inline constexpr unsigned kThreadsPerBlock = 1024;
inline constexpr unsigned kGridLimitX = 2147483647;
inline constexpr unsigned kGridLimitYZ = 65535;

}  // namespace hip_host
