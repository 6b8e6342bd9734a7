// A second process of this program, which opens memory of the first one: no process may open its
// own. Its environment tells it what to open, and it answers on its standard output.
#pragma once

#include <hipscope/hipscope.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <span>
#include <sstream>
#include <vector>

namespace host_costs {

inline constexpr const char* handle_variable = "HIPSCOPE_IPC_HANDLE";

inline bool is_other_process() { return std::getenv(handle_variable) != nullptr; }

// Opens the memory again and again, and prints seconds of each call and the memory's first word.
inline int run_other_process() try {
  using hipscope::check;
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](auto from, auto to) {
    return std::chrono::duration<double>(to - from).count();
  };
  // The device's number, then the bytes of the handle.
  std::istringstream text(std::getenv(handle_variable));
  int device = 0;
  text >> device;
  hipIpcMemHandle_t handle;
  for (std::byte& byte : std::as_writable_bytes(std::span(&handle, 1))) {
    unsigned value = 0;
    text >> value;
    byte = static_cast<std::byte>(value);
  }
  check(hipSetDevice(device));
  check(hipDeviceSynchronize());
  constexpr int openings = 64;
  for (int i = 0; i < openings; ++i) {
    void* memory = nullptr;
    unsigned word = 0;
    const auto start = Clock::now();
    check(hipIpcOpenMemHandle(&memory, handle, hipIpcMemLazyEnablePeerAccess));
    const auto opened = Clock::now();
    check(hipMemcpy(&word, memory, sizeof word, hipMemcpyDeviceToHost));
    const auto read = Clock::now();
    check(hipIpcCloseMemHandle(memory));
    std::printf("%g %g %u\n", seconds(start, opened), seconds(read, Clock::now()), word);
  }
  return 0;
} catch (const std::exception&) {
  return 1;
}

// What the second process says, one element an opening; empty where it could not.
struct Opened {
  std::vector<double> open{};
  std::vector<double> close{};
  std::vector<unsigned> words{};
};

inline Opened open_in_other_process(const hipIpcMemHandle_t& handle, int device) {
  std::ostringstream command;
  command << handle_variable << "='" << device;
  for (const std::byte byte : std::as_bytes(std::span(&handle, 1))) {
    command << ' ' << std::to_integer<unsigned>(byte);
  }
  command << "' '" << std::filesystem::read_symlink("/proc/self/exe").string() << "' 2>/dev/null";
  Opened opened;
  std::FILE* const answer = popen(command.str().c_str(), "r");
  if (answer == nullptr) {
    return opened;
  }
  double open = 0;
  double close = 0;
  unsigned word = 0;
  while (std::fscanf(answer, "%lf %lf %u", &open, &close, &word) == 3) {
    opened.open.push_back(open);
    opened.close.push_back(close);
    opened.words.push_back(word);
  }
  pclose(answer);
  return opened;
}

}  // namespace host_costs
