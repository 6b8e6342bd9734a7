#include "hipscope/format.h"

#include <fmt/format.h>

namespace hipscope {

std::string number(double value, int significant_digits) {
  return fmt::format("{:.{}g}", value, significant_digits);
}

}  // namespace hipscope
