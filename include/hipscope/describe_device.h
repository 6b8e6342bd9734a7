// The driver's description of a device, without running anything on it.
#pragma once

#include "hipscope/device.h"

namespace hipscope {

/// The description of device `index` (0 ... device_count - 1). Throws DeviceError.
DeviceDescription describe_device(int index);

}  // namespace hipscope
