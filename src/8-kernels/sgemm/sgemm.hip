// How does a matrix product in FP32 get from one thread per element to the vendor library's speed?
//
// C = alpha A B + beta C, all matrices row by row, no reduced precision. Every stage of the
// source's ladder, in its order and each of them right, then stages of our own; each header of this
// folder holds one group of them and says what changed and why that should help. Read them in the
// order of stages.h. Sweeps:
//   stages           the ladder at one size
//   sizes            the last stages and the vendor's library at powers of two and between
//   odd              the same at odd sizes, and the average over them
//   against-library  the last stages and the library, measured in turn
//   awkward          every stage where nothing is a multiple of its tile: single rows and columns,
//                    k = 0, alpha = 0 with NaN in A and B, beta = 0 with NaN in C, rows with gaps;
//                    checked, not measured
// The peak that shares refer to is FMAs per cycle of all CUs (NVIDIA: SMs) at the clock of each
// measurement.
#include <hipscope/hipscope.h>
#include <hipscope/vendor/gemm.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reference.h"
#include "stages.h"

using hipscope::number;
using hipscope::Sweep;
using sgemm::Prepared;
using sgemm::Problem;
using sgemm::Stage;
using sgemm::Values;
using sgemm::Verdict;

namespace {

constexpr const char* teraflops = "TFLOP/s";
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

// --- What a device could do -------------------------------------------------------------------

// FP32 FMAs of one CU per cycle, by the vendors' manuals; NaN for what is not listed. gfx90a and
// later CDNA have 64 lanes that take two by packed FMAs; HIP counts RDNA's WGPs, of 2 x 64 lanes.
double fmas_per_cycle(const std::string& architecture) {
  const auto begins = [&](const std::string& start) { return architecture.rfind(start, 0) == 0; };
  if (begins("gfx90a") || begins("gfx94") || begins("gfx95") || begins("gfx1")) {
    return 128;
  }
  if (begins("gfx9") || begins("gfx8")) {
    return 64;
  }
  if (begins("sm_60") || begins("sm_70") || begins("sm_75") || begins("sm_80")) {
    return 64;
  }
  return begins("sm_") ? 128 : unknown;
}

double peak_fmas_per_cycle(const Sweep& sweep) {
  return fmas_per_cycle(sweep.device().architecture) * sweep.device().compute_units;
}

void note_peak(Sweep& sweep) {
  if (sweep.is_hardware()) {
    sweep.note("peak: " + number(fmas_per_cycle(sweep.device().architecture)) +
               " FMAs per cycle of each of " + std::to_string(sweep.device().compute_units) +
               " CUs, at the clock of each measurement");
  }
}

double fmas_of(const sgemm::Extents& extents) {
  return double{1} * extents.m * extents.n * extents.k;
}

double rate_of(const sgemm::Extents& extents, const hipscope::Measurement& time) {
  return 2e-12 * fmas_of(extents) / time.seconds().median;
}

// --- The vendor's library ---------------------------------------------------------------------

class Library {
 public:
  explicit Library(hipscope::vendor::GemmMath math) : gemm_(math) {}

  void enqueue(const sgemm::Product& product) {
    gemm_.enqueue({.m = static_cast<int>(product.extents.m),
                   .n = static_cast<int>(product.extents.n),
                   .k = static_cast<int>(product.extents.k),
                   .alpha = product.alpha,
                   .a = product.a,
                   .lda = static_cast<int>(product.extents.lda),
                   .b = product.b,
                   .ldb = static_cast<int>(product.extents.ldb),
                   .beta = product.beta,
                   .c = product.c,
                   .ldc = static_cast<int>(product.extents.ldc)});
  }

 private:
  hipscope::vendor::Gemm gemm_;
};

struct NamedMath {
  const char* name;
  hipscope::vendor::GemmMath math;
};
constexpr NamedMath library_math[] = {{"standard math", hipscope::vendor::GemmMath::standard},
                                      {"pedantic math", hipscope::vendor::GemmMath::pedantic}};

bool has_library(const Sweep& sweep) {
  return sweep.is_hardware() && !hipscope::vendor::gemm_library().empty();
}

void note_library(Sweep& sweep) {
  sweep.note(has_library(sweep)
                 ? "library: " + hipscope::vendor::gemm_library() + ", FP32 without TF32"
                 : std::string("this build or device has no library for products: ") +
                       hipscope::vendor::gemm_libraries);
}

// --- Checking and measuring -------------------------------------------------------------------

// Factors with which a result is checked: those that are measured, and others, for which C's old
// content matters.
struct Factors {
  float alpha;
  float beta;
};
constexpr Factors measured_factors = {.alpha = 1.0F, .beta = 0.0F};
constexpr Factors other_factors = {.alpha = 1.5F, .beta = -0.5F};

Verdict judge(const Stage& stage, Problem& problem, Factors factors) {
  problem.reset(factors.beta);
  const Prepared prepared(stage, problem.product(factors.alpha, factors.beta));
  prepared.enqueue();
  prepared.finish();
  return problem.judge(factors.alpha, factors.beta);
}

Verdict judge(Library& library, Problem& problem, Factors factors) {
  problem.reset(factors.beta);
  library.enqueue(problem.product(factors.alpha, factors.beta));
  return problem.judge(factors.alpha, factors.beta);
}

// Verifies with both factors, and shows the larger error.
template <typename Multiplier>
void verify(hipscope::Point& point, Multiplier& multiplier, Problem& problem) {
  const Verdict measured = judge(multiplier, problem, measured_factors);
  const Verdict other = judge(multiplier, problem, other_factors);
  point.verify("every element", measured.wrong, measured.checked);
  point.verify("every element, alpha = 1.5, beta = -0.5", other.wrong, other.checked);
  point.value("error", std::max(measured.error, other.error), "eps");
}

// What the compiler and the runtime say of a stage's kernel.
void add_resources(const Sweep& sweep, hipscope::Point& point, const Stage& stage) {
  hipFuncAttributes attributes{};
  int blocks = 0;
  hipscope::check(hipFuncGetAttributes(&attributes, stage.kernel));
  hipscope::check(hipOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, stage.kernel, static_cast<int>(stage.tiles.threads), stage.dynamic_lds_bytes));
  const auto known = [&](double value) { return sweep.is_hardware() ? value : unknown; };
  const double lds = static_cast<double>(attributes.sharedSizeBytes) + stage.dynamic_lds_bytes;
  point.value("registers", known(attributes.numRegs), "per thread");
  point.value("scratch", known(static_cast<double>(attributes.localSizeBytes)), "bytes per thread");
  point.value("LDS", known(lds), "bytes");
  point.value("blocks per CU", known(blocks), "");
}

// LDS gives 128 bytes per cycle, one dword from each of 32 banks.
constexpr double lds_bytes_per_cycle = 128;

// What the thread tile asks of LDS, by arithmetic: lanes that load the same value are not counted
// as one, as the hardware may.
void add_theory(const Sweep& sweep, hipscope::Point& point, const Stage& stage) {
  const double bytes = lds_bytes_per_fma(stage.tiles);
  point.value("LDS bytes per FMA", bytes, "");
  point.value("LDS cycles per FMA cycle",
              bytes * fmas_per_cycle(sweep.device().architecture) / lds_bytes_per_cycle, "");
}

void add_rate(const Sweep& sweep, hipscope::Point& point, const sgemm::Extents& extents,
              const hipscope::Measurement& time) {
  point.value("rate", rate_of(extents, time), teraflops);
  point.value("share of peak",
              100 * fmas_of(extents) / (peak_fmas_per_cycle(sweep) * time.cycles()), "%");
}

// --- Sweep stages -----------------------------------------------------------------------------

std::string label_of(const Stage& stage) {
  return stage.source_kernel.empty() ? stage.technique
                                     : stage.source_kernel + " " + stage.technique;
}

bool is_here(const Sweep& sweep, const Stage& stage) {
  return stage.is_on == nullptr || stage.is_on(sweep.device());
}

void note_missing(Sweep& sweep, const std::vector<Stage>& stages) {
  for (const Stage& stage : stages) {
    if (!is_here(sweep, stage)) {
      sweep.note("not on this device: " + stage.technique);
    }
  }
}

// The library's best median time, each kind of its math in a row of its own; 0 without a library.
double measure_library(Sweep& sweep, Problem& problem, double x, const std::string& published_x) {
  double best = 0;
  if (has_library(sweep)) {
    for (const NamedMath& named : library_math) {
      auto point = sweep.point(std::string("library, ") + named.name, ++x, "rocBLAS", published_x);
      Library library(named.math);
      verify(point, library, problem);
      const auto product = problem.product(measured_factors.alpha, measured_factors.beta);
      const auto time = point.measure([&] { library.enqueue(product); });
      add_rate(sweep, point, problem.extents(), time);
      best = best == 0 ? time.seconds().median : std::min(best, time.seconds().median);
    }
  }
  return best;
}

void measure_stages(Sweep& sweep, const std::vector<Stage>& stages, unsigned m, unsigned n,
                    unsigned k) {
  sweep.axis({.name = "stage"});
  sweep.headline("rate");
  sweep.note("M=" + std::to_string(m) + " N=" + std::to_string(n) + " K=" + std::to_string(k) +
             "; a row begins with the source's number of its kernel");
  sweep.note(
      "128-row tiles stand twice: compiled for blocks of 1024 threads, which clang assumes of "
      "a kernel that states no launch bounds, and for their own 256");
  note_peak(sweep);
  note_library(sweep);
  note_missing(sweep, stages);
  sweep.require_memory(sgemm::bytes_of_problem(m, n, k), "--m");
  Problem problem(m, n, k, Values::random, sweep.seed());
  const bool is_published = m == 4096 && n == 4096 && k == 4096;
  const std::string published_x = is_published ? "4096" : "";
  // The library comes first: each stage's ratio to it is in its row.
  const auto count = static_cast<double>(stages.size());
  const double library = measure_library(sweep, problem, count, published_x);
  double before = unknown;
  bool is_first = true;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const Stage& stage = stages[i];
    if (!is_here(sweep, stage)) {
      continue;
    }
    const std::string series = stage.source_kernel.empty() ? "" : "kernel " + stage.source_kernel;
    auto point = sweep.point(label_of(stage), static_cast<double>(i + 1),
                             is_published ? series : "", published_x);
    if (std::exchange(is_first, false)) {
      const Verdict reference = problem.judge_reference();
      point.verify("three rows of the FP64 reference", reference.wrong, reference.checked);
    }
    verify(point, stage, problem);
    const Prepared prepared(stage, problem.product(measured_factors.alpha, measured_factors.beta));
    const auto time = point.measure([&] { prepared.enqueue(); });
    add_rate(sweep, point, problem.extents(), time);
    const double seconds = time.seconds().median;
    point.value("ratio to the library", library > 0 ? library / seconds : unknown, "");
    point.value("speed-up on the stage before", before / seconds, "");
    add_resources(sweep, point, stage);
    add_theory(sweep, point, stage);
    before = seconds;
  }
}

// --- Sweeps over sizes ------------------------------------------------------------------------

std::vector<Stage> contenders_of(const Sweep& sweep, const std::vector<Stage>& stages) {
  std::vector<Stage> contenders;
  std::copy_if(stages.begin(), stages.end(), std::back_inserter(contenders),
               [&](const Stage& stage) { return stage.is_contender && is_here(sweep, stage); });
  return contenders;
}

// Contenders and library in turn at one size: a row.
void measure_in_turn(Sweep& sweep, hipscope::Point& point, const std::vector<Stage>& contenders,
                     Problem& problem) {
  std::vector<std::function<void()>> bodies;
  std::vector<hipscope::MeasureOptions> options;
  for (const Stage& stage : contenders) {
    const Verdict verdict = judge(stage, problem, measured_factors);
    point.verify(stage.technique, verdict.wrong, verdict.checked);
    const auto prepared = std::make_shared<Prepared>(
        stage, problem.product(measured_factors.alpha, measured_factors.beta));
    bodies.emplace_back([prepared] { prepared->enqueue(); });
    options.push_back({.name = stage.technique});
  }
  if (has_library(sweep)) {
    for (const NamedMath& named : library_math) {
      const auto library = std::make_shared<Library>(named.math);
      const Verdict verdict = judge(*library, problem, measured_factors);
      point.verify(std::string("library, ") + named.name, verdict.wrong, verdict.checked);
      const auto product = problem.product(measured_factors.alpha, measured_factors.beta);
      bodies.emplace_back([library, product] { library->enqueue(product); });
      options.push_back({.name = std::string("library, ") + named.name});
    }
  }
  const auto times = point.measure_in_turn(bodies, options);
  double ours = 0;
  double library = has_library(sweep) ? 0 : unknown;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double rate = rate_of(problem.extents(), times[i]);
    if (i < contenders.size()) {
      point.value(options[i].name + " rate", rate, teraflops);
      ours = std::max(ours, rate);
    } else {
      library = std::max(library, rate);
    }
  }
  point.value("rate", ours, teraflops);
  point.value("library rate", library, teraflops);
  point.value("ratio to the library", ours / library, "");
}

// 256, 384, 512, 768, 1024 ...: half an octave each; where none lies between, `largest` alone.
std::vector<unsigned> sizes_between(unsigned smallest, unsigned largest) {
  std::vector<unsigned> sizes;
  for (unsigned power = 2; power <= largest; power *= 2) {
    for (const unsigned size : {power, power + power / 2}) {
      if (size >= smallest && size <= largest) {
        sizes.push_back(size);
      }
    }
  }
  return sizes.empty() ? std::vector<unsigned>{largest} : sizes;
}

void measure_sizes(Sweep& sweep, const std::vector<Stage>& stages, unsigned largest) {
  sweep.axis({.name = "M = N = K", .scale = hipscope::Scale::logarithmic});
  sweep.headline("rate");
  note_library(sweep);
  sweep.require_memory(sgemm::bytes_of_problem(largest, largest, largest), "--largest");
  for (const unsigned size : sizes_between(sweep.is_hardware() ? 256 : 32, largest)) {
    auto point = sweep.point(std::to_string(size), size);
    Problem problem(size, size, size, Values::random, sweep.seed());
    measure_in_turn(sweep, point, contenders_of(sweep, stages), problem);
  }
}

// Odd sizes from near 1000 to near 6000, spread evenly.
unsigned odd_size(unsigned i, unsigned count, unsigned smallest, unsigned largest) {
  return (smallest + (largest - smallest) * i / (count - 1)) | 1U;
}

void measure_odd(Sweep& sweep, const std::vector<Stage>& stages) {
  const unsigned count = sweep.is_hardware() ? 20 : 2;
  const unsigned smallest = sweep.is_hardware() ? 1001 : 19;
  const unsigned largest = sweep.is_hardware() ? 5999 : 67;
  sweep.axis({.name = "M = N = K"});
  sweep.headline("ratio to the library");
  note_library(sweep);
  sweep.require_memory(sgemm::bytes_of_problem(largest, largest, largest), "the sweep");
  for (unsigned i = 0; i < count; ++i) {
    const unsigned size = odd_size(i, count, smallest, largest);
    auto point = sweep.point(std::to_string(size), size);
    Problem problem(size, size, size, Values::random, sweep.seed());
    measure_in_turn(sweep, point, contenders_of(sweep, stages), problem);
  }
}

void measure_against_library(Sweep& sweep, const std::vector<Stage>& stages, unsigned m, unsigned n,
                             unsigned k) {
  note_library(sweep);
  if (!has_library(sweep)) {
    return;
  }
  sweep.axis({.name = "stage"});
  sweep.headline("ratio to the library");
  sweep.note("samples of each stage and of the library take turns");
  sweep.require_memory(sgemm::bytes_of_problem(m, n, k), "--m");
  Problem problem(m, n, k, Values::random, sweep.seed());
  double x = 0;
  for (const Stage& stage : contenders_of(sweep, stages)) {
    auto point = sweep.point(stage.technique, ++x);
    measure_in_turn(sweep, point, {stage}, problem);
  }
}

// --- Sweep awkward ----------------------------------------------------------------------------

struct AwkwardCase {
  unsigned m;
  unsigned n;
  unsigned k;
  Factors factors;
  sgemm::Gaps gaps;
};

// On the host backend the large extents are scaled down.
std::vector<AwkwardCase> awkward_cases(bool is_hardware) {
  const unsigned below = is_hardware ? 4095 : 31;
  const unsigned above = is_hardware ? 4097 : 67;
  const sgemm::Gaps odd_gaps = {.a = 3, .b = 5, .c = 7};
  const sgemm::Gaps whole_gaps = {.a = 8, .b = 16, .c = 32};
  return {{1, 1, 1, measured_factors, {}},
          {1, 1, above, other_factors, odd_gaps},
          {17, 1, 257, measured_factors, {}},
          {1, 257, 19, other_factors, {}},
          {255, 17, 1, other_factors, odd_gaps},
          {17, 255, 0, other_factors, {}},
          {17, 17, 0, measured_factors, odd_gaps},
          {130, 255, 33, {.alpha = 0.0F, .beta = 2.0F}, {}},
          {65, 63, 31, {.alpha = 0.0F, .beta = 0.0F}, {}},
          {128, 256, is_hardware ? 64U : 16U, other_factors, whole_gaps},
          {below, above, 17, {.alpha = -1.0F, .beta = 1.0F}, {}},
          {above, 17, below, measured_factors, odd_gaps},
          {17, below, above, other_factors, {}}};
}

void check_awkward(Sweep& sweep, const std::vector<Stage>& stages) {
  sweep.axis({.name = "stage"});
  sweep.headline("largest error");
  sweep.note("random values within the bound, small integers exactly; nothing is measured");
  note_missing(sweep, stages);
  struct AwkwardProblem {
    AwkwardCase what;
    Values values;
    std::unique_ptr<Problem> problem;
  };
  std::vector<AwkwardProblem> problems;
  const auto cases = awkward_cases(sweep.is_hardware());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const AwkwardCase& awkward = cases[i];
    for (const Values values : {Values::random, Values::integers}) {
      // The host backend takes its time: there the cases have one and the other in turn.
      if (!sweep.is_hardware() && (values == Values::random) != (i % 2 == 0)) {
        continue;
      }
      auto problem = std::make_unique<Problem>(awkward.m, awkward.n, awkward.k, values,
                                               sweep.seed(), awkward.gaps);
      if (awkward.factors.alpha == 0) {
        problem->poison_operands();
      }
      problems.push_back({awkward, values, std::move(problem)});
    }
  }
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (!is_here(sweep, stages[i])) {
      continue;
    }
    auto point = sweep.point(label_of(stages[i]), static_cast<double>(i + 1));
    double largest = 0;
    for (const auto& [what, values, problem] : problems) {
      const Verdict verdict = judge(stages[i], *problem, what.factors);
      point.verify(std::to_string(what.m) + " x " + std::to_string(what.n) + " x " +
                       std::to_string(what.k) +
                       (values == Values::random ? ", random" : ", integers"),
                   verdict.wrong, verdict.checked);
      largest = std::max(largest, verdict.error);
    }
    point.value("cases", static_cast<double>(problems.size()), "");
    point.value("largest error", largest, "eps");
  }
}

// --- What the ladder shows --------------------------------------------------------------------

void infer_best(hipscope::Results& results, const std::vector<Stage>& stages) {
  auto rates = results.curve("stages", "rate");
  const auto is_library = [&](const auto& point) {
    return point.x > static_cast<double>(stages.size());
  };
  rates.erase(std::remove_if(rates.begin(), rates.end(), is_library), rates.end());
  const auto shares = results.curve("stages", "share of peak");
  const auto best = std::max_element(rates.begin(), rates.end(),
                                     [](const auto& a, const auto& b) { return a.y < b.y; });
  if (best == rates.end()) {
    return;
  }
  const Stage& stage = stages[static_cast<std::size_t>(best->x) - 1];
  hipscope::Inference inference{
      .name = "SGEMM rate",
      .value = best->y,
      .unit = teraflops,
      .confidence = 1 - std::min(1.0, best->relative_spread),
      .statement = label_of(stage),
      .evidence = {number(best->y / rates.front().y) + " times the first stage"}};
  for (const auto& share : shares) {
    if (share.x == best->x) {
      inference.evidence.push_back(number(share.y) + " % of the FP32 peak at its clock");
    }
  }
  results.infer(inference);
}

void infer_ratio(hipscope::Results& results) {
  const auto ratios = results.curve("against-library", "ratio to the library");
  const auto best = std::max_element(ratios.begin(), ratios.end(),
                                     [](const auto& a, const auto& b) { return a.y < b.y; });
  if (best != ratios.end()) {
    results.infer(
        {.name = "SGEMM over the vendor's library",
         .value = best->y,
         .unit = "times its rate",
         .confidence = 1 - std::min(1.0, best->relative_spread),
         .statement = "the best stage against the better of the library's two kinds of math",
         .evidence = {"measured in turn, medians of both"}});
  }
  const auto odd = results.curve("odd", "ratio to the library");
  if (!odd.empty()) {
    double sum = 0;
    double spread = 0;
    for (const auto& point : odd) {
      sum += point.y;
      spread = std::max(spread, point.relative_spread);
    }
    results.infer({.name = "SGEMM over the vendor's library at odd sizes",
                   .value = sum / static_cast<double>(odd.size()),
                   .unit = "times its rate",
                   .confidence = 1 - std::min(1.0, spread),
                   .statement = "the mean of the sizes, with the best stage at each",
                   .evidence = {std::to_string(odd.size()) + " sizes"}});
  }
}

// The stages of 128 x 128 with their own launch bounds against the same without.
void infer_launch_bounds(hipscope::Results& results, const std::vector<Stage>& stages) {
  const auto rates = results.curve("stages", "rate");
  const auto find = [&](const std::string& technique) {
    return std::find_if(rates.begin(), rates.end(), [&](const auto& point) {
      const auto i = static_cast<std::size_t>(point.x) - 1;
      return i < stages.size() && stages[i].technique == technique;
    });
  };
  std::vector<double> gains;
  std::vector<std::string> evidence;
  double spread = 0;
  for (const Stage& stage : stages) {
    const auto without = find(stage.technique);
    const auto with = find(stage.technique + sgemm::bounded_suffix);
    if (with != rates.end() && without != rates.end()) {
      const double gain = with->y / without->y;
      gains.push_back(gain);
      spread = std::max({spread, with->relative_spread, without->relative_spread});
      evidence.push_back(label_of(stage) + ": " + number(gain) + " times");
    }
  }
  if (!gains.empty()) {
    results.infer({.name = "SGEMM gain by launch bounds",
                   .value = hipscope::geometric_mean(gains),
                   .unit = "times the rate",
                   .confidence = 1 - std::min(1.0, spread),
                   .statement = "tiles of 128 x 128 compiled for their 256 threads instead of 1024",
                   .evidence = evidence});
  }
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "sgemm",
      {.question =
           "How does a matrix product in FP32 get from one thread per element to the speed of "
           "the vendor's library?",
       .sources = {"fileaccent/sgemm-exercise (kernels 1 to 10)"}});
  // A matrix has fewer than 2^32 elements then, padding included.
  constexpr std::uint64_t most = 1U << 15;
  const auto m =
      experiment.size("--m", "rows of A and C in sweeps stages and against-library",
                      {.gpu = 4096, .quick = 2048, .host = 68, .minimum = 1, .maximum = most});
  const auto n =
      experiment.size("--n", "columns of B and C there",
                      {.gpu = 4096, .quick = 2048, .host = 76, .minimum = 1, .maximum = most});
  const auto k =
      experiment.size("--k", "columns of A and rows of B there",
                      {.gpu = 4096, .quick = 2048, .host = 20, .minimum = 1, .maximum = most});
  const auto largest =
      experiment.size("--largest", "the largest M = N = K of sweep sizes",
                      {.gpu = 8192, .quick = 2048, .host = 64, .minimum = 1, .maximum = most});
  const std::vector<Stage> stages = sgemm::all_stages();
  const auto extent = [](std::uint64_t size) { return static_cast<unsigned>(size); };

  experiment.sweep("stages", "the ladder", [&](Sweep& sweep) {
    measure_stages(sweep, stages, extent(m), extent(n), extent(k));
  });
  experiment.sweep("sizes", "the last stages and the library against the size",
                   [&](Sweep& sweep) { measure_sizes(sweep, stages, extent(largest)); });
  experiment.sweep("odd", "the last stages and the library at odd sizes",
                   [&](Sweep& sweep) { measure_odd(sweep, stages); });
  experiment.sweep("against-library", "the last stages in turn with the library",
                   [&](Sweep& sweep) {
                     measure_against_library(sweep, stages, extent(m), extent(n), extent(k));
                   });
  experiment.sweep("awkward", "every stage at awkward sizes, checked",
                   [&](Sweep& sweep) { check_awkward(sweep, stages); });
  experiment.conclude([&](hipscope::Results& results) {
    infer_best(results, stages);
    infer_ratio(results);
    infer_launch_bounds(results, stages);
  });
  return experiment.run(argc, argv);
}
