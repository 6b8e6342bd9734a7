// A library that ends the process takes a child with it, not the experiment.
#include <gtest/gtest.h>

#include <cstdlib>

#include "8-kernels/gemm/library.h"

namespace {

std::string failure_of_a_library_that(const char* behaviour) {
  setenv("FAKE_GEMM_LIBRARY", behaviour, 1);
  return hipscope::vendor::failure_of_child({gemm::probe_option, "0"});
}

TEST(ProbeTest, ALibraryThatWorksIsUsed) { EXPECT_EQ(failure_of_a_library_that("works"), ""); }

TEST(ProbeTest, ALibraryThatAbortsTakesOnlyTheChildWithIt) {
  EXPECT_EQ(failure_of_a_library_that("aborts"), "ended by signal 6");
}

TEST(ProbeTest, ALibraryThatFailsIsNotUsed) {
  EXPECT_EQ(failure_of_a_library_that("fails"), "ended with status 3");
}

TEST(ProbeTest, ADeviceThatIsNotThereHasNoLibrary) {
  setenv("FAKE_GEMM_LIBRARY", "works", 1);
  EXPECT_EQ(hipscope::vendor::failure_of_child({gemm::probe_option, "1000"}),
            "ended with status 3");
}

TEST(ProbeTest, TheFailureIsThatOfTheLibraryThatIsLinked) {
  setenv("FAKE_GEMM_LIBRARY", "aborts", 1);
  EXPECT_EQ(gemm::failure_of_library(), "ended by signal 6");
}

TEST(ProbeTest, WhoWantsNoLibraryHasNone) {
  setenv("HIPSCOPE_LIBRARIES", "no", 1);
  EXPECT_EQ(hipscope::vendor::gemm_library(), "");
  setenv("HIPSCOPE_LIBRARIES", "yes", 1);
  EXPECT_EQ(hipscope::vendor::gemm_library(), "fake library");
  unsetenv("HIPSCOPE_LIBRARIES");
  EXPECT_EQ(hipscope::vendor::gemm_library(), "fake library");
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto status = gemm::probe_if_asked<double>(argc, argv)) {
    return *status;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
