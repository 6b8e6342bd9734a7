// Numbers as text, for labels, notes and statements.
#pragma once

#include <string>

namespace hipscope {

/// `value` with `significant_digits`, without trailing zeros: "0.8395", "1.07e+09".
std::string number(double value, int significant_digits = 3);

}  // namespace hipscope
