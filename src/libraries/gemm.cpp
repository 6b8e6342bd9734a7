// See hipscope/libraries/gemm.h.
#include "hipscope/libraries/gemm.h"

#include "hipscope/launch_stream.h"
#include "hipscope/libraries/wanted.h"

// What CMake has found: the library's types and functions under names that do not say whose they
// are.
#include HIPSCOPE_GEMM_LIBRARY

namespace hipscope::vendor {

struct Gemm::Implementation {
  library::Handle handle;
  void* workspace;
  std::size_t workspace_bytes;

  // The library's handle, for work on the stream that is in force.
  const library::Handle& on_launch_stream() {
    library::set_stream(handle, launch_stream, workspace, workspace_bytes);
    return handle;
  }
};

Gemm::Gemm(GemmMath math, void* workspace, std::size_t workspace_bytes)
    : implementation_(std::make_unique<Implementation>()) {
  implementation_->handle = library::create_handle(math);
  implementation_->workspace = workspace;
  implementation_->workspace_bytes = workspace_bytes;
}

Gemm::~Gemm() = default;

// The libraries store matrices column by column, where ours look transposed: C' = B' A'.
void Gemm::enqueue(const GemmArguments<float>& arguments) {
  library::multiply(implementation_->on_launch_stream(), arguments);
}

void Gemm::enqueue(const GemmArguments<double>& arguments) {
  library::multiply(implementation_->on_launch_stream(), arguments);
}

void Gemm::enqueue(const GemmArguments<Half>& arguments) {
  library::multiply(implementation_->on_launch_stream(), arguments);
}

std::string gemm_library() { return libraries_are_wanted() ? library::name() : ""; }

bool gemm_may_end_the_process() { return library::may_end_the_process; }

}  // namespace hipscope::vendor
