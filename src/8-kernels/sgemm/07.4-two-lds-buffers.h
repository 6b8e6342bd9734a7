// Two LDS buffers for each tile: while the block computes on one, the next tile is in flight. Rows
// in LDS are padded by 8 values.
//
// Against 07.3: the loads of the next tile are issued before the FMAs of this one and are stored
// into the other buffer after them, so the FMAs hide device memory's latency; and one barrier per
// tile is enough instead of two. Corrected: fileaccent issues these loads in inline assembly and
// waits for them in another asm statement, further down. Nothing tells the compiler that the
// registers are not loaded yet in between: it may copy, spill or store them there, and then the
// product is wrong. An ordinary load is just as asynchronous on both vendors' hardware, and the
// compiler puts the wait at the first use: here, after memory_scheduling_barrier, which keeps it
// from moving the load there too. (After the last tile the same one is loaded, and stored, again:
// with fileaccent's branch around the two loads, clang would wait for one before the other. And A
// and B must not be declared read-only, or clang would load them before the barrier, which waits
// for everything. fileaccent also stores C in assembly, by the same instruction as an ordinary
// store.)
// On the H200 32.75 TFLOP/s, 1.04 times 07.3; 49.0 % of the peak, of 50 that LDS allows.
//
// And 7.8, which changes only the padding: 4 values. With 24 values from one row of A to the next,
// rows 4 apart begin in the same bank; with 20, 16 banks apart. Less LDS, too: 18944 bytes in place
// of 21504. On the H200 32.74 TFLOP/s, as 7.4.
#pragma once

#include "07.3-placed-reads.h"

namespace sgemm {

/// `multiply_tile` does the FMAs of a tile.
template <typename PaddedTiles, typename MultiplyTile>
__device__ void multiply_with_two_lds_buffers(Sizes size, float alpha, const float* a,
                                              const float* b, float beta, float* c,
                                              const MultiplyTile& multiply_tile) {
  HIP_DYNAMIC_SHARED(float4, lds)
  float* const a_tile = reinterpret_cast<float*>(lds);
  float* const b_tile = a_tile + 2 * PaddedTiles::a_size;
  const PaddedTiles at(size);
  int a_buffer = 0;
  int b_buffer = 0;
  float4 of_a = load_four(a + at.a_place);
  float4 of_b = load_four(b + at.b_place);
  store_four(at.a_to(a_tile), of_a);
  store_four(at.b_to(b_tile), of_b);
  float sums[4][4] = {};
  int index = 0;
  do {
    __syncthreads();
    const int next = index + 1 < at.tiles ? index + 1 : index;
    of_a = load_four(a + at.a_place + next * PaddedTiles::depth);
    of_b = load_four(b + at.b_place + next * PaddedTiles::depth * size.ldb);
    memory_scheduling_barrier();
    multiply_tile(sums, a_tile + a_buffer + at.first_row * PaddedTiles::a_pitch,
                  b_tile + b_buffer + at.first_column);
    memory_scheduling_barrier();
    a_buffer ^= PaddedTiles::a_size;
    b_buffer ^= PaddedTiles::b_size;
    ++index;
    store_four(at.a_to(a_tile + a_buffer), of_a);
    store_four(at.b_to(b_tile + b_buffer), of_b);
  } while (index < at.tiles);
  c += (at.block_row + at.first_row) * size.ldc + at.block_column + at.first_column;
  store_rows(c, size.ldc, alpha, sums, beta);
}

template <int padding>
__global__ void __launch_bounds__(assumed_threads)
    two_lds_buffers_kernel(Sizes size, float alpha, const float* a, const float* b, float beta,
                           float* c) {
  using PaddedTiles = TilesOf64<padding>;
  multiply_with_two_lds_buffers<PaddedTiles>(
      size, alpha, a, b, beta, c, [](float(&sums)[4][4], const float* a_mine, const float* b_mine) {
        multiply_placed<PaddedTiles>(sums, a_mine, b_mine);
      });
}

}  // namespace sgemm
