// The registers of one lane, and the plain C++ model of an instruction, by which the host backend
// computes.
#pragma once

#include <hip/hip_runtime.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "hipscope/matrix/instruction.h"

namespace matrix_rate {

template <typename T, unsigned Count>
struct Registers {
  using Value = T;
  static constexpr unsigned count = Count;
  T value[Count];
};

/// What a register is called where the instruction has a format: pairs of registers are one.
template <const Format& format>
struct RegisterOf {
  using Type = unsigned;
};
template <>
struct RegisterOf<fp64> {
  using Type = double;
};
template <>
struct RegisterOf<fp32> {
  using Type = float;
};
template <>
struct RegisterOf<int32> {
  using Type = int;
};
template <const Format& format, unsigned Elements>
using RegistersOf =
    Registers<typename RegisterOf<format>::Type,
              Elements * format.bits / 8 / sizeof(typename RegisterOf<format>::Type)>;

template <const Format& factor, const Format& sum>
struct FormatsOf {
  static constexpr Format a_format = factor;
  static constexpr Format b_format = factor;
  static constexpr Format sum_format = sum;
};

/// The types of a table of instructions, made by MATRIX_RATE_AND from its rows.
template <typename Nothing, typename... Code>
struct Codes {};
#define MATRIX_RATE_AND(type, ...) , type

/// The sums of all lanes are stored register by register, so that neighbouring lanes touch
/// neighbouring addresses.
template <typename Sum>
__device__ Sum load_sum(const void* sums, unsigned number, unsigned lane, unsigned lanes) {
  Sum sum;
#pragma unroll
  for (unsigned i = 0; i < Sum::count; ++i) {
    sum.value[i] =
        static_cast<const typename Sum::Value*>(sums)[(number * Sum::count + i) * lanes + lane];
  }
  return sum;
}
template <typename Sum>
__device__ void store_sum(void* sums, unsigned number, unsigned lane, unsigned lanes,
                          const Sum& sum) {
#pragma unroll
  for (unsigned i = 0; i < Sum::count; ++i) {
    static_cast<typename Sum::Value*>(sums)[(number * Sum::count + i) * lanes + lane] =
        sum.value[i];
  }
}

#if defined(__HIP_DEVICE_COMPILE__)
template <typename T, unsigned Count>
using Vector = T __attribute__((ext_vector_type(Count)));
#endif

constexpr unsigned largest_block = 512;

/// Instructions in the body of a kernel's loop, of all chains together; and the most chains.
#if defined(HIPSCOPE_BACKEND_HOST)
constexpr unsigned body_instructions = 4;  // scaled down
constexpr unsigned largest_chains = 2;
#else
constexpr unsigned body_instructions = 64;
constexpr unsigned largest_chains = 8;
#endif

// The compute capability that this pass compiles for, 0 where it is not for NVIDIA.
#if defined(__CUDA_ARCH__)
#define MATRIX_RATE_SM __CUDA_ARCH__
#else
#define MATRIX_RATE_SM 0
#endif

#if defined(HIPSCOPE_BACKEND_HOST)

/// Element `element` of `bits` bits each in a lane's storage.
inline std::uint64_t bits_at(const unsigned char* bytes, unsigned element, unsigned bits) {
  const auto whole = [&]<typename Element>(Element value) -> std::uint64_t {
    std::memcpy(&value, bytes + element * sizeof(value), sizeof(value));
    return value;
  };
  // Of a size that the compiler knows, which a sanitizer checks without a call.
  switch (bits) {
    case 8:
      return whole(std::uint8_t{});
    case 16:
      return whole(std::uint16_t{});
    case 32:
      return whole(std::uint32_t{});
    case 64:
      return whole(std::uint64_t{});
    default:
      break;
  }
  std::uint64_t found = 0;
  for (unsigned bit = 0; bit < bits; ++bit) {
    const unsigned place = element * bits + bit;
    found |= std::uint64_t(bytes[place / 8] >> place % 8 & 1) << bit;
  }
  return found;
}

/// What one group of lanes computes, D = A B + D: each lane's storage of D, A and B as their lanes
/// (or the one array in LDS) hold them, and the bytes of each.
struct OfLanes {
  unsigned char* sums;
  const unsigned char* a;
  const unsigned char* b;
  std::size_t sum_bytes;
  std::size_t a_bytes;
  std::size_t b_bytes;
};

inline void multiply_by_layout(const Arithmetic& of, const OfLanes& held) {
  std::vector<double> left(std::size_t{of.m} * of.k);
  std::vector<double> right(std::size_t{of.n} * of.k);
  for (unsigned lane = 0; lane < of.a_layout.lanes; ++lane) {
    for (unsigned e = 0; e < of.a_layout.elements; ++e) {
      const Place place = of.a_layout.place(lane, e);
      left[place.row * of.k + true_k(of.sparsity, place.column)] =
          decode(of.a, bits_at(held.a + lane * held.a_bytes, e, of.a.bits));
    }
  }
  for (unsigned lane = 0; lane < of.b_layout.lanes; ++lane) {
    for (unsigned e = 0; e < of.b_layout.elements; ++e) {
      const Place place = of.b_layout.place(lane, e);
      right[place.column * of.k + place.row] =
          decode(of.b, bits_at(held.b + lane * held.b_bytes, e, of.b.bits));
    }
  }
  for (unsigned lane = 0; lane < of.lanes; ++lane) {
    unsigned char* const sums = held.sums + lane * held.sum_bytes;
    for (unsigned e = 0; e < of.sum_layout.elements; ++e) {
      const Place place = of.sum_layout.place(lane, e);
      const double* const row = &left[place.row * of.k];
      const double total = std::inner_product(row, row + of.k, &right[place.column * of.k],
                                              decode(of.sum, bits_at(sums, e, of.sum.bits)));
      const std::uint64_t bits = encode(of.sum, total);
      std::memcpy(sums + e * of.sum.bits / 8, &bits, of.sum.bits / 8);
    }
  }
}

/// Of what a lane holds of A or B, and of its sums.
inline constexpr std::size_t most_factor_bytes = 64;
inline constexpr std::size_t most_sum_bytes = 128;

/// Until all lanes of an instruction are here: of a wave, or of a block of several.
inline void wait_for_lanes(unsigned lanes) {
  if (lanes <= static_cast<unsigned>(warpSize)) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

/// The lanes of a block give what they hold to the first of their group, which computes. B, and A
/// unless its lanes hold it, may be in LDS: `a_in_lds` and `b_in_lds`, or null.
inline void model(const Arithmetic& of, const OfLanes& held, const void* a_in_lds,
                  const void* b_in_lds) {
  alignas(16) __shared__ unsigned char a_of_lanes[largest_block * most_factor_bytes];
  alignas(16) __shared__ unsigned char b_of_lanes[largest_block * most_factor_bytes];
  alignas(16) __shared__ unsigned char sum_of_lanes[largest_block * most_sum_bytes];
  unsigned char* const a = a_of_lanes + threadIdx.x * held.a_bytes;
  unsigned char* const b = b_of_lanes + threadIdx.x * held.b_bytes;
  unsigned char* const sum = sum_of_lanes + threadIdx.x * held.sum_bytes;
  std::memcpy(a, held.a, held.a_bytes);
  std::memcpy(b, held.b, held.b_bytes);
  std::memcpy(sum, held.sums, held.sum_bytes);
  wait_for_lanes(of.lanes);
  if (threadIdx.x % of.lanes == 0) {
    OfLanes group = held;
    group.sums = sum;
    group.a = a_in_lds != nullptr ? static_cast<const unsigned char*>(a_in_lds) : a;
    group.b = b_in_lds != nullptr ? static_cast<const unsigned char*>(b_in_lds) : b;
    multiply_by_layout(of, group);
  }
  wait_for_lanes(of.lanes);
  std::memcpy(held.sums, sum, held.sum_bytes);
}

template <typename Code, typename B>
void model(typename Code::Sum& sum, const typename Code::A& a, const B& b,
           const void* a_in_lds = nullptr, const void* b_in_lds = nullptr) {
  static_assert(sizeof(a) <= most_factor_bytes && sizeof(b) <= most_factor_bytes &&
                sizeof(sum) <= most_sum_bytes);
  model(arithmetic_of<Code>,
        {.sums = reinterpret_cast<unsigned char*>(&sum),
         .a = reinterpret_cast<const unsigned char*>(&a),
         .b = reinterpret_cast<const unsigned char*>(&b),
         .sum_bytes = sizeof(sum),
         .a_bytes = sizeof(a),
         .b_bytes = sizeof(b)},
        a_in_lds, b_in_lds);
}

#endif

/// What stands in place of an instruction that the pass has not: on the host backend its model;
/// on a GPU nothing, where the kernel is never launched.
template <typename Code>
__device__ void multiply_elsewhere([[maybe_unused]] typename Code::Sum& sum,
                                   [[maybe_unused]] const typename Code::A& a,
                                   [[maybe_unused]] const typename Code::B& b) {
#if defined(HIPSCOPE_BACKEND_HOST)
  model<Code>(sum, a, b);
#endif
}

}  // namespace matrix_rate
