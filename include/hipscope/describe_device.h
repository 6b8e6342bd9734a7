// What the driver says of a device that nothing is run on.
#pragma once

#include "hipscope/device.h"

namespace hipscope {

/// The description of device `index` (0 ... device_count - 1). Throws DeviceError.
DeviceDescription describe_device(int index);

}  // namespace hipscope
