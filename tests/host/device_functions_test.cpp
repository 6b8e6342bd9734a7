// Atomics, intrinsics and vector types; mathematics is what math_functions checks.
#include <limits>

#include "test_support.h"

namespace {

constexpr unsigned kThreads = 300;

template <typename Value>
__global__ void add_and_subtract(Value* sum, Value* difference) {
  atomicAdd(sum, 2);
  atomicSub(difference, 1);
}

template <typename Value>
void expect_sums() {
  DeviceBuffer<Value> values(2);
  ASSERT_EQ(hipMemset(values.data(), 0, 2 * sizeof(Value)), hipSuccess);
  ASSERT_EQ(launch(add_and_subtract<Value>, 2, kThreads, values.data(), values.data() + 1),
            hipSuccess);
  EXPECT_EQ(values.to_host()[0], static_cast<Value>(4 * kThreads));
  EXPECT_EQ(values.to_host()[1], static_cast<Value>(0) - static_cast<Value>(2 * kThreads));
}

TEST(Atomics, AddUpOverAllThreads) {
  expect_sums<int>();
  expect_sums<unsigned>();
  expect_sums<unsigned long long>();
  expect_sums<float>();
  expect_sums<double>();
}

TEST(Atomics, ReturnTheFormerValueAndReplaceIt) {
  int value = 12;
  EXPECT_EQ(atomicMin(&value, 10), 12);
  EXPECT_EQ(atomicMin(&value, 11), 10);
  EXPECT_EQ(atomicMax(&value, 14), 10);
  EXPECT_EQ(atomicMax(&value, 13), 14);
  EXPECT_EQ(atomicOr(&value, 9), 14);
  EXPECT_EQ(atomicExch(&value, 1), 15);
  EXPECT_EQ(atomicExch_system(&value, 7), 1);
  EXPECT_EQ(atomicMin_system(&value, 5), 7);
  EXPECT_EQ(atomicMax_system(&value, 6), 5);
  EXPECT_EQ(atomicAdd_system(&value, 2), 6);
  EXPECT_EQ(atomicCAS_system(&value, 8, 1), 8);
  EXPECT_EQ(atomicCAS(&value, 2, 3), 1);
  EXPECT_EQ(atomicCAS(&value, 1, 3), 1);
  EXPECT_EQ(value, 3);
}

TEST(Atomics, IntegersWrapAround) {
  int value = std::numeric_limits<int>::max();
  atomicAdd(&value, 1);
  EXPECT_EQ(value, std::numeric_limits<int>::min());
  atomicSub(&value, 1);
  EXPECT_EQ(value, std::numeric_limits<int>::max());
}

TEST(Atomics, ACounterTurnsOver) {
  unsigned value = 1;
  EXPECT_EQ(atomicInc(&value, 2), 1U);
  EXPECT_EQ(atomicInc(&value, 2), 2U);
  EXPECT_EQ(value, 0U);
}

TEST(Intrinsics, Bits) {
  EXPECT_EQ(__popcll(~0ULL), 64);
  EXPECT_EQ(__umulhi(0x80000000U, 6U), 3U);
  EXPECT_EQ(__uint_as_float(__float_as_uint(-2.5F)), -2.5F);
  EXPECT_EQ(__longlong_as_double(__double_as_longlong(0.1)), 0.1);
}

TEST(Intrinsics, MinimumAndMaximum) {
  EXPECT_EQ(min(-1, 2), -1);
  EXPECT_EQ(max(2U, 3), 3U);
  EXPECT_EQ(max(2.0F, 3.0), 3.0);
  EXPECT_EQ(min(std::numeric_limits<float>::quiet_NaN(), 3.0F), 3.0F);
}

TEST(Intrinsics, ClocksAdvance) {
  const long long start = wall_clock64();
  const long long later = clock64();
  EXPECT_GE(later, start);
}

TEST(VectorTypes, HaveTheDevicesLayout) {
  static_assert(sizeof(float3) == 12 && alignof(float3) == 4);
  static_assert(sizeof(float4) == 16 && alignof(float4) == 16);
  static_assert(sizeof(double2) == 16 && alignof(double2) == 16);
  static_assert(sizeof(uchar4) == 4 && alignof(uchar4) == 4);
  const float4 vector = make_float4(1, 2, 3, 4);
  EXPECT_EQ(vector.x + vector.y * 10 + vector.z * 100 + vector.w * 1000, 4321.0F);
  EXPECT_EQ(make_int2(3, -4).y, -4);
}

}  // namespace
