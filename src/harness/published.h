// The sources' published figures, built into every binary from results/published/published.csv.
#pragma once

#include <string>
#include <vector>

namespace hipscope::detail {

/// One published figure.
struct PublishedFigure {
  std::string experiment{};
  std::string series{};
  std::string gpu{};
  std::string x{};  ///< "256x1x1"
  std::string metric{};
  double value = 0;
  std::string unit{};
  std::string source{};
  std::string note{};
};

/// The figures in CSV text with the header of published.csv.
/// Throws std::runtime_error when a column or a number is wrong.
std::vector<PublishedFigure> parse_published(const std::string& csv);

/// All figures of results/published/published.csv, as it was when this binary was built.
const std::vector<PublishedFigure>& published_figures();

}  // namespace hipscope::detail
