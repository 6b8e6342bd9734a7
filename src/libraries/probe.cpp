// See hipscope/libraries/probe.h.
#include "hipscope/libraries/probe.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace hipscope::vendor {

namespace {

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) {
    return "ended by signal " + std::to_string(WTERMSIG(status));
  }
  return WEXITSTATUS(status) == 0 ? "" : "ended with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

// posix_spawn, since a fork of a process that has begun to use a GPU may not use it.
std::string failure_of_child(const std::vector<std::string>& arguments) {
  static char self[] = "/proc/self/exe";
  std::vector<std::string> copies = arguments;
  std::vector<char*> argv = {self};
  for (std::string& argument : copies) {
    argv.push_back(argument.data());
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int output : {STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0);
  }
  pid_t child = 0;
  const int error = posix_spawn(&child, self, &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return std::string("could not be started: ") + std::strerror(error);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      return std::string("could not be waited for: ") + std::strerror(errno);
    }
  }
  return how_it_ended(status);
}

}  // namespace hipscope::vendor
