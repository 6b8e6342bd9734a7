// Kinds of host memory that a device can be given: each an owner with `data()`.
#pragma once

#include <hipscope/hipscope.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace host_copies {

using hipscope::check;

// Pinned (page-locked) memory, mapped into the device's address space.
class PinnedMemory {
 public:
  // Throws DeviceError (out of memory).
  explicit PinnedMemory(std::size_t bytes) {
    check(hipHostMalloc(&memory_, bytes, hipHostMallocMapped));
    check(hipHostGetDevicePointer(&on_device_, memory_, 0));
  }
  ~PinnedMemory() { static_cast<void>(hipHostFree(memory_)); }
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;

  [[nodiscard]] unsigned* data() const { return static_cast<unsigned*>(memory_); }
  // The same memory as kernels must name it.
  [[nodiscard]] unsigned* on_device() const { return static_cast<unsigned*>(on_device_); }

 private:
  void* memory_ = nullptr;
  void* on_device_ = nullptr;
};

// Pinned memory on one NUMA node of the host.
class NodeMemory {
 public:
  // `is_bound` then says whether the kernel was willing to place it. Throws DeviceError.
  NodeMemory(std::size_t bytes, unsigned node) : bytes_(bytes) {
    memory_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) {
      throw hipscope::DeviceError("the host has no " + std::to_string(bytes) + " bytes left");
    }
    constexpr int bind = 2;  // MPOL_BIND of Linux's set_mempolicy(2)
    constexpr unsigned most_nodes = 1024;
    constexpr unsigned word_bits = 64;
    std::vector<std::uint64_t> nodes(most_nodes / word_bits);
    nodes.at(node / word_bits) = std::uint64_t{1} << (node % word_bits);
    is_bound_ = syscall(SYS_mbind, memory_, bytes, bind, nodes.data(), most_nodes, 0) == 0;
    if (is_bound_) {
      check(hipHostRegister(memory_, bytes, hipHostRegisterDefault));
    }
  }
  ~NodeMemory() {
    if (is_bound_) {
      static_cast<void>(hipHostUnregister(memory_));
    }
    munmap(memory_, bytes_);
  }
  NodeMemory(const NodeMemory&) = delete;
  NodeMemory& operator=(const NodeMemory&) = delete;

  [[nodiscard]] unsigned* data() const { return static_cast<unsigned*>(memory_); }
  [[nodiscard]] bool is_bound() const { return is_bound_; }

 private:
  std::size_t bytes_;
  void* memory_ = nullptr;
  bool is_bound_ = false;
};

// The numbers in a list as Linux writes them, "0-1,4".
inline std::vector<unsigned> numbers_of(const std::string& list) {
  std::vector<unsigned> numbers;
  std::istringstream ranges(list);
  std::string range;
  while (std::getline(ranges, range, ',')) {
    std::istringstream words(range);
    unsigned first = 0;
    unsigned last = 0;
    char dash = 0;
    if (words >> first) {
      if (!(words >> dash >> last)) {
        last = first;
      }
      for (unsigned number = first; number <= last; ++number) {
        numbers.push_back(number);
      }
    }
  }
  return numbers;
}

// The host's NUMA nodes that have memory; empty where the system does not tell.
inline std::vector<unsigned> nodes_with_memory() {
  std::ifstream file("/sys/devices/system/node/has_memory");
  std::string list;
  std::getline(file, list);
  return numbers_of(list);
}

}  // namespace host_copies
