// The functions of math_functions.hip: as a kernel calls them, and the exact result for the host's
// reference in a wider type. Functions of one argument ignore y.
#pragma once

#include <hip/hip_runtime.h>

#include <cmath>

namespace math {

struct Nothing {
  __device__ static auto value(auto x, auto) { return x; }
  static auto exact(auto x, auto) { return x; }
};

struct Sin {
  __device__ static float value(float x, float) { return sinf(x); }
  __device__ static double value(double x, double) { return sin(x); }
  static auto exact(auto x, auto) { return std::sin(x); }
};

struct Cos {
  __device__ static float value(float x, float) { return cosf(x); }
  __device__ static double value(double x, double) { return cos(x); }
  static auto exact(auto x, auto) { return std::cos(x); }
};

struct Tan {
  __device__ static float value(float x, float) { return tanf(x); }
  __device__ static double value(double x, double) { return tan(x); }
  static auto exact(auto x, auto) { return std::tan(x); }
};

struct Asin {
  __device__ static float value(float x, float) { return asinf(x); }
  __device__ static double value(double x, double) { return asin(x); }
  static auto exact(auto x, auto) { return std::asin(x); }
};

struct Exp {
  __device__ static float value(float x, float) { return expf(x); }
  __device__ static double value(double x, double) { return exp(x); }
  static auto exact(auto x, auto) { return std::exp(x); }
};

struct Exp2 {
  __device__ static float value(float x, float) { return exp2f(x); }
  __device__ static double value(double x, double) { return exp2(x); }
  static auto exact(auto x, auto) { return std::exp2(x); }
};

struct Log {
  __device__ static float value(float x, float) { return logf(x); }
  __device__ static double value(double x, double) { return log(x); }
  static auto exact(auto x, auto) { return std::log(x); }
};

struct Log2 {
  __device__ static float value(float x, float) { return log2f(x); }
  __device__ static double value(double x, double) { return log2(x); }
  static auto exact(auto x, auto) { return std::log2(x); }
};

struct Pow {
  __device__ static float value(float x, float y) { return powf(x, y); }
  __device__ static double value(double x, double y) { return pow(x, y); }
  static auto exact(auto x, auto y) { return std::pow(x, y); }
};

struct Sqrt {
  __device__ static float value(float x, float) { return sqrtf(x); }
  __device__ static double value(double x, double) { return sqrt(x); }
  static auto exact(auto x, auto) { return std::sqrt(x); }
};

struct Rsqrt {
  __device__ static float value(float x, float) { return rsqrtf(x); }
  __device__ static double value(double x, double) { return rsqrt(x); }
  static auto exact(auto x, auto) { return 1 / std::sqrt(x); }
};

struct Reciprocal {
  __device__ static auto value(auto x, auto) { return 1 / x; }
  static auto exact(auto x, auto) { return 1 / x; }
};

struct Divide {
  __device__ static auto value(auto x, auto y) { return x / y; }
  static auto exact(auto x, auto y) { return x / y; }
};

struct Tanh {
  __device__ static float value(float x, float) { return tanhf(x); }
  __device__ static double value(double x, double) { return tanh(x); }
  static auto exact(auto x, auto) { return std::tanh(x); }
};

struct Erf {
  __device__ static float value(float x, float) { return erff(x); }
  __device__ static double value(double x, double) { return erf(x); }
  static auto exact(auto x, auto) { return std::erf(x); }
};

// The fast intrinsics that HIP and CUDA both have; FP32 only. (__tanhf is CUDA 13's alone.)

struct FastSin : Sin {
  __device__ static float value(float x, float) { return __sinf(x); }
};
struct FastCos : Cos {
  __device__ static float value(float x, float) { return __cosf(x); }
};
struct FastTan : Tan {
  __device__ static float value(float x, float) { return __tanf(x); }
};
struct FastExp : Exp {
  __device__ static float value(float x, float) { return __expf(x); }
};
struct FastLog : Log {
  __device__ static float value(float x, float) { return __logf(x); }
};
struct FastLog2 : Log2 {
  __device__ static float value(float x, float) { return __log2f(x); }
};
struct FastPow : Pow {
  __device__ static float value(float x, float y) { return __powf(x, y); }
};
struct RoundedSqrt : Sqrt {
  __device__ static float value(float x, float) { return __fsqrt_rn(x); }
};
struct RoundedRsqrt : Rsqrt {
  __device__ static float value(float x, float) { return __frsqrt_rn(x); }
};
struct RoundedReciprocal : Reciprocal {
  __device__ static float value(float x, float) { return __frcp_rn(x); }
};
struct FastDivide : Divide {
  __device__ static float value(float x, float y) { return __fdividef(x, y); }
};

// Both sides of fsword73's rewrites. A comparison gives 1 or 0.

struct ExpProduct {
  __device__ static float value(float x, float y) { return expf(x) * expf(y); }
  __device__ static double value(double x, double y) { return exp(x) * exp(y); }
  static auto exact(auto x, auto y) { return std::exp(x + y); }
};
struct ExpOfSum : ExpProduct {
  __device__ static float value(float x, float y) { return expf(x + y); }
  __device__ static double value(double x, double y) { return exp(x + y); }
};

struct SqrtLess {
  __device__ static float value(float a, float b) { return sqrtf(a) < b ? 1.0F : 0.0F; }
  __device__ static double value(double a, double b) { return sqrt(a) < b ? 1.0 : 0.0; }
  static auto exact(auto a, auto b) { return decltype(a)(a < b * b ? 1 : 0); }
};
struct LessSquare : SqrtLess {
  __device__ static auto value(auto a, auto b) { return decltype(a)(a < b * b ? 1 : 0); }
};

struct AsinLess {
  __device__ static float value(float a, float b) { return asinf(a) < asinf(b) ? 1.0F : 0.0F; }
  __device__ static double value(double a, double b) { return asin(a) < asin(b) ? 1.0 : 0.0; }
  static auto exact(auto a, auto b) { return decltype(a)(a < b ? 1 : 0); }
};
struct Less : AsinLess {
  __device__ static auto value(auto a, auto b) { return decltype(a)(a < b ? 1 : 0); }
};

struct PowTwo {
  __device__ static float value(float x, float) { return powf(x, 2.0F); }
  __device__ static double value(double x, double) { return pow(x, 2.0); }
  static auto exact(auto x, auto) { return x * x; }
};
struct Square : PowTwo {
  __device__ static auto value(auto x, auto) { return x * x; }
};

}  // namespace math
