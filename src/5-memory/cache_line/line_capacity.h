// In which pieces does a cache keep memory? The footprint of nodes spread over memory, one in each
// chunk, at which loads begin to miss.
#pragma once

#include <hipscope/hipscope.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "5-memory/leaving.h"
#include "chase.h"

namespace cache_line {

struct LineSearch {
  unsigned smallest_chunk;
  unsigned largest_chunk;
  std::size_t span;  // bytes: the largest footprint
};

struct NodeLatency {
  double hit = 0;
  double miss = 0;
  double share = 0;  // of the way from hit to miss, after all nodes were read
};

// One node in each of about `nodes` chunks. All three latencies are of the same chain, spread over
// all of the footprint, so that address translation costs them alike.
inline NodeLatency node_latency(const Path& path, const Arena& arena, double nodes,
                                unsigned chunk_bytes, unsigned salt, hipscope::Comparison& checks) {
  constexpr unsigned fewest_strata = 16;
  // A stratum has one node of the chain, which must fit into the level: the smallest level 1 so far
  // has 128 lines (RDNA: 16 KiB in lines of 128 bytes).
  const unsigned most_strata = path.loads == Loads::through_level_1 ? 64 : 4096;
  // So that hardly two nodes of the chain share a line.
  const unsigned nodes_per_stratum = std::max(8U, 2 * longest_line / chunk_bytes);
  WarmUp warm_up{.strata = fewest_strata, .chunk_bytes = chunk_bytes, .salt = salt};
  while (warm_up.strata < most_strata && 2.0 * warm_up.strata * nodes_per_stratum <= nodes) {
    warm_up.strata *= 2;
  }
  warm_up.per_stratum = static_cast<unsigned>(nodes / warm_up.strata);
  std::vector<unsigned> places;
  for (unsigned stratum = 0; stratum < warm_up.strata; ++stratum) {
    const unsigned rounds = std::min(chunks_per_line(warm_up), warm_up.per_stratum);
    const unsigned round = scramble(stratum ^ salt) % rounds;
    places.push_back(node_place(warm_up, stratum, round));
  }
  std::shuffle(places.begin(), places.end(), std::mt19937(salt));
  Chase chase(path, arena, places);
  NodeLatency latency;
  latency.hit = chase.run_checked(checks, {.laps = 1});
  // A kernel starts with an empty level 1, but not with an empty level 2.
  if (path.loads == Loads::past_level_1) {
    arena.flush();
  }
  latency.miss = chase.run_checked(checks);
  warm_up.passes = 2;
  const double after_all = chase.run_checked(checks, warm_up);
  // Where even the chain alone does not stay in the level, nothing does.
  constexpr double clearly_less = 0.8;
  const bool stays = latency.hit < clearly_less * latency.miss;
  latency.share = stays ? (after_all - latency.hit) / (latency.miss - latency.hit) : 1;
  return latency;
}

// The number of nodes at which loads leave the level, of several chains each; NaN if they leave it
// nowhere in the range.
inline double leaving_nodes(hipscope::Sweep& sweep, const Path& path, const Arena& arena,
                            unsigned chunk_bytes, double most_nodes, hipscope::Comparison& checks,
                            NodeLatency& latency) {
  constexpr double fewest_nodes = 64;
  constexpr unsigned chains = 3;
  auto salt = static_cast<unsigned>(sweep.seed());
  return memory::leaving_nodes(
      fewest_nodes, most_nodes, sweep.is_hardware() ? 9 : 3, [&](double nodes) {
        std::vector<double> shares;
        for (unsigned chain = 0; chain < chains; ++chain) {
          latency = node_latency(path, arena, nodes, chunk_bytes, salt++, checks);
          shares.push_back(latency.share);
        }
        return hipscope::summarize(shares).median;
      });
}

inline void measure_line(hipscope::Sweep& sweep, const Path& path, const LineSearch& search) {
  sweep.axis({.name = "chunk", .unit = "bytes", .scale = hipscope::Scale::logarithmic});
  sweep.headline("footprint");
  sweep.note("footprint: one node per chunk, and the latency of a load " +
             hipscope::number(memory::leaving_share) + " of the way from a hit to a miss");
  sweep.require_memory(2 * search.span, "--span");
  const Arena arena(search.span);
  prefer_level_1_cache(path);
  for (unsigned chunk = search.smallest_chunk; chunk <= search.largest_chunk; chunk *= 2) {
    auto point = sweep.point(std::to_string(chunk), chunk);
    hipscope::Comparison checks;
    NodeLatency latency;
    const double nodes = leaving_nodes(sweep, path, arena, chunk,
                                       static_cast<double>(search.span) / chunk, checks, latency);
    point.verify("ends of chains and sums of what warm-ups read", checks);
    constexpr double kibi = 1024;
    point.value("footprint", sweep.counted(nodes * chunk / kibi), "KiB");
    point.value("nodes", sweep.counted(nodes), "nodes");
    point.value("hit", sweep.counted(latency.hit), "cycles");
    point.value("miss", sweep.counted(latency.miss), "cycles");
  }
}

}  // namespace cache_line
