// The registers of one lane, and the plain C++ model of an instruction, by which the host backend
// computes.
#pragma once

#include <hip/hip_runtime.h>

#include <cstring>

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
inline std::uint64_t bits_at(const void* storage, unsigned element, unsigned bits) {
  const auto* const bytes = static_cast<const unsigned char*>(storage);
  std::uint64_t found = 0;
  if (bits % 8 == 0) {
    std::memcpy(&found, bytes + element * bits / 8, bits / 8);
    return found;
  }
  for (unsigned bit = 0; bit < bits; ++bit) {
    const unsigned place = element * bits + bit;
    found |= std::uint64_t(bytes[place / 8] >> place % 8 & 1) << bit;
  }
  return found;
}

/// What one group of lanes computes, D = A B + D: each lane's storage of D, and A and B as their
/// lanes (or the one array in LDS) hold them, `a_bytes` and `b_bytes` each.
template <typename Code, typename Sum>
void multiply_by_layout(Sum* sums, const void* a, std::size_t a_bytes, const void* b,
                        std::size_t b_bytes) {
  static thread_local double left[Code::m][Code::k];
  static thread_local double right[Code::n][Code::k];
  std::memset(left, 0, sizeof(left));
  for (unsigned lane = 0; lane < Code::a_lanes; ++lane) {
    const auto* const storage = static_cast<const unsigned char*>(a) + lane * a_bytes;
    for (unsigned e = 0; e < Code::a_elements; ++e) {
      const Place place = Code::a_place(lane, e);
      left[place.row][true_k(Code::sparsity, place.column)] =
          decode(Code::a_format, bits_at(storage, e, Code::a_format.bits));
    }
  }
  for (unsigned lane = 0; lane < Code::b_lanes; ++lane) {
    const auto* const storage = static_cast<const unsigned char*>(b) + lane * b_bytes;
    for (unsigned e = 0; e < Code::b_elements; ++e) {
      const Place place = Code::b_place(lane, e);
      right[place.column][place.row] =
          decode(Code::b_format, bits_at(storage, e, Code::b_format.bits));
    }
  }
  for (unsigned lane = 0; lane < Code::lanes; ++lane) {
    for (unsigned e = 0; e < Code::sum_elements; ++e) {
      const Place place = Code::sum_place(lane, e);
      double total = decode(Code::sum_format, bits_at(&sums[lane], e, Code::sum_format.bits));
      for (unsigned k = 0; k < Code::k; ++k) {
        total += left[place.row][k] * right[place.column][k];
      }
      const std::uint64_t bits = encode(Code::sum_format, total);
      std::memcpy(reinterpret_cast<unsigned char*>(&sums[lane]) + e * Code::sum_format.bits / 8,
                  &bits, Code::sum_format.bits / 8);
    }
  }
}

/// The lanes of a block give what they hold to the first of their group, which computes. B, and A
/// unless its lanes hold it, may be in LDS: `a_in_lds` and `b_in_lds`, or null.
template <typename Code, typename B>
void model(typename Code::Sum& sum, const typename Code::A& a, const B& b,
           const void* a_in_lds = nullptr, const void* b_in_lds = nullptr) {
  __shared__ typename Code::A a_of_lanes[largest_block];
  __shared__ B b_of_lanes[largest_block];
  __shared__ typename Code::Sum sum_of_lanes[largest_block];
  a_of_lanes[threadIdx.x] = a;
  b_of_lanes[threadIdx.x] = b;
  sum_of_lanes[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x % Code::lanes == 0) {
    const void* const left = a_in_lds != nullptr ? a_in_lds : &a_of_lanes[threadIdx.x];
    const void* const right = b_in_lds != nullptr ? b_in_lds : &b_of_lanes[threadIdx.x];
    multiply_by_layout<Code>(&sum_of_lanes[threadIdx.x], left, sizeof(a), right, sizeof(b));
  }
  __syncthreads();
  sum = sum_of_lanes[threadIdx.x];
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
