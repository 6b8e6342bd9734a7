// Features of NVIDIA's compute capability 9.0 for stages from 09 on: tensor copies (TMA),
// barriers that count bytes, matrix instructions of four warps (wgmma). PTX's manual,
// chapters 9.7.9 and 9.7.15, has them all.
#pragma once

#include <hipscope/half.h>
#include <hipscope/hipscope.h>
#include <hipscope/lds_copies.h>

#include <cstdint>
#include <type_traits>

#include "8-kernels/gemm/clusters.h"

#if defined(HIPSCOPE_BACKEND_NVIDIA)
#include <cuda.h>
#endif

namespace hgemm {

/// Compiled for sm_90a (maybe among others), whose code alone has wgmma, and run where that runs.
inline constexpr gemm::Needs hopper_instructions = {
    .what = "wgmma and tensor copies, sm_90 alone",
    .on = []([[maybe_unused]] const std::string& architecture) {
#if defined(HIPSCOPE_BACKEND_NVIDIA) && !defined(HIPSCOPE_WARPGROUP_INSTRUCTIONS)
      return false;
#else
      return architecture == "sm_90";
#endif
    }};

#if defined(HIPSCOPE_WARPGROUP_INSTRUCTIONS)
#define HGEMM_HAS_HOPPER 1
// A build for several architectures compiles the kernels for each; only for this one they have a
// body.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define HGEMM_IN_HOPPER_CODE 1
#endif

using gemm::address_at;
using gemm::arrive_at_barrier_of;
using gemm::barrier_of;
using gemm::block_of_cluster;
using gemm::cluster_barrier;
using gemm::elect;
using gemm::launch_clusters;
using gemm::lds_at;
using gemm::let_next_kernel_begin;
using gemm::prefetch_map;
using gemm::wait_for_kernel_before;
using hipscope::arrive_expecting;
using hipscope::copy_box;
using hipscope::init_barrier;
using hipscope::lds_address;
using hipscope::publish_barriers;
using hipscope::TensorMap;
using hipscope::wait_for;

/// The map of a matrix of values of 16 or 8 bits, row by row, of which a copy takes `box_columns` x
/// `box_rows`; in LDS the 16-byte pieces of each row of 128 bytes are XORed with the row's number
/// (128-byte swizzle; of boxes of 64 or 32 bytes that of these). `pitch` is in elements; rows begin
/// at multiples of 16 bytes. Throws DeviceError.
template <typename Value>
TensorMap map_of(const Value* matrix, unsigned rows, unsigned columns, unsigned pitch,
                 unsigned box_rows, unsigned box_columns) {
  static_assert(sizeof(Value) <= 2);  // what they are does not matter to copies
  return hipscope::tensor_map(
      sizeof(Value) == 2 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_UINT8, matrix,
      rows, columns, pitch, {.rows = box_rows, .columns = box_columns},
      box_columns * sizeof(Value) == 32   ? CU_TENSOR_MAP_SWIZZLE_32B
      : box_columns * sizeof(Value) == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                          : CU_TENSOR_MAP_SWIZZLE_128B);
}

// --- Device side

__device__ inline void arrive(std::uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(lds_address(barrier)) : "memory");
}
/// At the same barrier of another block of the cluster.
__device__ inline void arrive_at(std::uint64_t* barrier, unsigned block) {
  asm volatile(
      "{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1; "
      "mbarrier.arrive.shared::cluster.b64 _, [there]; }" ::"r"(lds_address(barrier)),
      "r"(block)
      : "memory");
}
/// Copies the map's box at (column, row) to the same place, and barrier, of every block in
/// `blocks`, a bit each.
__device__ inline void copy_box_to(unsigned blocks, void* lds, const TensorMap* map,
                                   unsigned column, unsigned row, std::uint64_t* arrived) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(lds_address(lds)),
      "l"(map), "r"(column), "r"(row), "r"(lds_address(arrived)),
      "h"(static_cast<unsigned short>(blocks))
      : "memory");
}
/// Copies a box from LDS; what is outside the matrix is left out.
__device__ inline void store_box(const TensorMap* map, const void* lds, unsigned column,
                                 unsigned row) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
      "r"(column), "r"(row), "r"(lds_address(lds))
      : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// Until the stores of this thread have read LDS.
__device__ inline void wait_until_stores_have_read() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
__device__ inline void wait_for_stores() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
/// Makes what threads have stored to LDS visible to copies.
__device__ inline void show_lds_to_copies() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Two values of 16 bits that are nearest to these, the first one in the lower bits.
template <typename Value>
__device__ unsigned two_of(float first, float second) {
  unsigned both = 0;
  if constexpr (std::is_same_v<Value, hipscope::Half>) {
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
  } else {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(second), "f"(first));
  }
  return both;
}

/// Stores four matrices of 8 x 8 halves; of each a lane has two neighbours of row lane / 4, and
/// lane i names the place of row i % 8 of matrix i / 8.
__device__ inline void store_matrices(void* row, unsigned first, unsigned second, unsigned third,
                                      unsigned fourth) {
  asm volatile(
      "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(lds_address(row)),
      "r"(first), "r"(second), "r"(third), "r"(fourth)
      : "memory");
}
/// The same four matrices, transposed: a lane has two neighbours of column lane / 4.
__device__ inline void store_transposed(void* row, unsigned first, unsigned second, unsigned third,
                                        unsigned fourth) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   lds_address(row)),
               "r"(first), "r"(second), "r"(third), "r"(fourth)
               : "memory");
}

/// `cluster_barrier` in two; barriers in LDS are there for all after it (`publish_barriers`).
__device__ inline void arrive_at_cluster_barrier() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
__device__ inline void wait_at_cluster_barrier() {
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}
/// To an address in the cluster; the barrier, in the same block, counts the bytes.
__device__ inline void send(unsigned to, float4 values, unsigned barrier) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, "
      "[%5];" ::"r"(to),
      "f"(values.x), "f"(values.y), "f"(values.z), "f"(values.w), "r"(barrier)
      : "memory");
}

/// Registers go from warps that copy to warps that compute.
template <unsigned registers>
__device__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}
template <unsigned registers>
__device__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

/// What wgmma takes for a matrix at an LDS address, of rows of 128 bytes, 64 or 32, swizzled as
/// those of `map_of`: from one group of 8 rows to the next are 8 of them, and `block_bytes` from
/// one block of 64 columns to the next, where the instruction goes over several (B's columns).
template <unsigned row_bytes = 128>
__device__ std::uint64_t descriptor_at(unsigned address, unsigned block_bytes) {
  constexpr std::uint64_t group_bytes = 8 * row_bytes;
  constexpr std::uint64_t swizzle = row_bytes == 128 ? 1 : row_bytes == 64 ? 2 : 3;
  return (address & 0x3FFFFU) >> 4U | std::uint64_t{block_bytes >> 4U} << 16U |
         (group_bytes >> 4U) << 32U | swizzle << 62U;
}
__device__ inline std::uint64_t descriptor_of(const void* lds, unsigned block_bytes) {
  return descriptor_at(lds_address(lds), block_bytes);
}
__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Until no more than `groups` of products are in flight.
template <unsigned groups>
__device__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
}
#endif

}  // namespace hgemm
