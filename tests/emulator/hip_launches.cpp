// The program's kernels and variables, as it registers them, and launches.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "emulated_device.h"

namespace emulator {
namespace {

Dimensions dimensions(dim3 size) { return {size.x, size.y, size.z}; }

void run_launch(Launch& launch) {
  const Qword before = device().machine.instructions;
  execute(launch);
  if (device().machine.options.trace) {
    std::fprintf(stderr, "emulator: %s, %llu blocks of %llu: %llu wave instructions\n",
                 launch.kernel.name.c_str(), static_cast<unsigned long long>(launch.grid.product()),
                 static_cast<unsigned long long>(launch.block.product()),
                 static_cast<unsigned long long>(device().machine.instructions - before));
  }
}

std::vector<std::uint8_t> packed_arguments(const Kernel& kernel, void** arguments) {
  std::vector<std::uint8_t> packed(kernel.argument_bytes);
  for (const Argument& argument : kernel.arguments) {
    if (!argument.is_hidden()) {
      std::memcpy(&packed[argument.offset], *arguments++, argument.size);
    }
  }
  return packed;
}

}  // namespace
}  // namespace emulator

// NOLINTBEGIN(readability-identifier-naming): HIP's own names
using namespace emulator;

extern "C" {

void** __hipRegisterFatBinary(const void* data) {
  struct Wrapper {
    unsigned magic;
    unsigned version;
    const void* bundle;
    void* unused;
  };
  return reinterpret_cast<void**>(new Module{static_cast<const Wrapper*>(data)->bundle, {}});
}

void __hipUnregisterFatBinary(void** /*modules*/) {}

void __hipRegisterFunction(void** modules, const void* host_function, char* /*device_function*/,
                           const char* name, unsigned /*thread_limit*/, void* /*thread*/,
                           void* /*block*/, void* /*block_size*/, void* /*grid_size*/,
                           int* /*warp_size*/) {
  device().kernels[host_function] = {name, reinterpret_cast<Module*>(modules)};
}

void __hipRegisterVar(void** modules, void* variable, char* /*host_name*/, char* name,
                      int /*is_external*/, std::size_t /*size*/, int /*is_constant*/,
                      int /*is_global*/) {
  device().variables[variable] = {name, reinterpret_cast<Module*>(modules)};
}

hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, std::size_t lds, hipStream_t stream) {
  device().configurations.push_back({grid, block, lds, stream});
  return hipSuccess;
}

hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, std::size_t* lds,
                                     hipStream_t* stream) {
  const Configuration configuration = device().configurations.back();
  device().configurations.pop_back();
  *grid = configuration.grid;
  *block = configuration.block;
  *lds = configuration.lds;
  *stream = configuration.stream;
  return hipSuccess;
}

hipError_t hipLaunchKernel(const void* host_function, dim3 grid, dim3 block, void** arguments,
                           std::size_t lds, hipStream_t /*stream*/) {
  const Function function = function_of(host_function);
  if (function.kernel == nullptr) {
    return device().fail(hipErrorInvalidDeviceFunction);
  }
  const Kernel& kernel = *function.kernel;
  const Qword threads = dimensions(block).product();
  if (threads == 0 || dimensions(grid).product() == 0 || threads > largest_block ||
      kernel.lds + lds > largest_lds) {
    return device().fail(hipErrorInvalidConfiguration);
  }
  if (threads > kernel.largest_block) {
    return device().fail(hipErrorLaunchFailure);
  }
  const auto launch = std::make_shared<Launch>(
      Launch{device().machine, *function.object, kernel, dimensions(grid), dimensions(block),
             static_cast<unsigned>(lds), packed_arguments(kernel, arguments)});
  device().enqueue([launch] { run_launch(*launch); });
  return hipSuccess;
}

// The device says that it has none (hipDeviceGetAttribute): the compiler makes GWS of the grid's
// barrier, which is not here. Blocks that wait for each other run side by side in any launch.
hipError_t hipLaunchCooperativeKernel(const void* /*host_function*/, dim3 /*grid*/, dim3 /*block*/,
                                      void** /*arguments*/, unsigned /*lds*/,
                                      hipStream_t /*stream*/) {
  return device().fail(hipErrorNotSupported);
}
}
// NOLINTEND(readability-identifier-naming)
