// Global, flat, buffer and LDS accesses, scratch, atomics, and the exchanges between lanes that go
// through LDS.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "code_object.h"
#include "operands.h"

namespace emulator {
namespace {

// A flat address is in `global`: the instruction's unit says that it is one.
enum class Space { global, buffer, lds };

// What one lane loads or stores at once.
using Values = std::array<Dword, 4>;
using Addresses = std::array<Qword, wave_size>;

constexpr Dword poison = 0xCDCDCDCD;

std::string hexadecimal(Qword value) {
  std::array<char, 24> text = {};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

template <typename Piece>
void for_active_lanes(const Wave& wave, Piece piece) {
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    if (has_lane(wave.exec(), lane)) {
      piece(lane);
    }
  }
}

// Of a buffer: an offset in a VGPR or "off", a descriptor of four dwords, and an offset that is
// scalar.
Addresses buffer_addresses(Wave& wave, const Instruction& instruction, unsigned first) {
  if (instruction.has_index) {
    wave.stop(instruction, "buffers with an index are not emulated");
  }
  const Dword* descriptor = &wave.scalars[instruction.source[first + 1].index];
  const bool is_scratch = descriptor[1] >> 31 != 0;  // swizzled
  const Qword base = joined(descriptor[0], descriptor[1] & 0xffff);
  const Dword scalar_offset = scalar_source(wave, instruction, first + 2);
  Addresses addresses = {};
  for_active_lanes(wave, [&](unsigned lane) {
    const Dword lane_offset =
        instruction.has_vector_offset ? wave.vector[instruction.source[first].index][lane] : 0;
    const Qword offset = Qword{lane_offset} + as_bits(instruction.offset) + scalar_offset;
    addresses[lane] = is_scratch ? private_aperture + low_half(offset) : base + offset;
  });
  return addresses;
}

// The address of LDS is in one VGPR, a global one in two, or, if source `base` is there, in a
// scalar pair to which one VGPR is added. Of loads that is source 1, of what has data source 2.
template <Space space>
Addresses addresses_of(Wave& wave, const Instruction& instruction, unsigned base,
                       std::int32_t offset) {
  if (space == Space::buffer) {
    return buffer_addresses(wave, instruction, base - 1);
  }
  const unsigned reg = instruction.source[0].index;
  const bool has_base = space != Space::lds && instruction.sources > base;
  const Qword start =
      (has_base ? wave.pair(instruction.source[base].index) : 0) + as_bits(std::int64_t{offset});
  Addresses addresses = {};
  for_active_lanes(wave, [&](unsigned lane) {
    const bool is_pair = space != Space::lds && !has_base;
    const Qword address =
        start + joined(wave.vector[reg][lane], is_pair ? wave.vector[reg + 1][lane] : 0);
    addresses[lane] = space == Space::lds ? low_half(address) : address;
  });
  return addresses;
}

// Scratch of a lane: what is not global, but the wave's own.
void access_scratch(Wave& wave, const Instruction& instruction, unsigned lane, Qword offset,
                    void* data, unsigned size, Access access) {
  const unsigned of_lane = wave.block->launch.kernel.scratch_of_lane();
  if (offset + size > of_lane) {
    wave.report(mistake::scratch_out_of_bounds, instruction, [&] {
      return std::to_string(size) + " bytes at " + std::to_string(as_signed(low_half(offset))) +
             " of " + std::to_string(of_lane);
    });
    return;
  }
  std::uint8_t* place = &wave.scratch[std::size_t{lane} * of_lane + offset];
  if (access == Access::store) {
    std::memcpy(place, data, size);
  } else {
    std::memcpy(data, place, size);
  }
}

void access_global(Wave& wave, const Instruction& instruction, Qword address, void* data,
                   unsigned size, Access access) {
  Memory& memory = wave.machine().memory;
  const bool is_inside = access == Access::store
                             ? memory.store(wave, address, data, size)
                             : memory.load(wave, address, data, size, instruction.glc);
  if (!is_inside) {
    wave.report(mistake::out_of_bounds, instruction, [&] {
      return std::string(access == Access::store ? "store of " : "load of ") +
             std::to_string(size) + " bytes at " + hexadecimal(address) + ", in no allocation";
    });
  }
}

// A flat address, unlike a global one, may be one of LDS or of scratch; that of a buffer, of
// scratch.
template <Space space>
void access_memory(Wave& wave, const Instruction& instruction, unsigned lane, Qword address,
                   void* data, unsigned size, Access access) {
  const bool is_flat = instruction.unit == Unit::flat;
  const bool is_flat_lds = is_flat && address >> 48 == shared_aperture >> 48;
  const bool may_be_scratch = is_flat || space == Space::buffer;
  if (space == Space::lds || is_flat_lds) {
    Lds& lds = wave.block->lds;
    if (access == Access::store) {
      lds.store(wave, instruction, low_half(address), data, size);
    } else {
      lds.load(wave, instruction, low_half(address), data, size);
    }
  } else if (may_be_scratch && address >> 48 == private_aperture >> 48) {
    access_scratch(wave, instruction, lane, low_half(address), data, size, access);
  } else {
    access_global(wave, instruction, address, data, size, access);
  }
}

// That nothing can go wrong with an access: all lanes are within one allocation, and what is there
// is what all see.
bool is_simple(Wave& wave, const Addresses& addresses, unsigned size) {
  Memory& memory = wave.machine().memory;
  if (!memory.is_plain() || wave.exec() == 0) {
    return false;
  }
  Qword least = all_lanes;
  Qword most = 0;
  for_active_lanes(wave, [&](unsigned lane) {
    least = std::min(least, addresses[lane]);
    most = std::max(most, addresses[lane]);
  });
  return memory.contains(least, most - least + size);
}

template <Space space, unsigned bytes, bool is_signed = false>
void load_from(Wave& wave, const Instruction& instruction, const Addresses& addresses,
               unsigned first_register) {
  const bool simple = space != Space::lds && is_simple(wave, addresses, bytes);
  for_active_lanes(wave, [&](unsigned lane) {
    Values values;
    values.fill(bytes < 4 ? 0 : poison);
    if (simple) {
      std::memcpy(values.data(), host_pointer(addresses[lane]), bytes);
    } else {
      access_memory<space>(wave, instruction, lane, addresses[lane], values.data(), bytes,
                           Access::load);
    }
    if (is_signed) {
      values[0] = sign_extended(values[0], 8 * bytes);
    }
    for (unsigned number = 0; number < (bytes + 3) / 4; ++number) {
      wave.vector[first_register + number][lane] = values[number];
    }
  });
}

template <Space space, unsigned bytes, bool is_signed = false>
void load(Wave& wave, const Instruction& instruction) {
  const Addresses addresses = addresses_of<space>(wave, instruction, 1, instruction.offset);
  if (space == Space::lds) {
    wave.count_lds(instruction, Access::load, bytes, addresses);
  }
  load_from<space, bytes, is_signed>(wave, instruction, addresses, instruction.destination.index);
}

// The values that lanes of one instruction store, by their addresses.
class StoredValues {
 public:
  /// False if another lane has stored another value there.
  bool add(Qword address, Dword value) {
    unsigned slot = static_cast<unsigned>(address / 4) % slots;
    while (entries_[slot].is_used && entries_[slot].address != address) {
      slot = (slot + 1) % slots;
    }
    if (entries_[slot].is_used) {
      return entries_[slot].value == value;
    }
    entries_[slot] = {address, value, true};
    return true;
  }

 private:
  // Twice as many as 64 lanes store dwords at once.
  static constexpr unsigned slots = 512;

  struct Entry {
    Qword address = 0;
    Dword value = 0;
    bool is_used = false;
  };

  std::array<Entry, slots> entries_ = {};
};

// Reports lanes that leave different values in one place.
void check_collisions(Wave& wave, const Instruction& instruction, const Addresses& addresses,
                      unsigned source, unsigned dwords) {
  // Mostly each lane stores past where the one before it does.
  bool is_in_order = true;
  Qword end = 0;
  for_active_lanes(wave, [&](unsigned lane) {
    is_in_order = is_in_order && addresses[lane] >= end;
    end = addresses[lane] + Qword{4} * dwords;
  });
  if (is_in_order) {
    return;
  }
  StoredValues stored;
  for_active_lanes(wave, [&](unsigned lane) {
    for (unsigned number = 0; number < dwords; ++number) {
      const Qword address = addresses[lane] + Qword{4} * number;
      if (!stored.add(address, wave.vector[instruction.source[source].index + number][lane])) {
        wave.report(mistake::lanes_collide, instruction,
                    [&] { return "two lanes store different values at " + hexadecimal(address); });
      }
    }
  });
}

template <Space space, unsigned bytes, unsigned shift = 0>
void store_to(Wave& wave, const Instruction& instruction, const Addresses& addresses,
              unsigned source) {
  // Scratch of two lanes is not one place.
  if (space != Space::buffer && bytes >= 4) {
    check_collisions(wave, instruction, addresses, source, bytes / 4);
  }
  const bool simple = space != Space::lds && is_simple(wave, addresses, bytes);
  for_active_lanes(wave, [&](unsigned lane) {
    Values values = {};
    for (unsigned number = 0; number < (bytes + 3) / 4; ++number) {
      values[number] = wave.vector[instruction.source[source].index + number][lane] >> shift;
    }
    if (simple) {
      std::memcpy(host_pointer(addresses[lane]), values.data(), bytes);
    } else {
      access_memory<space>(wave, instruction, lane, addresses[lane], values.data(), bytes,
                           Access::store);
    }
  });
}

// The data of a buffer are source 0, others' source 1.
template <Space space, unsigned bytes, unsigned shift = 0>
void store(Wave& wave, const Instruction& instruction) {
  const Addresses addresses = addresses_of<space>(wave, instruction, 2, instruction.offset);
  if (space == Space::lds) {
    wave.count_lds(instruction, Access::store, bytes, addresses);
  }
  store_to<space, bytes, shift>(wave, instruction, addresses, space == Space::buffer ? 0 : 1);
}

// At two offsets, in units of `unit` bytes.
template <Access access, unsigned bytes, unsigned unit>
void access_two(Wave& wave, const Instruction& instruction) {
  const auto addresses_at = [&](std::int32_t offset) {
    return addresses_of<Space::lds>(wave, instruction, 1, offset * int{unit});
  };
  // Both first: what is loaded may take the place of the address.
  const std::array<Addresses, 2> addresses = {addresses_at(instruction.offset),
                                              addresses_at(instruction.second_offset)};
  for (unsigned number = 0; number < addresses.size(); ++number) {
    wave.count_lds(instruction, access, bytes, addresses[number], number > 0);
    if constexpr (access == Access::load) {
      load_from<Space::lds, bytes>(wave, instruction, addresses[number],
                                   instruction.destination.index + number * bytes / 4);
    } else {
      store_to<Space::lds, bytes>(wave, instruction, addresses[number], 1 + number);
    }
  }
}

// A dword of each lane, to LDS: what is there in between nobody may read.
template <Space space>
void load_to_lds(Wave& wave, const Instruction& instruction) {
  const Addresses addresses = addresses_of<space>(wave, instruction, 1, instruction.offset);
  constexpr Dword lds_bits = 0xffff;
  LdsArrival arrival{wave.pending.number(),
                     &instruction,
                     (wave.scalars[scalar::m0] & lds_bits) + as_bits(instruction.offset),
                     wave.exec(),
                     {}};
  for_active_lanes(wave, [&](unsigned lane) {
    arrival.values[lane] = poison;
    access_memory<space>(wave, instruction, lane, addresses[lane], &arrival.values[lane],
                         sizeof(Dword), Access::load);
    wave.block->lds.store(wave, instruction, arrival.address_of(lane), &poison, sizeof poison);
  });
  wave.arriving.push_back(arrival);
}

// What blocks tell each other by global atomics must hold whoever comes first.
void sleep_after_atomic(Wave& wave) {
  constexpr Qword most_turns = 400;
  Machine& machine = wave.machine();
  if (machine.options.shuffle && machine.random.below(4) == 0) {
    wave.yields = true;
    wave.turns_to_sleep = static_cast<unsigned>(machine.random.below(most_turns));
  }
}

// The operation makes the new value of the old one and of as many data as it takes. These are
// sources of LDS atomics; those of others follow each other in registers. What was there goes to
// the destination, if there is one.
template <Space space, typename Value, typename Operation>
void change(Wave& wave, const Instruction& instruction) {
  constexpr unsigned dwords = sizeof(Value) / 4;
  const Addresses addresses = addresses_of<space>(wave, instruction, 2, instruction.offset);
  for_active_lanes(wave, [&](unsigned lane) {
    const auto datum = [&](unsigned number) {
      const unsigned reg = space == Space::lds ? instruction.source[1 + number].index
                                               : instruction.source[1].index + number * dwords;
      std::array<Dword, dwords> bits;
      for (unsigned dword = 0; dword < dwords; ++dword) {
        bits[dword] = wave.vector[reg + dword][lane];
      }
      return std::bit_cast<Value>(bits);
    };
    void* place = nullptr;
    if constexpr (space == Space::lds) {
      place = wave.block->lds.atomic(wave, instruction, low_half(addresses[lane]), sizeof(Value));
    } else {
      place = wave.machine().memory.atomic(wave, addresses[lane], sizeof(Value));
      if (place == nullptr) {
        wave.report(mistake::out_of_bounds, instruction, [&] {
          return "atomic at " + hexadecimal(addresses[lane]) + ", in no allocation";
        });
      }
    }
    if (place == nullptr) {
      return;
    }
    Value old;
    std::memcpy(&old, place, sizeof old);
    Value changed;
    if constexpr (std::is_invocable_v<Operation, Value, Value>) {
      changed = static_cast<Value>(Operation{}(old, datum(0)));
    } else {
      changed = Operation{}(old, datum(0), datum(1));
    }
    std::memcpy(place, &changed, sizeof changed);
    if (instruction.destination.is_vector()) {
      const auto before = std::bit_cast<std::array<Dword, dwords>>(old);
      for (unsigned dword = 0; dword < dwords; ++dword) {
        wave.vector[instruction.destination.index + dword][lane] = before[dword];
      }
    }
  });
  if (space != Space::lds) {
    sleep_after_atomic(wave);
  }
}

// Global and flat.
template <typename Value, typename Operation>
void define_global_atomic(InstructionSet& set, const std::string& name, Operation /*operation*/) {
  set["global_atomic_" + name] = {Unit::vector_memory, Layout::atomic,
                                  change<Space::global, Value, Operation>};
  set["flat_atomic_" + name] = {Unit::flat, Layout::atomic,
                                change<Space::global, Value, Operation>};
}

template <typename Operation>
void define_both_widths(InstructionSet& set, const std::string& name, Operation operation) {
  define_global_atomic<Dword>(set, name, operation);
  define_global_atomic<Qword>(set, name + "_x2", operation);
}

// Without and with return: "ds_add_u32" and "ds_add_rtn_u32".
template <typename Value, typename Operation>
void define_lds_atomic(InstructionSet& set, const std::string& name, const std::string& type,
                       Operation /*operation*/) {
  const Handler run = change<Space::lds, Value, Operation>;
  set["ds_" + name + "_" + type] = {Unit::lds, Layout::sources, run};
  set["ds_" + name + "_rtn_" + type] = {Unit::lds, Layout::destination_first, run};
}

Dword sum_of_halves(Dword a, Dword b) {
  const auto one = std::bit_cast<std::array<_Float16, 2>>(a);
  const auto other = std::bit_cast<std::array<_Float16, 2>>(b);
  return std::bit_cast<Dword>(std::array<_Float16, 2>{static_cast<_Float16>(one[0] + other[0]),
                                                      static_cast<_Float16>(one[1] + other[1])});
}

void add_atomics(InstructionSet& set) {
  const auto add = [](auto old, auto data) { return old + data; };
  const auto least = [](auto old, auto data) { return std::min(old, data); };
  const auto greatest = [](auto old, auto data) { return std::max(old, data); };
  const auto swap = [](auto /*old*/, auto data) { return data; };
  define_both_widths(set, "add", add);
  define_both_widths(set, "sub", [](auto old, auto data) { return old - data; });
  define_both_widths(set, "swap", swap);
  define_both_widths(set, "and", [](auto old, auto data) { return old & data; });
  define_both_widths(set, "or", [](auto old, auto data) { return old | data; });
  define_both_widths(set, "xor", [](auto old, auto data) { return old ^ data; });
  define_both_widths(set, "umin", least);
  define_both_widths(set, "umax", greatest);
  // Round, from the data to 0 and from 0 to the data.
  define_both_widths(set, "inc", [](auto old, auto data) { return old >= data ? 0 : old + 1; });
  define_both_widths(set, "dec",
                     [](auto old, auto data) { return old == 0 || old > data ? data : old - 1; });
  define_both_widths(set, "cmpswap", [](auto old, auto wanted, auto expected) {
    return old == expected ? wanted : old;
  });
  define_global_atomic<float>(set, "add_f32", add);
  define_global_atomic<double>(set, "add_f64", add);
  define_global_atomic<Dword>(set, "pk_add_f16",
                              [](Dword old, Dword data) { return sum_of_halves(old, data); });
  define_lds_atomic<Dword>(set, "add", "u32", add);
  define_lds_atomic<Qword>(set, "add", "u64", add);
  define_lds_atomic<float>(set, "add", "f32", add);
  define_lds_atomic<double>(set, "add", "f64", add);
  define_lds_atomic<Dword>(set, "min", "u32", least);
  define_lds_atomic<Qword>(set, "min", "u64", least);
  define_lds_atomic<Dword>(set, "max", "u32", greatest);
  define_lds_atomic<Qword>(set, "max", "u64", greatest);
  define_lds_atomic<Dword>(set, "wrxchg", "b32", swap);
  define_lds_atomic<Qword>(set, "wrxchg", "b64", swap);
  const auto compare_and_store = [](auto old, auto expected, auto wanted) {
    return old == expected ? wanted : old;
  };
  define_lds_atomic<Dword>(set, "cmpst", "b32", compare_and_store);
  define_lds_atomic<Qword>(set, "cmpst", "b64", compare_and_store);
}

template <unsigned bytes, bool is_signed = false>
void define_load(InstructionSet& set, const std::string& name, const char* lds_name) {
  const Layout layout = Layout::destination_first;
  set["global_load_" + name] = {Unit::vector_memory, layout, load<Space::global, bytes, is_signed>};
  set["flat_load_" + name] = {Unit::flat, layout, load<Space::global, bytes, is_signed>};
  set["buffer_load_" + name] = {Unit::vector_memory, layout, load<Space::buffer, bytes, is_signed>};
  set[lds_name] = {Unit::lds, layout, load<Space::lds, bytes, is_signed>};
}

template <unsigned bytes, unsigned shift = 0>
void define_store(InstructionSet& set, const std::string& name, const char* lds_name) {
  const Layout layout = Layout::sources;
  set["global_store_" + name] = {Unit::vector_memory, layout, store<Space::global, bytes, shift>};
  set["flat_store_" + name] = {Unit::flat, layout, store<Space::global, bytes, shift>};
  set["buffer_store_" + name] = {Unit::vector_memory, layout, store<Space::buffer, bytes, shift>};
  set[lds_name] = {Unit::lds, layout, store<Space::lds, bytes, shift>};
}

// "ds_read2_b32": the second offset is counted in units of 4 bytes; of "ds_read2st64_b32", in 64
// times as many.
template <unsigned bytes>
void define_two(InstructionSet& set, const std::string& type) {
  set["ds_read2_" + type] = {Unit::lds, Layout::destination_first,
                             access_two<Access::load, bytes, bytes>};
  set["ds_read2st64_" + type] = {Unit::lds, Layout::destination_first,
                                 access_two<Access::load, bytes, 64 * bytes>};
  set["ds_write2_" + type] = {Unit::lds, Layout::sources, access_two<Access::store, bytes, bytes>};
  set["ds_write2st64_" + type] = {Unit::lds, Layout::sources,
                                  access_two<Access::store, bytes, 64 * bytes>};
}

// What a lane has, and 0 for one that EXEC leaves out.
Dword fetched(const Wave& wave, const Operand& operand, unsigned lane) {
  return has_lane(wave.exec(), lane) ? wave.vector[operand.index][lane] : 0;
}

// The lane that an address of LDS would be of.
unsigned named_lane(const Wave& wave, const Instruction& instruction, unsigned lane) {
  return (wave.vector[instruction.source[0].index][lane] + as_bits(instruction.offset)) / 4 %
         wave_size;
}

void set_active(Wave& wave, const Instruction& instruction, const Lanes& values) {
  for_active_lanes(wave, [&](unsigned lane) {
    wave.vector[instruction.destination.index][lane] = values[lane];
  });
}

void fetch_from_lanes(Wave& wave, const Instruction& instruction) {
  Lanes values;
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    values[lane] = fetched(wave, instruction.source[1], named_lane(wave, instruction, lane));
  }
  set_active(wave, instruction, values);
}

void send_to_lanes(Wave& wave, const Instruction& instruction) {
  Lanes values = {};
  for_active_lanes(wave, [&](unsigned lane) {
    values[named_lane(wave, instruction, lane)] = wave.vector[instruction.source[1].index][lane];
  });
  set_active(wave, instruction, values);
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
  Lanes values;
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    values[lane] =
        fetched(wave, instruction.source[0], swizzled(lane, as_bits(instruction.offset)));
  }
  set_active(wave, instruction, values);
}

}  // namespace

void add_memory_instructions(InstructionSet& set) {
  define_load<1>(set, "ubyte", "ds_read_u8");
  define_load<1, true>(set, "sbyte", "ds_read_i8");
  define_load<2>(set, "ushort", "ds_read_u16");
  define_load<2, true>(set, "sshort", "ds_read_i16");
  define_load<4>(set, "dword", "ds_read_b32");
  define_load<8>(set, "dwordx2", "ds_read_b64");
  define_load<12>(set, "dwordx3", "ds_read_b96");
  define_load<16>(set, "dwordx4", "ds_read_b128");
  define_store<1>(set, "byte", "ds_write_b8");
  define_store<2>(set, "short", "ds_write_b16");
  define_store<1, 16>(set, "byte_d16_hi", "ds_write_b8_d16_hi");
  define_store<2, 16>(set, "short_d16_hi", "ds_write_b16_d16_hi");
  define_store<4>(set, "dword", "ds_write_b32");
  define_store<8>(set, "dwordx2", "ds_write_b64");
  define_store<12>(set, "dwordx3", "ds_write_b96");
  define_store<16>(set, "dwordx4", "ds_write_b128");
  define_two<4>(set, "b32");
  define_two<8>(set, "b64");
  set["global_load_dword lds"] = {Unit::vector_memory, Layout::sources, load_to_lds<Space::global>};
  set["buffer_load_dword lds"] = {Unit::vector_memory, Layout::sources, load_to_lds<Space::buffer>};
  add_atomics(set);
  set["ds_bpermute_b32"] = {Unit::lds, Layout::destination_first, fetch_from_lanes};
  set["ds_permute_b32"] = {Unit::lds, Layout::destination_first, send_to_lanes};
  set["ds_swizzle_b32"] = {Unit::lds, Layout::destination_first, swizzle};
}

}  // namespace emulator
