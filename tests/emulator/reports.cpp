#include "reports.h"

namespace emulator {

const char* name_of(Mistake mistake) {
  switch (mistake) {
    case Mistake::missing_wait:
      return "missing wait";
    case Mistake::lds_race:
      return "LDS race";
    case Mistake::lds_before_barrier:
      return "LDS before barrier";
    case Mistake::lanes_collide:
      return "lanes collide";
    case Mistake::out_of_bounds:
      return "out of bounds";
    case Mistake::lds_out_of_bounds:
      return "LDS out of bounds";
    case Mistake::lds_misaligned:
      return "LDS misaligned";
    case Mistake::scratch_out_of_bounds:
      return "scratch out of bounds";
    case Mistake::hazard:
      return "hazard";
  }
  return "";
}

std::vector<Report> Reports::all() const {
  std::vector<Report> all;
  for (const auto& [key, report] : reports_) {
    all.push_back(report);
  }
  return all;
}

std::size_t Reports::count(Mistake mistake) const {
  std::size_t kinds = 0;
  for (const auto& [key, report] : reports_) {
    kinds += report.mistake == mistake ? 1 : 0;
  }
  return kinds;
}

}  // namespace emulator
