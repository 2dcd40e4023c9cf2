// Runs code that may crash, hang or eat all memory (TetGen, VTK's readers on damaged files) in a child
// process and returns the bytes it sends. The child is a fork of this process in which only the calling
// thread goes on: `work` must not wait for other threads.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace exemplar {

struct ChildResult {
  bool ok = false;
  bool late = false;  // stopped at the time limit
  int signal = 0;     // that ended the child, 0 when it ended by itself
  std::string bytes;  // all that was sent when ok
};

// Appends to what the parent receives; false when the parent is gone.
class ChildOutput {
 public:
  explicit ChildOutput(int file) : m_file(file) {}
  bool send(const void* data, std::size_t size) const;

 private:
  int m_file;
};

// In a child: the program blocks SIGTERM (compare/cli/interrupt.cpp), what it starts is to be ended by it.
void unblock_termination();

// `work` returns whether it succeeded; exceptions count as failure. `time_limit` in seconds; `memory` in
// bytes beyond what the process holds already, 0 for no limit.
ChildResult run_in_child(const std::function<bool(const ChildOutput&)>& work, double time_limit,
                         std::size_t memory = 0);

}  // namespace exemplar
