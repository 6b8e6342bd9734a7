#include "emulated_device.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

namespace emulator {
namespace {

// Statuses with which the process ends; hipscope's own are smaller.
constexpr int stopped_status = 99;

[[noreturn]] void end_process(const std::string& sentence) {
  std::fflush(stdout);
  std::fprintf(stderr, "emulator: stopped: %s\n", sentence.c_str());
  std::_Exit(stopped_status);
}

Options options_of_environment() {
  const char* words = std::getenv("HIPSCOPE_EMULATOR");
  try {
    return parse_options(words == nullptr ? "" : words);
  } catch (const std::invalid_argument& wrong) {
    end_process(wrong.what());
  }
}

// A bundle: a magic word of 24 bytes, a count, and for each code object its offset, size, and a
// name such as hipv4-amdgcn-amd-amdhsa--gfx90a (Clang Offload Bundler).
CodeObject load_bundle(const void* bundle) {
  const auto* const begin = static_cast<const std::uint8_t*>(bundle);
  const Options& options = device().machine.options;
  Qword count = 0;
  std::memcpy(&count, begin + 24, sizeof count);
  const std::uint8_t* entry = begin + 32;
  for (Qword index = 0; index < count; ++index) {
    std::array<Qword, 3> offset_size_length = {};
    std::memcpy(offset_size_length.data(), entry, sizeof offset_size_length);
    entry += sizeof offset_size_length;
    const auto [offset, size, length] = offset_size_length;
    const std::string name(reinterpret_cast<const char*>(entry), length);
    entry += length;
    if (size > 0 && name.find("--" + options.target) != std::string::npos) {
      return load_code_object(begin + offset, size, options, device().machine.memory);
    }
  }
  throw Stopped("the program has no code for " + options.target);
}

CodeObject& object_of(Module& module) {
  if (!module.object) {
    try {
      module.object = load_bundle(module.bundle);
    } catch (const std::exception& wrong) {
      end_process(wrong.what());
    }
  }
  return *module.object;
}

}  // namespace

Device::Device() : machine(options_of_environment()) {}

Device::~Device() {
  finish();
  for (const Report& report : machine.reports.all()) {
    std::fprintf(stderr, "emulator: %s | %s | %s | %llu times | %s\n", report.mistake.c_str(),
                 report.kernel.c_str(), report.instruction.c_str(),
                 static_cast<unsigned long long>(report.times), report.first.c_str());
  }
  for (const auto& [kernel, kinds] : machine.lds_work) {
    std::fprintf(stderr, "emulator: %s\n", line_of(kernel, kinds).c_str());
  }
  std::fprintf(stderr, "emulator: %s, %llu wave instructions, %zu reports\n",
               machine.options.target.c_str(),
               static_cast<unsigned long long>(machine.instructions), machine.reports.all().size());
}

void Device::finish() {
  while (!queue.empty()) {
    const std::function<void()> work = std::move(queue.front());
    queue.pop_front();
    try {
      work();
    } catch (const Stopped& stopped) {
      end_process(stopped.what());
    }
  }
}

Device& device() {
  static Device the_device;
  return the_device;
}

Function function_of(const void* host_function) {
  const auto found = device().kernels.find(host_function);
  if (found == device().kernels.end()) {
    return {};
  }
  CodeObject& object = object_of(*found->second.module);
  const auto kernel = object.kernels.find(found->second.name);
  return {&object, kernel == object.kernels.end() ? nullptr : &kernel->second};
}

void* place_of(const void* host_variable) {
  const Symbolic& variable = device().variables.at(host_variable);
  const CodeObject& object = object_of(*variable.module);
  const auto symbol = object.symbols.find(variable.name);
  return symbol == object.symbols.end() ? nullptr : object.base + symbol->second.value;
}

}  // namespace emulator
