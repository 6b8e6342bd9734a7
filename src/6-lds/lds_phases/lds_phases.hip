// In which groups are the lanes of one LDS instruction served?
//
// All banks of LDS (NVIDIA: shared memory) together give 128 bytes in a cycle, on some GPUs 256. A
// wave that asks for more is served in phases, some of its lanes in each, and only lanes of one
// phase can conflict. So the phases decide which layout of a tile has no conflicts, and no manual
// lists them for every width.
//
// Two lanes at a time go to different dwords of one bank, which no other lane uses. If both are in
// one phase, the access takes a pass more. The other lanes go to seven places in banks of their
// own, neighbours to different ones, since NVIDIA's GPUs join phases whose lanes agree in pairs. So
// the cycles of lane a with each lane b show which lanes are in the phase of a.
//
// Sweep tile then loads the operand of a matrix instruction from a tile with padded rows and from
// a swizzled one: the phases predict which of them has no conflicts.
#include <hipscope/hipscope.h>
#include <hipscope/lds.h>
#include <hipscope/timed_rounds.h>
#include <hipscope/wait_for_lds.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "findings.h"

using hipscope::DeviceBuffer;
using hipscope::lds_forget;
using hipscope::LdsWords;
using hipscope::Point;
using hipscope::Sweep;
using hipscope::WaveTime;
using Words = std::vector<unsigned>;

namespace {

constexpr unsigned largest_block = 1024;
constexpr unsigned lds_words = 1024;
constexpr unsigned dword_bytes = 4;

// Accesses in the body of the loop.
constexpr unsigned body_steps = 32;

// What dword i of LDS holds at first; the factor is odd, so that no two hold the same.
__host__ __device__ unsigned content(unsigned i, unsigned salt) { return (i + 1) * (salt | 1U); }

// The 16 bits at `offset` bytes; and what such ones make as the halves of a dword.
unsigned half_at(unsigned offset, unsigned salt) {
  return content(offset / dword_bytes, salt) >> (offset % dword_bytes * 8) & 0xFFFFU;
}
unsigned halves(unsigned low, unsigned high) { return low | high << 16U; }

// --- Accesses ---------------------------------------------------------------------------------

// Each steps at one address of LDS and then gives what it has seen. `expected` is what that must be
// for a lane of a wave that goes to `offsets`, after `steps` steps that follow `before` others.

template <unsigned Bytes>
struct Loads {
  static constexpr const char* only_on = "";  // any
  unsigned sum = 0;
  __device__ Loads(unsigned /*offset*/, unsigned /*salt*/, unsigned /*before*/) {}
  __device__ void step(unsigned* lds, unsigned address) {
    const LdsWords<Bytes> loaded = hipscope::lds_load<Bytes>(lds, address);
#pragma unroll
    for (unsigned i = 0; i < loaded.count; ++i) {
      sum += loaded.word[i];
    }
  }
  __device__ unsigned seen(unsigned* /*lds*/, unsigned /*address*/) const { return sum; }
  static unsigned expected(std::span<const unsigned> offsets, unsigned lane, unsigned salt,
                           unsigned /*before*/, unsigned steps) {
    unsigned sum = 0;
    for (unsigned i = 0; i < LdsWords<Bytes>::count; ++i) {
      sum += content(offsets[lane] / dword_bytes + i, salt);
    }
    return sum * steps;
  }
};

// The first dword goes up by one from store to store. All waves, and the lanes that share a place,
// store the same there, so that it does not matter which comes last.
template <unsigned Bytes>
struct Stores {
  static constexpr const char* only_on = "";
  LdsWords<Bytes> stored{};
  __device__ Stores(unsigned offset, unsigned salt, unsigned before) {
#pragma unroll
    for (unsigned i = 0; i < stored.count; ++i) {
      stored.word[i] = content(offset / dword_bytes + i, salt) + (i == 0 ? before : 0);
    }
  }
  __device__ void step(unsigned* lds, unsigned address) {
    ++stored.word[0];
    hipscope::lds_store<Bytes>(lds, address, stored);
  }
  __device__ unsigned seen(unsigned* lds, unsigned address) const {
    hipscope::wait_for_lds();
    __syncthreads();
    lds_forget(address);
    Loads<Bytes> loads(0, 0, 0);
    loads.step(lds, address);
    return loads.sum;
  }
  static unsigned expected(std::span<const unsigned> offsets, unsigned lane, unsigned salt,
                           unsigned before, unsigned steps) {
    return Loads<Bytes>::expected(offsets, lane, salt, 0, 1) + before + steps;
  }
};

#if defined(HIPSCOPE_BACKEND_NVIDIA)
// Lanes 8 i to 8 i + 7 name the rows of matrix i, eight halves each. Lane l is given dword l % 4 of
// row l / 4 of every matrix; transposed, the halves in column l / 4 of rows 2 (l % 4) and the next.
// ptxas makes one of ldmatrix that have one address: `moved` stays 0, but it does not know that.
template <bool Transposed>
struct MatrixLoads : Loads<16> {
  unsigned nothing;
  unsigned moved = 0;
  __device__ MatrixLoads(unsigned offset, unsigned salt, unsigned before)
      : Loads(offset, salt, before), nothing(before >> 31U) {}
  __device__ void step([[maybe_unused]] unsigned* lds, [[maybe_unused]] unsigned address) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 750
    unsigned words[4];
    if constexpr (Transposed) {
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                   : "r"(address + moved)
                   : "memory");
    } else {
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                   : "r"(address + moved)
                   : "memory");
    }
    moved += nothing;
    sum += words[0] + words[1] + words[2] + words[3];
#endif
  }
  static unsigned expected(std::span<const unsigned> offsets, unsigned lane, unsigned salt,
                           unsigned /*before*/, unsigned steps) {
    unsigned sum = 0;
    for (unsigned matrix = 0; matrix < 4; ++matrix) {
      const auto row = offsets.subspan(8 * matrix, 8);
      const unsigned i = lane % 4;
      const auto half = [&](unsigned of_row) { return half_at(row[of_row] + lane / 4 * 2, salt); };
      sum += Transposed ? halves(half(2 * i), half(2 * i + 1))
                        : content(row[lane / 4] / dword_bytes + i, salt);
    }
    return sum * steps;
  }
};
#else
// Of each 16 lanes 4 r to 4 r + 3 name row r of a matrix, four of its 16 halves each, and lane l is
// given its column l (CDNA 4's instruction set, 11.4; triton-lang/triton, pull request 8525). The
// sum does not tell the order of the dwords, so the last second one is seen, too.
struct TransposingLoads : Loads<8> {
  static constexpr const char* only_on = "gfx950";
  unsigned last = 0;
#if defined(HIPSCOPE_BACKEND_HOST)
  unsigned pieces[4];  // of the rows, those with this lane's column
#endif
  __device__ TransposingLoads(unsigned offset, unsigned salt, unsigned before)
      : Loads(offset, salt, before) {
#if defined(HIPSCOPE_BACKEND_HOST)
    for (unsigned row = 0; row < 4; ++row) {
      pieces[row] = __shfl(offset, static_cast<int>(4 * row + threadIdx.x % 16 / 4), 16);
    }
#endif
  }
  __device__ void step([[maybe_unused]] unsigned* lds, [[maybe_unused]] unsigned address) {
    LdsWords<8> loaded{};
#if defined(HIPSCOPE_BACKEND_HOST)
    for (unsigned row = 0; row < 4; ++row) {
      const unsigned at = pieces[row] + threadIdx.x % 4 * 2;
      const unsigned half = lds[at / dword_bytes] >> (at % dword_bytes * 8) & 0xFFFFU;
      loaded.word[row / 2] |= half << (row % 2 * 16);
    }
#elif defined(__gfx950__) && __has_builtin(__builtin_amdgcn_ds_read_tr16_b64_v4i16)
    using Halves = short __attribute__((ext_vector_type(4)));
    loaded = __builtin_bit_cast(LdsWords<8>,
                                __builtin_amdgcn_ds_read_tr16_b64_v4i16(
                                    reinterpret_cast<hipscope::LdsPointer<Halves>>(address)));
#endif
    last = loaded.word[1];
    sum += loaded.word[0] + last;
  }
  __device__ unsigned seen(unsigned* /*lds*/, unsigned /*address*/) const { return sum + last; }
  static unsigned expected(std::span<const unsigned> offsets, unsigned lane, unsigned salt,
                           unsigned /*before*/, unsigned steps) {
    const auto rows = offsets.subspan(lane / 16 * 16, 16);
    const auto half = [&](unsigned row) {
      return half_at(rows[4 * row + lane % 16 / 4] + lane % 4 * 2, salt);
    };
    const unsigned last = halves(half(2), half(3));
    return (halves(half(0), half(1)) + last) * steps + last;
  }
};
#endif

// --- Kernel -----------------------------------------------------------------------------------

// One block, which fills a CU, takes one pattern after the other: `offsets` says where the lanes of
// each wave go, in bytes.
template <typename Access>
__global__ void __launch_bounds__(largest_block)
    patterns_kernel(const unsigned* offsets, unsigned patterns, unsigned salt, unsigned* seen,
                    WaveTime* times, unsigned rounds) {
  __shared__ uint4 storage[lds_words / 4];
  auto* const lds = reinterpret_cast<unsigned*>(storage);
  for (unsigned i = threadIdx.x; i < lds_words; i += blockDim.x) {
    lds[i] = content(i, salt);
  }
  const unsigned wave = threadIdx.x / warpSize;
  const unsigned lane = threadIdx.x % warpSize;
  const unsigned steps = (hipscope::warm_up_rounds + rounds) * body_steps;
#pragma unroll 1
  for (unsigned pattern = 0; pattern < patterns; ++pattern) {
    const unsigned offset = offsets[pattern * warpSize + lane];
    unsigned address = hipscope::lds_address(lds) + offset;
    Access access(offset, salt, pattern * steps);
    const WaveTime time = hipscope::time_rounds<true>(
        rounds,
        [&] {
#pragma unroll
          for (unsigned step = 0; step < body_steps; ++step) {
            lds_forget(address);
            access.step(lds, address);
          }
        },
        [] { hipscope::wait_for_lds(); });
    seen[(wave * patterns + pattern) * warpSize + lane] = access.seen(lds, address);
    if (lane == 0) {
      times[pattern * (blockDim.x / warpSize) + wave] = time;
    }
  }
}

// --- Measuring --------------------------------------------------------------------------------

struct Amount {
  hipscope::Size rounds;
  hipscope::Size threads;
  hipscope::Size lane_step;
};

// The cycles of an access of a wave, on a full CU, for each of the patterns in `offsets`.
template <typename Access>
std::vector<double> measure(const Sweep& sweep, Point& point, const Words& offsets,
                            const Amount& amount) {
  const auto lanes = static_cast<unsigned>(sweep.device().wave_size);
  const auto waves = (static_cast<unsigned>(amount.threads) + lanes - 1) / lanes;
  const auto patterns = static_cast<unsigned>(offsets.size()) / lanes;
  const auto salt = static_cast<unsigned>(sweep.seed());
  const DeviceBuffer<unsigned> given{std::span<const unsigned>(offsets)};
  DeviceBuffer<unsigned> seen(offsets.size() * waves);
  DeviceBuffer<WaveTime> times(std::size_t{patterns} * waves);
  const auto run = [&](std::uint64_t rounds) {
    hipscope::launch(patterns_kernel<Access>, {.grid = dim3(1), .block = dim3(waves * lanes)},
                     given.data(), patterns, salt, seen.data(), times.data(), rounds);
  };
  hipscope::verify_rounds(
      point, "what each lane has seen", amount.rounds, seen, run, [&](std::uint64_t rounds) {
        const auto steps = static_cast<unsigned>(rounds) * body_steps;
        Words right;
        for (unsigned i = 0; i < offsets.size(); ++i) {
          const auto wave = std::span(offsets).subspan(i / lanes * lanes, lanes);
          right.push_back(Access::expected(wave, i % lanes, salt, i / lanes * steps, steps));
        }
        return right;
      });
  point.measure([&] { run(amount.rounds); }, {.batch = 1});
  constexpr unsigned launches = 7;
  std::vector<std::vector<double>> cycles(patterns);
  for (unsigned i = 0; i < launches; ++i) {
    run(amount.rounds);
    const std::vector<WaveTime> taken = times.to_host();
    for (unsigned pattern = 0; pattern < patterns; ++pattern) {
      const auto mine = std::span(taken).subspan(std::size_t{pattern} * waves, waves);
      cycles[pattern].push_back(
          static_cast<double>(hipscope::cycles_of_all(mine, sweep.device().cycle_counter_bits)));
    }
  }
  std::vector<double> medians;
  const auto accesses = static_cast<double>(amount.rounds * body_steps * waves);
  for (const std::vector<double>& counted : cycles) {
    medians.push_back(sweep.counted(hipscope::median_of(counted) / accesses));
  }
  return medians;
}

// Both lanes in one bank, in rows of their own, which are as long as all banks of any GPU; the
// others in one row, in seven places that are as wide as the widest access.
Words pair_offsets(unsigned lanes, unsigned one, unsigned other) {
  constexpr unsigned row_bytes = 256;
  constexpr unsigned places = 7;
  Words offsets(lanes);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    offsets[lane] = lane % places * lds_phases::piece_bytes;
  }
  offsets[one] = row_bytes + places * lds_phases::piece_bytes;
  if (other != one) {
    offsets[other] = 2 * row_bytes + places * lds_phases::piece_bytes;
  }
  return offsets;
}

template <typename Access>
void measure_lanes(Sweep& sweep, const Amount& amount) {
  sweep.axis({.name = "lane"});
  sweep.headline("phase");
  sweep.note("phase: the first lane that conflicts with this one; lanes: how many do, with itself");
  if (sweep.is_hardware() && !sweep.device().architecture.starts_with(Access::only_on)) {
    sweep.note(std::string("this device has none of them; ") + Access::only_on + " has");
    return;
  }
  const auto lanes = static_cast<unsigned>(sweep.device().wave_size);
  for (unsigned lane = 0; lane < lanes; lane += static_cast<unsigned>(amount.lane_step)) {
    Words offsets;
    for (unsigned other = 0; other < lanes; ++other) {
      const Words pair = pair_offsets(lanes, lane, other);
      offsets.insert(offsets.end(), pair.begin(), pair.end());
    }
    auto point = sweep.point(std::to_string(lane), lane);
    const auto cycles = measure<Access>(sweep, point, offsets, amount);
    for (const auto& [name, value, unit] : lds_phases::phase_of(lane, cycles)) {
      point.value(name, value, unit);
    }
  }
}

void measure_tile(Sweep& sweep, const Amount& amount) {
  sweep.axis({.name = "layout"});
  sweep.headline("cycles");
  sweep.note("lane l loads 16 bytes, piece l / 16 of row l % 16; rows of 128 bytes");
  const auto lanes = static_cast<unsigned>(sweep.device().wave_size);
  for (unsigned layout = 0; layout < lds_phases::tile_layouts; ++layout) {
    const std::string padding = std::to_string(layout * lds_phases::piece_bytes);
    const bool is_padded = layout + 1 < lds_phases::tile_layouts;
    auto point = sweep.point(is_padded ? "padded by " + padding + " bytes" : "XOR swizzle", layout);
    const Words offsets = lds_phases::operand_offsets(lanes, layout);
    point.value("cycles", measure<Loads<16>>(sweep, point, offsets, amount).front(), "cycles");
  }
}

}  // namespace

int main(int argc, char** argv) {
  hipscope::Experiment experiment(
      "lds_phases",
      {.question = "In which groups are the lanes of one LDS instruction served?",
       .sources = {"hipscope's own; asked in triton-lang/triton, pull request 11365"}});
  const Amount amount = {
      .rounds = experiment.size("--rounds", "rounds of 32 accesses per wave",
                                {.gpu = 4, .quick = 2, .host = 1, .minimum = 1, .maximum = 1024}),
      .threads =
          experiment.size("--threads", "threads of the block that fills a CU, in whole waves",
                          {.gpu = largest_block,
                           .quick = largest_block,
                           .host = 128,
                           .tiny = 65,
                           .minimum = 1,
                           .maximum = largest_block}),
      .lane_step = experiment.size(
          "--lane-step", "lanes from one measured lane to the next",
          {.gpu = 1, .quick = 1, .host = 21, .tiny = 31, .minimum = 1, .maximum = 64})};
  const auto add = [&](std::size_t access, void (*measure_access)(Sweep&, const Amount&)) {
    const lds_phases::AccessName& name = lds_phases::access_names[access];
    experiment.sweep(name.sweep, std::string("who meets whom in ") + name.title,
                     [=](Sweep& sweep) { measure_access(sweep, amount); });
  };
  add(0, measure_lanes<Loads<4>>);
  add(1, measure_lanes<Loads<8>>);
  add(2, measure_lanes<Loads<16>>);
  add(3, measure_lanes<Stores<4>>);
  add(4, measure_lanes<Stores<8>>);
  add(5, measure_lanes<Stores<16>>);
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  add(6, measure_lanes<MatrixLoads<false>>);
  add(7, measure_lanes<MatrixLoads<true>>);
#else
  add(8, measure_lanes<TransposingLoads>);
#endif
  experiment.sweep("tile", "an operand from a padded and from a swizzled tile",
                   [=](Sweep& sweep) { measure_tile(sweep, amount); });
  experiment.conclude(lds_phases::conclude);
  return experiment.run(argc, argv);
}
