// See hipscope/libraries/gemm.h.
#include "hipscope/libraries/gemm.h"

#include "hipscope/libraries/wanted.h"

// What CMake has found: the library's types and functions under names that do not say whose they
// are.
#include HIPSCOPE_GEMM_LIBRARY

namespace hipscope::vendor {

struct Gemm::Implementation {
  library::Handle handle;
};

Gemm::Gemm(GemmMath math) : implementation_(std::make_unique<Implementation>()) {
  implementation_->handle = library::create_handle(math);
}

Gemm::~Gemm() = default;

// The libraries store matrices column by column, where ours look transposed: C' = B' A'.
void Gemm::enqueue(const GemmArguments<float>& arguments) {
  library::multiply(implementation_->handle, arguments);
}

void Gemm::enqueue(const GemmArguments<double>& arguments) {
  library::multiply(implementation_->handle, arguments);
}

void Gemm::enqueue(const GemmArguments<Half>& arguments) {
  library::multiply(implementation_->handle, arguments);
}

std::string gemm_library() { return libraries_are_wanted() ? library::name() : ""; }

bool gemm_may_end_the_process() { return library::may_end_the_process; }

}  // namespace hipscope::vendor
