// Whether a run's energies add up: what is said of its table of metrics when it ends. Only of methods that keep a balance
// (Diagnostics::numerical_dissipation).
#pragma once

#include <string>

#include "core/base/note.h"
#include "core/output/metrics_file.h"

namespace exemplar {

// The most energy that the time step could have taken: what was in motion, or energy_input, J.
double energy_supply(const MetricsTable& table);

// What was put in: what moved and what was held at the start, with what loads and obstacles put in and the way down gave, J.
double energy_input(const MetricsTable& table);

// The most that came from nowhere: the largest rise of the balance over any part of the run, whatever it lost before or
// after, J.
double energy_gain(const MetricsTable& table);

// Whether that is more than a run may gain: 2 % of what was put in, and enough to be seen.
bool gains_energy(const MetricsTable& table);

// Warnings of energy that only the time step has taken or brought; `advice`: what makes its steps smaller (step_advice.h).
Notes energy_notes(const MetricsTable& table, const std::string& advice);

}  // namespace exemplar
