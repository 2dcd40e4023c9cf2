#include "shells/checks/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/base/index.h"
#include "core/base/parallel.h"
#include "core/sparse/cholesky.h"
#include "shells/checks/statics.h"
#include "shells/checks/test_meshes.h"

namespace exemplar::shells {

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

enum class Stuff { cloth, plate };

// A square that hangs at two corners (cloth) or is clamped at one side (plate) under its weight.
struct Swinging {
  Swinging(Stuff stuff, int cells, int examples, LinearMethod linear) {
    SheetInput input;
    input.mesh = rectangle(MeshKind::alternating, 1, 1, cells, cells);
    input.material = stuff == Stuff::cloth ? PlateMaterial{2e5, 0.3, 1e-3} : PlateMaterial{2e11, 0.3, 2e-3};
    input.density = stuff == Stuff::cloth ? 300 : 7850;
    if (examples > 0) {
      SheetExamples set;
      set.poses = {input.mesh.vertices};
      for (Eigen::Index i = 0; i < set.poses[0].rows(); ++i)
        set.poses[0](i, 1) += 0.02 * std::sin(20 * set.poses[0](i, 0));
      input.examples = {set};
    }
    std::vector<int> held{0, cells};
    if (stuff == Stuff::plate) {
      held = vertices_where(input.mesh.vertices, [](const Vec3& x) { return x.x() < 1e-9; });
      input.clamped_edges = border_among(input.mesh, held);
    }
    step.held = hold(input.mesh.vertices, held);
    step.dt = 1.0 / 60;
    ImplicitOptions options;
    options.linear = linear;
    model = std::make_unique<SheetModel>(std::vector<SheetInput>{std::move(input)}, options);
    step.forces = model->solver().masses() * Eigen::RowVector3d(0, -9.81, 0);
  }

  std::unique_ptr<SheetModel> model;
  StepInput step;
};

struct Timing {
  double step = 0, iteration = 0;  // s
  double median = 0, mean = 0;     // Newton iterations a step
  int factorisations = 0, failed = 0;
  double gradients = 0;  // CG iterations per Newton iteration
};

Timing time_steps(Swinging& run, int warm, int steps) {
  for (int k = 0; k < warm; ++k) run.model->step(run.step);
  const LinearCounts before = run.model->solver().linear_solver()->counts();
  Timing timing;
  std::vector<int> counts;
  const auto start = std::chrono::steady_clock::now();
  for (int k = 0; k < steps; ++k) {
    const StepOutcome outcome = run.model->step(run.step);
    counts.push_back(outcome.newton.iterations);
    timing.failed += outcome.status != StepStatus::ok;
  }
  const double total = seconds_since(start);
  int sum = 0;
  for (const int count : counts) sum += count;
  std::sort(counts.begin(), counts.end());
  const LinearCounts after = run.model->solver().linear_solver()->counts();
  timing.step = total / steps;
  timing.iteration = total / std::max(sum, 1);
  timing.median = counts[counts.size() / 2];
  timing.mean = static_cast<double>(sum) / steps;
  timing.factorisations = after.factorisations - before.factorisations;
  timing.gradients = static_cast<double>(after.cg_iterations - before.cg_iterations) / std::max(sum, 1);
  return timing;
}

std::string describe(const Swinging& run, const Timing& t, int threads) {
  return fmt::format(
      "{} unknowns, {:.1f} Newton iterations a step (median {:.0f}), {} factorisations, {:.0f} CG "
      "iterations each, {} failed, {} threads",
      run.model->solver().unknowns(), t.mean, t.median, t.factorisations, t.gradients, t.failed, threads);
}

const char* name_of(Stuff stuff) {
  return stuff == Stuff::cloth ? "cloth" : "plate";
}

}  // namespace

std::vector<BenchRecord> bench_step_time(const ValidationContext& context) {
  std::vector<BenchRecord> records;
  for (const Stuff stuff : {Stuff::cloth, Stuff::plate}) {
    double per_node = 0;
    for (const int cells : {49, 99, 199}) {
      if (cells == 199 && !context.slow) continue;
      const double nodes = std::pow(cells + 1, 2);
      double by_threads[2] = {0, 0};
      for (const int threads : {1, 2}) {
        set_thread_count(threads);
        Swinging run(stuff, cells, 0, LinearMethod::automatic);
        const Timing t = cells == 199 ? time_steps(run, 1, 2) : time_steps(run, 2, cells == 49 ? 10 : 4);
        by_threads[threads - 1] = t.step;
        if (threads == 1) continue;
        const std::string settings = describe(run, t, threads);
        records.push_back(
            reported(fmt::format("{}, {:.1f} k nodes: time per step", name_of(stuff), nodes / 1000), t.step,
                     "s", "h 1/60 s", settings));
        if (cells == 49)
          records.push_back(goal_at_most(fmt::format("{}: Newton iterations a step, median", name_of(stuff)),
                                         t.median, "", stuff == Stuff::cloth ? 6 : 12, "goal of the design",
                                         settings));
        if (per_node > 0)
          records.push_back(reported(fmt::format("{}: cost per node, against 2.5 k nodes", name_of(stuff)),
                                     t.step / nodes / per_node, "×", "growth", settings));
        if (cells == 49) per_node = t.step / nodes;
      }
      records.push_back(
          reported(fmt::format("{}, {:.1f} k nodes: two threads against one", name_of(stuff), nodes / 1000),
                   by_threads[0] / by_threads[1], "×", "1 thread / 2 threads", "h 1/60 s"));
    }
  }
  set_thread_count(0);
  return records;
}

std::vector<BenchRecord> bench_example_cost(const ValidationContext&) {
  std::vector<double> ratios;
  set_thread_count(1);
  std::string settings;
  for (int k = 0; k < 3; ++k) {
    Swinging none(Stuff::cloth, 49, 0, LinearMethod::direct), one(Stuff::cloth, 49, 1, LinearMethod::direct);
    const Timing without = time_steps(none, 2, 6), with = time_steps(one, 2, 6);
    ratios.push_back(with.iteration / without.iteration);
    settings = describe(one, with, 1);
  }
  set_thread_count(0);
  std::sort(ratios.begin(), ratios.end());
  return {goal_at_most("one example against none: time per Newton iteration, 2.5 k nodes", ratios[1], "×",
                       1.10, "schumacher2012 Table 1, sleeve: 1.02", settings)};
}

std::vector<BenchRecord> bench_solver_overhead(const ValidationContext&) {
  set_thread_count(1);
  Swinging run(Stuff::cloth, 99, 0, LinearMethod::direct);
  const Timing t = time_steps(run, 2, 4);
  StepInput step = run.step;
  run.model->complete(step);
  VecX z;
  const auto problem = run.model->solver().make_problem(step, z);
  BorderedHessian h;
  h.reset(problem->pattern(), 0);
  problem->hessian(z, true, h);
  VecX g;
  problem->gradient(z, g);
  Cholesky factor(problem->pattern());
  factor.factorise(h.a);
  double best = 1e9;
  for (int k = 0; k < 3; ++k) {
    const auto start = std::chrono::steady_clock::now();
    factor.factorise(h.a);
    const MatX x = factor.solve(g);
    best = std::min(best, seconds_since(start));
  }
  set_thread_count(0);
  return {goal_at_most("a Newton iteration against factorise + solve, 10 k nodes, edge angles included",
                       t.iteration / best, "×", 1.5, fmt::format("CHOLMOD {:.0f} ms", 1000 * best),
                       describe(run, t, 1))};
}

std::vector<BenchRecord> bench_linear_solver(const ValidationContext&) {
  std::vector<BenchRecord> records;
  set_thread_count(1);
  for (const Stuff stuff : {Stuff::cloth, Stuff::plate}) {
    double seconds[3];
    std::string settings[3];
    int k = 0;
    for (const LinearMethod linear :
         {LinearMethod::direct, LinearMethod::iterative, LinearMethod::automatic}) {
      Swinging run(stuff, 49, 0, linear);
      const Timing t = time_steps(run, 1, 4);
      settings[k] = describe(run, t, 1);
      seconds[k++] = t.step;
    }
    records.push_back(reported(fmt::format("{}: conjugate gradients against factorisation", name_of(stuff)),
                               seconds[1] / seconds[0], "×", "2.5 k nodes, time per step", settings[1]));
    records.push_back(goal_at_most(fmt::format("{}: auto against the quicker of the two", name_of(stuff)),
                                   seconds[2] / std::min(seconds[0], seconds[1]), "×", 1.25, "2.5 k nodes",
                                   settings[2]));
  }
  set_thread_count(0);
  return records;
}

std::vector<BenchRecord> bench_table_1(const ValidationContext& context) {
  const struct {
    const char *scene, *what;
    int paper_dofs;
    double paper_seconds;
    std::vector<std::string> assignments;
  } rows[] = {{"drape", "drape 1 (the paper: 2 examples, 10619 DOFs)", 10619, 271.85, {}},
              {"swinging-drape", "drape 2 (the paper: 1 example, 10618 DOFs)", 10618, 388.39, {}},
              {"sleeve", "sleeve, 1 example (4996 DOFs)", 4996, 906.60, {"bodies[0].controllers=[]"}},
              {"sleeve",
               "sleeve, 0 examples (4995 DOFs)",
               4995,
               887.22,
               {"bodies[0].examples=[]", "bodies[0].controllers=[]"}},
              {"plates", "plate (1 example, 3946 DOFs)", 3946, 38.60, {}},
              {"stretching-sheet", "stretching sheet (2 examples, 8015 DOFs)", 8015, 49.71, {}}};
  std::vector<BenchRecord> records;
  for (const auto& row : rows) {
    const SceneTiming timing = context.time_scene(row.scene, "shell", row.assignments, 0.5);
    records.push_back(
        reported(std::string(row.what) + ": wall time per simulated second", timing.wall / timing.simulated,
                 "s/s", fmt::format("the paper's whole animation: {} s", row.paper_seconds), timing.note));
  }
  return records;
}

}  // namespace exemplar::shells
