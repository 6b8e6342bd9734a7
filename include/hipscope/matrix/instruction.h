// What a matrix instruction is: D = A B + D for one group of lanes, whose registers (or LDS) hold
// the elements of A, B and D in places that the instruction prescribes. Plain C++.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hipscope/matrix/format.h"

namespace hipscope {
struct WaveTime;
}

namespace matrix_rate {

struct Place {
  unsigned row;
  unsigned column;
};

/// Where the elements of one operand are: element `element` in the registers of lane `lane`. An
/// operand in LDS is an array: one "lane" with all elements.
struct OperandLayout {
  unsigned lanes = 0;
  unsigned elements = 0;  ///< of each lane
  Place (*place)(unsigned lane, unsigned element) = nullptr;
};

/// Of A's elements along k only some are stored, and the others are zero: 2 of 4 (of TF32 1 of 2).
enum class Sparsity { dense, two_of_four, one_of_two };

constexpr Sparsity sparsity_of(const Format& format) {
  return format.bits == 32 ? Sparsity::one_of_two : Sparsity::two_of_four;
}

/// Of an instruction that no later GPU has dropped.
inline constexpr unsigned every_generation = ~0U;

/// The family of what is no matrix instruction.
inline constexpr const char* vector_family = "packed";

/// A kernel that repeats an instruction.
using Kernel = void (*)(const void* a, const void* b, const void* starts, void* ends,
                        hipscope::WaveTime* times, unsigned rounds);

/// The kernel in which each group of lanes has `chains` independent sums.
struct ChainKernel {
  unsigned chains;
  unsigned most_threads;  ///< of a block
  Kernel kernel;
};

/// What an instruction computes, and where its operands are.
struct Arithmetic {
  Format a;
  Format b;
  Format sum;
  unsigned m;
  unsigned n;
  unsigned k;
  unsigned lanes;  ///< that issue it together: a wave, or a group of four
  OperandLayout a_layout;
  OperandLayout b_layout;
  OperandLayout sum_layout;
  Sparsity sparsity = Sparsity::dense;
};

/// That of an instruction's type.
template <typename Code>
inline constexpr Arithmetic arithmetic_of = {
    .a = Code::a_format,
    .b = Code::b_format,
    .sum = Code::sum_format,
    .m = Code::m,
    .n = Code::n,
    .k = Code::k,
    .lanes = Code::lanes,
    .a_layout = {Code::a_lanes, Code::a_elements, &Code::a_place},
    .b_layout = {Code::b_lanes, Code::b_elements, &Code::b_place},
    .sum_layout = {Code::lanes, Code::sum_elements, &Code::sum_place},
    .sparsity = Code::sparsity};

struct Instruction : Arithmetic {
  std::string_view format;  ///< "FP16", as tables group them
  std::string_view name;    ///< "mma.sync m16n8k16"
  std::string_view family;  ///< "mma.sync", "wgmma", "MFMA", "WMMA", "packed"
  unsigned sum_register_bytes;
  unsigned peak_groups = 1;  ///< per CU, where it is to be fastest
  std::vector<ChainKernel> kernels{};
  Kernel once = nullptr;  ///< a single instruction, to see how it adds

  /// FMAs of one instruction; of a sparse one with those whose factor of A is a zero not stored.
  [[nodiscard]] double fmas() const { return double(m) * n * k; }
  [[nodiscard]] std::string title() const { return std::string(format) + " " + std::string(name); }
  /// Elements of A that are stored along k.
  [[nodiscard]] unsigned stored_k() const { return sparsity == Sparsity::dense ? k : k / 2; }
};

/// Which of its 4 (of TF32 2) places along k each stored element of A stands for, in every group
/// alike: the second and the fourth. As the instruction takes it, with 2 bits for each.
constexpr unsigned metadata_of(Sparsity sparsity) {
  return sparsity == Sparsity::one_of_two ? 0xEEEEEEEE : 0xDDDDDDDD;
}

/// The column of A's that its stored column `column` stands for.
constexpr unsigned true_k(Sparsity sparsity, unsigned column) {
  return sparsity == Sparsity::dense         ? column
         : sparsity == Sparsity::two_of_four ? column / 2 * 4 + column % 2 * 2 + 1
                                             : column * 2 + 1;
}

}  // namespace matrix_rate
