// Work of known length, and what else the tests of the measuring core do on a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// Enqueues a kernel that holds the device for `cycles` of its cycle counter.
void enqueue_hold(long long cycles);

/// Waits for the device.
void wait_for_device();

/// A device buffer that a kernel reads from end to end.
class ReadWork {
 public:
  explicit ReadWork(std::size_t bytes);
  ~ReadWork();
  ReadWork(const ReadWork&) = delete;
  ReadWork& operator=(const ReadWork&) = delete;

  /// Enqueues one reading.
  void enqueue() const;

 private:
  struct Buffers;
  Buffers* buffers_;
};

/// All the device's free memory but `bytes_left`, held so that no other process gets it.
class HeldMemory {
 public:
  explicit HeldMemory(std::size_t bytes_left);
  ~HeldMemory();
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;

 private:
  std::vector<void*> pieces_;
};

/// The content of a fresh buffer of `count` elements.
std::vector<std::uint32_t> fresh_buffer(std::size_t count);

/// `values` by way of a device buffer.
std::vector<int> through_buffer(const std::vector<int>& values);

/// Makes a buffer of `count` doubles and frees it. Throws DeviceError.
void allocate_doubles(std::size_t count);

/// Launches a block of more threads than any device takes. Throws DeviceError.
void launch_refused();
