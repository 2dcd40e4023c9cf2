#include "fem/checks/cuboid_cases.h"

#include <cmath>
#include <numbers>

#include "core/math/rigid_fit.h"
#include "core/mesh/volume/tet_box.h"

namespace exemplar::fem {

namespace {

std::vector<int> end_nodes(const Points& rest, double sign) {
  const double end = (sign > 0 ? rest.col(2).maxCoeff() : rest.col(2).minCoeff());
  std::vector<int> nodes;
  for (Eigen::Index i = 0; i < rest.rows(); ++i) {
    if (std::abs(rest(i, 2) - end) < 1e-9) nodes.push_back(static_cast<int>(i));
  }
  return nodes;
}

SolidBody cuboid_body(const Eigen::Vector3i& nodes, const CuboidOptions& options) {
  SolidBody body;
  body.mesh = tet_box(options.size, nodes);
  body.density = options.density;
  body.energy = ModifiedStVK{options.mu, options.kappa};
  return body;
}

Points rows(const Points& x, const std::vector<int>& nodes) {
  Points result(static_cast<Eigen::Index>(nodes.size()), 3);
  for (std::size_t i = 0; i < nodes.size(); ++i) result.row(static_cast<Eigen::Index>(i)) = x.row(nodes[i]);
  return result;
}

// Area of each node of an end face of a regular grid, relative: corners ¼, edges ½.
VecX face_shares(const Points& rest, const std::vector<int>& nodes) {
  VecX shares(static_cast<Eigen::Index>(nodes.size()));
  const Vec3 low = rest.colwise().minCoeff(), high = rest.colwise().maxCoeff();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    double share = 1;
    for (int c = 0; c < 2; ++c) {
      const double v = rest(nodes[i], c);
      if (std::abs(v - low[c]) < 1e-9 || std::abs(v - high[c]) < 1e-9) share *= 0.5;
    }
    shares[static_cast<Eigen::Index>(i)] = share;
  }
  return shares / shares.sum();
}

// Widths of the cross-sections: RMS radius over that at rest.
void measure_widths(const Points& rest, const Points& x, CuboidResult& result) {
  result.smallest_width = 1e9;
  for (double z = rest.col(2).minCoeff(); z < rest.col(2).maxCoeff() + 1e-9;) {
    double sum = 0, sum_rest = 0, next = 1e9;
    Vec3 centre = Vec3::Zero();
    int count = 0;
    for (Eigen::Index i = 0; i < rest.rows(); ++i) {
      if (std::abs(rest(i, 2) - z) < 1e-9) {
        centre += x.row(i).transpose();
        ++count;
      } else if (rest(i, 2) > z) {
        next = std::min(next, rest(i, 2));
      }
    }
    centre /= count;
    for (Eigen::Index i = 0; i < rest.rows(); ++i) {
      if (std::abs(rest(i, 2) - z) >= 1e-9) continue;
      sum += (x.row(i).head<2>().transpose() - centre.head<2>()).squaredNorm();
      sum_rest += rest.row(i).head<2>().squaredNorm();
    }
    const double width = std::sqrt(sum / sum_rest);
    result.smallest_width = std::min(result.smallest_width, width);
    result.largest_width = std::max(result.largest_width, width);
    z = next;
  }
}

}  // namespace

Points twisted_pose(const Points& x, double length, double degrees, double axial_scale) {
  Points result = x;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const double angle = degrees * std::numbers::pi / 180 * (x(i, 2) / length + 0.5);
    result.row(i) =
        (Eigen::AngleAxisd(angle, Vec3::UnitZ()) * Vec3(x(i, 0), x(i, 1), axial_scale * x(i, 2))).transpose();
  }
  return result;
}

SolidModel make_twisting_cuboid(const Eigen::Vector3i& nodes, ExampleMethod method, LinearMethod linear,
                                const CuboidOptions& options, double compatible_penalty) {
  SolidBody body = cuboid_body(nodes, options);
  ExampleSet set;
  set.poses = {
      twisted_pose(body.mesh.vertices, options.size.z(), options.twist_degrees, options.axial_scale)};
  set.stiffness = options.example_stiffness;
  body.examples.push_back(std::move(set));
  ImplicitOptions implicit;
  implicit.linear = linear;
  return SolidModel({std::move(body)}, std::move(implicit), method, compatible_penalty);
}

Points compression_forces(const SolidModel& model, double total) {
  const Points& rest = model.body(0).mesh.vertices;
  Points forces = Points::Zero(model.solver().state().positions.rows(), 3);
  for (const double sign : {1.0, -1.0}) {
    const std::vector<int> nodes = end_nodes(rest, sign);
    const VecX shares = face_shares(rest, nodes);
    for (std::size_t i = 0; i < nodes.size(); ++i)
      forces(nodes[i], 2) = -sign * total * shares[static_cast<Eigen::Index>(i)];
  }
  return forces;
}

double twist_angle(const SolidModel& model) {
  const Points& rest = model.body(0).mesh.vertices;
  const Points x = model.body_positions(0);
  Mat3 rotation[2];
  for (const int end : {0, 1}) {
    const std::vector<int> nodes = end_nodes(rest, end == 1 ? 1.0 : -1.0);
    rotation[end] = fit_rigid(rows(rest, nodes), rows(x, nodes)).rotation;
  }
  const Mat3 relative = rotation[0].transpose() * rotation[1];
  return std::atan2(relative(1, 0) - relative(0, 1), relative(0, 0) + relative(1, 1)) * 180 /
         std::numbers::pi;
}

CuboidResult compress_cuboid(PlasticCase kind, double dt) {
  const CuboidOptions options;
  SolidBody body = cuboid_body({5, 5, 9}, options);
  PlasticBody plastic;
  plastic.parameters = {2000, 5, kind == PlasticCase::distance_dependent ? 3e4 : 0.0};
  if (kind != PlasticCase::conventional) {
    plastic.poses = {
        twisted_pose(body.mesh.vertices, options.size.z(), options.twist_degrees, options.axial_scale)};
  }
  body.plastic = std::move(plastic);
  SolidModel model({std::move(body)}, {});
  const Points full = compression_forces(model, 4000);
  CuboidResult result;
  StepInput input;
  input.dt = dt;
  const auto steps = std::lround(1 / dt);
  for (int step = 1; step <= steps; ++step) {
    input.forces = std::min(1.0, step * input.dt / 0.5) * full;
    const StepOutcome outcome = model.step(input);
    result.iterations += outcome.newton.iterations;
    ++result.steps;
    if (outcome.status != StepStatus::ok) return result;
  }
  model.plasticity_frozen = true;
  model.solver().options().inertia = false;
  input.forces.resize(0, 3);
  result.ok = model.step(input).status == StepStatus::ok;
  const Points& rest = model.body(0).mesh.vertices;
  result.positions = transform(fit_rigid(model.body_positions(0), rest), model.body_positions(0));
  const auto height = [&](const Points& x) {
    return rows(x, end_nodes(rest, 1)).col(2).mean() - rows(x, end_nodes(rest, -1)).col(2).mean();
  };
  result.twist_degrees = twist_angle(model);
  result.height_change = height(result.positions) / height(rest) - 1;
  measure_widths(rest, result.positions, result);
  result.largest_plastic = model.plasticity(0)->largest();
  return result;
}

DriftResult drift_experiment(const Eigen::Vector3i& nodes, int samples) {
  const CuboidOptions options;
  const SolidBody body = cuboid_body(nodes, options);
  const Points pose = twisted_pose(body.mesh.vertices, options.size.z(), options.twist_degrees, 1.0);
  const auto term =
      std::make_shared<ExampleTerm>(TetElements(body.mesh), std::vector<Points>{pose}, body.energy, true);
  ImplicitOptions implicit;
  implicit.inertia = false;
  implicit.linear = LinearMethod::direct;
  implicit.length = 0.25;
  implicit.stiffness_force = 1e-9 * options.mu * implicit.length * implicit.length;
  const Eigen::Index n = body.mesh.vertices.rows();
  ImplicitSolver solver(body.mesh.vertices, Points::Zero(n, 3), VecX::Ones(n), {term}, implicit);
  const TetElements rest(body.mesh);
  DriftResult result;
  for (int k = 0; k <= samples; ++k) {
    StepInput input;
    input.dt = 1;
    const double w = static_cast<double>(k) / samples;
    input.given_weights = {VecX::Constant(1, w)};
    solver.step(input);
    result.weights.push_back(w);
    result.potential.push_back(solver.term_energy(0));
    result.internal.push_back(elastic_energy(body.energy, rest, solver.state().positions));
  }
  double internal_force = 0, potential_force = 0;
  int turns = 0;
  for (std::size_t k = 1; k < result.weights.size(); ++k) {
    const double dw = result.weights[k] - result.weights[k - 1];
    internal_force = std::max(internal_force, std::abs(result.internal[k] - result.internal[k - 1]) / dw);
    potential_force = std::max(potential_force, std::abs(result.potential[k] - result.potential[k - 1]) / dw);
    if (result.potential[k] > result.largest_energy) {
      result.largest_energy = result.potential[k];
      result.weight_of_largest = result.weights[k];
    }
  }
  for (std::size_t k = 1; k + 1 < result.weights.size(); ++k) {
    turns +=
        (result.potential[k] > result.potential[k - 1]) != (result.potential[k + 1] > result.potential[k])
            ? 1
            : 0;
  }
  result.single_bump = turns == 1;
  result.energy_at_examples = std::max(result.potential.front(), result.potential.back());
  result.force_ratio = internal_force / potential_force;
  return result;
}

}  // namespace exemplar::fem
