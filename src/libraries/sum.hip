// See hipscope/libraries/sum.h. The library's templates are compiled here, apart from the
// experiments, whose machine code holds their own kernels only.

// What CMake has found: `vendor::sum` and `vendor::sum_library_name`. It comes first, since CUB
// does not bear the macros of hip_runtime.h.
#include HIPSCOPE_SUM_LIBRARY

#include <algorithm>

#include "hipscope/buffer.h"
#include "hipscope/libraries/sum.h"
#include "hipscope/libraries/wanted.h"

namespace hipscope::vendor {

template <typename Value>
struct Sum<Value>::Workspace : DeviceBuffer<unsigned char> {
  using DeviceBuffer::DeviceBuffer;
};

// With a null workspace the library would say its size again, so there is one byte at least.
template <typename Value>
Sum<Value>::Sum(std::size_t count) : count_(count) {
  std::size_t bytes = 0;
  sum<Value>(nullptr, bytes, nullptr, nullptr, count);
  workspace_ = std::make_unique<Workspace>(std::max<std::size_t>(1, bytes));
}

template <typename Value>
Sum<Value>::~Sum() = default;

template <typename Value>
void Sum<Value>::enqueue(const Value* values, Value* total) {
  std::size_t bytes = workspace_->size();
  sum(workspace_->data(), bytes, values, total, count_);
}

template class Sum<float>;
template class Sum<int>;

std::string sum_library() { return libraries_are_wanted() ? sum_library_name() : ""; }

}  // namespace hipscope::vendor
