// The atomics that are measured: what each is called, what it does to a word, and what must have
// become of the word in the end.
#pragma once

#include <hip/hip_fp16.h>
#include <hipscope/half_values.h>
#include <hipscope/hipscope.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace atomics {

enum class Kind {
  add,
  add_one,     // of a constant 1, for which a GPU may have an instruction of its own
  unsafe_add,  // AMD: HIP's unsafeAtomicAdd, for device memory that is not fine-grained
  minimum,
  maximum,
  exchange,
  compare_and_swap,
};

/// Among whom it is atomic, and so where its word is: a block's in LDS, all others' in L2 or
/// beyond.
enum class Scope { block, device, system };

/// Two halves in a dword, each of which is added to.
struct TwoHalves {
  unsigned bits;
};

/// One kind of atomic on one type. Its words are kept as bits.
template <Kind its_kind, typename ItsValue>
struct Operation {
  static constexpr Kind kind = its_kind;
  using Value = ItsValue;
  using Word = std::conditional_t<sizeof(Value) == 8, unsigned long long, unsigned>;
  static constexpr bool adds =
      kind == Kind::add || kind == Kind::add_one || kind == Kind::unsafe_add;
  static constexpr bool counts_with_integers = std::is_integral_v<Value>;
  // A sum of halves is exact up to 2048 only.
  static constexpr bool counts_far = !std::is_same_v<Value, TwoHalves>;
  static constexpr bool works_in_lds = kind != Kind::unsafe_add;  // where none is needed
  static constexpr bool has_system_scope = counts_far && kind != Kind::unsafe_add;
};

// --- Bits -------------------------------------------------------------------------------------

/// A whole number as a word of the type.
template <typename Op>
typename Op::Word word_of(std::uint64_t number) {
  using Value = typename Op::Value;
  if constexpr (std::is_same_v<Value, TwoHalves>) {
    const auto half = [](std::uint64_t whole) {
      constexpr unsigned bias = 15;
      constexpr unsigned mantissa_bits = 10;
      unsigned exponent = 0;
      while (whole >> (exponent + 1) != 0) {
        ++exponent;
      }
      const auto mantissa = static_cast<unsigned>(whole << (mantissa_bits - exponent));
      return whole == 0 ? 0U : ((exponent + bias - 1) << mantissa_bits) + mantissa;
    };
    return half(number) << 16 | half(number);
  } else {
    const auto value = static_cast<Value>(number);
    return __builtin_bit_cast(typename Op::Word, value);
  }
}

// --- The atomics ------------------------------------------------------------------------------

__device__ inline float as_float(unsigned bits) { return __uint_as_float(bits); }
__device__ inline double as_float(unsigned long long bits) {
  return __longlong_as_double(static_cast<long long>(bits));
}
__device__ inline unsigned as_bits(float value) { return __float_as_uint(value); }
__device__ inline unsigned long long as_bits(double value) {
  return static_cast<unsigned long long>(__double_as_longlong(value));
}

template <Scope scope, typename Value>
__device__ Value add_to(Value* word, Value operand) {
  if constexpr (scope == Scope::system) {
    return atomicAdd_system(word, operand);
  } else {
    return atomicAdd(word, operand);
  }
}

#if !defined(HIPSCOPE_BACKEND_NVIDIA)
__device__ inline unsigned sum_of_halves(unsigned a, unsigned b) {
  __half2 halves[2];
  __builtin_memcpy(&halves[0], &a, sizeof(a));
  __builtin_memcpy(&halves[1], &b, sizeof(b));
  const __half2 sum = __hfma2(halves[0], __float2half2_rn(1.0F), halves[1]);
  unsigned bits = 0;
  __builtin_memcpy(&bits, &sum, sizeof(bits));
  return bits;
}
#endif

/// HIP has no addition of two halves that works on every memory, so a loop does it, as a compiler
/// makes one of the other additions that a GPU has no instruction for.
__device__ inline unsigned add_halves(unsigned* word, unsigned operand) {
#if defined(HIPSCOPE_BACKEND_NVIDIA)
#if defined(__CUDA_ARCH__)
  const __half2 addend = *reinterpret_cast<const __half2*>(&operand);
  const __half2 former = atomicAdd(reinterpret_cast<__half2*>(word), addend);
  return *reinterpret_cast<const unsigned*>(&former);
#else
  return *word + operand;  // the host's part of device code: never called
#endif
#else
  unsigned former = 0;
  unsigned seen = 0;
  do {
    seen = former;
    former = atomicCAS(word, seen, sum_of_halves(seen, operand));
  } while (former != seen);
  return former;
#endif
}

#if defined(HIPSCOPE_BACKEND_AMD)
/// Two halves in device memory. clang 15 has the instruction, where there is one, as a builtin
/// only.
__device__ inline unsigned unsafe_add_halves(unsigned* word, unsigned operand) {
#if defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx942__) || defined(__gfx950__)
  using Halves = _Float16 __attribute__((ext_vector_type(2)));
  using Global = __attribute__((address_space(1))) Halves;
  return __builtin_bit_cast(unsigned, __builtin_amdgcn_global_atomic_fadd_v2f16(
                                          (Global*)word, __builtin_bit_cast(Halves, operand)));
#else
  return add_halves(word, operand);
#endif
}

template <typename Word>
__device__ Word unsafe_add_to(Word* word, Word operand) {
  using Float = decltype(as_float(operand));
  return as_bits(unsafeAtomicAdd(reinterpret_cast<Float*>(word), as_float(operand)));
}
#endif

/// Carries the atomic out; returns what was there before. `operand` is what is added, compared,
/// or stored; a compare-and-swap replaces the number before it.
template <typename Op, Scope scope>
__device__ typename Op::Word apply(typename Op::Word* word, typename Op::Word operand) {
  using Value = typename Op::Value;
  if constexpr (Op::kind == Kind::add_one) {
    return add_to<scope>(word, typename Op::Word{1});
  } else if constexpr (Op::kind == Kind::add && std::is_same_v<Value, TwoHalves>) {
    return add_halves(word, operand);
  } else if constexpr (Op::kind == Kind::add && Op::counts_with_integers) {
    return add_to<scope>(word, operand);
  } else if constexpr (Op::kind == Kind::add) {
    return as_bits(add_to<scope>(reinterpret_cast<Value*>(word), as_float(operand)));
  } else if constexpr (Op::kind == Kind::minimum) {
    return scope == Scope::system ? atomicMin_system(word, operand) : atomicMin(word, operand);
  } else if constexpr (Op::kind == Kind::maximum) {
    return scope == Scope::system ? atomicMax_system(word, operand) : atomicMax(word, operand);
  } else if constexpr (Op::kind == Kind::exchange) {
    return scope == Scope::system ? atomicExch_system(word, operand) : atomicExch(word, operand);
  } else if constexpr (Op::kind == Kind::compare_and_swap) {
    return scope == Scope::system ? atomicCAS_system(word, operand - 1, operand)
                                  : atomicCAS(word, operand - 1, operand);
  } else {
#if defined(HIPSCOPE_BACKEND_AMD)
    if constexpr (std::is_same_v<Value, TwoHalves>) {
      return unsafe_add_halves(word, operand);
    } else {
      return unsafe_add_to(word, operand);
    }
#else
    return operand;  // no row asks for it
#endif
  }
}

/// An addition by a loop of compare-and-swap, as where there is no instruction for it.
__device__ inline void add_by_loop(float* word, float operand) {
  auto* const bits = reinterpret_cast<unsigned*>(word);
  unsigned former = 0;
  unsigned seen = 0;
  do {
    seen = former;
    former = atomicCAS(bits, seen, as_bits(as_float(seen) + operand));
  } while (former != seen);
}

// --- Operands ---------------------------------------------------------------------------------

/// What a lane keeps of what its atomics return: the sum, as far as that tells anything, and of a
/// compare-and-swap how often it found what it compared with.
template <typename Op>
__device__ unsigned tally_of(typename Op::Word returned, typename Op::Word operand) {
  if constexpr (Op::kind == Kind::compare_and_swap) {
    return returned == operand - 1 ? 1 : 0;
  } else if constexpr (Op::counts_with_integers) {
    return static_cast<unsigned>(returned);
  } else if constexpr (std::is_same_v<typename Op::Value, TwoHalves>) {
    return returned;  // its bits, of which a sum tells nothing
  } else {
    return static_cast<unsigned>(as_float(returned));
  }
}

/// An operation as the host sees it: what a word starts with, and what the operands of one lane
/// are: the first one, and what each further one is greater by. An addition adds 1s; a maximum
/// rises and a minimum falls from step to step; an exchange stores numbers of which no two are
/// alike; a compare-and-swap counts.
template <typename Word>
struct OperationOn {
  std::string name;
  Kind kind;
  bool adds;
  bool counts_far;
  Word (*word_of)(std::uint64_t number);

  static constexpr Word high = 1U << 30;

  /// As a number, and as the word's bits.
  [[nodiscard]] std::uint64_t start_number() const { return kind == Kind::minimum ? high : 2; }
  [[nodiscard]] Word start() const { return word_of(start_number()); }

  /// Of a lane's further steps, with this many lanes.
  [[nodiscard]] Word increment(std::uint64_t lanes) const {
    switch (kind) {
      case Kind::minimum:
        return ~Word{0};
      case Kind::maximum:
      case Kind::compare_and_swap:
        return 1;
      case Kind::exchange:
        return static_cast<Word>(lanes);
      default:
        return 0;
    }
  }

  /// Of a lane's first step.
  [[nodiscard]] Word first(std::uint64_t lane) const {
    constexpr unsigned some = 1021;  // so that lanes at one word differ
    switch (kind) {
      case Kind::minimum:
        return static_cast<Word>(high - 1 - lane % some);
      case Kind::maximum:
        return static_cast<Word>(start() + 1 + lane % some);
      case Kind::compare_and_swap:
        return static_cast<Word>(start() + 1);
      case Kind::exchange:
        return static_cast<Word>(start() + 1 + lane);
      default:
        return word_of(1);
    }
  }
};

template <typename Op>
OperationOn<typename Op::Word> describe() {
  using Value = typename Op::Value;
  const std::string type = std::is_same_v<Value, float>       ? "float"
                           : std::is_same_v<Value, double>    ? "double"
                           : std::is_same_v<Value, TwoHalves> ? "two halves"
                           : sizeof(Value) == 8               ? "int64"
                                                              : "int32";
  constexpr std::array kinds = {"add ",     "add a constant 1, ", "unsafe add ",      "minimum ",
                                "maximum ", "exchange ",          "compare-and-swap "};
  return {kinds.at(static_cast<std::size_t>(Op::kind)) + type, Op::kind, Op::adds, Op::counts_far,
          word_of<Op>};
}

using AddInt = Operation<Kind::add, unsigned>;
using AddFloat = Operation<Kind::add, float>;

/// Calls `measure` with each operation and its row's number, which stays its own.
template <typename Measure>
void for_each_operation(Measure measure) {
  using Long = unsigned long long;
  measure(AddInt{}, 1);
  measure(Operation<Kind::add_one, unsigned>{}, 2);
  measure(Operation<Kind::add, Long>{}, 3);
  measure(AddFloat{}, 4);
  measure(Operation<Kind::add, double>{}, 5);
  measure(Operation<Kind::add, TwoHalves>{}, 6);
  measure(Operation<Kind::minimum, unsigned>{}, 7);
  measure(Operation<Kind::maximum, Long>{}, 8);
  measure(Operation<Kind::exchange, unsigned>{}, 9);
  measure(Operation<Kind::exchange, Long>{}, 10);
  measure(Operation<Kind::compare_and_swap, unsigned>{}, 11);
  measure(Operation<Kind::compare_and_swap, Long>{}, 12);
#if defined(HIPSCOPE_BACKEND_AMD)
  measure(Operation<Kind::unsafe_add, float>{}, 13);
  measure(Operation<Kind::unsafe_add, double>{}, 14);
  measure(Operation<Kind::unsafe_add, TwoHalves>{}, 15);
#endif
}

}  // namespace atomics
