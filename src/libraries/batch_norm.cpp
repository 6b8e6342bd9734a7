// See hipscope/libraries/batch_norm.h.
#include "hipscope/libraries/batch_norm.h"

#include "hipscope/libraries/wanted.h"

// What CMake has found: the library's types and functions under names that do not say whose they
// are.
#include HIPSCOPE_BATCH_NORM_LIBRARY

namespace hipscope::vendor {

struct BatchNorm::Implementation {
  library::Handle handle;
  library::Tensor tensor;
  library::Tensor parameters;  // gamma, beta
  library::Mode mode;
  double epsilon;
};

BatchNorm::BatchNorm(const BatchNormShape& shape, BatchNormMode mode, double epsilon)
    : implementation_(std::make_unique<Implementation>()) {
  auto& own = *implementation_;
  own.handle = library::create_handle();
  own.tensor = library::create_tensor();
  own.parameters = library::create_tensor();
  own.mode = library::mode_of(mode);
  own.epsilon = epsilon;
  library::set(own.tensor, shape);
  library::derive_parameters(own.parameters, own.tensor, own.mode);
}

BatchNorm::~BatchNorm() = default;

void BatchNorm::enqueue(const float* input, const float* gamma, const float* beta, float* output) {
  const auto& own = *implementation_;
  library::forward_training(own.handle, own.mode, own.tensor, input, output, own.parameters, gamma,
                            beta, own.epsilon);
}

std::string batch_norm_library() { return libraries_are_wanted() ? library::name() : ""; }

std::string batch_norm_needs() { return library::needs; }

}  // namespace hipscope::vendor
