// A measured number with its name and unit, and how both stand at the head of a column: "kinetic_energy [J]".
#pragma once

#include <string>
#include <vector>

namespace exemplar {

struct MetricName {
  std::string name;
  std::string unit;  // SI; empty: a plain number

  std::string title() const { return unit.empty() ? name : name + " [" + unit + "]"; }
};

// The name and unit of a column's title.
inline MetricName parse_metric_title(const std::string& title) {
  const std::size_t bracket = title.rfind(" [");
  if (bracket == std::string::npos || !title.ends_with(']')) return {title, ""};
  return {title.substr(0, bracket), title.substr(bracket + 2, title.size() - bracket - 3)};
}

struct Metric {
  std::string name;
  std::string unit;
  double value = 0;  // NaN: not known

  std::string title() const { return MetricName{name, unit}.title(); }
};
using Metrics = std::vector<Metric>;

}  // namespace exemplar
