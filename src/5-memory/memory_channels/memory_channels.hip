// Can addresses be chosen so that they all hit one memory channel?
//
// Memory has many channels that work in parallel, and L2 many slices. If they take turns in plain
// order, say every 256 bytes, then addresses a large power of two apart all hit the same one: a
// column of a matrix whose rows are that long runs at the speed of a single channel. GPUs hash
// addresses to prevent it. Compare a power of two with a stride of one sector more, which touches
// as many pages, lines and sectors, but other channels.
//   collapsed    fsword73's own measurement: each window of memory folded onto its first bytes, so
//                that all stores go to few chunks of 256 bytes
//   column-*     columns of a matrix whose rows are a power of two long, against rows that are 64
//                bytes longer: the padding that fsword73 advises for matrix products
//   stride       distinct addresses, each a sector of its own, a power of two apart, against the
//                neighbour
//   stride-l2    the same over and over within L2: its slices
#include <hipscope/elements.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <bit>
#include <string>

#include "data.h"
#include "findings.h"

using hipscope::DeviceBuffer;
using hipscope::launch;
using hipscope::number;
using hipscope::Sweep;
using memory_channels::blocks_on_all_units;
using memory_channels::fill;
using memory_channels::Matrix;
using memory_channels::matrix_of;
using memory_channels::quad_of_tokens;
using memory_channels::Values;
using memory_channels::values_of;

namespace {

constexpr unsigned block_threads = 256;
// Strided accesses run in blocks of one wave or two, so that few of them spread over many CUs.
constexpr unsigned small_block_threads = 64;

constexpr unsigned dword_bytes = memory_channels::dword_bytes;
constexpr unsigned sector_dwords = memory_channels::sector_dwords;
constexpr unsigned sector_bytes = sector_dwords * dword_bytes;
constexpr unsigned line_dwords = 32;  // 128 bytes, the longest cache line of a GPU so far

// --- Kernels ------------------------------------------------------------------------------------

__device__ std::uint64_t thread_number() {
  return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ std::uint64_t thread_count() { return std::uint64_t{gridDim.x} * blockDim.x; }

// One store per thread, to an address whose bits between the window's and the kept ones are
// cleared: of each 64 Ki numbers, `kept_mask + 1` have an address of their own, and which of the
// values for one address stays there is open. Both masks are arguments, so that no compiler knows
// them.
__global__ void __launch_bounds__(block_threads)
    collapsed_store_kernel(int* __restrict__ data, int window_mask, int kept_mask) {
  const int number = static_cast<int>(blockDim.x * blockIdx.x + threadIdx.x);
  const int address = (number & window_mask) | (number & kept_mask);
  data[address] = number;
}

// Access n is to one sector of row n % rows: the lanes of a wave stand below each other, and the
// next wave goes on down the column.
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
    sector[1] = quad_of_tokens(start + sector_dwords / 2, values);
  }
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
// all, a multiple of what all threads have in flight, which is `in_flight` for each.
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

// --- Collapsed addresses ------------------------------------------------------------------------

void measure_collapsed(Sweep& sweep, std::uint64_t bytes) {
  sweep.axis({.name = "folded onto", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("bandwidth");
  sweep.compare("collapsed store addresses");
  sweep.note(
      "each window of 256 KiB folded onto its first bytes, one dword per thread; bandwidth counts "
      "what all threads store");
  sweep.require_memory(bytes, "--footprint");
  constexpr int window = memory_channels::collapsed_window;
  const auto count = static_cast<unsigned>(bytes / dword_bytes);
  DeviceBuffer<int> data(count);
  const auto run = [&](unsigned kept) {
    launch(collapsed_store_kernel,
           {.grid = dim3(count / block_threads), .block = dim3(block_threads)}, data.data(),
           ~(window - 1), static_cast<int>(kept - 1));
  };
  const auto verify = [&](hipscope::Point& point, const std::string& what, unsigned kept) {
    data.poison();
    run(kept);
    memory_channels::verify_collapsed(point, what, data, kept,
                                      blocks_on_all_units(sweep, block_threads));
  };
  constexpr unsigned smallest_kept = 32;
  for (unsigned kept = smallest_kept; kept < window; kept *= 2) {
    auto point = sweep.point(std::to_string(kept * dword_bytes), kept * dword_bytes);
    verify(point, "not folded: every thread's number at its own address", window);
    verify(point, "one of its writers' values at each address, the rest untouched", kept);
    const auto time = point.measure([&] { run(kept); });
    constexpr double gibibyte = 1U << 30;
    point.value("bandwidth", static_cast<double>(bytes) / gibibyte / time.seconds().median,
                "GiB/s");
    point.value("thread rate", count / time.cycles(), "threads/cycle");
    point.value("stores per address", static_cast<double>(window) / kept, "");
  }
}

// --- Columns ------------------------------------------------------------------------------------

enum class Operation { load, store };

constexpr unsigned shortest_pitch = 512;
constexpr unsigned longest_pitch = 65536;
constexpr unsigned padding_bytes = 64;  // 16 elements of 4 bytes

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
    memory_channels::verify_sector_sums(point, name, sums, matrix, values);
  } else {
    hipscope::check(hipMemset(data.data(), hipscope::poison_byte, data.size() * sizeof(unsigned)));
    run();
    hipscope::verify_elements(sweep, point, name + ": every dword of the matrix, none beside it",
                              data, matrix.rows * matrix.pitch,
                              memory_channels::Tokens{matrix.pitch, matrix.width, values});
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
    fill(data, values_of(sweep.seed()), blocks_on_all_units(sweep, block_threads));
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
    memory_channels::verify_sums(point, name, sums_, accesses_, [&](std::uint64_t n) {
      return values.at(shift + (n & (places_ - 1)) * stride_);
    });
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
  fill(data, values_of(sweep.seed()), blocks_on_all_units(sweep, block_threads));
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
  fill(data, values_of(sweep.seed()), blocks_on_all_units(sweep, block_threads));
  constexpr std::uint64_t fewest_places = 1024;
  for (std::uint64_t stride = shortest_stride; stride * fewest_places <= footprint; stride *= 2) {
    const std::uint64_t places = std::bit_floor(footprint / stride);
    measure_pair(sweep, data, stride, places, std::max(std::bit_floor(accesses), places), 1);
  }
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
                                         "bytes of memory that strides cover; columns a "
                                         "quarter, both they and collapsed stores at most 1 GiB",
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
  // Matrices have a power of two rows; collapsed stores fill whole windows.
  const auto power_of_two = [=] { return std::bit_floor<std::uint64_t>(footprint); };
  const auto quarter = [=] { return std::min(power_of_two() / 4, gibibyte); };

  experiment.sweep("collapsed", "stores whose addresses collapse onto few", [=](Sweep& sweep) {
    measure_collapsed(sweep, std::min(power_of_two(), gibibyte));
  });
  experiment.sweep("column-loads", "columns loaded, rows a power of two apart against padded",
                   [=](Sweep& sweep) { measure_columns(sweep, Operation::load, quarter()); });
  experiment.sweep("column-stores", "columns stored, rows a power of two apart against padded",
                   [=](Sweep& sweep) { measure_columns(sweep, Operation::store, quarter()); });
  experiment.sweep("stride", "one sector per stride, powers of two against neighbours",
                   [=](Sweep& sweep) { measure_stride(sweep, footprint, places); });
  experiment.sweep("stride-l2", "the same within L2",
                   [=](Sweep& sweep) { measure_stride_l2(sweep, l2_footprint, l2_accesses); });
  experiment.conclude(memory_channels::conclude);
  return experiment.run(argc, argv);
}
