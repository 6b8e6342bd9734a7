// 32 and 64 bits, by the names that AMD's manuals give them, and what they are as numbers.
#pragma once

#include <bit>
#include <cstdint>

namespace emulator {

using Dword = std::uint32_t;
using Qword = std::uint64_t;

/// Lanes of a wave: gfx9 has no other.
inline constexpr unsigned wave_size = 64;
inline constexpr Qword all_lanes = ~Qword{0};

inline float as_float(Dword bits) { return std::bit_cast<float>(bits); }
inline double as_double(Qword bits) { return std::bit_cast<double>(bits); }
inline Dword bits_of(float value) { return std::bit_cast<Dword>(value); }
inline Qword bits_of(double value) { return std::bit_cast<Qword>(value); }

inline std::int32_t as_signed(Dword bits) { return static_cast<std::int32_t>(bits); }
inline std::int64_t as_signed(Qword bits) { return static_cast<std::int64_t>(bits); }
inline Dword as_bits(std::int32_t value) { return static_cast<Dword>(value); }
inline Qword as_bits(std::int64_t value) { return static_cast<Qword>(value); }

inline Dword low_half(Qword bits) { return static_cast<Dword>(bits); }
inline Dword high_half(Qword bits) { return static_cast<Dword>(bits >> 32); }
inline Qword joined(Dword low, Dword high) { return low | Qword{high} << 32; }

/// The lowest `bits` bits as a number with sign; bits is 1 to 32.
inline Dword sign_extended(Dword value, unsigned bits) {
  return as_bits(as_signed(value << (32 - bits)) >> (32 - bits));
}

/// A mask of the lowest `count` bits, all of them from 32 on.
inline Dword low_bits(unsigned count) { return count >= 32 ? ~0U : (1U << count) - 1; }
inline Qword low_bits_of_64(unsigned count) {
  return count >= 64 ? all_lanes : (Qword{1} << count) - 1;
}

inline bool has_lane(Qword mask, unsigned lane) { return (mask >> lane & 1) != 0; }

}  // namespace emulator
