// Memory of the device and of the host, copies, variables and textures.
#include <sys/mman.h>

#include <cstdint>
#include <cstring>

#include "emulated_device.h"

namespace emulator {
namespace {

constexpr std::size_t page = 4096;

// What was asked for is between pages that nobody may touch.
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

}  // namespace
}  // namespace emulator

// NOLINTBEGIN(readability-identifier-naming): HIP's own names
using namespace emulator;

extern "C" {

hipError_t hipMalloc(void** memory, std::size_t size) {
  device().finish();
  *memory = size == 0 || size > free_memory ? nullptr : allocate(size);
  return *memory != nullptr || size == 0 ? hipSuccess : device().fail(hipErrorOutOfMemory);
}

hipError_t hipFree(void* memory) { return release(memory); }

hipError_t hipExtMallocWithFlags(void** memory, std::size_t size, unsigned /*flags*/) {
  return hipMalloc(memory, size);
}

hipError_t hipMallocAsync(void** memory, std::size_t size, hipStream_t /*stream*/) {
  return hipMalloc(memory, size);
}

hipError_t hipFreeAsync(void* memory, hipStream_t /*stream*/) { return release(memory); }

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

hipError_t hipMemAdvise(const void* /*memory*/, std::size_t /*size*/, hipMemoryAdvise /*advice*/,
                        int /*number*/) {
  return hipSuccess;
}

// No other process can use this one's memory.
hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t* /*handle*/, void* /*memory*/) {
  return device().fail(hipErrorNotSupported);
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
}
// NOLINTEND(readability-identifier-naming)
