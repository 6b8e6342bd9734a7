// The vector unit on integers: moves, arithmetic, shifts, bit fields, carries, and lanes.
#include <algorithm>
#include <bit>

#include "operands.h"

namespace emulator {
namespace {

void define(InstructionSet& set, const std::string& name, Handler handler,
            Layout layout = Layout::destination_first) {
  set[name] = {Unit::vector, layout, handler};
}

Dword low_24(Dword value) { return value & 0xffffff; }
std::int32_t signed_24(Dword value) { return as_signed(sign_extended(value, 24)); }
Dword low_16(Dword value) { return value & 0xffff; }

void add_moves(InstructionSet& set) {
  define(set, "v_mov_b32", float_bits([](Dword a) { return a; }));
  for (const char* name : {"v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32"}) {
    define(set, name, integers([](Dword a) { return a; }));
  }
  define(
      set, "v_nop", [](Wave&, const Instruction&) {}, Layout::none);
  define(set, "v_cndmask_b32", [](Wave& wave, const Instruction& instruction) {
    Lanes space_a;
    Lanes space_b;
    Lanes result;
    const Dword* a = vector_source(wave, instruction, 0, space_a, true);
    const Dword* b = vector_source(wave, instruction, 1, space_b, true);
    const Qword mask = scalar_source_of_64(wave, instruction, 2);
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      result[lane] = has_lane(mask, lane) ? b[lane] : a[lane];
    }
    set_vector(wave, instruction, result);
  });
}

void add_logic(InstructionSet& set) {
  define(set, "v_not_b32", integers([](Dword a) { return ~a; }));
  define(set, "v_and_b32", integers([](Dword a, Dword b) { return a & b; }));
  define(set, "v_or_b32", integers([](Dword a, Dword b) { return a | b; }));
  define(set, "v_xor_b32", integers([](Dword a, Dword b) { return a ^ b; }));
  define(set, "v_xnor_b32", integers([](Dword a, Dword b) { return ~(a ^ b); }));
  define(set, "v_and_or_b32", integers([](Dword a, Dword b, Dword c) { return (a & b) | c; }));
  define(set, "v_or3_b32", integers([](Dword a, Dword b, Dword c) { return a | b | c; }));
  define(set, "v_xad_u32", integers([](Dword a, Dword b, Dword c) { return (a ^ b) + c; }));
  define(set, "v_bfi_b32", integers([](Dword a, Dword b, Dword c) { return (a & b) | (~a & c); }));
}

// With `clamp` they stop at the largest or smallest number in place of going round.
void add_sums(InstructionSet& set) {
  constexpr auto saturating = [](auto plain, auto saturated) {
    return [](Wave& wave, const Instruction& instruction) {
      if (instruction.clamp) {
        detail::apply<decltype(saturated), false>(wave, instruction, decltype(saturated){});
      } else {
        detail::apply<decltype(plain), false>(wave, instruction, decltype(plain){});
      }
    };
  };
  define(set, "v_add_u32",
         saturating([](Dword a, Dword b) { return a + b; },
                    [](Dword a, Dword b) { return a + b < a ? ~0U : a + b; }));
  define(set, "v_sub_u32",
         saturating([](Dword a, Dword b) { return a - b; },
                    [](Dword a, Dword b) { return b > a ? 0U : a - b; }));
  define(set, "v_subrev_u32",
         saturating([](Dword a, Dword b) { return b - a; },
                    [](Dword a, Dword b) { return a > b ? 0U : b - a; }));
  define(set, "v_add_i32", integers([](Dword a, Dword b) { return a + b; }));
  define(set, "v_sub_i32", integers([](Dword a, Dword b) { return a - b; }));
  define(set, "v_add3_u32", integers([](Dword a, Dword b, Dword c) { return a + b + c; }));
  define(set, "v_add_lshl_u32",
         integers([](Dword a, Dword b, Dword c) { return (a + b) << (c & 31); }));
  define(set, "v_lshl_add_u32",
         integers([](Dword a, Dword b, Dword c) { return (a << (b & 31)) + c; }));
  define(set, "v_add_u16", integers([](Dword a, Dword b) { return low_16(a + b); }));
  define(set, "v_sub_u16", integers([](Dword a, Dword b) { return low_16(a - b); }));
  define(set, "v_subrev_u16", integers([](Dword a, Dword b) { return low_16(b - a); }));
}

void add_products(InstructionSet& set) {
  define(set, "v_mul_lo_u32", integers([](Dword a, Dword b) { return a * b; }));
  define(set, "v_mul_hi_u32", integers([](Dword a, Dword b) { return high_half(Qword{a} * b); }));
  define(set, "v_mul_hi_i32", integers([](Dword a, Dword b) {
           return high_half(as_bits(std::int64_t{as_signed(a)} * as_signed(b)));
         }));
  define(set, "v_mul_u32_u24", integers([](Dword a, Dword b) { return low_24(a) * low_24(b); }));
  define(set, "v_mul_hi_u32_u24",
         integers([](Dword a, Dword b) { return high_half(Qword{low_24(a)} * low_24(b)); }));
  define(set, "v_mul_i32_i24", integers([](Dword a, Dword b) {
           return low_half(as_bits(std::int64_t{signed_24(a)} * signed_24(b)));
         }));
  define(set, "v_mad_u32_u24",
         integers([](Dword a, Dword b, Dword c) { return low_24(a) * low_24(b) + c; }));
  define(set, "v_mad_i32_i24", integers([](Dword a, Dword b, Dword c) {
           return low_half(as_bits(std::int64_t{signed_24(a)} * signed_24(b))) + c;
         }));
  define(set, "v_mul_lo_u16",
         integers([](Dword a, Dword b) { return low_16(low_16(a) * low_16(b)); }));
  for (const char* name : {"v_mad_u16", "v_mad_legacy_u16"}) {
    define(set, name,
           integers([](Dword a, Dword b, Dword c) { return low_16(low_16(a) * low_16(b) + c); }));
  }
}

void add_limits(InstructionSet& set) {
  define(set, "v_min_u32", integers([](Dword a, Dword b) { return std::min(a, b); }));
  define(set, "v_max_u32", integers([](Dword a, Dword b) { return std::max(a, b); }));
  define(set, "v_min_i32",
         integers([](Dword a, Dword b) { return as_bits(std::min(as_signed(a), as_signed(b))); }));
  define(set, "v_max_i32",
         integers([](Dword a, Dword b) { return as_bits(std::max(as_signed(a), as_signed(b))); }));
  define(set, "v_min3_u32", integers([](Dword a, Dword b, Dword c) {
           return std::min({a, b, c});
         }));
  define(set, "v_max3_u32", integers([](Dword a, Dword b, Dword c) {
           return std::max({a, b, c});
         }));
  define(set, "v_min3_i32", integers([](Dword a, Dword b, Dword c) {
           return as_bits(std::min({as_signed(a), as_signed(b), as_signed(c)}));
         }));
  define(set, "v_max3_i32", integers([](Dword a, Dword b, Dword c) {
           return as_bits(std::max({as_signed(a), as_signed(b), as_signed(c)}));
         }));
  define(set, "v_min_u16",
         integers([](Dword a, Dword b) { return std::min(low_16(a), low_16(b)); }));
  define(set, "v_max_u16",
         integers([](Dword a, Dword b) { return std::max(low_16(a), low_16(b)); }));
}

void add_shifts(InstructionSet& set) {
  define(set, "v_lshlrev_b32", integers([](Dword a, Dword b) { return b << (a & 31); }));
  define(set, "v_lshrrev_b32", integers([](Dword a, Dword b) { return b >> (a & 31); }));
  define(set, "v_ashrrev_i32",
         integers([](Dword a, Dword b) { return as_bits(as_signed(b) >> (a & 31)); }));
  define(set, "v_lshlrev_b16", integers([](Dword a, Dword b) { return low_16(b << (a & 15)); }));
  define(set, "v_lshrrev_b16", integers([](Dword a, Dword b) { return low_16(b) >> (a & 15); }));
  define(set, "v_ashrrev_i16", integers([](Dword a, Dword b) {
           return low_16(as_bits(as_signed(sign_extended(b, 16)) >> (a & 15)));
         }));
  define(set, "v_lshl_or_b32",
         integers([](Dword a, Dword b, Dword c) { return (a << (b & 31)) | c; }));
  define(set, "v_alignbit_b32",
         integers([](Dword a, Dword b, Dword c) { return low_half(joined(b, a) >> (c & 31)); }));
  define(set, "v_alignbyte_b32", integers([](Dword a, Dword b, Dword c) {
           return low_half(joined(b, a) >> (8 * (c & 3)));
         }));
}

// The amount is the first source, of 32 bits.
template <typename Operation>
constexpr Handler shift_of_64(Operation /*operation*/) {
  return [](Wave& wave, const Instruction& instruction) {
    Lanes amount_space;
    LanesOf64 value_space;
    LanesOf64 result;
    const Dword* amount = vector_source(wave, instruction, 0, amount_space, false);
    const Qword* value = vector_source_of_64(wave, instruction, 1, value_space, false);
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      result[lane] = Operation{}(value[lane], amount[lane] & 63);
    }
    set_vector_of_64(wave, instruction, result);
  };
}

void add_shifts_of_64(InstructionSet& set) {
  define(set, "v_lshlrev_b64", shift_of_64([](Qword value, Dword by) { return value << by; }));
  define(set, "v_lshrrev_b64", shift_of_64([](Qword value, Dword by) { return value >> by; }));
  define(set, "v_ashrrev_i64",
         shift_of_64([](Qword value, Dword by) { return as_bits(as_signed(value) >> by); }));
}

// v_perm_b32: each byte of the selector picks a byte of the pair, a byte of signs, 0 or 0xff.
Dword permuted(Dword a, Dword b, Dword selector) {
  const Qword bytes = joined(b, a);
  Dword result = 0;
  for (unsigned byte = 0; byte < 4; ++byte) {
    const Dword choice = selector >> (8 * byte) & 0xff;
    Dword chosen = 0;
    if (choice < 8) {
      chosen = bytes >> (8 * choice) & 0xff;
    } else if (choice < 12) {
      chosen = (bytes >> (16 * (choice - 8) + 15) & 1) != 0 ? 0xff : 0;
    } else if (choice > 12) {
      chosen = 0xff;
    }
    result |= chosen << (8 * byte);
  }
  return result;
}

void add_bits(InstructionSet& set) {
  constexpr Dword none = ~0U;
  define(set, "v_bfrev_b32", integers([](Dword a) {
           Dword reversed = 0;
           for (unsigned bit = 0; bit < 32; ++bit) {
             reversed |= (a >> bit & 1) << (31 - bit);
           }
           return reversed;
         }));
  define(set, "v_ffbh_u32",
         integers([](Dword a) { return a == 0 ? none : static_cast<Dword>(std::countl_zero(a)); }));
  define(set, "v_ffbl_b32",
         integers([](Dword a) { return a == 0 ? none : static_cast<Dword>(std::countr_zero(a)); }));
  define(set, "v_bcnt_u32_b32",
         integers([](Dword a, Dword b) { return static_cast<Dword>(std::popcount(a)) + b; }));
  define(set, "v_bfm_b32", integers([](Dword a, Dword b) { return low_bits(a & 31) << (b & 31); }));
  define(set, "v_bfe_u32",
         integers([](Dword a, Dword b, Dword c) { return a >> (b & 31) & low_bits(c & 31); }));
  define(set, "v_bfe_i32", integers([](Dword a, Dword b, Dword c) {
           const Dword shifted = as_bits(as_signed(a) >> (b & 31));
           return (c & 31) == 0 ? 0 : sign_extended(shifted, c & 31);
         }));
  define(set, "v_perm_b32", integers([](Dword a, Dword b, Dword c) { return permuted(a, b, c); }));
}

// The lanes below this one that are set: of the lower, or of the upper 32.
template <unsigned first_lane>
void count_below(Wave& wave, const Instruction& instruction) {
  Lanes space_a;
  Lanes space_b;
  Lanes result;
  const Dword* a = vector_source(wave, instruction, 0, space_a, false);
  const Dword* b = vector_source(wave, instruction, 1, space_b, false);
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    const Dword below = lane <= first_lane ? 0 : low_bits(lane - first_lane);
    result[lane] = static_cast<Dword>(std::popcount(a[lane] & below)) + b[lane];
  }
  set_vector(wave, instruction, result);
}

void multiply_add_of_64(Wave& wave, const Instruction& instruction, bool is_signed) {
  Lanes space_a;
  Lanes space_b;
  LanesOf64 space_c;
  LanesOf64 result;
  const Dword* a = vector_source(wave, instruction, 0, space_a, false);
  const Dword* b = vector_source(wave, instruction, 1, space_b, false);
  const Qword* c = vector_source_of_64(wave, instruction, 2, space_c, false);
  Qword carries = 0;
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    const Qword product = is_signed ? as_bits(std::int64_t{as_signed(a[lane])} * as_signed(b[lane]))
                                    : Qword{a[lane]} * b[lane];
    result[lane] = product + c[lane];
    carries |= Qword{result[lane] < product ? 1U : 0U} << lane;
  }
  set_vector_of_64(wave, instruction, result);
  set_mask(wave, instruction.second_destination, carries & wave.exec());
}

// The operation is of two dwords and the carry that comes in, and makes 33 bits.
template <bool takes_carry, typename Operation>
constexpr Handler carrying(Operation /*operation*/) {
  return [](Wave& wave, const Instruction& instruction) {
    Lanes space_a;
    Lanes space_b;
    Lanes result;
    const Dword* a = vector_source(wave, instruction, 0, space_a, false);
    const Dword* b = vector_source(wave, instruction, 1, space_b, false);
    const Qword before = takes_carry ? scalar_source_of_64(wave, instruction, 2) : 0;
    Qword carries = 0;
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      const Qword sum = Operation{}(Qword{a[lane]}, Qword{b[lane]}, before >> lane & 1);
      result[lane] = low_half(sum);
      carries |= (sum >> 32 & 1) << lane;
    }
    set_vector(wave, instruction, result);
    set_mask(wave, instruction.second_destination, carries & wave.exec());
  };
}

void add_carries(InstructionSet& set) {
  const auto define_carrying = [&](const std::string& name, Handler handler) {
    define(set, name, handler, Layout::two_destinations);
  };
  const auto sum = [](Qword a, Qword b, Qword carry) { return a + b + carry; };
  const auto difference = [](Qword a, Qword b, Qword carry) { return a - b - carry; };
  const auto reversed = [](Qword a, Qword b, Qword carry) { return b - a - carry; };
  define_carrying("v_add_co_u32", carrying<false>(sum));
  define_carrying("v_addc_co_u32", carrying<true>(sum));
  define_carrying("v_sub_co_u32", carrying<false>(difference));
  define_carrying("v_subb_co_u32", carrying<true>(difference));
  define_carrying("v_subrev_co_u32", carrying<false>(reversed));
  define_carrying("v_subbrev_co_u32", carrying<true>(reversed));
  define_carrying("v_mad_u64_u32", [](Wave& wave, const Instruction& instruction) {
    multiply_add_of_64(wave, instruction, false);
  });
  define_carrying("v_mad_i64_i32", [](Wave& wave, const Instruction& instruction) {
    multiply_add_of_64(wave, instruction, true);
  });
}

void read_first_lane(Wave& wave, const Instruction& instruction) {
  const Operand& from = instruction.source[0];
  const Qword exec = wave.exec();
  const int lane = exec == 0 ? 0 : std::countr_zero(exec);
  set_scalar(wave, instruction,
             from.is_vector() ? wave.vector[from.index][static_cast<unsigned>(lane)]
                              : scalar_source(wave, instruction, 0));
}

void read_lane(Wave& wave, const Instruction& instruction) {
  set_scalar(
      wave, instruction,
      wave.vector[instruction.source[0].index][scalar_source(wave, instruction, 1) % wave_size]);
}

void write_lane(Wave& wave, const Instruction& instruction) {
  wave.vector[instruction.destination.index][scalar_source(wave, instruction, 1) % wave_size] =
      scalar_source(wave, instruction, 0);
}

void add_lanes(InstructionSet& set) {
  define(set, "v_mbcnt_lo_u32_b32", count_below<0>);
  define(set, "v_mbcnt_hi_u32_b32", count_below<32>);
  define(set, "v_readfirstlane_b32", read_first_lane);
  define(set, "v_readlane_b32", read_lane);
  define(set, "v_writelane_b32", write_lane);
}

}  // namespace

void add_vector_integer_instructions(InstructionSet& set) {
  add_moves(set);
  add_logic(set);
  add_sums(set);
  add_products(set);
  add_limits(set);
  add_shifts(set);
  add_shifts_of_64(set);
  add_bits(set);
  add_carries(set);
  add_lanes(set);
}

}  // namespace emulator
