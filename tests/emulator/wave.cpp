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

void Wave::stop(const Instruction& instruction, const std::string& why) const {
  throw Stopped(why + ": " + instruction.text + " in " + kernel_name() + place(instruction));
}

}  // namespace emulator
