// The scalar unit: integers, masks of lanes, and SCC.
#include <algorithm>
#include <bit>
#include <functional>

#include "operands.h"

namespace emulator {
namespace {

// Handlers of operations on both sources, whose result is stored and, if it is not 0, sets SCC.

template <typename Operation>
constexpr Handler with_scc(Operation /*operation*/) {
  return [](Wave& wave, const Instruction& instruction) {
    const Dword a = scalar_source(wave, instruction, 0);
    const Dword b = instruction.sources > 1 ? scalar_source(wave, instruction, 1) : 0;
    const Dword result = Operation{}(a, b);
    set_scalar(wave, instruction, result);
    wave.scc = result != 0;
  };
}

template <typename Operation>
constexpr Handler with_scc_of_64(Operation /*operation*/) {
  return [](Wave& wave, const Instruction& instruction) {
    const Qword a = scalar_source_of_64(wave, instruction, 0);
    const Qword b = instruction.sources > 1 ? scalar_source_of_64(wave, instruction, 1) : 0;
    const Qword result = Operation{}(a, b);
    set_scalar_of_64(wave, instruction, result);
    wave.scc = result != 0;
  };
}

// 64 bits, and a second source of 32.
template <typename Operation>
constexpr Handler shift_of_64(Operation /*operation*/) {
  return [](Wave& wave, const Instruction& instruction) {
    const Qword result =
        Operation{}(scalar_source_of_64(wave, instruction, 0), scalar_source(wave, instruction, 1));
    set_scalar_of_64(wave, instruction, result);
    wave.scc = result != 0;
  };
}

template <typename Operation>
constexpr Handler without_scc(Operation /*operation*/) {
  return [](Wave& wave, const Instruction& instruction) {
    const Dword a = scalar_source(wave, instruction, 0);
    const Dword b = instruction.sources > 1 ? scalar_source(wave, instruction, 1) : 0;
    set_scalar(wave, instruction, Operation{}(a, b));
  };
}

// 64 bits in, 32 out.
template <typename Operation>
constexpr Handler counted_of_64(Operation /*operation*/) {
  return [](Wave& wave, const Instruction& instruction) {
    set_scalar(wave, instruction, Operation{}(scalar_source_of_64(wave, instruction, 0)));
  };
}

// The operation says by its last argument what SCC becomes; it comes with what SCC was.
template <typename Operation>
constexpr Handler with_carry(Operation /*operation*/) {
  return [](Wave& wave, const Instruction& instruction) {
    const Dword result = Operation{}(scalar_source(wave, instruction, 0),
                                     scalar_source(wave, instruction, 1), wave.scc);
    set_scalar(wave, instruction, result);
  };
}

template <typename Test>
constexpr Handler test(Test /*test*/) {
  return [](Wave& wave, const Instruction& instruction) {
    wave.scc = Test{}(scalar_source(wave, instruction, 0), scalar_source(wave, instruction, 1));
  };
}

template <typename Test>
constexpr Handler test_of_64(Test /*test*/) {
  return [](Wave& wave, const Instruction& instruction) {
    wave.scc = Test{}(scalar_source_of_64(wave, instruction, 0),
                      scalar_source_of_64(wave, instruction, 1));
  };
}

// s_cmpk: a register against the constant in the encoding.
template <typename Test>
constexpr Handler test_signed_constant(Test /*test*/) {
  return [](Wave& wave, const Instruction& instruction) {
    wave.scc = Test{}(as_signed(wave.scalars[instruction.destination.index]),
                      instruction.signed_immediate());
  };
}

template <typename Test>
constexpr Handler test_unsigned_constant(Test /*test*/) {
  return [](Wave& wave, const Instruction& instruction) {
    wave.scc = Test{}(wave.scalars[instruction.destination.index], Dword{instruction.immediate()});
  };
}

// EXEC is saved, and becomes what the operation makes of the source and of what it was.
template <typename Operation>
constexpr Handler save_exec(Operation /*operation*/) {
  return [](Wave& wave, const Instruction& instruction) {
    const Qword source = scalar_source_of_64(wave, instruction, 0);
    const Qword exec = wave.exec();
    set_scalar_of_64(wave, instruction, exec);
    wave.set_pair(scalar::exec, Operation{}(source, exec));
    wave.scc = wave.exec() != 0;
  };
}

void define(InstructionSet& set, const std::string& name, Handler handler,
            Layout layout = Layout::destination_first) {
  set[name] = {Unit::scalar, layout, handler};
}

// Both widths of a logical operation.
template <typename Operation>
void define_logic(InstructionSet& set, const std::string& name, Operation operation) {
  define(set, "s_" + name + "_b32", with_scc(operation));
  define(set, "s_" + name + "_b64", with_scc_of_64(operation));
}

void add_logic(InstructionSet& set) {
  define_logic(set, "and", [](auto a, auto b) { return a & b; });
  define_logic(set, "or", [](auto a, auto b) { return a | b; });
  define_logic(set, "xor", [](auto a, auto b) { return a ^ b; });
  define_logic(set, "andn2", [](auto a, auto b) { return a & ~b; });
  define_logic(set, "orn2", [](auto a, auto b) { return a | ~b; });
  define_logic(set, "nand", [](auto a, auto b) { return ~(a & b); });
  define_logic(set, "nor", [](auto a, auto b) { return ~(a | b); });
  define_logic(set, "xnor", [](auto a, auto b) { return ~(a ^ b); });
  define_logic(set, "not", [](auto a, auto /*none*/) { return ~a; });
  define(set, "s_and_saveexec_b64", save_exec([](Qword a, Qword exec) { return a & exec; }));
  define(set, "s_or_saveexec_b64", save_exec([](Qword a, Qword exec) { return a | exec; }));
  define(set, "s_xor_saveexec_b64", save_exec([](Qword a, Qword exec) { return a ^ exec; }));
  define(set, "s_andn2_saveexec_b64", save_exec([](Qword a, Qword exec) { return a & ~exec; }));
  define(set, "s_orn2_saveexec_b64", save_exec([](Qword a, Qword exec) { return a | ~exec; }));
  define(set, "s_andn1_saveexec_b64", save_exec([](Qword a, Qword exec) { return ~a & exec; }));
}

void add_moves(InstructionSet& set) {
  define(set, "s_mov_b32", without_scc([](Dword a, Dword) { return a; }));
  define(set, "s_mov_b64", [](Wave& wave, const Instruction& instruction) {
    set_scalar_of_64(wave, instruction, scalar_source_of_64(wave, instruction, 0));
  });
  define(set, "s_cmov_b32", [](Wave& wave, const Instruction& instruction) {
    if (wave.scc) {
      set_scalar(wave, instruction, scalar_source(wave, instruction, 0));
    }
  });
  define(set, "s_cmov_b64", [](Wave& wave, const Instruction& instruction) {
    if (wave.scc) {
      set_scalar_of_64(wave, instruction, scalar_source_of_64(wave, instruction, 0));
    }
  });
  define(set, "s_cselect_b32", [](Wave& wave, const Instruction& instruction) {
    set_scalar(wave, instruction, scalar_source(wave, instruction, wave.scc ? 0 : 1));
  });
  define(set, "s_cselect_b64", [](Wave& wave, const Instruction& instruction) {
    set_scalar_of_64(wave, instruction, scalar_source_of_64(wave, instruction, wave.scc ? 0 : 1));
  });
  define(set, "s_sext_i32_i8", without_scc([](Dword a, Dword) { return sign_extended(a, 8); }));
  define(set, "s_sext_i32_i16", without_scc([](Dword a, Dword) { return sign_extended(a, 16); }));
  define(set, "s_pack_ll_b32_b16",
         without_scc([](Dword a, Dword b) { return (a & 0xffff) | b << 16; }));
  define(set, "s_pack_lh_b32_b16",
         without_scc([](Dword a, Dword b) { return (a & 0xffff) | (b & 0xffff0000); }));
  define(set, "s_pack_hh_b32_b16",
         without_scc([](Dword a, Dword b) { return a >> 16 | (b & 0xffff0000); }));
}

void add_arithmetic(InstructionSet& set) {
  define(set, "s_add_u32", with_carry([](Dword a, Dword b, bool& scc) {
           scc = a + b < a;
           return a + b;
         }));
  define(set, "s_sub_u32", with_carry([](Dword a, Dword b, bool& scc) {
           scc = b > a;
           return a - b;
         }));
  define(set, "s_addc_u32", with_carry([](Dword a, Dword b, bool& scc) {
           const Qword sum = Qword{a} + b + (scc ? 1 : 0);
           scc = high_half(sum) != 0;
           return low_half(sum);
         }));
  define(set, "s_subb_u32", with_carry([](Dword a, Dword b, bool& scc) {
           const Qword taken = Qword{b} + (scc ? 1 : 0);
           scc = taken > a;
           return low_half(a - taken);
         }));
  define(set, "s_add_i32", with_carry([](Dword a, Dword b, bool& scc) {
           std::int32_t sum = 0;
           scc = __builtin_add_overflow(as_signed(a), as_signed(b), &sum);
           return as_bits(sum);
         }));
  define(set, "s_sub_i32", with_carry([](Dword a, Dword b, bool& scc) {
           std::int32_t difference = 0;
           scc = __builtin_sub_overflow(as_signed(a), as_signed(b), &difference);
           return as_bits(difference);
         }));
  define(set, "s_min_u32", with_carry([](Dword a, Dword b, bool& scc) {
           scc = a < b;
           return std::min(a, b);
         }));
  define(set, "s_max_u32", with_carry([](Dword a, Dword b, bool& scc) {
           scc = a > b;
           return std::max(a, b);
         }));
  define(set, "s_min_i32", with_carry([](Dword a, Dword b, bool& scc) {
           scc = as_signed(a) < as_signed(b);
           return scc ? a : b;
         }));
  define(set, "s_max_i32", with_carry([](Dword a, Dword b, bool& scc) {
           scc = as_signed(a) > as_signed(b);
           return scc ? a : b;
         }));
  define(set, "s_mul_i32", without_scc([](Dword a, Dword b) { return a * b; }));
  define(set, "s_mul_hi_u32",
         without_scc([](Dword a, Dword b) { return high_half(Qword{a} * b); }));
  define(set, "s_mul_hi_i32", without_scc([](Dword a, Dword b) {
           return high_half(as_bits(std::int64_t{as_signed(a)} * as_signed(b)));
         }));
  define(set, "s_abs_i32", with_scc([](Dword a, Dword) { return as_signed(a) < 0 ? 0U - a : a; }));
}

// (a << shift) + b, SCC on overflow of 32 bits.
template <unsigned shift>
constexpr Handler shift_and_add() {
  return with_carry([](Dword a, Dword b, bool& scc) {
    const Qword sum = (Qword{a} << shift) + b;
    scc = high_half(sum) != 0;
    return low_half(sum);
  });
}

void add_shifts(InstructionSet& set) {
  define(set, "s_lshl_b32", with_scc([](Dword a, Dword b) { return a << (b & 31); }));
  define(set, "s_lshr_b32", with_scc([](Dword a, Dword b) { return a >> (b & 31); }));
  define(set, "s_ashr_i32",
         with_scc([](Dword a, Dword b) { return as_bits(as_signed(a) >> (b & 31)); }));
  define(set, "s_lshl_b64", shift_of_64([](Qword a, Dword b) { return a << (b & 63); }));
  define(set, "s_lshr_b64", shift_of_64([](Qword a, Dword b) { return a >> (b & 63); }));
  define(set, "s_ashr_i64",
         shift_of_64([](Qword a, Dword b) { return as_bits(as_signed(a) >> (b & 63)); }));
  define(set, "s_lshl1_add_u32", shift_and_add<1>());
  define(set, "s_lshl2_add_u32", shift_and_add<2>());
  define(set, "s_lshl3_add_u32", shift_and_add<3>());
  define(set, "s_lshl4_add_u32", shift_and_add<4>());
}

// Bit fields: the second source holds the first bit, and from bit 16 on the width.
Dword width_of(Dword field) { return field >> 16 & 127; }

void add_bit_fields(InstructionSet& set) {
  define(set, "s_bfe_u32", with_scc([](Dword a, Dword field) {
           return a >> (field & 31) & low_bits(width_of(field));
         }));
  define(set, "s_bfe_i32", with_scc([](Dword a, Dword field) {
           const unsigned width = std::min(width_of(field), 32U);
           const Dword shifted = as_bits(as_signed(a) >> (field & 31));
           return width == 0 ? 0 : sign_extended(shifted, width);
         }));
  define(set, "s_bfe_u64", shift_of_64([](Qword a, Dword field) {
           return a >> (field & 63) & low_bits_of_64(width_of(field));
         }));
  define(set, "s_bfm_b32",
         without_scc([](Dword a, Dword b) { return low_bits(a & 31) << (b & 31); }));
  define(set, "s_bitset0_b32", [](Wave& wave, const Instruction& instruction) {
    wave.scalars[instruction.destination.index] &=
        ~(1U << (scalar_source(wave, instruction, 0) & 31));
  });
  define(set, "s_bitset1_b32", [](Wave& wave, const Instruction& instruction) {
    wave.scalars[instruction.destination.index] |= 1U << (scalar_source(wave, instruction, 0) & 31);
  });
  define(set, "s_bitcmp0_b32", test([](Dword a, Dword b) { return (a >> (b & 31) & 1) == 0; }),
         Layout::sources);
  define(set, "s_bitcmp1_b32", test([](Dword a, Dword b) { return (a >> (b & 31) & 1) != 0; }),
         Layout::sources);
}

void add_bit_counts(InstructionSet& set) {
  constexpr Dword none = ~0U;
  define(set, "s_brev_b32", without_scc([](Dword a, Dword) {
           Dword reversed = 0;
           for (unsigned bit = 0; bit < 32; ++bit) {
             reversed |= (a >> bit & 1) << (31 - bit);
           }
           return reversed;
         }));
  define(set, "s_bcnt1_i32_b32",
         with_scc([](Dword a, Dword) { return static_cast<Dword>(std::popcount(a)); }));
  define(set, "s_bcnt1_i32_b64", [](Wave& wave, const Instruction& instruction) {
    const auto count = static_cast<Dword>(std::popcount(scalar_source_of_64(wave, instruction, 0)));
    set_scalar(wave, instruction, count);
    wave.scc = count != 0;
  });
  define(set, "s_ff1_i32_b32", without_scc([](Dword a, Dword) {
           return a == 0 ? none : static_cast<Dword>(std::countr_zero(a));
         }));
  define(set, "s_ff1_i32_b64", counted_of_64([](Qword a) {
           return a == 0 ? none : static_cast<Dword>(std::countr_zero(a));
         }));
  define(set, "s_flbit_i32_b32", without_scc([](Dword a, Dword) {
           return a == 0 ? none : static_cast<Dword>(std::countl_zero(a));
         }));
  define(set, "s_flbit_i32_b64", counted_of_64([](Qword a) {
           return a == 0 ? none : static_cast<Dword>(std::countl_zero(a));
         }));
}

template <typename Test>
void define_comparison(InstructionSet& set, const std::string& name, Test the_test) {
  const auto signed_test = [](Dword a, Dword b) { return Test{}(as_signed(a), as_signed(b)); };
  define(set, "s_cmp_" + name + "_u32", test(the_test), Layout::sources);
  define(set, "s_cmp_" + name + "_i32", test(signed_test), Layout::sources);
  define(set, "s_cmpk_" + name + "_u32", test_unsigned_constant(the_test),
         Layout::register_and_immediate);
  define(set, "s_cmpk_" + name + "_i32", test_signed_constant(the_test),
         Layout::register_and_immediate);
}

void add_comparisons(InstructionSet& set) {
  define_comparison(set, "eq", std::equal_to<>{});
  define_comparison(set, "lg", std::not_equal_to<>{});
  define_comparison(set, "gt", std::greater<>{});
  define_comparison(set, "ge", std::greater_equal<>{});
  define_comparison(set, "lt", std::less<>{});
  define_comparison(set, "le", std::less_equal<>{});
  define(set, "s_cmp_eq_u64", test_of_64(std::equal_to<>{}), Layout::sources);
  define(set, "s_cmp_lg_u64", test_of_64(std::not_equal_to<>{}), Layout::sources);
}

void add_with_constants(InstructionSet& set) {
  const auto with_constant = [&](const std::string& name, Handler handler) {
    define(set, name, handler, Layout::register_and_immediate);
  };
  with_constant("s_movk_i32", [](Wave& wave, const Instruction& instruction) {
    set_scalar(wave, instruction, as_bits(instruction.signed_immediate()));
  });
  with_constant("s_cmovk_i32", [](Wave& wave, const Instruction& instruction) {
    if (wave.scc) {
      set_scalar(wave, instruction, as_bits(instruction.signed_immediate()));
    }
  });
  with_constant("s_addk_i32", [](Wave& wave, const Instruction& instruction) {
    const std::int32_t before = as_signed(wave.scalars[instruction.destination.index]);
    std::int32_t sum = 0;
    wave.scc = __builtin_add_overflow(before, instruction.signed_immediate(), &sum);
    set_scalar(wave, instruction, as_bits(sum));
  });
  with_constant("s_mulk_i32", [](Wave& wave, const Instruction& instruction) {
    set_scalar(
        wave, instruction,
        wave.scalars[instruction.destination.index] * as_bits(instruction.signed_immediate()));
  });
}

}  // namespace

void add_scalar_instructions(InstructionSet& set) {
  add_moves(set);
  add_logic(set);
  add_arithmetic(set);
  add_shifts(set);
  add_bit_fields(set);
  add_bit_counts(set);
  add_comparisons(set);
  add_with_constants(set);
}

}  // namespace emulator
