// A second stack and the switches to it and back, by Boost.Context.
#pragma once

#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstddef>
#include <memory>
#include <utility>

namespace hip_host {

class StackSwitch {
 public:
  /// Makes the stack, with a page before it that must not be touched. The first enter() calls
  /// `run(argument)` on it, which must not return. Throws std::bad_alloc.
  StackSwitch(std::size_t bytes, void (*run)(void*), void* argument) {
    boost::context::protected_fixedsize_stack allocator(bytes);
    const boost::context::stack_context stack = allocator.allocate();
    bottom_ = static_cast<const char*>(stack.sp) - stack.size;
    bytes_ = stack.size;
    const boost::context::preallocated place(stack.sp, stack.size, stack);
    inside_ = boost::context::fiber(std::allocator_arg, place, allocator,
                                    [this, run, argument](boost::context::fiber&& outside) {
                                      outside_ = std::move(outside);
                                      run(argument);
                                      return boost::context::fiber();
                                    });
  }

  /// The stack's lowest byte.
  [[nodiscard]] const void* bottom() const { return bottom_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  /// Goes on with what runs on the stack; returns when that leaves.
  void enter() { inside_ = std::move(inside_).resume(); }

  /// Returns from enter(). Called on the stack; returns itself at the next enter().
  void leave() { outside_ = std::move(outside_).resume(); }

 private:
  const void* bottom_ = nullptr;
  std::size_t bytes_ = 0;
  boost::context::fiber inside_;
  boost::context::fiber outside_;
};

}  // namespace hip_host
