// What decides how a wave goes on: branches, barriers, waits, counters, and the end.
#include "code_object.h"
#include "operands.h"

namespace emulator {
namespace {

template <typename Condition>
constexpr Handler branch(Condition /*condition*/) {
  return [](Wave& wave, const Instruction& instruction) {
    if (Condition{}(wave)) {
      if (instruction.target < 0) {
        wave.stop(instruction, "the branch has no target");
      }
      wave.next = instruction.target;
    }
  };
}

void nothing(Wave& /*wave*/, const Instruction& /*instruction*/) {}

Qword address_after(const Wave& wave, const Instruction& instruction) {
  return reinterpret_cast<Qword>(wave.block->launch.object.base) + instruction.address +
         instruction.size;
}

void jump(Wave& wave, const Instruction& instruction, Qword address) {
  const int index = wave.block->launch.object.index_at(address);
  if (index < 0) {
    wave.stop(instruction, "the jump leads to no instruction");
  }
  wave.next = index;
}

// The hardware registers that are told (Vega ISA manual, S_GETREG_B32).
constexpr unsigned mode_register = 1;
constexpr unsigned id_register = 4;
constexpr unsigned memory_bases_register = 15;

Dword hardware_register(const Wave& wave, const Instruction& instruction, unsigned number) {
  switch (number) {
    case mode_register:
      return 0xf0;  // subnormals are kept
    case id_register: {
      // Wave, SIMD, and from bit 8 on the CU, of its shader engine in bit 13.
      constexpr unsigned units_of_engine = 16;
      const unsigned unit = wave.unit();
      return (wave.index / 4 & 15) | (wave.index & 3) << 4 | (unit % units_of_engine) << 8 |
             (unit / units_of_engine & 7) << 13;
    }
    case memory_bases_register:
      return static_cast<Dword>(shared_aperture >> 48 << 16 | private_aperture >> 48);
    default:
      wave.stop(instruction, "the hardware register is not emulated");
  }
}

void get_register(Wave& wave, const Instruction& instruction) {
  const unsigned field = instruction.immediate();
  const Dword value = hardware_register(wave, instruction, field & 63);
  set_scalar(wave, instruction, value >> (field >> 6 & 31) & low_bits((field >> 11 & 31) + 1));
}

// vmcnt has four bits, and two more at the top (Vega ISA manual, S_WAITCNT).
void wait(Wave& wave, const Instruction& instruction) {
  const unsigned counts = instruction.immediate();
  wave.pending.wait(wave, (counts & 15) | (counts >> 14 & 3) << 4, counts >> 8 & 15);
}

void meet(Wave& wave, const Instruction& instruction) {
  if (wave.pending.has_lds()) {
    wave.report(mistake::lds_before_barrier, instruction,
                [] { return "LDS accesses are in flight at the barrier"; });
  }
  wave.is_at_barrier = true;
}

void read_scalar_memory(Wave& wave, const Instruction& instruction) {
  const Qword base = scalar_source_of_64(wave, instruction, 0);
  const Qword more = instruction.sources > 1 ? scalar_source(wave, instruction, 1) : 0;
  const Qword address = (base + more + as_bits(std::int64_t{instruction.offset})) & ~Qword{3};
  std::array<Dword, 16> values = {};
  if (!wave.machine().memory.load(wave, address, values.data(), 4U * instruction.dwords, false)) {
    wave.report(mistake::out_of_bounds, instruction, [] { return "load from no allocation"; });
  }
  for (unsigned dword = 0; dword < instruction.dwords; ++dword) {
    wave.scalars[instruction.destination.index + dword] = values[dword];
  }
}

// Reading takes its time.
void read_clock(Wave& wave, const Instruction& instruction, Qword nanoseconds, bool is_still,
                Qword per_tick) {
  Machine& machine = wave.machine();
  machine.clock += nanoseconds;
  constexpr Qword still = 1'000'000;
  set_scalar_of_64(wave, instruction, (is_still ? still : machine.clock) / per_tick);
}

void read_counter(Wave& wave, const Instruction& instruction) {
  read_clock(wave, instruction, 8, wave.machine().options.still_counter, 1);
}

// It ticks at 100 MHz.
void read_timer(Wave& wave, const Instruction& instruction) {
  read_clock(wave, instruction, 1000, wave.machine().options.still_timer, 10);
}

void start_indexing(Wave& wave, const Instruction& instruction) {
  wave.is_indexing = true;
  wave.indexed_uses = instruction.encoding >> 8 & 15;
  Dword& m0 = wave.scalars[scalar::m0];
  m0 = (m0 & ~0xf0ffU) | (scalar_source(wave, instruction, 0) & 0xff) | wave.indexed_uses << 12;
}

void set_index(Wave& wave, const Instruction& instruction) {
  Dword& m0 = wave.scalars[scalar::m0];
  m0 = (m0 & ~0xffU) | (scalar_source(wave, instruction, 0) & 0xff);
}

void add_branches(InstructionSet& set) {
  const auto define = [&](const std::string& name, Handler handler) {
    set[name] = {Unit::control, Layout::branch, handler};
  };
  define("s_branch", branch([](const Wave&) { return true; }));
  define("s_cbranch_scc0", branch([](const Wave& wave) { return !wave.scc; }));
  define("s_cbranch_scc1", branch([](const Wave& wave) { return wave.scc; }));
  define("s_cbranch_vccz", branch([](const Wave& wave) { return wave.vcc() == 0; }));
  define("s_cbranch_vccnz", branch([](const Wave& wave) { return wave.vcc() != 0; }));
  define("s_cbranch_execz", branch([](const Wave& wave) { return wave.exec() == 0; }));
  define("s_cbranch_execnz", branch([](const Wave& wave) { return wave.exec() != 0; }));
  set["s_getpc_b64"] = {Unit::scalar, Layout::destination_first,
                        [](Wave& wave, const Instruction& instruction) {
                          set_scalar_of_64(wave, instruction, address_after(wave, instruction));
                        }};
  set["s_setpc_b64"] = {Unit::scalar, Layout::sources,
                        [](Wave& wave, const Instruction& instruction) {
                          jump(wave, instruction, scalar_source_of_64(wave, instruction, 0));
                        }};
  set["s_swappc_b64"] = {Unit::scalar, Layout::destination_first,
                         [](Wave& wave, const Instruction& instruction) {
                           const Qword to = scalar_source_of_64(wave, instruction, 0);
                           set_scalar_of_64(wave, instruction, address_after(wave, instruction));
                           jump(wave, instruction, to);
                         }};
}

void add_waits(InstructionSet& set) {
  const auto define = [&](const std::string& name, Handler handler) {
    set[name] = {Unit::control, Layout::none, handler};
  };
  define("s_waitcnt", wait);
  define("s_barrier", meet);
  define("s_endpgm", [](Wave& wave, const Instruction&) { wave.has_ended = true; });
  define("s_nop",
         [](Wave& wave, const Instruction& instruction) { wave.time += instruction.immediate(); });
  define("s_sleep", [](Wave& wave, const Instruction& instruction) {
    wave.yields = true;
    wave.machine().clock += Qword{64} * (instruction.immediate() & 127);
  });
  define("s_trap", [](Wave& wave, const Instruction& instruction) {
    wave.stop(instruction, "the kernel traps");
  });
  for (const char* name : {"s_setprio", "s_icache_inv", "s_dcache_inv", "s_dcache_wb",
                           "s_setreg_b32", "s_setreg_imm32_b32", "buffer_wbl2"}) {
    define(name, nothing);
  }
  for (const char* name : {"buffer_wbinvl1_vol", "buffer_wbinvl1", "buffer_invl2"}) {
    define(name, [](Wave& wave, const Instruction&) {
      wave.machine().memory.invalidate_l1(wave.unit());
    });
  }
}

}  // namespace

void add_control_instructions(InstructionSet& set) {
  add_branches(set);
  add_waits(set);
  set["s_getreg_b32"] = {Unit::scalar, Layout::destination_first, get_register};
  set["s_set_gpr_idx_on"] = {Unit::control, Layout::sources, start_indexing};
  set["s_set_gpr_idx_idx"] = {Unit::control, Layout::sources, set_index};
  set["s_set_gpr_idx_off"] = {Unit::control, Layout::none,
                              [](Wave& wave, const Instruction&) { wave.is_indexing = false; }};
  for (const char* name :
       {"s_load_dword", "s_load_dwordx2", "s_load_dwordx4", "s_load_dwordx8", "s_load_dwordx16"}) {
    set[name] = {Unit::scalar_memory, Layout::destination_first, read_scalar_memory};
  }
  set["s_memtime"] = {Unit::scalar_memory, Layout::destination_first, read_counter};
  set["s_memrealtime"] = {Unit::scalar_memory, Layout::destination_first, read_timer};
}

}  // namespace emulator
