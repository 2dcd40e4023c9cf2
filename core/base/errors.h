// Bad input: an exception that carries every problem found, each with its place. Caught once, in main (exit
// code 2). Numerical outcomes are statuses (core/method.h), programming errors are assertions.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace exemplar {

struct Problem {
  std::string file;     // may be empty
  std::string path;     // JSON path such as bodies[0].material.young; may be empty
  std::string message;  // what is wrong and what would be right
};

// "file: path: message", leaving out what is empty.
std::string to_string(const Problem& problem);

class InputError : public std::runtime_error {
 public:
  explicit InputError(std::string message) : InputError(Problem{{}, {}, std::move(message)}) {}
  explicit InputError(Problem problem) : InputError(std::vector<Problem>{std::move(problem)}) {}
  explicit InputError(std::vector<Problem> problems);
  const std::vector<Problem>& problems() const { return m_problems; }

 private:
  std::vector<Problem> m_problems;
};

}  // namespace exemplar
