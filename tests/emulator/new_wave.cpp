#include "new_wave.h"

#include <algorithm>
#include <cstring>

#include "code_object.h"

namespace emulator {
namespace {

constexpr int poison = 0xFA;

bool packs_thread_ids(const CodeObject& object) { return object.target.starts_with("gfx90a"); }

void set_thread_ids(Wave& wave, const Launch& launch, unsigned threads) {
  // How many VGPRs hold IDs, less one.
  const unsigned ids = launch.kernel.resources_2 >> 11 & 3;
  for (unsigned lane = 0; lane < threads; ++lane) {
    const unsigned thread = wave.index * wave_size + lane;
    const Dword x = thread % launch.block.x;
    const Dword y = thread / launch.block.x % launch.block.y;
    const Dword z = thread / launch.block.x / launch.block.y;
    if (packs_thread_ids(launch.object)) {
      wave.vector[0][lane] = x | y << 10 | z << 20;
    } else {
      wave.vector[0][lane] = x;
      if (ids >= 1) wave.vector[1][lane] = y;
      if (ids >= 2) wave.vector[2][lane] = z;
    }
  }
}

// Scalar registers in the order in which the hardware fills them (LLVM, User Guide for AMDGPU
// Backend, Initial Kernel Execution State).
class InitialScalars {
 public:
  explicit InitialScalars(Wave& wave) : wave_(wave) {}
  void add(Dword value) { wave_.scalars[next_++] = value; }
  void add_pair(Qword value) {
    add(low_half(value));
    add(high_half(value));
  }
  unsigned count() const { return next_; }
  void skip_to(unsigned next) { next_ = next; }

 private:
  Wave& wave_;
  unsigned next_ = 0;
};

void set_scalars(Wave& wave, const Launch& launch, Qword arguments, Qword packet) {
  const Kernel& kernel = launch.kernel;
  const auto has = [&](unsigned bit) { return (kernel.properties >> bit & 1) != 0; };
  const auto has_id = [&](unsigned bit) { return (kernel.resources_2 >> bit & 1) != 0; };
  InitialScalars scalars(wave);
  if (has(0)) {
    // A buffer descriptor of scratch, which is swizzled.
    scalars.add_pair(joined(0x10000, 0x80000000));
    scalars.add_pair(joined(0x7fffffff, 0xe80000));
  }
  if (has(1)) scalars.add_pair(packet);
  if (has(2)) scalars.add_pair(packet);  // of the queue, of which nothing is read
  if (has(3)) scalars.add_pair(arguments);
  if (has(4)) scalars.add_pair(1);  // a number of the dispatch
  if (has(5)) scalars.add_pair(0);  // flat scratch
  if (has(6)) scalars.add(kernel.scratch);
  const unsigned user_scalars = kernel.resources_2 >> 1 & 31;
  if (scalars.count() > user_scalars) {
    throw Stopped("the kernel descriptor has fewer user SGPRs than it asks for: " + kernel.name);
  }
  scalars.skip_to(user_scalars);
  const Dimensions& id = wave.block->id;
  if (has_id(7)) scalars.add(id.x);
  if (has_id(8)) scalars.add(id.y);
  if (has_id(9)) scalars.add(id.z);
  if (has_id(10)) scalars.add(0);
  if (has_id(0)) scalars.add(0);  // where the wave's scratch begins
}

}  // namespace

std::unique_ptr<Wave> make_wave(Block& block, unsigned index, Qword arguments, Qword packet) {
  const Launch& launch = block.launch;
  const Kernel& kernel = launch.kernel;
  auto wave = std::make_unique<Wave>(block, index);
  const unsigned vectors = std::min(first_accumulator, (kernel.vgprs + 7) / 8 * 8);
  std::memset(wave->vector.data(), poison, vectors * sizeof(VectorRegister));
  // gfx908 does not tell how many AGPRs a kernel has.
  const bool has_accumulators = kernel.agprs > 0 || launch.object.target == "gfx908";
  const unsigned accumulators = has_accumulators ? vector_registers - first_accumulator : 0;
  std::memset(&wave->vector[first_accumulator], poison, accumulators * sizeof(VectorRegister));
  std::memset(wave->scalars.data(), poison, sizeof wave->scalars);
  const auto threads = static_cast<unsigned>(
      std::min<Qword>(wave_size, launch.block.product() - Qword{index} * wave_size));
  wave->set_pair(scalar::exec, low_bits_of_64(threads));
  set_thread_ids(*wave, launch, threads);
  set_scalars(*wave, launch, arguments, packet);
  wave->scratch.assign(std::size_t{kernel.scratch_of_lane()} * wave_size, poison);
  wave->next = launch.object.index_at(reinterpret_cast<Qword>(launch.object.base) + kernel.entry);
  if (wave->next < 0) {
    throw Stopped("the kernel begins at no instruction: " + kernel.name);
  }
  return wave;
}

}  // namespace emulator
