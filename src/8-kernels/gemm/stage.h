// What a stage of a ladder of matrix products is: a kernel, the tiles that it works on, and where
// it comes from. `Value`, of A and B, is float, double, or Half, BFloat16, E4M3 or E4M3Fnuz, whose
// sums and factors are float; `Result`, of C, is the same or float, of 8 bits Half or float.
#pragma once

#include <hipscope/describe_device.h>
#include <hipscope/half.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "needs.h"

namespace gemm {

using hipscope::BFloat16;
using hipscope::E4M3;
using hipscope::E4M3Fnuz;
using hipscope::Factor;
using hipscope::Half;

/// Of floats of 8 bits B is stored column by column: matrix instructions want k along the memory of
/// both factors, and can turn only those of 16 bits.
template <typename Value>
inline constexpr bool has_b_by_columns = sizeof(Value) == 1;

/// The sizes of C = alpha A B + beta C. All matrices are stored row by row, with this many elements
/// from one row to the next (of B, where it is stored by columns, from one column to the next).
struct Extents {
  unsigned m;  ///< rows of A and C
  unsigned n;  ///< columns of B and C
  unsigned k;  ///< columns of A, rows of B
  unsigned lda;
  unsigned ldb;
  unsigned ldc;
};

/// Where in memory an element of B is.
template <typename Value>
__host__ __device__ std::size_t place_in_b(const Extents& extents, unsigned k, unsigned column) {
  return has_b_by_columns<Value> ? std::size_t{column} * extents.ldb + k
                                 : std::size_t{k} * extents.ldb + column;
}

/// Whether a matrix's rows begin at multiples of 16 bytes.
template <typename Value>
bool begins_aligned(const Value* matrix, unsigned pitch) {
  return pitch % (16 / sizeof(Value)) == 0 && reinterpret_cast<std::uintptr_t>(matrix) % 16 == 0;
}

/// One product, as a kernel is asked for it.
template <typename Value, typename Result = Value>
struct Product {
  Extents extents;
  Factor<Value> alpha;
  const Value* a;
  const Value* b;
  Factor<Value> beta;
  Result* c;
  void* workspace = nullptr;  ///< for a stage that wants one: zeros at first, then as it leaves it
  unsigned choice = 0;        ///< of a stage that chooses by a model: from the likely fastest on
};

/// Every kernel takes the fields of a Product one by one: only of pointers that are parameters of
/// their own can be said that nothing else points there.
template <typename Value, typename Result = Value>
using Kernel = void (*)(Extents, Factor<Value>, const Value*, const Value*, Factor<Value>, Result*);

/// Whether all rows of A and B are whole pieces of 16 bytes.
template <typename Value, typename Result>
bool has_whole_pieces(const Product<Value, Result>& product) {
  constexpr unsigned piece = 16 / sizeof(Value);
  const Extents& extents = product.extents;
  return extents.k % piece == 0 && extents.n % piece == 0 &&
         begins_aligned(product.a, extents.lda) && begins_aligned(product.b, extents.ldb);
}

/// How much of the product a block, and a thread of it, has at once.
struct Tiles {
  unsigned block_rows;
  unsigned block_columns;
  unsigned depth;  ///< how much of k is in LDS at once; 1: no LDS
  unsigned threads;
  unsigned thread_rows;
  unsigned thread_columns;
};

/// The thread tile's loads from LDS, in bytes for each of its FMAs: for one k it loads a column of
/// A and a row of B, and computes all their products.
template <typename Value>
double lds_bytes_per_fma(const Tiles& tiles) {
  if (tiles.depth == 1) {
    return 0;
  }
  return sizeof(Value) * (1.0 / tiles.thread_rows + 1.0 / tiles.thread_columns);
}

/// By what a stage multiplies: each has a peak of its own.
enum class Unit { vector, matrix };

template <typename Value, typename Result = Value>
struct Stage {
  std::string technique{};      ///< the row's name
  std::string source_kernel{};  ///< the source's number, "3.1"; empty: ours
  Tiles tiles{};
  Unit unit = Unit::vector;
  unsigned dynamic_lds_bytes = 0;
  /// Takes any extents and addresses. Else m, n and k must be multiples of the tile's (k also of
  /// `k_multiple`) and more than 0, and every row must begin at a multiple of 16 bytes.
  bool any_size = false;
  unsigned k_multiple = 1;
  /// One of those that are measured at all sizes and against the vendor's library.
  bool is_contender = false;
  unsigned blocks_per_unit = 1;  ///< of those that share steps, for each CU
  const void* kernel = nullptr;  ///< for what the runtime knows of it
  void (*enqueue)(const Stage&, const Product<Value, Result>&) = nullptr;
  /// How many choices a Product can name; of a stage whose model chooses, as many as a library is
  /// asked for.
  unsigned choices = 1;
  /// Bytes of device memory that `enqueue` wants beside the matrices; none: it wants nothing.
  std::uint64_t (*workspace_bytes)(const Extents&) = nullptr;
  Needs needs{};
};

/// Of a model's choices, from the likely fastest on, that which a product names.
template <typename Choice>
const Choice& choice_of(const std::vector<Choice>& likely, unsigned choice) {
  return likely[std::min<std::size_t>(choice, likely.size() - 1)];
}
inline constexpr unsigned likely_choices = 16;

/// A model's choices for products of the last size: a product is often one of many of its size, and
/// a small one takes no longer than the model.
template <typename Size, typename Choices>
class LastChoices {
 public:
  /// `make()` makes them where the size is another.
  template <typename Make>
  const Choices& of(const Size& size, const Make& make) {
    if (size != size_) {
      choices_ = make();
      size_ = size;
    }
    return choices_;
  }

 private:
  std::optional<Size> size_;
  Choices choices_;
};

/// Of the device that is used.
inline unsigned device_attribute(hipDeviceAttribute_t attribute) {
  int device = 0;
  int found = 0;
  hipscope::check(hipGetDevice(&device));
  hipscope::check(hipDeviceGetAttribute(&found, attribute, device));
  return static_cast<unsigned>(found);
}
inline unsigned compute_units() {
  static const unsigned units = device_attribute(hipDeviceAttributeMultiprocessorCount);
  return units;
}

inline std::string device_architecture() {
  int device = 0;
  hipscope::check(hipGetDevice(&device));
  return hipscope::describe_device(device).architecture;
}

inline unsigned blocks_of(std::uint64_t count, unsigned block) {
  return static_cast<unsigned>((count + block - 1) / block);
}

/// The grid of a stage: x goes over the columns of C, y over its rows.
inline dim3 grid_of(const Tiles& tiles, const Extents& extents) {
  return dim3(blocks_of(extents.n, tiles.block_columns), blocks_of(extents.m, tiles.block_rows));
}

/// Enqueues a kernel on one block per tile of C.
template <typename Value, auto kernel, typename Result = Value>
void enqueue(const Stage<Value, Result>& stage, const Product<Value, Result>& product) {
  hipscope::launch(kernel,
                   {.grid = grid_of(stage.tiles, product.extents),
                    .block = dim3(stage.tiles.threads),
                    .lds_bytes = stage.dynamic_lds_bytes},
                   product.extents, product.alpha, product.a, product.b, product.beta, product.c);
}

/// A stage whose kernel works on one tile of C per block.
template <typename Value, auto kernel, typename Result = Value>
Stage<Value, Result> stage_of(const std::string& technique, const Tiles& tiles) {
  return {.technique = technique,
          .tiles = tiles,
          .kernel = reinterpret_cast<const void*>(kernel),
          .enqueue = enqueue<Value, kernel, Result>};
}

/// A stage that is measured at all sizes and against the vendor's library.
template <typename Value, typename Result>
Stage<Value, Result> contender(Stage<Value, Result> stage) {
  stage.is_contender = true;
  return stage;
}

/// "16 x 16 x 64"
inline std::string name_of_size(unsigned m, unsigned n, unsigned k) {
  return std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k);
}

/// How a stage's row is named.
template <typename Value, typename Result>
std::string label_of(const Stage<Value, Result>& stage) {
  return stage.source_kernel.empty() ? stage.technique
                                     : stage.source_kernel + " " + stage.technique;
}

}  // namespace gemm
