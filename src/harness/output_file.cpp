#include "output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "hipscope/experiment.h"
#include "interrupt.h"

namespace hipscope::detail {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const std::string& path, int error) {
  throw WriteError(fmt::format("cannot write {}: {}", path, std::strerror(error)));
}

fs::path folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

bool is_special_file(const std::string& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return fs::exists(status) && !fs::is_regular_file(status);
}

// Holds signals back while it lives, so that none leaves a temporary file, and none is lost between
// the look at what was noted and a wait: only the wait itself lets them through, and ends by them.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

  // Waits until something can be written to `descriptor` (to none: for a moment), or for a signal.
  // Throws Interrupted.
  void wait(int descriptor) const {
    throw_if_interrupted(while_writing);
    pollfd waited = {.fd = descriptor, .events = POLLOUT, .revents = 0};
    constexpr timespec moment = {.tv_sec = 0, .tv_nsec = 20'000'000};
    ::ppoll(&waited, 1, descriptor < 0 ? &moment : nullptr, &before_);
    throw_if_interrupted(while_writing);
  }

 private:
  static constexpr const char* while_writing = "interrupted while its output was written";
  sigset_t before_{};
};

// Writes all of `text` to a regular file; returns 0 or the error number.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      return errno;
    }
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  return 0;
}

// The same where a reader may let it wait, a part at a time: so much does not block once there is
// room in a pipe. Throws Interrupted.
int write_to_reader(int descriptor, std::string_view text) {
  const SignalsHeld signals;
  while (!text.empty()) {
    signals.wait(descriptor);
    const ssize_t written =
        ::write(descriptor, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
    if (written < 0 && errno != EINTR && errno != EAGAIN) {
      return errno;
    }
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  return 0;
}

// Opens a pipe or a device; a pipe as soon as it has a reader. Throws Interrupted.
int open_special(const std::string& path) {
  const SignalsHeld signals;
  while (true) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    std::error_code ignored;
    if (descriptor >= 0 || errno != ENXIO || !fs::is_fifo(path, ignored)) {
      return descriptor;
    }
    signals.wait(-1);
  }
}

void write_special(const std::string& path, const std::string& text) {
  const int descriptor = open_special(path);
  if (descriptor < 0) {
    fail(path, errno);
  }
  int error = 0;
  try {
    error = write_to_reader(descriptor, text);
  } catch (const Interrupted&) {
    ::close(descriptor);
    throw;
  }
  if (::close(descriptor) != 0 && error == 0) {
    error = errno;
  }
  if (error != 0) {
    fail(path, error);
  }
}

// What a file is called until it is whole; mkstemp chooses the last letters.
std::string temporary_of(const fs::path& target) { return target.string() + ".XXXXXX"; }

// The file that a chain of links leads to, which need not exist yet; a link still where they never
// end.
fs::path follow_links(fs::path path) {
  constexpr int longest_chain = 40;  // as Linux has it
  std::error_code ignored;
  for (int i = 0; i < longest_chain && fs::is_symlink(path, ignored); ++i) {
    path = path.parent_path() / fs::read_symlink(path, ignored);
  }
  return path;
}

bool is_link(const fs::path& path) {
  std::error_code ignored;
  return fs::is_symlink(path, ignored);
}

// Who may read and write a file that is written anew: as the old one says, else as any new file.
mode_t mode_of(const fs::path& target) {
  struct stat old = {};
  if (::stat(target.c_str(), &old) == 0) {
    constexpr mode_t permissions = 0777;
    return old.st_mode & permissions;
  }
  constexpr mode_t all_but_execution = 0666;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return all_but_execution & ~mask;
}

}  // namespace

void print_output(const std::string& text, std::FILE* stream) {
  if (std::fflush(stream) != 0 || write_to_reader(::fileno(stream), text) != 0) {
    throw WriteError(
        fmt::format("cannot write to standard {}", stream == stdout ? "output" : "error"));
  }
}

void print_error(const std::string& name, const std::string& sentence) {
  constexpr std::size_t longest = 1000;  // whatever was given, it is one line that can be read
  std::string line = name + ": " + sentence.substr(0, longest);
  std::replace_if(
      line.begin(), line.end(), [](unsigned char one) { return std::iscntrl(one) != 0; }, ' ');
  static_cast<void>(std::fputs((line + "\n").c_str(), stderr));
}

void require_writable(const std::string& path) {
  if (path == standard_output) {
    return;
  }
  std::error_code ignored;
  if (is_link(follow_links(path))) {
    throw UsageError(fmt::format("--json: {} is a link that leads nowhere", path));
  }
  const fs::path folder = folder_of(follow_links(path));
  if (!fs::is_directory(folder, ignored)) {
    throw UsageError(fmt::format("--json: the folder {} does not exist", folder.string()));
  }
  if (fs::is_directory(path, ignored)) {
    throw UsageError(fmt::format("--json: {} is a folder", path));
  }
  std::error_code error;
  static_cast<void>(fs::symlink_status(temporary_of(follow_links(path)), error));
  if (error == std::errc::filename_too_long) {
    throw UsageError("--json: the file's name is too long");
  }
  const bool writable = is_special_file(path) ? ::access(path.c_str(), W_OK) == 0
                                              : ::access(folder.c_str(), W_OK | X_OK) == 0;
  if (!writable) {
    throw UsageError(fmt::format("--json: {} cannot be written: {}", path, std::strerror(errno)));
  }
}

void write_whole(const std::string& path, const std::string& text) {
  if (path == standard_output) {
    print_output(text);
    return;
  }
  if (is_special_file(path)) {
    write_special(path, text);
    return;
  }
  const SignalsHeld signals_held;
  // A link keeps pointing to where it does: the file behind it is the one to replace.
  const fs::path target = follow_links(path);
  if (is_link(target)) {
    fail(path, ELOOP);
  }
  const mode_t mode = mode_of(target);
  std::string temporary = temporary_of(target);
  const int descriptor = ::mkstemp(temporary.data());
  if (descriptor < 0) {
    fail(path, errno);
  }
  int error = write_all(descriptor, text);
  if (error == 0 && (::fchmod(descriptor, mode) != 0 || ::fsync(descriptor) != 0)) {
    error = errno;
  }
  if (::close(descriptor) != 0 && error == 0) {
    error = errno;
  }
  if (error == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) {
    error = errno;
  }
  if (error != 0) {
    ::unlink(temporary.c_str());
    fail(path, error);
  }
}

}  // namespace hipscope::detail
