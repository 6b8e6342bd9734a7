// Shared by the ladders of matrix products: the checks and measurements of their stages and of the
// vendor's library. Sweeps:
//   stages           the ladder at one size
//   sizes            the last stages and the vendor's library at powers of two and between
//   odd              the same at odd sizes, and the average over them
//   shapes           the same for tall and flat matrices
//   against-library  the last stages and the library, measured in turn
//   awkward          every stage where nothing is a multiple of its tile: single rows and columns,
//                    k = 0, alpha = 0 with NaN in A and B, beta = 0 with NaN in C, rows with gaps;
//                    stages that pass sums from block to block also with blocks that start late
//                    (busy_units.h); checked, not measured
// The peak that shares refer to is FMAs per cycle of all CUs (NVIDIA: SMs) at the clock of each
// measurement.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cases.h"
#include "judge.h"
#include "ladder_findings.h"
#include "library.h"
#include "problem.h"
#include "stage.h"

namespace gemm {

using hipscope::number;
using hipscope::Sweep;

/// A ladder: what is measured, and of which arithmetic.
template <typename Value>
struct LadderDescription {
  std::string name;        ///< "SGEMM"
  std::string arithmetic;  ///< what the library is to compute in: "FP32 without TF32"
  std::vector<Stage<Value>> stages;
  /// FMAs of one CU of an architecture per cycle by such a unit; NaN for what is not listed.
  double (*fmas_per_cycle)(const std::string& architecture, Unit unit);
  unsigned odd_sizes;                ///< how many sweep odd has on a GPU, two at least
  std::vector<std::string> notes{};  ///< under the title of sweep stages
};

/// Declares an experiment's sizes and sweeps; must live until the experiment has run.
template <typename Value>
class Ladder {
 public:
  Ladder(hipscope::Experiment& experiment, LadderDescription<Value> description)
      : description_(std::move(description)),
        // --tiny: of the largest tile, 128 x 256, there are two blocks, of 64 x 64 nine, the last
        // of each row and column partial. 72 along k are nine steps of 8, or four and a half of 16:
        // more than LDS has buffers of those, and enough for all CUs to share a tile.
        m_(experiment.size("--m", "rows of A and C in sweeps stages and against-library",
                           {.gpu = 4096, .quick = 1024, .host = 68, .tiny = 136, .maximum = most})),
        n_(experiment.size("--n", "columns of B and C there",
                           {.gpu = 4096, .quick = 1024, .host = 76, .tiny = 136, .maximum = most})),
        k_(experiment.size("--k", "columns of A and rows of B there",
                           {.gpu = 4096, .quick = 1024, .host = 20, .tiny = 72, .maximum = most})),
        largest_(experiment.size("--largest", "the largest M = N = K of sweep sizes",
                                 {.gpu = 8192, .quick = 1536, .host = 64, .maximum = most})),
        largest_odd_(experiment.size("--largest-odd",
                                     "that of sweep odd, whose smallest is about a sixth of it",
                                     {.gpu = 5999, .quick = 1999, .host = 67, .maximum = most})),
        largest_shapes_(experiment.size(
            "--largest-shapes", "the long sides of sweep shapes; K is up to four times that",
            {.gpu = 4096, .quick = 1024, .host = 40, .tiny = 20, .maximum = most / 4})),
        largest_awkward_(experiment.size(
            "--largest-awkward",
            "the largest extents of sweep awkward, where they are not under 260",
            {.gpu = 4097, .quick = 1025, .host = 67, .minimum = 3, .maximum = most})) {
    experiment.sweep("stages", "the ladder", [this](Sweep& sweep) { measure_stages(sweep); });
    // What they run, stages and awkward run too; shapes has small products of other splits.
    experiment.sweep(
        "sizes", "the last stages and the library against the size",
        [this](Sweep& sweep) { measure_sizes(sweep); }, hipscope::InTiny::left_out);
    experiment.sweep(
        "odd", "the last stages and the library at odd sizes",
        [this](Sweep& sweep) { measure_odd(sweep); }, hipscope::InTiny::left_out);
    experiment.sweep("shapes", "the last stages and the library at tall and flat shapes",
                     [this](Sweep& sweep) { measure_shapes(sweep); });
    experiment.sweep("against-library", "the last stages in turn with the library",
                     [this](Sweep& sweep) { measure_against_library(sweep); });
    experiment.sweep("awkward", "every stage at awkward sizes, checked",
                     [this](Sweep& sweep) { check_awkward(sweep); });
  }

  /// Draws what the sweep over the stages shows: the best of each unit.
  void conclude(hipscope::Results& results) const {
    std::vector<LadderRow> rows;
    for (const Stage<Value>& stage : stages()) {
      rows.push_back({label_of(stage), stage.unit == Unit::matrix});
    }
    conclude_ladder(results, description_.name, rows);
  }

  [[nodiscard]] const std::vector<Stage<Value>>& stages() const { return description_.stages; }

  /// Of sweeps stages and against-library.
  [[nodiscard]] Extents size() const {
    return {.m = static_cast<unsigned>(m_),
            .n = static_cast<unsigned>(n_),
            .k = static_cast<unsigned>(k_),
            .lda = static_cast<unsigned>(k_),
            .ldb = static_cast<unsigned>(n_),
            .ldc = static_cast<unsigned>(n_)};
  }

  /// The largest extents of sweep awkward.
  [[nodiscard]] unsigned largest_awkward() const { return static_cast<unsigned>(largest_awkward_); }

 private:
  // A matrix has fewer than 2^32 elements then, padding included.
  static constexpr std::uint64_t most = 1U << 15;

  // --- What a device could do

  [[nodiscard]] double peak_fmas_per_cycle(const Sweep& sweep, Unit unit) const {
    return description_.fmas_per_cycle(sweep.device().architecture, unit) *
           sweep.device().compute_units;
  }

  void note_peak(Sweep& sweep) const {
    if (!sweep.is_hardware()) {
      return;
    }
    const std::string& architecture = sweep.device().architecture;
    const double vector = description_.fmas_per_cycle(architecture, Unit::vector);
    const double matrix = description_.fmas_per_cycle(architecture, Unit::matrix);
    if (std::isnan(vector)) {
      sweep.note("the peak of " + architecture + " is not listed: there are no shares of it");
      return;
    }
    sweep.note("peak: " + number(vector) + " FMAs per cycle of each of " +
               std::to_string(sweep.device().compute_units) +
               " CUs, at the clock of each measurement" +
               (matrix == vector
                    ? ""
                    : "; of stages with matrix instructions, and the library, " + number(matrix)));
  }

  void add_rate(const Sweep& sweep, hipscope::Point& point, const Extents& extents,
                const hipscope::Measurement& time, Unit unit) const {
    point.value("rate", rate_of(extents, time.seconds().median), teraflops);
    point.value("share of peak",
                100 * fmas_of(extents) / (peak_fmas_per_cycle(sweep, unit) * time.cycles()), "%");
  }

  // What the thread tile asks of LDS, by arithmetic: lanes that load the same value are not counted
  // as one, as the hardware may.
  void add_theory(const Sweep& sweep, hipscope::Point& point, const Stage<Value>& stage) const {
    constexpr double lds_bytes_per_cycle = 128;  // one dword from each of 32 banks
    const double bytes = lds_bytes_per_fma<Value>(stage.tiles);
    const double fmas = description_.fmas_per_cycle(sweep.device().architecture, stage.unit);
    point.value("LDS bytes per FMA", bytes, "");
    point.value("LDS cycles per FMA cycle", bytes * fmas / lds_bytes_per_cycle, "");
  }

  // --- Which stages

  void note_missing(Sweep& sweep) const {
    for (const Stage<Value>& stage : stages()) {
      if (!is_here(sweep, stage)) {
        sweep.note("not on this device: " + stage.technique);
      }
    }
  }

  [[nodiscard]] std::vector<Stage<Value>> contenders(const Sweep& sweep) const {
    std::vector<Stage<Value>> chosen;
    std::copy_if(
        stages().begin(), stages().end(), std::back_inserter(chosen),
        [&](const Stage<Value>& stage) { return stage.is_contender && is_here(sweep, stage); });
    return chosen;
  }

  // --- Sweep stages

  // The library's best median time, each of its ways in a row of its own; 0 without a library.
  double measure_library(Sweep& sweep, Problem<Value>& problem, double x,
                         const std::string& published_x) const {
    double best = 0;
    for (const LibraryWay& way : ways_of_library<Value>(sweep)) {
      // fileaccent called rocBLAS as it is by default.
      const bool is_default = way.math == hipscope::vendor::GemmMath::standard;
      auto point = sweep.point("library, " + way.name, ++x, is_default ? "rocBLAS" : "",
                               is_default ? published_x : "");
      const auto product =
          problem.product(measured_factors<Value>.alpha, measured_factors<Value>.beta);
      const auto library = fastest_library(point, {way}, product);
      if (!library) {
        continue;
      }
      verify_both(point, *library, problem);
      const auto time = point.measure([&] { library->enqueue(product); }, {.graph = true});
      add_rate(sweep, point, problem.extents(), time, Unit::matrix);
      best = best == 0 ? time.seconds().median : std::min(best, time.seconds().median);
    }
    return best;
  }

  void measure_stages(Sweep& sweep) const {
    const Extents size = this->size();
    sweep.axis({.name = "stage"});
    sweep.headline("rate");
    sweep.note("M=" + std::to_string(size.m) + " N=" + std::to_string(size.n) + " K=" +
               std::to_string(size.k) + "; a row begins with the source's number of its kernel");
    for (const std::string& note : description_.notes) {
      sweep.note(note);
    }
    note_peak(sweep);
    note_library<Value>(sweep, description_.arithmetic);
    note_missing(sweep);
    sweep.require_memory(bytes_of_problem<Value>(size.m, size.n, size.k), "--m");
    Problem<Value> problem(size.m, size.n, size.k, Values::random, sweep.seed());
    const bool is_published = size.m == 4096 && size.n == 4096 && size.k == 4096;
    const std::string published_x = is_published ? "4096" : "";
    // The library comes first: each stage's ratio to it is in its row.
    const auto count = static_cast<double>(stages().size());
    const double library = measure_library(sweep, problem, count, published_x);
    double before = unknown;
    bool is_first = true;
    for (std::size_t i = 0; i < stages().size(); ++i) {
      const Stage<Value>& stage = stages()[i];
      if (!is_here(sweep, stage)) {
        continue;
      }
      const std::string series = stage.source_kernel.empty() ? "" : "kernel " + stage.source_kernel;
      auto point = sweep.point(label_of(stage), static_cast<double>(i + 1),
                               is_published ? series : "", published_x);
      if (std::exchange(is_first, false)) {
        verify(point, "three rows of the reference", problem.judge_reference());
      }
      verify_both(point, stage, problem);
      before = measure_stage(sweep, point, stage, problem, library, before);
    }
  }

  // Returns the median time in seconds.
  double measure_stage(const Sweep& sweep, hipscope::Point& point, const Stage<Value>& stage,
                       const Problem<Value>& problem, double library, double before) const {
    const Prepared<Value> prepared(
        stage, problem.product(measured_factors<Value>.alpha, measured_factors<Value>.beta));
    const auto time = point.measure([&] { prepared.enqueue(); }, {.graph = true});
    add_rate(sweep, point, problem.extents(), time, stage.unit);
    const double seconds = time.seconds().median;
    point.value("ratio to the library", library > 0 ? library / seconds : unknown, "");
    point.value("speed-up on the stage before", before / seconds, "");
    add_resources(sweep, point, stage);
    add_theory(sweep, point, stage);
    return seconds;
  }

  // --- Sweeps over sizes

  // Of cubes a row is named by its side, which is its x as well. `option` says what to make smaller
  // where memory does not suffice.
  void measure_at(Sweep& sweep, const std::vector<FlatShape>& shapes, bool are_cubes,
                  const std::string& option) const {
    note_library<Value>(sweep, description_.arithmetic);
    std::uint64_t bytes = 0;
    for (const FlatShape& shape : shapes) {
      bytes = std::max(bytes, bytes_of_problem<Value>(shape.m, shape.n, shape.k));
    }
    sweep.require_memory(bytes, option);
    std::optional<BusyUnits> busy;
    if (sweep.is_hardware()) {
      busy.emplace(sweep.device());
    }
    double x = 0;
    for (const auto& [m, n, k] : shapes) {
      x = are_cubes ? m : x + 1;
      auto point = sweep.point(are_cubes ? std::to_string(m) : name_of_size(m, n, k), x);
      Problem<Value> problem(m, n, k, Values::random, sweep.seed());
      measure_in_turn<Value, Value>(sweep, point, contenders(sweep), problem);
      for (const Stage<Value>& stage : contenders(sweep)) {
        if (busy) {
          verify_choices(point, stage, problem, *busy);
        }
      }
    }
  }

  static std::vector<FlatShape> cubes(const std::vector<unsigned>& sides) {
    std::vector<FlatShape> shapes;
    for (const unsigned side : sides) {
      shapes.push_back({side, side, side});
    }
    return shapes;
  }

  void measure_sizes(Sweep& sweep) const {
    sweep.axis({.name = "M = N = K", .scale = hipscope::Scale::logarithmic});
    sweep.headline("rate");
    const unsigned smallest = sweep.is_hardware() ? 128 : 32;
    measure_at(sweep, cubes(sizes_between(smallest, static_cast<unsigned>(largest_))), true,
               "--largest");
  }

  void measure_odd(Sweep& sweep) const {
    sweep.axis({.name = "M = N = K"});
    sweep.headline("ratio to the library");
    const unsigned count = sweep.is_hardware() ? description_.odd_sizes : 2;
    measure_at(sweep, cubes(odd_sizes(count, static_cast<unsigned>(largest_odd_))), true,
               "--largest-odd");
  }

  void measure_shapes(Sweep& sweep) const {
    sweep.axis({.name = "M x N x K"});
    sweep.headline("ratio to the library");
    const unsigned count = sweep.is_hardware() ? 3 : 1;
    measure_at(sweep, flat_shapes(static_cast<unsigned>(largest_shapes_), count), false,
               "--largest-shapes");
  }

  void measure_against_library(Sweep& sweep) const {
    note_library<Value>(sweep, description_.arithmetic);
    if (ways_of_library<Value>(sweep).empty()) {
      return;
    }
    const Extents size = this->size();
    sweep.axis({.name = "stage"});
    sweep.headline("ratio to the library");
    sweep.note("samples of each stage and of the library's fastest way take turns");
    sweep.require_memory(bytes_of_problem<Value>(size.m, size.n, size.k), "--m");
    Problem<Value> problem(size.m, size.n, size.k, Values::random, sweep.seed());
    double x = 0;
    for (const Stage<Value>& stage : contenders(sweep)) {
      auto point = sweep.point(stage.technique, ++x);
      measure_in_turn<Value, Value>(sweep, point, {stage}, problem);
    }
  }

  // --- Sweep awkward

  // Rows of whole 16 bytes, but partial tiles of every kind; 1464 where the largest is 4097, which
  // is more tiles of 128 x 128 than SMs.
  [[nodiscard]] unsigned side_that_overhangs() const {
    return (largest_awkward() * 5 / 14 + 7) / 8 * 8;
  }

  void check_awkward(Sweep& sweep) const {
    sweep.axis({.name = "stage"});
    sweep.headline("largest error");
    sweep.note("random values within the bound, small integers exactly; nothing is measured");
    note_missing(sweep);
    const std::vector<AwkwardProblem<Value>> problems =
        awkward_problems<Value>(sweep, static_cast<unsigned>(largest_awkward_));
    std::optional<BusyUnits> busy;
    std::optional<Problem<Value>> overhanging;
    if (sweep.is_hardware()) {
      busy.emplace(sweep.device());
      overhanging.emplace(side_that_overhangs(), side_that_overhangs(), largest_awkward() - 1,
                          Values::random, sweep.seed());
    }
    for (std::size_t i = 0; i < stages().size(); ++i) {
      if (!is_here(sweep, stages()[i])) {
        continue;
      }
      auto point = sweep.point(label_of(stages()[i]), static_cast<double>(i + 1));
      double largest = 0;
      unsigned choice = 0;
      for (const auto& [what, values, problem] : problems) {
        const std::string name = name_of_size(what.m, what.n, what.k) +
                                 (values == Values::random ? ", random" : ", integers");
        const auto check = [&](const std::string& checked, const Verdict& verdict) {
          verify(point, checked, verdict);
          largest = std::max(largest, verdict.error);
        };
        check(name, judge(stages()[i], *problem, what.factors));
        if (stages()[i].choices > 1) {  // each with another of them
          choice = choice % stages()[i].choices + 1;
          check(name + ", choice " + std::to_string(choice),
                judge(stages()[i], *problem, what.factors, choice - 1));
        }
        if (busy && stages()[i].workspace_bytes != nullptr && what.factors.alpha != 0) {
          check(name + ", half of the blocks late",
                judge_late_blocks(stages()[i], *problem, what.factors, *busy));
        }
      }
      if (busy) {
        verify_choices(point, stages()[i], *overhanging, *busy);
      }
      point.value("cases", static_cast<double>(problems.size()), "");
      point.value("largest error", largest, "eps");
    }
  }

  LadderDescription<Value> description_;
  hipscope::Size m_;
  hipscope::Size n_;
  hipscope::Size k_;
  hipscope::Size largest_;
  hipscope::Size largest_odd_;
  hipscope::Size largest_shapes_;
  hipscope::Size largest_awkward_;
};

}  // namespace gemm
