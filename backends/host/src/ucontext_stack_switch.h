// A second stack and the switches to it and back, by the C library, where Boost.Context is not
// installed. Slower: each switch saves the signal mask, by a system call.
#pragma once

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace hip_host {

class StackSwitch {
 public:
  /// Makes the stack, with a page before it that must not be touched. The first enter() calls
  /// `run(argument)` on it, which must not return. Throws std::bad_alloc.
  StackSwitch(std::size_t bytes, void (*run)(void*), void* argument)
      : bytes_(bytes), run_(run), argument_(argument) {
    const auto guard_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* const pages = mmap(nullptr, guard_bytes + bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    if (mprotect(pages, guard_bytes, PROT_NONE) != 0 || getcontext(&inside_) != 0) {
      munmap(pages, guard_bytes + bytes);
      throw std::bad_alloc();
    }
    bottom_ = static_cast<char*>(pages) + guard_bytes;
    inside_.uc_stack.ss_sp = bottom_;
    inside_.uc_stack.ss_size = bytes;
    inside_.uc_link = nullptr;
    // makecontext passes arguments of type int only: the address in two of them.
    const auto address = reinterpret_cast<std::uintptr_t>(this);
    makecontext(&inside_, reinterpret_cast<void (*)()>(&start), 2,
                static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
  }
  StackSwitch(const StackSwitch&) = delete;
  StackSwitch& operator=(const StackSwitch&) = delete;

  /// The stack's lowest byte.
  [[nodiscard]] const void* bottom() const { return bottom_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  /// Goes on with what runs on the stack; returns when that leaves.
  void enter() { swapcontext(&outside_, &inside_); }

  /// Returns from enter(). Called on the stack; returns itself at the next enter().
  void leave() { swapcontext(&inside_, &outside_); }

 private:
  static_assert(sizeof(std::uintptr_t) == 8);

  static void start(unsigned high, unsigned low) {
    auto* const self = reinterpret_cast<StackSwitch*>(std::uintptr_t{high} << 32 | low);
    self->run_(self->argument_);
  }

  void* bottom_ = nullptr;
  std::size_t bytes_;
  void (*run_)(void*);
  void* argument_;
  ucontext_t inside_{};
  ucontext_t outside_{};
};

}  // namespace hip_host
