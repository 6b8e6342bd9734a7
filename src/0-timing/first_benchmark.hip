// The smallest program that times a kernel correctly: checked calls, random values, a warm-up,
// events around each launch, the median of many launches, and a check of the result.
//
//   AMD     hipcc -O3 first_benchmark.hip -o first_benchmark
//   NVIDIA  nvcc -O3 -x cu -I ../../backends/nvidia/include first_benchmark.hip -o first_benchmark
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

// No call's error is ever missed: the program ends with its name.
void check(hipError_t error) {
  if (error != hipSuccess) {
    std::fprintf(stderr, "first_benchmark: %s\n", hipGetErrorString(error));
    std::exit(3);
  }
}

__global__ void __launch_bounds__(256) scale(const float* input, float* output, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    output[i] = 2 * input[i];
  }
}

int main(int argc, char** argv) {
  // 256 MiB each: far more than caches hold, so that the time is the memory's.
  const auto count =
      argc > 1 ? static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10)) : 1U << 26;
  if (count == 0 || count > 1U << 30) {
    std::fprintf(stderr, "usage: first_benchmark [VALUES], 1 to 2^30\n");
    return 2;
  }
  std::mt19937 random(1);  // zeros would hide mistakes, and can even be faster
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(random());
  }
  float* input = nullptr;
  float* output = nullptr;
  const std::size_t bytes = count * sizeof(float);
  check(hipMalloc(reinterpret_cast<void**>(&input), bytes));
  check(hipMalloc(reinterpret_cast<void**>(&output), bytes));
  check(hipMemcpy(input, values.data(), bytes, hipMemcpyHostToDevice));
  check(hipMemset(output, 0xFF, bytes));  // NaN, which an element that is not written stays

  hipEvent_t start{};
  hipEvent_t stop{};
  check(hipEventCreate(&start));
  check(hipEventCreate(&stop));
  std::vector<float> milliseconds(21);
  for (float& sample : milliseconds) {
    check(hipEventRecord(start, nullptr));
    hipLaunchKernelGGL(scale, dim3((count + 255) / 256), dim3(256), 0, nullptr, input, output,
                       count);
    check(hipGetLastError());
    check(hipEventRecord(stop, nullptr));
    check(hipEventSynchronize(stop));  // a launch only enqueues: wait until the device has passed
    check(hipEventElapsedTime(&sample, start, stop));
  }
  milliseconds.erase(milliseconds.begin());  // the first one uploads the code and wakes the clocks
  std::sort(milliseconds.begin(), milliseconds.end());
  const double median = (milliseconds[9] + milliseconds[10]) / 2;

  std::vector<float> result(count);
  check(hipMemcpy(result.data(), output, bytes, hipMemcpyDeviceToHost));
  for (unsigned i = 0; i < count; ++i) {
    if (result[i] != 2 * values[i]) {
      std::fprintf(stderr, "first_benchmark: element %u is wrong\n", i);
      return 1;
    }
  }
  std::printf("%u values: median %.4f ms (least %.4f, most %.4f), %.1f GB/s\n", count, median,
              milliseconds.front(), milliseconds.back(), 2e-6 * double(bytes) / median);
  return 0;
}
