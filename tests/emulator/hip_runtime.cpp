// A HIP runtime whose device is the emulator, in place of libamdhip64: a program that hipcc has
// made runs with no GPU. Only what hipscope calls is there.
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "execution.h"

namespace emulator {
namespace {

constexpr std::size_t page = 4096;
// As large as a device's memory, so that sizes are chosen as for one.
constexpr std::size_t total_memory = std::size_t{16} << 30;
constexpr std::size_t free_memory = std::size_t{8} << 30;
constexpr int shader_clock_khz = 1'700'000;
constexpr int memory_clock_khz = 1'600'000;
constexpr int bus_bits = 4096;
constexpr int l2_bytes = 8 << 20;
constexpr unsigned largest_block = 1024;
// Statuses with which the process ends; hipscope's own are smaller.
constexpr int stopped_status = 99;

[[noreturn]] void end_process(const std::string& sentence) {
  std::fflush(stdout);
  std::fprintf(stderr, "emulator: stopped: %s\n", sentence.c_str());
  std::_Exit(stopped_status);
}

Options options_of_environment() {
  const char* words = std::getenv("HIPSCOPE_EMULATOR");
  try {
    return parse_options(words == nullptr ? "" : words);
  } catch (const std::invalid_argument& wrong) {
    end_process(wrong.what());
  }
}

// A module of the program, whose code object is laid out when it is first needed.
struct Module {
  const void* bundle;
  std::optional<CodeObject> object;
};

struct Symbolic {
  std::string name;
  Module* module;
};

struct Configuration {
  dim3 grid;
  dim3 block;
  std::size_t lds;
  hipStream_t stream;
};

using Work = std::deque<std::function<void()>>;

// Work is done when somebody waits for it, in order: a kernel may wait for a flag that the host
// sets after the launch.
class Device {
 public:
  Device() : machine(options_of_environment()) {}
  ~Device() {
    finish();
    for (const Report& report : machine.reports.all()) {
      std::fprintf(stderr, "emulator: %s | %s | %s | %llu times | %s\n", name_of(report.mistake),
                   report.kernel.c_str(), report.instruction.c_str(),
                   static_cast<unsigned long long>(report.times), report.first.c_str());
    }
    std::fprintf(stderr, "emulator: %s, %llu wave instructions, %zu reports\n",
                 machine.options.target.c_str(),
                 static_cast<unsigned long long>(machine.instructions),
                 machine.reports.all().size());
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  void enqueue(std::function<void()> work) {
    (captured ? *captured : queue).push_back(std::move(work));
  }
  void finish() {
    while (!queue.empty()) {
      const std::function<void()> work = std::move(queue.front());
      queue.pop_front();
      try {
        work();
      } catch (const Stopped& stopped) {
        end_process(stopped.what());
      }
    }
  }
  hipError_t fail(hipError_t error) {
    last_error = error;
    return error;
  }

  Machine machine;
  Work queue;
  std::unique_ptr<Work> captured;  // what a stream captures
  std::map<const void*, Symbolic> kernels;
  std::map<const void*, Symbolic> variables;
  std::vector<Configuration> configurations;
  std::map<void*, std::size_t> allocations;
  std::map<void*, std::size_t> registered;  // the program's own memory
  hipError_t last_error = hipSuccess;
};

// Programs register their kernels before main, and end after it.
Device& device() {
  static Device the_device;
  return the_device;
}

// A bundle: a magic word of 24 bytes, a count, and for each code object its offset, size, and a
// name such as hipv4-amdgcn-amd-amdhsa--gfx90a (Clang Offload Bundler).
CodeObject load_bundle(const void* bundle) {
  const auto* const begin = static_cast<const std::uint8_t*>(bundle);
  const Options& options = device().machine.options;
  Qword count = 0;
  std::memcpy(&count, begin + 24, sizeof count);
  const std::uint8_t* entry = begin + 32;
  for (Qword index = 0; index < count; ++index) {
    std::array<Qword, 3> offset_size_length = {};
    std::memcpy(offset_size_length.data(), entry, sizeof offset_size_length);
    entry += sizeof offset_size_length;
    const auto [offset, size, length] = offset_size_length;
    const std::string name(reinterpret_cast<const char*>(entry), length);
    entry += length;
    if (size > 0 && name.find("--" + options.target) != std::string::npos) {
      return load_code_object(begin + offset, size, options, device().machine.memory);
    }
  }
  throw Stopped("the program has no code for " + options.target);
}

CodeObject& object_of(Module& module) {
  if (!module.object) {
    try {
      module.object = load_bundle(module.bundle);
    } catch (const std::exception& wrong) {
      end_process(wrong.what());
    }
  }
  return *module.object;
}

struct Function {
  CodeObject* object = nullptr;
  const Kernel* kernel = nullptr;
};

Function function_of(const void* host_function) {
  const auto found = device().kernels.find(host_function);
  if (found == device().kernels.end()) {
    return {};
  }
  CodeObject& object = object_of(*found->second.module);
  const auto kernel = object.kernels.find(found->second.name);
  return {&object, kernel == object.kernels.end() ? nullptr : &kernel->second};
}

// The place of a variable; null for one that the code object keeps to itself, which ROCm's loader
// does not find either.
void* place_of(const void* host_variable) {
  const Symbolic& variable = device().variables.at(host_variable);
  const CodeObject& object = object_of(*variable.module);
  const auto symbol = object.symbols.find(variable.name);
  return symbol == object.symbols.end() ? nullptr : object.base + symbol->second.value;
}

// What was asked for lies between pages that nobody may touch.
void* allocate(std::size_t size) {
  const std::size_t whole = (size + page - 1) / page * page;
  void* mapped = mmap(nullptr, whole + 2 * page, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    return nullptr;
  }
  auto* const begin = static_cast<std::uint8_t*>(mapped) + page;
  mprotect(begin, whole, PROT_READ | PROT_WRITE);
  device().machine.memory.allow(reinterpret_cast<Qword>(begin), size);
  device().allocations[begin] = size;
  return begin;
}

hipError_t release(void* memory) {
  device().finish();
  const auto found = device().allocations.find(memory);
  if (memory == nullptr) {
    return hipSuccess;
  }
  if (found == device().allocations.end()) {
    return device().fail(hipErrorInvalidValue);
  }
  device().machine.memory.forbid(reinterpret_cast<Qword>(memory));
  munmap(static_cast<std::uint8_t*>(memory) - page,
         (found->second + page - 1) / page * page + 2 * page);
  device().allocations.erase(found);
  return hipSuccess;
}

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

hipError_t hipMalloc(void** memory, std::size_t size) {
  device().finish();
  *memory = size == 0 || size > free_memory ? nullptr : allocate(size);
  return *memory != nullptr || size == 0 ? hipSuccess : device().fail(hipErrorOutOfMemory);
}

hipError_t hipFree(void* memory) { return release(memory); }

hipError_t hipHostMalloc(void** memory, std::size_t size, unsigned /*flags*/) {
  return hipMalloc(memory, size);
}

hipError_t hipHostFree(void* memory) { return release(memory); }

hipError_t hipMallocManaged(void** memory, std::size_t size, unsigned /*flags*/) {
  return hipMalloc(memory, size);
}

hipError_t hipMemPrefetchAsync(const void* /*memory*/, std::size_t /*size*/, int /*number*/,
                               hipStream_t /*stream*/) {
  return hipSuccess;
}

hipError_t hipHostRegister(void* memory, std::size_t size, unsigned /*flags*/) {
  device().finish();
  device().machine.memory.allow(reinterpret_cast<Qword>(memory), size);
  device().registered[memory] = size;
  return hipSuccess;
}

hipError_t hipHostUnregister(void* memory) {
  device().finish();
  if (device().registered.erase(memory) == 0) {
    return device().fail(hipErrorInvalidValue);
  }
  device().machine.memory.forbid(reinterpret_cast<Qword>(memory));
  return hipSuccess;
}

hipError_t hipHostGetDevicePointer(void** device_pointer, void* host_pointer, unsigned /*flags*/) {
  *device_pointer = host_pointer;
  return hipSuccess;
}

hipError_t hipMemcpy(void* to, const void* from, std::size_t size, hipMemcpyKind /*kind*/) {
  device().finish();
  std::memmove(to, from, size);
  return hipSuccess;
}

hipError_t hipMemcpyAsync(void* to, const void* from, std::size_t size, hipMemcpyKind kind,
                          hipStream_t /*stream*/) {
  return hipMemcpy(to, from, size, kind);
}

hipError_t hipMemset(void* memory, int value, std::size_t size) {
  device().finish();
  std::memset(memory, value, size);
  return hipSuccess;
}

hipError_t hipMemsetAsync(void* memory, int value, std::size_t size, hipStream_t /*stream*/) {
  constexpr Qword bytes_per_nanosecond = 1024;
  device().enqueue([=] {
    std::memset(memory, value, size);
    device().machine.clock += size / bytes_per_nanosecond;
  });
  return hipSuccess;
}

hipError_t hipMemcpyToSymbol(const void* symbol, const void* from, std::size_t size,
                             std::size_t offset, hipMemcpyKind /*kind*/) {
  device().finish();
  void* const place = place_of(symbol);
  if (place == nullptr) {
    return device().fail(hipErrorInvalidSymbol);
  }
  std::memcpy(static_cast<std::uint8_t*>(place) + offset, from, size);
  return hipSuccess;
}

hipError_t hipGetSymbolAddress(void** place, const void* symbol) {
  *place = place_of(symbol);
  return *place != nullptr ? hipSuccess : device().fail(hipErrorInvalidSymbol);
}

hipError_t hipMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = free_memory;
  *total = total_memory;
  return hipSuccess;
}

hipError_t hipDeviceSynchronize() {
  device().finish();
  return hipSuccess;
}

hipError_t hipStreamSynchronize(hipStream_t /*stream*/) { return hipDeviceSynchronize(); }

hipError_t hipStreamCreate(hipStream_t* stream) {
  *stream = reinterpret_cast<hipStream_t>(new int(0));
  return hipSuccess;
}

hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned /*flags*/, int /*priority*/) {
  return hipStreamCreate(stream);
}

hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -1;
  return hipSuccess;
}

// All streams are one, in order.
hipError_t hipStreamWaitEvent(hipStream_t /*stream*/, hipEvent_t /*event*/, unsigned /*flags*/) {
  return hipSuccess;
}

hipError_t hipStreamDestroy(hipStream_t stream) {
  device().finish();
  delete reinterpret_cast<int*>(stream);
  return hipSuccess;
}

hipError_t hipSetDevice(int number) {
  return number == 0 ? hipSuccess : device().fail(hipErrorInvalidDevice);
}

hipError_t hipGetDevice(int* number) {
  *number = 0;
  return hipSuccess;
}

hipError_t hipGetDeviceCount(int* count) {
  *count = 1;
  return hipSuccess;
}

hipError_t hipDriverGetVersion(int* version) {
  *version = HIP_VERSION;
  return hipSuccess;
}

hipError_t hipRuntimeGetVersion(int* version) { return hipDriverGetVersion(version); }

hipError_t hipGetLastError() {
  const hipError_t error = device().last_error;
  device().last_error = hipSuccess;
  return error;
}

hipError_t hipPeekAtLastError() { return device().last_error; }

const char* hipGetErrorName(hipError_t error) {
  return error == hipSuccess ? "hipSuccess" : "hipError";
}

const char* hipGetErrorString(hipError_t error) {
  static std::string sentence;
  sentence = "the emulator's error " + std::to_string(static_cast<int>(error));
  return sentence.c_str();
}

// An event is the time at which it was recorded, in nanoseconds.
hipError_t hipEventCreate(hipEvent_t* event) {
  *event = reinterpret_cast<hipEvent_t>(new Qword(0));
  return hipSuccess;
}

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned /*flags*/) {
  return hipEventCreate(event);
}

hipError_t hipEventDestroy(hipEvent_t event) {
  device().finish();
  delete reinterpret_cast<Qword*>(event);
  return hipSuccess;
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t /*stream*/) {
  constexpr Qword nanoseconds_to_record = 100;
  device().enqueue([event] {
    Qword& clock = device().machine.clock;
    clock += nanoseconds_to_record;
    *reinterpret_cast<Qword*>(event) = clock;
  });
  return hipSuccess;
}

hipError_t hipEventSynchronize(hipEvent_t /*event*/) { return hipDeviceSynchronize(); }

hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t begin, hipEvent_t end) {
  device().finish();
  const Qword nanoseconds = *reinterpret_cast<Qword*>(end) - *reinterpret_cast<Qword*>(begin);
  *milliseconds = static_cast<float>(static_cast<double>(nanoseconds) * 1e-6);
  return hipSuccess;
}

hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* host_function) {
  const Function function = function_of(host_function);
  if (function.kernel == nullptr) {
    return device().fail(hipErrorInvalidDeviceFunction);
  }
  const Kernel& kernel = *function.kernel;
  *attributes = {};
  attributes->numRegs = static_cast<int>(kernel.vgprs);
  attributes->localSizeBytes = kernel.scratch;
  attributes->sharedSizeBytes = kernel.lds;
  attributes->maxThreadsPerBlock = static_cast<int>(kernel.largest_block);
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(largest_lds - kernel.lds);
  return hipSuccess;
}

hipError_t hipFuncSetAttribute(const void* /*function*/, hipFuncAttribute /*attribute*/,
                               int /*value*/) {
  return hipSuccess;
}

// The device says that it has no images (hipDeviceGetAttribute): a texture's description is not
// here.
hipError_t hipCreateTextureObject(hipTextureObject_t* /*object*/, const hipResourceDesc* /*memory*/,
                                  const hipTextureDesc* /*description*/,
                                  const hipResourceViewDesc* /*view*/) {
  return device().fail(hipErrorNotSupported);
}

hipError_t hipDestroyTextureObject(hipTextureObject_t /*object*/) {
  return device().fail(hipErrorNotSupported);
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host_function,
                                                        int threads, std::size_t lds) {
  const Function function = function_of(host_function);
  if (function.kernel == nullptr) {
    return device().fail(hipErrorInvalidDeviceFunction);
  }
  *blocks =
      static_cast<int>(blocks_per_unit(*function.object, *function.kernel,
                                       static_cast<unsigned>(threads), static_cast<unsigned>(lds)));
  return hipSuccess;
}

hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int /*number*/) {
  switch (attribute) {
    case hipDeviceAttributeClockRate:
      *value = shader_clock_khz;
      return hipSuccess;
    case hipDeviceAttributeMemoryClockRate:
      *value = memory_clock_khz;
      return hipSuccess;
    case hipDeviceAttributeMultiprocessorCount:
      *value = static_cast<int>(device().machine.options.units);
      return hipSuccess;
    case hipDeviceAttributeWarpSize:
      *value = static_cast<int>(wave_size);
      return hipSuccess;
    case hipDeviceAttributeMaxSharedMemoryPerBlock:
      *value = static_cast<int>(largest_lds);
      return hipSuccess;
    case hipDeviceAttributeL2CacheSize:
      *value = l2_bytes;
      return hipSuccess;
    default:
      *value = 0;
      return hipSuccess;
  }
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int /*number*/) {
  const Options& options = device().machine.options;
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "emulated %s", options.target.c_str());
  std::snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "%s:sramecc+:xnack-",
                options.target.c_str());
  properties->totalGlobalMem = total_memory;
  properties->sharedMemPerBlock = largest_lds;
  properties->regsPerBlock = 65536;
  properties->warpSize = static_cast<int>(wave_size);
  properties->maxThreadsPerBlock = static_cast<int>(largest_block);
  for (int& size : properties->maxThreadsDim) {
    size = static_cast<int>(largest_block);
  }
  for (int& size : properties->maxGridSize) {
    size = 2147483647;
  }
  properties->clockRate = shader_clock_khz;
  properties->memoryClockRate = memory_clock_khz;
  properties->memoryBusWidth = bus_bits;
  properties->multiProcessorCount = static_cast<int>(options.units);
  properties->l2CacheSize = l2_bytes;
  properties->maxThreadsPerMultiProcessor = options.target == "gfx90a" ? 2048 : 2560;
  properties->major = 9;
  return hipSuccess;
}

// A graph is the work that was enqueued while a stream captured it; it is done again at each
// launch.
hipError_t hipStreamBeginCapture(hipStream_t /*stream*/, hipStreamCaptureMode /*mode*/) {
  device().captured = std::make_unique<Work>();
  return hipSuccess;
}

hipError_t hipStreamEndCapture(hipStream_t /*stream*/, hipGraph_t* graph) {
  *graph = reinterpret_cast<hipGraph_t>(device().captured.release());
  return hipSuccess;
}

hipError_t hipGraphInstantiate(hipGraphExec_t* executable, hipGraph_t graph,
                               hipGraphNode_t* /*node*/, char* /*log*/, std::size_t /*size*/) {
  *executable = reinterpret_cast<hipGraphExec_t>(new Work(*reinterpret_cast<Work*>(graph)));
  return hipSuccess;
}

hipError_t hipGraphLaunch(hipGraphExec_t executable, hipStream_t /*stream*/) {
  for (const auto& work : *reinterpret_cast<Work*>(executable)) {
    device().enqueue(work);
  }
  return hipSuccess;
}

hipError_t hipGraphDestroy(hipGraph_t graph) {
  delete reinterpret_cast<Work*>(graph);
  return hipSuccess;
}

hipError_t hipGraphExecDestroy(hipGraphExec_t executable) {
  delete reinterpret_cast<Work*>(executable);
  return hipSuccess;
}
}
// NOLINTEND(readability-identifier-naming)
