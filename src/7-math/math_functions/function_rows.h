// The rows of math_functions.hip: functions over ranges of arguments with what the vendors document
// of their errors, the fast intrinsics, and rewrites. Which kernels evaluate them the lesson says.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "documented_errors.h"
#include "function_arguments.h"
#include "function_errors.h"
#include "functions.h"

namespace math {

/// Thread i sums up `steps` values of a function at x[i % arguments] and y[i % arguments].
template <typename T>
using ChainKernel = void (*)(const T* x, const T* y, unsigned arguments, T* sums, long long* cycles,
                             unsigned steps, T zero);

/// One function over one range of arguments.
template <typename T>
struct Row {
  std::string label;
  ChainKernel<T> kernel = nullptr;
  Exact<T> exact = nullptr;
  Range x{};
  Range y{};
  Limit limit{};
};

/// Makes rows; `Kernels::chain<Function, T>()` is the function's kernel.
template <typename T, typename Kernels>
struct RowOf {
  template <typename Function>
  Row<T> operator()(Function, const std::string& label, const Range& x, const Limit& limit,
                    const Range& y = {}) const {
    return {.label = label,
            .kernel = Kernels::template chain<Function, T>(),
            .exact = Function::template exact<Wider<T>, Wider<T>>,
            .x = x,
            .y = y,
            .limit = limit};
  }
};

template <typename T>
constexpr bool is_fp32 = std::is_same_v<T, float>;

template <typename T>
Limit within(const Documented& fp32, const Documented& fp64) {
  return within(is_fp32<T> ? fp32 : fp64);
}

constexpr double pi = 3.14159265358979323846;

// The smallest magnitude of a range that starts at zero.
constexpr double tiny = 0x1p-10;

// Every accurate function. The ranges are such that all lanes take one path through the libraries:
// sine and cosine reduce large arguments with many digits of 2 / pi from 105615 on in CUDA's FP32,
// from 2^31 on in FP64; asin, tanh and erf have one formula for small arguments and one for others.
template <typename T, typename Kernels>
std::vector<Row<T>> accurate_rows() {
  constexpr RowOf<T, Kernels> row;
  const auto fp = [](const char* fp32, const char* fp64) { return is_fp32<T> ? fp32 : fp64; };
  const auto most = [](double fp32, double fp64) { return is_fp32<T> ? fp32 : fp64; };
  const Range positive{.low = most(0x1p-100, 0x1p-900), .high = most(0x1p+100, 0x1p+900)};
  const Range half{
      .low = most(0x1p-50, 0x1p-450), .high = most(0x1p+50, 0x1p+450), .both_signs = true};
  const std::string any = fp(", 2^-100 < x < 2^100", ", 2^-900 < x < 2^900");
  // CUDA's, OCML's and glibc's documented error in FP32, then in FP64.
  const Limit sine = within<T>({2, 4, 1}, fp64_sine);
  const Limit tangent = within<T>({4, 5, 1}, {2, 5, 1});
  const Limit arcsine = within<T>({2, 4, 1}, {2, 4, 1});
  const Limit exponential = within<T>({2, 3, 1}, {1, 3, 1});
  const Limit hyperbolic = within<T>({2, 5, 2}, {1, 5, 2});
  const Limit error_function = within<T>({2, 16, 1}, {2, 16, 1});
  const Limit rounded = within<T>({0, 0, 0}, {0, 0, 0});
  return {
      row(Sin{}, "sin, |x| < pi/4", {tiny, pi / 4, true}, sine),
      row(Sin{}, "sin, |x| < pi", {tiny, pi, true}, sine),
      row(Sin{}, "sin, 1 < |x| < 1000", {1, 1000, true}, sine),
      row(Sin{}, fp("sin, 2e5 < |x| < 1e9", "sin, 2^32 < |x| < 1e15"),
          {most(2e5, 0x1p+32), most(1e9, 1e15), true}, sine),
      row(Cos{}, "cos, |x| < pi", {tiny, pi, true}, sine),
      row(Cos{}, "cos, 1 < |x| < 1000", {1, 1000, true}, sine),
      row(Tan{}, "tan, |x| < pi/4", {tiny, pi / 4, true}, tangent),
      row(Tan{}, "tan, 1 < |x| < 1000", {1, 1000, true}, tangent),
      row(Asin{}, "asin, |x| < 0.5", {tiny, 0.499, true}, arcsine),
      row(Asin{}, "asin, 0.6 < |x| < 1", {0.6, 1, true}, arcsine),
      row(Exp{}, fp("exp, |x| < 80", "exp, |x| < 700"), {tiny, most(80, 700), true}, exponential),
      row(Exp2{}, fp("exp2, |x| < 110", "exp2, |x| < 1000"), {tiny, most(110, 1000), true},
          exponential),
      row(Log{}, "log" + any, positive, within<T>({1, 3, 1}, {1, 3, 1})),
      row(Log2{}, "log2" + any, positive, within<T>({1, 3, 1}, {1, 3, 2})),
      row(Pow{}, fp("pow, 1/16 < x < 16, |y| < 25", "pow, 1/16 < x < 16, |y| < 200"), {0.0625, 16},
          within<T>({4, 16, 1}, {2, 16, 1}), {tiny, most(25, 200), true}),
      row(Sqrt{}, "sqrt" + any, positive, within<T>({0, 0, 0}, {0, 3, 0})),
      row(Rsqrt{}, "rsqrt" + any, positive, within<T>({2, 2, 1}, {1, 2, 1})),
      row(Reciprocal{}, fp("1 / x, 2^-50 < |x| < 2^50", "1 / x, 2^-450 < |x| < 2^450"), half,
          rounded),
      row(Divide{}, fp("x / y, 2^-50 ... 2^50", "x / y, 2^-450 ... 2^450"), half, rounded, half),
      row(Tanh{}, "tanh, |x| < 0.5", {tiny, 0.499, true}, hyperbolic),
      row(Tanh{}, "tanh, 1 < |x| < 8", {1, 8, true}, hyperbolic),
      row(Erf{}, "erf, |x| < 0.9", {tiny, 0.9, true}, error_function),
      row(Erf{}, "erf, 1.1 < |x| < 3", {1.1, 3, true}, error_function),
  };
}

/// An intrinsic, and the accurate row that it stands beside.
struct IntrinsicRow {
  std::string accurate;
  Row<float> row;
};

template <typename Kernels>
std::vector<IntrinsicRow> intrinsic_rows() {
  constexpr RowOf<float, Kernels> row;
  const Range turn{.low = tiny, .high = pi, .both_signs = true};
  const Range positive{.low = 0x1p-100, .high = 0x1p+100};
  const Range half{.low = 0x1p-50, .high = 0x1p+50, .both_signs = true};
  const std::string any = ", 2^-100 < x < 2^100";
  const std::string any_half = ", 2^-50 < |x| < 2^50";
  const std::string power = ", 1/16 < x < 16, |y| < 25";
  // CUDA's __f..._rn are correctly rounded. HIP's __fsqrt_rn and __frsqrt_rn are bare instructions
  // in spite of their names, its page "HIP math API" says 1 ulp; its __fdividef is a division.
  const Limit root = within({.cuda = 0, .ocml = 1, .glibc = 0});
  const Limit reciprocal_root = within({.cuda = 0, .ocml = 1, .glibc = 1});
  const Limit quotient = within({.cuda = 2, .ocml = 0, .glibc = 0});
  return {
      {"sin, |x| < pi", row(FastSin{}, "__sinf, |x| < pi", turn, absolute(fast_sin_error))},
      {"cos, |x| < pi", row(FastCos{}, "__cosf, |x| < pi", turn, absolute(fast_cos_error))},
      {"tan, |x| < pi/4",
       row(FastTan{}, "__tanf, |x| < pi/4", {tiny, pi / 4, true}, fast_tan_limit)},
      {"exp, |x| < 80", row(FastExp{}, "__expf, |x| < 80", {tiny, 80, true}, fast_exp_limit)},
      {"log" + any, row(FastLog{}, "__logf" + any, positive, fast_log(fast_sin_error, 3))},
      {"log2" + any, row(FastLog2{}, "__log2f" + any, positive, fast_log(0x1p-22, 2))},
      {"pow" + power,
       row(FastPow{}, "__powf" + power, {0.0625, 16}, fast_pow_limit, {tiny, 25, true})},
      {"sqrt" + any, row(RoundedSqrt{}, "__fsqrt_rn" + any, positive, root)},
      {"rsqrt" + any, row(RoundedRsqrt{}, "__frsqrt_rn" + any, positive, reciprocal_root)},
      {"1 / x" + any_half, row(RoundedReciprocal{}, "__frcp_rn" + any_half, half, within({}))},
      {"x / y, 2^-50 ... 2^50",
       row(FastDivide{}, "__fdividef, 2^-50 ... 2^50", half, quotient, half)},
  };
}

/// All rows of a sweep, each intrinsic after its accurate function.
template <typename T, typename Kernels>
std::vector<Row<T>> function_rows() {
  std::vector<Row<T>> rows = accurate_rows<T, Kernels>();
  if constexpr (is_fp32<T>) {
    for (const IntrinsicRow& intrinsic : intrinsic_rows<Kernels>()) {
      const auto accurate = std::find_if(rows.begin(), rows.end(), [&](const Row<T>& candidate) {
        return candidate.label == intrinsic.accurate;
      });
      if (accurate == rows.end()) {
        throw std::logic_error("no row \"" + intrinsic.accurate + "\" beside an intrinsic's");
      }
      rows.insert(accurate + 1, intrinsic.row);
    }
  }
  return rows;
}

/// What a step costs without a function: the FMA, the addition and the loop.
template <typename T, typename Kernels>
Row<T> empty_row() {
  constexpr RowOf<T, Kernels> row;
  return row(Nothing{}, "no function: FMA, add, loop", {1, 2, true}, within({}));
}

/// Two ways to write one thing.
template <typename T>
struct Rewrite {
  std::string label;
  Row<T> before;
  Row<T> after;
  T (*boundary)(T y) = nullptr;  ///< of a comparison: the x at which its result changes
};

// Where a comparison may go either way: the two sides are this close, relative to one of them.
inline Limit near_boundary(double epsilons, double epsilon, double (*boundary)(double)) {
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
template <typename T, typename Kernels>
std::vector<Rewrite<T>> rewrites() {
  constexpr RowOf<T, Kernels> row;
  constexpr double epsilon = std::numeric_limits<T>::epsilon();
  const double exp_ulps = allowed_ulps(is_fp32<T> ? Documented{2, 3, 1} : Documented{1, 3, 1});
  const Limit product = [=](double, double, double exact, double) {
    return exact * (2 * exp_ulps + rounding) * epsilon;
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
      {"exp(x)*exp(y) as exp(x+y)", row(ExpProduct{}, "exp(x)*exp(y)", exponent, product, exponent),
       row(ExpOfSum{}, "exp(x+y)", exponent, sum, exponent)},
      {"sqrt(a) < b as a < b*b", row(SqrtLess{}, "sqrt(a) < b", {1, 16}, at_square, {1, 4}),
       row(LessSquare{}, "a < b*b", {1, 16}, at_square, {1, 4}), [](T b) { return b * b; }},
      {"asin(a) < asin(b) as a < b", row(AsinLess{}, "asin(a) < asin(b)", sine, at_same, sine),
       row(Less{}, "a < b", sine, never, sine), [](T b) { return b; }},
      {"pow(x, 2) as x*x", row(PowTwo{}, "pow(x, 2)", factor, power),
       row(Square{}, "x*x", factor, within({}))},
  };
}

}  // namespace math
