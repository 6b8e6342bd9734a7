// Matrices for an instruction to multiply, in the places where it looks for them, and what must
// come out. Plain C++.
//
// A kernel multiplies by two pairs of matrices in turn, so that the operands of neighbouring
// instructions differ as they do in a product. The second pair is the first with its elements along
// k turned around and the signs of A changed: its products take away what the first one's added,
// and sums stay as small as they began, however long a chain is. To tell how many steps it made, a
// check leaves one product of the first pair out of the second.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include "hipscope/matrix/instruction.h"

namespace matrix_rate {

enum class Data { zeros, integers, random };

inline constexpr unsigned pairs = 2;

/// A matrix row by row.
struct Matrix {
  unsigned rows = 0;
  unsigned columns = 0;
  std::vector<double> values = std::vector<double>(std::size_t{rows} * columns);

  double& at(unsigned row, unsigned column) { return values[std::size_t{row} * columns + column]; }
  [[nodiscard]] double at(unsigned row, unsigned column) const {
    return values[std::size_t{row} * columns + column];
  }
};

struct Operands {
  std::array<Matrix, pairs> a;
  std::array<Matrix, pairs> b;
};

/// Values of one kind for one format: none, integers that every format holds, or any between -1 and
/// 1 (of integers between -127 and 127), each mantissa as likely as the others.
class Values {
 public:
  Values(Data data, const Format& format, std::uint64_t seed)
      : data_(data), format_(format), random_(seed) {}

  double next() {
    if (data_ == Data::zeros) {
      return 0;
    }
    if (data_ == Data::integers) {
      return static_cast<double>(static_cast<int>(random_() % 5) - 2);
    }
    if (format_.is_integer()) {
      return static_cast<double>(static_cast<int>(random_() % 255) - 127);
    }
    const double uniform = std::uniform_real_distribution<double>(-1, 1)(random_);
    return decode(format_, encode(format_, uniform));
  }

 private:
  Data data_;
  Format format_;
  std::mt19937_64 random_;
};

/// `leftover`: the second pair lacks one product of the first.
inline Operands make_operands(const Instruction& instruction, Data data, bool leftover,
                              std::uint64_t seed) {
  const unsigned stored = instruction.stored_k();
  Operands made;
  Values a_values(data, instruction.a, seed);
  Values b_values(data, instruction.b, seed + 1);
  for (unsigned pair = 0; pair < pairs; ++pair) {
    made.a[pair] = {.rows = instruction.m, .columns = instruction.k};
    made.b[pair] = {.rows = instruction.k, .columns = instruction.n};
    for (double& value : made.b[pair].values) {
      value = b_values.next();  // those that meet no stored element of A stay as they are
    }
  }
  const unsigned kept_column = stored / 2;
  for (unsigned column = 0; column < stored; ++column) {
    const unsigned k = true_k(instruction.sparsity, column);
    const unsigned turned = true_k(instruction.sparsity, stored - 1 - column);
    const bool is_left = leftover && column == kept_column;
    for (unsigned row = 0; row < instruction.m; ++row) {
      // One that is left adds 1 or -1 at every step, which tells steps by any sum.
      const double value = is_left ? 1.0 - 2 * (row % 2) : a_values.next();
      made.a[0].at(row, k) = value;
      made.a[1].at(row, turned) = is_left ? 0 : -value;
    }
    for (unsigned n = 0; n < instruction.n; ++n) {
      if (is_left) {
        made.b[0].at(k, n) = 1.0 - 2 * (n / 2 % 2);
      }
      made.b[1].at(turned, n) = made.b[0].at(k, n);
    }
  }
  return made;
}

/// What the sums of chain `chain` begin with.
inline Matrix make_starts(const Instruction& instruction, Data data, unsigned chain) {
  Matrix starts = {.rows = instruction.m, .columns = instruction.n};
  for (unsigned row = 0; row < instruction.m; ++row) {
    for (unsigned column = 0; column < instruction.n; ++column) {
      const unsigned mixed = 3 * row + 5 * column + 7 * chain + row * column;
      starts.at(row, column) = data == Data::zeros ? 0 : static_cast<int>(mixed % 9) - 4;
    }
  }
  return starts;
}

inline Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c = {.rows = a.rows, .columns = b.columns};
  for (unsigned row = 0; row < a.rows; ++row) {
    for (unsigned k = 0; k < a.columns; ++k) {
      for (unsigned column = 0; column < b.columns; ++column) {
        c.at(row, column) += a.at(row, k) * b.at(k, column);
      }
    }
  }
  return c;
}

/// Where byte `byte` of lane `lane` is among those of all lanes: one lane after the other, or,
/// where registers have `register_bytes` bytes, one register after the other.
inline std::size_t byte_place(const OperandLayout& layout, std::size_t lane_bytes, unsigned lane,
                              std::size_t byte, unsigned register_bytes) {
  return register_bytes == 0 ? lane * lane_bytes + byte
                             : (byte / register_bytes * layout.lanes + lane) * register_bytes +
                                   byte % register_bytes;
}

/// The bits of `matrix` as the lanes hold them; of a sparse A only what is stored.
inline std::vector<unsigned char> pack(const OperandLayout& layout, const Format& format,
                                       const Matrix& matrix, Sparsity sparsity = Sparsity::dense,
                                       unsigned register_bytes = 0) {
  const std::size_t lane_bytes = std::size_t{layout.elements} * format.bits / 8;
  std::vector<unsigned char> packed(layout.lanes * lane_bytes);
  for (unsigned lane = 0; lane < layout.lanes; ++lane) {
    for (unsigned element = 0; element < layout.elements; ++element) {
      const Place place = layout.place(lane, element);
      const std::uint64_t bits =
          encode(format, matrix.at(place.row, true_k(sparsity, place.column)));
      for (unsigned bit = 0; bit < format.bits; ++bit) {
        const std::size_t in_lane = std::size_t{element} * format.bits + bit;
        packed[byte_place(layout, lane_bytes, lane, in_lane / 8, register_bytes)] |=
            static_cast<unsigned char>((bits >> bit & 1) << in_lane % 8);
      }
    }
  }
  return packed;
}

/// Element `element` of lane `lane` of sums, whose formats have whole bytes.
inline double unpack(const OperandLayout& layout, const Format& format, const unsigned char* packed,
                     unsigned lane, unsigned element, unsigned register_bytes) {
  const std::size_t lane_bytes = std::size_t{layout.elements} * format.bits / 8;
  std::uint64_t bits = 0;
  for (unsigned i = 0; i < format.bits / 8; ++i) {
    const std::size_t byte = std::size_t{element} * format.bits / 8 + i;
    bits |= std::uint64_t{packed[byte_place(layout, lane_bytes, lane, byte, register_bytes)]}
            << 8 * i;
  }
  return decode(format, bits);
}

}  // namespace matrix_rate
