// Results that were measured once, to conclude from them again.
#pragma once

#include <string>

#include "made_results.h"

namespace hipscope::trial {

/// The results of the experiment in a file as `--json` writes it: its device, its shader clock and
/// the values of all its sweeps, with nothing concluded yet. Throws std::runtime_error when there
/// is no such file.
MadeResults read_result_file(const std::string& path);

}  // namespace hipscope::trial
