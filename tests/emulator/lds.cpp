#include "lds.h"

#include <cstring>

#include "wave.h"

namespace emulator {
namespace {

constexpr std::uint8_t unset_lds = 0xFB;

}  // namespace

Lds::Lds(unsigned size) : bytes_((size + 3) / 4 * 4, unset_lds), users_((size + 3) / 4) {}

bool Lds::is_inside(Wave& wave, const Instruction& instruction, Dword address, unsigned size) {
  if (Qword{address} + size > bytes_.size()) {
    wave.report(mistake::lds_out_of_bounds, instruction, [&] {
      return std::to_string(size) + " bytes at " + std::to_string(address) + " of " +
             std::to_string(bytes_.size());
    });
    return false;
  }
  // Three dwords need the alignment of one.
  if (address % (size == 12 ? 4 : size) != 0) {
    wave.report(mistake::lds_misaligned, instruction,
                [&] { return std::to_string(size) + " bytes at " + std::to_string(address); });
  }
  return true;
}

// What is smaller than a dword is not held against its neighbours.
void Lds::note_load(Wave& wave, const Instruction& instruction, Dword address, unsigned size) {
  for (Dword dword = address / 4; dword <= (address + size - 1) / 4; ++dword) {
    Users& users = users_[dword];
    if (users.written_in == epoch_ && users.writer != wave.index && size >= 4) {
      wave.report(mistake::lds_race, instruction, [&] {
        return "load of LDS " + std::to_string(dword * 4) + ", which wave " +
               std::to_string(users.writer) + " has written since the last barrier";
      });
    }
    if (users.read_in != epoch_) {
      users.read_in = epoch_;
      users.readers = 0;
    }
    users.readers |= 1U << wave.index;
  }
}

void Lds::note_store(Wave& wave, const Instruction& instruction, Dword address, const void* from,
                     unsigned size) {
  for (Dword dword = address / 4; dword <= (address + size - 1) / 4; ++dword) {
    Users& users = users_[dword];
    // What stores the value that is there changes nothing for anybody.
    const bool changes =
        size >= 4 &&
        std::memcmp(&bytes_[std::size_t{dword} * 4],
                    static_cast<const std::uint8_t*>(from) + (dword * 4 - address), 4) != 0;
    if (changes && users.written_in == epoch_ && users.writer != wave.index) {
      wave.report(mistake::lds_race, instruction, [&] {
        return "store to LDS " + std::to_string(dword * 4) + ", which wave " +
               std::to_string(users.writer) + " has written since the last barrier";
      });
    }
    if (changes && users.read_in == epoch_ && (users.readers & ~(1U << wave.index)) != 0) {
      wave.report(mistake::lds_race, instruction, [&] {
        return "store to LDS " + std::to_string(dword * 4) +
               ", which other waves have read since the last barrier";
      });
    }
    users.written_in = epoch_;
    users.writer = static_cast<std::uint8_t>(wave.index);
  }
}

bool Lds::load(Wave& wave, const Instruction& instruction, Dword address, void* to, unsigned size) {
  if (!is_inside(wave, instruction, address, size)) {
    std::memset(to, 0, size);
    return false;
  }
  note_load(wave, instruction, address, size);
  std::memcpy(to, &bytes_[address], size);
  return true;
}

bool Lds::store(Wave& wave, const Instruction& instruction, Dword address, const void* from,
                unsigned size) {
  if (!is_inside(wave, instruction, address, size)) {
    return false;
  }
  note_store(wave, instruction, address, from, size);
  std::memcpy(&bytes_[address], from, size);
  return true;
}

void* Lds::atomic(Wave& wave, const Instruction& instruction, Dword address, unsigned size) {
  return is_inside(wave, instruction, address, size) ? &bytes_[address] : nullptr;
}

}  // namespace emulator
