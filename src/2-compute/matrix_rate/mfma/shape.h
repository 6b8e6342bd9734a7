// AMD's MFMA (CDNA: gfx908 and later): a wave of 64 multiplies matrices that lie in its registers.
// Lane l has of A the elements of row l % 32 (or 16), of B those of that column, in both neighbours
// along k from `PerLane` x (l / 32 or 16) on; and of D one column, in runs of four rows (of FP64 in
// rows four apart). AMD's matrix instruction calculator and the manuals of CDNA's instructions tell
// them; the sums do not depend on the order along k, as long as A and B agree.
//
// The host chooses by generation what to launch. Where a pass is for another one, or its compiler
// has not the builtin, a kernel does nothing.
#pragma once

#include "../registers.h"

namespace matrix_rate {

#if defined(__gfx908__)
#define MATRIX_RATE_CDNA 1
#elif defined(__gfx90a__)
#define MATRIX_RATE_CDNA 2
#elif defined(__gfx942__)
#define MATRIX_RATE_CDNA 3
#elif defined(__gfx950__)
#define MATRIX_RATE_CDNA 4
#else
#define MATRIX_RATE_CDNA 0
#endif
// Whether this pass is for a generation from `first` to `last` and its compiler has the builtin.
#if MATRIX_RATE_CDNA > 0
#define MATRIX_RATE_MFMA(first, last, builtin) \
  (MATRIX_RATE_CDNA >= first && MATRIX_RATE_CDNA <= last && __has_builtin(builtin))
#else
#define MATRIX_RATE_MFMA(first, last, builtin) 0
#endif

/// The generation of CDNA of an architecture; 0: another one.
inline unsigned cdna_generation(const std::string& architecture) {
  const std::string family = architecture.substr(0, architecture.find(':'));
  return family == "gfx908"   ? 1
         : family == "gfx90a" ? 2
         : family == "gfx942" ? 3
         : family == "gfx950" ? 4
                              : 0;
}

/// An instruction of `Side` x `Side` sums, of whose factors a lane has `PerLane`.
template <unsigned Side, unsigned PerLane, bool FourApart = false>
struct MfmaShape {
  static constexpr unsigned m = Side;
  static constexpr unsigned n = Side;
  static constexpr unsigned lanes = 64;
  static constexpr unsigned k = lanes / Side * PerLane;
  static constexpr unsigned a_lanes = lanes;
  static constexpr unsigned b_lanes = lanes;
  static constexpr Sparsity sparsity = Sparsity::dense;
  static constexpr unsigned a_elements = PerLane;
  static constexpr unsigned b_elements = PerLane;
  static constexpr unsigned sum_elements = Side * Side / lanes;

  __host__ __device__ static Place a_place(unsigned lane, unsigned element) {
    return {lane % Side, lane / Side * PerLane + element};
  }
  __host__ __device__ static Place b_place(unsigned lane, unsigned element) {
    return {lane / Side * PerLane + element, lane % Side};
  }
  __host__ __device__ static Place sum_place(unsigned lane, unsigned element) {
    constexpr unsigned parts = lanes / Side;
    const unsigned row = FourApart ? parts * element + lane / Side
                                   : 4 * parts * (element / 4) + 4 * (lane / Side) + element % 4;
    return {row, lane % Side};
  }
  static constexpr const char* family = "MFMA";
  static constexpr unsigned peak_groups = 8;
};

}  // namespace matrix_rate
