// Whether a build has machine code for a device.
#pragma once

#include <string_view>

namespace hipscope::detail {

/// Throws DeviceError, with what to do about it, where a build of this backend for these targets,
/// with semicolons between them, has no code for the architecture ("gfx90a:sramecc+:xnack-"). Only
/// AMD's code is for one architecture alone. HIP's own error for it comes late, or ends the
/// process.
void require_code_for(std::string_view architecture, std::string_view backend,
                      std::string_view targets);

}  // namespace hipscope::detail
