// Stream capture and the replay of graphs.

#include "test_support.h"

namespace {

__global__ void append(int digit, int* number) { *number = *number * 10 + digit; }

class Graph : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(hipStreamCreate(&stream_), hipSuccess); }
  void TearDown() override { EXPECT_EQ(hipStreamDestroy(stream_), hipSuccess); }

  hipStream_t stream_ = nullptr;
};

TEST_F(Graph, CaptureRecordsAndEachReplayRuns) {
  DeviceBuffer<int> number(1);
  int result = -1;
  hipGraph_t graph = nullptr;
  hipGraphExec_t executable = nullptr;
  ASSERT_EQ(hipStreamBeginCapture(stream_, hipStreamCaptureModeGlobal), hipSuccess);
  ASSERT_EQ(hipMemsetAsync(number.data(), 0, sizeof(int), stream_), hipSuccess);
  hipLaunchKernelGGL(append, 1, 1, 0, stream_, 4, number.data());
  hipLaunchKernelGGL(append, 1, 1, 0, stream_, 2, number.data());
  ASSERT_EQ(hipMemcpyAsync(&result, number.data(), sizeof(int), hipMemcpyDeviceToHost, stream_),
            hipSuccess);
  ASSERT_EQ(hipStreamEndCapture(stream_, &graph), hipSuccess);
  ASSERT_EQ(hipGetLastError(), hipSuccess);
  EXPECT_EQ(result, -1) << "the capture ran";
  EXPECT_EQ(number.to_host()[0], -1) << "the capture ran";

  ASSERT_EQ(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), hipSuccess);
  ASSERT_EQ(hipGraphDestroy(graph), hipSuccess);
  for (int replay = 0; replay < 3; ++replay) {
    result = -1;
    ASSERT_EQ(hipGraphLaunch(executable, stream_), hipSuccess);
    ASSERT_EQ(hipStreamSynchronize(stream_), hipSuccess);
    EXPECT_EQ(result, 42);
  }
  EXPECT_EQ(hipGraphExecDestroy(executable), hipSuccess);
}

TEST_F(Graph, OtherStreamsRunDuringACapture) {
  DeviceBuffer<int> number(1);
  ASSERT_EQ(hipMemset(number.data(), 0, sizeof(int)), hipSuccess);
  hipGraph_t graph = nullptr;
  ASSERT_EQ(hipStreamBeginCapture(stream_, hipStreamCaptureModeGlobal), hipSuccess);
  EXPECT_EQ(launch(append, 1, 1, 7, number.data()), hipSuccess);
  ASSERT_EQ(hipStreamEndCapture(stream_, &graph), hipSuccess);
  EXPECT_EQ(number.to_host()[0], 7);
  EXPECT_EQ(hipGraphDestroy(graph), hipSuccess);
}

TEST_F(Graph, WaitingIsRefusedDuringACapture) {
  hipGraph_t graph = nullptr;
  int value = 0;
  ASSERT_EQ(hipStreamBeginCapture(stream_, hipStreamCaptureModeGlobal), hipSuccess);
  EXPECT_EQ(hipStreamBeginCapture(stream_, hipStreamCaptureModeGlobal), hipErrorInvalidValue);
  EXPECT_EQ(hipStreamSynchronize(stream_), hipErrorStreamCaptureUnsupported);
  EXPECT_EQ(hipDeviceSynchronize(), hipErrorStreamCaptureUnsupported);
  EXPECT_EQ(hipMemset(&value, 0, 4), hipErrorStreamCaptureImplicit);
  EXPECT_EQ(hipMemcpy(&value, &value, 0, hipMemcpyHostToHost), hipErrorStreamCaptureImplicit);
  ASSERT_EQ(hipStreamEndCapture(stream_, &graph), hipSuccess);
  EXPECT_EQ(hipGraphDestroy(graph), hipSuccess);
  EXPECT_EQ(hipDeviceSynchronize(), hipSuccess);
  EXPECT_EQ(hipGetLastError(), hipErrorStreamCaptureImplicit);
}

TEST_F(Graph, ACapturedEventHasNoTime) {
  hipGraph_t graph = nullptr;
  hipEvent_t event = nullptr;
  float milliseconds = 0;
  ASSERT_EQ(hipEventCreate(&event), hipSuccess);
  ASSERT_EQ(hipStreamBeginCapture(stream_, hipStreamCaptureModeGlobal), hipSuccess);
  ASSERT_EQ(hipEventRecord(event, stream_), hipSuccess);
  EXPECT_EQ(hipStreamWaitEvent(stream_, event, 0), hipSuccess);
  EXPECT_EQ(hipStreamWaitEvent(nullptr, event, 0), hipErrorNotSupported);
  ASSERT_EQ(hipStreamEndCapture(stream_, &graph), hipSuccess);
  EXPECT_EQ(hipEventSynchronize(event), hipErrorCapturedEvent);
  EXPECT_EQ(hipEventElapsedTime(&milliseconds, event, event), hipErrorCapturedEvent);
  EXPECT_EQ(hipGraphDestroy(graph), hipSuccess);
  EXPECT_EQ(hipEventDestroy(event), hipSuccess);
  EXPECT_EQ(hipGetLastError(), hipErrorCapturedEvent);
}

TEST_F(Graph, RefusesWhatIsNone) {
  hipGraph_t graph = nullptr;
  hipGraphExec_t executable = nullptr;
  EXPECT_EQ(hipStreamBeginCapture(nullptr, hipStreamCaptureModeGlobal),
            hipErrorStreamCaptureUnsupported);
  EXPECT_EQ(hipStreamEndCapture(stream_, &graph), hipErrorStreamCaptureUnmatched);
  EXPECT_EQ(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphLaunch(executable, stream_), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphDestroy(graph), hipErrorInvalidValue);
  EXPECT_EQ(hipGraphExecDestroy(executable), hipErrorInvalidValue);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidValue);
}

}  // namespace
