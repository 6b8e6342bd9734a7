// See hipscope/libraries/histogram.h. The library's templates are compiled here, apart from the
// experiments, whose machine code holds their own kernels only.

// What CMake has found: `vendor::histogram` and `vendor::histogram_library_name`. It comes first,
// since CUB does not bear the macros of hip_runtime.h.
#include HIPSCOPE_HISTOGRAM_LIBRARY

#include <algorithm>

#include "hipscope/buffer.h"
#include "hipscope/libraries/histogram.h"
#include "hipscope/libraries/wanted.h"

namespace hipscope::vendor {

struct Histogram::Workspace : DeviceBuffer<unsigned char> {
  using DeviceBuffer::DeviceBuffer;
};

// With a null workspace the library would say its size again, so there is one byte at least.
Histogram::Histogram(std::size_t count) : count_(count) {
  std::size_t bytes = 0;
  histogram(nullptr, bytes, nullptr, nullptr, count);
  workspace_ = std::make_unique<Workspace>(std::max<std::size_t>(1, bytes));
}

Histogram::~Histogram() = default;

void Histogram::enqueue(const unsigned char* samples, unsigned* counts) {
  std::size_t bytes = workspace_->size();
  histogram(workspace_->data(), bytes, samples, counts, count_);
}

std::string histogram_library() { return libraries_are_wanted() ? histogram_library_name() : ""; }

}  // namespace hipscope::vendor
