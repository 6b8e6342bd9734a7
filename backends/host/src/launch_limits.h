// What the device takes, for its properties and for the checks of a launch.
#pragma once

namespace hip_host {

inline constexpr unsigned kThreadsPerBlock = 1024;
inline constexpr unsigned kGridLimitX = 2147483647;
inline constexpr unsigned kGridLimitYZ = 65535;

/// Nominal: one core runs all of them in turn. A fixed number, so that what is shared out among
/// them is the same everywhere; odd and over two, so that a few tiles of a matrix are split among
/// several blocks.
inline constexpr unsigned kComputeUnits = 5;
/// Of a cooperative launch: one for each.
inline constexpr unsigned kResidentBlocks = kComputeUnits;

}  // namespace hip_host
