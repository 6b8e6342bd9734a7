// How a run ends: its status, its sentence on stderr, and what it leaves behind. What changes the
// process (signals, closed streams) happens in a child; tests/functional ends whole binaries.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "test_support.h"

namespace hipscope {
namespace {

using testing::ExitedWithCode;

class ExitStatusTest : public HarnessTest {
 protected:
  Experiment experiment_{"probe", {.question = "What is it?", .sources = {}}};
  std::string json_ = path("result.json");

  // Makes `descriptor` lead to `file`.
  static void redirect(int descriptor, const char* file) {
    dup2(open(file, O_WRONLY | O_CLOEXEC), descriptor);
  }

  // Runs the experiment with its tables thrown away and ends the process with its status.
  [[noreturn]] void run_and_exit(const std::vector<std::string>& arguments) {
    redirect(STDOUT_FILENO, "/dev/null");
    std::exit(status_of(experiment_, arguments));
  }

  void expect_failure(int status, const std::string& sentence) {
    write_file(json_, "old");
    const Outcome outcome = run(experiment_, {"--json", json_});
    EXPECT_EQ(outcome.status, status);
    EXPECT_EQ(outcome.errors, "probe: " + sentence + "\n");
    EXPECT_EQ(files(), std::vector<std::string>{"result.json"});
    EXPECT_EQ(read_file(json_), "old");
  }
};

TEST_F(ExitStatusTest, GoodRunWritesItsJson) {
  add_sweep(experiment_, "only");
  const Outcome outcome = run(experiment_, {"--json", json_});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.errors, "");
  EXPECT_NE(outcome.output.find("verification: 1 of 1 checks passed"), std::string::npos);
  EXPECT_EQ(files(), std::vector<std::string>{"result.json"});
  EXPECT_EQ(nlohmann::json::parse(read_file(json_))["status"], "passed");
}

TEST_F(ExitStatusTest, ARunThatMeasuresNothingSaysSo) {
  experiment_.sweep("only", "", [](Sweep& sweep) { sweep.note("not on this device"); });
  const Outcome outcome = run(experiment_, {});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.output.find("verification: nothing was measured"), std::string::npos)
      << outcome.output;
}

TEST_F(ExitStatusTest, WrongResultIs1AndStillReported) {
  experiment_.sweep("only", "", [](Sweep& sweep) {
    sweep.point("8", 8).verify("sum", 3, 10);
    sweep.point("16", 16).verify("sum", 0, 10);
  });
  const Outcome outcome = run(experiment_, {"--json", json_});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.output.find("verification: 1 of 2 checks passed\n"
                                "  WRONG: only, 8: sum: 3 of 10 wrong\n"),
            std::string::npos)
      << outcome.output;
  EXPECT_EQ(nlohmann::json::parse(read_file(json_))["status"], "failed");
}

TEST_F(ExitStatusTest, TheHostTellsWhatTheDeviceFoundWrong) {
  const std::vector<int> got = {0, 1, 7, 3, 4, 5, 5, 7, 8, 9};
  const auto look = [&](Comparison& comparison) {
    comparison.compare_all(got, [](std::uint64_t i) { return i; });
  };
  experiment_.sweep("only", "", [&](Sweep& sweep) {
    auto point = sweep.point("8", 8);
    point.verify("numbers", 2, 10, look);
    point.verify("numbers of a race", 1, 10, [](Comparison& /*all are right*/) {});
    point.verify("right numbers", 0, 10, look);
  });
  const Outcome outcome = run(experiment_, {});
  EXPECT_NE(
      outcome.output.find(
          "verification: 1 of 3 checks passed\n"
          "  WRONG: only, 8: numbers: 2 of 10 wrong; "
          "largest error 5; first: [2] expected 2, got 7; [6] expected 6, got 5\n"
          "  WRONG: only, 8: numbers of a race: 1 of 10 wrong; the host finds none of them\n"),
      std::string::npos)
      << outcome.output;
}

TEST_F(ExitStatusTest, CheckOfNothingIs1) {
  experiment_.sweep("only", "", [](Sweep& sweep) { sweep.point("8", 8).verify("sum", 0, 0); });
  EXPECT_EQ(run(experiment_, {}).status, 1);
}

TEST_F(ExitStatusTest, NoDeviceIs77) {
  fake::script().count = 0;
  add_sweep(experiment_, "only");
  expect_failure(77, "no device: the script has none");
}

TEST_F(ExitStatusTest, DeviceErrorIs3) {
  fake::script().error = "out of memory (hipErrorOutOfMemory) at a.hip:1";
  add_sweep(experiment_, "only");
  expect_failure(3, "out of memory (hipErrorOutOfMemory) at a.hip:1");
}

TEST_F(ExitStatusTest, OtherFailuresAre3) {
  experiment_.sweep("only", "", [](Sweep&) { throw std::runtime_error("any reason"); });
  expect_failure(3, "any reason");
}

TEST_F(ExitStatusTest, NoHostMemoryIs3) {
  experiment_.sweep("only", "", [](Sweep&) { throw std::bad_alloc(); });
  expect_failure(3, "out of host memory");
}

TEST_F(ExitStatusTest, TooLittleDeviceMemoryIs2) {
  fake::script().free_memory = 4096;
  experiment_.sweep("only", "", [](Sweep& sweep) {
    sweep.require_memory(4096, "--blocks");
    sweep.require_memory(6144, "--blocks");
  });
  expect_failure(2, "--blocks needs 6 KiB of device memory, more than the 4 KiB that is free");
}

TEST_F(ExitStatusTest, SignalIsSeenBetweenHostSamplesAndPoints) {
  experiment_.sweep("host", "", [](Sweep& sweep) {
    sweep.point("1", 1).measure_on_host("time", [] { std::raise(SIGINT); });
  });
  experiment_.sweep("points", "", [](Sweep& sweep) {
    std::raise(SIGINT);
    sweep.point("1", 1);
    std::_Exit(9);
  });
  EXPECT_EXIT(run_and_exit({"--filter", "host"}), ExitedWithCode(130), "interrupted");
  EXPECT_EXIT(run_and_exit({"--filter", "points"}), ExitedWithCode(130), "interrupted");
}

TEST_F(ExitStatusTest, SecondSignalEndsAtOnce) {
  add_sweep(experiment_, "only", [] {
    std::raise(SIGINT);
    std::raise(SIGTERM);
    std::_Exit(9);
  });
  EXPECT_EXIT(run_and_exit({"--json", json_}), ExitedWithCode(143), "");
  EXPECT_TRUE(files().empty());
}

TEST_F(ExitStatusTest, OutputThatCannotBeWrittenIs3) {
  add_sweep(experiment_, "only");
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--json", json_},
                                                    {"--csv"},
                                                    {"--list"},
                                                    {"--devices"},
                                                    {"--help"},
                                                    {"--version"}}) {
    const auto run_to_full = [&] {
      redirect(STDOUT_FILENO, "/dev/full");
      std::exit(status_of(experiment_, arguments));
    };
    EXPECT_EXIT(run_to_full(), ExitedWithCode(3), "^probe: cannot write .*standard output\n$")
        << arguments[0];
    const auto run_to_closed = [&] {
      close(STDOUT_FILENO);
      std::exit(status_of(experiment_, arguments));
    };
    EXPECT_EXIT(run_to_closed(), ExitedWithCode(3), "^probe: cannot write .*standard output\n$")
        << arguments[0];
  }
  EXPECT_TRUE(files().empty());
}

TEST_F(ExitStatusTest, SentenceThatCannotBeWrittenChangesNoStatus) {
  add_sweep(experiment_, "only");
  const auto run_without_stderr = [&](const std::vector<std::string>& arguments) {
    redirect(STDERR_FILENO, "/dev/full");
    run_and_exit(arguments);
  };
  EXPECT_EXIT(run_without_stderr({"--bogus"}), ExitedWithCode(2), "");
  EXPECT_EXIT(run_without_stderr({"--json", "/nonexistent/x.json"}), ExitedWithCode(2), "");
  fake::script().count = 0;
  EXPECT_EXIT(run_without_stderr({}), ExitedWithCode(77), "");
}

}  // namespace
}  // namespace hipscope
