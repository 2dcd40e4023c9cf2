// Expressions of a study (compare/study/expression.h) evaluated on its results.
#pragma once

#include <string>

#include "compare/results/collect.h"

namespace exemplar {

// A number, or why there is none.
struct Quantity {
  double value = k_unknown;
  std::string unit;  // SI; empty: a plain number
  std::string
      missing;  // not empty: the run is not part of the comparison, not at its end, or does not measure it
};

class RunValues {
 public:
  explicit RunValues(const Comparison& comparison) : m_comparison(comparison) {}

  // Throws InputError for a name that a finished run does not know.
  Quantity evaluate(const Expression& expression) const;

 private:
  struct Series {
    std::vector<double> times, values;
    std::string unit;
  };
  Quantity value(const RunValue& reference) const;
  Series series(const ComparedRun& run, const RunValue& reference) const;
  Series surface_series(const ComparedRun& run, const RunValue& reference) const;

  const Comparison& m_comparison;
};

}  // namespace exemplar
