// Floats of 8 bits by AMD's matrix instructions: B comes to LDS as A does.
//
// Against 07.4, 07.5 and 07.7, whose kernels these are: B is stored by columns (16), so that of
// both operands k runs along memory, and nothing is transposed. On CDNA no operand passes through
// registers; on gfx12 each comes in pieces of 16 bytes. A row of 64 bytes in LDS has 64 values, and
// an instruction multiplies twice as many in the same time: all else is as with halves. gfx950 has
// that rate only in the instruction that takes 32 bytes of a lane and scales, which are 1 here: a
// row has 128 values. gfx942 multiplies values of FNUZ, with another bias and one zero: E4M3Fnuz.
// Not measured.
#pragma once

#include "07.5-loads-to-lds.h"
#include "stage.h"

namespace hgemm {

/// What a thread brings of both: pieces of rows.
template <typename Tile, typename Value>
requires gemm::has_b_by_columns<Value>
class LargeTileCopy<Tile, Value> {
 public:
  __device__ LargeTileCopy(const Extents& extents, const Value* a, const Value* b, unsigned row,
                           unsigned column)
      : a_(a, extents.lda, row), b_(b, extents.ldb, column) {}

  __device__ void load() {
    a_.load();
    b_.load();
  }
  __device__ void store(typename Tile::A& a, typename Tile::B& b) const {
    a_.store(a);
    b_.store(b);
  }

 private:
  RowsCopy<typename Tile::A, Value> a_;
  RowsCopy<typename Tile::B, Value> b_;
};

/// Past the registers.
template <typename Tile, typename Value, unsigned ahead>
requires gemm::has_b_by_columns<Value>
class LdsLoads<Tile, Value, ahead> {
 public:
  __device__ LdsLoads(const Extents& extents, const Value* a, const Value* b, unsigned row,
                      unsigned column)
      : a_(a, extents.lda, extents.k, row), b_(b, extents.ldb, extents.k, column) {}

  __device__ void load_a(typename Tile::A& a) { a_.load(a); }
  __device__ void load_b(typename Tile::B& b) { b_.load(b); }
  __device__ void finish(typename Tile::B& /*b*/) {
#if defined(__HIP_DEVICE_COMPILE__) && defined(__GFX9__)
    hipscope::wait_for_loads<(ahead - 1) * OfA::loads>();
#endif
  }

 private:
  using OfA = RowsToLds<typename Tile::A, Tile::Code::lanes, Value>;
  using OfB = RowsToLds<typename Tile::B, Tile::Code::lanes, Value>;

  OfA a_;
  OfB b_;
};

}  // namespace hgemm
