#include "devices.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "interrupt.h"
#include "output_file.h"

namespace hipscope::detail {

namespace {

constexpr int device_error = 3;

// What a process writes to one of its streams, passed on line by line.
class LabelledStream {
 public:
  LabelledStream(int descriptor, std::FILE* stream, std::string label)
      : descriptor_(descriptor), stream_(stream), label_(std::move(label)) {}
  ~LabelledStream() { close(); }
  LabelledStream(const LabelledStream&) = delete;
  LabelledStream& operator=(const LabelledStream&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }

  // Keeps what comes instead of printing it; the label then stands before all of it.
  void keep() { is_kept_ = true; }

  // Takes what there is to read; closes at the end.
  void read() {
    std::array<char, 4096> part{};
    const ssize_t bytes = ::read(descriptor_, part.data(), part.size());
    if (bytes > 0) {
      text_.append(part.data(), static_cast<std::size_t>(bytes));
    } else if (bytes == 0 || errno != EINTR) {
      close();
    }
    if (!is_kept_) {
      print_lines(descriptor_ < 0);
    }
  }

  // Prints what was kept.
  void print_kept() const { print_output(label_ + text_, stream_); }

 private:
  void close() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
      descriptor_ = -1;
    }
  }

  void print_lines(bool is_end) {
    std::string lines;
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = text_.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      lines += end == begin ? label_.substr(0, label_.find(' ')) : label_;
      lines.append(text_, begin, end + 1 - begin);
    }
    text_.erase(0, begin);
    if (is_end && !text_.empty()) {
      lines += label_ + std::exchange(text_, "") + "\n";
    }
    if (!lines.empty()) {
      print_output(lines, stream_);
    }
  }

  int descriptor_;
  std::FILE* stream_;
  std::string label_;
  std::string text_{};
  bool is_kept_ = false;
};

// Both ends of a pipe that no other process is to inherit.
std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw DeviceError(std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  return ends;
}

// The process of one device. It has a process group of its own, so that it gets a signal once,
// from here, and not from the terminal as well.
class DeviceProcess {
 public:
  DeviceProcess(int device, const std::vector<std::string>& arguments, bool csv) : device_(device) {
    const std::array<int, 2> output = make_pipe();
    const std::array<int, 2> errors = make_pipe();
    const std::string label = fmt::format("[{}] ", device);
    output_ = std::make_unique<LabelledStream>(
        output[0], stdout, csv ? fmt::format("# device {}\r\n", device) : label);
    errors_ = std::make_unique<LabelledStream>(errors[0], stderr, label);
    if (csv) {
      output_->keep();
    }
    const int error = spawn(arguments, output[1], errors[1]);
    ::close(output[1]);
    ::close(errors[1]);
    if (error != 0) {
      throw DeviceError(fmt::format("the process for device {} could not be started: {}", device,
                                    std::strerror(error)));
    }
  }
  DeviceProcess(const DeviceProcess&) = delete;
  DeviceProcess& operator=(const DeviceProcess&) = delete;
  ~DeviceProcess() {
    if (process_ > 0) {  // something went wrong here
      pass_on(SIGTERM);
      static_cast<void>(wait());
    }
  }

  [[nodiscard]] bool is_talking() const {
    return output_->descriptor() >= 0 || errors_->descriptor() >= 0;
  }
  [[nodiscard]] std::array<LabelledStream*, 2> streams() const {
    return {output_.get(), errors_.get()};
  }
  void pass_on(int signal) const { ::kill(process_, signal); }

  // Waits for its end and returns its exit status.
  int finish(const std::string& name, bool csv) {
    const int status = wait();
    if (csv && interrupting_signal() == 0) {
      output_->print_kept();
    }
    if (WIFSIGNALED(status)) {
      print_error(name, fmt::format("[{}] ended by signal {}", device_, WTERMSIG(status)));
      return device_error;
    }
    return WEXITSTATUS(status);
  }

 private:
  int spawn(const std::vector<std::string>& arguments, int output, int errors) {
    constexpr const char* self = "/proc/self/exe";
    std::vector<std::string> copies = arguments;
    std::vector<char*> argv;
    argv.reserve(copies.size() + 1);
    for (std::string& argument : copies) {
      argv.push_back(argument.data());
    }
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t as_usual;
    sigemptyset(&as_usual);
    sigaddset(&as_usual, SIGPIPE);  // which this process ignores
    sigaddset(&as_usual, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attributes, &as_usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    const int error = ::posix_spawn(&process_, self, &actions, &attributes, argv.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
      process_ = 0;
    }
    return error;
  }

  int wait() {
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = 0;
    return status;
  }

  int device_;
  pid_t process_ = 0;
  std::unique_ptr<LabelledStream> output_{};
  std::unique_ptr<LabelledStream> errors_{};
};

using Processes = std::vector<std::unique_ptr<DeviceProcess>>;

// Waits a moment for what the processes say and passes it on.
void listen(const Processes& processes) {
  std::vector<pollfd> waited;
  std::vector<LabelledStream*> streams;
  for (const auto& process : processes) {
    for (LabelledStream* stream : process->streams()) {
      if (stream->descriptor() >= 0) {
        waited.push_back({.fd = stream->descriptor(), .events = POLLIN, .revents = 0});
        streams.push_back(stream);
      }
    }
  }
  constexpr int milliseconds = 100;  // in which a signal may come just before the wait
  if (::poll(waited.data(), waited.size(), milliseconds) > 0) {
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (waited[i].revents != 0) {
        streams[i]->read();
      }
    }
  }
}

// Listens until all have ended and returns the highest of their statuses.
int finish_all(const Processes& processes, const std::string& name, bool csv) {
  const auto is_talking = [](const auto& process) { return process->is_talking(); };
  bool is_interrupted = false;
  while (std::any_of(processes.begin(), processes.end(), is_talking)) {
    try {
      listen(processes);
    } catch (const Interrupted&) {  // of whoever waits for a reader; the processes are still to end
    }
    if (!is_interrupted && interrupting_signal() != 0) {
      is_interrupted = true;
      for (const auto& process : processes) {
        process->pass_on(interrupting_signal());
        for (LabelledStream* stream : process->streams()) {
          stream->keep();
        }
      }
    }
  }
  int worst = 0;
  for (const auto& process : processes) {
    worst = std::max(worst, process->finish(name, csv));
  }
  return worst;
}

}  // namespace

std::vector<int> chosen_devices(const std::string& text, int count) {
  std::vector<int> devices;
  if (text == all_devices) {
    for (int device = 0; device < count; ++device) {
      devices.push_back(device);
    }
    return devices;
  }
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    int device = 0;
    std::from_chars(text.data() + begin, text.data() + end, device);
    if (device >= count) {
      throw UsageError(
          fmt::format("--device: there is no device {}, the last one is {}", device, count - 1));
    }
    if (std::find(devices.begin(), devices.end(), device) != devices.end()) {
      throw UsageError(fmt::format("--device: device {} is there twice", device));
    }
    devices.push_back(device);
    begin = end + 1;
  }
  return devices;
}

std::string path_of_device(const std::string& path, int device) {
  const std::filesystem::path whole(path);
  const std::filesystem::path name =
      fmt::format("{}.{}{}", whole.stem().string(), device, whole.extension().string());
  return (whole.parent_path() / name).string();
}

std::vector<std::string> arguments_for_device(const std::vector<std::string>& arguments, int device,
                                              const std::string& json_path) {
  constexpr std::array<std::string_view, 2> replaced = {"--device", "--json"};
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view name = std::string_view(arguments[i]).substr(0, arguments[i].find('='));
    const bool has_value = std::find(replaced.begin(), replaced.end(), name) != replaced.end();
    if (has_value) {
      i += name == arguments[i] ? 1 : 0;  // the value is the next one
    } else if (arguments[i] != "--together") {
      kept.push_back(arguments[i]);
    }
  }
  kept.insert(kept.end(), {"--device", std::to_string(device)});
  if (!json_path.empty()) {
    kept.insert(kept.end(), {"--json", path_of_device(json_path, device)});
  }
  return kept;
}

int run_on_devices(const std::string& name, const std::vector<int>& devices, const Options& options,
                   const std::vector<std::string>& arguments) {
  if (const std::string& path = options.json_path; !path.empty()) {
    std::error_code ignored;
    const std::filesystem::file_status file = std::filesystem::status(path, ignored);
    if (path == standard_output || (exists(file) && !is_regular_file(file))) {
      throw UsageError(fmt::format(
          "--json: {} takes the results of one device; several need a file's name", path));
    }
  }
  for (const int device : devices) {
    if (!options.json_path.empty()) {
      require_writable(path_of_device(options.json_path, device));
    }
  }
  Processes processes;
  int worst = 0;
  for (const int device : devices) {
    throw_if_interrupted("interrupted");
    processes.push_back(std::make_unique<DeviceProcess>(
        device, arguments_for_device(arguments, device, options.json_path), options.csv));
    if (!options.together) {
      worst = std::max(worst, finish_all(processes, name, options.csv));
      processes.clear();
    }
  }
  worst = std::max(worst, finish_all(processes, name, options.csv));
  throw_if_interrupted("interrupted");
  return worst;
}

}  // namespace hipscope::detail
