#include "compare/cli/interrupt.h"

#include <unistd.h>

#include <csignal>

#include "compare/cli/commands.h"

namespace exemplar {

namespace {

constexpr int k_exit_interrupted = 130;

volatile std::sig_atomic_t g_requested = 0;
volatile std::sig_atomic_t g_polled = 0;

// Only calls that are safe in a signal handler.
void handle(int signal_number) {
  if (!g_polled || g_requested) {
    const char message[] = "interrupted\n";
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, message, sizeof message - 1);
    ::_exit(k_exit_interrupted);
  }
  g_requested = 1;
  std::signal(signal_number, handle);
}

}  // namespace

void install_interrupt_handler() {
  std::signal(SIGINT, handle);
  std::signal(SIGTERM, handle);
}

bool interrupt_requested() {
  return g_requested != 0;
}

PolledInterrupts::PolledInterrupts() {
  g_polled = 1;
}

PolledInterrupts::~PolledInterrupts() {
  g_polled = 0;
}

}  // namespace exemplar
