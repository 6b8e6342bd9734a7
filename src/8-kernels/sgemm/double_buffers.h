// Two LDS buffers for each tile: while the block computes on one, the next tile is on its way.
//
// Against placed_reads.h: the loads of the next tile are issued before the FMAs of this one and are
// stored into the other buffer after them, so that device memory's latency passes under the FMAs;
// and one barrier per tile is enough instead of two. The source issues these loads in inline
// assembly and waits for them in another asm statement, further down. Nothing tells the compiler
// that the registers between the two are not yet loaded: it may copy, spill or store them there,
// and once it does the product is wrong. An ordinary load is just as asynchronous on both vendors'
// hardware, and the compiler puts the wait where the value is first used: here, behind hold_order,
// which keeps it from issuing the load only there.
//   Reads::by_compiler     loads from LDS where the compiler puts them
//   Reads::one_step_ahead  a double buffer in registers as well: loads for the next two k come
//                          before the FMAs of these, at indices that are known when it compiles
//   Reads::in_assembly     ds_read and the wait for it in one asm statement, whose outputs are
//                          valid when it ends (AMD; elsewhere as by_compiler)
// `padding` of 4 or 8 values behind each row: with 4, rows of A are 20 values apart, with 8, 24.
#pragma once

#include "device_code.h"
#include "stage.h"
#include "thread_tile.h"

namespace sgemm {

enum class Reads { by_compiler, one_step_ahead, in_assembly };

/// A thread's operands for two k: 4 rows of A's tile, `a_pitch` apart, and 2 of B's.
template <unsigned a_pitch, unsigned b_pitch>
__device__ void read_two_k(float (&a)[4][2], float (&b)[2][4], const float* a_from,
                           const float* b_from) {
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) {
    load(a[i], a_from + i * a_pitch);
  }
#pragma unroll
  for (unsigned s = 0; s < 2; ++s) {
    load(b[s], b_from + s * b_pitch);
  }
}

/// The same in assembly, on AMD. Loads and wait are one statement: in between, its outputs belong
/// to nobody. They must not share registers with the addresses, which later loads still need ("&").
template <unsigned a_pitch, unsigned b_pitch>
__device__ void read_two_k_in_assembly(float (&a)[4][2], float (&b)[2][4], const float* a_from,
                                       const float* b_from) {
#if defined(__HIP_DEVICE_COMPILE__)
  using Two = float __attribute__((ext_vector_type(2)));
  using Four = float __attribute__((ext_vector_type(4)));
  Two a0;
  Two a1;
  Two a2;
  Two a3;
  Four b0;
  Four b1;
  asm volatile(
      "ds_read_b64 %0, %6\n\t"
      "ds_read_b64 %1, %6 offset:%8\n\t"
      "ds_read_b64 %2, %6 offset:%9\n\t"
      "ds_read_b64 %3, %6 offset:%10\n\t"
      "ds_read_b128 %4, %7\n\t"
      "ds_read_b128 %5, %7 offset:%11\n\t"
      "s_waitcnt lgkmcnt(0)"
      : "=&v"(a0), "=&v"(a1), "=&v"(a2), "=&v"(a3), "=&v"(b0), "=&v"(b1)
      : "v"(hipscope::lds_address(reinterpret_cast<const unsigned*>(a_from))),
        "v"(hipscope::lds_address(reinterpret_cast<const unsigned*>(b_from))),
        "n"(a_pitch * sizeof(float)), "n"(2 * a_pitch * sizeof(float)),
        "n"(3 * a_pitch * sizeof(float)), "n"(b_pitch * sizeof(float))
      : "memory");
#pragma unroll
  for (unsigned s = 0; s < 2; ++s) {
    a[0][s] = a0[s];
    a[1][s] = a1[s];
    a[2][s] = a2[s];
    a[3][s] = a3[s];
  }
#pragma unroll
  for (unsigned j = 0; j < 4; ++j) {
    b[0][j] = b0[j];
    b[1][j] = b1[j];
  }
#else
  read_two_k<a_pitch, b_pitch>(a, b, a_from, b_from);
#endif
}

template <Reads reads, unsigned padding, unsigned planned_threads>
__global__ void __launch_bounds__(planned_threads)
    double_buffers_kernel(Extents extents, float alpha, const float* __restrict__ a,
                          const float* __restrict__ b, float beta, float* __restrict__ c) {
  constexpr unsigned block_rows = 64;
  constexpr unsigned block_columns = 64;
  constexpr unsigned depth = 16;
  constexpr unsigned thread_rows = 4;
  constexpr unsigned thread_columns = 4;
  constexpr unsigned step = 2;
  constexpr unsigned steps = depth / step;
  constexpr unsigned a_pitch = depth + padding;
  constexpr unsigned b_pitch = block_columns + padding;
  alignas(16) __shared__ float a_tiles[2][block_rows * a_pitch];
  alignas(16) __shared__ float b_tiles[2][depth * b_pitch];
  const Place place = place_of<Layout::rows_of_16>(threadIdx.x);
  const unsigned a_copy_row = threadIdx.x / 4;
  const unsigned a_copy_k = threadIdx.x % 4 * 4;
  const unsigned b_copy_k = threadIdx.x / 16;
  const unsigned b_copy_column = threadIdx.x % 16 * 4;
  a += (blockIdx.y * block_rows + a_copy_row) * extents.lda + a_copy_k;
  b += b_copy_k * extents.ldb + blockIdx.x * block_columns + b_copy_column;
  c += (blockIdx.y * block_rows + place.row * thread_rows) * extents.ldc +
       blockIdx.x * block_columns + place.column * thread_columns;
  const auto store_tiles = [&](unsigned buffer, float4 of_a, float4 of_b) {
    store_four(a_tiles[buffer] + a_copy_row * a_pitch + a_copy_k, of_a);
    store_four(b_tiles[buffer] + b_copy_k * b_pitch + b_copy_column, of_b);
  };
  float sums[thread_rows][thread_columns] = {};
  store_tiles(0, load_four(a), load_four(b));
  __syncthreads();
  const unsigned tiles = extents.k / depth;
  for (unsigned tile = 0; tile < tiles; ++tile) {
    // Behind the last tile the same is loaded once more: in the loop there is nothing to decide.
    const unsigned advance = tile + 1 < tiles ? 1 : 0;
    a += advance * depth;
    b += advance * depth * extents.ldb;
    const float4 next_of_a = load_four(a);
    const float4 next_of_b = load_four(b);
    hold_order();
    const float* const a_mine = a_tiles[tile % 2] + place.row * thread_rows * a_pitch;
    const float* const b_mine = b_tiles[tile % 2] + place.column * thread_columns;
    constexpr unsigned fragments = reads == Reads::one_step_ahead ? 2 : 1;
    float a_fragment[fragments][thread_rows][step];
    float b_fragment[fragments][step][thread_columns];
    const auto read = [&](unsigned index) {
      constexpr auto read_operands = reads == Reads::in_assembly
                                         ? read_two_k_in_assembly<a_pitch, b_pitch>
                                         : read_two_k<a_pitch, b_pitch>;
      read_operands(a_fragment[index % fragments], b_fragment[index % fragments],
                    a_mine + index * step, b_mine + index * step * b_pitch);
    };
    if constexpr (reads == Reads::one_step_ahead) {
      read(0);
    }
#pragma unroll
    for (unsigned index = 0; index < steps; ++index) {
      if constexpr (reads != Reads::one_step_ahead) {
        read(index);
      } else if (index + 1 < steps) {
        read(index + 1);
        hold_order();
      }
      multiply_add(sums, a_fragment[index % fragments], b_fragment[index % fragments]);
    }
    hold_order();
    store_tiles((tile + 1) % 2, next_of_a, next_of_b);
    __syncthreads();
  }
#pragma unroll
  for (unsigned i = 0; i < thread_rows; ++i) {
    store_results(c + i * extents.ldc, alpha, sums[i], beta);
  }
}

template <Reads reads, unsigned padding, unsigned planned_threads = assumed_threads>
Stage double_buffers_stage(const std::string& technique, const std::string& source_kernel) {
  return stage_of<double_buffers_kernel<reads, padding, planned_threads>>(technique, source_kernel,
                                                                          tiles_64);
}

}  // namespace sgemm
