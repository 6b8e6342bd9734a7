// Kernels that a test writes in assembly, run in the emulator wave by wave.
#pragma once

#include <functional>
#include <string>

#include "code_object.h"
#include "execution.h"
#include "wave.h"

namespace emulator {

/// The code object of a kernel "made" that begins with the first line. Its arguments are at s[0:1],
/// and the block's number along x is s2.
CodeObject assemble(const std::string& assembly, const std::string& target = "gfx90a");

struct TestShape {
  unsigned waves = 1;
  unsigned lds = 0;      // bytes
  unsigned scratch = 0;  // bytes of a lane
  std::string options;   // as in HIPSCOPE_EMULATOR
};

/// One block of a kernel, whose waves can be looked at.
class TestKernel {
 public:
  explicit TestKernel(const std::string& assembly, TestShape shape = {});

  Wave& wave(unsigned index = 0) { return *block_.waves.at(index); }
  Machine& machine() { return machine_; }
  /// Executes one line alone, counted from 0.
  void execute(int line, unsigned index = 0);
  /// Runs all waves to their ends, each as far as it goes before the next.
  void run();
  /// Of all kinds of mistakes.
  std::size_t reports() { return machine_.reports.all().size(); }
  std::size_t reports(const std::string& mistake);

 private:
  Machine machine_;
  CodeObject object_;
  Launch launch_;
  Block block_;
};

/// Sets a register to `value` of each lane's number.
template <typename Value>
void set_lanes(VectorRegister& lanes, Value value) {
  for (unsigned lane = 0; lane < wave_size; ++lane) {
    lanes[lane] = static_cast<Dword>(value(lane));
  }
}

/// A launch of a kernel in assembly, as a program makes one, of `waves` waves for each of the
/// blocks. Returns the reports.
Reports launch(const std::string& assembly, unsigned blocks, unsigned waves,
               const std::vector<Qword>& arguments, const std::string& options = "",
               const std::function<void(Machine&)>& set_up = {});

}  // namespace emulator
