// What lds_phases concludes from its curves, and the tile that it lays out. Plain C++, no GPU
// headers.
#pragma once

#include <array>
#include <vector>

#include "hipscope/experiment.h"

namespace lds_phases {

/// A sweep over the lanes, and what it is called in a sentence.
struct AccessName {
  const char* sweep;
  const char* title;
};
inline constexpr std::array<AccessName, 9> access_names = {{
    {"loads-4", "loads of 4 bytes"},
    {"loads-8", "loads of 8 bytes"},
    {"loads-16", "loads of 16 bytes"},
    {"stores-4", "stores of 4 bytes"},
    {"stores-8", "stores of 8 bytes"},
    {"stores-16", "stores of 16 bytes"},
    {"ldmatrix", "loads of four matrices"},
    {"ldmatrix-trans", "loads of four transposed matrices"},
    {"loads-8-trans", "transposing loads of 8 bytes"},
}};

/// What a row has of one lane.
struct LaneValue {
  const char* name;
  double value;
  const char* unit;
};

/// By `cycles` of an access in which lane `lane` and another one want different dwords of a bank
/// that no other lane asks for; with itself as the other, nothing conflicts. The lanes that
/// conflict with it are its phase, itself among them: "phase", the lowest of them, and "lanes", how
/// many they are, NaN where the cycles fall into no two levels; "apart" and "conflict", the cycles
/// of both levels; "separation", the gap between these, in % of their medians' distance.
std::array<LaneValue, 5> phase_of(unsigned lane, const std::vector<double>& cycles);

/// Layouts of a tile of 16 rows of 128 bytes: rows that are 0, 16 ... 112 bytes longer, and at last
/// pieces of 16 bytes swapped in each row, by an XOR with its number.
inline constexpr unsigned tile_layouts = 9;
inline constexpr unsigned piece_bytes = 16;

/// Where a wave's lanes load a matrix instruction's operand from: lane l takes piece l / 16 of row
/// l % 16. In bytes.
std::vector<unsigned> operand_offsets(unsigned lanes, unsigned layout);

/// For each of access_names its number of phases (values "phase" and "lanes" over the lane).
void conclude(hipscope::Results& results);

}  // namespace lds_phases
