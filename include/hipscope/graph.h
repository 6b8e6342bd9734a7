// Launches recorded once as a graph, and replayed by one call.
#pragma once

#include <hip/hip_runtime.h>

#include "hipscope/check.h"

namespace hipscope {

class Graph {
 public:
  /// `record` enqueues the launches on the stream passed to it.
  template <typename Record>
  explicit Graph(Record record) {
    hipStream_t stream = nullptr;
    hipGraph_t graph = nullptr;
    check(hipStreamCreate(&stream));
    check(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    record(stream);
    check(hipStreamEndCapture(stream, &graph));
    check(hipGraphInstantiate(&executable_, graph, nullptr, nullptr, 0));
    check(hipGraphDestroy(graph));
    check(hipStreamDestroy(stream));
  }
  ~Graph() { static_cast<void>(hipGraphExecDestroy(executable_)); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// On the default stream.
  void launch() const { check(hipGraphLaunch(executable_, nullptr)); }

 private:
  hipGraphExec_t executable_ = nullptr;
};

}  // namespace hipscope
