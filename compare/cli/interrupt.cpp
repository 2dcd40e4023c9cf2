#include "compare/cli/interrupt.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <thread>

#include "compare/cli/commands.h"

namespace exemplar {

namespace {

constexpr int k_exit_interrupted = 130;

std::atomic<bool> g_requested = false;
std::atomic<bool> g_polled = false;
std::atomic<std::int64_t> g_requested_at = 0;  // ns
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free,
              "read and written in a signal handler");

std::int64_t nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Only calls that are safe in a signal handler.
void handle(int) {
  // timeout(1) and some queues signal the program and then its process group: that is one wish, not two.
  constexpr std::int64_t same_wish = 1'000'000'000;
  if (g_polled && g_requested && nanoseconds() - g_requested_at < same_wish) return;
  if (!g_polled || g_requested) {
    const char message[] = "interrupted\n";
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, message, sizeof message - 1);
    ::_exit(k_exit_interrupted);
  }
  g_requested_at = nanoseconds();
  g_requested = true;
}

// METIS, which orders matrices for CHOLMOD, takes SIGTERM for an error of its own and jumps out of the
// handler, in whichever thread it arrived. So no thread may receive it: it is blocked before anything runs
// (OpenBLAS starts a thread while it is loaded, long before main) and waited for by a thread of its own.
void block_termination(int, char**, char**) {
  const unsigned long termination = 1UL << (SIGTERM - 1);
  // Not pthread_sigmask: nothing is set up this early, sanitizers that intercept it neither.
  ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, &termination, nullptr, sizeof termination);
}

[[gnu::section(".preinit_array"), gnu::used]] void (*const g_before_libraries)(int, char**,
                                                                               char**) = block_termination;

[[noreturn]] void wait_for_termination() {
  sigset_t termination;
  sigemptyset(&termination);
  sigaddset(&termination, SIGTERM);
  while (true) {
    int signal_number = 0;
    if (sigwait(&termination, &signal_number) == 0) handle(signal_number);
  }
}

}  // namespace

void install_interrupt_handler() {
  std::signal(SIGINT, handle);
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on the size of files then fails the write, as a full disk does
  std::thread(wait_for_termination).detach();
}

bool interrupt_requested() {
  return g_requested;
}

PolledInterrupts::PolledInterrupts() {
  g_polled = true;
}

PolledInterrupts::~PolledInterrupts() {
  g_polled = false;
}

}  // namespace exemplar
