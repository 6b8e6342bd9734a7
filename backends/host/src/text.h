// Sentences about a kernel's lanes and the places in its source where they are.
#pragma once

#include <ostream>
#include <sstream>
#include <string>

#include "hip/host/lanes.h"

namespace hip_host {

inline std::ostream& operator<<(std::ostream& stream, const uint3& index) {
  return stream << "(" << index.x << ", " << index.y << ", " << index.z << ")";
}

inline std::ostream& operator<<(std::ostream& stream, SourcePosition position) {
  return stream << position.file << ":" << position.line;
}

/// Returns the parts written one after the other.
template <typename... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return stream.str();
}

}  // namespace hip_host
