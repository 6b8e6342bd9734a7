// SIGINT and SIGTERM: noted by the handler, acted on between samples.
#pragma once

#include <exception>

namespace hipscope::detail {

/// Thrown between samples, and while a reader lets the output wait, after SIGINT or SIGTERM.
class Interrupted : public std::exception {
 public:
  Interrupted(int signal, const char* what) : signal_(signal), what_(what) {}
  [[nodiscard]] const char* what() const noexcept override { return what_; }

  /// 130 after SIGINT, 143 after SIGTERM, as a shell reports them.
  [[nodiscard]] int exit_status() const { return 128 + signal_; }

 private:
  int signal_;
  const char* what_;
};

/// Installs the handlers. A second signal ends the process at once: nothing is half written then
/// either, since a file takes its name only when it is whole.
void install_signal_handlers();

/// Throws Interrupted, which says `what`, when a signal has come since.
void throw_if_interrupted(const char* what = "interrupted, nothing was written");

}  // namespace hipscope::detail
