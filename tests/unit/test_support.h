// What the unit tests share: a fixture with a fresh device script and a folder of its own, and runs
// of an experiment whose output is kept.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "fake_device.h"
#include "hipscope/experiment.h"

namespace hipscope {

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// What a run came to.
struct Outcome {
  int status = 0;
  std::string output;  ///< on stdout
  std::string errors;  ///< on stderr
};

/// The exit status of `experiment` run with `arguments`.
int status_of(Experiment& experiment, std::vector<std::string> arguments);

/// The same with what it wrote.
Outcome run(Experiment& experiment, const std::vector<std::string>& arguments);

/// A fresh device script and an empty folder for each test.
class HarnessTest : public ::testing::Test {
 protected:
  HarnessTest();
  ~HarnessTest() override;

  /// The path of `name` in the test's folder.
  [[nodiscard]] std::string path(const std::string& name) const;

  /// The names of what lies in the test's folder, sorted.
  [[nodiscard]] std::vector<std::string> files() const;

 private:
  std::filesystem::path folder_;
};

/// A name that --filter and the tables know, and one point at which `body` is measured.
void add_sweep(
    Experiment& experiment, const std::string& name, const std::function<void()>& body = [] {});

std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& text);

}  // namespace hipscope
