// The stages that normalize each channel over the images and their planes: which rungs there are,
// what is known of their arithmetic, and which tensors they take.
#pragma once

#include <hipscope/divisor.h>
#include <hipscope/hipscope.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "15a-channel-three-passes.h"
#include "15b-channel-two-passes.h"
#include "15c-channel-two-passes-backwards.h"
#include "15d-channel-resident.h"
#include "15e-channel-resident-blocks-that-stay.h"
#include "15f-channel-cluster.h"
#include "15g-channel-in-lds.h"
#include "15h-channel-asked-ahead.h"
#include "channel_parts.h"
#include "stage.h"

namespace hipscope::batch_norm {

// --- One block for a channel -------------------------------------------------------------------

using ChannelKernel = void (*)(const float*, const float*, const float*, float*, Runs);

inline Stage channel_stage(const Sweep& sweep, Arrays& arrays, const std::string& name,
                           ChannelKernel kernel, void (*run)(const Arrays&), Moments moments,
                           unsigned reads) {
  constexpr unsigned block = channel_three_passes::threads;
  const unsigned of_thread = values_of(arrays.tensor, Scope::spatial) / block + 4;
  Stage stage;
  stage.name = name;
  stage.arithmetic = {
      .moments = moments, .additions = of_thread + wave_additions + most_waves, .is_exact = false};
  stage.is_exact_on_integers = true;
  stage.reads = reads;
  stage.footprint = footprint_of(sweep, kernel, block);
  stage.why_not = refusal(runs_of(arrays.tensor, width_of(arrays.tensor)));
  if (stage.why_not.empty()) {
    stage.run = [run, &arrays] { run(arrays); };
  }
  return stage;
}

template <unsigned Width>
std::vector<Stage> streaming_channel_stages(const Sweep& sweep, Arrays& arrays) {
  return {channel_stage(sweep, arrays, "three passes", channel_three_passes::kernel<Width>,
                        channel_three_passes::run<Width>, Moments::centred, 3),
          channel_stage(sweep, arrays, "two passes", channel_two_passes::kernel<Width>,
                        channel_two_passes::run<Width>, Moments::shifted, 2),
          channel_stage(sweep, arrays, "two passes, backwards",
                        channel_two_passes_backwards::kernel<Width>,
                        channel_two_passes_backwards::run<Width>, Moments::shifted, 2)};
}

// --- Several blocks for a channel, that wait for each other --------------------------------------

using ResidentKernel = void (*)(const float*, const float*, const float*, float*, Runs, Group,
                                Exchange);

/// A kernel that keeps `values` accesses of `width` floats in each of `block` threads, and whether
/// its blocks stay.
struct Resident {
  ResidentKernel kernel;
  unsigned width;
  unsigned values;
  unsigned block;
  bool stays;
};

/// What lies in memory between launches: the counter is 0, and all words are from the last one.
struct ExchangeState {
  DeviceBuffer<unsigned> tickets{1};
  DeviceBuffer<unsigned long long> messages;
  unsigned parity = 0;
};

inline Stage resident_stage_of(const Sweep& sweep, Arrays& arrays, const std::string& name,
                               const Resident& resident) {
  const Runs runs = runs_of(arrays.tensor, resident.width);
  const Group group = group_of(runs, resident.values * resident.block);
  const unsigned siblings = group.siblings;
  Stage stage;
  stage.name = name;
  stage.arithmetic = {
      .moments = Moments::centred,
      .additions = resident.values * resident.width + wave_additions + most_waves + wave_additions,
      .is_exact = false};
  stage.is_exact_on_integers = siblings == 1 || group.share * resident.width % 2 == 0;
  stage.footprint = footprint_of(sweep, resident.kernel, resident.block);
  stage.why_not = refusal(sweep, runs, group, stage.footprint);
  if (!stage.why_not.empty()) {
    return stage;
  }
  const unsigned room = room_for(sweep, stage.footprint) / siblings;
  const unsigned groups = resident.stays ? std::clamp(room, 1U, runs.channels) : runs.channels;
  const auto state = std::make_shared<ExchangeState>(ExchangeState{
      .messages = DeviceBuffer<unsigned long long>(std::size_t{runs.channels} * siblings)});
  state->tickets.clear();
  state->messages.clear();
  stage.run = [state, groups, siblings, runs, group, resident, &arrays] {
    state->parity ^= 1U;
    for (unsigned launches = blocks_run_together ? 1 : 2; launches > 0; --launches) {
      launch(resident.kernel, {.grid = dim3(groups * siblings), .block = dim3(resident.block)},
             arrays.input.data(), arrays.gamma.data(), arrays.beta.data(), arrays.output.data(),
             runs, group,
             Exchange{.tickets = state->tickets.data(),
                      .groups = groups,
                      .messages = state->messages.data(),
                      .parity = state->parity});
    }
  };
  return stage;
}

/// `Values` accesses of 16 bytes per thread; where runs are no whole number of these, 16 of 4
/// bytes.
template <unsigned Values, unsigned Block>
Stage resident_stage(const Sweep& sweep, Arrays& arrays, const std::string& name) {
  return resident_stage_of(
      sweep, arrays, name,
      width_of(arrays.tensor) == 4
          ? Resident{channel_resident::kernel<4, Values, Block>, 4, Values, Block, false}
          : Resident{channel_resident::kernel<1, 16, 512>, 1, 16, 512, false});
}

template <unsigned Values, unsigned Block>
Stage staying_stage(const Sweep& sweep, Arrays& arrays, const std::string& name) {
  return resident_stage_of(
      sweep, arrays, name,
      width_of(arrays.tensor) == 4
          ? Resident{channel_staying::kernel<4, Values, Block>, 4, Values, Block, true}
          : Resident{channel_staying::kernel<1, 16, 512>, 1, 16, 512, true});
}

// --- With LDS ------------------------------------------------------------------------------------

#if !defined(HIPSCOPE_BACKEND_AMD)
/// `further(channels, siblings)` are the kernel's last arguments, in a tuple, where the device has
/// room for the blocks of so many channels.
template <typename Kernel, typename Further>
Stage in_lds_stage_of(const Sweep& sweep, Arrays& arrays, const std::string& name, Kernel kernel,
                      const InLdsShape& shape, const Further& further) {
  constexpr unsigned width = 4;
  const unsigned values = shape.in_lds + shape.in_registers;
  const auto lds_bytes = static_cast<unsigned>(shape.in_lds * shape.block * sizeof(float4));
  Stage stage;
  stage.name = name;
  stage.why_not = width_of(arrays.tensor) == width
                      ? refusal_of_lds(sweep, kernel, lds_bytes)
                      : "a run is no whole number of accesses of 16 bytes";
  if (!stage.why_not.empty()) {
    return stage;
  }
  const Runs runs = runs_of(arrays.tensor, width);
  const Group group = group_of(runs, values * shape.block);
  const unsigned siblings = group.siblings;
  stage.arithmetic = {.moments = Moments::centred,
                      .additions = values * width + wave_additions + most_waves + wave_additions,
                      .is_exact = false};
  stage.is_exact_on_integers = siblings == 1 || group.share * width % 2 == 0;
  stage.footprint = footprint_of(sweep, kernel, shape.block, lds_bytes);
  stage.why_not = refusal(sweep, runs, group, stage.footprint);
  if (!stage.why_not.empty()) {
    return stage;
  }
  const auto state = std::make_shared<ExchangeState>(ExchangeState{
      .messages = DeviceBuffer<unsigned long long>(std::size_t{runs.channels} * siblings)});
  state->tickets.clear();
  state->messages.clear();
  const auto last = further(room_for(sweep, stage.footprint) / siblings, siblings);
  const LaunchShape launch_shape = {
      .grid = dim3(runs.channels * siblings), .block = dim3(shape.block), .lds_bytes = lds_bytes};
  stage.run = [kernel, state, runs, group, last, launch_shape, &arrays] {
    state->parity ^= 1U;
    const Exchange exchange = {.tickets = state->tickets.data(),
                               .groups = runs.channels,
                               .messages = state->messages.data(),
                               .parity = state->parity};
    for (unsigned launches = blocks_run_together ? 1 : 2; launches > 0; --launches) {
      std::apply(
          [&](const auto&... each) {
            launch(kernel, launch_shape, arrays.input.data(), arrays.gamma.data(),
                   arrays.beta.data(), arrays.output.data(), runs, group, exchange, each...);
          },
          last);
    }
  };
  return stage;
}

template <unsigned InLds, unsigned InRegisters, unsigned Block, unsigned Blocks>
Stage in_lds_stage(const Sweep& sweep, Arrays& arrays, const std::string& name) {
  return in_lds_stage_of(
      sweep, arrays, name, channel_in_lds::kernel<InLds, InRegisters, Block, Blocks>,
      {InLds, InRegisters, Block, Blocks}, [](unsigned, unsigned) { return std::tuple<>(); });
}

/// So many channels are asked for at once.
template <unsigned InLds, unsigned InRegisters, unsigned Block, unsigned Blocks>
Stage asked_ahead_stage(const Sweep& sweep, Arrays& arrays, const std::string& name,
                        unsigned channels) {
  const Tensor tensor = arrays.tensor;
  return in_lds_stage_of(
      sweep, arrays, name, channel_asked_ahead::kernel<InLds, InRegisters, Block, Blocks>,
      {InLds, InRegisters, Block, Blocks}, [=](unsigned room, unsigned siblings) {
        return std::tuple(AskAhead{.columns = channels * tensor.plane,
                                   .readers = channels * siblings,
                                   .first = room / channels,
                                   .images = tensor.images,
                                   .image = tensor.channels * tensor.plane});
      });
}

inline std::vector<Stage> lds_stages(const Sweep& sweep, Arrays& arrays) {
  // Their members are, which nvcc does not tell the compiler of the host.
  [[maybe_unused]] constexpr InLdsShape in_lds = channel_in_lds::best_shape;
  [[maybe_unused]] constexpr InLdsShape asked = channel_asked_ahead::best_shape;
  constexpr unsigned channels = 4;
  return {in_lds_stage<in_lds.in_lds, in_lds.in_registers, in_lds.block, in_lds.blocks>(
              sweep, arrays, "resident, in LDS too"),
          asked_ahead_stage<asked.in_lds, asked.in_registers, asked.block, asked.blocks>(
              sweep, arrays, "resident, in LDS too, asked for ahead", channels)};
}
#endif

// --- A cluster -----------------------------------------------------------------------------------

inline Stage cluster_stage([[maybe_unused]] const Sweep& sweep, [[maybe_unused]] Arrays& arrays) {
  Stage stage;
  stage.name = "resident, cluster";
  stage.why_not = "not on this device";
#if defined(__CUDACC__)
  using channel_cluster::accesses_of_thread;
  using channel_cluster::cluster_blocks;
  using channel_cluster::threads;
  const auto cluster = channel_cluster::kernel<4, accesses_of_thread, threads>;
  const unsigned width = width_of(arrays.tensor);
  const Runs runs = runs_of(arrays.tensor, width);
  // Every block of a cluster has a part, and none more than fits.
  const unsigned share = (runs.count + cluster_blocks - 1) / cluster_blocks;
  const Group group = {
      .siblings = cluster_blocks, .by_siblings = divisor_of(cluster_blocks), .share = share};
  hipFuncAttributes attributes{};
  check(hipFuncGetAttributes(&attributes, reinterpret_cast<const void*>(cluster)));
  constexpr int first_with_clusters = 90;
  if (attributes.binaryVersion < first_with_clusters) {
    return stage;
  }
  if (width != 4 || share > accesses_of_thread * threads ||
      share * (cluster_blocks - 1) >= runs.count) {
    stage.why_not = "a channel is no eight parts of 4 to " +
                    std::to_string(4 * accesses_of_thread * threads) + " floats";
    return stage;
  }
  stage.why_not = refusal(runs);
  if (!stage.why_not.empty()) {
    return stage;
  }
  stage.arithmetic = {
      .moments = Moments::centred,
      .additions = accesses_of_thread * 4 + wave_additions + most_waves + wave_additions,
      .is_exact = false};
  stage.is_exact_on_integers = true;
  stage.footprint = footprint_of(sweep, cluster, threads);
  stage.run = [cluster, runs, group, &arrays] {
    launch(cluster, {.grid = dim3(runs.channels * cluster_blocks), .block = dim3(threads)},
           arrays.input.data(), arrays.gamma.data(), arrays.beta.data(), arrays.output.data(), runs,
           group);
  };
#endif
  return stage;
}

// --- All -----------------------------------------------------------------------------------------

inline std::vector<Stage> channel_stages(const Sweep& sweep, Arrays& arrays) {
  // The best on an H200 (sweep spatial-shapes). Four blocks hold a channel of V's size, with 2 % of
  // their places left.
  constexpr unsigned values = 25;  // of 16 bytes per thread
  constexpr unsigned block = 256;
  std::vector<Stage> stages = width_of(arrays.tensor) == 4
                                  ? streaming_channel_stages<4>(sweep, arrays)
                                  : streaming_channel_stages<1>(sweep, arrays);
  stages.push_back(resident_stage<values, block>(sweep, arrays, "resident"));
  stages.push_back(staying_stage<values, block>(sweep, arrays, "resident, blocks that stay"));
  stages.push_back(cluster_stage(sweep, arrays));
#if !defined(HIPSCOPE_BACKEND_AMD)
  for (const Stage& stage : lds_stages(sweep, arrays)) {
    stages.push_back(stage);
  }
#endif
  return stages;
}

inline std::vector<Stage> channel_shape_stages(const Sweep& sweep, Arrays& arrays) {
  std::vector<Stage> stages;
  const auto add = [&]<unsigned Block, unsigned Values>() {
    const std::string name = std::to_string(Block) + "x" + std::to_string(Values);
    stages.push_back(resident_stage<Values, Block>(sweep, arrays, name));
    stages.push_back(staying_stage<Values, Block>(sweep, arrays, name + ", blocks that stay"));
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
    stages.push_back(in_lds_stage<InLds, InRegisters, threads, Blocks>(sweep, arrays, name));
    for (const unsigned channels : {4U, 8U}) {
      stages.push_back(asked_ahead_stage<InLds, InRegisters, threads, Blocks>(
          sweep, arrays, name + ", asked for: " + std::to_string(channels), channels));
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
