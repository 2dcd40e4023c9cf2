// Benches of `shell`, registered in register.cpp.
#pragma once

#include <vector>

#include "core/run/validation.h"

namespace exemplar::shells {

// Time per step at 2.5 k, 10 k (with slow: 40 k) nodes, cloth and plate, Newton iterations, one and two
// threads.
std::vector<BenchRecord> bench_step_time(const ValidationContext& context);
// One example against none.
std::vector<BenchRecord> bench_example_cost(const ValidationContext& context);
// A Newton iteration against factorise and solve on the same matrix.
std::vector<BenchRecord> bench_solver_overhead(const ValidationContext& context);
// Which linear solver is quicker for cloth and for plates, and which one `auto` takes.
std::vector<BenchRecord> bench_linear_solver(const ValidationContext& context);
// The shells of the paper's Table 1, at about its numbers of degrees of freedom.
std::vector<BenchRecord> bench_table_1(const ValidationContext& context);

}  // namespace exemplar::shells
