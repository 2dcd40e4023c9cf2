#include "compare/cli/interrupt.h"

#include <csignal>

namespace exemplar {

namespace {

volatile std::sig_atomic_t g_requested = 0;

void handle(int signal_number) {
  g_requested = 1;
  std::signal(signal_number, SIG_DFL);
}

}  // namespace

void install_interrupt_handler() {
  std::signal(SIGINT, handle);
  std::signal(SIGTERM, handle);
}

bool interrupt_requested() {
  return g_requested != 0;
}

}  // namespace exemplar
