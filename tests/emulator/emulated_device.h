// A HIP runtime whose device is the emulator, in place of libamdhip64: a program that hipcc has
// made runs with no GPU. Only what hipscope calls is there: in hip_launches.cpp, hip_memory.cpp,
// hip_streams.cpp and hip_properties.cpp. Here is what they share: the device, its work, and the
// program's code.
#pragma once

#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "execution.h"

namespace emulator {

// As large as a device's memory, so that sizes are chosen as for one.
inline constexpr std::size_t total_memory = std::size_t{16} << 30;
inline constexpr std::size_t free_memory = std::size_t{8} << 30;
inline constexpr unsigned largest_block = 1024;  ///< threads

/// A module of the program, whose code object is laid out when it is first needed.
struct Module {
  const void* bundle;
  std::optional<CodeObject> object;
};

/// A kernel or variable: its name in the module.
struct Symbolic {
  std::string name;
  Module* module;
};

/// Of a launch, from <<<...>>> until it begins.
struct Configuration {
  dim3 grid;
  dim3 block;
  std::size_t lds;
  hipStream_t stream;
};

using Work = std::deque<std::function<void()>>;

/// Work is done when somebody waits for it, in order: a kernel may wait for a flag that the host
/// sets after the launch.
class Device {
 public:
  /// By the words of HIPSCOPE_EMULATOR; a wrong one ends the process.
  Device();
  /// Does the work that is left, and prints what the emulator has to report.
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// After the other work, or in the graph that a stream captures.
  void enqueue(std::function<void()> work) {
    (captured ? *captured : queue).push_back(std::move(work));
  }
  /// Waits: does all the work.
  void finish();
  /// Keeps the error for hipGetLastError, and returns it.
  hipError_t fail(hipError_t error) {
    last_error = error;
    return error;
  }

  Machine machine;
  Work queue;
  std::unique_ptr<Work> captured;           // what a stream captures
  std::map<const void*, Symbolic> kernels;  // by the host's address
  std::map<const void*, Symbolic> variables;
  std::vector<Configuration> configurations;
  std::map<void*, std::size_t> allocations;
  std::map<void*, std::size_t> registered;  // the program's own memory
  hipError_t last_error = hipSuccess;
};

/// The device, which is there from the first use on. Programs register their kernels before main,
/// and end after it.
Device& device();

/// A kernel and the code object that it is in.
struct Function {
  CodeObject* object = nullptr;
  const Kernel* kernel = nullptr;  ///< null: there is none
};

/// What the program calls by the address `host_function`.
Function function_of(const void* host_function);

/// The place of a variable; null for one that the code object keeps to itself, which ROCm's loader
/// does not find either.
void* place_of(const void* host_variable);

}  // namespace emulator
