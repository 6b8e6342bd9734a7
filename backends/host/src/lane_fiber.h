// A fiber for one lane: a stack of its own and the switches between it and the scheduler.
#pragma once

#include <cstddef>
#include <functional>

// What CMake has found: `StackSwitch`.
#include HIPSCOPE_STACK_SWITCH

namespace hip_host {

/// Runs a body on a stack of its own. The fiber outlives the body: when the body returns, the fiber
/// idles on its stack and the next resume() starts the body again. So stacks are made once and used
/// for all blocks of all launches.
///
/// A fiber is never destroyed: nobody could free what a kernel holds on a suspended stack.
class LaneFiber {
 public:
  /// Makes the stack. `body` must not throw. Throws std::bad_alloc if there is no memory for the
  /// stack.
  explicit LaneFiber(std::function<void()> body);

  LaneFiber(const LaneFiber&) = delete;
  LaneFiber& operator=(const LaneFiber&) = delete;

  /// Starts or continues the body; returns when it suspends or ends. Called by the scheduler.
  void resume();

  /// Goes back to the scheduler; returns at the next resume(). Called within the body.
  void suspend();

 private:
  /// A stack as AddressSanitizer wants to hear of it: its lowest byte and its size.
  struct StackBounds {
    const void* bottom = nullptr;
    std::size_t bytes = 0;
  };

  [[noreturn]] void run_for_ever();

  std::function<void()> body_;
  StackSwitch stacks_;
  StackBounds lane_stack_;
  StackBounds scheduler_stack_;
};

}  // namespace hip_host
