// What does a mathematical function cost, and how exact is it?
//
// sin(x) is one word in a source and anything from one to several hundred instructions on a GPU.
// For each function in FP32 and FP64, and beside it the fast intrinsic that both vendors have:
//   latency     cycles until the result is there, by the cycle counter of the compute unit (CU;
//               NVIDIA: SM): one wave (NVIDIA: warp), each argument made from the result before
//   throughput  results per cycle and CU, every CU full of waves
//   error       the largest error over a stated range, in ulp (units in the last place), against a
//               host reference in a wider type; it must stay within what the vendor documents
//   rewrites    the same result, written so that it costs less
//
// All run one kernel. A lane's next argument is f(x) * zero + x0, where zero is an argument that
// the compiler cannot see through: it waits for f(x), and yet it is x0 again. So every step
// evaluates f in the stated range, on the path through the library that the range stands for, and
// the sum of a lane's steps must be their number times f(x0).
#include <hipscope/hipscope.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "documented_errors.h"
#include "functions.h"

using hipscope::CycleClock;
using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::number;
using hipscope::Sweep;
using math::Limit;

namespace {

// --- Kernel -----------------------------------------------------------------------------------

constexpr unsigned block_threads = 256;

// Far fewer than a narrow cycle counter can count, and its reading costs little beside so many.
constexpr unsigned steps_per_lap = 16;

__device__ float multiply_add(float x, float y, float z) { return fmaf(x, y, z); }
__device__ double multiply_add(double x, double y, double z) { return fma(x, y, z); }

// Thread i sums up `steps` values of the function at its arguments, x[i % arguments] and
// y[i % arguments]; the first one also stores how many cycles its wave took. Per step there is one
// FMA (a second one where the function has a y), one addition off the chain, and a quarter of a
// loop's overhead.
template <typename Function, typename T>
__global__ void __launch_bounds__(block_threads)
    chain_kernel(const T* x_arguments, const T* y_arguments, unsigned arguments, T* sums,
                 long long* cycles, unsigned steps, T zero) {
  const unsigned number = blockIdx.x * blockDim.x + threadIdx.x;
  const T x0 = x_arguments[number % arguments];
  const T y0 = y_arguments[number % arguments];
  T x = x0;
  T y = y0;
  T sum = 0;
  CycleClock<> clock;
  clock.start();
#pragma unroll 4
  for (unsigned i = 0; i < steps; ++i) {
    const T result = Function::value(x, y);
    sum += result;
    x = multiply_add(result, zero, x0);
    y = multiply_add(result, zero, y0);
    if (i % steps_per_lap == 0) {
      clock.lap();
    }
  }
  clock.stop();
  sums[number] = sum;
  if (number == 0) {
    *cycles = clock.elapsed();
  }
}

template <typename T>
using ChainKernel = void (*)(const T*, const T*, unsigned, T*, long long*, unsigned, T);

// --- Rows -------------------------------------------------------------------------------------

// Magnitudes of arguments, with either sign where `both_signs`.
struct Range {
  double low = 1;
  double high = 1;
  bool both_signs = false;
};

// The type of the host's references: far more digits than T.
template <typename T>
using Wider = std::conditional_t<std::is_same_v<T, float>, double, long double>;

// One function over one range of arguments.
template <typename T>
struct Row {
  std::string label;
  ChainKernel<T> kernel = nullptr;
  Wider<T> (*exact)(Wider<T>, Wider<T>) = nullptr;
  Range x{};
  Range y{};
  Limit limit{};
  std::string published{};  // the published series of its latency
};

template <typename T, typename Function>
Row<T> row(Function, const std::string& label, const Range& x, const Limit& limit,
           const Range& y = {}) {
  return {.label = label,
          .kernel = chain_kernel<Function, T>,
          .exact = Function::template exact<Wider<T>, Wider<T>>,
          .x = x,
          .y = y,
          .limit = limit};
}

template <typename T>
constexpr bool is_fp32 = std::is_same_v<T, float>;

template <typename T>
Limit within(const math::Documented& fp32, const math::Documented& fp64) {
  return math::within(is_fp32<T> ? fp32 : fp64);
}

constexpr double pi = 3.14159265358979323846;

// The smallest magnitude of a range that starts at zero.
constexpr double tiny = 0x1p-10;

// Every accurate function. The ranges are such that all lanes take one path through the libraries:
// sine and cosine reduce large arguments with many digits of 2 / pi from 105615 on in CUDA's FP32,
// from 2^31 on in FP64; asin, tanh and erf have one formula for small arguments and one for others.
template <typename T>
std::vector<Row<T>> accurate_rows() {
  const auto fp = [](const char* fp32, const char* fp64) { return is_fp32<T> ? fp32 : fp64; };
  const auto most = [](double fp32, double fp64) { return is_fp32<T> ? fp32 : fp64; };
  const Range positive{.low = most(0x1p-100, 0x1p-900), .high = most(0x1p+100, 0x1p+900)};
  const Range half{
      .low = most(0x1p-50, 0x1p-450), .high = most(0x1p+50, 0x1p+450), .both_signs = true};
  const std::string any = fp(", 2^-100 < x < 2^100", ", 2^-900 < x < 2^900");
  // CUDA's, OCML's and glibc's documented error in FP32, then in FP64.
  const Limit sine = within<T>({2, 4, 1}, {2, 4, 1});
  const Limit tangent = within<T>({4, 5, 1}, {2, 5, 1});
  const Limit arcsine = within<T>({2, 4, 1}, {2, 4, 1});
  const Limit exponential = within<T>({2, 3, 1}, {1, 3, 1});
  const Limit hyperbolic = within<T>({2, 5, 2}, {1, 5, 2});
  const Limit error_function = within<T>({2, 16, 1}, {2, 16, 1});
  const Limit rounded = within<T>({0, 0, 0}, {0, 0, 0});
  std::vector<Row<T>> rows = {
      row<T>(math::Sin{}, "sin, |x| < pi/4", {tiny, pi / 4, true}, sine),
      row<T>(math::Sin{}, "sin, |x| < pi", {tiny, pi, true}, sine),
      row<T>(math::Sin{}, "sin, 1 < |x| < 1000", {1, 1000, true}, sine),
      row<T>(math::Sin{}, fp("sin, 2e5 < |x| < 1e9", "sin, 2^32 < |x| < 1e15"),
             {most(2e5, 0x1p+32), most(1e9, 1e15), true}, sine),
      row<T>(math::Cos{}, "cos, |x| < pi", {tiny, pi, true}, sine),
      row<T>(math::Cos{}, "cos, 1 < |x| < 1000", {1, 1000, true}, sine),
      row<T>(math::Tan{}, "tan, |x| < pi/4", {tiny, pi / 4, true}, tangent),
      row<T>(math::Tan{}, "tan, 1 < |x| < 1000", {1, 1000, true}, tangent),
      row<T>(math::Asin{}, "asin, |x| < 0.5", {tiny, 0.499, true}, arcsine),
      row<T>(math::Asin{}, "asin, 0.6 < |x| < 1", {0.6, 1, true}, arcsine),
      row<T>(math::Exp{}, fp("exp, |x| < 80", "exp, |x| < 700"), {tiny, most(80, 700), true},
             exponential),
      row<T>(math::Exp2{}, fp("exp2, |x| < 110", "exp2, |x| < 1000"), {tiny, most(110, 1000), true},
             exponential),
      row<T>(math::Log{}, "log" + any, positive, within<T>({1, 3, 1}, {1, 3, 1})),
      row<T>(math::Log2{}, "log2" + any, positive, within<T>({1, 3, 1}, {1, 3, 2})),
      row<T>(math::Pow{}, fp("pow, 1/16 < x < 16, |y| < 25", "pow, 1/16 < x < 16, |y| < 200"),
             {0.0625, 16}, within<T>({4, 16, 1}, {2, 16, 1}), {tiny, most(25, 200), true}),
      row<T>(math::Sqrt{}, "sqrt" + any, positive, within<T>({0, 0, 0}, {0, 3, 0})),
      row<T>(math::Rsqrt{}, "rsqrt" + any, positive, within<T>({2, 2, 1}, {1, 2, 1})),
      row<T>(math::Reciprocal{}, fp("1 / x, 2^-50 < |x| < 2^50", "1 / x, 2^-450 < |x| < 2^450"),
             half, rounded),
      row<T>(math::Divide{}, fp("x / y, 2^-50 ... 2^50", "x / y, 2^-450 ... 2^450"), half, rounded,
             half),
      row<T>(math::Tanh{}, "tanh, |x| < 0.5", {tiny, 0.499, true}, hyperbolic),
      row<T>(math::Tanh{}, "tanh, 1 < |x| < 8", {1, 8, true}, hyperbolic),
      row<T>(math::Erf{}, "erf, |x| < 0.9", {tiny, 0.9, true}, error_function),
      row<T>(math::Erf{}, "erf, 1.1 < |x| < 3", {1.1, 3, true}, error_function),
  };
  rows.front().published = is_fp32<T> ? "" : "sin, fp64, dependent chain";
  return rows;
}

// An intrinsic, and the accurate row that it stands beside.
struct IntrinsicRow {
  std::string accurate;
  Row<float> row;
  bool is_fast = true;  // less exact than the other, by intent
};

std::vector<IntrinsicRow> intrinsic_rows() {
  using T = float;
  const Range turn{.low = tiny, .high = pi, .both_signs = true};
  const Range positive{.low = 0x1p-100, .high = 0x1p+100};
  const Range half{.low = 0x1p-50, .high = 0x1p+50, .both_signs = true};
  const std::string any = ", 2^-100 < x < 2^100";
  const std::string any_half = ", 2^-50 < |x| < 2^50";
  const std::string power = ", 1/16 < x < 16, |y| < 25";
  // CUDA's __f..._rn are correctly rounded. HIP's __fsqrt_rn and __frsqrt_rn are bare instructions
  // in spite of their names, its page "HIP math API" says 1 ulp; its __fdividef is a division.
  const Limit root = math::within({.cuda = 0, .ocml = 1, .glibc = 0});
  const Limit reciprocal_root = math::within({.cuda = 0, .ocml = 1, .glibc = 1});
  const Limit quotient = math::within({.cuda = 2, .ocml = 0, .glibc = 0});
  return {
      {"sin, |x| < pi",
       row<T>(math::FastSin{}, "__sinf, |x| < pi", turn, math::absolute(math::fast_sin_error))},
      {"cos, |x| < pi",
       row<T>(math::FastCos{}, "__cosf, |x| < pi", turn, math::absolute(math::fast_cos_error))},
      {"tan, |x| < pi/4",
       row<T>(math::FastTan{}, "__tanf, |x| < pi/4", {tiny, pi / 4, true}, math::fast_tan_limit)},
      {"exp, |x| < 80",
       row<T>(math::FastExp{}, "__expf, |x| < 80", {tiny, 80, true}, math::fast_exp_limit)},
      {"log" + any,
       row<T>(math::FastLog{}, "__logf" + any, positive, math::fast_log(math::fast_sin_error, 3))},
      {"log2" + any,
       row<T>(math::FastLog2{}, "__log2f" + any, positive, math::fast_log(0x1p-22, 2))},
      {"pow" + power, row<T>(math::FastPow{}, "__powf" + power, {0.0625, 16}, math::fast_pow_limit,
                             {tiny, 25, true})},
      {"sqrt" + any, row<T>(math::RoundedSqrt{}, "__fsqrt_rn" + any, positive, root), math::is_amd},
      {"rsqrt" + any, row<T>(math::RoundedRsqrt{}, "__frsqrt_rn" + any, positive, reciprocal_root),
       math::is_amd},
      {"1 / x" + any_half,
       row<T>(math::RoundedReciprocal{}, "__frcp_rn" + any_half, half, math::within({})), false},
      {"x / y, 2^-50 ... 2^50",
       row<T>(math::FastDivide{}, "__fdividef, 2^-50 ... 2^50", half, quotient, half)},
  };
}

// All rows of a sweep, each intrinsic after its accurate function.
template <typename T>
std::vector<Row<T>> function_rows() {
  std::vector<Row<T>> rows = accurate_rows<T>();
  if constexpr (is_fp32<T>) {
    for (const IntrinsicRow& intrinsic : intrinsic_rows()) {
      const auto accurate = std::find_if(rows.begin(), rows.end(), [&](const Row<T>& candidate) {
        return candidate.label == intrinsic.accurate;
      });
      rows.insert(accurate == rows.end() ? accurate : accurate + 1, intrinsic.row);
    }
  }
  return rows;
}

// What a step costs without a function: the FMA, the addition and the loop.
template <typename T>
Row<T> empty_row() {
  return row<T>(math::Nothing{}, "no function: FMA, add, loop", {1, 2, true}, math::within({}));
}

// Two ways to write one thing.
template <typename T>
struct Rewrite {
  std::string label;
  Row<T> before;
  Row<T> after;
  T (*boundary)(T y) = nullptr;  // of a comparison: the x at which its result changes
};

// Where a comparison may go either way: the two sides are this close, relative to one of them.
Limit near_boundary(double epsilons, double epsilon, double (*boundary)(double)) {
  return [=](double x, double y, double, double) {
    return std::abs(x / boundary(y) - 1) <= epsilons * epsilon ? 1.0 : 0.0;
  };
}

// Where the two sides may differ:
//   exp      rounding x + y shifts the argument by up to half its last place, which exp turns into
//            a relative error of |x + y| / 2 epsilon; and a factor may overflow where exp(x + y)
//            does not (outside these ranges)
//   sqrt     where a and b * b are the same but for their last digits; and where b is negative or
//            b * b overflows or vanishes (outside these ranges)
//   asin     where a and b are neighbours, whose arcsines may be rounded to the same number
//   pow      by the error of pow
template <typename T>
std::vector<Rewrite<T>> rewrites() {
  constexpr double epsilon = std::numeric_limits<T>::epsilon();
  const double exp_ulps =
      math::allowed_ulps(is_fp32<T> ? math::Documented{2, 3, 1} : math::Documented{1, 3, 1});
  const Limit product = [=](double, double, double exact, double) {
    return exact * (2 * exp_ulps + math::rounding) * epsilon;
  };
  const Limit sum = [=](double x, double y, double exact, double) {
    return exact * (exp_ulps + std::abs(x + y) / 2) * epsilon;
  };
  const Limit at_square = near_boundary(8, epsilon, [](double b) { return b * b; });
  const Limit at_same = near_boundary(16, epsilon, [](double b) { return b; });
  const Limit never = [](double, double, double, double) { return 0.0; };
  const Limit power = within<T>({4, 16, 1}, {2, 16, 1});
  const Range exponent{.low = tiny, .high = is_fp32<T> ? 40.0 : 300.0, .both_signs = true};
  const Range sine{.low = 0.6, .high = 0.95, .both_signs = true};
  const Range factor{.low = 0x1p-30, .high = 0x1p+30, .both_signs = true};
  return {
      {"exp(x)*exp(y) as exp(x+y)",
       row<T>(math::ExpProduct{}, "exp(x)*exp(y)", exponent, product, exponent),
       row<T>(math::ExpOfSum{}, "exp(x+y)", exponent, sum, exponent)},
      {"sqrt(a) < b as a < b*b",
       row<T>(math::SqrtLess{}, "sqrt(a) < b", {1, 16}, at_square, {1, 4}),
       row<T>(math::LessSquare{}, "a < b*b", {1, 16}, at_square, {1, 4}),
       [](T b) { return b * b; }},
      {"asin(a) < asin(b) as a < b",
       row<T>(math::AsinLess{}, "asin(a) < asin(b)", sine, at_same, sine),
       row<T>(math::Less{}, "a < b", sine, never, sine), [](T b) { return b; }},
      {"pow(x, 2) as x*x", row<T>(math::PowTwo{}, "pow(x, 2)", factor, power),
       row<T>(math::Square{}, "x*x", factor, math::within({}))},
  };
}

// --- Running a row ----------------------------------------------------------------------------

// The edges of the range, which a draw would hardly hit; of the other arguments half lie evenly in
// the range, half evenly over its orders of magnitude.
template <typename T>
std::vector<T> draw(const Range& range, std::size_t count, std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform;
  const double lowest = std::log2(range.low);
  const double highest = std::log2(range.high);
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double u = uniform(random);
    const double magnitude = i % 2 == 0 ? range.low + (range.high - range.low) * u
                                        : std::exp2(lowest + (highest - lowest) * u);
    values[i] = static_cast<T>(range.both_signs && random() % 2 == 0 ? -magnitude : magnitude);
  }
  const std::array edges = {range.low, range.high, -range.low, -range.high};
  const std::size_t edge_count = std::min<std::size_t>(count, range.both_signs ? 4 : 2);
  for (std::size_t i = 0; i < edge_count; ++i) {
    values[i] = static_cast<T>(edges[i]);
  }
  return values;
}

template <typename T>
struct Arguments {
  std::vector<T> x;
  std::vector<T> y;
};

template <typename T>
Arguments<T> arguments_of(const Row<T>& row, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> x = draw<T>(row.x, count, random);
  return {.x = std::move(x), .y = draw<T>(row.y, count, random)};
}

struct Grid {
  unsigned blocks = 1;
  unsigned threads = block_threads;  // per block
  [[nodiscard]] std::size_t total() const { return std::size_t{blocks} * threads; }
};

// One row's kernel with its buffers; thread i takes argument i % arguments.
template <typename T>
class Chain {
 public:
  Chain(const Row<T>& row, const Arguments<T>& arguments, const Grid& grid)
      : row_(row),
        arguments_(arguments),
        grid_(grid),
        x_(std::span<const T>(arguments.x)),
        y_(std::span<const T>(arguments.y)),
        sums_(grid.total()),
        cycles_(1) {}

  void run(std::uint64_t steps) const {
    constexpr T zero = 0;
    launch(row_.kernel, {.grid = dim3(grid_.blocks), .block = dim3(grid_.threads)}, x_.data(),
           y_.data(), static_cast<unsigned>(arguments_.x.size()), sums_.data(), cycles_.data(),
           static_cast<unsigned>(steps), zero);
  }

  // The sums of a run that stored all of them.
  std::vector<T> sums_of(std::uint64_t steps) {
    sums_.poison();
    run(steps);
    return sums_.to_host();
  }

  // The function's value at each argument: the sum of one step.
  std::vector<T> results() {
    std::vector<T> results = sums_of(1);
    results.resize(arguments_.x.size());
    return results;
  }

  // The cycles that the first wave counts for so many steps.
  double cycles(std::uint64_t steps) {
    constexpr int launches = 9;
    std::array<double, launches> counts{};
    for (double& count : counts) {
      run(steps);
      count = static_cast<double>(cycles_.to_host()[0]);
    }
    return hipscope::summarize(counts).median;
  }

  [[nodiscard]] const Row<T>& row() const { return row_; }
  [[nodiscard]] const Arguments<T>& arguments() const { return arguments_; }

 private:
  const Row<T>& row_;
  const Arguments<T>& arguments_;
  Grid grid_;
  DeviceBuffer<T> x_;
  DeviceBuffer<T> y_;
  DeviceBuffer<T> sums_;
  DeviceBuffer<long long> cycles_;
};

// --- Verification -----------------------------------------------------------------------------

// False where long double has no more digits than double: its errors are then the reference's too.
template <typename T>
constexpr bool has_reference =
    std::numeric_limits<Wider<T>>::digits >= std::numeric_limits<T>::digits + 8;

// What the reference itself may be off, in ulp of T.
template <typename T>
constexpr double reference_error = has_reference<T> ? 1.0 / 256 : 1.0;

struct Errors {
  std::uint64_t wrong = 0;  // results beyond their limit
  double largest = 0;       // error in ulp
  double at = 0;            // its argument x
  double share = 0;         // of the limit that is used, where most of it is
  double limit = 0;         // that limit, in ulp
};

// The unit in the last place of a T near `value`.
template <typename T>
double last_place(Wider<T> value) {
  return value == 0 ? 0.0 : std::ldexp(1.0, std::ilogb(value) + 1 - std::numeric_limits<T>::digits);
}

template <typename T>
Errors errors_of(const Row<T>& row, const Arguments<T>& arguments, const std::vector<T>& results) {
  Errors errors;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const T x = arguments.x[i];
    const T y = arguments.y[i];
    const Wider<T> exact = row.exact(x, y);
    const double ulp = last_place<T>(exact);
    const auto error = static_cast<double>(std::abs(results[i] - exact));
    const double limit =
        row.limit(x, y, static_cast<double>(exact), ulp) + reference_error<T> * ulp;
    errors.wrong += error <= limit ? 0 : 1;
    if (error > errors.largest * ulp) {
      errors.largest = error / ulp;
      errors.at = x;
    }
    if (error > errors.share * limit) {
      errors.share = error / limit;
      errors.limit = limit / ulp;
    }
  }
  return errors;
}

// Every step adds the same result. Each addition may be off by half of the sum's last place, and
// the product with which a function ends may be rounded in the sum only.
template <typename T>
std::uint64_t wrong_sums(const std::vector<T>& results, const std::vector<T>& sums,
                         std::uint64_t steps) {
  const double tolerance = (static_cast<double>(steps) / 2 + 1) * std::numeric_limits<T>::epsilon();
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double expected = static_cast<double>(steps) * results[i % results.size()];
    wrong += std::abs(sums[i] - expected) <= tolerance * std::abs(expected) ? 0 : 1;
  }
  return wrong;
}

template <typename T>
void verify(hipscope::Point& point, Chain<T>& chain, std::uint64_t steps) {
  const std::vector<T> results = chain.results();
  point.verify(chain.row().label + ": errors within their bound",
               errors_of(chain.row(), chain.arguments(), results).wrong, results.size());
  const std::vector<T> sums = chain.sums_of(steps);
  point.verify(chain.row().label + ": sum of every lane's steps", wrong_sums(results, sums, steps),
               sums.size());
}

// --- Sweeps -----------------------------------------------------------------------------------

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

struct Latency {
  double counted = not_known;  // cycles between the two reads of the counter
  double step = not_known;     // cycles that each further step adds
};

// The wave's cycles for all steps and for half of them: their difference is free of the counter's
// cost, of the arguments' loads, and of instructions that come from memory the first time.
template <typename T>
Latency measure_latency(hipscope::Point& point, const Sweep& sweep, const Row<T>& row,
                        std::uint64_t steps) {
  const Grid wave{.blocks = 1, .threads = static_cast<unsigned>(sweep.device().wave_size)};
  const Arguments<T> arguments = arguments_of(row, wave.total(), sweep.seed());
  Chain<T> chain(row, arguments, wave);
  verify(point, chain, steps);
  const double counted = sweep.counted(chain.cycles(steps));
  const double counted_half = sweep.counted(chain.cycles(steps / 2));
  const std::uint64_t more_steps = steps - steps / 2;
  return {.counted = counted, .step = (counted - counted_half) / static_cast<double>(more_steps)};
}

// x only numbers the rows: functions from 1 on, those without a function before them. Logarithmic,
// since the functions' values differ by orders of magnitude.
constexpr double counter_x = 0.25;
constexpr double empty_x = 0.5;
constexpr double first_function_x = 1;

void set_axis(Sweep& sweep, const std::string& headline) {
  sweep.axis({.name = "function", .scale = hipscope::Scale::logarithmic});
  sweep.headline(headline);
}

template <typename T>
void measure_latencies(Sweep& sweep, std::uint64_t steps) {
  set_axis(sweep, "latency");
  sweep.note(
      "counted: cycles of the whole chain; step: cycles that a further step adds; latency: "
      "the step less that of no function");
  const auto add = [&](const Row<T>& row, double x, std::uint64_t row_steps, double empty_step) {
    auto point = sweep.point(row.label, x, row.published);
    const Latency latency = measure_latency(point, sweep, row, row_steps);
    point.value("counted", latency.counted, "cycles");
    point.value("step", latency.step, "cycles");
    point.value("latency", latency.step - empty_step, "cycles");
    return latency.step;
  };
  const Row<T> empty = empty_row<T>();
  Row<T> counter = empty;
  counter.label = "counter alone, no step";
  add(counter, counter_x, 0, not_known);
  const double empty_step = add(empty, empty_x, steps, not_known);
  double x = first_function_x;
  for (const Row<T>& row : function_rows<T>()) {
    add(row, x++, steps, empty_step);
  }
}

// Four rounds of as many blocks as all CUs hold at once: each CU is full to the end.
template <typename T>
Grid full_grid(const Sweep& sweep, const Row<T>& row) {
  if (!sweep.is_hardware()) {
    return {};
  }
  int resident = 0;
  hipscope::check(hipOccupancyMaxActiveBlocksPerMultiprocessor(&resident, row.kernel,
                                                               static_cast<int>(block_threads), 0));
  constexpr int rounds = 4;
  return {.blocks = static_cast<unsigned>(rounds * resident * sweep.device().compute_units)};
}

// Enough different arguments that no two waves of a CU share theirs.
constexpr std::size_t most_throughput_arguments = 4096;

// Results per cycle and CU.
template <typename T>
double measure_rate(hipscope::Point& point, const Sweep& sweep, const Row<T>& row,
                    std::uint64_t steps, const std::string& name = "time") {
  const Grid grid = full_grid(sweep, row);
  const Arguments<T> arguments =
      arguments_of(row, std::min(grid.total(), most_throughput_arguments), sweep.seed());
  Chain<T> chain(row, arguments, grid);
  verify(point, chain, steps);
  const auto time = point.measure([&] { chain.run(steps); }, {.name = name});
  return static_cast<double>(grid.total() * steps) / time.cycles() / sweep.device().compute_units;
}

template <typename T>
void measure_throughputs(Sweep& sweep, std::uint64_t steps) {
  set_axis(sweep, "rate");
  sweep.note(
      "rate: as measured, with an FMA, an addition and a quarter of a loop's overhead per "
      "result; net rate: had they cost what they cost alone, which is too much where units work "
      "side by side: an upper bound");
  const auto add = [&](const Row<T>& row, double x, double empty_rate) {
    auto point = sweep.point(row.label, x);
    const double rate = measure_rate(point, sweep, row, steps);
    const double net_cycles = 1 / rate - 1 / empty_rate;
    point.value("rate", rate, "results/cycle/CU");
    point.value("net rate", net_cycles > 0 ? 1 / net_cycles : not_known, "results/cycle/CU");
    return rate;
  };
  const double empty_rate = add(empty_row<T>(), empty_x, not_known);
  double x = first_function_x;
  for (const Row<T>& row : function_rows<T>()) {
    add(row, x++, empty_rate);
  }
}

// At least one thread per argument; x, y and the result must fit into memory.
template <typename T>
Grid grid_of(const Sweep& sweep, std::uint64_t points) {
  const Grid grid{.blocks = static_cast<unsigned>((points + block_threads - 1) / block_threads)};
  sweep.require_memory(3 * grid.total() * sizeof(T), "--points");
  return grid;
}

template <typename T>
void measure_errors(Sweep& sweep, std::uint64_t points) {
  if constexpr (!has_reference<T>) {
    sweep.note("not measured: this machine's long double has no more digits than double");
    return;
  }
  set_axis(sweep, "largest error");
  sweep.note(
      std::string("against the host's ") + (is_fp32<T> ? "double" : "long double") +
      ", counted from the exact result; bound: where most of it is used, the documented one, "
      "with half an ulp more where that is counted from the rounded result");
  const Grid grid = grid_of<T>(sweep, points);
  double x = first_function_x;
  for (const Row<T>& row : function_rows<T>()) {
    auto point = sweep.point(row.label, x++);
    const Arguments<T> arguments = arguments_of(row, grid.total(), sweep.seed());
    const Errors errors = errors_of(row, arguments, Chain<T>(row, arguments, grid).results());
    point.verify("errors within their bound", errors.wrong, grid.total());
    point.value("largest error", errors.largest, "ulp");
    point.value("at x", errors.at, "");
    point.value("bound", errors.limit, "ulp");
    point.value("of bound", 100 * errors.share, "%");
  }
}

// Every third x is moved to a comparison's boundary, or up to two last places beside it.
template <typename T>
void move_to_boundary(Arguments<T>& arguments, T (*boundary)(T)) {
  for (std::size_t i = 0; i < arguments.x.size(); i += 3) {
    const auto places = static_cast<T>(static_cast<int>(i / 3 % 5) - 2);
    const T nudge = 1 + places * std::numeric_limits<T>::epsilon();
    arguments.x[i] = boundary(arguments.y[i]) * nudge;
  }
}

// Both sides at the same arguments: each within its limit of the exact result, and how many differ.
template <typename T>
void compare_results(hipscope::Point& point, const Sweep& sweep, const Rewrite<T>& rewrite,
                     std::uint64_t points) {
  const Grid grid = grid_of<T>(sweep, points);
  Arguments<T> arguments = arguments_of(rewrite.before, grid.total(), sweep.seed());
  if (rewrite.boundary != nullptr) {
    move_to_boundary(arguments, rewrite.boundary);
  }
  const auto results_of = [&](const Row<T>& row) {
    std::vector<T> results = Chain<T>(row, arguments, grid).results();
    point.verify(row.label + ": at " + std::to_string(results.size()) + " arguments",
                 errors_of(row, arguments, results).wrong, results.size());
    return results;
  };
  const std::vector<T> before = results_of(rewrite.before);
  const std::vector<T> after = results_of(rewrite.after);
  std::size_t different = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    different += before[i] == after[i] ? 0 : 1;
  }
  point.value("different",
              100 * static_cast<double>(different) / static_cast<double>(before.size()), "%");
}

template <typename T>
void measure_rewrites(Sweep& sweep, std::uint64_t steps, std::uint64_t points) {
  set_axis(sweep, "gain");
  sweep.note(
      "gain: rate as rewritten over rate as written; different: results that are not the "
      "same (of a comparison's arguments a third lie at its boundary)");
  double x = first_function_x;
  for (const Rewrite<T>& rewrite : rewrites<T>()) {
    auto point = sweep.point(rewrite.label, x++);
    const double step_before = measure_latency(point, sweep, rewrite.before, steps).step;
    const double step_after = measure_latency(point, sweep, rewrite.after, steps).step;
    const double rate_before = measure_rate(point, sweep, rewrite.before, steps, "time as written");
    const double rate_after = measure_rate(point, sweep, rewrite.after, steps, "time rewritten");
    point.value("step as written", step_before, "cycles");
    point.value("step rewritten", step_after, "cycles");
    point.value("rate as written", rate_before, "results/cycle/CU");
    point.value("rate rewritten", rate_after, "results/cycle/CU");
    point.value("gain", rate_after / rate_before, "times");
    compare_results(point, sweep, rewrite, points);
  }
}

template <typename T>
std::string named(const std::string& sweep) {
  return sweep + (is_fp32<T> ? "-fp32" : "-fp64");
}

// --- What the rows show -----------------------------------------------------------------------

// The value of one function in a sweep.
template <typename T>
std::optional<hipscope::CurvePoint> value_of(const hipscope::Results& results,
                                             const std::string& sweep, const std::string& value,
                                             const std::string& label) {
  const std::vector<Row<T>> rows = function_rows<T>();
  for (const auto& point : results.curve(named<T>(sweep), value)) {
    const double index = point.x - first_function_x;
    if (index >= 0 && rows.at(static_cast<std::size_t>(index)).label == label) {
      return point;
    }
  }
  return std::nullopt;
}

template <typename T>
std::optional<hipscope::CurvePoint> latency_of(const hipscope::Results& results,
                                               const std::string& label) {
  return value_of<T>(results, "latency", "latency", label);
}

template <typename T>
std::optional<hipscope::CurvePoint> rate_of(const hipscope::Results& results,
                                            const std::string& label) {
  return value_of<T>(results, "throughput", "rate", label);
}

struct Ratio {
  double value = 0;
  double confidence = 0;  // 1 less the spread of both times
  std::string text{};     // "20.1 against 5.2 cycles"
};

std::optional<Ratio> ratio(const std::optional<hipscope::CurvePoint>& over,
                           const std::optional<hipscope::CurvePoint>& under,
                           const std::string& unit) {
  if (!over || !under || !(over->y > 0) || !(under->y > 0)) {
    return std::nullopt;
  }
  return Ratio{.value = over->y / under->y,
               .confidence = std::max(0.0, 1 - over->relative_spread - under->relative_spread),
               .text = number(over->y) + " against " + number(under->y) + " " + unit};
}

// The rate is what a whole GPU feels; the latency stands in the evidence.
void infer_cost(hipscope::Results& results, const std::string& name, const std::string& statement,
                const std::optional<Ratio>& rate, const std::optional<Ratio>& latency,
                std::vector<std::string> more = {}) {
  if (!rate) {
    return;
  }
  hipscope::Inference inference{.name = name,
                                .value = rate->value,
                                .unit = "times",
                                .confidence = rate->confidence,
                                .statement = statement,
                                .evidence = {"throughput: " + rate->text}};
  if (latency) {
    inference.evidence.push_back("latency: " + latency->text + ", " + number(latency->value) +
                                 " times");
  }
  for (std::string& line : more) {
    inference.evidence.push_back(std::move(line));
  }
  results.infer(inference);
}

constexpr const char* cycles = "cycles";
constexpr const char* per_cycle = "results/cycle/CU";
const std::string small_sin = "sin, |x| < pi/4";

void infer_precision(hipscope::Results& results) {
  std::vector<std::string> published;
  for (const auto& curve : results.published("sin, fp64, dependent chain", "latency")) {
    published.push_back("published for " + curve.gpu + ": " + number(curve.points[0].second, 4) +
                        " cycles for a sine in FP64, argument and chain not stated");
  }
  infer_cost(
      results, "cost of a sine in FP64",
      "a sine in FP64 takes so many times as long as in FP32, by the rates",
      ratio(rate_of<float>(results, small_sin), rate_of<double>(results, small_sin), per_cycle),
      ratio(latency_of<double>(results, small_sin), latency_of<float>(results, small_sin), cycles),
      published);
}

template <typename T>
void infer_reduction(hipscope::Results& results) {
  const std::string large = is_fp32<T> ? "sin, 2e5 < |x| < 1e9" : "sin, 2^32 < |x| < 1e15";
  const std::string name =
      std::string("cost of a large argument in ") + (is_fp32<T> ? "FP32" : "FP64");
  infer_cost(results, name,
             "a sine of a large argument (" + large.substr(5) +
                 ") takes so many times as long as one of a small argument, by the rates",
             ratio(rate_of<T>(results, small_sin), rate_of<T>(results, large), per_cycle),
             ratio(latency_of<T>(results, large), latency_of<T>(results, small_sin), cycles));
}

// What the fast intrinsics gain in rate, and at what error.
void infer_fast(hipscope::Results& results) {
  std::vector<double> gains;
  std::vector<std::string> evidence;
  double confidence = 1;
  for (const IntrinsicRow& intrinsic : intrinsic_rows()) {
    const auto gain = ratio(rate_of<float>(results, intrinsic.row.label),
                            rate_of<float>(results, intrinsic.accurate), per_cycle);
    if (!gain) {
      continue;
    }
    if (intrinsic.is_fast) {
      gains.push_back(gain->value);
      confidence = std::min(confidence, gain->confidence);
    }
    std::string line = intrinsic.row.label + ": " + number(gain->value) + " times, " + gain->text;
    const auto error = value_of<float>(results, "error", "largest error", intrinsic.row.label);
    const auto accurate = value_of<float>(results, "error", "largest error", intrinsic.accurate);
    if (error && accurate) {
      line += "; largest error " + number(error->y) + " against " + number(accurate->y) + " ulp";
    }
    evidence.push_back(line);
  }
  if (gains.empty()) {
    return;
  }
  results.infer({.name = "gain of the fast intrinsics",
                 .value = hipscope::geometric_mean(gains),
                 .unit = "times",
                 .confidence = confidence,
                 .statement = "in the geometric mean a fast intrinsic gives so many times the rate "
                              "of the accurate function; those that are correctly rounded do not "
                              "count",
                 .evidence = evidence});
}

template <typename T>
void infer_rewrites(hipscope::Results& results) {
  const std::vector<Rewrite<T>> all = rewrites<T>();
  std::vector<double> gains;
  std::vector<std::string> evidence;
  double confidence = 1;
  for (const auto& point : results.curve(named<T>("rewrites"), "gain")) {
    gains.push_back(point.y);
    confidence = std::min(confidence, 1 - point.relative_spread);
    evidence.push_back(all.at(static_cast<std::size_t>(point.x - first_function_x)).label + ": " +
                       number(point.y) + " times");
  }
  if (gains.empty()) {
    return;
  }
  results.infer({.name = std::string("gain of the rewrites in ") + (is_fp32<T> ? "FP32" : "FP64"),
                 .value = hipscope::geometric_mean(gains),
                 .unit = "times",
                 .confidence = std::max(0.0, confidence),
                 .statement = "in the geometric mean the rewritten form runs at so many times the "
                              "rate",
                 .evidence = evidence});
}

// --- Main -------------------------------------------------------------------------------------

template <typename T>
void declare(hipscope::Experiment& experiment, const hipscope::Size& steps,
             const hipscope::Size& points) {
  const std::string precision = is_fp32<T> ? " in FP32" : " in FP64";
  experiment.sweep(named<T>("latency"), "latency of functions" + precision,
                   [=](Sweep& sweep) { measure_latencies<T>(sweep, steps); });
  experiment.sweep(named<T>("throughput"), "throughput of functions" + precision,
                   [=](Sweep& sweep) { measure_throughputs<T>(sweep, steps); });
  experiment.sweep(named<T>("error"), "largest error of functions" + precision,
                   [=](Sweep& sweep) { measure_errors<T>(sweep, points); });
  experiment.sweep(named<T>("rewrites"), "the same result for less" + precision,
                   [=](Sweep& sweep) { measure_rewrites<T>(sweep, steps, points); });
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "math_functions",
      {.question = "What does a mathematical function cost, and how exact is it?",
       .sources = {"fsword73/HIP-Performance-Optmization-on-VEGA64, 2.11 (example 11a)"}});
  // With more steps a missing one could hide in the rounding of an FP32 sum.
  const auto steps =
      experiment.size("--steps", "evaluations per lane of a timed kernel",
                      {.gpu = 1024, .quick = 128, .host = 6, .minimum = 2, .maximum = 2048});
  const auto points = experiment.size(
      "--points", "arguments per function of the error sweeps",
      {.gpu = 1U << 20, .quick = 1U << 14, .host = 256, .minimum = 1, .maximum = 1U << 24});
  declare<float>(experiment, steps, points);
  declare<double>(experiment, steps, points);
  experiment.conclude([](hipscope::Results& results) {
    infer_precision(results);
    infer_reduction<float>(results);
    infer_reduction<double>(results);
    infer_fast(results);
    infer_rewrites<float>(results);
    infer_rewrites<double>(results);
  });
  return experiment.run(argc, argv);
}
