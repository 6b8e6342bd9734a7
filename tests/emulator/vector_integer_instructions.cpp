// The vector unit on integers: moves, arithmetic, shifts, bit fields, carries, and lanes.
#include <algorithm>
#include <bit>

#include "bits.h"
#include "operations.h"

namespace emulator {
namespace {

Dword low_24(Dword value) { return value & 0xffffff; }
std::int64_t signed_24(Dword value) { return as_signed(sign_extended(value, 24)); }
Dword product_24(Dword a, Dword b) { return low_half(as_bits(signed_24(a) * signed_24(b))); }

void add_moves_and_logic(InstructionSet& set) {
  set["v_nop"] = {Unit::vector, Layout::none, [](Wave&, const Instruction&) {}};
  set["v_mov_b32"] = vector_unit([](FloatBits a) { return a.bits; });
  for (const char* name : {"v_accvgpr_read_b32", "v_accvgpr_write_b32", "v_accvgpr_mov_b32"}) {
    set[name] = vector_unit([](Dword a) { return a; });
  }
  set["v_cndmask_b32"] =
      vector_unit([](FloatBits a, FloatBits b, bool second) { return second ? b.bits : a.bits; });
  set["v_not_b32"] = vector_unit([](Dword a) { return ~a; });
  set["v_and_b32"] = vector_unit([](Dword a, Dword b) { return a & b; });
  set["v_or_b32"] = vector_unit([](Dword a, Dword b) { return a | b; });
  set["v_xor_b32"] = vector_unit([](Dword a, Dword b) { return a ^ b; });
  set["v_xnor_b32"] = vector_unit([](Dword a, Dword b) { return ~(a ^ b); });
  set["v_and_or_b32"] = vector_unit([](Dword a, Dword b, Dword c) { return (a & b) | c; });
  set["v_or3_b32"] = vector_unit([](Dword a, Dword b, Dword c) { return a | b | c; });
  set["v_xad_u32"] = vector_unit([](Dword a, Dword b, Dword c) { return (a ^ b) + c; });
  set["v_bfi_b32"] = vector_unit([](Dword a, Dword b, Dword c) { return (a & b) | (~a & c); });
}

// With `clamp` they stop at the largest or smallest number in place of going round.
void add_sums(InstructionSet& set) {
  set["v_add_u32"] = vector_unit([](Dword a, Dword b) { return a + b; });
  set["v_sub_u32"] = vector_unit([](Dword a, Dword b) { return a - b; });
  set["v_subrev_u32"] = vector_unit([](Dword a, Dword b) { return b - a; });
  set["v_add_u32 clamp"] = vector_unit([](Dword a, Dword b) { return a + b < a ? ~0U : a + b; });
  set["v_sub_u32 clamp"] = vector_unit([](Dword a, Dword b) { return b > a ? 0U : a - b; });
  set["v_subrev_u32 clamp"] = vector_unit([](Dword a, Dword b) { return a > b ? 0U : b - a; });
  set["v_add_i32"] = set["v_add_u32"];
  set["v_sub_i32"] = set["v_sub_u32"];
  set["v_add_u16"] = vector_unit([](std::uint16_t a, std::uint16_t b) { return low_16(a + b); });
  set["v_sub_u16"] = vector_unit([](std::uint16_t a, std::uint16_t b) { return low_16(a - b); });
  set["v_subrev_u16"] = vector_unit([](std::uint16_t a, std::uint16_t b) { return low_16(b - a); });
  set["v_add3_u32"] = vector_unit([](Dword a, Dword b, Dword c) { return a + b + c; });
  set["v_add_lshl_u32"] =
      vector_unit([](Dword a, Dword b, Dword c) { return (a + b) << (c & 31); });
  set["v_lshl_add_u32"] =
      vector_unit([](Dword a, Dword b, Dword c) { return (a << (b & 31)) + c; });
}

void add_products(InstructionSet& set) {
  set["v_mul_lo_u32"] = vector_unit([](Dword a, Dword b) { return a * b; });
  set["v_mul_hi_u32"] = vector_unit([](Dword a, Dword b) { return high_product<Qword>(a, b); });
  set["v_mul_hi_i32"] =
      vector_unit([](std::int32_t a, std::int32_t b) { return high_product<std::int64_t>(a, b); });
  set["v_mul_u32_u24"] = vector_unit([](Dword a, Dword b) { return low_24(a) * low_24(b); });
  set["v_mul_hi_u32_u24"] =
      vector_unit([](Dword a, Dword b) { return high_product<Qword>(low_24(a), low_24(b)); });
  set["v_mul_i32_i24"] = vector_unit([](Dword a, Dword b) { return product_24(a, b); });
  set["v_mad_u32_u24"] =
      vector_unit([](Dword a, Dword b, Dword c) { return low_24(a) * low_24(b) + c; });
  set["v_mad_i32_i24"] =
      vector_unit([](Dword a, Dword b, Dword c) { return product_24(a, b) + c; });
  set["v_mul_lo_u16"] = vector_unit([](Dword a, Dword b) { return low_16(a * b); });
  for (const char* name : {"v_mad_u16", "v_mad_legacy_u16"}) {
    set[name] = vector_unit([](Dword a, Dword b, Dword c) { return low_16(a * b + c); });
  }
}

template <typename Value>
void add_limits(InstructionSet& set, const std::string& type) {
  set["v_min_" + type] = vector_unit([](Value a, Value b) { return std::min(a, b); });
  set["v_max_" + type] = vector_unit([](Value a, Value b) { return std::max(a, b); });
  if constexpr (sizeof(Value) == sizeof(Dword)) {
    set["v_min3_" + type] = vector_unit([](Value a, Value b, Value c) {
      return std::min({a, b, c});
    });
    set["v_max3_" + type] = vector_unit([](Value a, Value b, Value c) {
      return std::max({a, b, c});
    });
  }
}

void add_shifts(InstructionSet& set) {
  set["v_lshlrev_b32"] = vector_unit([](Dword a, Dword b) { return b << (a & 31); });
  set["v_lshrrev_b32"] = vector_unit([](Dword a, Dword b) { return b >> (a & 31); });
  set["v_ashrrev_i32"] = vector_unit([](Dword a, std::int32_t b) { return b >> (a & 31); });
  set["v_lshlrev_b16"] = vector_unit([](Dword a, Dword b) { return low_16(b << (a & 15)); });
  set["v_lshrrev_b16"] = vector_unit([](Dword a, Dword b) { return low_16(b) >> (a & 15); });
  set["v_ashrrev_i16"] =
      vector_unit([](Dword a, std::int16_t b) { return static_cast<std::int16_t>(b >> (a & 15)); });
  set["v_lshlrev_b64"] = vector_unit([](Dword a, Qword b) { return b << (a & 63); });
  set["v_lshrrev_b64"] = vector_unit([](Dword a, Qword b) { return b >> (a & 63); });
  set["v_ashrrev_i64"] = vector_unit([](Dword a, std::int64_t b) { return b >> (a & 63); });
  set["v_lshl_or_b32"] = vector_unit([](Dword a, Dword b, Dword c) { return (a << (b & 31)) | c; });
  set["v_alignbit_b32"] =
      vector_unit([](Dword a, Dword b, Dword c) { return low_half(joined(b, a) >> (c & 31)); });
  set["v_alignbyte_b32"] = vector_unit(
      [](Dword a, Dword b, Dword c) { return low_half(joined(b, a) >> (8 * (c & 3))); });
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

// The bits of the lanes below this one, of those from `first_lane` on.
Dword lanes_below(LaneNumber lane, Dword first_lane) {
  return lane.value <= first_lane ? 0 : low_bits(lane.value - first_lane);
}

void add_bits(InstructionSet& set) {
  set["v_bfrev_b32"] = vector_unit([](Dword a) { return reversed(a); });
  set["v_ffbh_u32"] = vector_unit([](Dword a) { return leading_zeros(a); });
  set["v_ffbl_b32"] = vector_unit([](Dword a) { return trailing_zeros(a); });
  set["v_bcnt_u32_b32"] = vector_unit([](Dword a, Dword b) { return ones(a) + b; });
  set["v_mbcnt_lo_u32_b32"] = vector_unit(
      [](Dword a, Dword b, LaneNumber lane) { return ones(a & lanes_below(lane, 0)) + b; });
  set["v_mbcnt_hi_u32_b32"] = vector_unit(
      [](Dword a, Dword b, LaneNumber lane) { return ones(a & lanes_below(lane, 32)) + b; });
  set["v_bfm_b32"] = vector_unit([](Dword a, Dword b) { return low_bits(a & 31) << (b & 31); });
  set["v_bfe_u32"] =
      vector_unit([](Dword a, Dword b, Dword c) { return a >> (b & 31) & low_bits(c & 31); });
  set["v_bfe_i32"] =
      vector_unit([](Dword a, Dword b, Dword c) { return signed_field(a, b & 31, c & 31); });
  set["v_perm_b32"] = vector_unit([](Dword a, Dword b, Dword c) { return permuted(a, b, c); });
}

// Of a result of 33 bits.
WithMask<Dword> carried(Qword sum) { return {low_half(sum), (sum >> 32 & 1) != 0}; }

template <typename Operation>
void define_carrying(InstructionSet& set, const char* name, const char* name_with_carry,
                     Operation /*operation*/) {
  set[name] = vector_unit([](Dword a, Dword b) { return carried(Operation{}(a, b, 0)); });
  set[name_with_carry] = vector_unit(
      [](Dword a, Dword b, bool carry) { return carried(Operation{}(a, b, Qword{carry})); });
}

template <typename Factor, typename Product>
Definition multiply_add_of_64() {
  return vector_unit([](Factor a, Factor b, Qword c) {
    const auto product = static_cast<Qword>(Product{a} * b);
    return WithMask<Qword>{product + c, product + c < product};
  });
}

void add_carries(InstructionSet& set) {
  define_carrying(set, "v_add_co_u32", "v_addc_co_u32",
                  [](Qword a, Qword b, Qword carry) { return a + b + carry; });
  define_carrying(set, "v_sub_co_u32", "v_subb_co_u32",
                  [](Qword a, Qword b, Qword carry) { return a - b - carry; });
  define_carrying(set, "v_subrev_co_u32", "v_subbrev_co_u32",
                  [](Qword a, Qword b, Qword carry) { return b - a - carry; });
  set["v_mad_u64_u32"] = multiply_add_of_64<Dword, Qword>();
  set["v_mad_i64_i32"] = multiply_add_of_64<std::int32_t, std::int64_t>();
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

}  // namespace

void add_vector_integer_instructions(InstructionSet& set) {
  add_moves_and_logic(set);
  add_sums(set);
  add_products(set);
  add_limits<Dword>(set, "u32");
  add_limits<std::int32_t>(set, "i32");
  add_limits<std::uint16_t>(set, "u16");
  add_shifts(set);
  add_bits(set);
  add_carries(set);
  set["v_readfirstlane_b32"] = {Unit::vector, Layout::destination_first, read_first_lane};
  set["v_readlane_b32"] = {Unit::vector, Layout::destination_first, read_lane};
  set["v_writelane_b32"] = {Unit::vector, Layout::destination_first, write_lane};
}

}  // namespace emulator
