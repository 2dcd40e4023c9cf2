// Validation of the time integration: order of accuracy on a vibration with a closed form, and the balance of
// energy with damping, contact and friction.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "core/elastic/modes.h"
#include "core/mesh/volume/tet_box.h"
#include "fem/checks/validation.h"
#include "fem/scene_bodies.h"
#include "fem/solid_model.h"

namespace exemplar::fem {

namespace {

// A free bar released at rest in its lowest mode, so weakly bent that it is linear:
//   q'' + βω² q' + ω² q = 0,  q(0) = 1.
struct VibratingBar {
  TetMesh mesh = tet_box({1, 0.1, 0.12}, {9, 2, 2});
  double young = 1e6, poisson = 0.3, density = 1000;
  Points shape;      // scaled to φᵀMφ = 1
  double omega = 0;  // rad/s

  VibratingBar() {
    const Modes modes = vibration_modes(mesh, young, poisson, density, 1, {}, MassMatrix::lumped);
    shape = modes.shapes[0];
    omega = 2 * std::numbers::pi * modes.frequencies[0];
  }

  // q at `duration` after `steps` steps of the real solver.
  double simulate(double duration, int steps, double damping) const {
    const double amplitude = 1e-5 / shape.rowwise().norm().maxCoeff();
    SolidBody body;
    body.mesh = mesh;
    body.density = density;
    body.energy = make_energy(ElasticModel::modified_stvk, young, poisson);
    body.positions = mesh.vertices + amplitude * shape;
    ImplicitOptions options;
    options.linear = LinearMethod::direct;
    options.damping = damping;
    options.newton.force_tolerance = 1e-10;
    SolidModel model({body}, options);
    StepInput input;
    input.dt = duration / steps;
    for (int k = 0; k < steps; ++k) model.step(input);
    const Points moved = model.body_positions(0) - mesh.vertices;
    const VecX along = shape.cwiseProduct(moved).rowwise().sum();
    return along.dot(model.solver().masses()) / amplitude;
  }

  double exact(double t, double damping) const {
    const double z = 0.5 * damping * omega, damped = omega * std::sqrt(1 - z * z);
    return std::exp(-z * omega * t) * (std::cos(damped * t) + z * omega / damped * std::sin(damped * t));
  }

  // Implicit Euler on the same equation.
  double discrete(double duration, int steps, double damping) const {
    const double h = duration / steps, w2 = omega * omega;
    double q = 1, v = 0;
    for (int k = 0; k < steps; ++k) {
      const double next = (q * (1 + h * damping * w2) + h * v) / (1 + h * h * w2 + h * damping * w2);
      v = (next - q) / h;
      q = next;
    }
    return q;
  }
};

ContactSurface whole_boundary(const TetMesh& mesh) {
  ContactSurface surface;
  surface.map = PointMap::identity(static_cast<int>(mesh.vertices.rows()));
  surface.triangles = boundary_triangles(mesh);
  surface.rest = mesh.vertices;
  return surface;
}

double kinetic_energy(const SolidModel& model) {
  return 0.5 * model.solver().masses().dot(model.solver().state().velocities.rowwise().squaredNorm());
}

// A stretched, spinning, damped box: per step the energy lost must be what damping takes, β/h Δxᵀ K₀ Δx, and
// what implicit Euler takes, ½‖Δv‖²_M + ∇W(x')·Δx − ΔW.
struct EnergyBalance {
  double lost = 0, damping = 0, integrator = 0, largest_rise = 0, initial = 0;
};

EnergyBalance energy_balance_of(double beta, int steps) {
  SolidBody body;
  body.mesh = tet_box({1, 0.5, 0.7}, {4, 3, 3});
  body.energy = ModifiedStVK{1e5, 2e5};
  body.positions = body.mesh.vertices;
  body.positions.col(0) *= 1.2;
  body.velocities.resize(body.mesh.vertices.rows(), 3);
  for (Eigen::Index i = 0; i < body.mesh.vertices.rows(); ++i)
    body.velocities.row(i) = Vec3(1, 4, -2).cross(Vec3(body.positions.row(i).transpose())).transpose();
  ImplicitOptions options;
  options.linear = LinearMethod::direct;
  options.damping = beta;
  options.newton.force_tolerance = 1e-11;
  SolidModel model({body}, options);
  TetElements elements(body.mesh);
  const BlockPattern pattern(static_cast<int>(body.mesh.vertices.rows()), elements.nodes, 4);
  std::vector<int> columns(static_cast<std::size_t>(body.mesh.vertices.rows()));
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = static_cast<int>(i);
  elements.connect(pattern, columns);
  EnergyBalance balance;
  double before = balance.initial = kinetic_energy(model) + model.internal_energy();
  StepInput input;
  input.dt = 0.005;
  for (int k = 0; k < steps; ++k) {
    const Points x = model.body_positions(0), v = model.body_velocities(0);
    const double w = model.internal_energy();
    model.step(input);
    const Points dx = model.body_positions(0) - x, dv = model.body_velocities(0) - v;
    BlockMatrix stiffness(pattern);
    add_elastic_hessian(body.energy, elements, x, true, stiffness);
    VecX product;
    stiffness.multiply(flat(dx), product);
    balance.damping += beta / input.dt * flat(dx).dot(product);
    Points gradient = Points::Zero(x.rows(), 3);
    add_elastic_gradient(body.energy, elements, model.body_positions(0), gradient);
    balance.integrator += 0.5 * model.solver().masses().dot(dv.rowwise().squaredNorm()) +
                          gradient.cwiseProduct(dx).sum() - (model.internal_energy() - w);
    const double after = kinetic_energy(model) + model.internal_energy();
    balance.largest_rise = std::max(balance.largest_rise, after - before);
    before = after;
  }
  balance.lost = balance.initial - before;
  return balance;
}

SolidModel block_on_floor(double height, const Vec3& velocity, double friction, const Vec3& gravity) {
  SolidBody body;
  body.mesh = tet_box({0.4, 0.1, 0.4}, {3, 2, 3});
  body.energy = make_energy(ElasticModel::modified_stvk, 1e6, 0.3);
  body.positions = body.mesh.vertices;
  body.positions.col(1).array() += 0.05 + height;
  body.velocities = Points::Zero(body.positions.rows(), 3).rowwise() + velocity.transpose();
  ImplicitOptions options;
  options.linear = LinearMethod::direct;
  const ContactSurface surface = whole_boundary(body.mesh);
  SolidModel model({std::move(body)}, options);
  Obstacle floor;
  floor.name = "floor";
  floor.shape.kind = ShapeKind::plane;
  floor.friction = friction;
  model.solver().add_contact(surface, make_obstacles({floor}), default_contact_options(0.57, 1e6), gravity);
  return model;
}

double mean_coordinate(const SolidModel& model, int axis) {
  const VecX& m = model.solver().masses();
  return model.solver().state().positions.col(axis).dot(m) / m.sum();
}

}  // namespace

std::vector<ValidationRecord> validate_order(const ValidationContext&) {
  const VibratingBar bar;
  const double duration = 0.7 * 2 * std::numbers::pi / bar.omega;
  std::vector<ValidationRecord> records;
  for (const double ratio : {0.0, 0.1}) {
    const double beta = 2 * ratio / bar.omega;
    double errors[2];
    int k = 0;
    for (const int steps : {200, 400}) {
      const double q = bar.simulate(duration, steps, beta);
      errors[k++] = std::abs(q - bar.exact(duration, beta));
      if (steps == 200) {
        records.push_back(near(fmt::format("vibrating bar, damping ratio {}: modal displacement", ratio), q,
                               bar.discrete(duration, steps, beta), 1e-4,
                               "implicit Euler on q'' + βω²q' + ω²q = 0"));
      }
    }
    records.push_back(near(fmt::format("damping ratio {}: observed order in the step", ratio),
                           std::log2(errors[0] / errors[1]), 1, 0.1, "closed form of the same equation"));
  }
  return records;
}

std::vector<ValidationRecord> validate_dissipation(const ValidationContext&) {
  std::vector<ValidationRecord> records;
  const EnergyBalance balance = energy_balance_of(0.01, 60);
  records.push_back(no_less_than("damped spinning box: damping's share of the energy lost",
                                 balance.damping / balance.lost, 0.1, "the case shows damping"));
  records.push_back(near_relative("energy lost = damping β/h Δxᵀ K Δx + integrator", balance.lost,
                                  balance.damping + balance.integrator, 1e-6,
                                  "energy balance of implicit Euler"));
  records.push_back(at_most("largest rise of energy in a step / energy",
                            balance.largest_rise / balance.initial, 1e-9, "none comes from nothing"));

  const double speed = 2, friction = 0.3, g = 9.81, h = 0.005;
  SolidModel sliding = block_on_floor(3e-4, Vec3::Zero(), friction, Vec3(0, -g, 0));
  StepInput input;
  input.dt = h;
  input.forces = sliding.solver().masses() * Vec3(0, -g, 0).transpose();
  const auto go_on = [&](SolidModel& model, int steps, const std::function<void()>& after) {
    for (int k = 0; k < steps; ++k) {
      input.time += h;
      model.step(input);
      after();
    }
  };
  go_on(sliding, 100, [] {});  // settles
  ImplicitState pushed = sliding.solver().state();
  pushed.velocities.col(0).array() += speed;
  sliding.solver().set_state(std::move(pushed));
  const double from = mean_coordinate(sliding, 0);
  go_on(sliding, 200, [] {});
  records.push_back(near_relative("sliding block: distance until friction stops it (m)",
                                  mean_coordinate(sliding, 0) - from,
                                  speed * speed / (2 * friction * g) - 0.5 * speed * h, 0.02,
                                  "½ m v² = μ m g d, with implicit Euler's half step"));

  SolidModel bouncing = block_on_floor(0.3, Vec3(0, -2, 0), 0.5, Vec3(0, -g, 0));
  const auto energy = [&] {
    return kinetic_energy(bouncing) + bouncing.internal_energy() +
           bouncing.solver().masses().sum() * g * mean_coordinate(bouncing, 1);
  };
  const double initial = energy();
  double highest = 0;
  input.time = 0;
  go_on(bouncing, 200, [&] { highest = std::max(highest, energy()); });
  records.push_back(at_most("bouncing block: highest energy / initial", highest / initial, 1,
                            "contact gives back no more than it took"));
  return records;
}

}  // namespace exemplar::fem
