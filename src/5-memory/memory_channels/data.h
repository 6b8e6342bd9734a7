// The data of memory_channels, the matrix that holds it, and the checks that every
// dword is as it must be.
#pragma once

#include <hipscope/hipscope.h>

#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace memory_channels {

constexpr unsigned dword_bytes = 4;
constexpr unsigned sector_dwords = 8;  // 32 bytes, the smallest unit that GPUs move
constexpr unsigned checking_block = 256;

#if defined(HIPSCOPE_BACKEND_HOST)
constexpr unsigned threads_per_compute_unit = 256;  // scaled down
#else
constexpr unsigned threads_per_compute_unit = 2048;
#endif

/// Blocks of `threads` that are all resident at once.
inline unsigned blocks_on_all_units(const hipscope::Sweep& sweep, unsigned threads) {
  return static_cast<unsigned>(sweep.device().compute_units) * (threads_per_compute_unit / threads);
}

/// What dword i of a buffer holds: factor * i + addend, random to look at, both from the seed.
struct Values {
  unsigned factor;  // odd
  unsigned addend;

  __host__ __device__ unsigned at(std::uint64_t i) const {
    return factor * static_cast<unsigned>(i) + addend;
  }
  // What is stored is never the poison of a buffer, whose highest bit is set.
  __host__ __device__ unsigned token(std::uint64_t i) const { return at(i) & 0x7fffffffU; }
};

inline Values values_of(std::uint64_t seed) {
  std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
  return {.factor = static_cast<unsigned>(random()) | 1U,
          .addend = static_cast<unsigned>(random())};
}

__device__ inline uint4 quad_of_tokens(std::uint64_t first, Values values) {
  return make_uint4(values.token(first), values.token(first + 1), values.token(first + 2),
                    values.token(first + 3));
}

static __global__ void __launch_bounds__(checking_block)
    fill_kernel(unsigned* data, std::uint64_t size, Values values) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * checking_block;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * checking_block + threadIdx.x; i < size;
       i += stride) {
    data[i] = values.at(i);
  }
}

inline void fill(const hipscope::DeviceBuffer<unsigned>& data, Values values, unsigned blocks) {
  hipscope::launch(fill_kernel, {.grid = dim3(blocks), .block = dim3(checking_block)}, data.data(),
                   data.size(), values);
}

/// Checks the threads' sums: access n is that of thread n % threads, and adds `expected(n)`.
template <typename Expected>
void verify_sums(hipscope::Point& point, const std::string& name,
                 const hipscope::DeviceBuffer<unsigned>& sums, std::uint64_t accesses,
                 Expected expected) {
  std::vector<unsigned> reference(sums.size());
  for (std::uint64_t n = 0; n < accesses;) {
    for (std::size_t thread = 0; thread < reference.size() && n < accesses; ++thread, ++n) {
      reference[thread] += expected(n);
    }
  }
  point.check(name + ": sums of the threads", sums.to_host(),
              [&](std::uint64_t thread) { return reference[thread]; });
}

// --- Collapsed stores ---------------------------------------------------------------------------

/// Dwords of a window, which are folded onto its first ones.
constexpr unsigned collapsed_window = 1U << 16;

// At the first `kept` places of each window stays the number of one of the threads whose own place
// is folded onto it, whichever came last; the others keep their poison. By divisions, where what is
// checked has masks.
__host__ __device__ inline bool is_right(int dword, unsigned i, unsigned count, unsigned kept) {
  constexpr int poison = -1;
  const auto writer = static_cast<unsigned>(dword);
  const bool is_kept = i % collapsed_window < kept;
  const bool is_writers = writer < count && writer / collapsed_window == i / collapsed_window &&
                          writer % collapsed_window % kept == i % collapsed_window;
  return is_kept ? is_writers : dword == poison;
}

static __global__ void __launch_bounds__(checking_block)
    check_collapsed_kernel(const int* data, unsigned count, unsigned kept,
                           unsigned long long* wrong) {
  unsigned long long mine = 0;
  for (unsigned i = blockIdx.x * checking_block + threadIdx.x; i < count;
       i += gridDim.x * checking_block) {
    mine += is_right(data[i], i, count, kept) ? 0 : 1;
  }
  atomicAdd(wrong, mine);
}

/// Checks that the dwords are as the stores of a thread for each of them must leave them.
inline void verify_collapsed(hipscope::Point& point, const std::string& what,
                             const hipscope::DeviceBuffer<int>& data, unsigned kept,
                             unsigned blocks) {
  hipscope::DeviceBuffer<unsigned long long> wrong(1);
  wrong.clear();
  hipscope::launch(check_collapsed_kernel, {.grid = dim3(blocks), .block = dim3(checking_block)},
                   data.data(), static_cast<unsigned>(data.size()), kept, wrong.data());
  point.verify(what, wrong.to_host()[0], data.size(), [&](hipscope::Comparison& comparison) {
    const std::vector<int> got = data.to_host();
    comparison.compare_all(got, [&](std::uint64_t place) {
      const auto i = static_cast<unsigned>(place);
      // Of several writers the first.
      const int expected = i % collapsed_window < kept ? static_cast<int>(i) : -1;
      return is_right(got[i], i, static_cast<unsigned>(got.size()), kept) ? got[i] : expected;
    });
  });
}

// --- Columns ------------------------------------------------------------------------------------

/// 2^row_bits rows that begin `pitch` dwords apart.
struct Matrix {
  std::uint64_t rows;
  unsigned row_bits;  // log2(rows)
  unsigned pitch;     // dwords
  unsigned width;     // dwords that are accessed in each row

  /// Sectors of all rows, and where the one of access n begins: in row n % rows.
  [[nodiscard]] std::uint64_t accesses() const { return rows * width / sector_dwords; }
  __host__ __device__ std::uint64_t start(std::uint64_t access) const {
    return (access & (rows - 1)) * pitch + (access >> row_bits) * sector_dwords;
  }
};

/// As many rows as have `bytes`, a power of two, in all, with `padding` bytes more between them.
inline Matrix matrix_of(std::uint64_t bytes, unsigned row_bytes, unsigned padding) {
  const std::uint64_t rows = bytes / row_bytes;
  return {.rows = rows,
          .row_bits = static_cast<unsigned>(std::countr_zero(rows)),
          .pitch = (row_bytes + padding) / dword_bytes,
          .width = row_bytes / dword_bytes};
}

/// Checks the threads' sums of the sectors that they loaded.
inline void verify_sector_sums(hipscope::Point& point, const std::string& name,
                               const hipscope::DeviceBuffer<unsigned>& sums, const Matrix& matrix,
                               Values values) {
  verify_sums(point, name, sums, matrix.accesses(), [&](std::uint64_t n) {
    constexpr unsigned sum_of_places = sector_dwords * (sector_dwords - 1) / 2;
    return sector_dwords * values.at(matrix.start(n)) + sum_of_places * values.factor;
  });
}

/// Dword i after the stores: a token in the matrix, poison between its rows.
struct Tokens {
  unsigned pitch;
  unsigned width;
  Values values;
  __host__ __device__ unsigned operator()(std::uint64_t i) const {
    constexpr unsigned poison = ~0U;
    return i % pitch < width ? values.token(i) : poison;
  }
};

}  // namespace memory_channels
