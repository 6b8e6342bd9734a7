// Whether a vendor's library can be called at all. One that has nothing for a GPU may end the
// process (rocBLAS does), and with it all that was measured: so the first call is made by a child.
#pragma once

#include <string>
#include <vector>

namespace hipscope::vendor {

/// Runs this binary once more, with these arguments and without output, and waits for it. Empty if
/// it ended with status 0; else how it ended: "ended by signal 6", "ended with status 3".
std::string failure_of_child(const std::vector<std::string>& arguments);

}  // namespace hipscope::vendor
