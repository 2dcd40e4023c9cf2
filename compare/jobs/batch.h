// Runs programs side by side: each in a process of its own with its output in a log file. Ctrl-C is passed on
// once, so that every run stops at a good moment; a process dies with its parent.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace exemplar {

struct Job {
  std::vector<std::string> command;  // program and arguments
  std::string log;                   // standard output and error
};

struct JobResult {
  int exit_code = -1;  // −1: never started (interrupted); 128 + n: ended by signal n
  double seconds = 0;  // wall time
};

struct BatchOptions {
  int jobs = 1;
  std::function<bool()> interrupted = [] { return false; };
  std::function<void(std::size_t job)> started = [](std::size_t) {};
  std::function<void(std::size_t job, const JobResult&)> finished = [](std::size_t, const JobResult&) {};
  std::function<void()> waiting = [] {};  // a few times a second
};

// All of them, at most `jobs` at a time, in order. Throws OutputError when a log cannot be written.
std::vector<JobResult> run_jobs(const std::vector<Job>& jobs, const BatchOptions& options);

// The path of this program.
std::string own_program();

}  // namespace exemplar
