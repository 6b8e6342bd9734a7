// How often a device of the tests was opened.
#pragma once

namespace hipscope::fake {

/// Calls of open_device() since the process began.
unsigned opened_devices();

}  // namespace hipscope::fake
