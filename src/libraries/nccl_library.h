// NVIDIA's NCCL, and AMD's RCCL, which has its names.
#pragma once

#if defined(HIPSCOPE_BACKEND_AMD)
#include <rccl/rccl.h>
#else
#include <nccl.h>
#endif

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "hipscope/device.h"
#include "hipscope/libraries/collectives.h"

namespace hipscope::vendor::library {

inline constexpr const char* library_name =
#if defined(HIPSCOPE_BACKEND_AMD)
    "RCCL";
#else
    "NCCL";
#endif

#if defined(HIPSCOPE_BACKEND_AMD)
using Stream = hipStream_t;
#else
using Stream = cudaStream_t;
#endif

inline void check(ncclResult_t result) {
  if (result != ncclSuccess) {
    throw DeviceError(std::string(library_name) + ": " + ncclGetErrorString(result));
  }
}

// One communicator per device.
class Communicators {
 public:
  explicit Communicators(const std::vector<int>& devices) : communicators_(devices.size()) {
    check(ncclCommInitAll(communicators_.data(), static_cast<int>(devices.size()), devices.data()));
  }
  ~Communicators() {
    for (const ncclComm_t communicator : communicators_) {
      static_cast<void>(ncclCommDestroy(communicator));
    }
  }
  Communicators(Communicators&& other) noexcept
      : communicators_(std::exchange(other.communicators_, {})) {}
  Communicators(const Communicators&) = delete;
  Communicators& operator=(const Communicators&) = delete;
  Communicators& operator=(Communicators&&) = delete;

  void enqueue(Collective operation, const std::vector<Party>& parties, std::size_t count) {
    check(ncclGroupStart());
    for (std::size_t i = 0; i < parties.size(); ++i) {
      check(enqueue_one(operation, parties[i], count, i));
    }
    check(ncclGroupEnd());
  }

 private:
  ncclResult_t enqueue_one(Collective operation, const Party& party, std::size_t count,
                           std::size_t i) {
    const ncclComm_t communicator = communicators_[i];
    const auto stream = static_cast<Stream>(party.stream);
    switch (operation) {
      case Collective::all_reduce:
        return ncclAllReduce(party.input, party.output, count, ncclUint32, ncclSum, communicator,
                             stream);
      case Collective::all_gather:
        return ncclAllGather(party.input, party.output, count, ncclUint32, communicator, stream);
      case Collective::reduce_scatter:
        return ncclReduceScatter(party.input, party.output, count, ncclUint32, ncclSum,
                                 communicator, stream);
      case Collective::send_receive: {
        const auto devices = static_cast<int>(communicators_.size());
        const auto device = static_cast<int>(i);
        const ncclResult_t sent =
            ncclSend(party.input, count, ncclUint32, (device + 1) % devices, communicator, stream);
        return sent != ncclSuccess
                   ? sent
                   : ncclRecv(party.output, count, ncclUint32, (device + devices - 1) % devices,
                              communicator, stream);
      }
    }
    return ncclInvalidArgument;
  }

  std::vector<ncclComm_t> communicators_;
};

// "NCCL 2.28.3" from 22803.
inline std::string name() {
  int version = 0;
  check(ncclGetVersion(&version));
  return std::string(library_name) + " " + std::to_string(version / 10000) + "." +
         std::to_string(version / 100 % 100) + "." + std::to_string(version % 100);
}

}  // namespace hipscope::vendor::library
