#include "interrupt.h"

#include <unistd.h>

#include <csignal>

namespace hipscope::detail {

namespace {

volatile std::sig_atomic_t received_signal = 0;

extern "C" void note_signal(int signal) {
  if (received_signal != 0) {
    _exit(128 + signal);
  }
  received_signal = signal;
}

}  // namespace

void install_signal_handlers() {
  std::signal(SIGINT, note_signal);
  std::signal(SIGTERM, note_signal);
  // A file that outgrows its limit is then reported by write() like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  // Likewise a pipe whose reader has gone.
  std::signal(SIGPIPE, SIG_IGN);
}

void throw_if_interrupted(const char* what) {
  if (received_signal != 0) {
    throw Interrupted(received_signal, what);
  }
}

}  // namespace hipscope::detail
