// Collective operations over several devices by the GPU vendor's own library, as a reference in the
// same run: NCCL on NVIDIA, RCCL on AMD, where the build has found it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace hipscope::vendor {

/// The library's name and version, "NCCL 2.28.3"; empty when this build has none.
std::string collectives_library();

/// What the build looked for, for a sentence that says that it is not there.
inline constexpr const char* collectives_libraries = "NCCL, RCCL";

enum class Collective {
  all_reduce,      ///< every device gets the sum of all inputs
  all_gather,      ///< every device gets all inputs, one after the other
  reduce_scatter,  ///< device i gets the sum of all inputs' i-th parts
  send_receive,    ///< device i + 1 gets device i's input, the first one the last one's
};

/// One device's part in an operation.
struct Party {
  const unsigned* input = nullptr;  ///< in its memory
  unsigned* output = nullptr;       ///< in its memory
  void* stream = nullptr;           ///< a hipStream_t of the device
};

/// A group of devices.
class Collectives {
 public:
  /// Makes the library's connections between `devices`. Throws DeviceError, also when the build has
  /// no library.
  explicit Collectives(const std::vector<int>& devices);
  ~Collectives();
  Collectives(const Collectives&) = delete;
  Collectives& operator=(const Collectives&) = delete;

  /// Enqueues the operation on each party's stream; there is one party per device, in order.
  /// `count` words are each party's input of all_reduce, all_gather and send_receive, and each
  /// output of reduce_scatter. Sums are of unsigned integers. Throws DeviceError.
  void enqueue(Collective operation, const std::vector<Party>& parties, std::size_t count);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace hipscope::vendor
