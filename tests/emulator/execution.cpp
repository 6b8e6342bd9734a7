#include "execution.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <deque>

#include "hazards.h"
#include "new_wave.h"

namespace emulator {
namespace {

// Instructions in one go, where the order is the plain one.
constexpr Qword plain_turn = 1500;
// In random order: of a wave, at most; and of a block.
constexpr Qword shuffled_turn = 60;
constexpr Qword shuffled_block_turn = 400;
// In random order, one of a block's waves is held now and then, as if it waited long for memory: do
// the others wait for it where they must? In one of this many turns of the block, and after one of
// this many barriers, where it would be ahead of nobody; for at most this many turns.
constexpr Qword turns_per_hold = 32;
constexpr Qword barriers_per_hold = 4;
constexpr Qword longest_hold = 64;
// A round in which a wave sleeps counts as this many.
constexpr Qword cost_of_sleep = 30;
// A store that is not seen yet is, in one of this many turns of a block.
constexpr Qword turns_per_late_store = 128;
// When no block has ended for this many turns of blocks, none will.
constexpr Qword fruitless_shuffled_turns = 400'000;
constexpr Qword fruitless_plain_turns = 4000;

// Memory of a launch that kernels read, with nothing after it that they may read.
class Segment {
 public:
  Segment(Memory& memory, std::size_t size) : memory_(memory) {
    constexpr std::size_t page_size = 4096;
    mapped_ = (size + page_size) / page_size * page_size;
    data_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data_ == MAP_FAILED) {
      throw Stopped("there is no memory for a launch");
    }
    memory_.allow(address(), size);
  }
  ~Segment() {
    memory_.forbid(address());
    munmap(data_, mapped_);
  }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  Qword address() const { return reinterpret_cast<Qword>(data_); }
  template <typename Value>
  void set(std::size_t offset, Value value) {
    std::memcpy(static_cast<std::uint8_t*>(data_) + offset, &value, sizeof value);
  }
  void set(std::size_t offset, const void* from, std::size_t size) {
    std::memcpy(static_cast<std::uint8_t*>(data_) + offset, from, size);
  }
  void fill(int value) { std::memset(data_, value, mapped_); }

 private:
  Memory& memory_;
  void* data_;
  std::size_t mapped_;
};

// What the compiler asks for beside the kernel's own arguments (code object versions 3 to 6).
Qword hidden_argument(const Launch& launch, const std::string& kind) {
  const Dimensions& grid = launch.grid;
  const Dimensions& block = launch.block;
  if (kind == "hidden_block_count_x") return grid.x;
  if (kind == "hidden_block_count_y") return grid.y;
  if (kind == "hidden_block_count_z") return grid.z;
  if (kind == "hidden_group_size_x") return block.x;
  if (kind == "hidden_group_size_y") return block.y;
  if (kind == "hidden_group_size_z") return block.z;
  if (kind == "hidden_grid_dims") {
    return grid.z * block.z > 1 ? 3 : grid.y * block.y > 1 ? 2 : 1;
  }
  if (kind == "hidden_shared_base") return high_half(shared_aperture);
  if (kind == "hidden_private_base") return high_half(private_aperture);
  if (kind == "hidden_dynamic_lds_size") return launch.dynamic_lds;
  return 0;
}

void set_arguments(const Launch& launch, Segment& segment) {
  segment.fill(0xEE);
  const Kernel& kernel = launch.kernel;
  segment.set(0, launch.arguments.data(),
              std::min<std::size_t>(launch.arguments.size(), kernel.argument_bytes));
  for (const Argument& argument : kernel.arguments) {
    if (argument.is_hidden()) {
      const Qword value = hidden_argument(launch, argument.kind);
      segment.set(argument.offset, &value, std::min<std::size_t>(argument.size, sizeof value));
    }
  }
}

// The dispatch packet (HSA Platform System Architecture, kernel dispatch packet).
void set_packet(const Launch& launch, Qword arguments, Segment& packet) {
  packet.set(4, static_cast<std::uint16_t>(launch.block.x));
  packet.set(6, static_cast<std::uint16_t>(launch.block.y));
  packet.set(8, static_cast<std::uint16_t>(launch.block.z));
  packet.set(12, launch.grid.x * launch.block.x);
  packet.set(16, launch.grid.y * launch.block.y);
  packet.set(20, launch.grid.z * launch.block.z);
  packet.set(24, launch.kernel.scratch);
  packet.set(28, launch.kernel.lds + launch.dynamic_lds);
  packet.set(40, arguments);
}

// The blocks of a launch, as many at a time as the device holds.
class Execution {
 public:
  explicit Execution(Launch& launch)
      : launch_(launch),
        machine_(launch.machine),
        arguments_(machine_.memory, launch.kernel.argument_bytes + 64),
        packet_(machine_.memory, 64),
        blocks_(launch.grid.product()),
        waves_((launch.block.product() + wave_size - 1) / wave_size),
        resident_(std::max(1U, blocks_per_unit(launch.object, launch.kernel,
                                               static_cast<unsigned>(launch.block.product()),
                                               launch.dynamic_lds)) *
                  machine_.options.units) {
    set_arguments(launch, arguments_);
    set_packet(launch, arguments_.address(), packet_);
    machine_.memory.invalidate_l1s();
    if (machine_.options.shuffle) {
      shuffle_blocks();
    }
  }

  void run();

 private:
  void shuffle_blocks();
  void start_block();
  void hold_a_wave(Block& block, Qword one_of);
  bool run_block(Block& block);
  void run_wave(Wave& wave);
  [[noreturn]] void stop_endless(const Wave& wave, const char* why) const;

  Launch& launch_;
  Machine& machine_;
  Segment arguments_;
  Segment packet_;
  Qword blocks_;
  Qword waves_;
  unsigned resident_;
  std::vector<Dword> order_;  // empty for the plain one
  std::deque<std::unique_ptr<Block>> running_;
  Qword started_ = 0;
  Qword budget_ = 0;  // instructions that are left of a block's turn
};

void Execution::shuffle_blocks() {
  constexpr Qword most = 1 << 20;
  if (blocks_ >= most) {
    return;
  }
  for (Qword block = 0; block < blocks_; ++block) {
    order_.push_back(static_cast<Dword>(block));
  }
  for (std::size_t left = order_.size(); left > 1; --left) {
    std::swap(order_[left - 1], order_[machine_.random.below(left)]);
  }
}

void Execution::start_block() {
  const Qword number = order_.empty() ? started_ : order_[started_];
  ++started_;
  const Dimensions& grid = launch_.grid;
  const Dimensions id = {static_cast<Dword>(number % grid.x),
                         static_cast<Dword>(number / grid.x % grid.y),
                         static_cast<Dword>(number / grid.x / grid.y)};
  auto block =
      std::make_unique<Block>(launch_, id, static_cast<unsigned>(started_ % machine_.options.units),
                              launch_.kernel.lds + launch_.dynamic_lds);
  for (unsigned wave = 0; wave < waves_; ++wave) {
    block->waves.push_back(make_wave(*block, wave, arguments_.address(), packet_.address()));
  }
  running_.push_back(std::move(block));
}

void Execution::run_wave(Wave& wave) {
  const Qword most =
      machine_.options.shuffle ? 1 + machine_.random.below(shuffled_turn) : plain_turn;
  wave.yields = false;
  for (Qword done = 0; done < most && !wave.has_ended && !wave.is_at_barrier && !wave.yields;
       ++done) {
    step(wave);
  }
  if (wave.has_ended) {
    wave.settle_stores(all_lanes);
  }
  budget_ -= std::min(budget_, most);
}

void Execution::hold_a_wave(Block& block, Qword one_of) {
  if (machine_.options.shuffle && machine_.random.below(one_of) == 0) {
    Wave& wave = *block.waves[machine_.random.below(block.waves.size())];
    wave.turns_held = static_cast<unsigned>(1 + machine_.random.below(longest_hold));
  }
}

// Until the block has used its turn. True when it has ended.
bool Execution::run_block(Block& block) {
  for (auto& wave : block.waves) {
    wave->turns_held -= std::min(wave->turns_held, 1U);
  }
  hold_a_wave(block, turns_per_hold);
  budget_ = machine_.options.shuffle ? shuffled_block_turn : plain_turn * waves_ * 2;
  std::vector<std::size_t> order(block.waves.size());
  while (budget_ > 0) {
    for (std::size_t position = 0; position < order.size(); ++position) {
      order[position] = position;
      if (machine_.options.shuffle) {
        std::swap(order[position], order[machine_.random.below(position + 1)]);
      }
    }
    bool is_over = true;
    bool has_moved = false;
    bool is_held = false;
    for (const std::size_t position : order) {
      Wave& wave = *block.waves[position];
      is_over = is_over && wave.has_ended;
      if (wave.has_ended || wave.is_at_barrier) {
        continue;
      }
      if (wave.turns_held > 0) {
        is_held = true;
        continue;
      }
      has_moved = true;
      if (wave.turns_to_sleep > 0) {
        --wave.turns_to_sleep;
        budget_ -= std::min(budget_, cost_of_sleep);
      } else {
        run_wave(wave);
      }
    }
    if (is_over) {
      return true;
    }
    if (release_barrier(block)) {
      hold_a_wave(block, barriers_per_hold);
    }
    if (!has_moved && is_held) {
      break;
    }
    if (!has_moved) {
      // All wait at one barrier, and were let go on.
      budget_ -= 1;
    }
  }
  if (machine_.options.late_stores && machine_.random.below(turns_per_late_store) == 0) {
    machine_.memory.settle_newest();
  }
  return false;
}

void Execution::stop_endless(const Wave& wave, const char* why) const {
  const Instruction& instruction =
      launch_.object.program[static_cast<std::size_t>(std::max(wave.next, 0))];
  wave.stop(instruction, why);
}

void Execution::run() {
  Qword ended = 0;
  Qword fruitless = 0;
  const Qword most_fruitless = machine_.options.shuffle
                                   ? fruitless_shuffled_turns
                                   : fruitless_plain_turns + Qword{20} * resident_;
  while (ended < blocks_) {
    if (machine_.options.shuffle) {
      while (started_ < blocks_ && running_.size() < resident_) {
        start_block();
      }
    } else if (running_.empty()) {
      start_block();
    }
    std::unique_ptr<Block> block = std::move(running_.front());
    running_.pop_front();
    if (run_block(*block)) {
      ++ended;
      fruitless = 0;
      continue;
    }
    running_.push_back(std::move(block));
    if (started_ < blocks_ && running_.size() < resident_) {
      // In turn: the block that waits may wait for one that has not begun.
      start_block();
      std::rotate(running_.begin(), running_.end() - 1, running_.end());
    }
    if (++fruitless > most_fruitless) {
      stop_endless(*running_.front()->waves.front(), "no block ends");
    }
  }
  machine_.memory.settle_all();
}

}  // namespace

bool release_barrier(Block& block) {
  const auto is_elsewhere = [](const auto& wave) {
    return !wave->has_ended && !wave->is_at_barrier;
  };
  if (std::any_of(block.waves.begin(), block.waves.end(), is_elsewhere)) {
    return false;
  }
  for (auto& wave : block.waves) {
    wave->is_at_barrier = false;
  }
  block.lds.pass_barrier();
  return true;
}

void step(Wave& wave) {
  const std::vector<Instruction>& program = wave.block->launch.object.program;
  if (static_cast<std::size_t>(wave.next) >= program.size()) {
    throw Stopped("a wave runs on past the code: " + wave.block->launch.kernel.name);
  }
  const Instruction& instruction = program[static_cast<std::size_t>(wave.next)];
  ++wave.time;
  for (unsigned number = 0; number < instruction.sources; ++number) {
    wave.pending.check(wave, instruction, instruction.source[number], number);
  }
  wave.pending.check(wave, instruction, instruction.destination, destination_use);
  wave.pending.check(wave, instruction, instruction.second_destination, destination_use);
  check_hazards(wave, instruction);
  ++wave.next;
  instruction.run(wave, instruction);
  wave.pending.begin(wave, instruction);
  wave.pending.next();
  note_written(wave, instruction);
  ++wave.machine().instructions;
  ++wave.machine().clock;
}

unsigned blocks_per_unit(const CodeObject& object, const Kernel& kernel, unsigned threads,
                         unsigned dynamic_lds) {
  // gfx90a counts VGPRs and AGPRs together, 512 for each SIMD lane and 8 waves at most.
  const bool is_unified = object.target.starts_with("gfx90a");
  const unsigned granule = is_unified ? 8 : 4;
  const unsigned registers = is_unified ? 512 : 256;
  const unsigned most_waves = is_unified ? 8 : 10;
  constexpr unsigned simds = 4;
  const unsigned used =
      std::max(granule, is_unified ? kernel.vgprs : std::max(kernel.vgprs, kernel.agprs));
  const unsigned waves_of_simd =
      std::min(most_waves, registers / ((used + granule - 1) / granule * granule));
  unsigned blocks = waves_of_simd * simds / ((threads + wave_size - 1) / wave_size);
  const unsigned lds = kernel.lds + dynamic_lds;
  if (lds > 0) {
    blocks = std::min(blocks, largest_lds / lds);
  }
  return blocks;
}

void execute(Launch& launch) { Execution(launch).run(); }

}  // namespace emulator
