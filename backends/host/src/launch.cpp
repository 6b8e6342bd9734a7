#include "hip/host/launch.h"

#include <cstdint>
#include <exception>
#include <iostream>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "block_scheduler.h"
#include "context.h"
#include "launch_limits.h"
#include "local_data_share.h"

namespace hip_host {
namespace {

bool grid_is_valid(const dim3& grid) {
  const bool empty = grid.x == 0 || grid.y == 0 || grid.z == 0;
  return !empty && grid.x <= kGridLimitX && grid.y <= kGridLimitYZ && grid.z <= kGridLimitYZ;
}

bool block_is_valid(const dim3& block) {
  const bool empty = block.x == 0 || block.y == 0 || block.z == 0;
  // Each size first: their product could wrap around.
  const bool sizes_fit =
      block.x <= kThreadsPerBlock && block.y <= kThreadsPerBlock && block.z <= kThreadsPerBlock;
  return !empty && sizes_fit && block.x * block.y * block.z <= kThreadsPerBlock;
}

// An AMD dispatch packet holds the grid's size in threads, 32 bits for each dimension.
bool thread_counts_fit(const dim3& grid, const dim3& block) {
  const auto fits = [](std::uint64_t blocks, std::uint64_t threads) {
    return blocks * threads <= std::numeric_limits<std::uint32_t>::max();
  };
  return fits(grid.x, block.x) && fits(grid.y, block.y) && fits(grid.z, block.z);
}

bool is_valid(const LaunchShape& shape) {
  return grid_is_valid(shape.grid) && block_is_valid(shape.block) &&
         thread_counts_fit(shape.grid, shape.block) && shape.lds_bytes <= kLdsBytesPerBlock;
}

hipError_t run_kernel(const LaunchShape& shape, const std::function<void()>& lane_body) {
  std::optional<std::string> failure;
  try {
    failure = block_scheduler().run(shape, lane_body);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    failure = error.what();
  }
  if (!failure) return hipSuccess;
  std::cerr << "hipscope host backend: kernel failed: " << *failure << ".\n";
  return hipErrorLaunchFailure;
}

}  // namespace

void launch(dim3 grid, dim3 block, std::size_t lds_bytes, hipStream_t stream,
            std::function<void()> lane_body) {
  // hipGetLastError tells the error, as after any launch.
  static_cast<void>(api_call([&] {
    const LaunchShape shape{grid, block, lds_bytes};
    if (!is_valid(shape)) return hipErrorInvalidConfiguration;
    return enqueue(stream,
                   [shape, body = std::move(lane_body)] { return run_kernel(shape, body); });
  }));
}

hipError_t launch_cooperative(dim3 grid, dim3 block, std::size_t lds_bytes, hipStream_t stream,
                              std::function<void()> lane_body) {
  return api_call([&] {
    const LaunchShape shape{grid, block, lds_bytes, true};
    if (!is_valid(shape)) return hipErrorInvalidConfiguration;
    const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
    if (blocks > kResidentBlocks) return hipErrorCooperativeLaunchTooLarge;
    return enqueue(stream,
                   [shape, body = std::move(lane_body)] { return run_kernel(shape, body); });
  });
}

}  // namespace hip_host

hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* kernel) {
  return hip_host::api_call([&] {
    if (attributes == nullptr || kernel == nullptr) return hipErrorInvalidValue;
    *attributes = {};
    attributes->maxDynamicSharedSizeBytes = static_cast<int>(hip_host::kLdsBytesPerBlock);
    attributes->maxThreadsPerBlock = static_cast<int>(hip_host::kThreadsPerBlock);
    return hipSuccess;
  });
}

hipError_t hipFuncSetAttribute(const void* kernel, hipFuncAttribute attribute, int value) {
  return hip_host::api_call([&] {
    if (kernel == nullptr || value < 0) return hipErrorInvalidValue;
    switch (attribute) {
      case hipFuncAttributeMaxDynamicSharedMemorySize: {
        const bool fits = static_cast<std::size_t>(value) <= hip_host::kLdsBytesPerBlock;
        return fits ? hipSuccess : hipErrorInvalidValue;
      }
      case hipFuncAttributePreferredSharedMemoryCarveout:
        return hipSuccess;
      default:
        return hipErrorInvalidValue;
    }
  });
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                        int block_size, std::size_t lds_bytes) {
  return hip_host::api_call([&] {
    const bool launchable = block_size >= 1 &&
                            block_size <= static_cast<int>(hip_host::kThreadsPerBlock) &&
                            lds_bytes <= hip_host::kLdsBytesPerBlock;
    if (blocks == nullptr || kernel == nullptr || !launchable) return hipErrorInvalidValue;
    *blocks = static_cast<int>(hip_host::kResidentBlocks / hip_host::kComputeUnits);
    return hipSuccess;
  });
}
