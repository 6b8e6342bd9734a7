// The stages that normalize each channel over the images and their planes: what is known of their
// arithmetic, which tensors they take, and how they are launched.
#pragma once

#include <hipscope/divisor.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "15a-channel-several-passes.h"
#include "15b-channel-resident.h"
#include "15c-channel-blocks-that-stay.h"
#include "15d-channel-cluster.h"
#include "15e-channel-in-lds.h"
#include "stage.h"

namespace hipscope::batch_norm {

/// The widest access that every run in an image begins and ends with.
inline unsigned width_of(const Tensor& tensor) { return tensor.plane % 4 == 0 ? 4 : 1; }

inline Runs runs_of(const Tensor& tensor, unsigned width) {
  const unsigned run = tensor.plane / width;
  return {.channels = tensor.channels,
          .count = tensor.images * run,
          .run = run,
          .by_run = divisor_of(run)};
}

/// Why no stage takes the tensor; empty if they do.
inline std::string refusal(const Runs& runs) {
  const bool fits = std::uint64_t{runs.channels} * runs.count >> 32 == 0;
  return fits ? "" : "the tensor has 2^32 accesses or more";
}

// --- One block for a channel -------------------------------------------------------------------

using ChannelKernel = void (*)(const float*, const float*, const float*, float*, Runs);

inline Stage channel_stage(const Sweep& sweep, Arrays& arrays, const std::string& name,
                           ChannelKernel kernel, Moments moments, unsigned reads) {
  const Runs runs = runs_of(arrays.tensor, width_of(arrays.tensor));
  const unsigned of_thread = values_of(arrays.tensor, Scope::spatial) / channel_threads + 4;
  return {.name = name,
          .arithmetic = {.moments = moments, .additions = of_thread + wave_additions + most_waves},
          .is_exact_on_integers = true,
          .reads = reads,
          .footprint = footprint_of(sweep, kernel, channel_threads),
          .why_not = refusal(runs),
          .run = [=, &arrays] {
            launch(kernel, {.grid = dim3(runs.channels), .block = dim3(channel_threads)},
                   arrays.input.data(), arrays.gamma.data(), arrays.beta.data(),
                   arrays.output.data(), runs);
          }};
}

template <unsigned Width>
std::vector<Stage> streaming_channel_stages(const Sweep& sweep, Arrays& arrays) {
  return {
      channel_stage(sweep, arrays, "three passes",
                    channel_streaming_kernel<Width, Moments::centred>, Moments::centred, 3),
      channel_stage(sweep, arrays, "two passes", channel_streaming_kernel<Width, Moments::shifted>,
                    Moments::shifted, 2),
      channel_stage(sweep, arrays, "two passes, backwards",
                    channel_streaming_kernel<Width, Moments::shifted, true>, Moments::shifted, 2)};
}

// --- Several blocks for a channel, that wait for each other ------------------------------------

using ResidentKernel = void (*)(const float*, const float*, const float*, float*, Runs, Group,
                                Exchange);
using InLdsKernel = void (*)(const float*, const float*, const float*, float*, Runs, Group,
                             Exchange, AskAhead);

/// What a block keeps: in each thread `values` accesses of `width` floats, `in_lds` of them in LDS.
struct Resident {
  unsigned width;
  unsigned values;
  unsigned block;
  bool stays = false;  // blocks go on to further channels
  unsigned in_lds = 0;
  unsigned asked = 0;  // channels that L2 is asked for at once; 0: for none
};

/// Channels cut into as few parts as the accesses of a block allow.
inline Group group_of(const Runs& runs, unsigned accesses_of_block) {
  const unsigned fewest = (runs.count + accesses_of_block - 1) / accesses_of_block;
  const unsigned share = (runs.count + fewest - 1) / fewest;
  const unsigned siblings = (runs.count + share - 1) / share;
  return {.siblings = siblings, .by_siblings = divisor_of(siblings), .share = share};
}

/// Blocks that the device runs at the same time.
inline unsigned room_for(const Sweep& sweep, const Footprint& footprint) {
  return static_cast<unsigned>(footprint.resident_blocks) *
         static_cast<unsigned>(sweep.device().compute_units);
}

/// The XCDs that a GPU has at most. Workgroups go to them in turn, whichever has room (AMD's
/// guide "Instinct MI300X workload optimization"): the last that others wait for may all be one
/// XCD's.
inline unsigned most_xcds(std::string_view architecture) {
  return architecture.starts_with("gfx94") || architecture.starts_with("gfx950") ? 8 : 1;
}

/// Why blocks that wait for each other cannot run; empty if they can.
inline std::string refusal(const Sweep& sweep, const Runs& runs, const Group& group,
                           const Footprint& footprint) {
  const std::string of_any_stage = refusal(runs);
  if (!of_any_stage.empty()) {
    return of_any_stage;
  }
  const std::string wanted = "a channel takes " + std::to_string(group.siblings) + " blocks, ";
  if (group.siblings > most_siblings) {
    return wanted + "more than " + std::to_string(most_siblings);
  }
  const unsigned xcds = most_xcds(sweep.device().architecture);
  if (blocks_run_together && group.siblings > room_for(sweep, footprint) / xcds) {
    return wanted + "which this device does not run at the same time" +
           (xcds > 1 ? " on one XCD" : "");
  }
  return "";
}

/// Why a kernel whose blocks take so much LDS cannot run; empty if it can, and then it has been
/// allowed to take it, which NVIDIA asks for.
template <typename... Parameters>
std::string refusal_of_lds(const Sweep& sweep, void (*kernel)(Parameters...), unsigned lds_bytes) {
  hipFuncAttributes attributes{};
  check(hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)));
  const std::uint64_t most = sweep.device().largest_lds_bytes_per_block;
  if (lds_bytes + attributes.sharedSizeBytes > most) {
    return "a block takes " + std::to_string(lds_bytes + attributes.sharedSizeBytes) +
           " bytes of LDS, where this device has " + std::to_string(most);
  }
  allow_lds(kernel, lds_bytes);
  return "";
}

/// What is in memory between launches: the counter is 0, and all words are from the last one.
struct ExchangeState {
  DeviceBuffer<unsigned> tickets{1};
  DeviceBuffer<unsigned long long> messages;
  unsigned parity = 0;
};

template <typename Kernel>  // ResidentKernel or InLdsKernel
Stage resident_stage(const Sweep& sweep, Arrays& arrays, const std::string& name, Kernel kernel,
                     const Resident& kept) {
  const auto lds_bytes = static_cast<unsigned>(kept.in_lds * kept.block * sizeof(float4));
  Stage stage;
  stage.name = name;
  if (arrays.tensor.plane % kept.width != 0) {
    stage.why_not = "a run is no whole number of accesses of 16 bytes";
  } else if (lds_bytes > 0) {
    stage.why_not = refusal_of_lds(sweep, kernel, lds_bytes);
  }
  if (!stage.why_not.empty()) {
    return stage;
  }
  const Runs runs = runs_of(arrays.tensor, kept.width);
  const Group group = group_of(runs, kept.values * kept.block);
  stage.arithmetic = {
      .moments = Moments::centred,
      .additions = kept.values * kept.width + wave_additions + most_waves + wave_additions};
  stage.is_exact_on_integers = group.siblings == 1 || group.share * kept.width % 2 == 0;
  stage.footprint = footprint_of(sweep, kernel, kept.block, lds_bytes);
  stage.why_not = refusal(sweep, runs, group, stage.footprint);
  if (!stage.why_not.empty()) {
    return stage;
  }
  const unsigned room = room_for(sweep, stage.footprint) / group.siblings;
  const unsigned groups = kept.stays ? std::clamp(room, 1U, runs.channels) : runs.channels;
  [[maybe_unused]] const AskAhead ahead = {.columns = kept.asked * arrays.tensor.plane,
                                           .readers = kept.asked * group.siblings,
                                           .first = kept.asked > 0 ? room / kept.asked : 0,
                                           .images = arrays.tensor.images,
                                           .image = arrays.tensor.channels * arrays.tensor.plane};
  const LaunchShape shape = {
      .grid = dim3(groups * group.siblings), .block = dim3(kept.block), .lds_bytes = lds_bytes};
  const auto state = std::make_shared<ExchangeState>(ExchangeState{
      .messages = DeviceBuffer<unsigned long long>(std::size_t{runs.channels} * group.siblings)});
  state->tickets.clear();
  state->messages.clear();
  stage.run = [=, &arrays] {
    state->parity ^= 1U;
    const Exchange exchange = {.tickets = state->tickets.data(),
                               .groups = groups,
                               .messages = state->messages.data(),
                               .parity = state->parity};
    const auto launch_with = [&](const auto&... further) {
      launch(kernel, shape, arrays.input.data(), arrays.gamma.data(), arrays.beta.data(),
             arrays.output.data(), runs, group, exchange, further...);
    };
    for (unsigned launches = blocks_run_together ? 1 : 2; launches > 0; --launches) {
      if constexpr (std::is_same_v<Kernel, InLdsKernel>) {
        launch_with(ahead);
      } else {
        launch_with();
      }
    }
  };
  return stage;
}

/// `Values` accesses of 16 bytes per thread; where runs are no whole number of these, 16 of 4
/// bytes. The same with blocks that stay.
template <unsigned Values, unsigned Block>
std::vector<Stage> resident_stages(const Sweep& sweep, Arrays& arrays, const std::string& name,
                                   const std::string& name_staying) {
  if (width_of(arrays.tensor) == 4) {
    return {resident_stage<ResidentKernel>(
                sweep, arrays, name, channel_resident_kernel<4, Values, Block>, {4, Values, Block}),
            resident_stage<ResidentKernel>(sweep, arrays, name_staying,
                                           channel_staying_kernel<4, Values, Block>,
                                           {4, Values, Block, true})};
  }
  return {resident_stage<ResidentKernel>(sweep, arrays, name, channel_resident_kernel<1, 16, 512>,
                                         {1, 16, 512}),
          resident_stage<ResidentKernel>(sweep, arrays, name_staying,
                                         channel_staying_kernel<1, 16, 512>, {1, 16, 512, true})};
}

#if !defined(HIPSCOPE_BACKEND_AMD)
/// `asked` channels are asked for at once; 0: none.
template <unsigned InLds, unsigned InRegisters, unsigned Block, unsigned Blocks>
Stage in_lds_stage(const Sweep& sweep, Arrays& arrays, const std::string& name, unsigned asked) {
  const auto kernel = asked > 0 ? channel_in_lds_kernel<InLds, InRegisters, Block, Blocks, true>
                                : channel_in_lds_kernel<InLds, InRegisters, Block, Blocks, false>;
  return resident_stage<InLdsKernel>(
      sweep, arrays, name, kernel,
      {.width = 4, .values = InLds + InRegisters, .block = Block, .in_lds = InLds, .asked = asked});
}
#endif

// --- A cluster -----------------------------------------------------------------------------------

inline Stage cluster_stage([[maybe_unused]] const Sweep& sweep, [[maybe_unused]] Arrays& arrays) {
  Stage stage;
  stage.name = "resident, cluster";
  stage.why_not = "not on this device";
#if defined(__CUDACC__)
  const auto kernel = channel_cluster_kernel<4, cluster_values, cluster_threads>;
  const unsigned width = width_of(arrays.tensor);
  const Runs runs = runs_of(arrays.tensor, width);
  // Every block of a cluster has a part, and none more than fits.
  const unsigned share = (runs.count + cluster_blocks - 1) / cluster_blocks;
  const Group group = {
      .siblings = cluster_blocks, .by_siblings = divisor_of(cluster_blocks), .share = share};
  hipFuncAttributes attributes{};
  check(hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)));
  constexpr int first_with_clusters = 90;
  if (attributes.binaryVersion < first_with_clusters) {
    return stage;
  }
  if (width != 4 || share > cluster_values * cluster_threads ||
      share * (cluster_blocks - 1) >= runs.count) {
    stage.why_not = "a channel is no eight parts of 4 to " +
                    std::to_string(4 * cluster_values * cluster_threads) + " floats";
    return stage;
  }
  stage.why_not = refusal(runs);
  stage.arithmetic = {
      .moments = Moments::centred,
      .additions = cluster_values * 4 + wave_additions + most_waves + wave_additions};
  stage.is_exact_on_integers = true;
  stage.footprint = footprint_of(sweep, kernel, cluster_threads);
  stage.run = [=, &arrays] {
    launch(kernel, {.grid = dim3(runs.channels * cluster_blocks), .block = dim3(cluster_threads)},
           arrays.input.data(), arrays.gamma.data(), arrays.beta.data(), arrays.output.data(), runs,
           group);
  };
#endif
  return stage;
}

// --- All -----------------------------------------------------------------------------------------

/// The resident ones are the best on an H200 (sweep spatial-shapes), within 1 %. Four blocks hold a
/// channel of the source's size, with 2 % of their places left.
inline std::vector<Stage> channel_stages(const Sweep& sweep, Arrays& arrays) {
  std::vector<Stage> stages = width_of(arrays.tensor) == 4
                                  ? streaming_channel_stages<4>(sweep, arrays)
                                  : streaming_channel_stages<1>(sweep, arrays);
  for (Stage& stage :
       resident_stages<25, 256>(sweep, arrays, "resident", "resident, blocks that stay")) {
    stages.push_back(std::move(stage));
  }
  stages.push_back(cluster_stage(sweep, arrays));
  [[maybe_unused]] const std::string in_lds = "resident, in LDS too";
  [[maybe_unused]] const std::string asked = in_lds + ", asked for ahead";
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  stages.push_back(in_lds_stage<8, 25, 256, 2>(sweep, arrays, in_lds, 0));
  stages.push_back(in_lds_stage<9, 5, 256, 5>(sweep, arrays, asked, 4));
#elif defined(HIPSCOPE_BACKEND_HOST)  // whose LDS is smaller
  stages.push_back(in_lds_stage<4, 3, 128, 1>(sweep, arrays, in_lds, 0));
  stages.push_back(in_lds_stage<4, 3, 128, 1>(sweep, arrays, asked, 4));
#endif
  return stages;
}

inline std::vector<Stage> channel_shape_stages(const Sweep& sweep, Arrays& arrays) {
  std::vector<Stage> stages;
  const auto add = [&]<unsigned Block, unsigned Values>() {
    const std::string name = std::to_string(Block) + "x" + std::to_string(Values);
    for (Stage& stage :
         resident_stages<Values, Block>(sweep, arrays, name, name + ", blocks that stay")) {
      stages.push_back(std::move(stage));
    }
  };
  add.operator()<512, 4>();
  add.operator()<256, 7>();
  add.operator()<384, 7>();
  add.operator()<512, 7>();
  add.operator()<128, 14>();
  add.operator()<256, 14>();
  add.operator()<512, 14>();
  add.operator()<256, 25>();
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  const auto add_in_lds = [&]<unsigned InLds, unsigned InRegisters, unsigned Blocks>() {
    constexpr unsigned threads = 256;
    const std::string name = std::to_string(threads) + "x" + std::to_string(InRegisters) + " and " +
                             std::to_string(InLds) + " in LDS";
    for (const unsigned asked : {0U, 4U, 8U}) {
      stages.push_back(in_lds_stage<InLds, InRegisters, threads, Blocks>(
          sweep, arrays, asked > 0 ? name + ", asked for: " + std::to_string(asked) : name, asked));
    }
  };
  add_in_lds.operator()<9, 5, 5>();
  add_in_lds.operator()<11, 9, 4>();
  add_in_lds.operator()<13, 12, 3>();
  add_in_lds.operator()<8, 25, 2>();
#endif
  return stages;
}

}  // namespace hipscope::batch_norm
