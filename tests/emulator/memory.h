// Global memory: which of it may be accessed, and what a wave sees of it where others store.
#pragma once

#include <array>
#include <map>
#include <unordered_map>
#include <vector>

#include "options.h"
#include "types.h"

namespace emulator {

struct Wave;

/// Xorshift: the same in every run from the same seed.
class Random {
 public:
  explicit Random(Qword seed) : state_(88172645463325252ULL ^ seed * 0x9E3779B97F4A7C15ULL) {}
  Qword next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  Qword below(Qword limit) { return next() % limit; }

 private:
  Qword state_;
};

/// Addresses at which LDS and scratch begin for flat accesses.
inline constexpr Qword shared_aperture = 0x0001'0000'0000'0000;
inline constexpr Qword private_aperture = 0x0002'0000'0000'0000;

/// Device memory is the host's.
inline void* host_pointer(Qword address) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return reinterpret_cast<void*>(address);
}

class Memory {
 public:
  explicit Memory(const Options& options) : options_(options) {}

  void allow(Qword address, Qword size);
  void forbid(Qword address);
  /// That one allocation holds all of it.
  bool contains(Qword address, Qword size);
  /// That loads and stores are seen at once by all, so that a caller that has asked contains() may
  /// use the memory itself.
  bool is_plain() const { return !options_.late_stores && !options_.stale_l1; }

  /// What the wave sees there. False, with nothing done, outside allocations; so is store.
  bool load(const Wave& wave, Qword address, void* to, unsigned size, bool past_l1);
  bool store(Wave& wave, Qword address, const void* from, unsigned size);
  /// The place itself, for an atomic, with what the wave stored there before; null outside
  /// allocations.
  void* atomic(const Wave& wave, Qword address, unsigned size);

  void invalidate_l1(unsigned unit) { l1s_[unit].clear(); }
  void invalidate_l1s();

  /// The wave's stores up to the instruction of this number are seen by all.
  void settle(const Wave& wave, Qword up_to);
  /// The newest store that is not seen yet is: the worst order that is allowed.
  void settle_newest();
  void settle_all();

 private:
  static constexpr unsigned line_size = 64;  // bytes
  using Line = std::array<std::uint8_t, line_size>;

  struct LateStore {
    const Wave* wave;
    Qword number;  // of the instruction
    Qword address;
    unsigned size;
    std::array<std::uint8_t, 16> data;

    bool overlaps(Qword other, unsigned bytes) const {
      return address < other + bytes && other < address + size;
    }
  };

  Line& line_of(unsigned unit, Qword address);
  template <typename Piece>
  void for_lines(unsigned unit, Qword address, unsigned size, Piece piece);
  void settle_overlapping(const Wave& wave, Qword address, unsigned size);
  /// A store is seen by all, and is late no more.
  void retire(const LateStore& store);
  /// Calls count(those of `late_at_` that an access belongs to).
  template <typename Count>
  void for_counts(const Wave* wave, Qword address, unsigned size, Count count);

  const Options& options_;
  std::map<Qword, Qword> ends_;  // by the address of an allocation
  Qword last_begin_ = 1;         // the allocation that was found last
  Qword last_end_ = 0;
  std::vector<LateStore> late_;
  // By a hash of wave and place, how many late stores there are, so that few accesses are held
  // against all of them.
  static constexpr unsigned hash_bits = 15;
  std::vector<std::uint16_t> late_at_ = std::vector<std::uint16_t>(1 << hash_bits);
  std::array<std::unordered_map<Qword, Line>, 256> l1s_;
};

}  // namespace emulator
