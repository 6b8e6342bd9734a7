#include "lane_fiber.h"

#include <utility>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace hip_host {
namespace {

constexpr std::size_t kStackBytes = std::size_t{256} * 1024;

// Tells AddressSanitizer that execution moves to the stack given. `fake_stack` keeps what belongs
// to the stack being left.
void announce_switch([[maybe_unused]] void** fake_stack, [[maybe_unused]] const void* bottom,
                     [[maybe_unused]] std::size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(fake_stack, bottom, bytes);
#endif
}

// Tells AddressSanitizer that execution has arrived. Sets the stack it came from, if asked.
void confirm_switch([[maybe_unused]] void* fake_stack, [[maybe_unused]] const void** left_bottom,
                    [[maybe_unused]] std::size_t* left_bytes) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(fake_stack, left_bottom, left_bytes);
#endif
}

}  // namespace

LaneFiber::LaneFiber(std::function<void()> body)
    : body_(std::move(body)),
      stacks_(
          kStackBytes, [](void* fiber) { static_cast<LaneFiber*>(fiber)->run_for_ever(); }, this),
      lane_stack_{stacks_.bottom(), stacks_.bytes()} {}

void LaneFiber::resume() {
  void* fake_stack = nullptr;
  announce_switch(&fake_stack, lane_stack_.bottom, lane_stack_.bytes);
  stacks_.enter();
  confirm_switch(fake_stack, nullptr, nullptr);
}

void LaneFiber::suspend() {
  void* fake_stack = nullptr;
  announce_switch(&fake_stack, scheduler_stack_.bottom, scheduler_stack_.bytes);
  stacks_.leave();
  confirm_switch(fake_stack, &scheduler_stack_.bottom, &scheduler_stack_.bytes);
}

void LaneFiber::run_for_ever() {
  confirm_switch(nullptr, &scheduler_stack_.bottom, &scheduler_stack_.bytes);
  while (true) {
    body_();
    suspend();
  }
}

}  // namespace hip_host
