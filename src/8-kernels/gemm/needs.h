// What a stage needs that not every GPU has, in words and as a question about an architecture; and
// the table of a ladder's stages by architecture, which the documents show.
#pragma once

#include <hipscope/hipscope.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace gemm {

struct Needs {
  /// Empty: nothing. What is needed beside a matrix instruction stands after it and "; ".
  const char* what = "";
  bool (*on)(const std::string& architecture) = nullptr;
  /// On the host backend, where `on` says that it has it: lanes of a wave that its model is for; 0:
  /// of any.
  unsigned lanes = 0;
};

/// The N of "sm_N"; 0 of another architecture.
inline int sm_of(const std::string& architecture) {
  return architecture.starts_with("sm_") ? std::atoi(architecture.c_str() + 3) : 0;
}
inline bool is_host(const std::string& architecture) { return architecture.starts_with("host"); }

/// Whether the device has it.
inline bool has(const Needs& needs, const hipscope::DeviceDescription& device) {
  const bool is_other_wave = is_host(device.architecture) && needs.lanes != 0 &&
                             device.wave_size != static_cast<int>(needs.lanes);
  return needs.on == nullptr || (needs.on(device.architecture) && !is_other_wave);
}

/// A GPU of NVIDIA's, and the host backend, which copies as its kernels say.
inline bool is_no_amd_gpu(const std::string& architecture) {
  return !architecture.starts_with("gfx");
}
inline constexpr Needs copies_to_any_place = {
    .what = "copies from memory of which each lane says where in LDS (cp.async)",
    .on = is_no_amd_gpu};
/// What AMD's counterparts of such stages are told by, as others by their matrix instruction.
inline constexpr Needs copies_through_registers = {
    .what = "through registers",
    .on = [](const std::string& architecture) { return sm_of(architecture) == 0; }};

inline constexpr std::array table_architectures = {
    "sm_90", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1201"};

/// Where the command line is --stages alone: prints a line for each stage, what it needs and where
/// that is, on the host backend by the lanes of its waves, for scripts/stages.py, and returns the
/// exit status.
template <typename AnyStage>
std::optional<int> print_stages_if_asked(int argc, char** argv,
                                         const std::vector<AnyStage>& stages) {
  if (argc != 2 || std::string(argv[1]) != "--stages") {
    return std::nullopt;
  }
  std::printf("stage\tneeds");
  for (const char* architecture : table_architectures) {
    std::printf("\t%s", architecture);
  }
  std::printf("\thost 32\thost 64\n");
  for (const AnyStage& stage : stages) {
    std::printf("%s\t%s", label_of(stage).c_str(), stage.needs.what);
    for (const char* architecture : table_architectures) {
      std::printf("\t%s", stage.needs.on == nullptr || stage.needs.on(architecture) ? "yes" : "no");
    }
    for (const int lanes : {32, 64}) {
      hipscope::DeviceDescription host;
      host.architecture = "host";
      host.wave_size = lanes;
      std::printf("\t%s", has(stage.needs, host) ? "yes" : "no");
    }
    std::printf("\n");
  }
  return EXIT_SUCCESS;
}

}  // namespace gemm
