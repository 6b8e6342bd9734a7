// Whether two lanes of one store leave different values in one place.
#pragma once

#include <array>
#include <optional>

#include "types.h"

namespace emulator {

class Collisions {
 public:
  /// A dword is stored. The address, if another lane has stored another value there.
  std::optional<Qword> add(Qword address, Dword value) {
    for (unsigned slot = slot_of(address);; slot = (slot + 1) % slots) {
      Entry& entry = entries_[slot];
      if (!entry.is_used) {
        entry = {address, value, true};
        return std::nullopt;
      }
      if (entry.address == address) {
        return entry.value == value ? std::nullopt : std::optional(address);
      }
    }
  }

 private:
  // Twice as many as 64 lanes store dwords at once.
  static constexpr unsigned slots = 512;

  struct Entry {
    Qword address = 0;
    Dword value = 0;
    bool is_used = false;
  };

  static unsigned slot_of(Qword address) { return static_cast<unsigned>(address / 4) % slots; }

  std::array<Entry, slots> entries_ = {};
};

}  // namespace emulator
