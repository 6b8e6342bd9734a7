// Can addresses be chosen so that they all hit one memory channel?
//
// Memory is many channels that work side by side, and L2 many slices. If they take turns in plain
// order, say every 256 bytes, then addresses that are a large power of two apart all fall on the
// same one: a column of a matrix whose rows are that long runs at the speed of a single channel.
// GPUs hash addresses to prevent it. Whether a power of two is special shows against its neighbour,
// a stride of one sector more: that meets as many pages, lines and sectors, but other channels.
//   collapsed    the sources' own measurement: many lanes store to one address. That is contention
//                for an address, not for a channel
//   column-*     columns of a matrix whose rows are a power of two long, against rows that are 64
//                bytes longer: the padding that the sources advise for matrix products
//   stride       distinct addresses, each a sector of its own, a power of two apart, against the
//                neighbour
//   stride-l2    the same over and over within L2: its slices
#include <hipscope/hipscope.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <random>
#include <string>
#include <vector>

using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::number;
using hipscope::Sweep;

namespace {

constexpr unsigned block_threads = 256;
// Strided accesses run in blocks of one wave or two, so that few of them spread over many CUs.
constexpr unsigned small_block_threads = 64;

#if defined(HIPSCOPE_BACKEND_HOST)
constexpr unsigned threads_per_compute_unit = 256;  // scaled down
#else
constexpr unsigned threads_per_compute_unit = 2048;
#endif

constexpr unsigned dword_bytes = 4;
constexpr unsigned sector_dwords = 8;  // 32 bytes, the smallest unit that GPUs move
constexpr unsigned sector_bytes = sector_dwords * dword_bytes;
constexpr unsigned line_dwords = 32;  // 128 bytes, the longest cache line of a GPU so far
constexpr unsigned quad_dwords = 4;   // what one instruction of a lane moves at most
constexpr unsigned quad_bytes = quad_dwords * dword_bytes;

// --- Values -------------------------------------------------------------------------------------

// What dword i of a buffer holds: factor * i + addend, random to look at, both from the seed.
struct Values {
  unsigned factor;  // odd
  unsigned addend;

  __host__ __device__ unsigned at(std::uint64_t i) const {
    return factor * static_cast<unsigned>(i) + addend;
  }
  // What is stored is never the poison of a buffer, whose highest bit is set.
  __host__ __device__ unsigned token(std::uint64_t i) const { return at(i) & 0x7fffffffU; }
};

Values values_of(std::uint64_t seed) {
  std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
  return {.factor = static_cast<unsigned>(random()) | 1U,
          .addend = static_cast<unsigned>(random())};
}

// --- Kernels ------------------------------------------------------------------------------------

__device__ std::uint64_t thread_number() {
  return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ std::uint64_t thread_count() { return std::uint64_t{gridDim.x} * blockDim.x; }

__device__ uint4 quad_of_tokens(std::uint64_t first, Values values) {
  return make_uint4(values.token(first), values.token(first + 1), values.token(first + 2),
                    values.token(first + 3));
}

__global__ void __launch_bounds__(block_threads)
    fill_kernel(unsigned* data, std::uint64_t size, Values values) {
  for (std::uint64_t i = thread_number(); i < size; i += thread_count()) {
    data[i] = values.at(i);
  }
}

// One in `group` stores of 16 bytes has an address of its own: each would go 16 bytes behind the
// one before, but is rounded down to a multiple of the stride, `group` times 16 bytes. A thread
// makes several of them, or else the blocks could not start as fast as they end.
constexpr unsigned stores_per_thread = 8;
__global__ void __launch_bounds__(block_threads)
    collapsed_store_kernel(unsigned* data, std::uint64_t group, Values values) {
  auto* quads = reinterpret_cast<uint4*>(data);
  const std::uint64_t first =
      std::uint64_t{blockIdx.x} * block_threads * stores_per_thread + threadIdx.x;
#pragma unroll
  for (unsigned i = 0; i < stores_per_thread; ++i) {
    const std::uint64_t store = first + i * block_threads;
    quads[store & ~(group - 1)] = quad_of_tokens(quad_dwords * store, values);
  }
}

// Counts the quads that are not as the kernel above must leave them: at the start of each group one
// of its stores' values, elsewhere poison.
__global__ void __launch_bounds__(block_threads)
    check_collapsed_kernel(const unsigned* data, std::uint64_t quads, std::uint64_t group,
                           unsigned inverse, Values values, unsigned long long* wrong) {
  unsigned long long mine = 0;
  for (std::uint64_t i = thread_number(); i < quads; i += thread_count()) {
    constexpr unsigned poison = ~0U;
    const uint4 found = reinterpret_cast<const uint4*>(data)[i];
    if (i % group != 0) {
      mine += (found.x & found.y & found.z & found.w) == poison ? 0 : 1;
      continue;
    }
    const std::uint64_t dword = ((found.x - values.addend) * inverse) & 0x7fffffffU;
    const std::uint64_t store = dword / quad_dwords;
    const uint4 expected = quad_of_tokens(quad_dwords * store, values);
    const bool is_right = store < quads && (store & ~(group - 1)) == i && found.x == expected.x &&
                          found.y == expected.y && found.z == expected.z && found.w == expected.w;
    mine += is_right ? 0 : 1;
  }
  atomicAdd(wrong, mine);
}

// A matrix of 2^row_bits rows that begin `pitch` dwords apart. Access n is to one sector of row
// n % rows: the lanes of a wave stand below each other, and the next wave goes on down the column.
struct Matrix {
  std::uint64_t rows;
  unsigned row_bits;  // log2(rows)
  unsigned pitch;     // dwords
  unsigned width;     // dwords that are accessed in each row

  [[nodiscard]] std::uint64_t accesses() const { return rows * width / sector_dwords; }
  __host__ __device__ std::uint64_t start(std::uint64_t access) const {
    return (access & (rows - 1)) * pitch + (access >> row_bits) * sector_dwords;
  }
};

__global__ void __launch_bounds__(block_threads)
    column_load_kernel(const unsigned* data, Matrix matrix, std::uint64_t accesses,
                       unsigned* sums) {
  unsigned sum = 0;
  // More at once would only spread the accesses over more columns.
#pragma unroll 1
  for (std::uint64_t n = thread_number(); n < accesses; n += thread_count()) {
    const auto* sector = reinterpret_cast<const uint4*>(data + matrix.start(n));
    const uint4 first = sector[0];
    const uint4 second = sector[1];
    sum += first.x + first.y + first.z + first.w + second.x + second.y + second.z + second.w;
  }
  sums[thread_number()] = sum;
}

__global__ void __launch_bounds__(block_threads)
    column_store_kernel(unsigned* data, Matrix matrix, std::uint64_t accesses, Values values) {
#pragma unroll 1
  for (std::uint64_t n = thread_number(); n < accesses; n += thread_count()) {
    const std::uint64_t start = matrix.start(n);
    auto* sector = reinterpret_cast<uint4*>(data + start);
    sector[0] = quad_of_tokens(start, values);
    sector[1] = quad_of_tokens(start + quad_dwords, values);
  }
}

// Counts the dwords that are not as the kernel above must leave them: tokens in the matrix, poison
// between its rows.
__global__ void __launch_bounds__(block_threads)
    check_columns_kernel(const unsigned* data, std::uint64_t size, unsigned pitch, unsigned width,
                         Values values, unsigned long long* wrong) {
  unsigned long long mine = 0;
  for (std::uint64_t i = thread_number(); i < size; i += thread_count()) {
    constexpr unsigned poison = ~0U;
    mine += data[i] == (i % pitch < width ? values.token(i) : poison) ? 0 : 1;
  }
  atomicAdd(wrong, mine);
}

// Past L1, where what is loaded over and over would stay.
__device__ unsigned load_past_l1(const unsigned* address) {
#if defined(__CUDA_ARCH__)
  return __ldcg(address);
#elif defined(__HIP_DEVICE_COMPILE__)
  return __hip_atomic_load(address, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
#else
  return *address;
#endif
}

// Loads a dword at each of `places`, a power of two, that are `stride` dwords apart; `accesses` in
// all, a multiple of what all threads have under way at once, which is `in_flight` for each.
template <unsigned in_flight>
__global__ void __launch_bounds__(small_block_threads)
    strided_load_kernel(const unsigned* data, unsigned places, unsigned stride, unsigned accesses,
                        unsigned* sums) {
  const unsigned thread = blockIdx.x * small_block_threads + threadIdx.x;
  const unsigned threads = gridDim.x * small_block_threads;
  unsigned sum = 0;
  for (unsigned n = thread; n < accesses; n += in_flight * threads) {
    unsigned values[in_flight];
#pragma unroll
    for (unsigned i = 0; i < in_flight; ++i) {
      values[i] = load_past_l1(data + std::uint64_t{(n + i * threads) & (places - 1)} * stride);
    }
#pragma unroll
    for (unsigned i = 0; i < in_flight; ++i) {
      sum += values[i];
    }
  }
  sums[thread] = sum;
}

// --- What sweeps share --------------------------------------------------------------------------

unsigned blocks_on_all_units(const Sweep& sweep, unsigned threads) {
  return static_cast<unsigned>(sweep.device().compute_units) * (threads_per_compute_unit / threads);
}

void fill(const Sweep& sweep, const DeviceBuffer<unsigned>& data, const Values& values) {
  launch(fill_kernel,
         {.grid = dim3(blocks_on_all_units(sweep, block_threads)), .block = dim3(block_threads)},
         data.data(), data.size(), values);
}

// How many threads' sums are wrong: access n is that of thread n % threads, and adds `expected(n)`.
template <typename Expected>
std::uint64_t count_wrong_sums(const DeviceBuffer<unsigned>& sums, std::uint64_t accesses,
                               Expected expected) {
  std::vector<unsigned> reference(sums.size());
  for (std::uint64_t n = 0; n < accesses;) {
    for (std::size_t thread = 0; thread < reference.size() && n < accesses; ++thread, ++n) {
      reference[thread] += expected(n);
    }
  }
  const std::vector<unsigned> results = sums.to_host();
  std::uint64_t wrong = 0;
  for (std::size_t thread = 0; thread < reference.size(); ++thread) {
    wrong += results[thread] == reference[thread] ? 0 : 1;
  }
  return wrong;
}

// --- Collapsed addresses ------------------------------------------------------------------------

// The inverse of an odd number modulo 2^32: each step doubles the bits that are right.
unsigned inverse_of(unsigned odd) {
  unsigned inverse = odd;
  for (int right_bits = 3; right_bits < 32; right_bits *= 2) {
    inverse *= 2 - odd * inverse;
  }
  return inverse;
}

void measure_collapsed(Sweep& sweep, std::uint64_t bytes) {
  sweep.axis({.name = "stride", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("bandwidth");
  sweep.compare("collapsed store addresses");
  sweep.note(
      "not a matter of channels: so many stores go to one address, of which one wins; "
      "bandwidth counts what all of them carry");
  sweep.require_memory(bytes, "--footprint");
  const std::uint64_t quads = bytes / quad_bytes;
  DeviceBuffer<unsigned> data(quads * quad_dwords);
  const Values values = values_of(sweep.seed());
  const auto blocks = static_cast<unsigned>(quads / (block_threads * stores_per_thread));
  constexpr std::uint64_t longest_stride = 131072;
  for (std::uint64_t stride = quad_bytes; stride <= longest_stride; stride *= 2) {
    auto point = sweep.point(std::to_string(stride), static_cast<double>(stride));
    const std::uint64_t group = stride / quad_bytes;
    const auto run = [&] {
      launch(collapsed_store_kernel, {.grid = dim3(blocks), .block = dim3(block_threads)},
             data.data(), group, values);
    };
    data.poison();
    run();
    DeviceBuffer<unsigned long long> wrong(1);
    wrong.clear();
    launch(check_collapsed_kernel,
           {.grid = dim3(blocks_on_all_units(sweep, block_threads)), .block = dim3(block_threads)},
           data.data(), quads, group, inverse_of(values.factor), values, wrong.data());
    point.verify("one of its stores' values at each address, the rest untouched",
                 wrong.to_host()[0], quads);
    const auto time = point.measure(run);
    constexpr double gibibyte = 1U << 30;
    point.value("bandwidth", static_cast<double>(bytes) / gibibyte / time.seconds().median,
                "GiB/s");
    point.value("distinct addresses", static_cast<double>((quads + group - 1) / group), "");
    point.value("stores per address", static_cast<double>(std::min(group, quads)), "");
  }
}

// --- Columns ------------------------------------------------------------------------------------

enum class Operation { load, store };

constexpr unsigned shortest_pitch = 512;
constexpr unsigned longest_pitch = 65536;
constexpr unsigned padding_bytes = 64;  // 16 elements of 4 bytes

Matrix matrix_of(std::uint64_t bytes, unsigned row_bytes, unsigned padding) {
  const std::uint64_t rows = bytes / row_bytes;
  return {.rows = rows,
          .row_bits = static_cast<unsigned>(std::countr_zero(rows)),
          .pitch = (row_bytes + padding) / dword_bytes,
          .width = row_bytes / dword_bytes};
}

// Seconds to walk through all columns, verified first.
double time_columns(Sweep& sweep, hipscope::Point& point, const std::string& name,
                    const DeviceBuffer<unsigned>& data, const Matrix& matrix, Operation operation) {
  const Values values = values_of(sweep.seed());
  const unsigned blocks = blocks_on_all_units(sweep, block_threads);
  const hipscope::LaunchShape shape = {.grid = dim3(blocks), .block = dim3(block_threads)};
  const DeviceBuffer<unsigned> sums(std::size_t{blocks} * block_threads);
  const auto run = [&] {
    if (operation == Operation::load) {
      launch(column_load_kernel, shape, data.data(), matrix, matrix.accesses(), sums.data());
    } else {
      launch(column_store_kernel, shape, data.data(), matrix, matrix.accesses(), values);
    }
  };
  if (operation == Operation::load) {
    run();
    const auto sector_sum = [&](std::uint64_t n) {
      constexpr unsigned sum_of_places = sector_dwords * (sector_dwords - 1) / 2;
      return sector_dwords * values.at(matrix.start(n)) + sum_of_places * values.factor;
    };
    point.verify(name + ": sums of the threads",
                 count_wrong_sums(sums, matrix.accesses(), sector_sum), sums.size());
  } else {
    hipscope::check(hipMemset(data.data(), hipscope::poison_byte, data.size() * sizeof(unsigned)));
    run();
    DeviceBuffer<unsigned long long> wrong(1);
    wrong.clear();
    const std::uint64_t size = matrix.rows * matrix.pitch;
    launch(check_columns_kernel, shape, data.data(), size, matrix.pitch, matrix.width, values,
           wrong.data());
    point.verify(name + ": every dword of the matrix, none beside it", wrong.to_host()[0], size);
  }
  return point.measure(run, {.name = name}).seconds().median;
}

void measure_columns(Sweep& sweep, Operation operation, std::uint64_t bytes) {
  sweep.axis({.name = "row", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("of padded");
  sweep.note("each lane accesses one sector of 32 bytes, lanes below each other; padded: rows " +
             std::to_string(padding_bytes) + " bytes further apart");
  const std::uint64_t most_bytes = bytes + bytes / shortest_pitch * padding_bytes;
  sweep.require_memory(most_bytes, "--footprint");
  const DeviceBuffer<unsigned> data(most_bytes / dword_bytes);
  if (operation == Operation::load) {
    fill(sweep, data, values_of(sweep.seed()));
  }
  for (unsigned pitch = shortest_pitch; pitch <= longest_pitch; pitch *= 2) {
    auto point = sweep.point(std::to_string(pitch), pitch);
    const double plain =
        time_columns(sweep, point, "power of two", data, matrix_of(bytes, pitch, 0), operation);
    const double padded = time_columns(sweep, point, "padded", data,
                                       matrix_of(bytes, pitch, padding_bytes), operation);
    const double gigabytes = static_cast<double>(bytes) * 1e-9;
    point.value("power-of-two bandwidth", gigabytes / plain, "GB/s");
    point.value("padded bandwidth", gigabytes / padded, "GB/s");
    point.value("of padded", padded / plain, "");
  }
}

// --- Strides ------------------------------------------------------------------------------------

// `places` sectors at a stride, loaded `accesses` times in all; both are powers of two.
class StridedLoads {
 public:
  StridedLoads(const Sweep& sweep, const DeviceBuffer<unsigned>& data, std::uint64_t places,
               std::uint64_t stride_bytes, std::uint64_t accesses)
      : data_(data),
        places_(places),
        stride_(stride_bytes / dword_bytes),
        accesses_(accesses),
        blocks_(std::bit_floor(static_cast<unsigned>(std::clamp<std::uint64_t>(
            accesses / small_block_threads, 1, blocks_on_all_units(sweep, small_block_threads))))),
        sums_(std::size_t{blocks_} * small_block_threads) {}

  // All addresses `shift` dwords further up.
  void run(std::uint64_t shift) const {
    constexpr unsigned in_flight = 8;
    const bool are_many = accesses_ >= in_flight * sums_.size();
    launch(are_many ? strided_load_kernel<in_flight> : strided_load_kernel<1>,
           {.grid = dim3(blocks_), .block = dim3(small_block_threads)}, data_.data() + shift,
           places_, stride_, accesses_, sums_.data());
  }

  void verify(hipscope::Point& point, const std::string& name, const Values& values,
              std::uint64_t shift) const {
    hipscope::check(
        hipMemset(sums_.data(), hipscope::poison_byte, sums_.size() * sizeof(unsigned)));
    run(shift);
    const auto expected = [&](std::uint64_t n) {
      return values.at(shift + (n & (places_ - 1)) * stride_);
    };
    point.verify(name + ": sums of the threads", count_wrong_sums(sums_, accesses_, expected),
                 sums_.size());
  }

 private:
  const DeviceBuffer<unsigned>& data_;
  std::uint64_t places_;
  std::uint64_t stride_;  // dwords
  std::uint64_t accesses_;
  unsigned blocks_;
  DeviceBuffer<unsigned> sums_;
};

// What both stride sweeps measure at a stride: it and its neighbour. Successive launches shift all
// addresses by a line, `shifts` times before they come back to the first.
void measure_pair(Sweep& sweep, const DeviceBuffer<unsigned>& data, std::uint64_t stride,
                  std::uint64_t places, std::uint64_t accesses, std::uint64_t shifts) {
  auto point = sweep.point(std::to_string(stride), static_cast<double>(stride));
  const Values values = values_of(sweep.seed());
  const auto seconds = [&](const std::string& name, std::uint64_t stride_bytes) {
    const StridedLoads loads(sweep, data, places, stride_bytes, accesses);
    const std::uint64_t last_shift = (shifts - 1) * line_dwords;
    loads.verify(point, name, values, last_shift);
    std::uint64_t launches = 0;
    return point.measure([&] { loads.run(launches++ % shifts * line_dwords); }, {.name = name})
        .seconds()
        .median;
  };
  const double power = seconds("power of two", stride);
  const double neighbour = seconds("neighbour", stride + sector_bytes);
  const double billions = static_cast<double>(accesses) * 1e-9;
  point.value("places", static_cast<double>(places), "");
  point.value("power-of-two rate", billions / power, "G accesses/s");
  point.value("neighbour rate", billions / neighbour, "G accesses/s");
  point.value("of neighbour", neighbour / power, "");
}

constexpr std::uint64_t shortest_stride = line_dwords * dword_bytes;

void set_stride_axis(Sweep& sweep) {
  sweep.axis({.name = "stride", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("of neighbour");
}

// Room for `bytes` of strides and for those of their neighbours and shifts.
std::uint64_t bytes_with_neighbours(std::uint64_t bytes) {
  return bytes + bytes / shortest_stride * sector_bytes + (1U << 20);
}

// Beyond the caches no sector may come twice while L2 still has it: launches over few places shift
// them until all lines together are several times L2.
void measure_stride(Sweep& sweep, std::uint64_t footprint, std::uint64_t most_places) {
  set_stride_axis(sweep);
  sweep.note("neighbour: a stride of 32 bytes more; each access loads from a sector of its own, " +
             number(static_cast<double>(footprint) / (1 << 20), 6) + " MiB at most");
  sweep.require_memory(bytes_with_neighbours(footprint), "--footprint");
  const DeviceBuffer<unsigned> data(bytes_with_neighbours(footprint) / dword_bytes);
  fill(sweep, data, values_of(sweep.seed()));
  constexpr std::uint64_t longest_stride = 1U << 20;
  for (std::uint64_t stride = shortest_stride; stride <= std::min(longest_stride, footprint);
       stride *= 2) {
    const std::uint64_t places =
        std::bit_floor(std::min<std::uint64_t>(most_places, footprint / stride));
    constexpr std::uint64_t times_l2 = 4;
    const std::uint64_t line_bytes = places * line_dwords * dword_bytes;
    const std::uint64_t wanted_shifts = times_l2 * sweep.device().l2_bytes / line_bytes + 1;
    const std::uint64_t possible_shifts = stride / (line_dwords * dword_bytes);
    measure_pair(sweep, data, stride, places, places, std::min(wanted_shifts, possible_shifts));
  }
}

// Within L2 few strides leave enough places for all slices.
void measure_stride_l2(Sweep& sweep, std::uint64_t given, std::uint64_t accesses) {
  set_stride_axis(sweep);
  const std::uint64_t half_of_l2 = sweep.device().l2_bytes / 2;
  const std::uint64_t footprint =
      sweep.is_hardware() && half_of_l2 > 0 ? std::min(given, half_of_l2) : given;
  sweep.note("neighbour: a stride of 32 bytes more; the same places over and over, within " +
             number(static_cast<double>(footprint) / (1 << 20), 6) + " MiB, past L1");
  const DeviceBuffer<unsigned> data(bytes_with_neighbours(footprint) / dword_bytes);
  fill(sweep, data, values_of(sweep.seed()));
  constexpr std::uint64_t fewest_places = 1024;
  for (std::uint64_t stride = shortest_stride; stride * fewest_places <= footprint; stride *= 2) {
    const std::uint64_t places = std::bit_floor(footprint / stride);
    measure_pair(sweep, data, stride, places, std::max(std::bit_floor(accesses), places), 1);
  }
}

// --- What the curves show -----------------------------------------------------------------------

// Below this a power of two is clearly slower than its neighbour.
constexpr double clearly_slower = 0.8;

std::vector<hipscope::CurvePoint>::const_iterator lowest(
    const std::vector<hipscope::CurvePoint>& curve) {
  return std::min_element(curve.begin(), curve.end(),
                          [](const auto& a, const auto& b) { return a.y < b.y; });
}

void infer_interleave(hipscope::Results& results) {
  const auto ratios = results.curve("stride", "of neighbour");
  if (ratios.empty()) {
    return;
  }
  const auto worst = lowest(ratios);
  hipscope::Inference inference{.name = "channel interleave", .unit = "bytes"};
  inference.evidence = {"the slowest power of two, " + number(worst->x, 7) + " bytes, runs at " +
                        number(worst->y) + " times the rate of its neighbour"};
  const auto found = hipscope::find_channel_interleave(results.curve("stride", "power-of-two rate"),
                                                       results.curve("stride", "neighbour rate"));
  if (found) {
    inference.value = found->bytes;
    inference.confidence = found->confidence;
    inference.statement =
        "channels take turns every so many bytes: each doubling of the stride "
        "beyond it halves the channels that are met";
    inference.evidence.push_back(std::to_string(found->halvings) + " halvings in a row");
  } else if (worst->y > clearly_slower) {
    inference.statement =
        "addresses look hashed over the channels: no stride was found that makes them collide";
  } else {
    inference.statement =
        "some strides are slower than their neighbours, but not by channels that "
        "take turns in plain order";
  }
  results.infer(inference);
}

void infer_worst_stride(hipscope::Results& results, const std::string& sweep,
                        const std::string& name) {
  const auto ratios = results.curve(sweep, "of neighbour");
  if (ratios.empty()) {
    return;
  }
  const auto worst = lowest(ratios);
  const auto best = std::max_element(ratios.begin(), ratios.end(),
                                     [](const auto& a, const auto& b) { return a.y < b.y; });
  const double loss = std::max(1 - worst->y, 1 - clearly_slower);
  results.infer(
      {.name = name,
       .value = worst->y,
       .unit = "of the neighbour's rate",
       .confidence = std::clamp(1 - worst->relative_spread / loss, 0.0, 1.0),
       .statement = worst->y < clearly_slower
                        ? "accesses " + number(worst->x, 7) + " bytes apart collide"
                        : "the lowest of all powers of two, at " + number(worst->x, 7) +
                              " bytes, and no collision",
       .evidence = {
           number(static_cast<double>(ratios.size())) + " strides, " + number(ratios.front().x, 7) +
               " ... " + number(ratios.back().x, 7) + " bytes, each against 32 bytes more",
           "the highest is " + number(best->y) + ", at " + number(best->x, 7) + " bytes"}});
}

// How much a matrix gains by padding, at its worst pitch.
void infer_padding(hipscope::Results& results, const std::string& sweep, const std::string& what) {
  const auto ratios = results.curve(sweep, "of padded");
  if (ratios.empty()) {
    return;
  }
  const auto worst = lowest(ratios);
  const double gain = 1 / worst->y;
  results.infer({.name = "gain by padding, column " + what,
                 .value = gain,
                 .unit = "times as fast",
                 .confidence = std::clamp(
                     1 - worst->relative_spread / std::max(gain - 1, 1 - clearly_slower), 0.0, 1.0),
                 .statement = "the most that 64 bytes more per row gain, with rows of " +
                              number(worst->x, 7) + " bytes"});
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "memory_channels",
      {.question = "Can addresses be chosen so that they all hit one memory channel?",
       .sources = {
           "fsword73/HIP-Performance-Optmization-on-VEGA64, 2.10 (example 10a); columns and "
           "strides are hipscope's own"}});
  constexpr std::uint64_t mebibyte = 1U << 20;
  constexpr std::uint64_t gibibyte = 1U << 30;
  constexpr std::uint64_t smallest_footprint = 1U << 19;
  const auto footprint = experiment.size("--footprint",
                                         "bytes of memory that strides cover; columns and "
                                         "collapsed stores a quarter, at most 1 GiB",
                                         {.gpu = 32 * gibibyte,
                                          .quick = gibibyte,
                                          .host = smallest_footprint,
                                          .minimum = smallest_footprint,
                                          .maximum = 256 * gibibyte,
                                          .share_of_memory = 0.25});
  const auto places = experiment.size(
      "--places", "most places of sweep stride",
      {.gpu = 1U << 22, .quick = 1U << 21, .host = 1U << 11, .minimum = 1, .maximum = 1U << 26});
  const auto l2_footprint =
      experiment.size("--l2-footprint", "bytes of sweep stride-l2, at most half of L2",
                      {.gpu = 16 * mebibyte,
                       .quick = 16 * mebibyte,
                       .host = smallest_footprint,
                       .minimum = smallest_footprint,
                       .maximum = gibibyte});
  const auto l2_accesses = experiment.size(
      "--l2-accesses", "accesses of sweep stride-l2, rounded down to a power of two",
      {.gpu = 1U << 24, .quick = 1U << 22, .host = 1U << 12, .minimum = 1, .maximum = 1U << 28});
  // Matrices have a power of two rows; stores fill whole blocks.
  const auto quarter = [&] {
    return std::min(std::bit_floor<std::uint64_t>(footprint) / 4, gibibyte);
  };

  experiment.sweep("collapsed", "stores whose addresses collapse onto few",
                   [=](Sweep& sweep) { measure_collapsed(sweep, quarter()); });
  experiment.sweep("column-loads", "columns loaded, rows a power of two apart against padded",
                   [=](Sweep& sweep) { measure_columns(sweep, Operation::load, quarter()); });
  experiment.sweep("column-stores", "columns stored, rows a power of two apart against padded",
                   [=](Sweep& sweep) { measure_columns(sweep, Operation::store, quarter()); });
  experiment.sweep("stride", "one sector per stride, powers of two against neighbours",
                   [=](Sweep& sweep) { measure_stride(sweep, footprint, places); });
  experiment.sweep("stride-l2", "the same within L2",
                   [=](Sweep& sweep) { measure_stride_l2(sweep, l2_footprint, l2_accesses); });
  experiment.conclude([](hipscope::Results& results) {
    infer_interleave(results);
    infer_worst_stride(results, "stride", "worst stride factor");
    infer_worst_stride(results, "stride-l2", "worst stride factor within L2");
    infer_padding(results, "column-loads", "loads");
    infer_padding(results, "column-stores", "stores");
  });
  return experiment.run(argc, argv);
}
