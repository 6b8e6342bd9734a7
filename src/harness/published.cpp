#include "published.h"

#include <charconv>
#include <limits>  // the CSV reader forgets to include it
#include <sstream>
#include <stdexcept>

// The reader's default needs a thread for read-ahead, which a file of this size does not.
#define CSV_IO_NO_THREAD
#include <libfccp/csv.h>

namespace hipscope::detail {

// Defined in the file that CMake makes from results/published/published.csv.
extern const char* const published_csv;

std::vector<PublishedFigure> parse_published(const std::string& csv) {
  std::istringstream text(csv);
  io::CSVReader<9, io::trim_chars<' '>, io::double_quote_escape<',', '"'>> reader("published.csv",
                                                                                  text);
  reader.read_header(io::ignore_extra_column, "experiment", "series", "gpu", "x", "metric", "value",
                     "unit", "source", "note");
  std::vector<PublishedFigure> figures;
  PublishedFigure figure;
  std::string value;  // the reader's own conversion to double does not round correctly
  while (reader.read_row(figure.experiment, figure.series, figure.gpu, figure.x, figure.metric,
                         value, figure.unit, figure.source, figure.note)) {
    const char* const end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, figure.value);
    if (error != std::errc() || stop != end) {
      throw std::runtime_error("published.csv, line " + std::to_string(reader.get_file_line()) +
                               ": '" + value + "' is not a number");
    }
    figures.push_back(figure);
  }
  return figures;
}

const std::vector<PublishedFigure>& published_figures() {
  static const std::vector<PublishedFigure> figures = parse_published(published_csv);
  return figures;
}

}  // namespace hipscope::detail
