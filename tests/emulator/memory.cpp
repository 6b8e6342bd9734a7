#include "memory.h"

#include <algorithm>
#include <cstring>

#include "wave.h"

namespace emulator {
namespace {

// This many stores wait to be seen before the oldest half is.
constexpr std::size_t most_late_stores = 2048;

}  // namespace

void Memory::allow(Qword address, Qword size) { ends_[address] = address + size; }

void Memory::forbid(Qword address) {
  ends_.erase(address);
  last_begin_ = 1;
  last_end_ = 0;
}

bool Memory::contains(Qword address, Qword size) {
  if (address >= last_begin_ && address + size <= last_end_) {
    return true;
  }
  auto allocation = ends_.upper_bound(address);
  if (allocation == ends_.begin()) {
    return false;
  }
  --allocation;
  if (address + size > allocation->second) {
    return false;
  }
  last_begin_ = allocation->first;
  last_end_ = allocation->second;
  return true;
}

template <typename Count>
void Memory::for_counts(const Wave* wave, Qword address, unsigned size, Count count) {
  constexpr unsigned place_size = 4;
  for (Qword place = address / place_size; place <= (address + size - 1) / place_size; ++place) {
    const Qword hash = (place ^ reinterpret_cast<Qword>(wave) << 8) * 0x9E3779B97F4A7C15ULL;
    count(late_at_[hash >> (64 - hash_bits)]);
  }
}

void Memory::retire(const LateStore& store) {
  std::memcpy(host_pointer(store.address), store.data.data(), store.size);
  for_counts(store.wave, store.address, store.size, [](std::uint16_t& count) { --count; });
}

bool Memory::load(const Wave& wave, Qword address, void* to, unsigned size, bool past_l1) {
  if (!contains(address, size)) {
    return false;
  }
  settle_overlapping(wave, address, size);
  if (!options_.stale_l1) {
    std::memcpy(to, host_pointer(address), size);
  } else if (past_l1) {
    for (Qword line = address / line_size; line <= (address + size - 1) / line_size; ++line) {
      l1s_[wave.unit()].erase(line);
    }
    std::memcpy(to, host_pointer(address), size);
  } else {
    for_lines(wave.unit(), address, size, [&](std::uint8_t* place, unsigned done, unsigned bytes) {
      std::memcpy(static_cast<std::uint8_t*>(to) + done, place, bytes);
    });
  }
  return true;
}

bool Memory::store(Wave& wave, Qword address, const void* from, unsigned size) {
  if (!contains(address, size)) {
    return false;
  }
  if (options_.stale_l1) {
    for_lines(wave.unit(), address, size, [&](std::uint8_t* place, unsigned done, unsigned bytes) {
      std::memcpy(place, static_cast<const std::uint8_t*>(from) + done, bytes);
    });
  }
  if (!options_.late_stores) {
    std::memcpy(host_pointer(address), from, size);
    return true;
  }
  settle_overlapping(wave, address, size);
  LateStore late{&wave, wave.pending.number(), address, size, {}};
  std::memcpy(late.data.data(), from, size);
  late_.push_back(late);
  for_counts(&wave, address, size, [](std::uint16_t& count) { ++count; });
  if (late_.size() > most_late_stores) {
    const auto middle = late_.begin() + most_late_stores / 2;
    std::for_each(late_.begin(), middle, [&](const LateStore& store) { retire(store); });
    late_.erase(late_.begin(), middle);
  }
  return true;
}

void* Memory::atomic(const Wave& wave, Qword address, unsigned size) {
  if (!contains(address, size)) {
    return nullptr;
  }
  settle_overlapping(wave, address, size);
  if (options_.stale_l1) {
    l1s_[wave.unit()].erase(address / line_size);
  }
  return host_pointer(address);
}

Memory::Line& Memory::line_of(unsigned unit, Qword address) {
  const Qword number = address / line_size;
  const auto [found, is_new] = l1s_[unit].try_emplace(number);
  if (is_new) {
    Line& line = found->second;
    const Qword begin = number * line_size;
    if (contains(begin, line_size)) {
      std::memcpy(line.data(), host_pointer(begin), line_size);
    } else {
      for (unsigned byte = 0; byte < line_size; ++byte) {
        line[byte] =
            contains(begin + byte, 1) ? *static_cast<std::uint8_t*>(host_pointer(begin + byte)) : 0;
      }
    }
  }
  return found->second;
}

// Calls piece(place in a line, bytes before it, bytes) for the lines that an access touches.
template <typename Piece>
void Memory::for_lines(unsigned unit, Qword address, unsigned size, Piece piece) {
  for (unsigned done = 0; done < size;) {
    const unsigned within = (address + done) % line_size;
    const unsigned bytes = std::min(size - done, line_size - within);
    piece(line_of(unit, address + done).data() + within, done, bytes);
    done += bytes;
  }
}

void Memory::invalidate_l1s() {
  for (auto& lines : l1s_) {
    lines.clear();
  }
}

void Memory::settle(const Wave& wave, Qword up_to) {
  if (late_.empty()) {
    return;
  }
  const auto is_due = [&](const LateStore& store) {
    if (store.wave != &wave || store.number > up_to) {
      return false;
    }
    retire(store);
    return true;
  };
  late_.erase(std::remove_if(late_.begin(), late_.end(), is_due), late_.end());
}

void Memory::settle_overlapping(const Wave& wave, Qword address, unsigned size) {
  bool may_be = false;
  for_counts(&wave, address, size, [&](const std::uint16_t& count) { may_be |= count > 0; });
  if (!may_be) {
    return;
  }
  for (const LateStore& store : late_) {
    if (store.wave == &wave && store.overlaps(address, size)) {
      settle(wave, all_lanes);
      return;
    }
  }
}

void Memory::settle_newest() {
  if (late_.empty()) {
    return;
  }
  const LateStore newest = late_.back();
  // Stores of one wave to one place stay in order.
  const bool is_second = std::any_of(late_.begin(), late_.end() - 1, [&](const LateStore& other) {
    return other.wave == newest.wave && other.overlaps(newest.address, newest.size);
  });
  if (is_second) {
    settle(*newest.wave, all_lanes);
  } else {
    retire(newest);
    late_.pop_back();
  }
}

void Memory::settle_all() {
  for (const LateStore& store : late_) {
    retire(store);
  }
  late_.clear();
}

}  // namespace emulator
