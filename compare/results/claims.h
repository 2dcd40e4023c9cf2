// A study's lesson and claims with what the results say: numbers filled in, every claim checked.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compare/results/collect.h"

namespace exemplar {

enum class Verdict {
  holds,
  fails,
  unchecked
};  // unchecked: one of its runs is not there or is not at its end
std::string_view to_string(Verdict verdict);

struct CheckedClaim {
  std::string text;  // with its numbers
  Verdict verdict = Verdict::unchecked;
  std::string numbers;  // "0.31 > 0.5"; why it is unchecked
};

struct CheckedLesson {
  std::string text;
  std::vector<CheckedClaim> claims;
  std::vector<Problem> problems;  // names that no run knows

  int count(Verdict verdict) const;
};

CheckedLesson check_lesson(const Comparison& comparison);

Json claims_json(const CheckedLesson& lesson);

// "claims: 9 of 9 hold"; nothing without claims.
std::string claims_line(const CheckedLesson& lesson);

}  // namespace exemplar
