#include "local_data_share.h"

#include <cxxabi.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <stdexcept>

namespace hip_host {
namespace {

constexpr std::size_t kDynamicAlignmentBytes = 256;

// For dl_iterate_phdr, which names the main executable first: sets *data, a span of bytes, to this
// thread's copy of its TLS segment, and stops.
int find_thread_local_segment(dl_phdr_info* object, std::size_t, void* data) {
  auto& segment = *static_cast<std::span<std::byte>*>(data);
  for (const ElfW(Phdr) & header : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
    if (header.p_type == PT_TLS && object->dlpi_tls_data != nullptr) {
      segment = {static_cast<std::byte*>(object->dlpi_tls_data), header.p_memsz};
    }
  }
  return 1;
}

// Returns the memory of all __shared__ variables of the program: the main executable's TLS segment.
// A statically linked C++ runtime would keep its own variables there too, and poisoning them would
// crash it in places hard to trace; so throws std::runtime_error then.
std::span<std::byte> static_lds() {
  std::span<std::byte> segment;
  dl_iterate_phdr(find_thread_local_segment, &segment);
  const std::less<const void*> before;
  const void* const runtime_state = abi::__cxa_get_globals();
  if (!before(runtime_state, segment.data()) &&
      before(runtime_state, segment.data() + segment.size())) {
    throw std::runtime_error("the C++ runtime must be linked dynamically for kernels to run");
  }
  return segment;
}

// Returns a heap block of exactly this size, so that AddressSanitizer notices an overrun.
std::span<std::byte> allocate_dynamic_lds(std::size_t bytes) {
  if (bytes == 0) return {};
  void* memory = nullptr;
  if (posix_memalign(&memory, kDynamicAlignmentBytes, bytes) != 0) throw std::bad_alloc();
  return {static_cast<std::byte*>(memory), bytes};
}

void fill_with_poison(std::span<std::byte> memory) {
  if (!memory.empty()) std::memset(memory.data(), kPoisonByte, memory.size());
}

}  // namespace

LocalDataShare::LocalDataShare(std::size_t dynamic_bytes)
    : static_(static_lds()), dynamic_(allocate_dynamic_lds(dynamic_bytes)) {}

LocalDataShare::~LocalDataShare() { std::free(dynamic_.data()); }

void LocalDataShare::poison() {
  fill_with_poison(static_);
  fill_with_poison(dynamic_);
}

std::vector<std::byte> LocalDataShare::contents() const {
  std::vector<std::byte> all(static_.begin(), static_.end());
  all.insert(all.end(), dynamic_.begin(), dynamic_.end());
  return all;
}

void LocalDataShare::set_contents(const std::vector<std::byte>& contents) {
  const auto middle = contents.begin() + static_cast<std::ptrdiff_t>(static_.size());
  std::copy(contents.begin(), middle, static_.begin());
  std::copy(middle, contents.end(), dynamic_.begin());
}

}  // namespace hip_host
