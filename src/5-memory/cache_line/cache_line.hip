// In which pieces does a cache fetch memory, and in which does it keep it?
//
// A miss fetches a sector, the smallest piece that is fetched alone. A cache has a tag per line,
// which may hold several sectors. Two experiments tell them apart.
//   sector  Load a word that is not cached, then one in the other half of the same aligned block
//           of 8, 16 ... 1024 bytes. Up to the sector the second load always hits, beyond it it
//           always misses. To show alignment, load two neighbouring words on either side of the
//           block's middle: 4 bytes apart, and yet a miss where sectors meet.
//   line    Spread nodes over memory, one at a random place of each chunk of c bytes, and find the
//           footprint at which a third of their loads miss. It is the same for all chunks up to
//           the line. Beyond, it grows with the chunk: a node takes a whole line, so the same
//           number of nodes fits however far apart they are.
// The third is fsword73's idea: walk up through cold memory with a stride of 4 ... 512 bytes. The
// average latency rises with the share of loads that miss, up to the stride where all do. His
// program (sweep published) means to stay in ranges of r values by (a & (r-1)) | (a & ~(r-1)),
// which is just a: what it measures are strides.
//
// One lane makes all loads in a chain, each giving the address of the next. Level 1 is the cache of
// a compute unit (CU; NVIDIA: streaming multiprocessor, SM). Level 2 is the first cache after the
// CU's own.
#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstdint>

#include "chase.h"
#include "findings.h"
#include "line_capacity.h"
#include "published_walk.h"
#include "sector.h"
#include "stride.h"
#include "warm_up.h"

namespace cache_line {
namespace {

using hipscope::CycleClock;
using hipscope::Sweep;

// --- Kernels ----------------------------------------------------------------------------------

// One load. On NVIDIA .cg caches in L2 only; on AMD a load that must see what other CUs wrote
// carries the bits (glc, and dlc on RDNA) that make it pass by the CU's caches.
template <Loads loads>
__device__ unsigned load(unsigned upper, unsigned lower) {
#if defined(__CUDA_ARCH__)
  // Put together in assembly, the address costs one register copy beside the load (5 cycles on an
  // H200) and no arithmetic: no matter where only hits are to be told from misses.
  unsigned word;
  if constexpr (loads == Loads::through_level_1) {
    asm volatile("{ .reg .b64 address; mov.b64 address, {%1, %2}; ld.global.ca.u32 %0, [address]; }"
                 : "=r"(word)
                 : "r"(lower), "r"(upper)
                 : "memory");
  } else {
    asm volatile("{ .reg .b64 address; mov.b64 address, {%1, %2}; ld.global.cg.u32 %0, [address]; }"
                 : "=r"(word)
                 : "r"(lower), "r"(upper)
                 : "memory");
  }
  return word;
#elif defined(__HIP_DEVICE_COMPILE__)
  const auto page = static_cast<std::uintptr_t>(static_cast<std::uint64_t>(upper) << 32);
  // A number made an address could be of any memory: the address space says that it is global. As a
  // sum of a scalar and a vector register it is all in the load instruction.
  using GlobalByte = const char __attribute__((address_space(1)));
  using GlobalWord = const unsigned __attribute__((address_space(1)));
  auto* const word = reinterpret_cast<GlobalWord*>(reinterpret_cast<GlobalByte*>(page) + lower);
  if constexpr (loads == Loads::through_level_1) {
    return *word;
  } else {
    return __hip_atomic_load(word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
#else
  return *reinterpret_cast<const unsigned*>(
      static_cast<std::uintptr_t>(static_cast<std::uint64_t>(upper) << 32 | lower));
#endif
}

// A barrier for the block and no more: __syncthreads also empties the level 1 of RDNA.
__device__ void wait_for_block() {
#if defined(__HIP_DEVICE_COMPILE__)
  __builtin_amdgcn_s_barrier();
#else
  __syncthreads();
#endif
}

// Warms up by the whole block, then times the chain by one lane. `sums` holds what each thread read
// while warming up.
template <Loads loads>
__global__ void __launch_bounds__(largest_block)
    chase_kernel(Chain chain, WarmUp warm_up, unsigned base, unsigned* sums, Outcome* outcome) {
  unsigned sum = 0;
  for (unsigned pass = 0; pass < warm_up.passes; ++pass) {
    for (unsigned round = 0; round < warm_up.per_stratum; ++round) {
      for (unsigned stratum = threadIdx.x; stratum < warm_up.strata; stratum += blockDim.x) {
        sum += load<loads>(chain.upper, base + node_place(warm_up, stratum, round));
      }
    }
  }
  sums[threadIdx.x] = sum;
  wait_for_block();
  if (threadIdx.x != 0) {
    return;
  }
  unsigned lower = chain.first;
  CycleClock<> clock;
#pragma unroll 1
  for (unsigned lap = 0; lap <= warm_up.laps; ++lap) {
    lower = chain.first;
    clock.start();
#pragma unroll 1
    for (unsigned i = 0; i < chain.loads; ++i) {
      lower = load<loads>(chain.upper, lower);
      clock.lap();
    }
  }
  // To ask for the value is to wait for it, and only then is the counter read. Its own cost, some
  // tens of cycles, is shared by all loads of the chain.
  if (lower != poison_word) {
    clock.stop();
    outcome->cycles = clock.elapsed();
    outcome->end = lower;
  }
}

constexpr Path through_level_1 = {.loads = Loads::through_level_1,
                                  .kernel = chase_kernel<Loads::through_level_1>};
constexpr Path past_level_1 = {.loads = Loads::past_level_1,
                               .kernel = chase_kernel<Loads::past_level_1>};

// --- Sweeps -----------------------------------------------------------------------------------

int run(int argc, char** argv) {
  hipscope::Experiment experiment(
      "cache_line",
      {.question = "In which units does each cache level fetch memory, and in which does it keep "
                   "it?",
       .sources = {"fsword73/HIP-Performance-Optmization-on-VEGA64, 2.6.2 and 2.7.1 (examples 6b, "
                   "7a, 7b)"}});
  const auto groups = experiment.size(
      "--groups", "pairs of loads in sweeps sector-l1 and sector-l2",
      {.gpu = 2048, .quick = 1024, .host = 32, .tiny = 31, .minimum = 1, .maximum = 1U << 16});
  const auto loads = experiment.size(
      "--loads", "loads of sweeps stride, published and published-7a",
      {.gpu = 8192, .quick = 4096, .host = 64, .tiny = 61, .minimum = 1, .maximum = 1U << 20});
  const auto threads =
      experiment.size("--threads", "threads of sweep published-7b, rounded down to a power of two",
                      {.gpu = 1U << 28,
                       .quick = 1U << 24,
                       .host = 1U << 12,
                       .tiny = 1U << 10,
                       .minimum = strided_block,
                       .maximum = 1U << 28});
  const auto span =
      experiment.size("--span", "largest footprint in sweep line-l2, in MiB",
                      {.gpu = 2048, .quick = 512, .host = 1, .minimum = 1, .maximum = 2048});
  constexpr std::uint64_t mebi = 1U << 20;
  constexpr std::uint64_t level_1_span = 64 * mebi;
  experiment.sweep("sector-l1", "two loads of an aligned block, through level 1, warm in level 2",
                   [&](Sweep& sweep) { measure_sector(sweep, through_level_1, groups); });
  experiment.sweep("sector-l2", "two loads of an aligned block, past level 1, cold",
                   [&](Sweep& sweep) { measure_sector(sweep, past_level_1, groups); });
  experiment.sweep("line-l1", "footprint that leaves level 1", [&](Sweep& sweep) {
    measure_line(sweep, through_level_1,
                 {.smallest_chunk = 8,
                  .largest_chunk = 1024,
                  .span = std::min<std::uint64_t>(span * mebi, level_1_span)});
  });
  experiment.sweep("line-l2", "footprint that leaves level 2", [&](Sweep& sweep) {
    measure_line(sweep, past_level_1,
                 {.smallest_chunk = 32, .largest_chunk = 1024, .span = span * mebi});
  });
  experiment.sweep("stride", "ascending walk through cold memory", [&](Sweep& sweep) {
    measure_stride(sweep, through_level_1, past_level_1, loads);
  });
  experiment.sweep("published", "the same as the published program has it",
                   [&](Sweep& sweep) { measure_published(sweep, loads); });
  experiment.sweep("published-7a",
                   "the same with a stride, as the published program before it has it",
                   [&](Sweep& sweep) { measure_published_7a(sweep, loads); });
  experiment.sweep("published-7b", "a strided load per thread, as the published program has it",
                   [&](Sweep& sweep) { measure_published_7b(sweep, threads); });
  experiment.conclude(conclude);
  return experiment.run(argc, argv);
}

}  // namespace
}  // namespace cache_line

int main(int argc, char** argv) { return cache_line::run(argc, argv); }
