// The command line: what it accepts, and what it says of what it does not.
#include "options.h"

#include <algorithm>
#include <sstream>
#include <string>

#include "test_support.h"

namespace hipscope {
namespace {

class OptionsTest : public HarnessTest {
 protected:
  OptionsTest() {
    add_sweep(experiment_, "first");
    experiment_.sweep("second", "the sweep second", [this](Sweep& sweep) {
      size_in_sweep_ = size_;
      seed_in_sweep_ = sweep.seed();
      sweep.point("1", 1).verify("nothing to do", 0, 1);
    });
  }

  Outcome run(const std::vector<std::string>& arguments) {
    return hipscope::run(experiment_, arguments);
  }

  Experiment experiment_{"probe", {.question = "What is it?", .sources = {"a source"}}};
  Size size_ = experiment_.size(
      "--blocks", "number of blocks",
      {.gpu = 4096, .quick = 512, .host = 16, .minimum = 2, .maximum = std::uint64_t{1} << 40});
  std::uint64_t size_in_sweep_ = 0;
  std::uint64_t seed_in_sweep_ = 0;
};

struct WrongUse {
  const char* name;
  std::vector<std::string> arguments;
  std::vector<std::string> message;  ///< parts of it, each of which must be there
};

std::ostream& operator<<(std::ostream& stream, const WrongUse& wrong) {
  return stream << wrong.name;
}

class WrongUseTest : public OptionsTest, public ::testing::WithParamInterface<WrongUse> {};

TEST_P(WrongUseTest, IsOneSentenceAndStatus2) {
  const Outcome outcome = run(GetParam().arguments);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.output, "");
  EXPECT_EQ(outcome.errors.rfind("probe: ", 0), 0U) << outcome.errors;
  EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
  constexpr std::size_t longest_sentence = 160;
  EXPECT_LT(outcome.errors.size(), longest_sentence) << outcome.errors;
  for (const std::string& part : GetParam().message) {
    EXPECT_NE(outcome.errors.find(part), std::string::npos) << outcome.errors;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Options, WrongUseTest,
    ::testing::Values(
        WrongUse{"unknown_option", {"--bogus"}, {"--bogus"}},
        WrongUse{"positional", {"file"}, {"file"}},
        WrongUse{"negative_device", {"--device", "-1"}, {"--device", "-1"}},
        WrongUse{"device_text", {"--device", "x"}, {"--device", "x"}},
        WrongUse{"no_such_device", {"--device", "99"}, {"--device", "99", "last one is 0"}},
        WrongUse{"huge_device", {"--device", "99999999999"}, {"--device"}},
        WrongUse{"quick_and_full", {"--quick", "--full"}, {"--quick", "--full"}},
        WrongUse{"once_and_quick", {"--once", "--quick"}, {"--once", "--quick"}},
        WrongUse{"once_and_full", {"--once", "--full"}, {"--once", "--full"}},
        WrongUse{"once_and_min_time", {"--once", "--min-time", "1"}, {"--once", "--min-time"}},
        WrongUse{"once_and_noise", {"--once", "--noise", "1"}, {"--once", "--noise"}},
        WrongUse{"no_noise", {"--noise", "0"}, {"--noise", "0"}},
        WrongUse{"noise_nan", {"--noise", "nan"}, {"--noise", "nan"}},
        WrongUse{"too_much_noise", {"--noise", "101"}, {"--noise", "101"}},
        WrongUse{"min_time_text", {"--min-time", "soon"}, {"--min-time", "soon"}},
        WrongUse{"min_time_zero", {"--min-time", "0"}, {"--min-time", "0"}},
        WrongUse{"negative_clock", {"--clock-mhz", "-5"}, {"--clock-mhz", "-5"}},
        WrongUse{"seed_text", {"--seed", "x"}, {"--seed", "x"}},
        WrongUse{"seed_negative", {"--seed", "-1"}, {"--seed", "-1"}},
        WrongUse{"seed_too_large", {"--seed", "18446744073709551616"}, {"--seed"}},
        WrongUse{"seed_twice", {"--seed", "1", "--seed", "2"}, {"--seed"}},
        WrongUse{"filter_malformed", {"--filter", "["}, {"--filter", "'['"}},
        WrongUse{"filter_that_repeats_too_much", {"--filter", "(.?){9000}"}, {"repeats too much"}},
        WrongUse{"filter_that_refers_back", {"--filter", "(a)\\1"}, {"refers back"}},
        WrongUse{"filter_too_long", {"--filter", std::string(1001, 'a')}, {"1000 characters"}},
        WrongUse{"filter_of_many_paths", {"--filter", "((((.*)*)*)*)*q"}, {"no sweep"}},
        WrongUse{"filter_of_two_lines", {"--filter", "one\ntwo"}, {"'one two'"}},
        WrongUse{"filter_of_nothing", {"--filter", "third"}, {"--filter", "'third'", "--list"}},
        WrongUse{"filter_empty", {"--filter", ""}, {"--filter"}},
        WrongUse{"two_mistakes", {"--filter", "", "--json", ""}, {"empty"}},
        WrongUse{"list_of_nothing", {"--list", "--filter", "third"}, {"--filter"}},
        WrongUse{"json_empty", {"--json", ""}, {"--json", "empty"}},
        WrongUse{"json_missing", {"--json"}, {"--json"}},
        WrongUse{
            "json_in_no_folder", {"--json", "/nonexistent/x.json"}, {"--json", "/nonexistent"}},
        WrongUse{"json_is_a_folder", {"--json", "."}, {"--json", "folder"}},
        WrongUse{"size_under_minimum", {"--blocks", "1"}, {"--blocks", "1", "2", "1099511627776"}},
        WrongUse{"size_negative", {"--blocks", "-5"}, {"--blocks", "-5"}},
        WrongUse{"size_text", {"--blocks", "abc"}, {"--blocks", "abc"}},
        WrongUse{"size_empty", {"--blocks", ""}, {"--blocks"}},
        WrongUse{"size_fraction", {"--blocks", "1.5"}, {"--blocks", "1.5"}},
        WrongUse{"size_half_a_unit", {"--blocks", "64K"}, {"--blocks", "64K"}},
        WrongUse{"size_with_trailing_text", {"--blocks", "64Kix"}, {"--blocks", "64Kix"}},
        WrongUse{"size_overflow", {"--blocks", "2^64"}, {"--blocks", "2^64"}},
        WrongUse{"size_overflow_of_digits",
                 {"--blocks", "99999999999999999999"},
                 {"--blocks", "99999999999999999999"}},
        WrongUse{"size_overflow_of_unit",
                 {"--blocks", "18014398509481984Ki"},
                 {"--blocks", "18014398509481984Ki"}},
        // (2^54 + 1) Ki is 1024 more than 64 bits hold.
        WrongUse{"size_that_wraps_around",
                 {"--blocks", "18014398509481985Ki"},
                 {"--blocks", "18014398509481985Ki"}},
        WrongUse{"size_of_power_and_unit", {"--blocks", "2^3Ki"}, {"--blocks", "2^3Ki"}},
        WrongUse{"size_of_a_long_power", {"--blocks", "1^1000000000000"}, {"--blocks", "1^1"}},
        WrongUse{"size_above_maximum", {"--blocks", "2^41"}, {"--blocks", "2^41"}}),
    [](const auto& test) { return test.param.name; });

class SizeTest : public OptionsTest,
                 public ::testing::WithParamInterface<std::pair<const char*, std::uint64_t>> {};

TEST_P(SizeTest, IsReadInAllItsForms) {
  EXPECT_EQ(run({"--blocks", GetParam().first}).status, 0);
  EXPECT_EQ(size_in_sweep_, GetParam().second);
}

INSTANTIATE_TEST_SUITE_P(Options, SizeTest,
                         ::testing::Values(std::pair("4096", 4096), std::pair("2", 2),
                                           std::pair("2^20", 1 << 20), std::pair("10^3", 1000),
                                           std::pair("64Ki", 64 << 10), std::pair("3Mi", 3 << 20),
                                           std::pair("1Gi", 1 << 30),
                                           std::pair("2^40", std::uint64_t{1} << 40)));

TEST_F(OptionsTest, SizesDependOnThePresetAndTheDevice) {
  run({});
  EXPECT_EQ(size_in_sweep_, 4096U);
  run({"--quick"});
  EXPECT_EQ(size_in_sweep_, 512U);
  run({"--tiny"});
  EXPECT_EQ(size_in_sweep_, 16U) << "that of the host backend, where no other is said";
  run({"--once"});
  EXPECT_EQ(size_in_sweep_, 512U);
  run({"--full"});
  EXPECT_EQ(size_in_sweep_, 4096U);
  fake::script().is_hardware = false;
  run({});
  EXPECT_EQ(size_in_sweep_, 16U);
}

TEST_F(OptionsTest, ADefaultMayDependOnTheMemory) {
  Experiment experiment("probe", {.question = "", .sources = {}});
  const Size size = experiment.size("--bytes", "bytes",
                                    {.gpu = std::uint64_t{4} << 30,
                                     .quick = std::uint64_t{1} << 30,
                                     .host = 16,
                                     .minimum = std::uint64_t{1} << 20,
                                     .maximum = std::uint64_t{1} << 40,
                                     .share_of_memory = 0.25});
  add_sweep(experiment, "first");
  const auto size_with = [&](std::uint64_t memory_bytes,
                             const std::vector<std::string>& arguments) {
    fake::script().description.memory_bytes = memory_bytes;
    EXPECT_EQ(hipscope::run(experiment, arguments).status, 0);
    return static_cast<std::uint64_t>(size);
  };
  constexpr std::uint64_t gibibyte = std::uint64_t{1} << 30;
  EXPECT_EQ(size_with(64 * gibibyte, {}), 4 * gibibyte);
  EXPECT_EQ(size_with(15 * gibibyte, {}), 2 * gibibyte) << "3.75 GiB, rounded down";
  EXPECT_EQ(size_with(15 * gibibyte, {"--quick"}), gibibyte);
  EXPECT_EQ(size_with(0, {}), std::uint64_t{1} << 20) << "never under the minimum";
  EXPECT_EQ(size_with(15 * gibibyte, {"--bytes", "4Gi"}), 4 * gibibyte) << "as given";
}

TEST_F(OptionsTest, SeedIsOneUnlessGiven) {
  run({});
  EXPECT_EQ(seed_in_sweep_, 1U);
  run({"--seed", "18446744073709551615"});
  EXPECT_EQ(seed_in_sweep_, 18446744073709551615U);
}

// The words with a space after each.
std::string in_one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) {
    line += word + " ";
  }
  return line;
}

TEST_F(OptionsTest, HelpNamesEveryOption) {
  const Outcome outcome = run({"--help"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.errors, "");
  // How long a line may be is the affair of CLI11, but for those at the end.
  const std::string text = in_one_line(outcome.output);
  EXPECT_NE(outcome.output.find("output error,\n77 no device"), std::string::npos);
  for (const char* part :
       {"What is it?", "a source", "--device", "--devices", "--json", "--csv", "--quick", "--full",
        "--tiny", "--min-time", "--noise", "--clock-mhz", "--seed", "--list", "--filter",
        "--version", "--blocks",
        "number of blocks (2 to 1099511627776; default 4096; --quick 512; on the host backend 16; "
        "--tiny 16)",
        "exit status"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

TEST_F(OptionsTest, HelpWinsOverAMistake) {
  const Outcome outcome = run({"--help", "--filter", ""});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.errors, "");
}

TEST_F(OptionsTest, ListShowsTheSweepsAndNeedsNoDevice) {
  fake::script().count = 0;
  const Outcome outcome = run({"--list"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output,
            "first   the sweep first\n"
            "second  the sweep second\n");
  EXPECT_EQ(run({"--list", "--filter", "^s"}).output, "second  the sweep second\n");
}

TEST_F(OptionsTest, DevicesShowsOneLinePerDevice) {
  fake::script().count = 2;
  const Outcome outcome = run({"--devices"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.output,
            "0\tfake-gpu-tm-9\tFake GPU (TM) 9 (gfx90a), 60 CUs, 16 GiB\n"
            "1\tfake-gpu-tm-9\tFake GPU (TM) 9 (gfx90a), 60 CUs, 16 GiB\n");
  // Opening one runs a kernel on it, and there may be none for it in the build.
  EXPECT_EQ(fake::script().opened, 0U);
}

TEST(StoppingRuleOf, PresetsTradeTimeForNoise) {
  const auto rule = [](detail::Preset preset) {
    detail::Options options;
    options.preset = preset;
    options.noise = 0.01;
    return detail::stopping_rule(options, true);
  };
  const StoppingRule quick = rule(detail::Preset::quick);
  const StoppingRule standard = rule(detail::Preset::standard);
  const StoppingRule full = rule(detail::Preset::full);
  EXPECT_EQ(standard.noise, 0.01);
  EXPECT_LT(quick.maximum_seconds, standard.maximum_seconds);
  EXPECT_LT(standard.maximum_seconds, full.maximum_seconds);
  EXPECT_LT(quick.minimum_samples, standard.minimum_samples);
  EXPECT_LT(standard.minimum_samples, full.minimum_samples);
}

TEST_F(OptionsTest, TinyHasItsOwnSizesAndLeavesSweepsOut) {
  const Size size =
      experiment_.size("--few", "of something",
                       {.gpu = 4096, .quick = 512, .host = 16, .tiny = 3, .maximum = 1U << 20});
  std::uint64_t seen = 0;
  bool ran = false;
  experiment_.sweep("sizes", "its sizes", [&](Sweep& sweep) {
    seen = size;
    sweep.point("1", 1).verify("nothing to do", 0, 1);
  });
  experiment_.sweep(
      "again", "the same kernels",
      [&](Sweep& sweep) {
        ran = true;
        sweep.point("1", 1).verify("nothing to do", 0, 1);
      },
      InTiny::left_out);
  run({"--tiny"});
  EXPECT_EQ(seen, 3U);
  EXPECT_FALSE(ran);
  run({"--tiny", "--filter", "again"});
  EXPECT_TRUE(ran) << "what is asked for by name is measured";
}

TEST(StoppingRuleOf, OnceIsOneSampleOnAnyDevice) {
  detail::Options options;
  options.preset = detail::Preset::once;
  for (const bool is_hardware : {true, false}) {
    Stopper stopper(detail::stopping_rule(options, is_hardware));
    stopper.add(1e-9, 1e-9);
    EXPECT_TRUE(stopper.done());
  }
}

detail::Options with_minimum_seconds(double seconds) {
  detail::Options options;
  options.minimum_seconds = seconds;
  return options;
}

TEST(StoppingRuleOf, MinTimeMovesBothLimits) {
  const StoppingRule rule = detail::stopping_rule(with_minimum_seconds(5), true);
  EXPECT_EQ(rule.minimum_seconds, 5);
  EXPECT_EQ(rule.maximum_seconds, 10);
  // Half of the preset's longest time or less leaves that as it is.
  const double longest = detail::stopping_rule({}, true).maximum_seconds;
  EXPECT_EQ(detail::stopping_rule(with_minimum_seconds(longest / 4), true).maximum_seconds,
            longest);
}

TEST(StoppingRuleOf, QuickTakesAsManySamplesAsAGivenMinTimeNeeds) {
  detail::Options options = with_minimum_seconds(0.01);
  options.preset = detail::Preset::quick;
  Stopper stopper(detail::stopping_rule(options, true));
  for (int i = 0; i < 9; ++i) {
    stopper.add(0x1p-10, 0x1p-10);
    EXPECT_FALSE(stopper.done()) << i;
  }
}

TEST(StoppingRuleOf, TheHostBackendTakesTwoSamples) {
  const StoppingRule rule = detail::stopping_rule({}, false);
  EXPECT_EQ(rule.maximum_seconds, 0);
  EXPECT_EQ(rule.minimum_samples, 2U);
  EXPECT_EQ(detail::stopping_rule(with_minimum_seconds(5), false).minimum_seconds, 5);
}

}  // namespace
}  // namespace hipscope
