// What a GPU would not tell: mistakes of a kernel that the emulator has seen.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace emulator {

/// Kinds of mistakes, as reports name them.
namespace mistake {
/// A register is used before s_waitcnt has waited for what loads it.
inline constexpr const char* missing_wait = "missing wait";
/// Two waves use one place of LDS, one stores, and no barrier is between.
inline constexpr const char* lds_race = "LDS race";
/// A wave reaches s_barrier with LDS accesses in flight.
inline constexpr const char* lds_before_barrier = "LDS before barrier";
/// Two lanes of one instruction store different values to one place.
inline constexpr const char* lanes_collide = "lanes collide";
/// Memory that no allocation holds.
inline constexpr const char* out_of_bounds = "out of bounds";
/// LDS past what the block has.
inline constexpr const char* lds_out_of_bounds = "LDS out of bounds";
/// LDS at an address that is no multiple of the access.
inline constexpr const char* lds_misaligned = "LDS misaligned";
/// Scratch past what the wave has.
inline constexpr const char* scratch_out_of_bounds = "scratch out of bounds";
/// Too few instructions between two that need some.
inline constexpr const char* hazard = "hazard";
}  // namespace mistake

struct Report {
  std::string mistake;
  std::string kernel;       // the symbol
  std::string instruction;  // as disassembled
  std::string first;        // a sentence on where it was seen first
  std::uint64_t times = 0;
};

/// One report for each kind of mistake, kernel and instruction, however often it is made.
class Reports {
 public:
  /// `sentence` makes the text for the first time that this is seen.
  template <typename Sentence>
  void add(const std::string& mistake, const std::string& kernel, const std::string& instruction,
           Sentence sentence) {
    Report& report = reports_[{mistake, kernel, instruction}];
    if (report.times == 0) {
      report = {mistake, kernel, instruction, sentence(), 0};
    }
    ++report.times;
  }

  std::vector<Report> all() const {
    std::vector<Report> all;
    for (const auto& [key, report] : reports_) {
      all.push_back(report);
    }
    return all;
  }

 private:
  std::map<std::array<std::string, 3>, Report> reports_;
};

/// The emulator cannot go on: an unknown instruction, or a kernel that never ends.
class Stopped : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace emulator
