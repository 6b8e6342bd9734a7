// Streams, events and graphs.
#include <chrono>
#include <optional>
#include <utility>

#include "context.h"

struct ihipStream_t {
  std::optional<std::vector<hip_host::Operation>>
      captured;  // What was recorded, while it captures.
};

struct ihipEvent_t {
  bool has_timing = true;
  hipStream_t capturing_stream = nullptr;  // Where it was recorded last, if that stream captured.
  std::optional<std::chrono::steady_clock::time_point> time = std::nullopt;
};

struct ihipGraph {
  std::vector<hip_host::Operation> operations;
};

struct hipGraphExec {
  std::vector<hip_host::Operation> operations;
};

namespace hip_host {
namespace {

struct StreamObjects {
  Handles<ihipStream_t> streams;
  Handles<ihipEvent_t> events;
  Handles<ihipGraph> graphs;
  Handles<hipGraphExec> executables;
};

// Never destroyed, so that objects with static lifetime can still destroy theirs at the program's
// end.
StreamObjects& objects() {
  static auto& all = *new StreamObjects;
  return all;
}

bool is_stream(hipStream_t stream) {
  return stream == nullptr || objects().streams.contains(stream);
}

bool captures(hipStream_t stream) { return stream != nullptr && stream->captured.has_value(); }

// What waiting for a stream comes to: all is done already, unless it captures.
hipError_t check_idle(hipStream_t stream) {
  if (!is_stream(stream)) return hipErrorInvalidHandle;
  return captures(stream) ? hipErrorStreamCaptureUnsupported : hipSuccess;
}

hipError_t check_event(hipEvent_t event) {
  if (!objects().events.contains(event)) return hipErrorInvalidHandle;
  return event->capturing_stream != nullptr ? hipErrorCapturedEvent : hipSuccess;
}

hipError_t elapsed_time(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
  if (milliseconds == nullptr) return hipErrorInvalidValue;
  for (const hipEvent_t event : {start, stop}) {
    if (const hipError_t error = check_event(event); error != hipSuccess) return error;
    if (!event->has_timing || !event->time) return hipErrorInvalidHandle;
  }
  *milliseconds = std::chrono::duration<float, std::milli>(*stop->time - *start->time).count();
  return hipSuccess;
}

}  // namespace

hipError_t enqueue(hipStream_t stream, Operation operation) {
  if (!is_stream(stream)) return hipErrorInvalidHandle;
  if (!captures(stream)) return operation();
  stream->captured->push_back(std::move(operation));
  return hipSuccess;
}

bool any_stream_captures() {
  return objects().streams.any(
      [](const ihipStream_t& stream) { return stream.captured.has_value(); });
}

void destroy_stream_objects() {
  objects().streams.clear();
  objects().events.clear();
  objects().graphs.clear();
  objects().executables.clear();
}

}  // namespace hip_host

using hip_host::api_call;
using hip_host::objects;

hipError_t hipStreamCreate(hipStream_t* stream) {
  return hipStreamCreateWithFlags(stream, hipStreamDefault);
}

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  return api_call([&] {
    if (stream == nullptr || flags > hipStreamNonBlocking) return hipErrorInvalidValue;
    *stream = objects().streams.create();
    return hipSuccess;
  });
}

hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned flags, int /*priority*/) {
  return hipStreamCreateWithFlags(stream, flags);
}

hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return api_call([&] {
    for (int* const priority : {least, greatest}) {
      if (priority != nullptr) *priority = 0;
    }
    return hipSuccess;
  });
}

hipError_t hipStreamDestroy(hipStream_t stream) {
  return api_call(
      [&] { return objects().streams.destroy(stream) ? hipSuccess : hipErrorInvalidHandle; });
}

hipError_t hipStreamSynchronize(hipStream_t stream) {
  return api_call([&] { return hip_host::check_idle(stream); });
}

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags) {
  return api_call([&] {
    if (flags != 0) return hipErrorInvalidValue;
    if (!hip_host::is_stream(stream)) return hipErrorInvalidHandle;
    if (!objects().events.contains(event)) return hipErrorInvalidHandle;
    const bool of_other_capture =
        event->capturing_stream != nullptr && event->capturing_stream != stream;
    return of_other_capture ? hipErrorNotSupported : hipSuccess;
  });
}

hipError_t hipDeviceSynchronize() {
  return api_call([] {
    return hip_host::any_stream_captures() ? hipErrorStreamCaptureUnsupported : hipSuccess;
  });
}

hipError_t hipEventCreate(hipEvent_t* event) {
  return hipEventCreateWithFlags(event, hipEventDefault);
}

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  return api_call([&] {
    constexpr unsigned kKnownFlags = hipEventBlockingSync | hipEventDisableTiming |
                                     hipEventReleaseToDevice | hipEventReleaseToSystem;
    if (event == nullptr || (flags & ~kKnownFlags) != 0) return hipErrorInvalidValue;
    const bool has_timing = (flags & hipEventDisableTiming) == 0;
    *event = objects().events.create({.has_timing = has_timing});
    return hipSuccess;
  });
}

hipError_t hipEventDestroy(hipEvent_t event) {
  return api_call(
      [&] { return objects().events.destroy(event) ? hipSuccess : hipErrorInvalidHandle; });
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return api_call([&] {
    if (!objects().events.contains(event)) return hipErrorInvalidHandle;
    if (!hip_host::is_stream(stream)) return hipErrorInvalidHandle;
    event->capturing_stream = hip_host::captures(stream) ? stream : nullptr;
    event->time = std::chrono::steady_clock::now();
    return hipSuccess;
  });
}

hipError_t hipEventSynchronize(hipEvent_t event) {
  return api_call([&] { return hip_host::check_event(event); });
}

hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
  return api_call([&] { return hip_host::elapsed_time(milliseconds, start, stop); });
}

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode /*mode*/) {
  return api_call([&] {
    if (!hip_host::is_stream(stream)) return hipErrorInvalidHandle;
    if (stream == nullptr) return hipErrorStreamCaptureUnsupported;
    if (hip_host::captures(stream)) return hipErrorInvalidValue;
    stream->captured.emplace();
    return hipSuccess;
  });
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  return api_call([&] {
    if (graph == nullptr) return hipErrorInvalidValue;
    if (!hip_host::is_stream(stream)) return hipErrorInvalidHandle;
    if (!hip_host::captures(stream)) return hipErrorStreamCaptureUnmatched;
    *graph = objects().graphs.create({std::move(*stream->captured)});
    stream->captured.reset();
    return hipSuccess;
  });
}

hipError_t hipGraphInstantiate(hipGraphExec_t* executable, hipGraph_t graph,
                               hipGraphNode_t* /*error_node*/, char* /*log*/,
                               std::size_t /*log_size*/) {
  return api_call([&] {
    if (executable == nullptr || !objects().graphs.contains(graph)) return hipErrorInvalidValue;
    *executable = objects().executables.create({graph->operations});
    return hipSuccess;
  });
}

hipError_t hipGraphLaunch(hipGraphExec_t executable, hipStream_t stream) {
  return api_call([&] {
    if (!objects().executables.contains(executable)) return hipErrorInvalidValue;
    for (const hip_host::Operation& operation : executable->operations) {
      if (const hipError_t error = hip_host::enqueue(stream, operation); error != hipSuccess) {
        return error;
      }
    }
    return hipSuccess;
  });
}

hipError_t hipGraphDestroy(hipGraph_t graph) {
  return api_call(
      [&] { return objects().graphs.destroy(graph) ? hipSuccess : hipErrorInvalidValue; });
}

hipError_t hipGraphExecDestroy(hipGraphExec_t executable) {
  return api_call([&] {
    return objects().executables.destroy(executable) ? hipSuccess : hipErrorInvalidValue;
  });
}
