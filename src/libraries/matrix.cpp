// See hipscope/libraries/matrix.h.
#include "hipscope/libraries/matrix.h"

#include "hipscope/libraries/wanted.h"

// What CMake has found: the library's types and functions under names that do not say whose they
// are.
#include HIPSCOPE_MATRIX_LIBRARY

namespace hipscope::vendor {

struct MatrixProduct::Implementation {
  matrix_library_of_build::Product product;
};

MatrixProduct::MatrixProduct(MatrixFormat format, MatrixSums sums, int side)
    : implementation_(std::make_unique<Implementation>()) {
  implementation_->product.prepare(format, sums, side);
}

MatrixProduct::~MatrixProduct() = default;

void MatrixProduct::enqueue(const void* a, const void* b, void* d, void* workspace) {
  implementation_->product.enqueue(a, b, d, workspace);
}

bool has_row_products_of(MatrixFormat format) {
  return matrix_library_of_build::multiplies_rows_of(format);
}

struct RowProduct::Implementation {
  matrix_library_of_build::AnyProduct product;
};

RowProduct::RowProduct(const RowProductKind& kind)
    : implementation_(std::make_unique<Implementation>()) {
  implementation_->product.prepare(kind);
}

RowProduct::~RowProduct() = default;

// The libraries store matrices column by column, where ours look transposed: C' = B' A'.
int RowProduct::ways(const RowProductArguments& arguments) {
  return implementation_->product.ways(arguments);
}

void RowProduct::choose(int way) { implementation_->product.choose(way); }

void RowProduct::enqueue(const RowProductArguments& arguments, void* workspace) {
  implementation_->product.enqueue(arguments, workspace);
}

std::string matrix_library() {
  return libraries_are_wanted() ? matrix_library_of_build::name() : "";
}

bool matrix_may_end_the_process() { return matrix_library_of_build::may_end_the_process; }

}  // namespace hipscope::vendor
