// The operations whose latency and rate ilp_tlp measures, what the host makes of them, and what the
// vendors document.
#pragma once

#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <hipscope/hipscope.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

namespace ilp_tlp {

// How many values threads and chains start from: a prime.
constexpr unsigned start_values = 31;

template <typename To, typename From>
__host__ __device__ To same_bits(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(static_cast<void*>(&to), static_cast<const void*>(&from), sizeof(to));
  return to;
}

// What comes as an argument, so that no compiler knows it. As literals factors would make the
// instruction longer on RDNA, and with a multiplier that the compiler knows it might do better than
// multiply.
struct Given {
  unsigned word = 1664525U;
  unsigned other = 1013904223U;
  unsigned largest = 0xFFFFFFFFU;
#if defined(HIPSCOPE_BACKEND_AMD)
  unsigned selector = 0x02010003U;  // of bytes
#else
  unsigned selector = 0x2103U;
#endif
  unsigned amount = 5;  // of bits
  float factor = 1.0F - 0x1p-20F;
  float one = 1.0F;
  float addend = 0x1p-10F;
  std::uint64_t wide = 6364136223846793005U;
  std::uint64_t other_wide = 1442695040888963407U;
  double wide_factor = 1.0 - 0x1p-20;
  double wide_one = 1.0;
  double wide_addend = 0x1p-10;
  unsigned halves = 0x3BFF3BFFU;        // 1 - 2^-11, twice
  unsigned small_halves = 0x14001400U;  // 2^-10, twice: their products and sums of these are exact
  float half_factor = 1.0F - 0x1p-10F;
  unsigned pair_of_factors = 0xBBFEBBFE;  // of -half_factor, as halves
  unsigned pair_of_ones = 0x3C003C00;
};

// Each operation is one step of a chain that stays bounded and never reaches zero, and that the
// host can repeat to the last bit. The FMAs are x -> 1 - factor * x, which jumps about 1/2 and
// nears it slowly.
struct FloatFma {
  using Value = float;
  using Bits = std::uint32_t;
  static constexpr const char* name = "fp32-fma";
  static constexpr const char* title = "FP32 FMA";
  static constexpr unsigned per_lane = 1;  // operations of a lane in one step
  static constexpr unsigned flops = 2;     // arithmetic operations, of which an FMA is two
  static Value start(unsigned i) { return static_cast<float>(i + 1) * 0x1p-6F; }
  __host__ __device__ static Value step(Value x, const Given& given) {
    return fmaf(x, -given.factor, 1.0F);
  }
};

// The same with all three operands in registers of each lane, as in a matrix product.
struct FloatFmaOfRegisters : FloatFma {
  __host__ __device__ static Value step(Value x, const Given& given) {
    return fmaf(x, -given.factor, given.one);
  }
};

struct FloatAdd : FloatFma {
  static constexpr const char* name = "fp32-add";
  static constexpr const char* title = "FP32 ADD";
  static constexpr unsigned flops = 1;
  __host__ __device__ static Value step(Value x, const Given& /*given*/) { return x + 0x1.8p-10F; }
};

struct FloatMul : FloatFma {
  static constexpr const char* name = "fp32-mul";
  static constexpr const char* title = "FP32 MUL";
  static constexpr unsigned flops = 1;
  __host__ __device__ static Value step(Value x, const Given& /*given*/) {
    return x * (1.0F + 0x1p-20F);
  }
};

struct DoubleFma {
  using Value = double;
  using Bits = std::uint64_t;
  static constexpr const char* name = "fp64-fma";
  static constexpr const char* title = "FP64 FMA";
  static constexpr unsigned per_lane = 1;
  static constexpr unsigned flops = 2;
  static Value start(unsigned i) { return (i + 1) * 0x1p-6; }
  __host__ __device__ static Value step(Value x, const Given& /*given*/) {
    return fma(x, -(1.0 - 0x1p-20), 1.0);
  }
};

// Two FMAs of 11-bit halves. All operands are pairs in registers, neither literals nor a half for
// both nor negated: only of such does NVIDIA's compiler use both units of sm_90 for packed halves
// (HFMA2 and HFMA2.MMA, in turn). Such a chain remembers
// its start and its length for 700 to 1000 steps and then goes on between two values.
struct PackedHalfFma {
  using Value = __half2;
  using Bits = std::uint32_t;
  static constexpr const char* name = "fp16-packed-fma";
  static constexpr const char* title = "FP16 packed FMA";
  static constexpr unsigned per_lane = 2;
  static constexpr unsigned flops = 4;
  static Value start(unsigned i) {
    const auto one = [](unsigned n) { return static_cast<float>(64 + n % start_values) * 0x1p-9F; };
    return __floats2half2_rn(one(i), one(i + 7));
  }
  __device__ static Value step(Value x, const Given& given) {
    return __hfma2(x, same_bits<Value>(given.pair_of_factors),
                   same_bits<Value>(given.pair_of_ones));
  }
  // From these starts every exact sum fits into a float, so that it is rounded once.
  static Value reference(Value x, const Given& given) {
    return __floats2half2_rn(std::fma(__low2float(x), -given.half_factor, 1.0F),
                             std::fma(__high2float(x), -given.half_factor, 1.0F));
  }
};

// The same with a literal addend, which NVIDIA's compiler makes HFMA2 alone of.
struct PackedHalfFmaOfLiteral : PackedHalfFma {
  __device__ static Value step(Value x, const Given& given) {
    return __hfma2(x, __float2half2_rn(-given.half_factor), __float2half2_rn(1.0F));
  }
};

// A generator of pseudo-random numbers.
struct IntegerMad {
  using Value = std::uint32_t;
  using Bits = std::uint32_t;
  static constexpr const char* name = "int32-mad";
  static constexpr const char* title = "INT32 MAD";
  static constexpr unsigned per_lane = 1;
  static constexpr unsigned flops = 2;
  static Value start(unsigned i) { return i * 2654435761U + 1; }
  __host__ __device__ static Value step(Value x, const Given& given) {
    return x * given.word + given.other;
  }
};

// Two FP32 FMAs, which are one instruction where there are packed ones (from gfx90a on).
struct FloatPairFma {
  struct Value {
    float first, second;
  };
  using Bits = std::uint64_t;
  static constexpr const char* name = nullptr;
  static constexpr const char* title = "FP32 FMA in pairs";
  static constexpr unsigned per_lane = 2;
  static constexpr unsigned flops = 4;
  static Value start(unsigned i) { return {FloatFma::start(i), FloatFma::start(i + 7)}; }
  __host__ __device__ static Value step(Value x, const Given& given) {
    return {fmaf(x.first, -given.factor, 1.0F), fmaf(x.second, -given.factor, 1.0F)};
  }
};

// Operations per cycle and CU that the vendors document (CUDA C++ programming guide, throughput of
// native arithmetic instructions; AMD's white papers on Vega, CDNA and RDNA 2). 0: none found.
enum Documented : unsigned { fp32, fp32_pairs, fp64, fp16, int32 };
inline const std::map<std::string, std::array<double, 5>> documented_rates = {
    {"sm_90", {128, 128, 64, 256, 64}}, {"gfx900", {64, 64, 4, 128, 0}},
    {"gfx906", {64, 64, 32, 128, 0}},   {"gfx908", {64, 64, 32, 128, 0}},
    {"gfx90a", {64, 128, 64, 128, 0}},  {"gfx1030", {64, 64, 4, 128, 0}}};

// Words of 4 or 8 bytes on the device, each of which the host has in 64 bits.
class Words {
 public:
  Words(std::size_t count, unsigned bytes) : bytes_(bytes), dwords_(count * bytes / 4) {}
  Words(const std::vector<std::uint64_t>& values, unsigned bytes) : Words(values.size(), bytes) {
    std::vector<unsigned char> packed(values.size() * bytes);
    for (std::size_t i = 0; i < values.size(); ++i) {
      memcpy(packed.data() + i * bytes, &values[i], bytes);  // little endian
    }
    hipscope::check(hipMemcpy(data(), packed.data(), packed.size(), hipMemcpyHostToDevice));
  }

  [[nodiscard]] void* data() const { return dwords_.data(); }
  void poison() { dwords_.poison(); }
  [[nodiscard]] std::vector<std::uint64_t> to_host() const {
    const std::vector<std::uint32_t> dwords = dwords_.to_host();
    std::vector<std::uint64_t> values(dwords.size() * 4 / bytes_);
    for (std::size_t i = 0; i < values.size(); ++i) {
      memcpy(&values[i], dwords.data() + i * bytes_ / 4, bytes_);
    }
    return values;
  }

 private:
  unsigned bytes_;
  hipscope::DeviceBuffer<std::uint32_t> dwords_;
};

constexpr unsigned largest_block = 1024;
constexpr unsigned most_chains = 8;

// When a wave began and ended by its CU's cycle counter (a reading, and that with what has
// elapsed), and which CU it was.
struct WaveTime {
  long long start;
  long long end;
  unsigned compute_unit;
};

using Kernel = void (*)(const void* starts, void* ends, WaveTime* times, unsigned rounds,
                        Given given);

// An operation as the host sees it, whatever its words stand for.
struct OperationRow {
  const char* name = nullptr;  // of its sweeps; null: it has rows of sweep peak alone
  std::string title{};
  unsigned per_lane = 0;
  unsigned flops = 0;
  Documented documented = fp32;
  unsigned bytes = 0;
  std::uint64_t (*start)(unsigned i) = nullptr;
  std::uint64_t (*step)(std::uint64_t x) = nullptr;
  std::array<Kernel, most_chains> kernels{};  // of 1, 2 ... chains
  std::map<std::uint64_t, std::vector<std::uint64_t>> known_ends{};

  // The ends of the chains from all start values after that many steps, as the device must give
  // them.
  const std::vector<std::uint64_t>& ends_after(std::uint64_t steps) {
    const auto [known, is_new] = known_ends.try_emplace(steps);
    for (unsigned i = 0; i < start_values && is_new; ++i) {
      std::uint64_t x = start(i);
      for (std::uint64_t done = 0; done < steps; ++done) {
        x = step(x);
      }
      known->second.push_back(x);
    }
    return known->second;
  }

  // Operations per cycle and CU; 0: not known.
  [[nodiscard]] double documented_rate(const std::string& architecture) const {
    const auto found = documented_rates.find(architecture.substr(0, architecture.find(':')));
    return found == documented_rates.end() ? 0 : found->second[documented];
  }
};

// Gives the operands of FloatFmaOfRegisters to each lane: adding 0 * x, which no compiler may leave
// out, changes no value and makes it one of the lane's own.
template <typename Operation>
__device__ void load_operands([[maybe_unused]] Given& given,
                              [[maybe_unused]] typename Operation::Value x) {
  if constexpr (std::is_same_v<Operation, FloatFmaOfRegisters>) {
    given.factor = fmaf(x, 0.0F, given.factor);
    given.one = fmaf(x, 0.0F, given.one);
  }
}

// One step. clang would put two into one: the FP32 steps of two chains in a packed instruction
// (v_pk_fma_f32). An empty assembly statement, which for all that clang knows changes its operand,
// keeps them apart.
template <typename Operation>
__device__ typename Operation::Value separate_step(typename Operation::Value x,
                                                   const Given& given) {
  x = Operation::step(x, given);
#if defined(__HIP_DEVICE_COMPILE__)
  if constexpr (std::is_arithmetic_v<typename Operation::Value>) {
    asm("" : "+v"(x));
  }
#endif
  return x;
}

// Makes the integers of the next step others than those of the last, for all that clang knows. Of
// 1024 multiplications by the same value clang 22 compares each with all before it, in search of
// one that could be saved: three quarters of the time that this file took to compile. It costs up
// to four scalar moves in a loop of 2048 instructions.
template <typename Operation>
__device__ void renew_operands([[maybe_unused]] Given& given) {
#if defined(__HIP_DEVICE_COMPILE__) && __clang_major__ >= 22
  if constexpr (std::is_integral_v<typename Operation::Value>) {
    asm("" : "+s"(given.word), "+s"(given.other));
  }
#endif
}

// The value, once it is there. Left to itself clang 22 puts the wait for it into the loop that is
// timed.
template <typename Bits>
__device__ Bits loaded(Bits value) {
#if defined(__HIP_DEVICE_COMPILE__)
  asm volatile("" : "+v"(value));
#endif
  return value;
}

}  // namespace ilp_tlp
