#include "hipscope/comparison.h"

#include <fmt/format.h>

namespace hipscope {

std::string Comparison::text_of(double value) { return fmt::format("{:.9g}", value); }

std::string Comparison::details() const {
  if (wrong_ == 0) {
    return "";
  }
  std::string text = fmt::format("largest error {:.3g}; first:", largest_error_);
  for (const Element& element : first_) {
    const std::string place =
        columns_ > 0 ? fmt::format("{}, {}", element.index / columns_, element.index % columns_)
                     : std::to_string(element.index);
    text += fmt::format("{} [{}] expected {}, got {}", &element == first_.data() ? "" : ";", place,
                        element.expected, element.got);
  }
  return text;
}

}  // namespace hipscope
