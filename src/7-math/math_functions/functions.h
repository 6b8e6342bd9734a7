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

// A function of one argument, whose FP32 form has an f at its end.
#define HIPSCOPE_FUNCTION(type, function)                                    \
  struct type {                                                              \
    __device__ static float value(float x, float) { return function##f(x); } \
    __device__ static double value(double x, double) { return function(x); } \
    static auto exact(auto x, auto) { return std::function(x); }             \
  };
HIPSCOPE_FUNCTION(Sin, sin)
HIPSCOPE_FUNCTION(Cos, cos)
HIPSCOPE_FUNCTION(Tan, tan)
HIPSCOPE_FUNCTION(Asin, asin)
HIPSCOPE_FUNCTION(Exp, exp)
HIPSCOPE_FUNCTION(Exp2, exp2)
HIPSCOPE_FUNCTION(Log, log)
HIPSCOPE_FUNCTION(Log2, log2)
HIPSCOPE_FUNCTION(Sqrt, sqrt)
HIPSCOPE_FUNCTION(Tanh, tanh)
HIPSCOPE_FUNCTION(Erf, erf)
#undef HIPSCOPE_FUNCTION

struct Pow {
  __device__ static float value(float x, float y) { return powf(x, y); }
  __device__ static double value(double x, double y) { return pow(x, y); }
  static auto exact(auto x, auto y) { return std::pow(x, y); }
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

// The fast intrinsics that HIP and CUDA both have; FP32 only. (__tanhf is CUDA 13's alone.)
#define HIPSCOPE_INTRINSIC(type, accurate, call)                                      \
  struct type : accurate {                                                            \
    __device__ static float value(float x, [[maybe_unused]] float y) { return call; } \
  };
HIPSCOPE_INTRINSIC(FastSin, Sin, __sinf(x))
HIPSCOPE_INTRINSIC(FastCos, Cos, __cosf(x))
HIPSCOPE_INTRINSIC(FastTan, Tan, __tanf(x))
HIPSCOPE_INTRINSIC(FastExp, Exp, __expf(x))
HIPSCOPE_INTRINSIC(FastLog, Log, __logf(x))
HIPSCOPE_INTRINSIC(FastLog2, Log2, __log2f(x))
HIPSCOPE_INTRINSIC(FastPow, Pow, __powf(x, y))
HIPSCOPE_INTRINSIC(RoundedSqrt, Sqrt, __fsqrt_rn(x))
HIPSCOPE_INTRINSIC(RoundedRsqrt, Rsqrt, __frsqrt_rn(x))
HIPSCOPE_INTRINSIC(RoundedReciprocal, Reciprocal, __frcp_rn(x))
HIPSCOPE_INTRINSIC(FastDivide, Divide, __fdividef(x, y))
#undef HIPSCOPE_INTRINSIC

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
