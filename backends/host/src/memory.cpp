// Buffers, copies and memsets.
#include <sys/sysinfo.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <string>

#include "context.h"
#include "local_data_share.h"

namespace hip_host {
namespace {

constexpr std::size_t kBufferAlignmentBytes = 256;
constexpr std::size_t kBytesPerGibibyte = std::size_t{1} << 30;
constexpr std::size_t kBytesPerKibibyte = 1024;

// Buffers are filled when they are made; a device as large as the host's memory would let a
// benchmark that asks for a share of it spend its time on that.
constexpr std::size_t kNominalDeviceBytes = 4 * kBytesPerGibibyte;

enum class MemoryKind { kDevice, kHost, kRegistered };

struct Buffer {
  std::size_t bytes;
  MemoryKind kind;
};

using Address = std::uintptr_t;

// The buffers by their first address. Never destroyed, so that objects with static lifetime can
// still free theirs at the program's end.
std::map<Address, Buffer>& buffers() {
  static auto& map = *new std::map<Address, Buffer>;
  return map;
}

Address address_of(const void* pointer) { return reinterpret_cast<Address>(pointer); }

std::size_t total_bytes() {
  struct sysinfo information {};
  if (sysinfo(&information) != 0) return kNominalDeviceBytes;
  const std::size_t physical = std::size_t{information.totalram} * information.mem_unit;
  return std::min(kNominalDeviceBytes, physical / 2);
}

// Returns what the host could give now without swapping; no limit if it does not tell.
std::size_t available_host_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::size_t kibibytes = 0;
  while (file >> name >> kibibytes) {
    if (name == "MemAvailable:") return kibibytes * kBytesPerKibibyte;
    file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::numeric_limits<std::size_t>::max();
}

std::size_t free_bytes() {
  std::size_t used = 0;
  for (const auto& [address, buffer] : buffers()) {
    used += buffer.kind == MemoryKind::kRegistered ? 0 : buffer.bytes;
  }
  const std::size_t total = total_bytes();
  return std::min(total - std::min(used, total), available_host_bytes());
}

hipError_t allocate(void** pointer, std::size_t bytes, MemoryKind kind) {
  if (pointer == nullptr) return hipErrorInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return hipSuccess;
  if (bytes > free_bytes()) return hipErrorOutOfMemory;
  // Of exactly this size, so that AddressSanitizer notices an overrun.
  if (posix_memalign(pointer, kBufferAlignmentBytes, bytes) != 0) return hipErrorOutOfMemory;
  std::memset(*pointer, kPoisonByte, bytes);
  buffers().emplace(address_of(*pointer), Buffer{bytes, kind});
  return hipSuccess;
}

hipError_t release(void* pointer, MemoryKind kind) {
  if (pointer == nullptr) return hipSuccess;
  const auto found = buffers().find(address_of(pointer));
  if (found == buffers().end() || found->second.kind != kind) return hipErrorInvalidValue;
  buffers().erase(found);
  std::free(pointer);
  return hipSuccess;
}

// Returns the bytes from `pointer` to the end of the buffer that it points into; no limit if that
// is none of ours.
std::size_t bytes_to_end(const void* pointer) {
  const Address address = address_of(pointer);
  auto after = buffers().upper_bound(address);
  if (after == buffers().begin()) return std::numeric_limits<std::size_t>::max();
  const auto& [start, buffer] = *std::prev(after);
  const bool inside = address - start < buffer.bytes;
  return inside ? buffer.bytes - (address - start) : std::numeric_limits<std::size_t>::max();
}

hipError_t check_range(const void* pointer, std::size_t bytes) {
  if (bytes == 0) return hipSuccess;
  return pointer != nullptr && bytes <= bytes_to_end(pointer) ? hipSuccess : hipErrorInvalidValue;
}

// Does now, or records, what a copy or memset does to `destination`.
template <typename Action>
hipError_t enqueue_write(void* destination, std::size_t bytes, hipStream_t stream, Action action) {
  if (const hipError_t error = check_range(destination, bytes); error != hipSuccess) return error;
  return enqueue(stream, [bytes, action] {
    if (bytes > 0) action();
    return hipSuccess;
  });
}

hipError_t copy(void* destination, const void* source, std::size_t bytes, hipMemcpyKind kind,
                hipStream_t stream) {
  if (kind < hipMemcpyHostToHost || kind > hipMemcpyDefault) return hipErrorInvalidMemcpyDirection;
  if (const hipError_t error = check_range(source, bytes); error != hipSuccess) return error;
  return enqueue_write(destination, bytes, stream,
                       [=] { std::memcpy(destination, source, bytes); });
}

hipError_t set(void* destination, int value, std::size_t bytes, hipStream_t stream) {
  return enqueue_write(destination, bytes, stream, [=] { std::memset(destination, value, bytes); });
}

}  // namespace

void free_all_memory() {
  for (const auto& [address, buffer] : buffers()) {
    if (buffer.kind != MemoryKind::kRegistered) std::free(reinterpret_cast<void*>(address));
  }
  buffers().clear();
}

}  // namespace hip_host

using hip_host::api_call;
using hip_host::MemoryKind;

hipError_t hipMalloc(void** pointer, std::size_t bytes) {
  return api_call([&] { return hip_host::allocate(pointer, bytes, MemoryKind::kDevice); });
}

hipError_t hipFree(void* pointer) {
  return api_call([&] { return hip_host::release(pointer, MemoryKind::kDevice); });
}

hipError_t hipHostMalloc(void** pointer, std::size_t bytes, unsigned /*flags*/) {
  return api_call([&] { return hip_host::allocate(pointer, bytes, MemoryKind::kHost); });
}

hipError_t hipHostFree(void* pointer) {
  return api_call([&] { return hip_host::release(pointer, MemoryKind::kHost); });
}

hipError_t hipHostGetDevicePointer(void** device_pointer, void* host_pointer, unsigned flags) {
  return api_call([&] {
    const auto found = hip_host::buffers().find(hip_host::address_of(host_pointer));
    const bool known =
        found != hip_host::buffers().end() && found->second.kind == MemoryKind::kHost;
    if (device_pointer == nullptr || flags != 0 || !known) return hipErrorInvalidValue;
    *device_pointer = host_pointer;
    return hipSuccess;
  });
}

hipError_t hipHostRegister(void* memory, std::size_t bytes, unsigned /*flags*/) {
  return api_call([&] {
    if (memory == nullptr || bytes == 0) return hipErrorInvalidValue;
    const bool is_new =
        hip_host::buffers()
            .emplace(hip_host::address_of(memory), hip_host::Buffer{bytes, MemoryKind::kRegistered})
            .second;
    return is_new ? hipSuccess : hipErrorInvalidValue;
  });
}

hipError_t hipHostUnregister(void* memory) {
  return api_call([&] {
    const auto found = hip_host::buffers().find(hip_host::address_of(memory));
    if (found == hip_host::buffers().end() || found->second.kind != MemoryKind::kRegistered) {
      return hipErrorInvalidValue;
    }
    hip_host::buffers().erase(found);
    return hipSuccess;
  });
}

hipError_t hipMallocManaged(void** pointer, std::size_t bytes, unsigned flags) {
  return api_call([&] {
    if (flags != hipMemAttachGlobal && flags != hipMemAttachHost) return hipErrorInvalidValue;
    return hip_host::allocate(pointer, bytes, MemoryKind::kDevice);
  });
}

hipError_t hipMallocAsync(void** pointer, std::size_t bytes, hipStream_t stream) {
  return api_call([&] {
    return hip_host::enqueue(
        stream, [=] { return hip_host::allocate(pointer, bytes, MemoryKind::kDevice); });
  });
}

hipError_t hipFreeAsync(void* pointer, hipStream_t stream) {
  return api_call([&] {
    return hip_host::enqueue(stream,
                             [=] { return hip_host::release(pointer, MemoryKind::kDevice); });
  });
}

hipError_t hipMemAdvise(const void* memory, std::size_t bytes, hipMemoryAdvise /*advice*/,
                        int device) {
  return api_call([&] {
    if (!hip_host::is_device(device) && device != hipCpuDeviceId) return hipErrorInvalidDevice;
    return hip_host::check_range(memory, bytes);
  });
}

hipError_t hipMemPrefetchAsync(const void* memory, std::size_t bytes, int device,
                               hipStream_t stream) {
  return api_call([&] {
    if (!hip_host::is_device(device) && device != hipCpuDeviceId) return hipErrorInvalidDevice;
    const hipError_t error = hip_host::check_range(memory, bytes);
    return error != hipSuccess ? error : hip_host::enqueue(stream, [] { return hipSuccess; });
  });
}

hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t* /*handle*/, void* /*memory*/) {
  return api_call([] { return hipErrorNotSupported; });
}

hipError_t hipIpcOpenMemHandle(void** /*memory*/, hipIpcMemHandle_t /*handle*/,
                               unsigned /*flags*/) {
  return api_call([] { return hipErrorNotSupported; });
}

hipError_t hipIpcCloseMemHandle(void* /*memory*/) {
  return api_call([] { return hipErrorNotSupported; });
}

hipError_t hipMemGetInfo(std::size_t* free, std::size_t* total) {
  return api_call([&] {
    if (free == nullptr || total == nullptr) return hipErrorInvalidValue;
    *free = hip_host::free_bytes();
    *total = hip_host::total_bytes();
    return hipSuccess;
  });
}

hipError_t hipMemcpy(void* destination, const void* source, std::size_t bytes, hipMemcpyKind kind) {
  return api_call([&] {
    if (hip_host::any_stream_captures()) return hipErrorStreamCaptureImplicit;
    return hip_host::copy(destination, source, bytes, kind, nullptr);
  });
}

hipError_t hipMemcpyAsync(void* destination, const void* source, std::size_t bytes,
                          hipMemcpyKind kind, hipStream_t stream) {
  return api_call([&] { return hip_host::copy(destination, source, bytes, kind, stream); });
}

hipError_t hipMemcpyPeerAsync(void* destination, int destination_device, const void* source,
                              int source_device, std::size_t bytes, hipStream_t stream) {
  return api_call([&] {
    if (!hip_host::is_device(destination_device) || !hip_host::is_device(source_device)) {
      return hipErrorInvalidDevice;
    }
    return hip_host::copy(destination, source, bytes, hipMemcpyDeviceToDevice, stream);
  });
}

hipError_t hipMemset(void* destination, int value, std::size_t bytes) {
  return api_call([&] {
    if (hip_host::any_stream_captures()) return hipErrorStreamCaptureImplicit;
    return hip_host::set(destination, value, bytes, nullptr);
  });
}

hipError_t hipMemsetAsync(void* destination, int value, std::size_t bytes, hipStream_t stream) {
  return api_call([&] { return hip_host::set(destination, value, bytes, stream); });
}

hipError_t hipMemcpyToSymbol(const void* symbol, const void* source, std::size_t bytes,
                             std::size_t offset, hipMemcpyKind kind) {
  if (symbol == nullptr) return api_call([] { return hipErrorInvalidValue; });
  // HIP's signature has the variable const, the kernel's view of it.
  auto* const variable = static_cast<std::byte*>(const_cast<void*>(symbol));
  return hipMemcpy(variable + offset, source, bytes, kind);
}
