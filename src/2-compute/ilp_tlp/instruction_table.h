// Sweep instructions of ilp_tlp: each instruction's latency, by a chain in one wave, and its rate,
// by as many chains as a block has threads.
#pragma once

#include <hipscope/hipscope.h>
#include <hipscope/timed_rounds.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "instructions.h"
#include "operations.h"

namespace ilp_tlp {

// Steps in the body of the loop: its own three or four instructions are two percent of it.
constexpr unsigned body_of_row = 192;

template <Step step>
__global__ void __launch_bounds__(largest_block)
    instruction_kernel(const void* starts, void* ends, hipscope::WaveTime* times, unsigned rounds,
                       Given given) {
  constexpr unsigned slot_words = lds_load_bytes(step) / 4;
  constexpr unsigned words = slot_words + lds_round_bytes(step) / 4 + is_lds_atomic(step);
  __shared__ uint4 storage[words != 0 ? largest_block * words / 4 : 1];
  const unsigned lane = threadIdx.x % warpSize;
  const unsigned next_lane = (lane + 1) % warpSize;
  Word<step> x = loaded(static_cast<const Word<step>*>(starts)[lane]);
  auto* const lds = reinterpret_cast<unsigned*>(storage);
  Mine mine = {.neighbour = next_lane,
               .bit = 1U << lane % 32U,
               .lds = lds,
               .word = lds + threadIdx.x,
               .address = hipscope::lds_address(storage) + threadIdx.x * lds_round_bytes(step)};
  if constexpr (is_lds_atomic(step)) {
    *mine.word = x;
  }
  if constexpr (lds_round_bytes(step) != 0) {
    mine.words = {{x, x, x, x}};
  }
  [[maybe_unused]] unsigned origin = 0;
  if constexpr (slot_words != 0) {
    origin = hipscope::lds_address(storage) + (threadIdx.x - lane) * 4 * slot_words;
    for (unsigned i = 0; i < slot_words; ++i) {
      mine.lds[threadIdx.x * slot_words + i] = origin + next_lane * 4 * slot_words;
    }
    x = origin + x * 4 * slot_words;
  }
  const hipscope::WaveTime time = hipscope::time_rounds<true>(rounds, [&] {
#pragma unroll
    for (unsigned i = 0; i < body_of_row; ++i) {
      x = hidden(device_step<step>(x, given, mine));
    }
  });
  if constexpr (slot_words != 0) {
    x = (x - origin) / (4 * slot_words);
  }
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  static_cast<Word<step>*>(ends)[thread] = x;
  if (lane == 0) {
    times[threadIdx.x / warpSize] = time;
  }
}

// What a lane begins with.
inline std::uint64_t start_of(Step step, unsigned lane) {
  if (lds_load_bytes(step) != 0) {
    return lane;
  }
  if (step == Step::shift) {
    return lane % 6;
  }
  if (step == Step::int_float) {
    return IntegerMad::start(lane) >> 8U;  // that a float holds exactly
  }
  if (step == Step::float_pair_fma) {
    return same_bits<std::uint64_t>(FloatPairFma::start(lane));
  }
  if (step <= Step::count_bits || step == Step::byte_float || step == Step::int_double ||
      (step >= Step::shuffle && step != Step::half_dot)) {
    return IntegerMad::start(lane);
  }
  if (is_half(step)) {
    return same_bits<unsigned>(PackedHalfFma::start(lane));
  }
  return is_wide(step) ? same_bits<std::uint64_t>(DoubleFma::start(lane))
                       : same_bits<unsigned>(FloatFma::start(lane));
}

inline std::vector<std::uint64_t> starts_of(Step step, unsigned lanes) {
  std::vector<std::uint64_t> starts;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    starts.push_back(start_of(step, lane));
  }
  return starts;
}

// Chains that come to a fixed point, such as square roots, forget how long they are: for these the
// compiled code alone tells that no step is missing.
inline void check_ends(hipscope::Point& point, const Instruction& instruction,
                       const std::vector<std::uint64_t>& ends, unsigned lanes,
                       std::uint64_t steps) {
  const Given given;
  std::vector<std::uint64_t> wave = starts_of(instruction.step, lanes);
  std::vector<std::uint64_t> memory = wave;
  for (std::uint64_t i = 0; i < steps; ++i) {
    host_step(instruction, wave, memory, given);
  }
  const std::string what = "ends of " + std::to_string(steps) + " steps";
  if (is_approximate(instruction.step)) {
    constexpr double tolerance = 2e-3;
    const auto as_float = [](std::uint64_t word) {
      return same_bits<float>(static_cast<unsigned>(word));
    };
    std::vector<float> floats(ends.size());
    std::transform(ends.begin(), ends.end(), floats.begin(), as_float);
    point.check(
        what, floats, [&](std::uint64_t i) { return as_float(wave[i % lanes]); }, tolerance);
  } else {
    point.check(what, ends, [&](std::uint64_t i) { return wave[i % lanes]; });
  }
}

using hipscope::Sweep;

class InstructionRows {
 public:
  InstructionRows(Sweep& sweep, std::uint64_t rounds) : sweep_(sweep), rounds_(rounds) {
    sweep.axis({.name = "instruction"});
    sweep.headline("rate");
    sweep.note("latency: of a chain in one wave; rate: of a block of 1024 chains on one CU");
  }

  template <Step step>
  void add(const char* label) {
    add(label, {.step = step,
                .word_bytes = sizeof(Word<step>),
                .kernel = instruction_kernel<step>,
                .next = [](std::uint64_t word, const Given& given) -> std::uint64_t {
                  return next_word<step>(static_cast<Word<step>>(word), given);
                }});
  }

 private:
  void add(const std::string& label, const Instruction& instruction) {
    const auto lanes = static_cast<unsigned>(sweep_.device().wave_size);
    constexpr unsigned threads_on_host = 128;
    auto point = sweep_.point(label, ++rows_);
    point.value("latency", measure(point, instruction, "one wave", lanes), "cycles");
    const unsigned threads = sweep_.is_hardware() ? largest_block : threads_on_host;
    point.value("rate", threads / measure(point, instruction, "a block", threads),
                "lanes/cycle/CU");
  }

  // The cycles of a step.
  double measure(hipscope::Point& point, const Instruction& instruction, const std::string& what,
                 unsigned threads) {
    const auto lanes = static_cast<unsigned>(sweep_.device().wave_size);
    const Words starts(starts_of(instruction.step, lanes), instruction.word_bytes);
    Words ends(threads, instruction.word_bytes);
    hipscope::WaveTimes unused(threads / lanes);
    hipscope::WaveTimes all(threads / lanes);
    hipscope::WaveTimes none(threads / lanes);
    const auto run = [&](hipscope::WaveTime* times, std::uint64_t rounds) {
      hipscope::launch(instruction.kernel, {.grid = dim3(1), .block = dim3(threads)}, starts.data(),
                       ends.data(), times, static_cast<unsigned>(rounds), Given{});
    };
    for (const std::uint64_t rounds : {std::uint64_t{0}, rounds_}) {
      ends.poison();
      run(unused.next(), rounds);
      check_ends(point, instruction, ends.to_host(), lanes,
                 (hipscope::warm_up_rounds + rounds) * body_of_row);
    }
    point.measure([&] { run(all.next(), rounds_); }, {.name = what, .batch = 1});
    point.measure([&] { run(none.next(), 0); }, {.name = what + ", no steps", .batch = 1});
    const double cycles = sweep_.counted(all.take(point) - none.take(point));
    return cycles / static_cast<double>(rounds_ * body_of_row);
  }

  Sweep& sweep_;
  std::uint64_t rounds_;
  unsigned rows_ = 0;
};

inline void measure_instructions(Sweep& sweep, std::uint64_t rounds) {
  InstructionRows rows(sweep, rounds);
  rows.add<Step::add>("INT32 add, then XOR");
  rows.add<Step::shift_add>("INT32 shift and add");
  rows.add<Step::minimum>("INT32 minimum, then XOR");
  rows.add<Step::multiply>("INT32 multiply");
  rows.add<Step::multiply_high>("INT32 multiply, upper half");
  rows.add<Step::multiply_add>("INT32 multiply-add");
  rows.add<Step::multiply_add_wide>("INT32 multiply to INT64, and add");
  rows.add<Step::shift>("shift by a lane's amount");
  rows.add<Step::rotate>("rotate");
  rows.add<Step::permute_bytes>("byte permute");
  rows.add<Step::reverse_bits>("bit reverse");
  rows.add<Step::count_bits>("population count");
  rows.add<Step::float_add>("FP32 add");
  rows.add<Step::float_multiply>("FP32 multiply");
  rows.add<Step::float_fma>("FP32 FMA");
  rows.add<Step::float_maximum>("FP32 maximum");
  rows.add<Step::float_floor>("FP32 floor");
  rows.add<Step::float_round>("FP32 round");
  rows.add<Step::double_add>("FP64 add");
  rows.add<Step::double_multiply>("FP64 multiply");
  rows.add<Step::double_fma>("FP64 FMA");
  rows.add<Step::half_add>("FP16 packed add");
  rows.add<Step::half_multiply>("FP16 packed multiply");
  rows.add<Step::half_fma>("FP16 packed FMA");
  rows.add<Step::int_float>("INT32 to FP32 and back");
  rows.add<Step::byte_float>("UINT8 to FP32 and back");
  rows.add<Step::float_half>("FP32 to FP16 and back");
  rows.add<Step::float_double>("FP32 to FP64 and back");
  rows.add<Step::int_double>("INT32 to FP64 and back");
  rows.add<Step::reciprocal>("reciprocal, then FP32 add");
  rows.add<Step::reciprocal_root>("reciprocal square root");
  rows.add<Step::root>("square root");
  rows.add<Step::exponential>("exp2");
  rows.add<Step::exponential_logarithm>("exp2, then log2");
  rows.add<Step::sine>("sine (with a multiply)");
  rows.add<Step::cosine>("cosine (with a multiply)");
#if !defined(HIPSCOPE_BACKEND_AMD)
  rows.add<Step::hyperbolic_tangent>("tanh");
#endif
  rows.add<Step::shuffle>("shuffle");
  rows.add<Step::shuffle_xor>("shuffle by XOR");
#if defined(HIPSCOPE_BACKEND_AMD)
  rows.add<Step::row_rotation>("DPP row rotation");
#endif
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  rows.add<Step::wave_maximum>("maximum of a wave");
#endif
  rows.add<Step::lds_load_4>("LDS load of 4 bytes");
  rows.add<Step::lds_load_8>("LDS load of 8 bytes");
  rows.add<Step::lds_load_16>("LDS load of 16 bytes");
  rows.add<Step::lds_add>("LDS atomic add");
  rows.add<Step::byte_dot>("INT8 dot product of 4");
#if !defined(HIPSCOPE_BACKEND_NVIDIA)
  rows.add<Step::half_dot>("FP16 dot product of 2");
#endif
  rows.add<Step::leading_zeros>("leading zeros");
  rows.add<Step::float_pair_fma>("FP32 FMA of a pair");
  rows.add<Step::add_wide>("INT64 add, then XOR");
#if !defined(HIPSCOPE_BACKEND_NVIDIA)
  rows.add<Step::multiply_24>("INT32 multiply of 24 bits");
#endif
  rows.add<Step::select>("INT32 compare and select");
  rows.add<Step::ballot>("ballot of a bit");
  rows.add<Step::vote>("vote: any lane, then select");
#if !defined(HIPSCOPE_BACKEND_NVIDIA)
  rows.add<Step::first_lane>("first lane's value, then add");
#endif
  rows.add<Step::lds_exchange>("LDS exchange");
  rows.add<Step::lds_round_4>("LDS store and load of 4 bytes");
  rows.add<Step::lds_round_8>("LDS store and load of 8 bytes");
  rows.add<Step::lds_round_16>("LDS store and load of 16 bytes");
  rows.add<Step::barrier>("barrier of a block");
}

}  // namespace ilp_tlp
