// What batchnorm concludes from made curves.
#include "findings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "made_results.h"

namespace hipscope {
namespace {

const batchnorm::Library library = {.name = "cuDNN", .looked_for = "cuDNN, MIOpen"};

// A ladder: a copy of 500, the source's stages, which are faster than all, ours with 250, 300, 310
// and 400 to 450, and the library with 225.
std::vector<CurvePoint> ladder() {
  std::vector<CurvePoint> rates = {{.x = batchnorm::copy_x, .y = 500}};
  for (int i = 0; i < 4; ++i) {
    rates.push_back({.x = batchnorm::source_x + i, .y = 900});
  }
  double x = batchnorm::own_x;
  for (const double rate : {250.0, 300.0, 310.0, 400.0, 450.0}) {
    rates.push_back({.x = x++, .y = rate});
  }
  rates.push_back({.x = batchnorm::vendor_x, .y = 200});
  rates.push_back({.x = batchnorm::vendor_x + 1, .y = 225});
  return rates;
}

MadeResults concluded(const std::string& sweep, const std::vector<CurvePoint>& rates,
                      const batchnorm::Library& of = library) {
  MadeResults made("batchnorm");
  made.curve(sweep, "rate", rates);
  batchnorm::conclude(made.results(), of);
  return made;
}

TEST(BatchnormTest, OursIsHeldAgainstTheCopyAndTheLibrary) {
  const MadeResults made = concluded("stages", ladder());
  EXPECT_EQ(made.inference("batchnorm per activation over copy bandwidth").value, 90);
  EXPECT_EQ(made.inference("batchnorm per activation over copy bandwidth").confidence, 1);
  EXPECT_EQ(made.inference("batchnorm per activation over the vendor's library").value, 2);
  EXPECT_EQ(made.inference("batchnorm per activation over the vendor's library").statement,
            "our fastest stage over the fastest of cuDNN");
}

TEST(BatchnormTest, OnePassIsHeldAgainstOurOwnThree) {
  const Inference gain = concluded("stages", ladder()).inference("what one pass gains on three");
  EXPECT_EQ(gain.value, 1.8);
  EXPECT_EQ(gain.evidence.at(0), "two passes: 1.2 times three passes, where the bytes say 4/3");
  EXPECT_EQ(gain.evidence.at(1), "one pass: 1.5 times two passes, where the bytes say 3/2");
}

TEST(BatchnormTest, NoisyRowsAreLessSure) {
  std::vector<CurvePoint> rates = ladder();
  rates.front().relative_spread = 0.1;
  EXPECT_NEAR(concluded("stages", rates)
                  .inference("batchnorm per activation over copy bandwidth")
                  .confidence,
              0.8, 1e-9);
}

TEST(BatchnormTest, WithoutALibraryItSaysWhatWasLookedFor) {
  std::vector<CurvePoint> rates = ladder();
  rates.resize(rates.size() - 2);
  const MadeResults made = concluded("spatial", rates, {.name = "", .looked_for = "MIOpen"});
  const Inference share = made.inference("batchnorm spatial over the vendor's library");
  EXPECT_FALSE(share.value.has_value());
  EXPECT_EQ(share.statement, "no vendor's library was measured; looked for MIOpen");
  EXPECT_EQ(made.inference("batchnorm spatial over copy bandwidth").value, 90);
  EXPECT_TRUE(made.inference("what one pass gains on three").name.empty());
}

TEST(BatchnormTest, ACopyAloneIsNoShare) {
  const MadeResults made = concluded("stages", {{.x = batchnorm::copy_x, .y = 500}});
  EXPECT_FALSE(made.inference("batchnorm per activation over copy bandwidth").value.has_value());
  EXPECT_TRUE(made.inference("what one pass gains on three").name.empty());
}

TEST(BatchnormTest, NothingIsConcludedFromNothing) {
  MadeResults made("batchnorm");
  batchnorm::conclude(made.results(), library);
  EXPECT_TRUE(made.inferences().empty());
}

}  // namespace
}  // namespace hipscope
