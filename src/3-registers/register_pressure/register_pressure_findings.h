// What register_pressure concludes from its curves, and what the rungs, the sweeps and the values
// are called that tell of them. Plain C++, no GPU headers.
#pragma once

#include <string>
#include <vector>

#include "hipscope/experiment.h"

namespace hipscope::register_pressure {

// L's five, as it names them, and ours.
constexpr const char* baseline_name = "baseline";
constexpr const char* no_pow_name = "no pow";
constexpr const char* moved_name = "definitions moved";
constexpr const char* restrict_one_name = "restrict on g14";
constexpr const char* restrict_two_name = "restrict on g14 and g7";
constexpr const char* bounded_name = "launch bound of 256";
constexpr const char* restrict_all_name = "bound, restrict on all";
constexpr const char* more_waves_name = "bound, more waves";
constexpr const char* parked_name = "bound, more waves, LDS";
constexpr const char* parked_bounded_name = "bound, LDS";
constexpr const char* object_name = "arguments in one object";
constexpr const char* constant_name = "arguments in constant memory";
constexpr const char* unrolled_name = "loops, unrolled";
constexpr const char* loop_name = "loops";
constexpr const char* stack_name = "loops, array on the stack";

/// The sweep of the stages, whose x is 1 for the first one.
constexpr const char* stages_sweep = "stages";
/// Its references come before the stages.
constexpr double copy_x = -1;
constexpr double streams_x = 0;

constexpr const char* updates = "updates";
constexpr const char* updates_unit = "million/s";
constexpr const char* share_of_copy = "share of copy";

/// A sweep over the waves on each CU, and the stage of which it is.
struct WavesOf {
  std::string sweep;
  std::string stage;
};

/// From sweep stages ("time", "registers", "scratch", "resident", share_of_copy), whose stages are
/// named in order: what each change to the kernel gains, and the fastest stage beside the copy.
/// From the sweeps over waves (updates): how many waves a stage needs. Throws std::logic_error when
/// a stage that it speaks of has another name, or has no such value.
void conclude(Results& results, const std::vector<std::string>& stages,
              const std::vector<WavesOf>& waves);

}  // namespace hipscope::register_pressure
