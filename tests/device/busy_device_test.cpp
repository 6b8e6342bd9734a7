// An experiment on a device whose memory another process holds: this test.
#include <gtest/gtest.h>
#include <hipscope/device.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "work.h"

namespace {

namespace fs = std::filesystem;

constexpr std::size_t mebibyte = std::size_t{1} << 20;

struct Ended {
  int status;
  std::string errors;
};

class BusyDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string why_none;
    if (hipscope::device_count(why_none) == 0) {
      GTEST_SKIP() << "no device: " << why_none;
    }
    if (!hipscope::open_device(0)->is_hardware()) {
      GTEST_SKIP() << "the host backend's memory is each process's own";
    }
    std::string name = (fs::temp_directory_path() / "hipscope.XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }

  void TearDown() override {
    if (!folder_.empty()) {
      fs::remove_all(folder_);
    }
  }

  // Runs an experiment that needs 3 GiB of device memory, in a process of its own.
  [[nodiscard]] Ended run() const {
    const std::string command = "cd '" + folder_.string() +
                                "' && '" HIPSCOPE_MEMORY_BANDWIDTH
                                "' --quick --array 1Gi --filter '^stream$' --json result.json"
                                " >output 2>errors";
    const int status = std::system(command.c_str());
    std::ifstream file(folder_ / "errors");
    return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            .errors = std::string(std::istreambuf_iterator<char>(file), {})};
  }

  void expect_one_sentence_and_no_result(const Ended& ended) const {
    EXPECT_EQ(ended.errors.rfind("memory_bandwidth: ", 0), 0U) << ended.errors;
    EXPECT_EQ(std::count(ended.errors.begin(), ended.errors.end(), '\n'), 1) << ended.errors;
    const auto entries = std::distance(fs::directory_iterator(folder_), {});
    EXPECT_EQ(entries, 2) << "there is more than the two streams' files";
  }

  fs::path folder_;
};

TEST_F(BusyDeviceTest, ASizeThatDoesNotFitBesideTheOthersIsStatus2) {
  constexpr std::size_t left = 2048 * mebibyte;  // for the runtime itself, but not for 3 GiB
  const HeldMemory held(left);
  const Ended ended = run();
  EXPECT_EQ(ended.status, 2) << ended.errors;
  EXPECT_NE(ended.errors.find("--array needs"), std::string::npos) << ended.errors;
  expect_one_sentence_and_no_result(ended);
}

TEST_F(BusyDeviceTest, NoMemoryAtAllIsStatus3) {
  const HeldMemory held(0);
  const Ended ended = run();
  EXPECT_EQ(ended.status, 3) << ended.errors;
  expect_one_sentence_and_no_result(ended);
}

TEST_F(BusyDeviceTest, TheSameRunsOnceTheMemoryIsFree) {
  { const HeldMemory held(0); }
  const Ended ended = run();
  EXPECT_EQ(ended.status, 0) << ended.errors;
  EXPECT_TRUE(fs::exists(folder_ / "result.json"));
}

}  // namespace
