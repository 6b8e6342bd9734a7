#include "block_scheduler.h"

#include <exception>
#include <stdexcept>
#include <utility>

#include "local_data_share.h"
#include "text.h"

namespace hip_host {
namespace {

// Fixed, and taken anew for each launch: a launch that fails, fails every time.
constexpr unsigned kOrderSeed = 20240229;

struct Indices {
  uint3 thread{};
  uint3 block{};
  dim3 block_size;
  dim3 grid_size;
};

constinit Indices current{};

// Thrown through a waiting lane's kernel when the launch has failed elsewhere, so that the
// destructors on its stack run.
class LaunchAbandoned {};

}  // namespace

std::optional<std::string> BlockScheduler::run(const LaunchShape& shape,
                                               const std::function<void()>& lane_body) {
  random_.seed(kOrderSeed);
  lane_count_ = shape.block.x * shape.block.y * shape.block.z;
  first_lane_ = 0;
  lanes_that_gave_way_ = 0;
  current = {{}, {}, shape.block, shape.grid};
  LocalDataShare lds(shape.lds_bytes);
  lds_ = &lds;
  lane_body_ = &lane_body;
  failure_.reset();
  grid_barrier_ = {};
  if (shape.is_cooperative) {
    run_together(lds);
  } else {
    run_one_by_one(lds);
  }
  lds_ = nullptr;
  return failure_;
}

void BlockScheduler::add_lanes(unsigned count) {
  while (lanes_.size() < count) {
    auto lane = std::make_unique<Lane>();
    lane->fiber = std::make_unique<LaneFiber>([this, made = lane.get()] { run_lane(*made); });
    lanes_.push_back(std::move(lane));
  }
}

void BlockScheduler::run_one_by_one(LocalDataShare& lds) {
  add_lanes(lane_count_);
  const dim3 grid = current.grid_size;
  for (unsigned z = 0; z < grid.z && !failure_; ++z) {
    for (unsigned y = 0; y < grid.y && !failure_; ++y) {
      for (unsigned x = 0; x < grid.x && !failure_; ++x) {
        current.block = {x, y, z};
        run_block(lds);
      }
    }
  }
}

// All blocks have their lanes and their LDS, and turns one after another. Those are of random
// length, so that blocks that do not wait for each other do not keep step by chance.
void BlockScheduler::run_together(LocalDataShare& lds) {
  const dim3 grid = current.grid_size;
  const unsigned count = grid.x * grid.y * grid.z;
  add_lanes(count * lane_count_);
  grid_barrier_.blocks = count;
  std::vector<Resident> blocks(count);
  for (unsigned i = 0; i < count; ++i) {
    blocks[i].block = {i % grid.x, i / grid.x % grid.y, i / grid.x / grid.y};
    blocks[i].first_lane = i * lane_count_;
    lds.poison();
    blocks[i].lds = lds.contents();
    enter(blocks[i]);
    reset_lanes();
    leave(blocks[i]);
  }
  for (std::size_t ended = 0; ended < count && !failure_;) {
    ended = 0;
    for (Resident& block : blocks) {
      if (!block.has_ended && !failure_) {
        run_turn(block);
      }
      ended += block.has_ended ? 1 : 0;
    }
  }
  for (Resident& block : blocks) {
    if (failure_ && !block.has_ended) {
      enter(block);
      unwind_lanes();
    }
  }
}

void BlockScheduler::run_turn(Resident& block) {
  constexpr unsigned kMostPhases = 16;
  unsigned phases = 1 + static_cast<unsigned>(random_() % kMostPhases);
  enter(block);
  while (!block.has_ended && phases > 0) {
    block.has_ended = !run_phase_and_resolve() && !failure_;
    // Who waits for another block has nothing to do until that one has its turn.
    phases = failure_ || resume_who_gave_way() ? 0 : phases - 1;
  }
  grid_barrier_.some_have_ended |= block.has_ended;
  leave(block);
}

void BlockScheduler::enter(const Resident& block) {
  current.block = block.block;
  first_lane_ = block.first_lane;
  lanes_at_wave_operations_ = block.lanes_at_wave_operations;
  lds_->set_contents(block.lds);
}

void BlockScheduler::leave(Resident& block) {
  block.lanes_at_wave_operations = lanes_at_wave_operations_;
  block.lds = lds_->contents();
}

void BlockScheduler::run_block(LocalDataShare& lds) {
  lds.poison();
  reset_lanes();
  while (run_phase_and_resolve()) {
    resume_who_gave_way();
  }
  if (failure_) unwind_lanes();
}

// Returns whether there is more to run.
bool BlockScheduler::run_phase_and_resolve() {
  run_phase();
  if (failure_) return false;
  // The others wait until those who look for something have found it.
  return lanes_that_gave_way_ > 0 || resolve_wave_operations() || resolve_barrier();
}

// Returns whether there was any.
bool BlockScheduler::resume_who_gave_way() {
  if (lanes_that_gave_way_ == 0) return false;
  for (unsigned i = 0; i < lane_count_; ++i) {
    Lane& lane = lane_of_block(i);
    if (lane.state == LaneState::kGaveWay) lane.state = LaneState::kRunnable;
  }
  lanes_that_gave_way_ = 0;
  return true;
}

void BlockScheduler::reset_lanes() {
  lanes_at_wave_operations_ = 0;
  uint3 thread{};
  for (unsigned i = 0; i < lane_count_; ++i) {
    Lane& lane = lane_of_block(i);
    lane.index = i;
    lane.thread = thread;
    lane.state = LaneState::kRunnable;
    lane.started = false;
    if (++thread.x < current.block_size.x) continue;
    thread.x = 0;
    if (++thread.y < current.block_size.y) continue;
    thread.y = 0;
    ++thread.z;
  }
}

// Lets each runnable lane run until it waits or exits: from another lane on and another way in each
// phase, so that a kernel that lacks a barrier does not pass by the luck of one order.
void BlockScheduler::run_phase() {
  const auto start = static_cast<unsigned>(random_() % lane_count_);
  const bool ascending = random_() % 2 == 0;
  for (unsigned step = 0; step < lane_count_ && !failure_; ++step) {
    const unsigned position = (start + step) % lane_count_;
    Lane& lane = lane_of_block(ascending ? position : lane_count_ - 1 - position);
    if (lane.state == LaneState::kRunnable) resume(lane);
  }
}

void BlockScheduler::resume(Lane& lane) {
  running_ = &lane;
  current.thread = lane.thread;
  lane.started = true;
  lane.fiber->resume();
  running_ = nullptr;
}

// What a lane's fiber runs: the kernel, once.
void BlockScheduler::run_lane(Lane& lane) {
  try {
    (*lane_body_)();
  } catch (const LaunchAbandoned&) {
    // The failure that led here is noted already.
  } catch (const std::exception& error) {
    fail(text("thread ", lane.thread, ": ", error.what()));
  } catch (...) {
    fail(text("thread ", lane.thread, " threw an exception"));
  }
  lane.state = LaneState::kExited;
}

// Notes the first failure of the launch; what follows from it is not news.
void BlockScheduler::fail(const std::string& reason) {
  if (!failure_) failure_ = text("block ", current.block, ": ", reason);
}

// After a failure: leaves each lane's kernel, so that its fiber is idle again.
void BlockScheduler::unwind_lanes() {
  for (unsigned i = 0; i < lane_count_; ++i) {
    Lane& lane = lane_of_block(i);
    if (lane.started && lane.state != LaneState::kExited) resume(lane);
  }
}

BlockScheduler::Lane& BlockScheduler::running_lane(const char* function) const {
  if (running_ == nullptr) {
    throw std::logic_error(text(function, " was called outside a kernel"));
  }
  return *running_;
}

void BlockScheduler::wait(Lane& lane, LaneState state, SourcePosition position) {
  if (failure_) throw LaunchAbandoned();
  lane.state = state;
  lane.position = position;
  lane.fiber->suspend();
  if (failure_) throw LaunchAbandoned();
}

unsigned BlockScheduler::lane_in_wave() const { return running_lane("__lane_id").index % warpSize; }

void* BlockScheduler::dynamic_lds() const {
  running_lane("HIP_DYNAMIC_SHARED");
  return lds_->dynamic_start();
}

BlockScheduler& block_scheduler() {
  // Never destroyed, since its fibers cannot be.
  static BlockScheduler& scheduler = *new BlockScheduler;
  return scheduler;
}

// ------------------------------------------------------------ what the public headers promise

void wait_at_barrier(SourcePosition position) { block_scheduler().wait_at_barrier(position); }

std::uint64_t exchange_in_wave(std::uint64_t bits, unsigned source_lane, SourcePosition position) {
  return block_scheduler().exchange_in_wave(bits, source_lane, position);
}

WaveVote vote_in_wave(bool predicate, SourcePosition position) {
  return block_scheduler().vote_in_wave(predicate, position);
}

unsigned lane_in_wave() { return block_scheduler().lane_in_wave(); }

void let_others_run() { block_scheduler().let_others_run(); }

void wait_at_grid_barrier(SourcePosition position) {
  block_scheduler().wait_at_grid_barrier(position);
}

void* dynamic_lds() { return block_scheduler().dynamic_lds(); }

unsigned checked_segment_width(int width, SourcePosition position) {
  if (width < 1 || width > warpSize || !std::has_single_bit(static_cast<unsigned>(width))) {
    throw std::invalid_argument(text("the width of the shuffle at ", position, " is ", width,
                                     "; it must be a power of two from 1 to the wave size, ",
                                     warpSize));
  }
  return static_cast<unsigned>(width);
}

}  // namespace hip_host

const uint3& threadIdx = hip_host::current.thread;
const uint3& blockIdx = hip_host::current.block;
const dim3& blockDim = hip_host::current.block_size;
const dim3& gridDim = hip_host::current.grid_size;
