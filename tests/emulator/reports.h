// What a GPU would not tell: mistakes of a kernel that the emulator has seen.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace emulator {

enum class Mistake {
  missing_wait,           // a register is used before s_waitcnt has waited for what loads it
  lds_race,               // two waves use one place of LDS, one stores, and no barrier is between
  lds_before_barrier,     // a wave reaches s_barrier with LDS accesses in flight
  lanes_collide,          // two lanes of one instruction store different values to one place
  out_of_bounds,          // memory that no allocation holds
  lds_out_of_bounds,      // LDS past what the block has
  lds_misaligned,         // LDS at an address that is no multiple of the access
  scratch_out_of_bounds,  // scratch past what the wave has
  hazard,                 // too few instructions between two that need some
};

/// The mistake in a few words.
const char* name_of(Mistake mistake);

struct Report {
  Mistake mistake;
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
  void add(Mistake mistake, const std::string& kernel, const std::string& instruction,
           Sentence sentence) {
    Report& report = reports_[{mistake, kernel, instruction}];
    if (report.times == 0) {
      report = {mistake, kernel, instruction, sentence(), 0};
    }
    ++report.times;
  }

  std::vector<Report> all() const;
  std::size_t count(Mistake mistake) const;

 private:
  std::map<std::tuple<Mistake, std::string, std::string>, Report> reports_;
};

/// The emulator cannot go on: an unknown instruction, or a kernel that never ends.
class Stopped : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace emulator
