// Global, flat and buffer accesses, scratch, and atomics.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "code_object.h"
#include "collisions.h"
#include "operands.h"

namespace emulator {
namespace {

using Values = std::array<Dword, 4>;

constexpr Dword poison = 0xCDCDCDCD;

std::string hexadecimal(Qword value) {
  std::array<char, 24> text = {};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

// A global address is a pair of VGPRs, or a scalar pair and one VGPR, its offset.
Qword address_of(const Wave& wave, const Instruction& instruction, unsigned base_source,
                 unsigned lane) {
  const unsigned reg = instruction.source[0].index;
  const Dword low = wave.vector[reg][lane];
  const Qword offset = as_bits(std::int64_t{instruction.offset});
  if (instruction.sources > base_source) {
    return wave.pair(instruction.source[base_source].index) + low + offset;
  }
  return joined(low, wave.vector[reg + 1][lane]) + offset;
}

enum class Access { load, store };

// Scratch of a lane: what is not global, but the wave's own.
void access_scratch(Wave& wave, const Instruction& instruction, unsigned lane, Qword offset,
                    void* data, unsigned size, Access access) {
  const unsigned of_lane = wave.block->launch.kernel.scratch_of_lane();
  if (offset + size > of_lane) {
    wave.report(Mistake::scratch_out_of_bounds, instruction, [&] {
      return std::to_string(size) + " bytes at " +
             std::to_string(static_cast<std::int64_t>(offset)) + " of " + std::to_string(of_lane);
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
    wave.report(Mistake::out_of_bounds, instruction, [&] {
      return std::string(access == Access::store ? "store of " : "load of ") +
             std::to_string(size) + " bytes at " + hexadecimal(address) + ", in no allocation";
    });
  }
}

// A flat address, unlike a global one, may be one of LDS or of scratch.
void access_flat(Wave& wave, const Instruction& instruction, unsigned lane, Qword address,
                 void* data, unsigned size, Access access) {
  const bool is_flat = instruction.unit == Unit::flat;
  if (is_flat && address >> 48 == shared_aperture >> 48) {
    if (access == Access::store) {
      wave.block->lds.store(wave, instruction, low_half(address), data, size);
    } else {
      wave.block->lds.load(wave, instruction, low_half(address), data, size);
    }
  } else if (is_flat && address >> 48 == private_aperture >> 48) {
    access_scratch(wave, instruction, lane, low_half(address), data, size, access);
  } else {
    access_global(wave, instruction, address, data, size, access);
  }
}

template <typename Piece>
void for_active_lanes(const Wave& wave, Piece piece) {
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    if (has_lane(wave.exec(), lane)) {
      piece(lane);
    }
  }
}

using Addresses = std::array<Qword, wave_size>;

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

void* host_pointer(Qword address) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): device memory is the host's
  return reinterpret_cast<void*>(address);
}

Addresses addresses_of(const Wave& wave, const Instruction& instruction, unsigned base_source) {
  Addresses addresses = {};
  for_active_lanes(wave, [&](unsigned lane) {
    addresses[lane] = address_of(wave, instruction, base_source, lane);
  });
  return addresses;
}

void set_loaded(Wave& wave, const Instruction& instruction,
                const std::array<Values, wave_size>& values, unsigned dwords) {
  for_active_lanes(wave, [&](unsigned lane) {
    for (unsigned number = 0; number < dwords; ++number) {
      wave.vector[instruction.destination.index + number][lane] = values[lane][number];
    }
  });
}

// Sources: the address, and a scalar base if there is one.
template <unsigned bytes, bool is_signed>
void load(Wave& wave, const Instruction& instruction) {
  constexpr unsigned dwords = (bytes + 3) / 4;
  const Addresses addresses = addresses_of(wave, instruction, 1);
  std::array<Values, wave_size> values;
  const bool simple = is_simple(wave, addresses, bytes);
  for_active_lanes(wave, [&](unsigned lane) {
    if (simple) {
      values[lane][0] = 0;
      std::memcpy(values[lane].data(), host_pointer(addresses[lane]), bytes);
    } else {
      values[lane].fill(bytes < 4 ? 0 : poison);
      access_flat(wave, instruction, lane, addresses[lane], values[lane].data(), bytes,
                  Access::load);
    }
    if (is_signed) {
      values[lane][0] = sign_extended(values[lane][0], 8 * bytes);
    }
  });
  set_loaded(wave, instruction, values, dwords);
}

// Sources: the address, the data, and a scalar base if there is one.
template <unsigned bytes, unsigned shift>
void store(Wave& wave, const Instruction& instruction) {
  const Addresses addresses = addresses_of(wave, instruction, 2);
  const bool simple = is_simple(wave, addresses, bytes);
  Collisions collisions;
  for_active_lanes(wave, [&](unsigned lane) {
    Values values = {};
    for (unsigned number = 0; number < (bytes + 3) / 4; ++number) {
      values[number] = wave.vector[instruction.source[1].index + number][lane] >> shift;
      if (bytes >= 4 && collisions.add(addresses[lane] + 4 * number, values[number])) {
        wave.report(Mistake::lanes_collide, instruction, [&] {
          return "two lanes store different values at " + hexadecimal(addresses[lane]);
        });
      }
    }
    if (simple) {
      std::memcpy(host_pointer(addresses[lane]), values.data(), bytes);
    } else {
      access_flat(wave, instruction, lane, addresses[lane], values.data(), bytes, Access::store);
    }
  });
}

// Sources: the address, the data, and a scalar base if there is one. With glc the destination gets
// what was there. `Value` is what is changed; the data of a compare-and-swap are the new value and
// the old.
template <typename Value, unsigned data_count, typename Operation>
void change(Wave& wave, const Instruction& instruction, Operation operation) {
  constexpr unsigned dwords = sizeof(Value) / 4;
  Machine& machine = wave.machine();
  for_active_lanes(wave, [&](unsigned lane) {
    const Qword address = address_of(wave, instruction, 2, lane);
    std::array<Dword, dwords * data_count> bits;
    for (unsigned number = 0; number < bits.size(); ++number) {
      bits[number] = wave.vector[instruction.source[1].index + number][lane];
    }
    void* place = machine.memory.atomic(wave, address, sizeof(Value));
    if (place == nullptr) {
      wave.report(Mistake::out_of_bounds, instruction,
                  [&] { return "atomic at " + hexadecimal(address) + ", in no allocation"; });
      return;
    }
    Value old;
    std::memcpy(&old, place, sizeof old);
    const Value changed = operation(old, std::bit_cast<std::array<Value, data_count>>(bits));
    std::memcpy(place, &changed, sizeof changed);
    if (instruction.glc) {
      const auto before = std::bit_cast<std::array<Dword, dwords>>(old);
      for (unsigned number = 0; number < dwords; ++number) {
        wave.vector[instruction.destination.index + number][lane] = before[number];
      }
    }
  });
  // What blocks tell each other by atomics must hold whoever comes first.
  constexpr Qword most_turns = 400;
  if (machine.options.shuffle && machine.random.below(4) == 0) {
    wave.yields = true;
    wave.turns_to_sleep = static_cast<unsigned>(machine.random.below(most_turns));
  }
}

template <typename Value, unsigned data_count = 1, typename Operation>
constexpr Handler atomic(Operation /*operation*/) {
  return [](Wave& wave, const Instruction& instruction) {
    change<Value, data_count>(wave, instruction, [](Value old, const auto& data) {
      if constexpr (data_count == 1) {
        return static_cast<Value>(Operation{}(old, data[0]));
      } else {
        return static_cast<Value>(Operation{}(old, data[0], data[1]));
      }
    });
  };
}

// Of both widths, global and flat.
template <unsigned data_count = 1, typename Operation>
void define_atomic(InstructionSet& set, const std::string& name, Operation operation) {
  set["global_atomic_" + name] = {Unit::vector_memory, Layout::atomic,
                                  atomic<Dword, data_count>(operation)};
  set["global_atomic_" + name + "_x2"] = {Unit::vector_memory, Layout::atomic,
                                          atomic<Qword, data_count>(operation)};
  set["flat_atomic_" + name] = {Unit::flat, Layout::atomic, atomic<Dword, data_count>(operation)};
  set["flat_atomic_" + name + "_x2"] = {Unit::flat, Layout::atomic,
                                        atomic<Qword, data_count>(operation)};
}

void add_atomics(InstructionSet& set) {
  define_atomic(set, "add", [](auto old, auto data) { return old + data; });
  define_atomic(set, "sub", [](auto old, auto data) { return old - data; });
  define_atomic(set, "swap", [](auto /*old*/, auto data) { return data; });
  define_atomic(set, "and", [](auto old, auto data) { return old & data; });
  define_atomic(set, "or", [](auto old, auto data) { return old | data; });
  define_atomic(set, "xor", [](auto old, auto data) { return old ^ data; });
  define_atomic(set, "umin", [](auto old, auto data) { return std::min(old, data); });
  define_atomic(set, "umax", [](auto old, auto data) { return std::max(old, data); });
  // Round, from the data to 0 and from 0 to the data.
  define_atomic(set, "inc", [](auto old, auto data) { return old >= data ? 0 : old + 1; });
  define_atomic(set, "dec",
                [](auto old, auto data) { return old == 0 || old > data ? data : old - 1; });
  define_atomic<2>(set, "cmpswap", [](auto old, auto wanted, auto expected) {
    return old == expected ? wanted : old;
  });
  const auto add = [](auto old, auto data) { return old + data; };
  set["global_atomic_add_f32"] = {Unit::vector_memory, Layout::atomic, atomic<float>(add)};
  set["global_atomic_add_f64"] = {Unit::vector_memory, Layout::atomic, atomic<double>(add)};
  set["flat_atomic_add_f64"] = {Unit::flat, Layout::atomic, atomic<double>(add)};
  set["global_atomic_pk_add_f16"] = {
      Unit::vector_memory, Layout::atomic, atomic<Dword>([](Dword old, Dword data) {
        const auto halves = std::bit_cast<std::array<_Float16, 2>>(old);
        const auto added = std::bit_cast<std::array<_Float16, 2>>(data);
        return std::bit_cast<Dword>(
            std::array<_Float16, 2>{static_cast<_Float16>(halves[0] + added[0]),
                                    static_cast<_Float16>(halves[1] + added[1])});
      })};
}

// What a buffer descriptor says, of four dwords.
struct BufferDescriptor {
  explicit BufferDescriptor(const Dword* dwords)
      : base(joined(dwords[0], dwords[1] & 0xffff)), is_swizzled(dwords[1] >> 31 != 0) {}

  Qword base;
  bool is_swizzled;  // scratch
};

// Data, an offset in a VGPR or "off", the descriptor, and an offset that is scalar.
template <unsigned bytes, Access access, bool is_signed>
void use_buffer(Wave& wave, const Instruction& instruction) {
  if (instruction.has_index) {
    wave.stop(instruction, "buffers with an index are not emulated");
  }
  constexpr unsigned first = access == Access::store ? 1 : 0;
  constexpr unsigned dwords = (bytes + 3) / 4;
  const Operand& data = access == Access::store ? instruction.source[0] : instruction.destination;
  const BufferDescriptor buffer(&wave.scalars[instruction.source[first + 1].index]);
  const Dword scalar_offset = scalar_source(wave, instruction, first + 2);
  const unsigned offset_register = instruction.source[first].index;
  for_active_lanes(wave, [&](unsigned lane) {
    const Dword lane_offset =
        instruction.has_vector_offset ? wave.vector[offset_register][lane] : 0;
    const Qword offset = Qword{lane_offset} + as_bits(instruction.offset) + scalar_offset;
    Values values = {};
    for (unsigned number = 0; number < dwords && access == Access::store; ++number) {
      values[number] = wave.vector[data.index + number][lane];
    }
    if (buffer.is_swizzled) {
      access_scratch(wave, instruction, lane, offset, values.data(), bytes, access);
    } else {
      access_global(wave, instruction, buffer.base + offset, values.data(), bytes, access);
    }
    if (is_signed) {
      values[0] = sign_extended(values[0], 8 * bytes);
    }
    for (unsigned number = 0; number < dwords && access == Access::load; ++number) {
      wave.vector[data.index + number][lane] = values[number];
    }
  });
}

// A dword of each lane, to LDS: what is there in between nobody may read.
void load_to_lds(Wave& wave, const Instruction& instruction, const Addresses& addresses) {
  constexpr Dword lds_bits = 0xffff;
  LdsArrival arrival{wave.pending.number(),
                     &instruction,
                     (wave.scalars[scalar::m0] & lds_bits) + as_bits(instruction.offset),
                     wave.exec(),
                     {}};
  for_active_lanes(wave, [&](unsigned lane) {
    arrival.values[lane] = poison;
    access_global(wave, instruction, addresses[lane], &arrival.values[lane], sizeof(Dword),
                  Access::load);
    wave.block->lds.store(wave, instruction, arrival.address_of(lane), &poison, sizeof poison);
  });
  wave.arriving.push_back(arrival);
}

void load_global_to_lds(Wave& wave, const Instruction& instruction) {
  load_to_lds(wave, instruction, addresses_of(wave, instruction, 1));
}

void load_buffer_to_lds(Wave& wave, const Instruction& instruction) {
  const BufferDescriptor buffer(&wave.scalars[instruction.source[1].index]);
  if (instruction.has_index || buffer.is_swizzled) {
    wave.stop(instruction, "such buffers are not emulated for loads to LDS");
  }
  const Dword scalar_offset = scalar_source(wave, instruction, 2);
  Addresses addresses = {};
  for_active_lanes(wave, [&](unsigned lane) {
    const Dword lane_offset =
        instruction.has_vector_offset ? wave.vector[instruction.source[0].index][lane] : 0;
    addresses[lane] = buffer.base + lane_offset + as_bits(instruction.offset) + scalar_offset;
  });
  load_to_lds(wave, instruction, addresses);
}

template <unsigned bytes, bool is_signed = false>
void define_load(InstructionSet& set, const std::string& name) {
  const Layout layout = Layout::destination_first;
  set["global_load_" + name] = {Unit::vector_memory, layout, load<bytes, is_signed>};
  set["flat_load_" + name] = {Unit::flat, layout, load<bytes, is_signed>};
  set["buffer_load_" + name] = {Unit::vector_memory, layout,
                                use_buffer<bytes, Access::load, is_signed>};
}

template <unsigned bytes>
void define_store(InstructionSet& set, const std::string& name) {
  const Layout layout = Layout::sources;
  set["global_store_" + name] = {Unit::vector_memory, layout, store<bytes, 0>};
  set["flat_store_" + name] = {Unit::flat, layout, store<bytes, 0>};
  set["buffer_store_" + name] = {Unit::vector_memory, layout,
                                 use_buffer<bytes, Access::store, false>};
}

template <unsigned bytes>
void define_upper_store(InstructionSet& set, const std::string& name) {
  set["global_store_" + name] = {Unit::vector_memory, Layout::sources, store<bytes, 16>};
  set["flat_store_" + name] = {Unit::flat, Layout::sources, store<bytes, 16>};
}

}  // namespace

void add_memory_instructions(InstructionSet& set) {
  define_load<1>(set, "ubyte");
  define_load<1, true>(set, "sbyte");
  define_load<2>(set, "ushort");
  define_load<2, true>(set, "sshort");
  define_load<4>(set, "dword");
  define_load<8>(set, "dwordx2");
  define_load<12>(set, "dwordx3");
  define_load<16>(set, "dwordx4");
  set["global_load_dword lds"] = {Unit::vector_memory, Layout::sources, load_global_to_lds};
  set["buffer_load_dword lds"] = {Unit::vector_memory, Layout::sources, load_buffer_to_lds};
  define_store<1>(set, "byte");
  define_store<2>(set, "short");
  define_store<4>(set, "dword");
  define_store<8>(set, "dwordx2");
  define_store<12>(set, "dwordx3");
  define_store<16>(set, "dwordx4");
  define_upper_store<1>(set, "byte_d16_hi");
  define_upper_store<2>(set, "short_d16_hi");
  add_atomics(set);
}

}  // namespace emulator
