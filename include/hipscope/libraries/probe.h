// Whether a vendor's library can be called at all. One that does not support a GPU may end the
// process (rocBLAS does), and lose all measurements: so a child process makes the first call.
#pragma once

#include <string>
#include <vector>

namespace hipscope::vendor {

/// Runs this binary once more, with these arguments and without output, and waits for it. Empty if
/// it ended with status 0; else how it ended: "ended by signal 6", "ended with status 3".
std::string failure_of_child(const std::vector<std::string>& arguments);

}  // namespace hipscope::vendor
