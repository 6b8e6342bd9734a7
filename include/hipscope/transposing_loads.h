// Loads from LDS that transpose values of 16 bits: gfx950's ds_read_b64_tr_b16.
//
// Sixteen lanes transpose four rows of 16 values: lane i names four neighbours of row i / 4, and
// gets column i, one value of each row. Two such loads bring an operand of MFMA that is stored
// against its k direction; of 16 k the first has 0 to 3 and 8 to 11, the second the others. All
// lanes must be active (CDNA 4 ISA manual, 11.4, "MFMA Transpose Load from LDS").
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>

namespace hipscope {

/// One of the four neighbours that a lane names.
struct NamedValue {
  unsigned lane;
  unsigned value;
};

/// Where a lane's result comes from, of four elements.
__host__ __device__ constexpr NamedValue transposed_from(unsigned lane, unsigned element) {
  return {lane / 16 * 16 + 4 * element + lane % 16 / 4, lane % 4};
}

/// A row and a column of 16 k x 32 columns.
struct PlaceAlongK {
  unsigned k;
  unsigned column;
};

/// The first of the four neighbours that a lane of 64 names, by which of the two loads.
__host__ __device__ constexpr PlaceAlongK named_by(unsigned lane, unsigned load) {
  return {lane / 32 * 8 + 4 * load + lane % 16 / 4, lane / 16 % 2 * 16 + lane % 4 * 4};
}

/// The lane's four values as two words; `named(lane)` is what a lane names, in LDS.
template <typename Named>
__device__ uint2 load_transposed(unsigned lane, const Named& named) {
#if defined(__gfx950__)
  using Four = short __attribute__((ext_vector_type(4)));
  const auto* const at = (const __attribute__((address_space(3))) Four*)&named(lane);
  return __builtin_bit_cast(uint2, __builtin_amdgcn_ds_read_tr16_b64_v4i16(
                                       const_cast<__attribute__((address_space(3))) Four*>(at)));
#else
  const auto value = [&](unsigned element) -> unsigned {
    const NamedValue from = transposed_from(lane, element);
    const uint2& four = named(from.lane);
    return (from.value < 2 ? four.x : four.y) >> 16 * (from.value % 2) & 0xFFFF;
  };
  return {value(0) | value(1) << 16, value(2) | value(3) << 16};
#endif
}

}  // namespace hipscope
