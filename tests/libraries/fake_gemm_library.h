// A library for products that does what the environment says: FAKE_GEMM_LIBRARY=works, fails,
// aborts.
#pragma once

#include <cstdlib>
#include <string>

#include "hipscope/device.h"
#include "hipscope/libraries/gemm.h"

namespace hipscope::vendor::library {

constexpr bool may_end_the_process = true;

struct Handle {};

inline Handle create_handle(GemmMath) { return {}; }

inline void set_stream(const Handle&, void*, void*, std::size_t) {}

template <typename Value>
void multiply(const Handle&, const GemmArguments<Value>&) {
  const char* const behaviour = std::getenv("FAKE_GEMM_LIBRARY");
  const std::string does = behaviour == nullptr ? "" : behaviour;
  if (does == "aborts") {
    std::abort();
  }
  if (does != "works") {
    throw DeviceError("the fake library fails");
  }
}

inline std::string name() { return "fake library"; }

}  // namespace hipscope::vendor::library
