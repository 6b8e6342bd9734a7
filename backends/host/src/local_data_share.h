// The LDS of the running block: the static variables of the program and the dynamic array.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hip_host {

/// Bytes of dynamic LDS a launch can ask for.
inline constexpr std::size_t kLdsBytesPerBlock = std::size_t{64} * 1024;

/// Fresh memory holds this in every byte: a NaN as float and as double, -1 as integer.
inline constexpr int kPoisonByte = 0xFF;

/// The LDS of a launch's blocks, which run one after another, or in turns, on the thread that makes
/// this.
class LocalDataShare {
 public:
  /// Takes the size of the dynamic LDS. Throws std::bad_alloc, and std::runtime_error if the LDS
  /// variables do not have their place to themselves (see static_lds in the source).
  explicit LocalDataShare(std::size_t dynamic_bytes);
  ~LocalDataShare();

  LocalDataShare(const LocalDataShare&) = delete;
  LocalDataShare& operator=(const LocalDataShare&) = delete;

  /// Fills all of it with the poison byte.
  void poison();

  /// All of it, for a block that has its turn again later.
  std::vector<std::byte> contents() const;
  void set_contents(const std::vector<std::byte>& contents);

  /// Returns the dynamic LDS; null if its size is 0.
  void* dynamic_start() { return dynamic_.data(); }

 private:
  std::span<std::byte> static_;
  std::span<std::byte> dynamic_;
};

}  // namespace hip_host
