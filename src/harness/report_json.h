// The JSON of a run, as results/schema.json documents it.
#pragma once

#include <string>

#include "record.h"

namespace hipscope::detail {

/// The run's results as JSON text, ending in a line feed.
std::string to_json(const Run& run);

}  // namespace hipscope::detail
