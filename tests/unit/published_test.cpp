#include "published.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "test_support.h"

namespace hipscope {
namespace {

using detail::parse_published;

const std::string header =
    "experiment,series,gpu,arch,clock_mhz,x,x_unit,metric,value,unit,source,note\n";

// The message with which parsing `csv` fails.
std::string failure_of(const std::string& csv) {
  try {
    parse_published(csv);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no failure";
}

TEST(Published, EveryLineOfTheFileIsAFigure) {
  const std::string text = read_file(HIPSCOPE_PUBLISHED_CSV);
  const auto lines = std::count(text.begin(), text.end(), '\n');
  ASSERT_GT(lines, 100);
  EXPECT_EQ(parse_published(text).size(), static_cast<std::size_t>(lines - 1));
}

TEST(Published, TheFileIsBuiltIn) {
  const auto from_file = parse_published(read_file(HIPSCOPE_PUBLISHED_CSV));
  const auto& built_in = detail::published_figures();
  ASSERT_EQ(built_in.size(), from_file.size());
  for (std::size_t i = 0; i < built_in.size(); ++i) {
    EXPECT_EQ(built_in[i].experiment, from_file[i].experiment);
    EXPECT_EQ(built_in[i].value, from_file[i].value);
    EXPECT_EQ(built_in[i].note, from_file[i].note);
  }
}

TEST(Published, ReadsTheColumnsByName) {
  const auto figures =
      parse_published(header + "thread_rate,1d,MI25,gfx900,1536,64x1x1,block,time,43.629,ms,V,n\n");
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_EQ(figures[0].experiment, "thread_rate");
  EXPECT_EQ(figures[0].series, "1d");
  EXPECT_EQ(figures[0].gpu, "MI25");
  EXPECT_EQ(figures[0].x, "64x1x1");
  EXPECT_EQ(figures[0].metric, "time");
  EXPECT_EQ(figures[0].value, 43.629);
  EXPECT_EQ(figures[0].unit, "ms");
  EXPECT_EQ(figures[0].source, "V");
  EXPECT_EQ(figures[0].note, "n");
}

TEST(Published, NamesTheLineOfAWrongNumber) {
  const std::string good = "e,s,g,a,1,x,u,m,2.5,u,s,n\n";
  for (const char* bad : {"2.5x", "fast", "", "1,5"}) {
    const std::string line = std::string("e,s,g,a,1,x,u,m,\"") + bad + "\",u,s,n\n";
    const std::string message = failure_of(header + good + good + line + good);
    EXPECT_NE(message.find("line 4"), std::string::npos) << message;
    EXPECT_NE(message.find(std::string("'") + bad + "'"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace hipscope
