#include "core/base/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

namespace exemplar {

namespace {

using Clock = std::chrono::steady_clock;

// Sanitizers reserve terabytes of addresses, which a limit would forbid.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)  // GCC
constexpr bool can_limit_memory = false;
#elif defined(__has_feature)  // Clang
constexpr bool can_limit_memory = !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
constexpr bool can_limit_memory = true;
#endif

std::size_t address_space_in_use() {
  std::size_t pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%zu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void limit(decltype(RLIMIT_CPU) what, std::size_t value) {
  const rlimit both{value, value};
  ::setrlimit(what, &both);
}

[[noreturn]] void live(const std::function<bool(const ChildOutput&)>& work, int output, double time_limit,
                       std::size_t address_limit) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGINT, SIGTERM, SIGSEGV, SIGABRT, SIGFPE, SIGPIPE}) ::signal(signal, SIG_DFL);
  unblock_termination();
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, static_cast<std::size_t>(std::ceil(time_limit)) + 1);
  if (address_limit > 0) limit(RLIMIT_AS, address_limit);
  const int nowhere = ::open("/dev/null", O_WRONLY);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  bool ok = false;
  try {
    ok = work(ChildOutput(output));
  } catch (...) {
    ok = false;
  }
  // Without the destructors and buffers that belong to the parent.
  ::_exit(ok ? 0 : 1);
}

// Everything up to the end of the pipe; false when the time is over first.
bool receive(int file, Clock::time_point deadline, std::string& bytes) {
  std::vector<char> buffer(1 << 16);
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    pollfd waiting{file, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t got = ::read(file, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

void unblock_termination() {
  sigset_t termination;
  sigemptyset(&termination);
  sigaddset(&termination, SIGTERM);
  ::sigprocmask(SIG_UNBLOCK, &termination, nullptr);
}

bool ChildOutput::send(const void* data, std::size_t size) const {
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(m_file, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

ChildResult run_in_child(const std::function<bool(const ChildOutput&)>& work, double time_limit,
                         std::size_t memory) {
  ChildResult result;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return result;
  const std::size_t address_limit = memory > 0 && can_limit_memory ? address_space_in_use() + memory : 0;
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time_limit));
  const pid_t id = ::fork();
  if (id == 0) live(work, ends[1], time_limit, address_limit);
  ::close(ends[1]);
  if (id > 0) {
    result.late = !receive(ends[0], deadline, result.bytes);
    if (result.late) ::kill(id, SIGKILL);
    int status = 0;
    while (::waitpid(id, &status, 0) < 0 && errno == EINTR) {
    }
    result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    result.late = result.late || result.signal == SIGXCPU;
    result.ok = !result.late && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  ::close(ends[0]);
  return result;
}

}  // namespace exemplar
