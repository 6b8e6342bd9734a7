// The sum of the GPU vendor's library as a stage, where the build has one.
#pragma once

#include <hipscope/hipscope.h>
#include <hipscope/libraries/sum.h>

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>

#include "data.h"
#include "device_code.h"
#include "stage.h"

namespace hipscope::reduction {

inline bool has_vendor(const Sweep& sweep) {
  return sweep.is_hardware() && !vendor::sum_library().empty();
}

constexpr const char* vendor_name = "vendor library";

// Nobody says in which order the library adds. It is allowed the additions that it takes if as many
// threads as fit share the values and each adds up its own in order.
template <typename Value>
Stage<Value> vendor_stage() {
  using LibraryValue = std::conditional_t<std::is_same_v<Value, float>, float, int>;
  using Library = vendor::Sum<LibraryValue>;
  return {.name = vendor_name,
          .prepare =
              [](const Sweep& sweep, const Array<Value>& array) {
                const auto library = std::make_shared<Library>(array.count());
                const auto* const values = reinterpret_cast<const LibraryValue*>(array.values());
                const double all_threads =
                    static_cast<double>(sweep.device().compute_units) *
                    std::max(largest_block, static_cast<unsigned>(
                                                sweep.device().maximum_threads_per_compute_unit));
                Job<Value> job;
                job.enqueue = [=](Value* total) {
                  library->enqueue(values, reinterpret_cast<LibraryValue*>(total));
                };
                job.depth = static_cast<double>(array.count()) / all_threads + 64;
                return job;
              },
          .blocks_per_unit = {}};
}

inline void note_vendor(Sweep& sweep) {
  if (has_vendor(sweep)) {
    sweep.note(std::string(vendor_name) + ": " + vendor::sum_library());
  } else if (sweep.is_hardware()) {
    sweep.note(std::string(vendor_name) + ": this build has none (looked for " +
               vendor::sum_libraries + ")");
  } else {
    sweep.note(std::string(vendor_name) + ": not on this device");
  }
}

}  // namespace hipscope::reduction
