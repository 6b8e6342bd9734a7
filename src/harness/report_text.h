// What a person reads: the heading, a table per sweep, the inferences.
#pragma once

#include <string>

#include "record.h"

namespace hipscope::detail {

/// A number of four significant digits, with no exponent from 10^-4 to 10^7; "-" for NaN.
std::string format_number(double value);

/// Bytes with a binary unit: "139.8 GiB".
std::string format_bytes(double bytes);

/// What runs where: question, device, build, options.
std::string heading(const Run& run);

/// A sweep's table: aligned columns with their units, or CSV (RFC 4180)
/// after a comment line with its name.
std::string table(const SweepRecord& sweep, bool csv);

/// Clock, overheads, inferences with their evidence, the verdict on the verification.
std::string conclusion(const Run& run);

/// One line per device: index, a name for folders, description; separated by tabs.
std::string device_line(const DeviceDescription& device);

}  // namespace hipscope::detail
