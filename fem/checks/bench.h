// Benches of `fem`, registered in register.cpp.
#pragma once

#include <vector>

#include "core/run/validation.h"

namespace exemplar::fem {

// fem-compatible against fem on the twisting cuboid (paper: 14.8, 28.1, 31.1 times slower).
std::vector<BenchRecord> bench_predecessor(const ValidationContext& context);
// One example against none.
std::vector<BenchRecord> bench_example_cost(const ValidationContext& context);
// A Newton iteration against the linear algebra in it.
std::vector<BenchRecord> bench_solver_overhead(const ValidationContext& context);
// A converged step of a clamped box beside VegaFEM.
std::vector<BenchRecord> bench_step_time(const ValidationContext& context);
// From 1 k to 100 k (with slow: 300 k) degrees of freedom.
std::vector<BenchRecord> bench_growth(const ValidationContext& context);
// The solids of the paper's Table 1, at about its numbers of degrees of freedom.
std::vector<BenchRecord> bench_table_1(const ValidationContext& context);

}  // namespace exemplar::fem
