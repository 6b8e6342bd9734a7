// The tables and the text around them.
#include <gtest/gtest.h>

#include <memory>

#include "report_text.h"
#include "test_support.h"

namespace hipscope {
namespace {

std::unique_ptr<detail::Row> row(const std::string& label) {
  auto made = std::make_unique<detail::Row>();
  made->label = label;
  return made;
}

Measurement measurement(const std::string& name, const std::vector<double>& seconds) {
  Measurement made;
  made.name = name;
  for (const double each : seconds) {
    made.samples.push_back({.seconds = each});
  }
  return made;
}

detail::SweepRecord sweep(const std::string& axis, const std::string& unit) {
  detail::SweepRecord made;
  made.name = "grid";
  made.title = "time against blocks";
  made.axis = {.name = axis, .unit = unit};
  return made;
}

TEST(Table, AlignsColumnsWithTheirUnits) {
  detail::SweepRecord record = sweep("block", "threads");
  record.notes = {"what the reader must know"};
  record.rows.push_back(row("64x1x1"));
  record.rows[0]->measurements.push_back(measurement("time", {2e-3, 2e-3, 2e-3}));
  record.rows[0]->values.push_back({.name = "rate", .value = 0.25047, .unit = "blocks/cycle"});
  record.rows[0]->values.push_back({.name = "count", .value = 3, .unit = ""});
  record.rows.push_back(row("1024x1x1"));
  record.rows[1]->measurements.push_back(measurement("time", {50e-3, 40e-3, 60e-3}));
  record.rows[1]->values.push_back({.name = "count", .value = 12345, .unit = ""});
  EXPECT_EQ(
      detail::table(record, false),
      "\n"
      "grid: time against blocks\n"
      "  what the reader must know\n"
      "  block [threads]  time [ms]  time min  time spread [%]  rate [blocks/cycle]  count\n"
      "  64x1x1                   2         2             0.00               0.2505      3\n"
      "  1024x1x1                50        40            20.00                    -  12345\n");
}

TEST(Table, MeasurementsShareTheUnitOfTheShortest) {
  detail::SweepRecord record = sweep("blocks", "");
  record.rows.push_back(row("1"));
  record.rows[0]->measurements.push_back(measurement("time", {5e-3}));
  record.rows.push_back(row("2"));
  record.rows[1]->measurements.push_back(measurement("time", {12.5e-6}));
  record.rows.push_back(row("3"));
  record.rows[2]->measurements.push_back(measurement("time", {7e-3}));
  const std::string text = detail::table(record, false);
  EXPECT_NE(text.find("  blocks  time [us]  time min  time spread [%]\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("  1            5000      5000             0.00\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("  2           12.50     12.50             0.00\n"), std::string::npos)
      << text;
}

TEST(Table, ShowsWhatIsMissingAsADash) {
  detail::SweepRecord record = sweep("blocks", "");
  record.rows.push_back(row("1"));
  record.rows[0]->values.push_back({.name = "cycles", .value = nan, .unit = ""});
  record.rows.push_back(row("2"));
  record.rows[1]->measurements.push_back(measurement("time", {1}));
  EXPECT_EQ(detail::table(record, false),
            "\n"
            "grid: time against blocks\n"
            "  blocks  time [s]  time min  time spread [%]  cycles\n"
            "  1              -         -                -       -\n"
            "  2              1         1             0.00       -\n");
}

TEST(Table, MarksWrongResults) {
  detail::SweepRecord record = sweep("blocks", "");
  for (const char* label : {"good", "bad", "one of two bad", "of nothing", "none"}) {
    record.rows.push_back(row(label));
  }
  record.rows[0]->checks = {{.what = "sum", .checked = 10, .wrong = 0}};
  record.rows[1]->checks = {{.what = "sum", .checked = 10, .wrong = 1}};
  record.rows[2]->checks = {{.what = "sum", .checked = 10, .wrong = 0},
                            {.what = "order", .checked = 10, .wrong = 10}};
  record.rows[3]->checks = {{.what = "sum", .checked = 0, .wrong = 0}};
  EXPECT_EQ(detail::table(record, false),
            "\n"
            "grid: time against blocks\n"
            "  blocks          check\n"
            "  good               ok\n"
            "  bad             WRONG\n"
            "  one of two bad  WRONG\n"
            "  of nothing      WRONG\n"
            "  none                -\n");
}

TEST(Table, ShowsPublishedValuesBesideTheMeasured) {
  detail::SweepRecord record = sweep("blocks", "");
  record.rows.push_back(row("1"));
  record.rows.push_back(row("2"));
  detail::PublishedFigure& figure = record.rows[1]->published.emplace_back();
  figure.gpu = "MI25";
  figure.unit = "ms";
  figure.value = 10.63;
  EXPECT_EQ(detail::table(record, false),
            "\n"
            "grid: time against blocks\n"
            "  blocks  MI25 published [ms]\n"
            "  1                         -\n"
            "  2                     10.63\n");
}

TEST(Table, CsvQuotesWhatItMust) {
  detail::SweepRecord record = sweep("shape, blocks", "");
  record.rows.push_back(row("plain"));
  record.rows.push_back(row("a \"\"twice\"\" b"));
  record.rows.push_back(row("two\nlines"));
  for (const auto& each : record.rows) {
    each->values.push_back({.name = "rate", .value = 1.5, .unit = "GB/s"});
  }
  EXPECT_EQ(detail::table(record, true),
            "# grid: time against blocks\r\n"
            "\"shape, blocks\",rate [GB/s]\r\n"
            "plain,1.500\r\n"
            "\"a \"\"\"\"twice\"\"\"\" b\",1.500\r\n"
            "\"two\nlines\",1.500\r\n");
}

}  // namespace
}  // namespace hipscope
