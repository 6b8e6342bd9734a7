// How many lanes are gathered at their words, checked and timed.
#pragma once

#include <hipscope/hipscope.h>
#include <hipscope/timed_rounds.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "operations.h"
#include "words.h"

namespace atomics {

/// Atomics of a lane in each round.
inline constexpr unsigned body_steps = 8;
inline constexpr unsigned largest_block = 1024;
inline constexpr unsigned smallest_block = 64;  // a wave, however many lanes it has

/// A block of `threads` on each CU, in whole waves.
inline Crew whole_device(const hipscope::Sweep& sweep, std::uint64_t threads) {
  const auto wave_size = static_cast<unsigned>(sweep.device().wave_size);
  return {.blocks = static_cast<unsigned>(sweep.device().compute_units),
          .threads = static_cast<unsigned>(threads) / wave_size * wave_size,
          .wave_size = wave_size};
}

/// As notes of sweeps say it.
inline std::string block_on_each(const Crew& crew) {
  return "a block of " + std::to_string(crew.threads) + " threads on each CU";
}

/// Where lanes do not meet, an atomic is so much faster that it takes more of them to time it.
inline unsigned rounds_for(const hipscope::Sweep& sweep, Pattern pattern, std::uint64_t rounds) {
  constexpr unsigned more = 16;
  const bool is_crowded = pattern == Pattern::one_address || pattern == Pattern::one_line;
  return static_cast<unsigned>(rounds) * (is_crowded || !sweep.is_hardware() ? 1 : more);
}

/// A kernel whose lanes work on words of L2: words, each lane's word and first operand, by how much
/// the operands have risen in the launches before, and rise from step to step, what each lane keeps
/// of what is returned, and the rounds.
template <typename Word>
struct L2Kernel {
  void (*function)(Word*, const unsigned*, const Word*, Word, Word, unsigned*, unsigned);
  bool returns;
};

/// One whose block has its words in LDS. It is told how many there are and what they start with,
/// stores them at the end, and tells each wave's time.
template <typename Word>
struct LdsKernel {
  void (*function)(Word*, unsigned, Word, const unsigned*, const Word*, Word, unsigned*,
                   hipscope::WaveTime*, unsigned);
  bool returns;
};

/// The lanes of a launch, each with its word and its first operand.
template <typename Word>
class Gathering {
 public:
  Gathering(const OperationOn<Word>& operation, Pattern pattern, const Crew& crew)
      : operation_(operation),
        crew_(crew),
        places_(places_of(pattern, crew, sizeof(Word))),
        device_places_(std::span<const unsigned>(places_)),
        operands_(std::span<const Word>(first_operands())),
        words_(std::span<const Word>(std::vector<Word>(words_in(places_), operation.start()))),
        tallies_(crew.lanes()) {}

  void run(const L2Kernel<Word>& kernel, unsigned rounds) {
    const Kind kind = operation_.kind;
    const bool falls = kind == Kind::minimum;
    const bool rises = kind == Kind::maximum || kind == Kind::compare_and_swap;
    const Word base = falls ? 0 - before_ : rises ? before_ : 0;
    hipscope::launch(kernel.function, {.grid = dim3(crew_.blocks), .block = dim3(crew_.threads)},
                     words_.data(), device_places_.data(), operands_.data(), base,
                     operation_.increment(crew_.lanes()), tallies_.data(), rounds);
    before_ += rounds * body_steps;
  }

  void run(const LdsKernel<Word>& kernel, unsigned rounds, hipscope::WaveTime* times) {
    const auto lds_bytes = static_cast<std::uint32_t>(words_.size() * sizeof(Word));
    hipscope::launch(
        kernel.function, {.grid = dim3(1), .block = dim3(crew_.threads), .lds_bytes = lds_bytes},
        words_.data(), words_.size(), operation_.start(), device_places_.data(), operands_.data(),
        operation_.increment(crew_.lanes()), tallies_.data(), times, rounds);
  }

  /// Checks what the one launch so far has left, of `steps` in each lane.
  void verify(hipscope::Point& point, const std::string& name, bool returns, std::uint64_t steps) {
    Expectation<Word>(operation_, places_, steps)
        .verify(point, name, words_.to_host(),
                returns ? tallies_.to_host() : std::vector<unsigned>());
  }

 private:
  [[nodiscard]] std::vector<Word> first_operands() const {
    std::vector<Word> operands(crew_.lanes());
    for (unsigned lane = 0; lane < crew_.lanes(); ++lane) {
      operands[lane] = operation_.first(lane);
    }
    return operands;
  }

  const OperationOn<Word>& operation_;
  Crew crew_;
  std::vector<unsigned> places_;
  hipscope::DeviceBuffer<unsigned> device_places_;
  hipscope::DeviceBuffer<Word> operands_;
  hipscope::DeviceBuffer<Word> words_;
  hipscope::DeviceBuffer<unsigned> tallies_;
  Word before_ = 0;
};

/// Sums of halves are exact only as far as one wave and one round go: so much of them is checked.
inline Crew checked_crew(const Crew& crew, bool counts_far) {
  return counts_far ? crew
                    : Crew{.blocks = 1, .threads = crew.wave_size, .wave_size = crew.wave_size};
}

/// Adds the atomics per second, of all lanes together, to the row.
template <typename Word>
void measure_rate(hipscope::Point& point, const std::string& name,
                  const OperationOn<Word>& operation, const L2Kernel<Word>& kernel, Pattern pattern,
                  const Crew& crew, unsigned rounds) {
  const unsigned checked_rounds = operation.counts_far ? rounds : 1;
  Gathering<Word> checked(operation, pattern, checked_crew(crew, operation.counts_far));
  checked.run(kernel, checked_rounds);
  checked.verify(point, name, kernel.returns, std::uint64_t{checked_rounds} * body_steps);
  Gathering<Word> gathering(operation, pattern, crew);
  const auto time = point.measure([&] { gathering.run(kernel, rounds); }, {.name = name + " time"});
  const double atomics = static_cast<double>(body_steps) * rounds * crew.lanes();
  point.value(name, 1e-9 * atomics / time.seconds().median, "G/s");
}

/// Adds the atomics per cycle of the one block's lanes to the row.
template <typename Word>
void measure_rate(const hipscope::Sweep& sweep, hipscope::Point& point, const std::string& name,
                  const OperationOn<Word>& operation, const LdsKernel<Word>& kernel,
                  Pattern pattern, const Crew& crew, unsigned rounds) {
  const unsigned checked_rounds = operation.counts_far ? rounds : 1;
  const unsigned waves = crew.threads / crew.wave_size;
  hipscope::WaveTimes unused(waves);
  Gathering<Word> checked(operation, pattern, checked_crew(crew, operation.counts_far));
  checked.run(kernel, checked_rounds, unused.next());
  checked.verify(point, name, kernel.returns,
                 std::uint64_t{hipscope::warm_up_rounds + checked_rounds} * body_steps);
  hipscope::WaveTimes times(waves);
  Gathering<Word> gathering(operation, pattern, crew);
  point.measure([&] { gathering.run(kernel, rounds, times.next()); },
                {.name = name + " time", .batch = 1});
  const double atomics = static_cast<double>(body_steps) * rounds * crew.lanes();
  point.value(name, atomics / sweep.counted(times.take(point)), "lanes/cycle");
}

}  // namespace atomics
