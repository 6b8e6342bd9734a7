#include <hipscope/buffer.h>
#include <hipscope/cycle_counter.h>
#include <hipscope/launch.h>

#include "work.h"

using hipscope::check;
using hipscope::DeviceBuffer;
using hipscope::launch;

namespace {

constexpr unsigned block_threads = 256;

__global__ void __launch_bounds__(1) hold_kernel(long long cycles) {
  hipscope::CycleClock<> clock;
  clock.start();
  for (long long turn = 0; turn < cycles && clock.elapsed() < cycles; ++turn) {
    clock.stop();
  }
}

__global__ void __launch_bounds__(block_threads)
    read_kernel(const unsigned* input, std::size_t count, unsigned* output) {
  unsigned sum = 0;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * blockDim.x) {
    sum += input[i];
  }
  if (sum == 1) {  // never, but the compiler cannot know: the reads must happen
    *output = sum;
  }
}

__global__ void __launch_bounds__(block_threads) empty_kernel() {}

}  // namespace

struct ReadWork::Buffers {
  DeviceBuffer<unsigned> input;
  DeviceBuffer<unsigned> output;
};

ReadWork::ReadWork(std::size_t bytes)
    : buffers_(new Buffers{DeviceBuffer<unsigned>(bytes / sizeof(unsigned)),
                           DeviceBuffer<unsigned>(1)}) {}

ReadWork::~ReadWork() { delete buffers_; }

void ReadWork::enqueue() const {
  launch(read_kernel, {.grid = dim3(1024), .block = dim3(block_threads)}, buffers_->input.data(),
         buffers_->input.size(), buffers_->output.data());
}

HeldMemory::HeldMemory(std::size_t bytes_left) {
  constexpr std::size_t largest_piece = std::size_t{1} << 30;
  constexpr std::size_t smallest_piece = std::size_t{1} << 20;
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  for (std::size_t piece = largest_piece; piece >= smallest_piece;) {
    check(hipMemGetInfo(&free_bytes, &total_bytes));
    void* data = nullptr;
    if (free_bytes >= bytes_left + piece && hipMalloc(&data, piece) == hipSuccess) {
      pieces_.push_back(data);
    } else {
      static_cast<void>(hipGetLastError());
      piece /= 2;
    }
  }
}

HeldMemory::~HeldMemory() {
  for (void* const piece : pieces_) {
    static_cast<void>(hipFree(piece));
  }
}

void enqueue_hold(long long cycles) {
  launch(hold_kernel, {.grid = dim3(1), .block = dim3(1)}, cycles);
}

void wait_for_device() { check(hipDeviceSynchronize()); }

std::vector<std::uint32_t> fresh_buffer(std::size_t count) {
  return DeviceBuffer<std::uint32_t>(count).to_host();
}

std::vector<int> through_buffer(const std::vector<int>& values) {
  return DeviceBuffer<int>(std::span<const int>(values)).to_host();
}

void allocate_doubles(std::size_t count) {
  try {
    const DeviceBuffer<double> buffer(count);
  } catch (...) {
    static_cast<void>(hipGetLastError());  // so that the next launch does not report it again
    throw;
  }
}

void launch_refused() {
  constexpr unsigned too_many = 4096;
  launch(empty_kernel, {.grid = dim3(1), .block = dim3(too_many)});
}
