// The stages that normalize each channel over the images and their planes: what is known of their
// arithmetic, which tensors they take, and how they are launched.
#pragma once

#include <hipscope/divisor.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "15a-channel-several-passes.h"
#include "15b-channel-resident.h"
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

constexpr const char* too_large = "the tensor has 2^32 accesses or more";

inline bool fits(const Runs& runs) { return std::uint64_t{runs.channels} * runs.count >> 32 == 0; }

// --- One block for a channel -------------------------------------------------------------------

template <unsigned Width>
std::vector<Stage> streaming_channel_stages(const Sweep& sweep, Arrays& arrays) {
  const Runs runs = runs_of(arrays.tensor, Width);
  const unsigned of_thread = values_of(arrays.tensor, Scope::spatial) / channel_threads + 4;
  const auto stage = [&](const std::string& name, auto* kernel, Moments moments, unsigned reads) {
    return with_kernel(
        sweep, arrays,
        {.name = name,
         .arithmetic = {.moments = moments, .additions = of_thread + wave_additions + most_waves},
         .is_exact_on_integers = true,
         .reads = reads,
         .why_not = fits(runs) ? "" : too_large},
        kernel, {.grid = dim3(runs.channels), .block = dim3(channel_threads)}, runs);
  };
  return {
      stage("three passes", channel_streaming_kernel<Width, Moments::centred>, Moments::centred, 3),
      stage("two passes", channel_streaming_kernel<Width, Moments::shifted>, Moments::shifted, 2),
      stage("two passes, backwards", channel_streaming_kernel<Width, Moments::shifted, true>,
            Moments::shifted, 2)};
}

// --- Several blocks for a channel, that wait for each other ------------------------------------

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
  const unsigned share = blocks_for(runs.count, blocks_for(runs.count, accesses_of_block));
  const unsigned siblings = blocks_for(runs.count, share);
  return {.siblings = siblings, .by_siblings = divisor_of(siblings), .share = share};
}

/// The XCDs that a GPU has at most. Workgroups go to them in turn, whichever has room (AMD's
/// guide "Instinct MI300X workload optimization"): the last that others wait for may all be one
/// XCD's.
inline unsigned most_xcds(std::string_view architecture) {
  return architecture.starts_with("gfx94") || architecture.starts_with("gfx950") ? 8 : 1;
}

/// Why `siblings` blocks that wait for each other cannot run where the device has `room` blocks at
/// a time; empty if they can.
inline std::string refusal(const Sweep& sweep, unsigned siblings, unsigned room) {
  const std::string wanted = "a channel takes " + std::to_string(siblings) + " blocks, ";
  if (siblings > most_siblings) {
    return wanted + "more than " + std::to_string(most_siblings);
  }
  const unsigned xcds = most_xcds(sweep.device().architecture);
  if (blocks_run_together && siblings > room / xcds) {
    return wanted + "which this device does not run at the same time" +
           (xcds > 1 ? " on one XCD" : "");
  }
  return "";
}

/// Of a thread that keeps as many floats.
inline Arithmetic resident_arithmetic(unsigned floats) {
  return {.moments = Moments::centred,
          .additions = floats + wave_additions + most_waves + wave_additions};
}

/// What is in memory between launches: the counter is 0, and all words are from the last one.
struct ExchangeState {
  explicit ExchangeState(std::size_t parts) : messages(parts) {
    tickets.clear();
    messages.clear();
  }
  DeviceBuffer<unsigned> tickets{1};
  DeviceBuffer<unsigned long long> messages;
  unsigned parity = 0;
};

/// Why a block cannot take `bytes` of LDS beside what the kernel has; empty if it can, and now may.
inline std::string refusal_of_lds(const Sweep& sweep, const void* kernel, std::uint32_t bytes) {
  hipFuncAttributes attributes{};
  check(hipFuncGetAttributes(&attributes, kernel));
  const std::uint64_t wanted = bytes + attributes.sharedSizeBytes;
  const std::uint64_t most = sweep.device().largest_lds_bytes_per_block;
  if (wanted > most) {
    return "a block takes " + std::to_string(wanted) + " bytes of LDS, where this device has " +
           std::to_string(most);
  }
  allow_lds(kernel, bytes);
  return "";
}

/// The kernel takes AskAhead besides, or nothing.
template <typename... Others>
Stage resident_stage(const Sweep& sweep, Arrays& arrays, const std::string& name,
                     void (*kernel)(const float*, const float*, const float*, float*, Runs, Group,
                                    Exchange, Others...),
                     const Resident& kept) {
  const Tensor& tensor = arrays.tensor;
  Stage stage = {.name = name, .arithmetic = resident_arithmetic(kept.values * kept.width)};
  if (tensor.plane % kept.width != 0) {
    stage.why_not = "a run is no whole number of accesses of 16 bytes";
    return stage;
  }
  const Runs runs = runs_of(tensor, kept.width);
  const auto lds_bytes = static_cast<unsigned>(kept.in_lds * kept.block * sizeof(float4));
  if (lds_bytes > 0) {
    stage.why_not = refusal_of_lds(sweep, reinterpret_cast<const void*>(kernel), lds_bytes);
  }
  if (stage.why_not.empty() && !fits(runs)) {
    stage.why_not = too_large;
  }
  if (!stage.why_not.empty()) {
    return stage;
  }
  const Group group = group_of(runs, kept.values * kept.block);
  const unsigned room = static_cast<unsigned>(resident_blocks(kernel, kept.block, lds_bytes)) *
                        static_cast<unsigned>(sweep.device().compute_units);
  stage.why_not = refusal(sweep, group.siblings, room);
  if (!stage.why_not.empty()) {
    return stage;
  }
  const unsigned groups_at_once = room / group.siblings;
  const unsigned groups =
      kept.stays ? std::clamp(groups_at_once, 1U, runs.channels) : runs.channels;
  [[maybe_unused]] const AskAhead ahead = {
      .columns = kept.asked * tensor.plane,
      .readers = kept.asked * group.siblings,
      .first = kept.asked > 0 ? groups_at_once / kept.asked : 0,
      .images = tensor.images,
      .image = activations_of(tensor)};
  const LaunchShape shape = {
      .grid = dim3(groups * group.siblings), .block = dim3(kept.block), .lds_bytes = lds_bytes};
  const auto state = std::make_shared<ExchangeState>(std::size_t{runs.channels} * group.siblings);
  stage.is_exact_on_integers = group.siblings == 1 || group.share * kept.width % 2 == 0;
  stage.run = [=, &arrays] {
    state->parity ^= 1U;
    const Exchange exchange = {.tickets = state->tickets.data(),
                               .groups = groups,
                               .messages = state->messages.data(),
                               .parity = state->parity};
    for (unsigned launches = blocks_run_together ? 1 : 2; launches > 0; --launches) {
      launch(kernel, shape, arrays.input.data(), arrays.gamma.data(), arrays.beta.data(),
             arrays.output.data(), runs, group, exchange, Others(ahead)...);
    }
  };
  return with_footprint(sweep, stage, kernel, shape);
}

/// `Values` accesses of 16 bytes per thread; where runs are no whole number of these, 16 of 4
/// bytes. The same with blocks that stay.
template <unsigned Values, unsigned Block>
std::vector<Stage> resident_stages(const Sweep& sweep, Arrays& arrays, const std::string& name) {
  const auto both = [&]<unsigned width, unsigned values, unsigned block>() {
    return std::vector<Stage>{
        resident_stage(sweep, arrays, name, channel_resident_kernel<width, values, block>,
                       {width, values, block}),
        resident_stage(sweep, arrays, name + ", blocks that stay",
                       channel_staying_kernel<width, values, block>, {width, values, block, true})};
  };
  return width_of(arrays.tensor) == 4 ? both.template operator()<4, Values, Block>()
                                      : both.template operator()<1, 16, 512>();
}

#if !defined(HIPSCOPE_BACKEND_AMD)
/// `asked` channels are asked for at once; 0: none.
template <unsigned InLds, unsigned InRegisters, unsigned Block, unsigned Blocks>
Stage in_lds_stage(const Sweep& sweep, Arrays& arrays, const std::string& name, unsigned asked) {
  return resident_stage(
      sweep, arrays, name,
      asked > 0 ? channel_in_lds_kernel<InLds, InRegisters, Block, Blocks, true>
                : channel_in_lds_kernel<InLds, InRegisters, Block, Blocks, false>,
      {.width = 4, .values = InLds + InRegisters, .block = Block, .in_lds = InLds, .asked = asked});
}
#endif

// --- A cluster -----------------------------------------------------------------------------------

inline Stage cluster_stage([[maybe_unused]] const Sweep& sweep, [[maybe_unused]] Arrays& arrays) {
  Stage stage = {.name = "resident, cluster", .why_not = "not on this device"};
#if defined(__CUDACC__)
  const auto kernel = channel_cluster_kernel<4, cluster_values, cluster_threads>;
  hipFuncAttributes attributes{};
  check(hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)));
  constexpr int first_with_clusters = 90;
  if (attributes.binaryVersion < first_with_clusters) {
    return stage;
  }
  const unsigned width = width_of(arrays.tensor);
  const Runs runs = runs_of(arrays.tensor, width);
  // Every block of a cluster has a part, and none more than fits.
  const unsigned share = blocks_for(runs.count, cluster_blocks);
  if (width != 4 || share > cluster_values * cluster_threads ||
      share * (cluster_blocks - 1) >= runs.count) {
    stage.why_not = "a channel is no eight parts of 4 to " +
                    std::to_string(4 * cluster_values * cluster_threads) + " floats";
    return stage;
  }
  stage.why_not = fits(runs) ? "" : too_large;
  stage.arithmetic = resident_arithmetic(cluster_values * 4);
  stage.is_exact_on_integers = true;
  const Group group = {
      .siblings = cluster_blocks, .by_siblings = divisor_of(cluster_blocks), .share = share};
  return with_kernel(sweep, arrays, stage, kernel,
                     {.grid = dim3(runs.channels * cluster_blocks), .block = dim3(cluster_threads)},
                     runs, group);
#else
  return stage;
#endif
}

// --- All -----------------------------------------------------------------------------------------

/// The resident ones are the best on an H200 (sweep spatial-shapes), within 1 %. Four blocks hold a
/// channel of the source's size, with 2 % of their places left.
inline std::vector<Stage> channel_stages(const Sweep& sweep, Arrays& arrays) {
  std::vector<Stage> stages = width_of(arrays.tensor) == 4
                                  ? streaming_channel_stages<4>(sweep, arrays)
                                  : streaming_channel_stages<1>(sweep, arrays);
  append(stages, resident_stages<25, 256>(sweep, arrays, "resident"));
  stages.push_back(cluster_stage(sweep, arrays));
  [[maybe_unused]] const std::string in_lds = "resident, in LDS too";
  [[maybe_unused]] const std::string asked = in_lds + ", asked for ahead";
#if defined(HIPSCOPE_BACKEND_NVIDIA)
  append(stages, {in_lds_stage<8, 25, 256, 2>(sweep, arrays, in_lds, 0),
                  in_lds_stage<9, 5, 256, 5>(sweep, arrays, asked, 4)});
#elif defined(HIPSCOPE_BACKEND_HOST)  // whose LDS is smaller
  append(stages, {in_lds_stage<4, 3, 128, 1>(sweep, arrays, in_lds, 0),
                  in_lds_stage<4, 3, 128, 1>(sweep, arrays, asked, 4)});
#endif
  return stages;
}

inline std::vector<Stage> channel_shape_stages(const Sweep& sweep, Arrays& arrays) {
  std::vector<Stage> stages;
  const auto add = [&]<unsigned Block, unsigned Values>() {
    append(stages, resident_stages<Values, Block>(
                       sweep, arrays, std::to_string(Block) + "x" + std::to_string(Values)));
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
