#include "test_support.h"

#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace hipscope {

namespace fs = std::filesystem;

int status_of(Experiment& experiment, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "program");
  std::vector<char*> pointers;
  for (std::string& argument : arguments) {
    pointers.push_back(argument.data());
  }
  pointers.push_back(nullptr);
  return experiment.run(static_cast<int>(arguments.size()), pointers.data());
}

Outcome run(Experiment& experiment, const std::vector<std::string>& arguments) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Outcome outcome;
  outcome.status = status_of(experiment, arguments);
  outcome.output = testing::internal::GetCapturedStdout();
  outcome.errors = testing::internal::GetCapturedStderr();
  return outcome;
}

HarnessTest::HarnessTest() {
  fake::start_script();
  std::string name = (fs::temp_directory_path() / "hipscope_test.XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("cannot make a folder for the test");
  }
  folder_ = name;
}

HarnessTest::~HarnessTest() { fs::remove_all(folder_); }

std::string HarnessTest::path(const std::string& name) const { return (folder_ / name).string(); }

std::vector<std::string> HarnessTest::files() const {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void add_sweep(Experiment& experiment, const std::string& name, const std::function<void()>& body) {
  experiment.sweep(name, "the sweep " + name, [body](Sweep& sweep) {
    sweep.axis({.name = "blocks", .unit = ""});
    auto point = sweep.point("1", 1);
    point.measure(body);
    point.verify("what the body left", 0, 1);
  });
}

std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace hipscope
