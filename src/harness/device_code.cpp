#include "device_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "hipscope/device.h"

namespace hipscope::detail {

void require_code_for(std::string_view architecture, std::string_view backend,
                      std::string_view targets) {
  // Code for a family ("gfx11-generic") may do; its members are not known here.
  if (backend != "amd" || targets.find("-generic") != std::string_view::npos) {
    return;
  }
  // Features after a colon: a build that names none runs with each; one that does is not judged.
  const std::string_view name = architecture.substr(0, architecture.find(':'));
  std::string listed(targets);
  std::replace(listed.begin(), listed.end(), ';', ' ');
  for (std::string_view rest = listed; !rest.empty();) {
    const std::string_view target = rest.substr(0, rest.find(' '));
    if (target.substr(0, target.find(':')) == name) {
      return;
    }
    rest.remove_prefix(std::min(rest.size(), target.size() + 1));
  }
  throw DeviceError(
      fmt::format("this build has no code for the device, {}: it was made for {}; build with "
                  "-DHIPSCOPE_AMD_TARGETS={}, or choose another device (--device, --devices)",
                  name, listed, name));
}

}  // namespace hipscope::detail
