// Which devices a command line means, and what each of their processes is told.
// tests/functional/test_devices.py runs them.
#include "devices.h"

#include "test_support.h"

namespace hipscope {
namespace {

using Arguments = std::vector<std::string>;

std::string refusal(const std::string& text, int count) {
  try {
    static_cast<void>(detail::chosen_devices(text, count));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

TEST(Devices, AreOneSeveralOrAll) {
  EXPECT_EQ(detail::chosen_devices("1", 2), std::vector<int>{1});
  EXPECT_EQ(detail::chosen_devices("2,0", 3), (std::vector<int>{2, 0}));
  EXPECT_EQ(detail::chosen_devices("all", 3), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(detail::chosen_devices("all", 1), std::vector<int>{0});
}

TEST(Devices, ThatAreNotThereAreNamed) {
  EXPECT_EQ(refusal("2", 2), "--device: there is no device 2, the last one is 1");
  EXPECT_EQ(refusal("0,7", 2), "--device: there is no device 7, the last one is 1");
  EXPECT_EQ(refusal("0,1,0", 2), "--device: device 0 is there twice");
}

TEST(Devices, HaveAFileEach) {
  EXPECT_EQ(detail::path_of_device("result.json", 0), "result.0.json");
  EXPECT_EQ(detail::path_of_device("out.d/result.json", 12), "out.d/result.12.json");
  EXPECT_EQ(detail::path_of_device("out.d/result", 1), "out.d/result.1");
  EXPECT_EQ(detail::path_of_device("/tmp/thread_rate.wave64.json", 1),
            "/tmp/thread_rate.wave64.1.json");
}

TEST(Devices, ProcessesHaveTheSameArgumentsButTheirOwnDeviceAndFile) {
  EXPECT_EQ(
      detail::arguments_for_device(
          {"probe", "--device", "0,1", "--quick", "--json", "a.json", "--filter", "x"}, 1,
          "a.json"),
      (Arguments{"probe", "--quick", "--filter", "x", "--device", "1", "--json", "a.1.json"}));
  EXPECT_EQ(detail::arguments_for_device({"probe", "--json=a.json", "--together", "--device=all"},
                                         0, "a.json"),
            (Arguments{"probe", "--device", "0", "--json", "a.0.json"}));
  EXPECT_EQ(detail::arguments_for_device({"probe", "--device", "all", "--devices"}, 0, ""),
            (Arguments{"probe", "--devices", "--device", "0"}));
}

TEST_F(HarnessTest, SeveralDevicesNeedAFilesName) {
  fake::script().count = 2;
  Experiment experiment("probe", {.question = "What is it?", .sources = {}});
  add_sweep(experiment, "only");
  for (const std::string& file : {std::string("-"), device("null")}) {
    const Outcome outcome = run(experiment, {"--device", "all", "--json", file});
    EXPECT_EQ(outcome.status, 2) << file;
    EXPECT_EQ(outcome.errors, "probe: --json: " + file +
                                  " takes the results of one device; several need a file's name\n");
  }
}

TEST_F(HarnessTest, AllDevicesOfOneAreThatOne) {
  Experiment experiment("probe", {.question = "What is it?", .sources = {}});
  add_sweep(experiment, "only");
  EXPECT_EQ(run(experiment, {"--device", "all", "--together", "--json", path("a.json")}).status, 0);
  EXPECT_EQ(files(), std::vector<std::string>{"a.json"});
}

}  // namespace
}  // namespace hipscope
