// LDS: loads, stores, atomics, and the exchanges between lanes that go through it.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "collisions.h"
#include "operands.h"

namespace emulator {
namespace {

// Registers that one lane loads or stores at once.
using Values = std::array<Dword, 4>;

void define(InstructionSet& set, const std::string& name, Handler handler,
            Layout layout = Layout::destination_first) {
  set[name] = {Unit::lds, layout, handler};
}

Dword address_of(const Wave& wave, const Instruction& instruction, unsigned lane) {
  return wave.vector[instruction.source[0].index][lane];
}

Dword data_of(const Wave& wave, const Instruction& instruction, unsigned source, unsigned number,
              unsigned lane) {
  return wave.vector[instruction.source[source].index + number][lane];
}

// Calls piece(lane) for those that EXEC has.
template <typename Piece>
void for_active_lanes(const Wave& wave, Piece piece) {
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    if (has_lane(wave.exec(), lane)) {
      piece(lane);
    }
  }
}

void set_loaded(Wave& wave, const Instruction& instruction,
                const std::array<Values, wave_size>& values, unsigned dwords) {
  for_active_lanes(wave, [&](unsigned lane) {
    for (unsigned number = 0; number < dwords; ++number) {
      wave.vector[instruction.destination.index + number][lane] = values[lane][number];
    }
  });
}

// Where a load or store takes place: its address, and the offset in units of `unit` bytes.
template <unsigned bytes, bool is_signed = false>
void load(Wave& wave, const Instruction& instruction) {
  std::array<Values, wave_size> values = {};
  for_active_lanes(wave, [&](unsigned lane) {
    wave.block->lds.load(wave, instruction,
                         address_of(wave, instruction, lane) + as_bits(instruction.offset),
                         values[lane].data(), bytes);
    if (is_signed) {
      values[lane][0] = sign_extended(values[lane][0], 8 * bytes);
    }
  });
  set_loaded(wave, instruction, values, (bytes + 3) / 4);
}

template <unsigned bytes, unsigned unit>
void load_two(Wave& wave, const Instruction& instruction) {
  std::array<Values, wave_size> values = {};
  for_active_lanes(wave, [&](unsigned lane) {
    const Dword address = address_of(wave, instruction, lane);
    Lds& lds = wave.block->lds;
    lds.load(wave, instruction, address + as_bits(instruction.offset) * unit, values[lane].data(),
             bytes);
    lds.load(wave, instruction, address + as_bits(instruction.second_offset) * unit,
             values[lane].data() + bytes / 4, bytes);
  });
  set_loaded(wave, instruction, values, bytes / 2);
}

void report_collision(Wave& wave, const Instruction& instruction, Collisions& collisions,
                      Dword address, Dword value) {
  if (collisions.add(address, value)) {
    wave.report(Mistake::lanes_collide, instruction, [&] {
      return "two lanes store different values at LDS " + std::to_string(address);
    });
  }
}

// From source number `source`.
template <unsigned bytes>
void store_at(Wave& wave, const Instruction& instruction, Dword offset, unsigned source,
              unsigned shift) {
  Collisions collisions;
  for_active_lanes(wave, [&](unsigned lane) {
    const Dword address = address_of(wave, instruction, lane) + offset;
    Values values = {};
    for (unsigned number = 0; number < (bytes + 3) / 4; ++number) {
      values[number] = data_of(wave, instruction, source, number, lane) >> shift;
      if (bytes >= 4) {
        report_collision(wave, instruction, collisions, address + 4 * number, values[number]);
      }
    }
    wave.block->lds.store(wave, instruction, address, values.data(), bytes);
  });
}

template <unsigned bytes, unsigned shift = 0>
void store(Wave& wave, const Instruction& instruction) {
  store_at<bytes>(wave, instruction, as_bits(instruction.offset), 1, shift);
}

template <unsigned bytes, unsigned unit>
void store_two(Wave& wave, const Instruction& instruction) {
  store_at<bytes>(wave, instruction, as_bits(instruction.offset) * unit, 1, 0);
  store_at<bytes>(wave, instruction, as_bits(instruction.second_offset) * unit, 2, 0);
}

void add_loads(InstructionSet& set) {
  define(set, "ds_read_u8", load<1>);
  define(set, "ds_read_i8", load<1, true>);
  define(set, "ds_read_u16", load<2>);
  define(set, "ds_read_i16", load<2, true>);
  define(set, "ds_read_b32", load<4>);
  define(set, "ds_read_b64", load<8>);
  define(set, "ds_read_b96", load<12>);
  define(set, "ds_read_b128", load<16>);
  define(set, "ds_read2_b32", load_two<4, 4>);
  define(set, "ds_read2_b64", load_two<8, 8>);
  define(set, "ds_read2st64_b32", load_two<4, 256>);
  define(set, "ds_read2st64_b64", load_two<8, 512>);
}

void add_stores(InstructionSet& set) {
  const auto define_store = [&](const std::string& name, Handler handler) {
    define(set, name, handler, Layout::sources);
  };
  define_store("ds_write_b8", store<1>);
  define_store("ds_write_b16", store<2>);
  define_store("ds_write_b8_d16_hi", store<1, 16>);
  define_store("ds_write_b16_d16_hi", store<2, 16>);
  define_store("ds_write_b32", store<4>);
  define_store("ds_write_b64", store<8>);
  define_store("ds_write_b96", store<12>);
  define_store("ds_write_b128", store<16>);
  define_store("ds_write2_b32", store_two<4, 4>);
  define_store("ds_write2_b64", store_two<8, 8>);
  define_store("ds_write2st64_b32", store_two<4, 256>);
  define_store("ds_write2st64_b64", store_two<8, 512>);
}

void fetch_from_lanes(Wave& wave, const Instruction& instruction) {
  std::array<Values, wave_size> values = {};
  const VectorRegister& data = wave.vector[instruction.source[1].index];
  for_active_lanes(wave, [&](unsigned lane) {
    const Dword from =
        (address_of(wave, instruction, lane) + as_bits(instruction.offset)) / 4 % wave_size;
    values[lane][0] = has_lane(wave.exec(), from) ? data[from] : 0;
  });
  set_loaded(wave, instruction, values, 1);
}

void send_to_lanes(Wave& wave, const Instruction& instruction) {
  std::array<Values, wave_size> values = {};
  const VectorRegister& data = wave.vector[instruction.source[1].index];
  for_active_lanes(wave, [&](unsigned lane) {
    const Dword to =
        (address_of(wave, instruction, lane) + as_bits(instruction.offset)) / 4 % wave_size;
    values[to][0] = data[lane];
  });
  set_loaded(wave, instruction, values, 1);
}

// The pattern is in the offset: a permutation of each four lanes, or masks for and, or, xor on a
// lane's number within 32.
unsigned swizzled(unsigned lane, Dword pattern) {
  constexpr Dword within_four = 0x8000;
  if ((pattern & within_four) != 0) {
    return (lane & ~3U) | (pattern >> (2 * (lane & 3)) & 3);
  }
  const unsigned within = ((lane & 31 & pattern) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31);
  return within | (lane & 32);
}

void swizzle(Wave& wave, const Instruction& instruction) {
  std::array<Values, wave_size> values = {};
  const VectorRegister& data = wave.vector[instruction.source[0].index];
  for_active_lanes(wave, [&](unsigned lane) {
    const unsigned from = swizzled(lane, as_bits(instruction.offset));
    values[lane][0] = has_lane(wave.exec(), from) ? data[from] : 0;
  });
  set_loaded(wave, instruction, values, 1);
}

// `Value` is what is changed in LDS; the operation makes the new one of the old one and the data.
template <typename Value, bool returns, typename Operation>
constexpr Handler atomic(Operation /*operation*/) {
  return [](Wave& wave, const Instruction& instruction) {
    constexpr unsigned dwords = sizeof(Value) / 4;
    for_active_lanes(wave, [&](unsigned lane) {
      void* place = wave.block->lds.atomic(
          wave, instruction, address_of(wave, instruction, lane) + as_bits(instruction.offset),
          sizeof(Value));
      if (place == nullptr) {
        return;
      }
      std::array<Dword, dwords> bits;
      for (unsigned number = 0; number < dwords; ++number) {
        bits[number] = data_of(wave, instruction, 1, number, lane);
      }
      Value old;
      std::memcpy(&old, place, sizeof old);
      const Value changed = Operation{}(old, std::bit_cast<Value>(bits));
      std::memcpy(place, &changed, sizeof changed);
      if (returns) {
        bits = std::bit_cast<std::array<Dword, dwords>>(old);
        for (unsigned number = 0; number < dwords; ++number) {
          wave.vector[instruction.destination.index + number][lane] = bits[number];
        }
      }
    });
  };
}

template <typename Value>
void compare_and_store(Wave& wave, const Instruction& instruction) {
  constexpr unsigned dwords = sizeof(Value) / 4;
  for_active_lanes(wave, [&](unsigned lane) {
    void* place = wave.block->lds.atomic(
        wave, instruction, address_of(wave, instruction, lane) + as_bits(instruction.offset),
        sizeof(Value));
    if (place == nullptr) {
      return;
    }
    const auto data = [&](unsigned source) {
      std::array<Dword, dwords> bits;
      for (unsigned number = 0; number < dwords; ++number) {
        bits[number] = data_of(wave, instruction, source, number, lane);
      }
      return std::bit_cast<Value>(bits);
    };
    Value old = 0;
    std::memcpy(&old, place, sizeof old);
    if (old == data(1)) {
      const Value changed = data(2);
      std::memcpy(place, &changed, sizeof changed);
    }
    const auto before = std::bit_cast<std::array<Dword, dwords>>(old);
    for (unsigned number = 0; number < dwords; ++number) {
      wave.vector[instruction.destination.index + number][lane] = before[number];
    }
  });
}

void add_exchanges(InstructionSet& set) {
  define(set, "ds_bpermute_b32", fetch_from_lanes);
  define(set, "ds_permute_b32", send_to_lanes);
  define(set, "ds_swizzle_b32", swizzle);
}

// Without and with return: "ds_add_u32" and "ds_add_rtn_u32".
template <typename Value, typename Operation>
void define_atomic(InstructionSet& set, const std::string& name, const std::string& type,
                   Operation operation) {
  define(set, "ds_" + name + "_" + type, atomic<Value, false>(operation), Layout::sources);
  define(set, "ds_" + name + "_rtn_" + type, atomic<Value, true>(operation));
}

void add_atomics(InstructionSet& set) {
  const auto add = [](auto a, auto b) { return a + b; };
  const auto least = [](auto a, auto b) { return std::min(a, b); };
  const auto greatest = [](auto a, auto b) { return std::max(a, b); };
  const auto exchange = [](auto /*a*/, auto b) { return b; };
  define_atomic<Dword>(set, "add", "u32", add);
  define_atomic<Qword>(set, "add", "u64", add);
  define_atomic<float>(set, "add", "f32", add);
  define_atomic<double>(set, "add", "f64", add);
  define_atomic<Dword>(set, "min", "u32", least);
  define_atomic<Qword>(set, "min", "u64", least);
  define_atomic<Dword>(set, "max", "u32", greatest);
  define_atomic<Qword>(set, "max", "u64", greatest);
  define(set, "ds_wrxchg_rtn_b32", atomic<Dword, true>(exchange));
  define(set, "ds_wrxchg_rtn_b64", atomic<Qword, true>(exchange));
  define(set, "ds_cmpst_rtn_b32", compare_and_store<Dword>);
  define(set, "ds_cmpst_rtn_b64", compare_and_store<Qword>);
}

}  // namespace

void add_lds_instructions(InstructionSet& set) {
  add_loads(set);
  add_stores(set);
  add_exchanges(set);
  add_atomics(set);
}

}  // namespace emulator
