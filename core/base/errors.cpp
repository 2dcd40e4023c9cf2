#include "core/base/errors.h"

namespace exemplar {

namespace {
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
    if (!part->empty()) text += *part + ": ";
  }
  return text + problem.message;
}

InputError::InputError(std::vector<Problem> problems)
    : std::runtime_error(join(problems)), m_problems(std::move(problems)) {}

}  // namespace exemplar
