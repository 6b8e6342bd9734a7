// Shared by the stages by MFMA in FP32 and FP64: a block's tile, its way to LDS and from there to
// the instruction, and to C. FP16's are in hgemm: their operands are pairs.
//
// An MFMA takes one value of A and one of B from a lane. The mapping of our rows, columns and k to
// the instruction's is free as long as both matrices agree, so a lane can load both from LDS 16
// bytes at a time, and both tiles have in LDS the layout of memory:
//   of A neighbours along k: the first goes to one instruction, the second to the next
//   of B neighbours in a row: the first goes to the sums of one block of columns, the second to
//     those of the next; and a lane's sums are neighbours in C, stored 16 bytes at a time
#pragma once

#include <hipscope/hipscope.h>

#include <string>
#include <utility>

#include "8-kernels/gemm/place_of_piece.h"
#include "8-kernels/gemm/split_tiles.h"
#include "8-kernels/gemm/stage.h"
#include "hipscope/matrix/mfma.h"

#if !defined(HIPSCOPE_BACKEND_NVIDIA)

namespace gemm::mfma {

/// The instruction for a type of value, and 16 bytes of neighbours. (HIP's vectors are classes,
/// which clang keeps in scratch where they are assigned to under a condition.)
template <typename Value>
struct Types;
template <>
struct Types<float> {
  using Code = matrix_rate::MfmaFp32Side32;  ///< 32 x 32 sums, 2 along k
  using Piece = float __attribute__((vector_size(16)));
};
template <>
struct Types<double> {
  using Code = matrix_rate::MfmaFp64;  ///< 16 x 16 sums, 4 along k; CDNA 2 and later
  using Piece = double __attribute__((vector_size(16)));
};

/// The instruction, where it is; and the host backend, whose model is for its waves.
template <typename Value>
constexpr Needs needs_of() {
  using Code = typename Types<Value>::Code;
  return {.what = sizeof(Value) == 4 ? "MFMA" : "MFMA of FP64, CDNA 2 and later",
          .on =
              [](const std::string& architecture) {
                return matrix_rate::cdna_generation(architecture) >= Code::since ||
                       is_host(architecture);
              },
          .lanes = Code::lanes};
}

/// A block's `rows_` x `columns_` of C, of which a wave has `wave_rows_` x `wave_columns_`.
template <typename Value_, unsigned rows_, unsigned columns_, unsigned wave_rows_,
          unsigned wave_columns_, typename Code_ = typename Types<Value_>::Code>
struct Tile {
  using Value = Value_;
  using Piece = typename Types<Value>::Piece;
  using Code = Code_;
  static constexpr unsigned rows = rows_;
  static constexpr unsigned columns = columns_;
  static constexpr unsigned wave_rows = wave_rows_;
  static constexpr unsigned wave_columns = wave_columns_;
  static constexpr unsigned waves_down = rows / wave_rows;
  static constexpr unsigned threads = Code::lanes * waves_down * (columns / wave_columns);
  static constexpr unsigned piece = 16 / sizeof(Value);    ///< values
  static constexpr unsigned depth = 4 * piece;             ///< of k in LDS: rows of 64 bytes
  static constexpr unsigned fragment_k = Code::k * piece;  ///< that a lane's pieces are of
  static constexpr unsigned fragments = depth / fragment_k;
  static constexpr unsigned down = wave_rows / Code::m;  ///< blocks of sums of a wave
  static constexpr unsigned across = wave_columns / Code::n;
  static_assert(across % piece == 0);

  /// The first row and column of a thread's wave.
  __device__ static unsigned first_row(unsigned thread) {
    return thread / Code::lanes % waves_down * wave_rows;
  }
  __device__ static unsigned first_column(unsigned thread) {
    return thread / Code::lanes / waves_down * wave_columns;
  }
};

/// A tile of A and one of B.
template <typename Tile>
struct Lds {
  using Piece = typename Tile::Piece;
  Piece a[Tile::rows * 4];  ///< place_of_piece() says where
  Piece b[Tile::depth][Tile::columns / Tile::piece];
};

/// What a thread brings of the next tiles: pieces of rows of A and of B.
template <typename Tile>
class Copy {
 public:
  using Value = typename Tile::Value;
  using Piece = typename Tile::Piece;

  /// Of `tiles` tiles from `first_k` on.
  __device__ Copy(const Extents& extents, const Value* a, const Value* b, unsigned row,
                  unsigned column, unsigned first_k, unsigned tiles)
      : lda_(extents.lda),
        ldb_(extents.ldb),
        left_((tiles - 1) * Tile::depth),
        thread_(thread_index()),
        a_(a + std::size_t{row} * extents.lda + first_k),
        b_(b + std::size_t{first_k} * extents.ldb + column),
        from_a_((a_row() * extents.lda + a_piece() * Tile::piece) * unsigned{sizeof(Value)}),
        from_b_((b_k() * extents.ldb + b_piece() * Tile::piece) * unsigned{sizeof(Value)}) {}

  /// The thread's index, of which clang knows nothing before: in a loop over tiles of C it would
  /// compute all places ahead of the loop and keep them.
  [[nodiscard]] __device__ unsigned thread() const { return thread_; }

  /// Into registers; goes on to the next tiles. After the last ones those are loaded once more: in
  /// the loop there is nothing to decide.
  __device__ void load() {
#pragma unroll
    for (unsigned i = 0; i < a_pieces; ++i) {
      of_a_[i] = at(a_ + std::size_t{i * a_rows} * lda_, from_a_);
    }
#pragma unroll
    for (unsigned i = 0; i < b_pieces; ++i) {
      of_b_[i] = at(b_ + std::size_t{i * b_rows} * ldb_, from_b_);
    }
    const unsigned k = left_ < Tile::depth ? left_ : Tile::depth;
    left_ -= k;
    a_ += k;
    b_ += std::size_t{k} * ldb_;
  }
  __device__ void store(Lds<Tile>& lds) const {
#pragma unroll
    for (unsigned i = 0; i < a_pieces; ++i) {
      lds.a[place_of_piece(a_row() + i * a_rows, a_piece())] = of_a_[i];
    }
#pragma unroll
    for (unsigned i = 0; i < b_pieces; ++i) {
      lds.b[b_k() + i * b_rows][b_piece()] = of_b_[i];
    }
  }

 private:
  static constexpr unsigned a_rows = Tile::threads / 4;  // at once
  static constexpr unsigned a_pieces = Tile::rows / a_rows;
  static constexpr unsigned row_pieces = Tile::columns / Tile::piece;
  static constexpr unsigned b_rows = Tile::threads / row_pieces;
  static constexpr unsigned b_pieces = Tile::depth / b_rows;
  static_assert(Tile::rows % a_rows == 0 && Tile::threads % row_pieces == 0 &&
                Tile::depth % b_rows == 0);
  [[nodiscard]] __device__ unsigned a_row() const { return thread_ / 4; }
  [[nodiscard]] __device__ unsigned a_piece() const { return thread_ % 4; }
  [[nodiscard]] __device__ unsigned b_k() const { return thread_ / row_pieces; }
  [[nodiscard]] __device__ unsigned b_piece() const { return thread_ % row_pieces; }
  /// The data `bytes` from an address that all lanes share: a load adds the two by itself.
  __device__ static const Piece& at(const Value* base, unsigned bytes) {
    return *reinterpret_cast<const Piece*>(reinterpret_cast<const char*>(base) + bytes);
  }

  unsigned lda_;
  unsigned ldb_;
  unsigned left_;  // of k, after the next tiles' first
  unsigned thread_;
  const Value* a_;
  const Value* b_;
  unsigned from_a_;
  unsigned from_b_;
  Piece of_a_[a_pieces];
  Piece of_b_[b_pieces];
};

/// A lane's operands of `Tile::fragment_k` k.
template <typename Tile>
struct Fragments {
  using Code = typename Tile::Code;
  using Piece = typename Tile::Piece;

  __device__ void load(const Lds<Tile>& lds, unsigned k, unsigned thread) {
    const unsigned lane = thread % Code::lanes;
    const unsigned along_k = lane / Code::m;
    const unsigned first_row = Tile::first_row(thread);
    const unsigned first_column = Tile::first_column(thread);
#pragma unroll
    for (unsigned i = 0; i < Tile::down; ++i) {
      left[i] = lds.a[place_of_piece(first_row + i * Code::m + lane % Code::m,
                                     k / Tile::piece + along_k)];
    }
#pragma unroll
    for (unsigned s = 0; s < Tile::piece; ++s) {
#pragma unroll
      for (unsigned j = 0; j < Tile::across / Tile::piece; ++j) {
        right[s][j] = lds.b[k + along_k * Tile::piece + s]
                           [first_column / Tile::piece + j * Code::n + lane % Code::n];
      }
    }
  }

  Piece left[Tile::down];
  Piece right[Tile::piece][Tile::across / Tile::piece];
};

/// One of an instruction's sums. On a GPU as a part of the vector that the instruction takes: of
/// arrays whose parts are loaded one by one clang 22 keeps some in scratch.
template <typename Sum>
__device__ typename Sum::Value value_of(const Sum& sum, unsigned element) {
#if defined(__HIP_DEVICE_COMPILE__)
  return __builtin_bit_cast(matrix_rate::Vector<typename Sum::Value, Sum::count>, sum)[element];
#else
  return sum.value[element];
#endif
}

/// A lane's sums.
template <typename Tile>
struct Sums {
  using Code = typename Tile::Code;
  using Value = typename Tile::Value;
  using Piece = typename Tile::Piece;

  __device__ Sums() {
#if defined(__HIP_DEVICE_COMPILE__)
    if constexpr (MATRIX_RATE_CDNA < Code::since) {
      __builtin_trap();  // never launched there: nothing of the kernel is compiled
    }
#endif
  }

  __device__ void multiply_add(const Fragments<Tile>& of) {
#pragma unroll
    for (unsigned s = 0; s < Tile::piece; ++s) {
#pragma unroll
      for (unsigned i = 0; i < Tile::down; ++i) {
#pragma unroll
        for (unsigned j = 0; j < Tile::across; ++j) {
          Code::multiply_add(sums[i][j], typename Code::A{of.left[i][s]},
                             typename Code::B{of.right[s][j / Tile::piece][j % Tile::piece]});
        }
      }
    }
  }

  /// Calls body(row, column, piece) for each piece of the lane's sums, with its place in the tile.
  template <typename Body>
  __device__ void for_each_piece(const Body& body) {
    const unsigned thread = thread_index();  // as in Copy
    const unsigned lane = thread % Code::lanes;
    constexpr unsigned in_row = Tile::across / Tile::piece;
    const auto one = [&]<unsigned number>() {
      constexpr unsigned i = number / in_row / Code::sum_elements;
      constexpr unsigned e = number / in_row % Code::sum_elements;
      constexpr unsigned j = number % in_row * Tile::piece;
      const matrix_rate::Place at = Code::sum_place(lane, e);
      const Piece piece = [&]<unsigned... p>(std::integer_sequence<unsigned, p...>) {
        return Piece{value_of(sums[i][j + p], e)...};
      }
      (std::make_integer_sequence<unsigned, Tile::piece>{});
      body(Tile::first_row(thread) + i * Code::m + at.row,
           Tile::first_column(thread) + j * Code::n + at.column * Tile::piece, piece);
    };
    [&]<unsigned... number>(std::integer_sequence<unsigned, number...>) {
      (one.template operator()<number>(), ...);
    }
    (std::make_integer_sequence<unsigned, Tile::down * Code::sum_elements * in_row>{});
  }

  /// To C, of which the tile begins at `c`. With beta = 0 C is not read.
  __device__ void store(Value* c, unsigned ldc, Value alpha, Value beta) {
    for_each_piece([&](unsigned row, unsigned column, Piece piece) {
      store_piece_of_c(c + std::size_t{row} * ldc + column, piece, alpha, beta);
    });
  }

  __device__ static void store_piece_of_c(Value* to, Piece piece, Value alpha, Value beta) {
    auto& at = *reinterpret_cast<Piece*>(to);
    at = beta == 0 ? alpha * piece : alpha * piece + beta * at;
  }

  typename Code::Sum sums[Tile::down][Tile::across] = {};
};

/// "MFMA, fragments of 16 bytes"
inline std::string name_of(const std::string& what) { return "MFMA, " + what; }

/// A stage with such a tile, of which two are multiplied in a turn of its loop.
template <typename Tile>
Stage<typename Tile::Value> stage_of_tile(const std::string& what, const void* kernel,
                                          void (*enqueue)(const Stage<typename Tile::Value>&,
                                                          const Product<typename Tile::Value>&)) {
  return {.technique = name_of(what),
          .tiles = {Tile::rows, Tile::columns, 2 * Tile::depth, Tile::threads, Tile::wave_rows,
                    Tile::wave_columns},
          .unit = Unit::matrix,
          .kernel = kernel,
          .enqueue = enqueue,
          .needs = needs_of<typename Tile::Value>()};
}

/// The same with a kernel on one block per tile.
template <typename Tile, auto kernel>
Stage<typename Tile::Value> stage_of_tile(const std::string& what) {
  return stage_of_tile<Tile>(what, reinterpret_cast<const void*>(kernel),
                             gemm::enqueue<typename Tile::Value, kernel>);
}

}  // namespace gemm::mfma

#endif
