// How this binary was built. CMake makes the values.
#pragma once

#include <string>

namespace hipscope::detail {

struct BuildInfo {
  const char* version;
  const char* git_revision;  ///< ends in -dirty when the sources were changed since; "unknown"
  const char* backend;       ///< "amd", "nvidia" or "host"
  const char* compiler;      ///< of the experiments
  const char* flags;         ///< of the experiments
  const char* targets;       ///< GPU architectures compiled for
};

/// Defined in a file that CMake makes.
extern const BuildInfo build_info;

/// One line: version, backend, revision, compiler.
std::string version_text();

}  // namespace hipscope::detail
