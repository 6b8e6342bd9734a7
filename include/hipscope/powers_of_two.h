// Values for an axis that doubles. Plain C++, no GPU headers.
#pragma once

#include <vector>

namespace hipscope {

/// 1, 2, 4 ... below `last`, and `last`, which is at most 2^31 and need not be a power of two.
inline std::vector<unsigned> powers_of_two_up_to(unsigned last) {
  std::vector<unsigned> values;
  for (unsigned value = 1; value < last; value *= 2) {
    values.push_back(value);
  }
  values.push_back(last);
  return values;
}

}  // namespace hipscope
