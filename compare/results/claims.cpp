#include "compare/results/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/results/run_values.h"
#include "core/base/errors.h"

namespace exemplar {

namespace {

bool compares(double left, const std::string& op, double right, double within) {
  if (op == "<") return left < right;
  if (op == "<=") return left <= right;
  if (op == ">") return left > right;
  if (op == ">=") return left >= right;
  if (op == "==") return left == right;
  return std::abs(left - right) <= within * std::abs(right);
}

class LessonChecker {
 public:
  explicit LessonChecker(const Comparison& comparison) : m_comparison(comparison), m_values(comparison) {}

  CheckedLesson check() {
    m_lesson.text = filled(m_comparison.study.lesson, "lesson");
    for (const Claim& claim : m_comparison.study.claims) m_lesson.claims.push_back(check(claim));
    return std::move(m_lesson);
  }

 private:
  // A dash stands for what there is no number for.
  std::string filled(const BoundText& text, const std::string& place) {
    std::string whole;
    for (const Placeholder& placeholder : text.placeholders) {
      const Quantity quantity = evaluate(placeholder.expression, place);
      whole += placeholder.before;
      try {
        whole +=
            quantity.missing.empty() ? number_text(quantity.value, quantity.unit, placeholder.format) : "–";
      } catch (const InputError& error) {
        add_problems(error, place);
        whole += "–";
      }
    }
    return whole + text.rest;
  }

  CheckedClaim check(const Claim& claim) {
    CheckedClaim checked;
    checked.text = filled(claim.text, claim.place + ".claim");
    const Quantity left = evaluate(claim.left, claim.place + ".left"),
                   right = evaluate(claim.right, claim.place + ".right");
    if (!left.missing.empty() || !right.missing.empty()) {
      checked.numbers = left.missing.empty() ? right.missing : left.missing;
      return checked;
    }
    checked.verdict =
        compares(left.value, claim.op, right.value, claim.within) ? Verdict::holds : Verdict::fails;
    checked.numbers =
        fmt::format("{} = {} {} {}{}", claim.left.text, number_text(left.value, left.unit, ""), claim.op,
                    number_text(right.value, right.unit.empty() ? left.unit : right.unit, ""),
                    claim.op == "about" ? fmt::format(" ± {:g} %", 100 * claim.within) : "");
    return checked;
  }

  Quantity evaluate(const Expression& expression, const std::string& place) {
    try {
      return m_values.evaluate(expression);
    } catch (const InputError& error) {
      add_problems(error, place);
      return {k_unknown, "", error.what()};
    }
  }

  void add_problems(const InputError& error, const std::string& place) {
    for (const Problem& problem : error.problems())
      m_lesson.problems.push_back({m_comparison.study.path, place, problem.message});
  }

  const Comparison& m_comparison;
  RunValues m_values;
  CheckedLesson m_lesson;
};

}  // namespace

std::string_view to_string(Verdict verdict) {
  return verdict == Verdict::holds ? "holds" : verdict == Verdict::fails ? "fails" : "unchecked";
}

int CheckedLesson::count(Verdict verdict) const {
  return static_cast<int>(std::count_if(claims.begin(), claims.end(),
                                        [&](const CheckedClaim& claim) { return claim.verdict == verdict; }));
}

CheckedLesson check_lesson(const Comparison& comparison) {
  return LessonChecker(comparison).check();
}

std::string claims_line(const CheckedLesson& lesson) {
  if (lesson.claims.empty()) return {};
  const int unchecked = lesson.count(Verdict::unchecked);
  return fmt::format("claims: {} of {} hold{}", lesson.count(Verdict::holds), lesson.claims.size(),
                     unchecked ? fmt::format(", {} could not be checked", unchecked) : "");
}

}  // namespace exemplar
