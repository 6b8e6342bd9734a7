// Streams, events and graphs.
#include <memory>

#include "emulated_device.h"

// NOLINTBEGIN(readability-identifier-naming): HIP's own names
using namespace emulator;

extern "C" {

hipError_t hipDeviceSynchronize() {
  device().finish();
  return hipSuccess;
}

hipError_t hipStreamSynchronize(hipStream_t /*stream*/) { return hipDeviceSynchronize(); }

hipError_t hipStreamCreate(hipStream_t* stream) {
  *stream = reinterpret_cast<hipStream_t>(new int(0));
  return hipSuccess;
}

hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned /*flags*/, int /*priority*/) {
  return hipStreamCreate(stream);
}

hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -1;
  return hipSuccess;
}

// All streams are one, in order.
hipError_t hipStreamWaitEvent(hipStream_t /*stream*/, hipEvent_t /*event*/, unsigned /*flags*/) {
  return hipSuccess;
}

hipError_t hipStreamDestroy(hipStream_t stream) {
  device().finish();
  delete reinterpret_cast<int*>(stream);
  return hipSuccess;
}

// An event is the time at which it was recorded, in nanoseconds.
hipError_t hipEventCreate(hipEvent_t* event) {
  *event = reinterpret_cast<hipEvent_t>(new Qword(0));
  return hipSuccess;
}

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned /*flags*/) {
  return hipEventCreate(event);
}

hipError_t hipEventDestroy(hipEvent_t event) {
  device().finish();
  delete reinterpret_cast<Qword*>(event);
  return hipSuccess;
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t /*stream*/) {
  constexpr Qword nanoseconds_to_record = 100;
  device().enqueue([event] {
    Qword& clock = device().machine.clock;
    clock += nanoseconds_to_record;
    *reinterpret_cast<Qword*>(event) = clock;
  });
  return hipSuccess;
}

hipError_t hipEventSynchronize(hipEvent_t /*event*/) { return hipDeviceSynchronize(); }

hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t begin, hipEvent_t end) {
  device().finish();
  const Qword nanoseconds = *reinterpret_cast<Qword*>(end) - *reinterpret_cast<Qword*>(begin);
  *milliseconds = static_cast<float>(static_cast<double>(nanoseconds) * 1e-6);
  return hipSuccess;
}

// A graph is the work that was enqueued while a stream captured it; it is done again at each
// launch.
hipError_t hipStreamBeginCapture(hipStream_t /*stream*/, hipStreamCaptureMode /*mode*/) {
  device().captured = std::make_unique<Work>();
  return hipSuccess;
}

hipError_t hipStreamEndCapture(hipStream_t /*stream*/, hipGraph_t* graph) {
  *graph = reinterpret_cast<hipGraph_t>(device().captured.release());
  return hipSuccess;
}

hipError_t hipGraphInstantiate(hipGraphExec_t* executable, hipGraph_t graph,
                               hipGraphNode_t* /*node*/, char* /*log*/, std::size_t /*size*/) {
  *executable = reinterpret_cast<hipGraphExec_t>(new Work(*reinterpret_cast<Work*>(graph)));
  return hipSuccess;
}

hipError_t hipGraphLaunch(hipGraphExec_t executable, hipStream_t /*stream*/) {
  for (const auto& work : *reinterpret_cast<Work*>(executable)) {
    device().enqueue(work);
  }
  return hipSuccess;
}

hipError_t hipGraphDestroy(hipGraph_t graph) {
  delete reinterpret_cast<Work*>(graph);
  return hipSuccess;
}

hipError_t hipGraphExecDestroy(hipGraphExec_t executable) {
  delete reinterpret_cast<Work*>(executable);
  return hipSuccess;
}
}
// NOLINTEND(readability-identifier-naming)
