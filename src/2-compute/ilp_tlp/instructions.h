// The instructions of ilp_tlp's table: one step of a chain for each, as a kernel takes it and as
// the host repeats it. They work on words of 32 or 64 bits, whatever these stand for.
#pragma once

#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <hipscope/lds.h>
#include <hipscope/matrix/packed.h>
#include <hipscope/timed_rounds.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "operations.h"

namespace ilp_tlp {

// clang-format off
enum class Step {
  // integers and bits
  add, shift_add, minimum, multiply, multiply_high, multiply_add, multiply_add_wide, shift, rotate,
  permute_bytes, reverse_bits, count_bits,
  // floating point
  float_add, float_multiply, float_fma, float_maximum, float_floor, float_round, double_add,
  double_multiply, double_fma, half_add, half_multiply, half_fma,
  // there and back
  int_float, byte_float, float_half, float_double, int_double,
  // approximations, which each vendor rounds as it likes
  reciprocal, reciprocal_root, root, exponential, exponential_logarithm, sine, cosine,
  hyperbolic_tangent,
  // from the next lane
  shuffle, lds_load_4, lds_load_8, lds_load_16,
  // other lanes, and LDS
  shuffle_xor, row_rotation, wave_maximum, lds_add,
  // products of vectors, and the first bit that is set
  byte_dot, half_dot, leading_zeros,
  // pairs, and what takes several instructions
  float_pair_fma, add_wide, multiply_24, select,
  // what a wave agrees on
  ballot, vote, first_lane,
  // to LDS and back
  lds_exchange, lds_round_4, lds_round_8, lds_round_16, barrier,
};
// clang-format on

__host__ __device__ constexpr bool is_wide(Step step) {
  return step == Step::multiply_add_wide ||
         (step >= Step::double_add && step <= Step::double_fma) || step == Step::float_pair_fma ||
         step == Step::add_wide;
}
__host__ __device__ constexpr bool is_approximate(Step step) {
  return step >= Step::reciprocal && step <= Step::hyperbolic_tangent;
}
// What a vendor's instruction makes of floats.
__host__ __device__ constexpr bool is_native(Step step) {
  return is_approximate(step) || step == Step::float_maximum || step == Step::half_dot;
}
__host__ __device__ constexpr bool is_half(Step step) {
  return step >= Step::half_add && step <= Step::half_fma;
}
__host__ __device__ constexpr bool is_from_next_lane(Step step) {
  return step >= Step::shuffle && step <= Step::lds_load_16;
}
// Bytes of a load from LDS, and of what is stored and then loaded; 0: none.
__host__ __device__ constexpr unsigned lds_load_bytes(Step step) {
  return step < Step::lds_load_4 || step > Step::lds_load_16
             ? 0
             : 4U << (static_cast<unsigned>(step) - static_cast<unsigned>(Step::lds_load_4));
}
__host__ __device__ constexpr unsigned lds_round_bytes(Step step) {
  return step < Step::lds_round_4 || step > Step::lds_round_16
             ? 0
             : 4U << (static_cast<unsigned>(step) - static_cast<unsigned>(Step::lds_round_4));
}
__host__ __device__ constexpr bool is_lds_atomic(Step step) {
  return step == Step::lds_add || step == Step::lds_exchange;
}
// What device_step and host_step do themselves: the next word is not the lane's own alone.
__host__ __device__ constexpr bool is_of_other_lanes_or_memory(Step step) {
  return is_from_next_lane(step) || is_lds_atomic(step) || lds_round_bytes(step) != 0 ||
         lds_load_bytes(step) != 0 || step == Step::barrier || step == Step::shuffle_xor ||
         step == Step::row_rotation || step == Step::wave_maximum || step == Step::ballot ||
         step == Step::vote || step == Step::first_lane;
}
template <Step step>
using Word = std::conditional_t<is_wide(step), std::uint64_t, std::uint32_t>;

// What a lane has of its own.
struct Mine {
  unsigned neighbour;
  unsigned bit;  // in a word of 32 lanes
  unsigned* lds;
  unsigned* word;                  // in LDS
  unsigned address;                // of what is stored and loaded
  hipscope::LdsWords<16> words{};  // that are stored and loaded
};

// Makes the compiler forget what it knows of a value, so that it joins no two steps. (ptxas does
// not see it: that it joins none stands in the docs, by its machine code.)
template <typename T>
__host__ __device__ T hidden(T value) {
#if defined(__HIP_DEVICE_COMPILE__)
  asm("" : "+v"(value));
#elif defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<T, float>) {
    asm volatile("" : "+f"(value));
  } else if constexpr (std::is_same_v<T, double>) {
    asm volatile("" : "+d"(value));
  } else if constexpr (sizeof(T) == sizeof(std::uint64_t)) {
    asm volatile("" : "+l"(value));
  } else {
    asm volatile("" : "+r"(value));
  }
#endif
  return value;
}

// Copied as bytes, a pair of halves would be taken apart by clang and put together again.
#if defined(HIPSCOPE_BACKEND_AMD)
__device__ inline __half2 halves_of(unsigned bits) {
  __half2_raw raw;
  raw.data = __builtin_bit_cast(decltype(raw.data), bits);
  return raw;
}
__device__ inline unsigned bits_of(__half2 halves) {
  return __builtin_bit_cast(unsigned, static_cast<__half2_raw>(halves).data);
}
#else
__device__ inline __half2 halves_of(unsigned bits) { return same_bits<__half2>(bits); }
__device__ inline unsigned bits_of(__half2 halves) { return same_bits<unsigned>(halves); }
#endif

// --- One step ---------------------------------------------------------------------------------

// The sum of the products of four signed bytes.
__host__ __device__ inline unsigned byte_products(unsigned x, unsigned y) {
  int sum = 0;
  for (unsigned shift = 0; shift < 32; shift += 8) {
    sum += static_cast<signed char>(x >> shift) * static_cast<signed char>(y >> shift);
  }
  return static_cast<unsigned>(sum);
}

// What C++ has no operator for: in the vendor's instruction, and on the host.
template <Step step>
__host__ __device__ float native(float f, [[maybe_unused]] const Given& given) {
#if defined(__CUDA_ARCH__)
  float g = 0;
  if constexpr (step == Step::reciprocal) {
    asm volatile("rcp.approx.ftz.f32 %0, %1;" : "=f"(g) : "f"(f));
    g += given.addend;
  } else if constexpr (step == Step::reciprocal_root) {
    asm volatile("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(g) : "f"(f));
  } else if constexpr (step == Step::root) {
    asm volatile("sqrt.approx.ftz.f32 %0, %1;" : "=f"(g) : "f"(f));
  } else if constexpr (step == Step::exponential) {
    asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(g) : "f"(-f));
  } else if constexpr (step == Step::exponential_logarithm) {
    asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(g) : "f"(f));
    asm volatile("lg2.approx.ftz.f32 %0, %0;" : "+f"(g));
  } else if constexpr (step == Step::hyperbolic_tangent) {
    asm volatile("tanh.approx.f32 %0, %1;" : "=f"(g) : "f"(f));
  } else if constexpr (step == Step::float_maximum) {
    g = fmaxf(f, given.factor);
  } else {
    g = step == Step::sine ? __sinf(f) : __cosf(f);
  }
  return g;
#elif defined(__HIP_DEVICE_COMPILE__)
  float g = 0;
  if constexpr (step == Step::reciprocal) {
    g = __builtin_amdgcn_rcpf(f) + given.addend;
  } else if constexpr (step == Step::reciprocal_root) {
    g = __builtin_amdgcn_rsqf(f);
  } else if constexpr (step == Step::root) {
    g = __builtin_amdgcn_sqrtf(f);
  } else if constexpr (step == Step::exponential) {
    asm volatile("v_exp_f32_e64 %0, -%1" : "=v"(g) : "v"(f));
  } else if constexpr (step == Step::exponential_logarithm) {
    asm volatile("v_exp_f32 %0, %1" : "=v"(g) : "v"(f));
    asm volatile("v_log_f32 %0, %0" : "+v"(g));
  } else if constexpr (step == Step::float_maximum) {
    // fmaxf would first make every signalling NaN a quiet one.
    asm volatile("v_max_f32 %0, %1, %2" : "=v"(g) : "s"(given.factor), "v"(f));
  } else if constexpr (step == Step::half_dot) {
#if MATRIX_RATE_DOT > 0
    const auto halves = __builtin_bit_cast(matrix_rate::Vector<_Float16, 2>, given.small_halves);
    g = __builtin_amdgcn_fdot2(halves, halves, f, false);
#else
    g = f + 0x1p-19F;
#endif
  } else {
    g = step == Step::sine ? __sinf(f) : __cosf(f);
  }
  return g;
#else
  const double x = f;
  return static_cast<float>(step == Step::reciprocal              ? 1 / x + given.addend
                            : step == Step::reciprocal_root       ? 1 / std::sqrt(x)
                            : step == Step::root                  ? std::sqrt(x)
                            : step == Step::exponential           ? std::exp2(-x)
                            : step == Step::exponential_logarithm ? x
                            : step == Step::hyperbolic_tangent    ? std::tanh(x)
                            : step == Step::sine                  ? std::sin(x)
                            : step == Step::cosine                ? std::cos(x)
                            : step == Step::half_dot              ? x + 0x1p-19F
                                                     : std::max<double>(x, given.factor));
#endif
}

// The next word of a lane that needs no other.
template <Step step>
__host__ __device__ Word<step> next_word(Word<step> x, [[maybe_unused]] const Given& given) {
  if constexpr (step == Step::add) {
    return (x + given.word) ^ given.other;
  } else if constexpr (step == Step::shift_add) {
    return (x << 3U) + given.word;
  } else if constexpr (step == Step::minimum) {
    return (x < given.word ? x : given.word) ^ given.other;
  } else if constexpr (step == Step::multiply) {
    return x * given.word;
  } else if constexpr (step == Step::multiply_add) {
    return x * given.word + given.other;
  } else if constexpr (step == Step::multiply_add_wide) {
    return (x >> 32U) * static_cast<unsigned>(x) + given.wide;
  } else if constexpr (step == Step::shift) {
    return given.amount >> x;
  } else if constexpr (step == Step::add_wide) {
    return (x + given.wide) ^ given.other_wide;
  } else if constexpr (step == Step::multiply_24) {
    constexpr unsigned low = 0xFFFFFF;
    return (x & low) * (given.word & low);
  } else if constexpr (step == Step::select) {
    return x < given.word ? given.other : given.amount;
  } else if constexpr (step == Step::int_float) {
    return static_cast<unsigned>(static_cast<int>(hidden(static_cast<float>(static_cast<int>(x)))));
  } else if constexpr (step == Step::byte_float) {
    return static_cast<unsigned>(hidden(static_cast<float>(x & 0xFFU)));
  } else if constexpr (step == Step::int_double) {
    return static_cast<unsigned>(
        static_cast<int>(hidden(static_cast<double>(static_cast<int>(x)))));
  } else if constexpr (step == Step::float_half) {
    return same_bits<unsigned>(__low2float(__floats2half2_rn(same_bits<float>(x), 0.0F)));
  } else if constexpr (step == Step::float_double) {
    return same_bits<unsigned>(
        static_cast<float>(hidden(static_cast<double>(same_bits<float>(x)))));
  } else if constexpr (is_native(step)) {
    return same_bits<unsigned>(native<step>(same_bits<float>(x), given));
  } else if constexpr (step >= Step::float_add && step <= Step::float_round) {
    const auto f = same_bits<float>(x);
    return same_bits<unsigned>(step == Step::float_add        ? f + given.addend
                               : step == Step::float_multiply ? f * given.factor
                               : step == Step::float_fma      ? fmaf(f, -given.factor, given.one)
                               : step == Step::float_floor    ? floorf(f)
                                                              : rintf(f));
  } else if constexpr (step >= Step::double_add && step <= Step::double_fma) {
    const auto f = same_bits<double>(x);
    return same_bits<std::uint64_t>(step == Step::double_add ? f + given.wide_addend
                                    : step == Step::double_multiply
                                        ? f * given.wide_factor
                                        : fma(f, -given.wide_factor, given.wide_one));
#if defined(__HIP_DEVICE_COMPILE__) && MATRIX_RATE_CDNA >= 2
  } else if constexpr (step == Step::float_pair_fma) {
    // clang would take the pair apart and put it together again.
    const auto pair_of = [](float value) {
      return same_bits<std::uint64_t>(FloatPairFma::Value{value, value});
    };
    asm volatile("v_pk_fma_f32 %0, %0, %1, %2"
                 : "+v"(x)
                 : "v"(pair_of(-given.factor)), "v"(pair_of(given.one)));
    return x;
#endif
  } else if constexpr (step == Step::float_pair_fma) {
    const auto pair = same_bits<FloatPairFma::Value>(x);
    return same_bits<std::uint64_t>(FloatPairFma::Value{
        fmaf(pair.first, -given.factor, given.one), fmaf(pair.second, -given.factor, given.one)});
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  } else if constexpr (step == Step::multiply_high) {
    return __umulhi(x, given.largest);
  } else if constexpr (step == Step::reverse_bits) {
    return __brev(x);
  } else if constexpr (step == Step::count_bits) {
    return __popc(x);
  } else if constexpr (is_half(step)) {
    const __half2 halves = halves_of(x);
    return bits_of(step == Step::half_add ? __hadd2(halves, halves_of(given.small_halves))
                   : step == Step::half_multiply
                       ? __hmul2(halves, halves_of(given.halves))
                       : __hfma2(halves, __hneg2(halves_of(given.halves)), __float2half2_rn(1.0F)));
#endif
#if defined(__CUDA_ARCH__)
  } else if constexpr (step == Step::rotate) {
    return __funnelshift_r(x, x, given.amount);
  } else if constexpr (step == Step::permute_bytes) {
    return __byte_perm(x, given.word, given.selector);
  } else if constexpr (step == Step::byte_dot) {
    asm volatile("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(x) : "r"(given.word), "r"(given.other));
    return x;
  } else if constexpr (step == Step::leading_zeros) {
    asm volatile("bfind.shiftamt.u32 %0, %0;" : "+r"(x));
    return x;
#elif defined(__HIP_DEVICE_COMPILE__)
  } else if constexpr (step == Step::rotate) {
    return __builtin_amdgcn_alignbit(x, x, given.amount);
  } else if constexpr (step == Step::permute_bytes) {
    return __builtin_amdgcn_perm(given.word, x, given.selector);
  } else if constexpr (step == Step::byte_dot) {
#if MATRIX_RATE_DOT == 1
    return __builtin_amdgcn_sdot4(given.word, given.other, static_cast<int>(x), false);
#elif MATRIX_RATE_DOT == 2
    return __builtin_amdgcn_sudot4(true, given.word, true, given.other, static_cast<int>(x), false);
#else
    return x + byte_products(given.word, given.other);
#endif
  } else if constexpr (step == Step::leading_zeros) {
    asm volatile("v_ffbh_u32 %0, %1" : "=v"(x) : "v"(x));
    return x;
#else
  } else if constexpr (step == Step::multiply_high) {
    return static_cast<unsigned>(std::uint64_t{x} * given.largest >> 32U);
  } else if constexpr (step == Step::reverse_bits) {
    unsigned bits = 0;
    for (unsigned bit = 0; bit < 32; ++bit) {
      bits |= (x >> bit & 1U) << (31 - bit);
    }
    return bits;
  } else if constexpr (step == Step::count_bits) {
    return static_cast<unsigned>(std::popcount(x));
  } else if constexpr (step == Step::rotate) {
    return std::rotr(x, static_cast<int>(given.amount));
  } else if constexpr (step == Step::permute_bytes) {
    return std::rotl(x, 8);
  } else if constexpr (step == Step::byte_dot) {
    return x + byte_products(given.word, given.other);
  } else if constexpr (step == Step::leading_zeros) {
    return x == 0 ? ~0U : static_cast<unsigned>(std::countl_zero(x));
  } else if constexpr (is_half(step)) {
    // Exact results fit into floats, so that they are rounded once.
    const auto both = same_bits<__half2>(x);
    const auto other =
        same_bits<__half2>(step == Step::half_add ? given.small_halves : given.halves);
    const auto one = [](float f, float g) {
      return step == Step::half_add        ? f + g
             : step == Step::half_multiply ? f * g
                                           : std::fma(f, -g, 1.0F);
    };
    return same_bits<unsigned>(__floats2half2_rn(one(__low2float(both), __low2float(other)),
                                                 one(__high2float(both), __high2float(other))));
#endif
  } else {
    static_assert(is_of_other_lanes_or_memory(step));
    return x;
  }
}

// The next word of any lane.
template <Step step>
__device__ Word<step> device_step(Word<step> x, const Given& given, [[maybe_unused]] Mine& mine) {
  if constexpr (lds_load_bytes(step) != 0) {
    return hipscope::lds_load<lds_load_bytes(step)>(mine.lds, x).word[lds_load_bytes(step) / 4 - 1];
  } else if constexpr (step == Step::lds_add) {
    return atomicAdd(mine.word, x);
  } else if constexpr (step == Step::lds_exchange) {
    return atomicExch(mine.word, x);
  } else if constexpr (lds_round_bytes(step) != 0) {
    // All words come back and go again, so that none has to be moved.
    constexpr unsigned bytes = lds_round_bytes(step);
    hipscope::LdsWords<bytes> words;
    for (unsigned i = 0; i < words.count; ++i) {
      words.word[i] = mine.words.word[i];
    }
    hipscope::lds_store<bytes>(mine.lds, mine.address, words);
    hipscope::lds_forget(mine.address);
    words = hipscope::lds_load<bytes>(mine.lds, mine.address);
    for (unsigned i = 0; i < words.count; ++i) {
      // Of one word clang would leave out the store of what it has just loaded.
      mine.words.word[i] = bytes == 4 ? hidden(words.word[i]) : words.word[i];
    }
    return words.word[words.count - 1];
  } else if constexpr (step == Step::barrier) {
    __syncthreads();
    return x;
#if defined(__CUDA_ARCH__)
  } else if constexpr (step == Step::shuffle) {
    return __shfl_sync(0xFFFFFFFF, x, static_cast<int>(mine.neighbour));
  } else if constexpr (step == Step::shuffle_xor) {
    return __shfl_xor_sync(0xFFFFFFFF, x, 1);
  } else if constexpr (step == Step::wave_maximum) {
    return __reduce_max_sync(0xFFFFFFFF, x);
  } else if constexpr (step == Step::ballot) {
    return __ballot_sync(0xFFFFFFFF, (x & mine.bit) == 0);
  } else if constexpr (step == Step::vote) {
    return __any_sync(0xFFFFFFFF, (x & mine.bit) == 0) != 0 ? given.largest : given.word;
#else
#if defined(__HIP_DEVICE_COMPILE__)
  } else if constexpr (step == Step::shuffle) {
    return __builtin_amdgcn_ds_bpermute(static_cast<int>(4 * mine.neighbour), static_cast<int>(x));
  } else if constexpr (step == Step::shuffle_xor) {
    constexpr int swapped_pairs = 0x041F;
    return __builtin_amdgcn_ds_swizzle(static_cast<int>(x), swapped_pairs);
  } else if constexpr (step == Step::row_rotation) {
    constexpr int rotate_row_by_one = 0x121;
    return __builtin_amdgcn_mov_dpp(static_cast<int>(x), rotate_row_by_one, 0xF, 0xF, false);
  } else if constexpr (step == Step::first_lane) {
    return __builtin_amdgcn_readfirstlane(static_cast<int>(x)) + given.word;
#else
  } else if constexpr (step == Step::shuffle) {
    return __shfl(x, static_cast<int>(mine.neighbour));
  } else if constexpr (step == Step::shuffle_xor) {
    return __shfl_xor(x, 1);
  } else if constexpr (step == Step::first_lane) {
    return __shfl(x, 0) + given.word;
#endif
  } else if constexpr (step == Step::ballot) {  // of 32 lanes at most
    return static_cast<unsigned>(__ballot((x & mine.bit) == 0 ? 1 : 0));
  } else if constexpr (step == Step::vote) {
    return __all((x & mine.bit) == 0 ? 0 : 1) == 0 ? given.largest : given.word;
#endif
  } else {
    return next_word<step>(x, given);
  }
}

// An instruction as the host sees it. Words of either size have 64 bits there.
struct Instruction {
  Step step;
  unsigned word_bytes;
  void (*kernel)(const void* starts, void* ends, hipscope::WaveTime* times, unsigned rounds,
                 Given given);
  std::uint64_t (*next)(std::uint64_t word, const Given& given);  // of a lane that needs no other
};

// A wave's words after one step more; `memory` is what LDS adds hold.
inline void host_step(const Instruction& instruction, std::vector<std::uint64_t>& wave,
                      std::vector<std::uint64_t>& memory, const Given& given) {
  const std::vector<std::uint64_t> before = wave;
  const auto lanes = static_cast<unsigned>(wave.size());
  const Step step = instruction.step;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    std::uint64_t& x = wave[lane];
    if (is_from_next_lane(step)) {
      x = before[(lane + 1) % lanes];
    } else if (step == Step::shuffle_xor) {
      x = before[lane ^ 1U];
    } else if (step == Step::row_rotation) {
      x = before[lane / 16 * 16 + (lane + 15) % 16];
    } else if (step == Step::wave_maximum) {
      x = *std::max_element(before.begin(), before.end());
    } else if (is_lds_atomic(step)) {
      x = memory[lane];
      memory[lane] = static_cast<unsigned>(before[lane] + (step == Step::lds_add ? x : 0));
    } else if (step == Step::ballot) {
      x = 0;
      for (unsigned other = 0; other < std::min(lanes, 32U); ++other) {
        x |= ~before[other] & std::uint64_t{1} << other;
      }
    } else if (step == Step::vote) {
      x = given.word;
      for (unsigned other = 0; other < lanes; ++other) {
        x = (before[other] >> other % 32U & 1U) == 0 ? given.largest : x;
      }
    } else if (step == Step::first_lane) {
      x = static_cast<unsigned>(before[0] + given.word);
    } else {
      x = instruction.next(before[lane], given);
    }
  }
}

}  // namespace ilp_tlp
