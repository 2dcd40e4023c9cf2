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
  double simulate(double duration, int steps, double damping,
                  Integrator integrator = Integrator::implicit_euler) const {
    const double amplitude = 1e-5 / shape.rowwise().norm().maxCoeff();
    SolidBody body;
    body.mesh = mesh;
    body.density = density;
    body.energy = make_energy(ElasticModel::modified_stvk, young, poisson);
    body.positions = mesh.vertices + amplitude * shape;
    body.damping = damping;
    ImplicitOptions options;
    options.linear = LinearMethod::direct;
    options.integrator = integrator;
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

// A bar under a constant pull that begins at once, without inertia: a Kelvin–Voigt solid creeps as
//   u(t) = u∞ (1 − exp(−t/β)),  and half of the pull's work goes into viscosity.
struct Creep {
  double at_beta = 0;  // u(β)/u∞
  double share = 0;    // of the work that viscosity has taken in the end
  double length = 0;   // u∞ over F L/(E A)
};

Creep creep_of(int steps_per_beta) {
  const double beta = 0.2, force = 1, young = 1e6;
  SolidBody body;
  body.mesh = tet_box({1, 0.1, 0.1}, {6, 2, 2});
  body.energy = make_energy(ElasticModel::modified_stvk, young, 0);
  body.damping = beta;
  const Points& rest = body.mesh.vertices;
  const double low = rest.col(0).minCoeff(), high = rest.col(0).maxCoeff();
  StepInput input;
  input.dt = beta / steps_per_beta;
  input.forces = Points::Zero(rest.rows(), 3);
  // Traction on the end face: a third of each triangle's share on its corners.
  const Triangles faces = boundary_triangles(body.mesh);
  for (Eigen::Index t = 0; t < faces.rows(); ++t) {
    const Vec3 a = rest.row(faces(t, 0)), b = rest.row(faces(t, 1)), c = rest.row(faces(t, 2));
    if (std::min({a.x(), b.x(), c.x()}) < high - 1e-9) continue;
    for (int k = 0; k < 3; ++k)
      input.forces(faces(t, k), 0) += force * 0.5 * (b - a).cross(c - a).norm() / 0.01 / 3;
  }
  for (int i = 0; i < rest.rows(); ++i) {
    if (rest(i, 0) < low + 1e-9) input.held.push_back({i, {true, true, true}, Vec3(rest.row(i).transpose())});
  }
  ImplicitOptions options;
  options.inertia = false;
  options.linear = LinearMethod::direct;
  options.newton.force_tolerance = 1e-9;
  SolidModel model({body}, options);
  Creep creep;
  const auto work = [&] { return input.forces.cwiseProduct(model.body_positions(0) - rest).sum(); };
  double half_way = 0;
  for (int k = 1; k <= 12 * steps_per_beta; ++k) {
    input.time += input.dt;
    model.step(input);
    if (k == steps_per_beta) half_way = work();
  }
  creep.at_beta = half_way / work();
  creep.share = model.solver().state().energies.damping / work();
  creep.length = work() / force / (force / (young * 0.01));
  return creep;
}

// A bar that spins about its middle and is stretched by it: its angular momentum after a while over that
// without damping.
double kept_angular_momentum(double beta) {
  const auto momentum = [](double damping) {
    SolidBody body;
    body.mesh = tet_box({1, 0.1, 0.1}, {9, 2, 2});
    body.energy = make_energy(ElasticModel::modified_stvk, 1e6, 0.3);
    body.damping = damping;
    body.velocities.resize(body.mesh.vertices.rows(), 3);
    for (Eigen::Index i = 0; i < body.mesh.vertices.rows(); ++i)
      body.velocities.row(i) = Vec3(0, 0, 15).cross(Vec3(body.mesh.vertices.row(i).transpose())).transpose();
    ImplicitOptions options;
    options.linear = LinearMethod::direct;
    SolidModel model({body}, options);
    StepInput input;
    input.dt = 2.5e-4;
    for (int k = 0; k < 400; ++k) model.step(input);
    Vec3 sum = Vec3::Zero();
    for (Eigen::Index i = 0; i < body.mesh.vertices.rows(); ++i)
      sum += model.solver().masses()[i] *
             Vec3(model.body_positions(0).row(i)).cross(Vec3(model.body_velocities(0).row(i)));
    return sum.z();
  };
  return momentum(beta) / momentum(0);
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
  const auto error = [&](int steps) {
    return std::abs(bar.simulate(duration, steps, 0, Integrator::bdf2) - bar.exact(duration, 0));
  };
  const double coarse = error(100), fine = error(200);
  records.push_back(near("bdf2: observed order in the step", std::log2(coarse / fine), 2, 0.15,
                         "closed form of the same equation"));
  records.push_back(at_most("bdf2: error of the modal displacement, 200 steps", fine, 2e-3, "closed form"));
  return records;
}

std::vector<ValidationRecord> validate_dissipation(const ValidationContext&) {
  std::vector<ValidationRecord> records;
  const Creep creep = creep_of(100);
  records.push_back(near_relative("creep of a damped bar: stretch after the time β / in the end",
                                  creep.at_beta, 1 - std::exp(-1.0), 0.01,
                                  "Kelvin–Voigt solid: 1 − exp(−t/β)"));
  records.push_back(near_relative("creep: stretch in the end (F L/(E A))", creep.length, 1, 0.01,
                                  "Hooke; clamped at one end, Poisson's ratio 0"));
  records.push_back(near_relative("creep: share of the work that damping took", creep.share, 0.5, 0.01,
                                  "half of the work of a constant force stays in a spring"));
  records.push_back(near_relative("spinning bar: angular momentum with damping / without",
                                  kept_angular_momentum(0.02), 1, 1e-3, "viscosity exerts no moment"));

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
