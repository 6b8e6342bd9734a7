// The state of the runtime behind the API: the errors so far and the objects that were made.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <new>
#include <vector>

#include "hip/hip_runtime_api.h"

namespace hip_host {

/// What a stream is asked to do: runs at once, or at each replay if the stream captures.
using Operation = std::function<hipError_t()>;

/// The objects of one kind whose addresses are handles. Knows which handles are valid.
template <typename Object>
class Handles {
 public:
  /// Makes an object, which lives until destroy() or clear().
  Object* create(Object object = {}) {
    auto owned = std::make_unique<Object>(std::move(object));
    Object* const handle = owned.get();
    objects_.emplace(handle, std::move(owned));
    return handle;
  }
  /// Destroys the object. Returns false if there is none of this handle.
  bool destroy(Object* handle) { return objects_.erase(handle) == 1; }
  /// Returns whether there is an object of this handle.
  bool contains(Object* handle) const { return objects_.contains(handle); }
  /// Returns whether any object fulfils `condition`.
  template <typename Condition>
  bool any(Condition condition) const {
    for (const auto& [handle, object] : objects_) {
      if (condition(*object)) return true;
    }
    return false;
  }
  void clear() { objects_.clear(); }

 private:
  std::map<Object*, std::unique_ptr<Object>> objects_;
};

/// Whether there is a device of that number: as many as HIPSCOPE_HOST_DEVICES says, else one.
bool is_device(int device);

/// Returns the error that keeps each call from working at all: no device, or a kernel that failed.
hipError_t standing_error();

/// Notes an error for hipGetLastError and returns it. hipErrorLaunchFailure stands from now on.
hipError_t note(hipError_t error);

/// Forgets all errors.
void forget_errors();

/// Runs the body of an API call, which returns its error, unless an error stands. Returns the
/// error, noted; hipErrorOutOfMemory if the host itself has no memory left.
template <typename Body>
hipError_t api_call(Body body) {
  if (const hipError_t error = standing_error(); error != hipSuccess) return error;
  try {
    return note(body());
  } catch (const std::bad_alloc&) {
    return note(hipErrorOutOfMemory);
  }
}

/// Runs the operation, or records it if the stream captures; returns its error, or
/// hipErrorInvalidHandle for an unknown stream.
hipError_t enqueue(hipStream_t stream, Operation operation);

/// Returns whether any stream captures.
bool any_stream_captures();

/// Destroys all streams, events and graphs.
void destroy_stream_objects();

/// Frees all buffers.
void free_all_memory();

}  // namespace hip_host
