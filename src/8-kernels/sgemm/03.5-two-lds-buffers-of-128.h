// Two LDS buffers: the next tile is loaded before the FMAs of this one and stored to the other
// buffer after them, with one barrier per tile.
//
// Against 03.3: the FMAs hide device memory's latency, and one barrier is enough instead of two.
// Corrected: fileaccent loads in one asm statement and waits in another, so the compiler may reuse
// the registers in between, and stores the first value, into the buffer in use, before it has
// waited. Here they are ordinary loads, which memory_scheduling_barrier keeps early, and nothing is
// stored before the FMAs. For the compiler's sake (see 07.4) the last tile is loaded again instead
// of a branch around the loads, and A and B have no __restrict__. (The first tile is loaded, and B
// stored, value by value, as by fileaccent.)
// On the H200 5.94 TFLOP/s, 144 bytes of local memory; with the bound of 256 35.50, 1.08 times
// 03.3.
#pragma once

#include "device_code.h"
#include "stage.h"

namespace sgemm {

template <unsigned planned_threads>
__global__ void __launch_bounds__(planned_threads)
    two_lds_buffers_of_128_kernel(TileSizes tile, Sizes size, float alpha, const float* a,
                                  const float* b, float beta, float* c) {
  constexpr int side = 8;  // of a thread's elements
  constexpr int padding = 4;
  HIP_DYNAMIC_SHARED(float4, lds)
  const int a_pitch = tile.rows + padding;
  const int b_pitch = tile.columns + padding;
  float* const a_tile = reinterpret_cast<float*>(lds);
  float* const b_tile = a_tile + 2 * a_pitch * tile.depth;
  const int thread = static_cast<int>(threadIdx.x);
  const int block_row = static_cast<int>(blockIdx.x) * tile.rows;
  const int block_column = static_cast<int>(blockIdx.y) * tile.columns;
  const int a_copy_row = thread >> 1;
  const int a_copy_k = (thread & 1) << 2;
  const int b_copy_k = thread >> 5;
  const int b_copy_column = (thread & 31) << 2;
  const int first_row = (thread >> 4) * side;
  const int first_column = (thread & 15) * side;
  const int a_place = (block_row + a_copy_row) * size.lda + a_copy_k;
  const int b_place = b_copy_k * size.ldb + block_column + b_copy_column;
  const int tiles = (size.k + tile.depth - 1) / tile.depth;
  const int a_size = a_pitch * tile.depth;
  const int b_size = b_pitch * tile.depth;
  int a_buffer = 0;
  int b_buffer = 0;
  float4 of_a = make_float4(a[a_place], a[a_place + 1], a[a_place + 2], a[a_place + 3]);
  float4 of_b = make_float4(b[b_place], b[b_place + 1], b[b_place + 2], b[b_place + 3]);
  const auto store_tiles = [&] {
    a_tile[a_buffer + a_copy_k * a_pitch + a_copy_row] = of_a.x;
    a_tile[a_buffer + (a_copy_k + 1) * a_pitch + a_copy_row] = of_a.y;
    a_tile[a_buffer + (a_copy_k + 2) * a_pitch + a_copy_row] = of_a.z;
    a_tile[a_buffer + (a_copy_k + 3) * a_pitch + a_copy_row] = of_a.w;
    b_tile[b_buffer + b_copy_k * b_pitch + b_copy_column] = of_b.x;
    b_tile[b_buffer + b_copy_k * b_pitch + b_copy_column + 1] = of_b.y;
    b_tile[b_buffer + b_copy_k * b_pitch + b_copy_column + 2] = of_b.z;
    b_tile[b_buffer + b_copy_k * b_pitch + b_copy_column + 3] = of_b.w;
  };
  store_tiles();
  float sums[side][side] = {};
  int index = 0;
  do {
    wait_for_lds();  // clang 22.1.8 forgets it here: wait_for_lds.h
    __syncthreads();
    const int next = index + 1 < tiles ? index + 1 : index;
    of_a = load_four(a + a_place + next * tile.depth);
    of_b = load_four(b + b_place + next * tile.depth * size.ldb);
    memory_scheduling_barrier();
    for (int k = 0; k < tile.depth; ++k) {
      float a_fragment[2][4];
      float b_fragment[2][4];
      load(a_fragment[0], a_tile + a_buffer + k * a_pitch + first_row);
      load(a_fragment[1], a_tile + a_buffer + k * a_pitch + first_row + 4);
      load(b_fragment[0], b_tile + b_buffer + k * b_pitch + first_column);
      load(b_fragment[1], b_tile + b_buffer + k * b_pitch + first_column + 4);
      for (int i = 0; i < side; ++i) {
        for (int j = 0; j < side; ++j) {
          sums[i][j] += a_fragment[i / 4][i % 4] * b_fragment[j / 4][j % 4];
        }
      }
    }
    memory_scheduling_barrier();
    a_buffer ^= a_size;
    b_buffer ^= b_size;
    ++index;
    if (index < tiles) {
      store_tiles();
    }
  } while (index < tiles);
  c += (block_row + first_row) * size.ldc + block_column + first_column;
#pragma unroll
  for (int i = 0; i < side; ++i) {
    store_results(c + i * size.ldc, alpha, sums[i], beta);
  }
}

}  // namespace sgemm
