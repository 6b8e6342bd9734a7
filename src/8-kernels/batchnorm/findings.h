// What batchnorm concludes from its curves. Plain C++, no GPU headers.
#pragma once

#include <string>

#include "hipscope/experiment.h"

namespace batchnorm {

/// x of the rows of a ladder: a copy, the source's stages, ours, the vendor's library.
constexpr double copy_x = 0;
constexpr double source_x = 1;
constexpr double own_x = 11;
constexpr double vendor_x = 100;
/// Of ours, in sweep stages: three passes, two passes, and the first with one.
constexpr double three_passes_x = own_x;
constexpr double two_passes_x = own_x + 1;
constexpr double one_pass_x = own_x + 3;

/// The library beside ours; `name` is empty where there is none.
struct Library {
  std::string name;
  std::string looked_for;
};

/// From sweeps stages and spatial ("rate"): our fastest stage over the copy and over the library;
/// and what one pass gains on three.
void conclude(hipscope::Results& results, const Library& library);

}  // namespace batchnorm
