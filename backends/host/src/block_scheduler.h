// Runs the blocks of a launch, each block's lanes as fibers: one block after the other, or all in
// turns where the launch is cooperative.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "hip/host/lanes.h"
#include "lane_fiber.h"

namespace hip_host {

class LocalDataShare;

struct LaunchShape {
  dim3 grid;
  dim3 block;
  std::size_t lds_bytes;
  bool is_cooperative = false;
};

class BlockScheduler {
 public:
  /// Runs `lane_body` for each thread of the launch. Returns what went wrong inside the kernel, as
  /// a clause without a full stop; nothing if all went well. The shape must be valid.
  std::optional<std::string> run(const LaunchShape& shape, const std::function<void()>& lane_body);

  // For the running lane: what the functions of the same names in lanes.h say.
  void wait_at_barrier(SourcePosition position);
  std::uint64_t exchange_in_wave(std::uint64_t bits, unsigned source_lane, SourcePosition position);
  WaveVote vote_in_wave(bool predicate, SourcePosition position);
  unsigned lane_in_wave() const;
  void let_others_run();
  void wait_at_grid_barrier(SourcePosition position);

  /// Returns the running block's dynamic LDS. Throws std::logic_error outside a kernel.
  void* dynamic_lds() const;

 private:
  enum class LaneState { kRunnable, kGaveWay, kAtBarrier, kAtWaveOperation, kExited };

  struct Lane {
    std::unique_ptr<LaneFiber> fiber;
    unsigned index = 0;
    uint3 thread{};
    LaneState state = LaneState::kExited;
    bool started = false;
    // While the lane waits: where, and what it gives. Afterwards the wave's answer.
    SourcePosition position{};
    bool predicate = false;
    std::uint64_t bits = 0;
    unsigned source_lane = 0;
    std::uint64_t received = 0;
    WaveVote wave_vote{};
  };

  // A block of a cooperative launch while another one has the turn.
  struct Resident {
    uint3 block{};
    unsigned first_lane = 0;
    unsigned lanes_at_wave_operations = 0;
    std::vector<std::byte> lds{};
    bool has_ended = false;
  };

  // Where the blocks of a cooperative launch meet.
  struct GridBarrier {
    unsigned blocks = 0;  // 0: the launch is none
    unsigned arrived = 0;
    unsigned opened = 0;  // so often
    bool some_have_ended = false;
  };

  void add_lanes(unsigned count);
  Lane& lane_of_block(unsigned index) const { return *lanes_[first_lane_ + index]; }
  void run_one_by_one(LocalDataShare& lds);
  void run_together(LocalDataShare& lds);
  void run_turn(Resident& block);
  void enter(const Resident& block);
  void leave(Resident& block);
  void run_block(LocalDataShare& lds);
  void reset_lanes();
  bool run_phase_and_resolve();
  void run_phase();
  bool resume_who_gave_way();
  void resume(Lane& lane);
  void run_lane(Lane& lane);
  bool resolve_wave_operations();
  bool resolve_wave(unsigned first, unsigned end);
  void answer(const std::vector<Lane*>& active, unsigned first);
  bool resolve_barrier();
  void fail(const std::string& reason);
  void unwind_lanes();
  Lane& running_lane(const char* function) const;
  void wait(Lane& lane, LaneState state, SourcePosition position);

  std::vector<std::unique_ptr<Lane>> lanes_;
  const std::function<void()>* lane_body_ = nullptr;
  LocalDataShare* lds_ = nullptr;
  Lane* running_ = nullptr;
  unsigned lane_count_ = 0;  // of a block
  unsigned first_lane_ = 0;  // of the block whose turn it is
  unsigned lanes_that_gave_way_ = 0;
  GridBarrier grid_barrier_{};
  unsigned lanes_at_wave_operations_ = 0;
  std::minstd_rand random_;
  std::vector<Lane*> active_;
  std::optional<std::string> failure_;
};

/// Returns the one scheduler of the program.
BlockScheduler& block_scheduler();

}  // namespace hip_host
