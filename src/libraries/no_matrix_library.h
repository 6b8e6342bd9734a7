// In place of a vendor's library that is not there.
#pragma once

#include <string>

#include "hipscope/device.h"
#include "hipscope/libraries/matrix.h"

namespace hipscope::vendor::matrix_library_of_build {

constexpr bool may_end_the_process = false;

struct Product {
  void prepare(MatrixFormat, MatrixSums, int) {
    throw DeviceError(std::string("this build has no library for matrix products by format: ") +
                      matrix_libraries);
  }
  void enqueue(const void*, const void*, void*, void*) {}
};

inline bool multiplies_rows_of(MatrixFormat) { return false; }

struct AnyProduct {
  void prepare(const RowProductKind&) {
    throw DeviceError(std::string("this build has no library for matrix products by format: ") +
                      matrix_libraries);
  }
  int ways(const RowProductArguments&) { return 0; }
  void choose(int) {}
  void enqueue(const RowProductArguments&, void*) {}
};

inline std::string name() { return ""; }

}  // namespace hipscope::vendor::matrix_library_of_build
