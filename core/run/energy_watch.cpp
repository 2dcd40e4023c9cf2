#include "core/run/energy_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace exemplar {

namespace {

constexpr double k_much = 0.3, k_gain = 0.02;
constexpr double k_slow = 0.05;  // m/s: of what settles by less nobody misses the energy

double most_of(const MetricsTable& table, const char* name) {
  double result = 0;
  if (table.find(name) >= 0)
    for (const double value : table.column(name)) result = std::fmax(result, value);
  return result;
}

double first_of(const MetricsTable& table, const char* name) {
  return table.find(name) >= 0 && !table.rows.empty() ? std::fmax(table.column(name).front(), 0) : 0.0;
}

double slow_energy(const MetricsTable& table) {
  return 0.5 * first_of(table, "mass") * k_slow * k_slow;
}

bool has_balance(const MetricsTable& table) {
  return table.find("numerical_dissipation") >= 0 && table.find("kinetic_energy") >= 0 && !table.rows.empty();
}

}  // namespace

double energy_input(const MetricsTable& table) {
  double fall = 0;
  if (table.find("gravitational_energy") >= 0) {
    const std::vector<double> height = table.column("gravitational_energy");
    for (const double value : height) fall = std::fmax(fall, height.front() - value);
  }
  return first_of(table, "kinetic_energy") + first_of(table, "elastic_energy") +
         first_of(table, "contact_energy") + most_of(table, "external_work") + fall;
}

double energy_supply(const MetricsTable& table) {
  return std::fmax(most_of(table, "kinetic_energy"), energy_input(table));
}

double energy_gain(const MetricsTable& table) {
  if (!has_balance(table)) return 0;
  double most = -INFINITY, gain = 0;
  for (const double lost : table.column("numerical_dissipation")) {
    if (!std::isfinite(lost)) continue;
    most = std::max(most, lost);
    gain = std::max(gain, most - lost);
  }
  return gain;
}

bool gains_energy(const MetricsTable& table) {
  return energy_gain(table) > std::max(k_gain * energy_input(table), slow_energy(table));
}

Notes energy_notes(const MetricsTable& table, const std::string& advice) {
  Notes notes;
  if (!has_balance(table)) return notes;
  if (gains_energy(table)) {
    const double gain = energy_gain(table), input = energy_input(table);
    const std::string share =
        input > 0 ? fmt::format(", {:.3g} % of the {:.3g} J that were put in", 100 * gain / input, input)
                  : "";
    notes.push_back(
        {Severity::warning, fmt::format("{:.3g} J came from nowhere{}: use {}", gain, share, advice)});
  }
  const double most = energy_supply(table), lost = table.column("numerical_dissipation").back();
  if (most > 0 && most >= slow_energy(table) && lost > k_much * most)
    notes.push_back(
        {Severity::warning, fmt::format("the time step took {:.3g} J, {:.0f} % of the most that was put in "
                                        "or in motion ({:.3g} J): use {}, or material damping that "
                                        "takes the energy before the step does",
                                        lost, 100 * lost / most, most, advice)});
  return notes;
}

}  // namespace exemplar
