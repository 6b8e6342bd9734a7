// The LDS of a block, and who has used which dword of it since the last barrier.
#pragma once

#include <cstdint>
#include <vector>

#include "types.h"

namespace emulator {

struct Wave;
struct Instruction;

class Lds {
 public:
  explicit Lds(unsigned size);

  unsigned size() const { return static_cast<unsigned>(bytes_.size()); }
  /// All waves have met at a barrier.
  void pass_barrier() { ++epoch_; }

  /// These report what is wrong. False where the access is outside, with nothing done.
  bool load(Wave& wave, const Instruction& instruction, Dword address, void* to, unsigned size);
  bool store(Wave& wave, const Instruction& instruction, Dword address, const void* from,
             unsigned size);
  /// The place, for an atomic, which races with no other; null outside.
  void* atomic(Wave& wave, const Instruction& instruction, Dword address, unsigned size);

 private:
  // Of one dword: in which epoch it was last written and read, and by whom.
  struct Users {
    std::uint32_t written_in = 0;
    std::uint32_t read_in = 0;
    std::uint32_t readers = 0;  // a bit for each wave
    std::uint8_t writer = 0;
  };

  bool is_inside(Wave& wave, const Instruction& instruction, Dword address, unsigned size);
  void note_load(Wave& wave, const Instruction& instruction, Dword address, unsigned size);
  void note_store(Wave& wave, const Instruction& instruction, Dword address, const void* from,
                  unsigned size);

  std::vector<std::uint8_t> bytes_;
  std::vector<Users> users_;
  std::uint32_t epoch_ = 1;
};

}  // namespace emulator
