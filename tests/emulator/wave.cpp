#include "wave.h"

#include <sstream>

#include "code_object.h"

namespace emulator {

const std::string& Wave::kernel_name() const { return block->launch.kernel.name; }

std::string Wave::place(const Instruction& instruction) const {
  std::ostringstream text;
  text << " (at 0x" << std::hex << instruction.address << std::dec << ", block " << block->id.x
       << ',' << block->id.y << ',' << block->id.z << ", wave " << index << ')';
  return text.str();
}

void Wave::count_lds(const Instruction& instruction, Access use, unsigned bytes,
                     const std::array<Qword, wave_size>& addresses, bool is_second) {
  if (!machine().options.conflicts) {
    return;
  }
  const std::string mnemonic = instruction.text.substr(0, instruction.text.find(' '));
  LdsWork& work = machine().lds_work[kernel_name()][mnemonic];
  work.instructions += is_second ? 0 : 1;
  work.cycles += lds_cycles(use, bytes, addresses, exec());
  work.free_cycles += lds_groups(bytes);
}

void Wave::stop(const Instruction& instruction, const std::string& why) const {
  throw Stopped(why + ": " + instruction.text + " in " + kernel_name() + place(instruction));
}

void Wave::settle_lds_loads(Qword number) {
  while (!arriving.empty() && arriving.front().number <= number) {
    const LdsArrival& arrival = arriving.front();
    for (unsigned lane = 0; lane < wave_size; ++lane) {
      if (has_lane(arrival.lanes, lane)) {
        block->lds.store(*this, *arrival.instruction, arrival.address_of(lane),
                         &arrival.values[lane], sizeof(Dword));
      }
    }
    arriving.erase(arriving.begin());
  }
}

}  // namespace emulator
