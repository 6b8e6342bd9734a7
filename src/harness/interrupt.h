// SIGINT and SIGTERM: noted by the handler, acted on between samples.
#pragma once

#include <exception>

namespace hipscope::detail {

/// Thrown between samples after SIGINT or SIGTERM.
class Interrupted : public std::exception {
 public:
  explicit Interrupted(int signal) : signal_(signal) {}
  [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }

  /// 130 after SIGINT, 143 after SIGTERM, as a shell reports them.
  [[nodiscard]] int exit_status() const { return 128 + signal_; }

 private:
  int signal_;
};

/// Installs the handlers. A second signal ends the process at once: nothing is half written then
/// either, since a file takes its name only when it is whole.
void install_signal_handlers();

/// Throws Interrupted when a signal has come since.
void throw_if_interrupted();

}  // namespace hipscope::detail
