// The switch of stacks that is taken where Boost.Context is not installed; everything else in these
// tests runs on the other one.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ucontext_stack_switch.h"

namespace {

using hip_host::StackSwitch;

constexpr std::size_t stack_bytes = std::size_t{256} * 1024;

struct Walker {
  std::string name;
  std::vector<std::string>& log;
  StackSwitch stack{stack_bytes, [](void* self) { static_cast<Walker*>(self)->walk(); }, this};

  [[noreturn]] void walk() {
    const char local = 0;
    is_inside = static_cast<const char*>(stack.bottom()) <= &local &&
                &local < static_cast<const char*>(stack.bottom()) + stack.bytes();
    for (int step = 0;; ++step) {
      log.push_back(name + std::to_string(step));
      stack.leave();
    }
  }

  bool is_inside = false;
};

TEST(UcontextStackSwitch, GoesOnWhereItLeft) {
  std::vector<std::string> log;
  Walker first{"a", log};
  Walker second{"b", log};
  EXPECT_TRUE(log.empty());
  for (int turn = 0; turn < 3; ++turn) {
    first.stack.enter();
    log.emplace_back("between");
    second.stack.enter();
  }
  EXPECT_EQ(log, (std::vector<std::string>{"a0", "between", "b0", "a1", "between", "b1", "a2",
                                           "between", "b2"}));
}

TEST(UcontextStackSwitch, RunsOnItsOwnStack) {
  std::vector<std::string> log;
  Walker walker{"a", log};
  walker.stack.enter();
  EXPECT_EQ(walker.stack.bytes(), stack_bytes);
#if !defined(__SANITIZE_ADDRESS__)  // which may keep locals elsewhere
  EXPECT_TRUE(walker.is_inside);
#endif
}

TEST(UcontextStackSwitchDeathTest, StopsAnOverrunOfTheStack) {
  std::vector<std::string> log;
  const Walker walker{"a", log};
  EXPECT_DEATH(*(static_cast<volatile char*>(const_cast<void*>(walker.stack.bottom())) - 1) = 1,
               "");
}

}  // namespace
