#include "test_kernel.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "new_wave.h"

namespace emulator {
namespace {

const char* const kernel_name = "made";

std::vector<std::uint8_t> assembled(const std::string& assembly, const std::string& target) {
  std::array<char, 40> name = {"/tmp/hipscope-emulator-test.XXXXXX"};
  close(mkstemp(name.data()));
  const std::string command = std::string(HIPSCOPE_LLVM_MC " -arch=amdgcn -filetype=obj -mcpu=") +
                              target + " -o " + name.data();
  std::FILE* pipe = popen(command.c_str(), "w");
  std::fwrite(assembly.data(), 1, assembly.size(), pipe);
  const bool is_good = pclose(pipe) == 0;
  std::ifstream file(name.data(), std::ios::binary);
  std::vector<std::uint8_t> bytes((std::istreambuf_iterator<char>(file)), {});
  unlink(name.data());
  if (!is_good) {
    throw std::runtime_error("the assembler refuses: " + assembly);
  }
  return bytes;
}

}  // namespace

CodeObject assemble(const std::string& assembly, const std::string& target) {
  const std::vector<std::uint8_t> elf = assembled(assembly, target);
  CodeObject object;
  object.target = target;
  object.set_program(disassemble(elf.data(), elf.size(), target));
  Kernel kernel;
  kernel.name = kernel_name;
  kernel.vgprs = first_accumulator;
  kernel.agprs = first_accumulator;
  kernel.argument_bytes = 64;
  constexpr std::uint16_t has_arguments = 1 << 3;
  constexpr Dword two_user_scalars = 2 << 1;
  constexpr Dword has_block_id = 1 << 7;
  kernel.properties = has_arguments;
  kernel.resources_2 = two_user_scalars | has_block_id;
  object.kernels[kernel_name] = kernel;
  return object;
}

TestKernel::TestKernel(const std::string& assembly, TestShape shape)
    : machine_(parse_options(shape.options)),
      object_(assemble(assembly, machine_.options.target)),
      launch_{machine_, object_, object_.kernels.at(kernel_name), {}, {shape.waves * wave_size},
              0,        {}},
      block_(launch_, {0, 0, 0}, 0, shape.lds) {
  object_.kernels.at(kernel_name).scratch = shape.scratch;
  for (unsigned index = 0; index < shape.waves; ++index) {
    block_.waves.push_back(make_wave(block_, index, 0, 0));
  }
}

void TestKernel::execute(int line, unsigned index) {
  wave(index).next = line;
  step(wave(index));
}

std::size_t TestKernel::reports(const std::string& mistake) {
  const std::vector<Report> all = machine_.reports.all();
  return static_cast<std::size_t>(std::ranges::count(all, mistake, &Report::mistake));
}

void TestKernel::run() {
  while (!std::ranges::all_of(block_.waves, [](const auto& wave) { return wave->has_ended; })) {
    for (auto& wave : block_.waves) {
      while (!wave->has_ended && !wave->is_at_barrier) {
        step(*wave);
      }
    }
    release_barrier(block_);
  }
}

Reports launch(const std::string& assembly, unsigned blocks, unsigned waves,
               const std::vector<Qword>& arguments, const std::string& options,
               const std::function<void(Machine&)>& set_up) {
  Machine machine(parse_options(options));
  const CodeObject object = assemble(assembly, machine.options.target);
  if (set_up) {
    set_up(machine);
  }
  std::vector<std::uint8_t> packed(arguments.size() * sizeof(Qword));
  std::memcpy(packed.data(), arguments.data(), packed.size());
  Launch made{machine, object, object.kernels.at(kernel_name), {blocks}, {waves * wave_size},
              0,       packed};
  execute(made);
  return machine.reports;
}

}  // namespace emulator
