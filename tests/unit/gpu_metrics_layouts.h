// The members of struct gpu_metrics_v1_0 to v3_0 of Linux 6.17,
// drivers/gpu/drm/amd/include/kgd_pp_interface.h, in their order: which is all that the header says
// of their places. Each lies at a multiple of its size.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <sstream>
#include <string>

namespace hipscope {

struct Place {
  std::size_t offset;
  std::size_t bytes;  ///< of one element, where it is an array
};
struct Layout {
  std::size_t size;
  std::map<std::string, Place> members;
};

/// Of "8 energy_accumulator 2x4 vcn_activity": bytes, elements, name; a name of "-" for members
/// that no test reads.
inline Layout gpu_metrics_layout(const std::string& members) {
  Layout layout{.size = 4, .members = {}};  // the header: size, format, content
  std::size_t widest = 2;
  std::istringstream words("2x0 - " + members);
  std::string type;
  std::string name;
  while (words >> type >> name) {
    const std::size_t bytes = std::stoul(type);
    const std::size_t x = type.find('x');
    const std::size_t elements = x == std::string::npos ? 1 : std::stoul(type.substr(x + 1));
    layout.size = (layout.size + bytes - 1) / bytes * bytes;
    if (name != "-") {
      layout.members[name] = {.offset = layout.size, .bytes = bytes};
    }
    layout.size += bytes * elements;
    widest = std::max(widest, bytes);
  }
  layout.size = (layout.size + widest - 1) / widest * widest;
  return layout;
}

namespace gpu_metrics {

// Temperatures, activities and power of a card; its clocks, up to the throttle status.
inline const std::string card = "2x6 - 2x3 - 2 average_socket_power ";
inline const std::string card_clocks = "2x7 - 2x7 - 4 throttle_status ";
inline const std::string card_rest = "2x3 - 2 padding 4 gfx_activity_acc 4 mem_activity_acc 2x4 - ";
inline const std::string energy = "8 energy_accumulator 8 system_clock_counter ";
// Of the cards for servers: temperatures, power, activities.
inline const std::string server = "2x3 - 2 curr_socket_power 2x2 - ";
inline const std::string residencies =
    "4 accumulation_counter 4 prochot_residency_acc 4 ppt_residency_acc "
    "4 socket_thm_residency_acc 4 vr_thm_residency_acc 4 hbm_thm_residency_acc ";
inline const std::string links =
    "4 gfxclk_lock_status 2x4 - 4 gfx_activity_acc 4 mem_activity_acc 8x5 - ";
inline const std::string naks = "4 pcie_nak_sent_count_acc 4 pcie_nak_rcvd_count_acc ";
inline const std::string xgmi = "8x8 - 8x8 - ";
inline const std::string xgmi_status = "2x8 - 2 padding ";
inline const std::string server_clocks = "8 firmware_timestamp 2x8 - 2x4 - 2x4 - 2x4 - 2 - 2 - ";
// Of processors: temperatures, activities; power, clocks, fans.
inline const std::string processor = "2x2 - 2x8 - 2x2 - 2x2 - ";
inline const std::string processor_clocks =
    "2x4 - 2x8 - 2x6 - 2x6 - 2x8 - 2x2 - 4 throttle_status 2 fan_pwm ";
inline const std::string processor_2_2 =
    processor + "8 system_clock_counter " + processor_clocks + "2x3 - 8 indep_throttle_status ";

}  // namespace gpu_metrics

/// By version. What partitions have (xcp_stats, from 1.6 on) comes after all that is read.
inline const std::map<std::string, Layout> gpu_metrics_layouts = [] {
  using namespace gpu_metrics;
  std::map<std::string, std::string> members;
  members["1.0"] = "8 system_clock_counter " + card + "4 energy_accumulator " + card_clocks +
                   "2 current_fan_speed 1x2 - ";
  members["1.1"] = card + energy + card_clocks + card_rest;
  members["1.2"] = members["1.1"] + "8 firmware_timestamp ";
  members["1.3"] = members["1.2"] + "2x3 - 2 padding1 8 indep_throttle_status ";
  members["1.4"] = server + "2x4 - " + energy + "4 throttle_status " + links + xgmi + server_clocks;
  members["1.5"] = server + "2x4 - 2x32 - " + energy + "4 throttle_status " + links + naks + xgmi +
                   server_clocks;
  members["1.6"] = server + energy + residencies + links + naks + xgmi + server_clocks;
  members["1.7"] = server + "8 mem_max_bandwidth " + energy + residencies + links + naks + xgmi +
                   xgmi_status + server_clocks;
  members["1.8"] = members["1.7"];
  members["2.0"] = "8 system_clock_counter " + processor + processor_clocks + "2 padding ";
  members["2.1"] = processor + "8 system_clock_counter " + processor_clocks + "2x3 - ";
  members["2.2"] = processor_2_2;
  members["2.3"] = processor_2_2 + "2x2 - 2x8 - 2x2 - ";
  members["2.4"] = members["2.3"] + "2x6 - ";
  members["3.0"] =
      "2x2 - 2x16 - 2 - 2x2 - 2x8 - 2x16 - 2x4 - 8 system_clock_counter "
      "4 average_socket_power 2 average_ipu_power 4 average_apu_power 4 average_gfx_power "
      "4 average_dgpu_power 4 average_all_core_power 2x16 - 2x3 - 2x8 - 2x16 - 2x2 - "
      "4 throttle_residency_prochot 4 throttle_residency_spl 4 throttle_residency_fppt "
      "4 throttle_residency_sppt 4 throttle_residency_thm_core 4 throttle_residency_thm_gfx "
      "4 throttle_residency_thm_soc 4 time_filter_alphavalue ";
  std::map<std::string, Layout> layouts;
  for (const auto& [version, text] : members) {
    layouts[version] = gpu_metrics_layout(text);
  }
  return layouts;
}();

}  // namespace hipscope
