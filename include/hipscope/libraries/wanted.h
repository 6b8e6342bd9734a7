// Whether the GPU vendors' libraries are to be measured at all.
#pragma once

#include <cstdlib>
#include <string_view>

namespace hipscope::vendor {

/// Always, unless HIPSCOPE_LIBRARIES is "no" in the environment: every function that names a
/// library then says that there is none. A checker of kernels (compute-sanitizer) would check
/// theirs, too.
inline bool libraries_are_wanted() {
  const char* const wish = std::getenv("HIPSCOPE_LIBRARIES");
  return wish == nullptr || std::string_view(wish) != "no";
}

}  // namespace hipscope::vendor
