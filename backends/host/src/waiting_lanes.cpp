// What lanes wait for, and when they go on: a wave's operations, and the barriers of a block and of
// a grid.
#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "block_scheduler.h"
#include "text.h"

namespace hip_host {
namespace {

bool same(SourcePosition a, SourcePosition b) {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

bool before(SourcePosition a, SourcePosition b) {
  if (a.line != b.line) return a.line < b.line;
  return a.file != b.file && std::strcmp(a.file, b.file) < 0;
}

}  // namespace

// Lets one group of lanes of each wave go on, as lanes.h describes. Returns whether there was any.
bool BlockScheduler::resolve_wave_operations() {
  if (lanes_at_wave_operations_ == 0) return false;
  bool any = false;
  for (unsigned first = 0; first < lane_count_; first += warpSize) {
    any |= resolve_wave(first, std::min(first + warpSize, lane_count_));
  }
  return any;
}

bool BlockScheduler::resolve_wave(unsigned first, unsigned end) {
  active_.clear();
  for (unsigned i = first; i < end; ++i) {
    Lane& lane = lane_of_block(i);
    if (lane.state != LaneState::kAtWaveOperation) continue;
    if (!active_.empty() && before(lane.position, active_.front()->position)) active_.clear();
    if (active_.empty() || same(lane.position, active_.front()->position)) active_.push_back(&lane);
  }
  answer(active_, first);
  return !active_.empty();
}

// Answers the operation of the active lanes of the wave that starts at lane `first`.
void BlockScheduler::answer(const std::vector<Lane*>& active, unsigned first) {
  WaveVote vote{};
  for (const Lane* lane : active) {
    const std::uint64_t lane_bit = std::uint64_t{1} << (lane->index - first);
    vote.active |= lane_bit;
    if (lane->predicate) vote.votes |= lane_bit;
  }
  for (Lane* lane : active) {
    const bool source_is_active = (vote.active >> lane->source_lane & 1) != 0;
    lane->received =
        source_is_active ? lane_of_block(first + lane->source_lane).bits : ~std::uint64_t{0};
    lane->wave_vote = vote;
    lane->state = LaneState::kRunnable;
  }
  lanes_at_wave_operations_ -= static_cast<unsigned>(active.size());
}

// Opens the barrier, where all lanes are that have not exited. Returns whether any lane goes on.
bool BlockScheduler::resolve_barrier() {
  const Lane* first = nullptr;
  for (unsigned i = 0; i < lane_count_; ++i) {
    Lane& lane = lane_of_block(i);
    if (lane.state != LaneState::kAtBarrier) continue;
    if (first == nullptr) first = &lane;
    if (!same(lane.position, first->position)) {
      fail(text("lanes of one block wait at different barriers: thread ", first->thread, " at ",
                first->position, " and thread ", lane.thread, " at ", lane.position));
      return false;
    }
    lane.state = LaneState::kRunnable;
  }
  return first != nullptr;
}

void BlockScheduler::wait_at_barrier(SourcePosition position) {
  wait(running_lane("a block barrier"), LaneState::kAtBarrier, position);
}

std::uint64_t BlockScheduler::exchange_in_wave(std::uint64_t bits, unsigned source_lane,
                                               SourcePosition position) {
  Lane& lane = running_lane("a shuffle");
  lane.predicate = false;
  lane.bits = bits;
  lane.source_lane = source_lane;
  ++lanes_at_wave_operations_;
  wait(lane, LaneState::kAtWaveOperation, position);
  return lane.received;
}

WaveVote BlockScheduler::vote_in_wave(bool predicate, SourcePosition position) {
  Lane& lane = running_lane("a wave vote");
  lane.predicate = predicate;
  lane.source_lane = 0;
  ++lanes_at_wave_operations_;
  wait(lane, LaneState::kAtWaveOperation, position);
  return lane.wave_vote;
}

void BlockScheduler::let_others_run() {
  Lane& lane = running_lane("a wait for others");
  ++lanes_that_gave_way_;
  wait(lane, LaneState::kGaveWay, {});
}

void BlockScheduler::wait_at_grid_barrier(SourcePosition position) {
  Lane& lane = running_lane("a grid's barrier");
  if (grid_barrier_.blocks == 0) {
    throw std::logic_error(
        text("the grid's barrier at ", position, " is in a launch that is not cooperative"));
  }
  wait_at_barrier(position);
  if (lane.index == 0) {
    const unsigned opened = grid_barrier_.opened;
    if (++grid_barrier_.arrived == grid_barrier_.blocks) {
      grid_barrier_.arrived = 0;
      ++grid_barrier_.opened;
    }
    while (grid_barrier_.opened == opened) {
      if (grid_barrier_.some_have_ended) {
        throw std::logic_error(
            text("a block has ended and will not come to the grid's barrier at ", position));
      }
      let_others_run();
    }
  }
  wait_at_barrier(position);
}

}  // namespace hip_host
