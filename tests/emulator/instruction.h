// An instruction as the decoder leaves it, and the table that says what each one does.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "types.h"

namespace emulator {

struct Wave;
struct Instruction;
using Handler = void (*)(Wave&, const Instruction&);

/// Where instructions encode scalar registers that have names.
namespace scalar {
inline constexpr unsigned flat_scratch = 102;
inline constexpr unsigned xnack_mask = 104;
inline constexpr unsigned vcc = 106;
inline constexpr unsigned trap_temporary = 108;
inline constexpr unsigned m0 = 124;
inline constexpr unsigned exec = 126;
inline constexpr unsigned count = 128;
}  // namespace scalar

/// VGPRs come first, then accumulation registers (AGPRs).
inline constexpr unsigned first_accumulator = 256;
inline constexpr unsigned vector_registers = 512;

/// What an instruction does with an operand: the number of a source, or this for a destination.
inline constexpr unsigned destination_use = 3;

enum class Special : std::uint8_t {
  scc,
  vccz,
  execz,
  shared_base,
  shared_limit,
  private_base,
  private_limit
};

/// What of a register SDWA takes.
enum class Part : std::uint8_t { byte_0, byte_1, byte_2, byte_3, word_0, word_1, dword };

struct Operand {
  enum class Kind : std::uint8_t { none, vector, scalar, constant, special, off };

  Kind kind = Kind::none;
  std::uint16_t index = 0;  // of the first register
  std::uint8_t count = 1;   // registers
  Special special = Special::scc;
  Part part = Part::dword;
  bool negate = false;
  bool absolute = false;
  bool sign_extend = false;
  bool is_float = false;    // an inline constant such as 0.5
  bool is_literal = false;  // 32 bits after the instruction
  double floating = 0;
  std::int64_t integer = 0;

  bool is_vector() const { return kind == Kind::vector; }
  bool is_scalar() const { return kind == Kind::scalar; }
};

/// What executes an instruction: it decides how software waits for the result.
enum class Unit : std::uint8_t {
  control,
  scalar,
  vector,
  matrix,
  scalar_memory,
  vector_memory,
  lds,
  flat
};

/// Which operands an instruction writes.
enum class Layout : std::uint8_t {
  destination_first,
  two_destinations,  // the second is a mask of lanes
  sources,           // it writes none
  atomic,            // a destination with glc, else none
  branch,            // the target is in the encoding
  none
};

struct Instruction {
  Handler run = nullptr;
  Unit unit = Unit::control;
  Operand destination;
  Operand second_destination;
  std::array<Operand, 4> source;
  std::uint8_t sources = 0;
  std::uint8_t size = 4;  // bytes
  Qword address = 0;      // in the code object
  Dword encoding = 0;     // the first dword
  std::int32_t offset = 0;
  std::int32_t second_offset = 0;
  std::uint8_t dwords = 1;  // that a scalar load brings
  std::uint8_t output_modifier = 0;
  bool clamp = false;
  bool glc = false;
  bool has_vector_offset = false;  // offen
  bool has_index = false;          // idxen
  bool is_dpp = false;
  bool is_division_step = false;  // v_div_fmas reads VCC
  bool selects_lane = false;      // v_readlane, v_writelane
  bool loads_lds = false;         // a load whose data go to LDS, where m0 says
  Part destination_part = Part::dword;
  bool keeps_rest = false;                           // the bits outside destination_part stay
  std::array<std::int8_t, wave_size> crossing = {};  // DPP: the lane that each reads from; -1: none
  std::uint8_t row_mask = 0xf;
  std::uint8_t bank_mask = 0xf;
  bool zero_from_outside = false;  // bound_ctrl
  std::uint8_t select_low = 0;     // op_sel, op_sel_hi, neg_lo, neg_hi: a bit for each source
  std::uint8_t select_high = 0xf;
  std::uint8_t negate_low = 0;
  std::uint8_t negate_high = 0;
  int target = -1;  // of a branch: an index into the program
  std::string text;

  /// The constant in the encoding's lower half.
  std::uint16_t immediate() const { return static_cast<std::uint16_t>(encoding); }
  std::int32_t signed_immediate() const { return static_cast<std::int16_t>(encoding); }
};

struct Definition {
  Unit unit = Unit::control;
  Layout layout = Layout::destination_first;
  Handler run = nullptr;
};

/// What is emulated, by mnemonics without the endings _e32, _e64, _sdwa and _dpp. A modifier that
/// makes another instruction of it follows after a blank: "v_add_u32 clamp", "global_load_dword
/// lds".
using InstructionSet = std::unordered_map<std::string, Definition>;

void add_scalar_instructions(InstructionSet& set);
void add_control_instructions(InstructionSet& set);
void add_vector_integer_instructions(InstructionSet& set);
void add_vector_float_instructions(InstructionSet& set);
void add_vector_comparisons(InstructionSet& set);
void add_packed_instructions(InstructionSet& set);
void add_matrix_instructions(InstructionSet& set);
void add_memory_instructions(InstructionSet& set);

}  // namespace emulator
