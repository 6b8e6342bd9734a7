// Copies from global memory to LDS (NVIDIA: shared memory) past the registers, a line each, and the
// barriers that count their bytes. PTX's manual, chapters 9.7.9 and 9.7.13, and the CDNA 3 ISA
// manual, 9.1.9 ("memory buffer load to LDS"), have them all.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>
#include <string>

#include "hipscope/check.h"
#include "hipscope/device.h"
#include "hipscope/lds.h"

#if defined(HIPSCOPE_BACKEND_NVIDIA)
#include <cuda.h>
#endif

namespace hipscope {

// --- What a device has

/// The N of "sm_N"; 0 of another architecture.
inline int compute_capability(const std::string& architecture) {
  const std::string prefix = "sm_";
  return architecture.starts_with(prefix) ? std::stoi(architecture.substr(prefix.size())) : 0;
}
/// cp.async: each lane copies 4, 8 or 16 bytes.
inline bool has_lane_copies(const std::string& architecture) {
  constexpr int first_with_them = 80;
  return compute_capability(architecture) >= first_with_them;
}
/// Bulk and tensor copies: one thread asks for any number of bytes.
inline bool has_bulk_copies(const std::string& architecture) {
  constexpr int first_with_them = 90;
  return compute_capability(architecture) >= first_with_them;
}
/// Loads to LDS, 4 bytes for each lane: AMD's gfx9.
inline bool has_lds_loads(const std::string& architecture) {
  return architecture.starts_with("gfx9");
}
/// The same with 16 bytes.
inline bool has_wide_lds_loads(const std::string& architecture) {
  return architecture.starts_with("gfx950");
}

#if defined(HIPSCOPE_BACKEND_NVIDIA)

/// A matrix as tensor copies see it.
using TensorMap = CUtensorMap;

// --- Copies of each lane: cp.async, from sm_80 on

/// Copies `bytes` bytes (4, 8 or 16) to LDS, asynchronously; only 16 bypass L1.
template <unsigned bytes>
__device__ inline void copy_to_lds([[maybe_unused]] void* lds, [[maybe_unused]] const void* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(lds_address(lds)), "l"(from)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(lds_address(lds)), "l"(from),
                 "n"(bytes)
                 : "memory");
  }
#endif
}
/// Ends a group of copies.
__device__ inline void end_group() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
/// Waits for all of this thread's groups but the last `in_flight`.
template <unsigned in_flight>
__device__ inline void wait_for_groups() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(in_flight) : "memory");
#endif
}

// --- Barriers that count bytes (mbarrier), bulk and tensor copies: from sm_90 on

// Device code that calls them asks for this first: in a build for several architectures not all
// have them.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define HIPSCOPE_BULK_COPIES 1
#endif

/// A barrier, complete after `arrivals` arrivals and all expected bytes.
__device__ inline void init_barrier(std::uint64_t* barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(lds_address(barrier)), "r"(arrivals));
}
/// Call it before copies and other blocks use barriers.
__device__ inline void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ inline void arrive_expecting(std::uint64_t* barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(lds_address(barrier)),
               "r"(bytes)
               : "memory");
}
/// Waits until the phase of this parity is complete.
__device__ inline void wait_for(std::uint64_t* barrier, unsigned parity) {
  asm volatile(
      "{ .reg .pred done; again: mbarrier.try_wait.parity.shared.b64 done, [%0], %1; "
      "@!done bra again; }" ::"r"(lds_address(barrier)),
      "r"(parity)
      : "memory");
}

/// Copies `bytes` bytes, a multiple of 16, from a multiple of 16 to LDS; `arrived` counts them.
__device__ inline void copy_bulk(void* lds, const void* from, unsigned bytes,
                                 std::uint64_t* arrived) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(lds_address(lds)),
      "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(lds_address(arrived))
      : "memory");
}

/// Copies the map's box at (column, row) to LDS; `arrived` counts its bytes.
__device__ inline void copy_box(void* lds, const TensorMap* map, unsigned column, unsigned row,
                                std::uint64_t* arrived) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(lds_address(lds)),
      "l"(map), "r"(column), "r"(row), "r"(lds_address(arrived))
      : "memory");
}

/// The box that a tensor copy takes of a matrix.
struct Box {
  unsigned rows;
  unsigned columns;
};

/// The map of a matrix, row by row, `pitch` elements of `type` from one to the next, of which a
/// copy takes a box. Throws DeviceError.
template <typename Element>
TensorMap tensor_map(CUtensorMapDataType type, const Element* matrix, unsigned rows,
                     unsigned columns, unsigned pitch, Box box, CUtensorMapSwizzle swizzle) {
  using Encode = decltype(&cuTensorMapEncodeTiled);
  static const auto encode = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
#if CUDART_VERSION >= 12050
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                           cudaEnableDefault, &result));
#else
    check(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &result));
#endif
    return reinterpret_cast<Encode>(found);
  }();
  const cuuint64_t extents[] = {columns > 0 ? columns : 1, rows > 0 ? rows : 1};
  const cuuint64_t row_bytes[] = {cuuint64_t{pitch} * sizeof(Element)};
  const cuuint32_t box_extents[] = {box.columns, box.rows};
  const cuuint32_t every_element[] = {1, 1};
  TensorMap map;
  if (encode == nullptr || encode(&map, type, 2, const_cast<Element*>(matrix), extents, row_bytes,
                                  box_extents, every_element, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                  swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS) {
    throw DeviceError("the driver refused to describe a matrix for tensor copies");
  }
  return map;
}

#endif

#if defined(__HIP_DEVICE_COMPILE__) && defined(__GFX9__)

// --- Loads to LDS: gfx9

// Lane i's bytes go to LDS address m0 + offset + i * their number; m0 is the same for all lanes. In
// assembly, since clang 15 has no builtin. One other instruction must be between a write of m0 and
// a load to LDS; clang ensures that only in its own code. (clang writes m0 right before each use,
// and does not expect a statement to change it.) The offset counts for both addresses.

/// Each lane's 4 bytes at `from`, and with `count` 4 those 256, 512 and 768 bytes further on.
template <unsigned count>
__device__ inline void load_to_lds(unsigned lds, const void* from) {
  static_assert(count == 1 || count == 4);
#if defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || defined(__gfx950__)
  if constexpr (count == 4) {
    asm volatile(
        "s_mov_b32 m0, %0\n\ts_nop 0\n\tglobal_load_lds_dword %1, off\n\t"
        "global_load_lds_dword %1, off offset:256\n\tglobal_load_lds_dword %1, off offset:512\n\t"
        "global_load_lds_dword %1, off offset:768" ::"s"(lds),
        "v"(from)
        : "memory");
  } else {
    asm volatile("s_mov_b32 m0, %0\n\ts_nop 0\n\tglobal_load_lds_dword %1, off" ::"s"(lds),
                 "v"(from)
                 : "memory");
  }
#else
  if constexpr (count == 4) {
    asm volatile(
        "s_mov_b32 m0, %0\n\ts_nop 0\n\tglobal_load_dword %1, off lds\n\t"
        "global_load_dword %1, off offset:256 lds\n\tglobal_load_dword %1, off offset:512 lds\n\t"
        "global_load_dword %1, off offset:768 lds" ::"s"(lds),
        "v"(from)
        : "memory");
  } else {
    asm volatile("s_mov_b32 m0, %0\n\ts_nop 0\n\tglobal_load_dword %1, off lds" ::"s"(lds),
                 "v"(from)
                 : "memory");
  }
#endif
}

/// An array as buffer loads take it, in scalar registers.
using Buffer = unsigned __attribute__((ext_vector_type(4)));
__device__ inline Buffer buffer_of(const void* array) {
  constexpr unsigned any_size = 0xFFFFFFFFU;
  constexpr unsigned dwords = 0x00027000U;  // of 32 bits, and nothing is swizzled
  const auto address = reinterpret_cast<std::uint64_t>(array);
  return {static_cast<unsigned>(address), static_cast<unsigned>(address >> 32U) & 0xFFFFU, any_size,
          dwords};
}

/// As load_to_lds, from an offset in bytes from the beginning of the array.
template <unsigned count>
__device__ inline void load_buffer_to_lds(unsigned lds, Buffer buffer, unsigned from) {
  static_assert(count == 1 || count == 4);
  if constexpr (count == 4) {
    asm volatile(
        "s_mov_b32 m0, %0\n\ts_nop 0\n\tbuffer_load_dword %1, %2, 0 offen lds\n\t"
        "buffer_load_dword %1, %2, 0 offen offset:256 lds\n\t"
        "buffer_load_dword %1, %2, 0 offen offset:512 lds\n\t"
        "buffer_load_dword %1, %2, 0 offen offset:768 lds" ::"s"(lds),
        "v"(from), "s"(buffer)
        : "memory");
  } else {
    asm volatile("s_mov_b32 m0, %0\n\ts_nop 0\n\tbuffer_load_dword %1, %2, 0 offen lds" ::"s"(lds),
                 "v"(from), "s"(buffer)
                 : "memory");
  }
}

/// Each lane's 16 bytes.
__device__ inline void load_wide_to_lds([[maybe_unused]] unsigned lds,
                                        [[maybe_unused]] const void* from) {
#if defined(__gfx950__)
  asm volatile("s_mov_b32 m0, %0\n\ts_nop 0\n\tglobal_load_lds_dwordx4 %1, off" ::"s"(lds),
               "v"(from)
               : "memory");
#endif
}

/// Loads eight bytes of each lane to registers, which must not be used before wait_for_loads() has
/// waited for them. clang, which cannot count the loads above, would wait for all of them wherever
/// it waits for one of its own.
using TwoWords = unsigned __attribute__((ext_vector_type(2)));
__device__ inline TwoWords begin_load(const void* from) {
  TwoWords words;
  asm volatile("global_load_dwordx2 %0, %1, off" : "=v"(words) : "v"(from) : "memory");
  return words;
}

/// Waits for all of this wave's loads from LDS.
__device__ inline void wait_for_lds_loads() { asm volatile("s_waitcnt lgkmcnt(0)" ::: "memory"); }
/// Waits for all of this wave's loads but the last `in_flight`, as far as the counter goes.
template <unsigned in_flight>
__device__ inline void wait_for_loads() {
  constexpr unsigned most = 63;
  asm volatile("s_waitcnt vmcnt(%0)" ::"n"(in_flight < most ? in_flight : most) : "memory");
}

#endif

}  // namespace hipscope
