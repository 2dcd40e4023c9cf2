// What a run costs and how far it is from the limit, for every integrator of the implicit methods: with fixed steps and
// with steps that follow an accuracy, beside a run 64 times finer than the coarsest.
#pragma once

#include <string>
#include <vector>

#include "core/run/registry.h"

namespace exemplar {

struct WorkPoint {
  double work = 0;   // Newton iterations
  double error = 0;  // m or J
};

// The work of a family of runs at an error, between its points and beyond them along the last two; both in logarithms.
double work_at_error(std::vector<WorkPoint> points, double error);

// `exemplar bench integrators`. `scenes`: the folder of those that ship.
std::vector<BenchRecord> bench_work_precision(const Registry& registry, const std::string& scenes,
                                              const ValidationContext& context);

}  // namespace exemplar
