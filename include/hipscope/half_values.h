// Halves and bfloat16 from and to floats, on host and device.
#pragma once

#include <hip/hip_runtime.h>

#if defined(HIPSCOPE_BACKEND_HOST) || defined(HIPSCOPE_BACKEND_NVIDIA)
#include <hip/hip_fp16.h>
#endif

#include <cstdint>
#include <limits>

#include "hipscope/half.h"
#include "hipscope/matrix/format.h"

namespace hipscope {

namespace detail {

/// The value of a half by integer arithmetic, for compilers that have no type for it.
inline float half_to_float(std::uint16_t bits) {
  constexpr std::uint16_t sign_bit = 0x8000;
  constexpr std::uint16_t infinity = 0x7C00;
  const std::uint32_t magnitude = bits & ~sign_bit;
  // The exponent counts from -15 instead of -127: 2^112 makes up for it, subnormals included.
  float value = __builtin_bit_cast(float, magnitude << 13U) * 0x1p112F;
  if (magnitude >= infinity) {
    value = __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, value) | 0x7F800000U);
  }
  return (bits & sign_bit) != 0 ? -value : value;
}

}  // namespace detail

/// The value of a half, exactly.
__host__ __device__ inline float to_float(Half half) {
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  return __half2float(__half(__half_raw{half.bits}));
#elif defined(__HIP_DEVICE_COMPILE__)
  return static_cast<float>(__builtin_bit_cast(_Float16, half.bits));
#else
  return detail::half_to_float(half.bits);
#endif
}

__host__ __device__ inline float to_float(BFloat16 value) {
  return __builtin_bit_cast(float, std::uint32_t{value.bits} << 16U);
}

namespace detail {

/// What to multiply a half with the same fields by, whose exponent has one bit more and another
/// bias; subnormals included.
template <const matrix_rate::Format& format>
inline constexpr float scale_of_8_bits =
    static_cast<float>(matrix_rate::power_of_two(matrix_rate::fp16.bias - format.bias));

inline constexpr float no_number = std::numeric_limits<float>::quiet_NaN();

template <const matrix_rate::Format& format>
__host__ __device__ float float_of_8_bits(std::uint8_t bits) {
  const unsigned sign = bits & 0x80U;
  const unsigned magnitude = bits & 0x7FU;
  return to_float(Half{static_cast<std::uint16_t>(sign << 8U | magnitude << 7U)}) *
         scale_of_8_bits<format>;
}

}  // namespace detail

/// (The one code of each sign that is no number comes out as 480.)
__host__ __device__ inline float to_float(E4M3 value) {
  return detail::float_of_8_bits<matrix_rate::e4m3>(value.bits);
}
__host__ __device__ inline float to_float(E4M3Fnuz value) {
  constexpr unsigned code_of_nan = 0x80;
  return value.bits == code_of_nan ? detail::no_number
                                   : detail::float_of_8_bits<matrix_rate::e4m3_fnuz>(value.bits);
}

/// The half nearest to `value`, ties to even. For device code.
__device__ inline Half to_half(float value) {
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  return {static_cast<__half_raw>(__float2half_rn(value)).x};
#elif defined(__HIP_DEVICE_COMPILE__)
  return {__builtin_bit_cast(std::uint16_t, static_cast<_Float16>(value))};
#elif defined(HIPSCOPE_BACKEND_HOST)
  return {hip_host::double_to_half(value)};
#else
  return {static_cast<std::uint16_t>(value)};  // the host's part of device code: never called
#endif
}

/// The bfloat16 nearest to `value`, which must be finite, ties to even.
__host__ __device__ inline BFloat16 to_bfloat16(float value) {
  constexpr std::uint32_t almost_half = 0x7FFF;  // of the last place that stays
  const auto bits = __builtin_bit_cast(std::uint32_t, value);
  return {static_cast<std::uint16_t>((bits + almost_half + (bits >> 16U & 1U)) >> 16U)};
}

}  // namespace hipscope
