// HIP's vector types (float2, uint4, ...), their make_ functions, and dim3.
#pragma once

#include <cstdint>

namespace hip_host {

template <typename Component>
struct Vector1 {
  Component x;
};

// Vectors of two and four are aligned to their size: a GPU loads each with one instruction, and a
// misaligned one is an error that UndefinedBehaviorSanitizer thereby reports.
template <typename Component>
struct alignas(2 * sizeof(Component)) Vector2 {
  Component x, y;
};

template <typename Component>
struct Vector3 {
  Component x, y, z;
};

template <typename Component>
struct alignas(4 * sizeof(Component)) Vector4 {
  Component x, y, z, w;
};

}  // namespace hip_host

// A macro, since only it can make names: `name`1 to `name`4 and make_`name`1 to make_`name`4.
#define HIP_HOST_VECTOR_TYPES(name, component)                                                  \
  using name##1 = hip_host::Vector1<component>;                                                 \
  using name##2 = hip_host::Vector2<component>;                                                 \
  using name##3 = hip_host::Vector3<component>;                                                 \
  using name##4 = hip_host::Vector4<component>;                                                 \
  constexpr name##1 make_##name##1(component x) { return {x}; }                                 \
  constexpr name##2 make_##name##2(component x, component y) { return {x, y}; }                 \
  constexpr name##3 make_##name##3(component x, component y, component z) { return {x, y, z}; } \
  constexpr name##4 make_##name##4(component x, component y, component z, component w) {        \
    return {x, y, z, w};                                                                        \
  }

HIP_HOST_VECTOR_TYPES(char, signed char)
HIP_HOST_VECTOR_TYPES(uchar, unsigned char)
HIP_HOST_VECTOR_TYPES(short, short)
HIP_HOST_VECTOR_TYPES(ushort, unsigned short)
HIP_HOST_VECTOR_TYPES(int, int)
HIP_HOST_VECTOR_TYPES(uint, unsigned int)
HIP_HOST_VECTOR_TYPES(long, long)
HIP_HOST_VECTOR_TYPES(ulong, unsigned long)
HIP_HOST_VECTOR_TYPES(longlong, long long)
HIP_HOST_VECTOR_TYPES(ulonglong, unsigned long long)
HIP_HOST_VECTOR_TYPES(float, float)
HIP_HOST_VECTOR_TYPES(double, double)

#undef HIP_HOST_VECTOR_TYPES

/// The size of a grid in blocks or of a block in threads; what is not given is 1.
struct dim3 {
  std::uint32_t x, y, z;

  // Implicit, as in HIP: a plain number is a one-dimensional size.
  constexpr dim3(std::uint32_t x_size = 1, std::uint32_t y_size = 1, std::uint32_t z_size = 1)
      : x(x_size), y(y_size), z(z_size) {}
};
