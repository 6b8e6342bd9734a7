// Lanes of a wave: the user's choice.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "hip/host/lanes.h"

namespace hip_host {

int wave_size_from_environment() {
  const char* const text = std::getenv("HIPSCOPE_HOST_WAVE_SIZE");
  if (text == nullptr || std::string_view(text) == "32") {
    return 32;
  }
  if (std::string_view(text) == "64") {
    return 64;
  }
  std::fprintf(stderr, "HIPSCOPE_HOST_WAVE_SIZE is '%s'; it must be 32 or 64\n", text);
  std::exit(2);
}

}  // namespace hip_host
