#include "core/base/errors.h"

#include "core/base/plain_text.h"

namespace exemplar {

namespace {

// Nobody reads more, and what is wrong once in a list of a hundred thousand is often wrong in all of it.
constexpr std::size_t k_most_problems = 1000;

std::vector<Problem>& shorten(std::vector<Problem>& problems) {
  if (problems.size() <= k_most_problems) return problems;
  const std::size_t more = problems.size() - k_most_problems;
  problems.resize(k_most_problems);
  problems.push_back({problems[0].file, "", "and " + std::to_string(more) + " more problems"});
  return problems;
}

std::string join(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    if (!text.empty()) text += '\n';
    text += to_string(problem);
  }
  return text;
}

}  // namespace

std::string to_string(const Problem& problem) {
  std::string text;
  for (const std::string* part : {&problem.file, &problem.path}) {
    if (!part->empty()) text += printable(*part) + ": ";
  }
  return text + printable(problem.message, "\n");
}

InputError::InputError(std::vector<Problem> problems)
    : std::runtime_error(join(shorten(problems))), m_problems(std::move(problems)) {}

}  // namespace exemplar
