// The scalar unit: integers, masks of lanes, and SCC.
#include <functional>

#include "bits.h"
#include "operations.h"

namespace emulator {
namespace {

// Both widths: "b32" and "b64".
template <typename Bits>
void add_logic(InstructionSet& set, const std::string& type) {
  set["s_and_" + type] = with_scc([](Bits a, Bits b) { return a & b; });
  set["s_or_" + type] = with_scc([](Bits a, Bits b) { return a | b; });
  set["s_xor_" + type] = with_scc([](Bits a, Bits b) { return a ^ b; });
  set["s_andn2_" + type] = with_scc([](Bits a, Bits b) { return a & ~b; });
  set["s_orn2_" + type] = with_scc([](Bits a, Bits b) { return a | ~b; });
  set["s_nand_" + type] = with_scc([](Bits a, Bits b) { return ~(a & b); });
  set["s_nor_" + type] = with_scc([](Bits a, Bits b) { return ~(a | b); });
  set["s_xnor_" + type] = with_scc([](Bits a, Bits b) { return ~(a ^ b); });
  set["s_not_" + type] = with_scc([](Bits a) { return ~a; });
  set["s_mov_" + type] = scalar_unit([](Bits a) { return a; });
  set["s_cmov_" + type] = scalar_unit([](bool& scc, Bits a, Bits old) { return scc ? a : old; });
  set["s_cselect_" + type] = scalar_unit([](bool& scc, Bits a, Bits b) { return scc ? a : b; });
  set["s_bcnt1_i32_" + type] = with_scc([](Bits a) { return ones(a); });
  set["s_ff1_i32_" + type] = scalar_unit([](Bits a) { return trailing_zeros(a); });
  set["s_flbit_i32_" + type] = scalar_unit([](Bits a) { return leading_zeros(a); });
}

// EXEC is saved, and becomes what the operation makes of the source and of what it was.
template <typename Operation>
Definition save_exec(Operation /*operation*/) {
  return {Unit::scalar, Layout::destination_first, [](Wave& wave, const Instruction& instruction) {
            const Qword source = scalar_source_of_64(wave, instruction, 0);
            const Qword exec = wave.exec();
            set_scalar_of_64(wave, instruction, exec);
            wave.set_pair(scalar::exec, Operation{}(source, exec));
            wave.scc = wave.exec() != 0;
          }};
}

void add_saves_of_exec(InstructionSet& set) {
  set["s_and_saveexec_b64"] = save_exec([](Qword a, Qword exec) { return a & exec; });
  set["s_or_saveexec_b64"] = save_exec([](Qword a, Qword exec) { return a | exec; });
  set["s_xor_saveexec_b64"] = save_exec([](Qword a, Qword exec) { return a ^ exec; });
  set["s_andn2_saveexec_b64"] = save_exec([](Qword a, Qword exec) { return a & ~exec; });
  set["s_orn2_saveexec_b64"] = save_exec([](Qword a, Qword exec) { return a | ~exec; });
  set["s_andn1_saveexec_b64"] = save_exec([](Qword a, Qword exec) { return ~a & exec; });
}

// SCC is what is carried, or borrowed.
Dword carried_sum(bool& scc, Qword sum) {
  scc = high_half(sum) != 0;
  return low_half(sum);
}

// Of SCC: that the signed result does not fit.
Dword sum_of_signed(bool& scc, std::int32_t a, std::int32_t b) {
  std::int32_t sum = 0;
  scc = __builtin_add_overflow(a, b, &sum);
  return as_bits(sum);
}
Dword difference_of_signed(bool& scc, std::int32_t a, std::int32_t b) {
  std::int32_t difference = 0;
  scc = __builtin_sub_overflow(a, b, &difference);
  return as_bits(difference);
}

// SCC says that it is the first.
template <typename Value>
void add_limits(InstructionSet& set, const std::string& type) {
  set["s_min_" + type] =
      scalar_unit([](bool& scc, Value a, Value b) { return (scc = a < b) ? a : b; });
  set["s_max_" + type] =
      scalar_unit([](bool& scc, Value a, Value b) { return (scc = a > b) ? a : b; });
}

void add_arithmetic(InstructionSet& set) {
  set["s_add_u32"] =
      scalar_unit([](bool& scc, Dword a, Dword b) { return carried_sum(scc, Qword{a} + b); });
  set["s_sub_u32"] =
      scalar_unit([](bool& scc, Dword a, Dword b) { return carried_sum(scc, Qword{a} - b); });
  set["s_addc_u32"] =
      scalar_unit([](bool& scc, Dword a, Dword b) { return carried_sum(scc, Qword{a} + b + scc); });
  set["s_subb_u32"] =
      scalar_unit([](bool& scc, Dword a, Dword b) { return carried_sum(scc, Qword{a} - b - scc); });
  set["s_lshl1_add_u32"] =
      scalar_unit([](bool& scc, Dword a, Dword b) { return carried_sum(scc, Qword{a} * 2 + b); });
  set["s_lshl2_add_u32"] =
      scalar_unit([](bool& scc, Dword a, Dword b) { return carried_sum(scc, Qword{a} * 4 + b); });
  set["s_lshl3_add_u32"] =
      scalar_unit([](bool& scc, Dword a, Dword b) { return carried_sum(scc, Qword{a} * 8 + b); });
  set["s_lshl4_add_u32"] =
      scalar_unit([](bool& scc, Dword a, Dword b) { return carried_sum(scc, Qword{a} * 16 + b); });
  set["s_add_i32"] = scalar_unit(
      [](bool& scc, std::int32_t a, std::int32_t b) { return sum_of_signed(scc, a, b); });
  set["s_sub_i32"] = scalar_unit(
      [](bool& scc, std::int32_t a, std::int32_t b) { return difference_of_signed(scc, a, b); });
  set["s_mul_i32"] = scalar_unit([](Dword a, Dword b) { return a * b; });
  set["s_mul_hi_u32"] = scalar_unit([](Dword a, Dword b) { return high_product<Qword>(a, b); });
  set["s_mul_hi_i32"] =
      scalar_unit([](std::int32_t a, std::int32_t b) { return high_product<std::int64_t>(a, b); });
  set["s_abs_i32"] = with_scc([](Dword a) { return as_signed(a) < 0 ? 0U - a : a; });
  // The other source is what the destination holds.
  set["s_movk_i32"] = set["s_mov_b32"];
  set["s_cmovk_i32"] = set["s_cmov_b32"];
  set["s_addk_i32"] = set["s_add_i32"];
  set["s_mulk_i32"] = set["s_mul_i32"];
}

void add_shifts(InstructionSet& set) {
  set["s_lshl_b32"] = with_scc([](Dword a, Dword b) { return a << (b & 31); });
  set["s_lshr_b32"] = with_scc([](Dword a, Dword b) { return a >> (b & 31); });
  set["s_ashr_i32"] = with_scc([](std::int32_t a, Dword b) { return a >> (b & 31); });
  set["s_lshl_b64"] = with_scc([](Qword a, Dword b) { return a << (b & 63); });
  set["s_lshr_b64"] = with_scc([](Qword a, Dword b) { return a >> (b & 63); });
  set["s_ashr_i64"] = with_scc([](std::int64_t a, Dword b) { return a >> (b & 63); });
  set["s_sext_i32_i8"] = scalar_unit([](Dword a) { return sign_extended(a, 8); });
  set["s_sext_i32_i16"] = scalar_unit([](Dword a) { return sign_extended(a, 16); });
  set["s_pack_ll_b32_b16"] = scalar_unit([](Dword a, Dword b) { return low_16(a) | b << 16; });
  set["s_pack_lh_b32_b16"] =
      scalar_unit([](Dword a, Dword b) { return low_16(a) | (b & 0xffff0000); });
  set["s_pack_hh_b32_b16"] =
      scalar_unit([](Dword a, Dword b) { return a >> 16 | (b & 0xffff0000); });
}

// Bit fields: the second source holds the first bit, and from bit 16 on the width.
Dword width_of(Dword field) { return field >> 16 & 127; }

void add_bits(InstructionSet& set) {
  set["s_bfe_u32"] =
      with_scc([](Dword a, Dword field) { return a >> (field & 31) & low_bits(width_of(field)); });
  set["s_bfe_i32"] =
      with_scc([](Dword a, Dword field) { return signed_field(a, field & 31, width_of(field)); });
  set["s_bfe_u64"] = with_scc(
      [](Qword a, Dword field) { return a >> (field & 63) & low_bits_of_64(width_of(field)); });
  set["s_bfm_b32"] = scalar_unit([](Dword a, Dword b) { return low_bits(a & 31) << (b & 31); });
  set["s_brev_b32"] = scalar_unit([](Dword a) { return reversed(a); });
  set["s_bitset0_b32"] =
      scalar_unit([](Dword bit, Dword old) { return old & ~(1U << (bit & 31)); });
  set["s_bitset1_b32"] = scalar_unit([](Dword bit, Dword old) { return old | 1U << (bit & 31); });
  set["s_bitcmp0_b32"] = scalar_unit([](Dword a, Dword b) { return (a >> (b & 31) & 1) == 0; });
  set["s_bitcmp1_b32"] = scalar_unit([](Dword a, Dword b) { return (a >> (b & 31) & 1) != 0; });
}

template <typename Value>
void add_comparisons(InstructionSet& set, const std::string& type) {
  const auto define = [&]<typename Test>(const std::string& name, Test /*test*/) {
    const Definition comparison = scalar_unit([](Value a, Value b) { return Test{}(a, b); });
    set["s_cmp_" + name + type] = comparison;
    set["s_cmpk_" + name + type] = comparison;
  };
  define("eq_", std::equal_to<>{});
  define("lg_", std::not_equal_to<>{});
  define("gt_", std::greater<>{});
  define("ge_", std::greater_equal<>{});
  define("lt_", std::less<>{});
  define("le_", std::less_equal<>{});
}

}  // namespace

void add_scalar_instructions(InstructionSet& set) {
  add_logic<Dword>(set, "b32");
  add_logic<Qword>(set, "b64");
  add_saves_of_exec(set);
  add_limits<Dword>(set, "u32");
  add_limits<std::int32_t>(set, "i32");
  add_arithmetic(set);
  add_shifts(set);
  add_bits(set);
  add_comparisons<Dword>(set, "u32");
  add_comparisons<std::int32_t>(set, "i32");
  set["s_cmp_eq_u64"] = scalar_unit([](Qword a, Qword b) { return a == b; });
  set["s_cmp_lg_u64"] = scalar_unit([](Qword a, Qword b) { return a != b; });
}

}  // namespace emulator
