// What contact between bodies costs: the search while nothing touches, active pairs, layers of cloth, many
// bodies.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/stopwatch.h"
#include "core/mesh/topology.h"
#include "core/mesh/volume/tet_box.h"
#include "fem/checks/contact_cases.h"
#include "fem/scene_bodies.h"
#include "fem/solid_model.h"

namespace exemplar::fem {

namespace {

constexpr double k_bench_young = 2e5;

SolidBody bench_block(const Vec3& size, const Eigen::Vector3i& nodes, const Vec3& offset) {
  SolidBody body;
  body.mesh = tet_box(size, nodes);
  body.energy = make_energy(ElasticModel::modified_stvk, k_bench_young, 0.3);
  body.positions = body.mesh.vertices.rowwise() + offset.transpose();
  return body;
}

ContactSurface surface_of(const SolidBody& body, bool self) {
  ContactSurface surface;
  surface.map = PointMap::identity(to_int(body.mesh.vertices.rows()));
  surface.triangles = boundary_triangles(body.mesh);
  surface.rest = body.mesh.vertices;
  const double size =
      (body.mesh.vertices.colwise().maxCoeff() - body.mesh.vertices.colwise().minCoeff()).norm();
  const ContactOptions law = default_contact_options(size, k_bench_young);
  surface.bodies = {{law.reach, law.stiffness, 0.5, self, half_width(surface)}};
  return surface;
}

struct Cost {
  double step = 0, contact = 0;  // s per step
  double iterations = 0;         // per step
  double pairs = 0;              // within reach, at the end
};

// Pairs within reach at the model's present state.
double active_pairs(SolidModel& model, const ContactSurface& surface, const ContactOptions& options) {
  const std::vector<ObstacleBody> none;
  ContactPotential contact(surface, none, options);
  const Points& x = model.solver().state().positions;
  const VecX q;
  contact.find_pairs(x, q, x, q);
  return static_cast<double>(contact.blocks(x, q, Derivatives::gradient).size());
}

Cost time_contact_steps(SolidModel& model, const StepInput& input, int steps) {
  const double before = model.solver().contact_seconds();
  int iterations = 0;
  const Stopwatch stopwatch;
  for (int k = 0; k < steps; ++k) iterations += model.step(input).newton.iterations;
  return {stopwatch.seconds() / steps, (model.solver().contact_seconds() - before) / steps,
          static_cast<double>(iterations) / steps};
}

struct SearchCost {
  double ratio = 0;  // step with contact / without
  double iterations_plain = 0, iterations = 0;
  double share = 0;  // contact's part of the step
  int touching = 0;  // most pairs within reach after any turn: to be 0
};

// A clamped box that swings under a tenth of gravity (under all of it, it folds and touches itself), with
// contact and without it, in turns: `self` searches for contact of the box with itself, else contact has
// nothing to look for.
SearchCost search_cost(const Eigen::Vector3i& nodes, int steps, bool self) {
  const Vec3 size(2, 0.5, 0.5);
  std::vector<double> ratios;
  SearchCost result;
  SolidModel plain({bench_block(size, nodes, Vec3::Zero())}, {}),
      searching({bench_block(size, nodes, Vec3::Zero())}, {});
  const ContactSurface surface = surface_of(searching.body(0), self);
  const ContactOptions options = default_contact_options(2, k_bench_young);
  searching.solver().add_contact(surface, {}, options, Vec3::Zero());
  StepInput input;
  input.dt = 0.01;
  input.forces = plain.solver().masses() * Vec3(0, -0.981, 0).transpose();
  const Points& x = plain.body(0).mesh.vertices;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    if (x(i, 0) < x.col(0).minCoeff() + 1e-9)
      input.held.push_back({to_int(i), {true, true, true}, Vec3(x.row(i).transpose())});
  }
  for (SolidModel* model : {&plain, &searching}) time_contact_steps(*model, input, 5);
  for (int k = 0; k < 5; ++k) {
    const Cost without = time_contact_steps(plain, input, steps);
    const Cost with = time_contact_steps(searching, input, steps);
    ratios.push_back(with.step / without.step);
    result.iterations_plain += without.iterations / 5;
    result.iterations += with.iterations / 5;
    result.share += with.contact / with.step / 5;
    result.touching = std::max(result.touching, static_cast<int>(active_pairs(searching, surface, options)));
  }
  std::sort(ratios.begin(), ratios.end());
  result.ratio = ratios[2];
  return result;
}

// A column of blocks of 4³ cells under gravity, the lowest held below.
Cost time_column(int count, int steps) {
  std::vector<SolidBody> bodies;
  ContactSurface surface;
  const double reach = 1e-3 * 0.2 * std::sqrt(3.0);
  for (int b = 0; b < count; ++b) {
    bodies.push_back(bench_block({0.2, 0.2, 0.2}, {5, 5, 5},
                                 Vec3(0.01 * (b % 3), (0.2 + 0.8 * reach) * b, 0.007 * (b % 2))));
    append(surface, surface_of(bodies.back(), true), to_int(b * bodies.back().mesh.vertices.rows()));
  }
  surface.between = true;
  SolidModel model(bodies, {});
  model.solver().add_contact(surface, {}, {reach, 0.1 * k_bench_young, 1e-3}, Vec3::Zero());
  StepInput input;
  input.dt = 1.0 / 120;
  input.forces = model.solver().masses() * Vec3(0, -9.81, 0).transpose();
  const Points& x = model.body(0).mesh.vertices;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    if (x(i, 1) < -0.099) input.held.push_back({to_int(i), {true, true, true}, Vec3(x.row(i).transpose())});
  }
  time_contact_steps(model, input, 3);
  Cost cost = time_contact_steps(model, input, steps);
  cost.pairs = active_pairs(model, surface, {reach, 0.1 * k_bench_young, 1e-3});
  return cost;
}

}  // namespace

std::vector<BenchRecord> bench_contact_search(const ValidationContext&) {
  std::vector<BenchRecord> records;
  for (const bool self : {false, true}) {
    const SearchCost cost = search_cost({17, 9, 9}, 20, self);
    records.push_back(goal_at_most(
        self ? "step with search for contact with itself / without contact, nothing touches"
             : "step with contact that has nothing to search / without contact",
        cost.ratio, "", self ? 1.15 : 1.02, "the same box without contact",
        fmt::format(
            "4131 DOFs, medians of 5 in turns; {:.1f} and {:.1f} iterations a step, contact {:.1f} % of "
            "it, {} pairs within reach",
            cost.iterations, cost.iterations_plain, 100 * cost.share, cost.touching)));
  }
  return records;
}

std::vector<BenchRecord> bench_contact_cloth(const ValidationContext& context) {
  const std::string layers = R"(bodies[0].repeat={"count": [1, 20, 1], "spacing": [0, 0.012, 0]})";
  const SceneTiming cloth = context.time_scene("cloth-on-cloth", "shell",
                                               {layers, "bodies[1].position=[0,0.8,0]", "loads=[]"}, 0.15);
  double contact = 0, sum = 0;
  for (const auto& [name, seconds] : cloth.phases) {
    sum += seconds;
    if (name == "contact") contact += seconds;
  }
  const double vertices = 20 * 23 * 23 + 18 * 18, steps = cloth.simulated * 120;
  return {
      goal_at_most("20 layers of cloth on a ball: contact's share of the time", contact / sum, "", 0.5,
                   "the whole step", cloth.note),
      reported("20 layers of cloth on a ball: time per vertex and step",
               1e6 * cloth.wall / (vertices * steps), "µs",
               "offset geometric contact: 0.85 µs, 50 layers, 246 k vertices, an unnamed CPU", cloth.note)};
}

std::vector<BenchRecord> bench_contact_growth(const ValidationContext&) {
  std::vector<BenchRecord> records;
  for (const int count : {2, 5, 10, 20, 50}) {
    const Cost cost = time_column(count, 10);
    const std::string settings = fmt::format("{:.1f} Newton iterations a step, contact {:.0f} % of it",
                                             cost.iterations, 100 * cost.contact / cost.step);
    records.push_back(reported(fmt::format("column of {} blocks: step per block and iteration", count),
                               1e3 * cost.step / (count * cost.iterations), "ms",
                               "linear growth: the same for all", settings));
    records.push_back(reported(
        fmt::format("column of {} blocks: contact per active pair and iteration", count),
        1e6 * cost.contact / (cost.pairs * cost.iterations), "µs",
        "search, step limit, values and derivatives", fmt::format("{:.0f} pairs within reach", cost.pairs)));
  }
  return records;
}

}  // namespace exemplar::fem
