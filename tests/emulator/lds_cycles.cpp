#include "lds_cycles.h"

#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

namespace emulator {
namespace {

constexpr unsigned banks = 32;
constexpr unsigned bank_bytes = 4;

// What a lane's access takes of a cycle's 128 bytes: 12 bytes as much as 16, less than a dword a
// dword (AMD, rocRoller, LDSBankModel.cpp, getThreadsPerClock).
unsigned bytes_served(unsigned bytes) {
  if (bytes <= 4) {
    return 4;
  }
  return bytes <= 8 ? 8 : 16;
}

// Which lanes LDS serves together: the number of the group that a lane is in.
//
// Loads as measured on an MI300X (github.com/nod-ai/amd-shark-ai, docs/empirical-lds/cdna3info.md;
// of 16 bytes the same in github.com/triton-lang/triton/pull/11365). Stores take neighbours: of 16
// bytes 8 lanes (AMD, Composable Kernel, "Understanding AMD GPU LDS and Bank Conflicts"), of 4
// bytes 32 (github.com/ROCm/hipBLASLt/pull/1180), of 8 bytes 16, which is measured on an MI350
// alone (github.com/HazyResearch/HipKittens, analysis/paper_experiments/phases/ds_write_b64), whose
// stores have no more banks than MI300's (rocRoller, getNumLDSBanks). For gfx906, gfx908 and gfx90a
// nothing is published, and they are taken to be like MI300.
unsigned lds_group(unsigned lane, Access use, unsigned bytes) {
  const unsigned served = bytes_served(bytes);
  if (served == 16 && use == Access::load) {
    // Lanes 0-3 with 20-23, 4-7 with 16-19, 8-11 with 28-31, 12-15 with 24-27.
    return lane / 32 * 4 + (lane / 4 % 4 ^ lane / 16 % 2);
  }
  return lane * served / (banks * bank_bytes);
}

}  // namespace

unsigned lds_groups(unsigned bytes) {
  return wave_size * bytes_served(bytes) / (banks * bank_bytes);
}

unsigned lds_cycles(Access use, unsigned bytes, const std::array<Qword, wave_size>& addresses,
                    Qword lanes) {
  // By groups, and each dword once.
  std::vector<std::pair<unsigned, Qword>> wanted;
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    if (has_lane(lanes, lane)) {
      for (Qword dword = addresses[lane] / bank_bytes;
           dword <= (addresses[lane] + bytes - 1) / bank_bytes; ++dword) {
        wanted.emplace_back(lds_group(lane, use, bytes), dword);
      }
    }
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  unsigned cycles = lds_groups(bytes);
  for (auto begin = wanted.begin(); begin != wanted.end();) {
    std::array<unsigned, banks> of_bank = {};
    unsigned most = 1;
    const unsigned group = begin->first;
    for (; begin != wanted.end() && begin->first == group; ++begin) {
      most = std::max(most, ++of_bank[begin->second % banks]);
    }
    cycles += most - 1;
  }
  return cycles;
}

std::string line_of(const std::string& kernel, const std::map<std::string, LdsWork>& kinds) {
  std::ostringstream each;
  LdsWork sum;
  const auto tell = [](std::ostream& text, const LdsWork& work) {
    text << work.instructions << " instructions, " << work.cycles << " cycles, " << work.free_cycles
         << " without conflicts";
  };
  for (const auto& [mnemonic, work] : kinds) {
    sum.instructions += work.instructions;
    sum.cycles += work.cycles;
    sum.free_cycles += work.free_cycles;
    each << (each.tellp() == 0 ? "" : "; ") << mnemonic << ": ";
    tell(each, work);
  }
  std::ostringstream line;
  line << "LDS of " << kernel << ": ";
  tell(line, sum);
  line << " (" << each.str() << ')';
  return line.str();
}

}  // namespace emulator
