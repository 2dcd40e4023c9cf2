#include "compare/jobs/batch.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>

#include "core/base/child_process.h"
#include "core/output/atomic_file.h"

namespace exemplar {

namespace {

using Clock = std::chrono::steady_clock;

struct Running {
  pid_t process;
  std::size_t job;
  Clock::time_point start;
};

// In the child, between fork and exec: only calls that are safe there.
[[noreturn]] void become(char* const* arguments, int log) {
  setpgid(0, 0);  // Ctrl-C on the terminal reaches the parent alone, which passes it on once
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  unblock_termination();
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  execvp(arguments[0], arguments);
  const char message[] = "cannot start the program\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
  _exit(127);
}

pid_t start(const Job& job) {
  std::vector<char*> arguments;
  for (const std::string& word : job.command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int log = open(job.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (log < 0) throw OutputError(job.log, std::strerror(errno));
  const pid_t process = fork();
  if (process == 0) become(arguments.data(), log);
  close(log);
  if (process < 0) throw OutputError(job.log, std::string("no new process: ") + std::strerror(errno));
  return process;
}

int exit_code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Moves finished processes from `running` to `results`.
void reap(std::vector<Running>& running, std::vector<JobResult>& results, const BatchOptions& options) {
  for (std::size_t i = 0; i < running.size();) {
    int status = 0;
    if (waitpid(running[i].process, &status, WNOHANG) == 0) {
      ++i;
      continue;
    }
    const Running done = running[i];
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
    results[done.job] = {exit_code_of(status),
                         std::chrono::duration<double>(Clock::now() - done.start).count()};
    options.finished(done.job, results[done.job]);
  }
}

}  // namespace

std::vector<JobResult> run_jobs(const std::vector<Job>& jobs, const BatchOptions& options) {
  std::vector<JobResult> results(jobs.size());
  std::vector<Running> running;
  std::size_t next = 0;
  bool stopping = false;
  while (!running.empty() || (next < jobs.size() && !stopping)) {
    if (!stopping && options.interrupted()) {
      stopping = true;
      for (const Running& run : running) kill(run.process, SIGINT);
    }
    while (!stopping && next < jobs.size() && running.size() < static_cast<std::size_t>(options.jobs)) {
      options.started(next);
      running.push_back({start(jobs[next]), next, Clock::now()});
      ++next;
    }
    reap(running, results, options);
    options.waiting();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return results;
}

std::string own_program() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return "exemplar";
  std::string path = program.string();
  const std::string gone = " (deleted)";  // the program was built anew meanwhile
  if (path.ends_with(gone)) path.resize(path.size() - gone.size());
  return path;
}

}  // namespace exemplar
