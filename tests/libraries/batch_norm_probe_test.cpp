// A library for batch normalization that cannot be called takes a child with it, not the
// experiment.
#include <gtest/gtest.h>

#include <cstdlib>

#include "8-kernels/batchnorm/library.h"

namespace {

std::string failure_of_a_library_that(const char* behaviour) {
  setenv("FAKE_BATCH_NORM_LIBRARY", behaviour, 1);
  return hipscope::vendor::failure_of_child({hipscope::batch_norm::probe_option, "0"});
}

TEST(BatchNormProbeTest, ALibraryThatWorksIsUsed) {
  EXPECT_EQ(failure_of_a_library_that("works"), "");
}

TEST(BatchNormProbeTest, ALibraryThatAbortsTakesOnlyTheChildWithIt) {
  EXPECT_EQ(failure_of_a_library_that("aborts"), "ended by signal 6");
}

TEST(BatchNormProbeTest, ALibraryThatFailsIsNotUsed) {
  EXPECT_EQ(failure_of_a_library_that("fails"), "ended with status 3");
}

TEST(BatchNormProbeTest, ADeviceThatIsNotThereHasNoLibrary) {
  setenv("FAKE_BATCH_NORM_LIBRARY", "works", 1);
  EXPECT_EQ(hipscope::vendor::failure_of_child({hipscope::batch_norm::probe_option, "1000"}),
            "ended with status 3");
}

TEST(BatchNormProbeTest, TheFailureIsThatOfTheLibraryThatIsLinked) {
  setenv("FAKE_BATCH_NORM_LIBRARY", "aborts", 1);
  EXPECT_EQ(hipscope::batch_norm::failure_of_library(), "ended by signal 6");
  EXPECT_EQ(hipscope::vendor::batch_norm_needs(), " (it needs a home)");
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto status = hipscope::batch_norm::probe_if_asked(argc, argv)) {
    return *status;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
