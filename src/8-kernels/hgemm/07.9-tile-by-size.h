// Small, narrow and large tiles for any product, each with enough blocks to fill the GPU.
//
// Against 07.3 to 07.7, for products of few tiles, or of odd ones: 1024 x 1024 has 16 of 256 x 256,
// for which an MI300X has 304 CUs, and anything odd is first padded to whole tiles. Here 07.3's
// loop takes a tile of any size, and its copies end where the matrices do: rows and columns beyond
// are read from inside again, k beyond are zeros. Blocks may share a tile, each with its part of k:
// all store their sums in FP32 to memory, and the last one adds them up, always in the same order
// (../gemm/split_sums.h). Which tile, and how many blocks for each, ../gemm/tile_choice.h's model
// says, as for gemm/mfma's 6. Large products of whole tiles go to the last kernel before.
// The model's numbers are predicted from the vendor's rates (../gemm/amd_rates.h). Not measured.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "07.7-tile-rows-by-cus.h"
#include "8-kernels/gemm/amd_rates.h"
#include "8-kernels/gemm/tile_by_size.h"
#include "stage.h"

namespace hgemm {

/// As LargeTileCopy, of any product, from `first_k` on. `is_aligned`: k, n and all rows are whole
/// pieces of 16 bytes; else each value is read by itself.
template <typename Tile, typename Value, bool is_aligned>
class AnyTileCopy {
 public:
  __device__ AnyTileCopy(const Extents& extents, const Value* a, const Value* b, unsigned row,
                         unsigned column, unsigned first_k)
      : ldb_(extents.ldb),
        left_(extents.k - first_k),
        a_(a + std::size_t{row} * extents.lda + first_k),
        b_(b + std::size_t{first_k} * extents.ldb + column) {
    const unsigned last_row = extents.m - 1 - row;
#pragma unroll
    for (unsigned i = 0; i < a_pieces; ++i) {
      const unsigned wanted = a_row() + i * a_rows;
      from_a_[i] = (wanted < last_row ? wanted : last_row) * extents.lda + a_k();
    }
    const unsigned last_column = extents.n - 1 - column;
#pragma unroll
    for (unsigned i = 0; i < b_places; ++i) {
      const unsigned wanted = b_column() + (is_aligned ? i * b_columns : i / 4 * b_columns + i % 4);
      const unsigned there = wanted < last_column ? wanted : last_column;
      from_b_[i] = b_k() * extents.ldb + (is_aligned ? there / 4 * 4 : there);
    }
  }

  /// Into registers; goes on to the next tiles.
  __device__ void load() {
#pragma unroll
    for (unsigned i = 0; i < a_pieces; ++i) {
      of_a_[i] = {};
      if (a_k() < left_ && brings_a()) {
        of_a_[i] = values<4>(a_ + from_a_[i], [&](unsigned v) {
          return a_k() + v < left_ ? a_[from_a_[i] + v].bits : 0U;
        });
      }
    }
#pragma unroll
    for (unsigned i = 0; i < 4 * b_blocks; ++i) {
      of_b_[i] = {};
      if (b_k() + i % 4 < left_ && brings_b()) {
        const Value* const row = b_ + std::size_t{i % 4} * ldb_;
        of_b_[i] = values<2>(row + from_b_[i / 4],
                             [&](unsigned v) { return row[from_b_[i / 4 * 4 + v]].bits; });
      }
    }
    a_ += Tile::depth;
    b_ += std::size_t{Tile::depth} * ldb_;
    left_ = left_ > Tile::depth ? left_ - Tile::depth : 0;
  }
  __device__ void store(typename Tile::A& a, typename Tile::B& b) const {
    if (brings_a()) {
#pragma unroll
      for (unsigned i = 0; i < a_pieces; ++i) {
        const auto& of = of_a_[i].words;
        a.at(a_row() + i * a_rows, a_k()) = Piece{of[0], of[1], of[2], of[3]};
      }
    }
    if (brings_b()) {
#pragma unroll
      for (unsigned i = 0; i < b_blocks; ++i) {
        uint2 pairs[4];
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) {
          pairs[k] = {of_b_[4 * i + k].words[0], of_b_[4 * i + k].words[1]};
        }
        store_transposed(b, b_column() + i * b_columns, b_k(), pairs);
      }
    }
  }

 private:
  template <unsigned count>
  struct alignas(4 * count) Words {
    unsigned words[count];
  };
  /// That many words of neighbours `at` there, or of `value(0)`, `value(1)` ...
  template <unsigned count, typename OneValue>
  __device__ static Words<count> values(const Value* at, const OneValue& value) {
    if constexpr (is_aligned) {
      return *reinterpret_cast<const Words<count>*>(at);
    } else {
      Words<count> found;
#pragma unroll
      for (unsigned i = 0; i < count; ++i) {
        found.words[i] = value(2 * i) | unsigned{value(2 * i + 1)} << 16;
      }
      return found;
    }
  }

  static constexpr unsigned at_least_one(unsigned count) { return count == 0 ? 1 : count; }
  static constexpr unsigned a_rows = Tile::threads / 4;  // at once
  static constexpr unsigned a_pieces = at_least_one(Tile::rows / a_rows);
  static constexpr unsigned b_columns = Tile::threads / 8 * 4;
  static constexpr unsigned b_blocks = at_least_one(Tile::columns / b_columns);  // of 4 x 4 values
  static constexpr unsigned b_places = is_aligned ? b_blocks : 4 * b_blocks;
  __device__ static unsigned a_row() { return threadIdx.x / 4; }
  __device__ static unsigned a_k() { return threadIdx.x % 4 * 8; }
  __device__ static unsigned b_k() { return threadIdx.x % 8 * 4; }
  __device__ static unsigned b_column() { return threadIdx.x / 8 * 4; }
  // Of a small tile not all threads are needed.
  __device__ static bool brings_a() { return a_rows <= Tile::rows || a_row() < Tile::rows; }
  __device__ static bool brings_b() {
    return b_columns <= Tile::columns || b_column() < Tile::columns;
  }

  unsigned ldb_;
  unsigned left_;  // k from the next tiles' first to the end
  const Value* a_;
  const Value* b_;
  unsigned from_a_[a_pieces];
  unsigned from_b_[b_places];
  Words<4> of_a_[a_pieces];
  Words<2> of_b_[4 * b_blocks];
};

template <typename Tile, typename Value, bool is_aligned>
static __global__ void __launch_bounds__(Tile::threads)
    small_tiles_kernel(Extents extents, float alpha, const Value* __restrict__ a,
                       const Value* __restrict__ b, float beta, Value* __restrict__ c,
                       gemm::SharedTiles<float> shared) {
#if defined(__HIP_DEVICE_COMPILE__)
  using Code = typename Tile::Code;
  constexpr unsigned generation = Code::lanes == 64 ? MATRIX_RATE_CDNA : MATRIX_RATE_RDNA;
  if constexpr (generation < Code::since || Code::until < generation) {
    __builtin_trap();  // never launched there: nothing of the kernel is compiled
  }
#endif
  __shared__ unsigned is_last;
  const gemm::Rank rank = gemm::rank_of_block();
  const gemm::TilePlace place = gemm::place_of(shared.order, rank.tile);
  const unsigned row = place.row * Tile::rows;
  const unsigned column = place.column * Tile::columns;
  const auto [begin, end] = gemm::steps_of(shared, rank);
  AnyTileCopy<Tile, Value, is_aligned> copy(extents, a, b, row, column, begin * Tile::depth);
  typename Tile::Sums wave;
  multiply_add_ahead<Tile>(wave, copy, (end - begin) * Tile::depth);
  if (shared.clusters > 1) {
    const auto sums = [&](unsigned matrix, unsigned element) -> float& {
      return wave.sums[matrix / Tile::Sums::across][matrix % Tile::Sums::across].value[element];
    };
    const auto for_each_four = [&](const auto& body) {
#pragma unroll
      for (unsigned i = 0; i < Tile::Sums::down * Tile::Sums::across; ++i) {
#pragma unroll
        for (unsigned e = 0; e < Tile::Code::sum_elements; e += 4) {
          body(i, e, {{sums(i, e), sums(i, e + 1), sums(i, e + 2), sums(i, e + 3)}});
        }
      }
    };
    const auto take = [&](unsigned i, unsigned e, const gemm::Piece<float>& four) {
#pragma unroll
      for (unsigned j = 0; j < 4; ++j) {
        sums(i, e + j) = four.values[j];
      }
    };
    gemm::add_through_memory<Tile::rows * Tile::columns, Tile::threads>(shared, rank, &is_last,
                                                                        for_each_four, take);
    if (is_last == 0) {
      return;
    }
  }
  wave.store_within(c, extents, row + Tile::first_row(), column + Tile::first_column(), alpha,
                    beta);
}

/// A tile as ../gemm/tile_by_size.h knows it.
template <typename Tile>
struct Shape : Tile {
  static constexpr unsigned thread_rows = Tile::wave_rows;  ///< a wave's
  static constexpr unsigned thread_columns = Tile::wave_columns;
  static constexpr unsigned blocks_per_unit = 0;  ///< the runtime says
  static constexpr unsigned buffers = 2;
  static constexpr unsigned lds_bytes = 0;  ///< that come with the launch
};

template <typename Tile, typename Value>
void enqueue_small_tiles(const gemm::Product<Value>& product, gemm::Split split) {
  gemm::enqueue_either<Shape<Tile>, small_tiles_kernel<Tile, Value, true>,
                       small_tiles_kernel<Tile, Value, false>>(product, split,
                                                               gemm::has_whole_pieces(product));
}

/// The last stage for large products of whole tiles by an instruction.
template <typename Code, typename Value, typename Result = Value>
gemm::Stage<Value, Result> whole_tiles_stage() {
  if constexpr (Code::lanes == 32) {
    return tiles_by_xcd_stage<Code, Value, Result>();
  } else if constexpr (Code::since < 4) {
    return tile_rows_by_cus_stage<Value, Result>();
  } else {
    return stage_of_lds_loads<LargeTile<Code>, 1, Value, Result>(", loads to LDS");
  }
}

/// The largest for any product: LargeTile's 256 x 256 leave no LDS to tell who comes last, and its
/// sums by WMMA no registers for values one by one.
template <typename Code>
using LargestAnyTile = BlockTile<Code, 4 * Code::lanes, 128, Code::lanes, Code::lanes>;

/// By the last stage where it takes the product and no blocks are to share tiles.
template <typename Code, typename Value>
void enqueue_large_tiles(const gemm::Product<Value>& product, gemm::Split split) {
  using Tile = LargeTile<Code>;
  const Extents& extents = product.extents;
  if (split.clusters == 1 && extents.m % Tile::rows == 0 && extents.n % Tile::columns == 0 &&
      extents.k > 0 && extents.k % Tile::depth == 0 && gemm::has_whole_pieces(product)) {
    static const auto stage = whole_tiles_stage<Code, Value>();
    auto first_choice = product;
    first_choice.choice = 0;
    stage.enqueue(stage, first_choice);
  } else {
    enqueue_small_tiles<LargestAnyTile<Code>>(product, split);
  }
}

/// What matrix unit and LDS take for a step of a full CU, the longer of them.
template <typename Tile>
double step_cycles(const gemm::AmdRates& of) {
  constexpr double fmas = 1.0 * Tile::rows * Tile::columns * Tile::depth;
  constexpr double stored = 1.0 * (Tile::rows + Tile::columns) * Tile::depth;
  constexpr auto waves = Tile::threads / Tile::Code::lanes;
  constexpr double loaded = 1.0 * waves * (Tile::wave_rows + Tile::wave_columns) * Tile::depth;
  return std::max(fmas / of.half_fmas, (stored + loaded) * sizeof(Half) / of.lds_bytes);
}

template <typename Value, typename Tile, auto enqueue>
gemm::SizedKernel<Value> sized_kernel_of(const gemm::AmdRates& of) {
  const double step = step_cycles<Tile>(of);
  // The next tiles are asked for a step before they are stored.
  auto kernel = gemm::sized_kernel<Shape<Tile>, Value>(
      enqueue, {.step = step,
                .least_step = std::max(of.l2_cycles, step),
                .end = gemm::end_cycles(Tile::rows, Tile::columns, sizeof(Value), of)});
  kernel.option.resident =
      gemm::resident_blocks<Shape<Tile>, small_tiles_kernel<Tile, Value, true>>();
  return kernel;
}

/// Square ones, flat and tall ones of an instruction's rows or columns, and the large one.
template <typename Code, typename Value>
const std::vector<gemm::SizedKernel<Value>>& sized_kernels() {
  const auto of = [](auto tile, const gemm::AmdRates& rates) {
    using Tile = decltype(tile);
    return sized_kernel_of<Value, Tile, enqueue_small_tiles<Tile, Value>>(rates);
  };
  static const std::vector<gemm::SizedKernel<Value>> all = [of] {
    const gemm::AmdRates rates = gemm::device_amd_rates();
    return std::vector{
        of(BlockTile<Code, 64, 64, 32, 32>(), rates),
        of(BlockTile<Code, Code::m, 128, Code::m, 32>(), rates),
        of(BlockTile<Code, 128, Code::n, 32, Code::n>(), rates),
        of(BlockTile<Code, 2 * Code::lanes, 128, Code::lanes, Code::lanes>(), rates),
        sized_kernel_of<Value, LargestAnyTile<Code>, enqueue_large_tiles<Code, Value>>(rates)};
  }();
  return all;
}

inline gemm::DeviceCosts device_costs() {
  return gemm::amd_costs(gemm::device_amd_rates(), compute_units(), sizeof(Half));
}

template <typename Value = Half>
std::vector<gemm::Stage<Value>> tile_by_size_of_amd_stages() {
  return stages_by_fragment<Value>([]<typename Code>(Instruction<Code>) {
    using Tile = LargestAnyTile<Code>;
    auto stage = gemm::by_choice<Value, sized_kernels<Code, Value>, device_costs>(
        large_tile_stage<Tile, Value, Value>(
            ", a tile and a split for each size",
            reinterpret_cast<const void*>(small_tiles_kernel<Tile, Value, true>), nullptr));
    stage.any_size = true;
    stage.is_contender = true;
    return stage;
  });
}

/// Sweep tiles: those of each instruction that the device has, on the host backend of several.
inline void check_tiles(hipscope::Sweep& sweep) {
  const std::vector<Stage> stages = tile_by_size_of_amd_stages();
  std::vector<gemm::SizedKernel<Half>> here;
  std::size_t i = 0;
  std::size_t checked = 0;
  stages_by_fragment([&]<typename Code>(Instruction<Code>) {
    if (gemm::is_here(sweep, stages[i])) {
      const auto& kernels = sized_kernels<Code, Half>();
      here.insert(here.end(), kernels.begin(), kernels.end());
      checked = i;
    }
    return ++i;
  });
  gemm::check_tiles<Half>(sweep, stages[checked], here, device_costs());
}

}  // namespace hgemm
