// What a study says about its results in numbers: values of runs, and sums and products of them.
//
//   expression  fem.wall_time / rigid-lbs.wall_time          + - * / with spaces around them, * and / bind closer
//   value       RUN.NAME  RUN.NAME(BODY)  RUN.NAME@WHEN      RUN: a run's name or directory
//   WHEN        end (if nothing is said), start, max, min, t=SECONDS
//   words       done, failed, interrupted: what RUN.status can be
//
// NAME is a column of the run's metrics.csv or one of value_names(): distances to the reference, cost, and what is
// measured on a body's surface.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace exemplar {

enum class Moment { end, start, most, least, at };

// A number of a run.
struct RunValue {
  std::string run;   // name of a run of the study
  std::string name;  // of the value
  std::string body;  // where the value is measured on one; empty: on all bodies
  Moment moment = Moment::end;
  double time = 0;  // s, of Moment::at
};

struct Operand {
  std::optional<RunValue> value;  // none: the number
  double number = 0;
};

// Σ ± Π: a sum of products.
struct Factor {
  Operand operand;
  bool divides = false;
};
struct Term {
  std::vector<Factor> factors;
  bool is_subtracted = false;
};
struct Expression {
  std::string text;
  std::vector<Term> terms;

  std::vector<RunValue> values() const;
};

// A run as expressions call it.
struct RunName {
  std::string name, directory;
};

// Text with expressions in braces: "It loses {fem.plastic_dissipation:.2 kJ}."
struct Placeholder {
  std::string before;  // plain text up to the expression
  Expression expression;
  std::string format;  // as number_text() reads it
};
struct BoundText {
  std::vector<Placeholder> placeholders;
  std::string rest;  // plain text after the last of them

  int words() const;  // a placeholder counts as one
};

// Throw InputError that says what is wrong and suggests another name.
Expression parse_expression(const std::string& text, const std::vector<RunName>& runs);
BoundText parse_bound_text(const std::string& text, const std::vector<RunName>& runs);

// The values that every run has beside its own columns, and the columns that every method has.
std::vector<std::string> value_names();

// What RUN.status is as a number; nothing for another word.
std::optional<double> status_number(const std::string& word);

// `format`: [.DIGITS][UNIT], as in ".2", "mm", ".3 kJ", "%"; empty: three digits in a unit that reads well. The unit must
// measure what `unit` (SI) measures: throws InputError. A last "#" leaves the unit out.
std::string number_text(double value, const std::string& unit, const std::string& format);

}  // namespace exemplar
