// A run on several devices: one process per device.
#pragma once

#include <string>
#include <vector>

#include "record.h"

namespace hipscope::detail {

/// What --device asks for: "all", or indices such as "0,2". Throws UsageError naming a device that
/// is not there, or is there twice.
std::vector<int> chosen_devices(const std::string& text, int count);

/// The file of one of several devices: "out/result.json" is "out/result.2.json" for device 2.
std::string path_of_device(const std::string& path, int device);

/// The arguments of the process for one device: those of this one, with that device and its file.
std::vector<std::string> arguments_for_device(const std::vector<std::string>& arguments, int device,
                                              const std::string& json_path);

/// Runs this binary for each device, one after another or --together, and passes on what they say,
/// labelled. Returns the highest of their exit statuses; 3 for one that crashed. Throws Interrupted
/// when a signal has come and they have ended.
int run_on_devices(const std::string& name, const std::vector<int>& devices, const Options& options,
                   const std::vector<std::string>& arguments);

}  // namespace hipscope::detail
