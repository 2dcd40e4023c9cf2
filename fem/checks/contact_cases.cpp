#include "fem/checks/contact_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/contact/contact_blocks.h"
#include "core/mesh/models/primitives.h"
#include "core/mesh/topology.h"
#include "core/mesh/volume/tet_box.h"
#include "core/mesh/volume/tetrahedralize.h"
#include "fem/scene_bodies.h"
#include "fem/solid_model.h"

namespace exemplar::fem {

namespace {

constexpr double k_young = 1e6, k_poisson = 0.3, k_density = 1000;

// Bodies in one solver that meet each other and, where asked, themselves.
struct ContactWorld {
  std::vector<SolidBody> bodies;
  std::vector<ContactBody> laws;
  ContactSurface surface;
  ContactOptions options;
  std::unique_ptr<SolidModel> model;

  void add(TetMesh mesh, const Vec3& offset, const Vec3& velocity, const ContactBody& law) {
    SolidBody body;
    body.density = k_density;
    body.energy = make_energy(ElasticModel::modified_stvk, k_young, k_poisson);
    body.positions = mesh.vertices.rowwise() + offset.transpose();
    body.velocities = Points::Zero(mesh.vertices.rows(), 3).rowwise() + velocity.transpose();
    ContactSurface part;
    part.map = PointMap::identity(to_int(mesh.vertices.rows()));
    part.triangles = boundary_triangles(mesh);
    part.rest = mesh.vertices;
    part.bodies = {law};
    append(surface, part, nodes());
    body.mesh = std::move(mesh);
    bodies.push_back(std::move(body));
  }
  int nodes() const {
    Eigen::Index sum = 0;
    for (const SolidBody& body : bodies) sum += body.mesh.vertices.rows();
    return to_int(sum);
  }
  void start(const ImplicitOptions& implicit, const ContactOptions& contact) {
    options = contact;
    surface.between = true;
    model = std::make_unique<SolidModel>(bodies, implicit);
    model->solver().add_contact(surface, {}, contact, Vec3::Zero());
  }
  const Points& positions() const { return model->solver().state().positions; }
  // Contact forces on all nodes at the present state, by a potential of its own, N; and the smallest gap.
  Points forces(double* gap = nullptr) const {
    const std::vector<ObstacleBody> none;
    ContactPotential contact(surface, none, options);
    const VecX q;
    contact.begin_step({}, positions());
    contact.find_pairs(positions(), q, positions(), q);
    Points on_points = Points::Zero(surface.map.size(), 3);
    for (const ContactBlock& block : contact.blocks(positions(), q, Derivatives::gradient)) {
      for (int p = 0; p < block.point_count; ++p)
        on_points.row(block.points[to_size(p)]) -= block.gradient.segment<3>(3 * p).transpose();
    }
    if (gap != nullptr) *gap = contact.smallest_gap(positions(), q);
    return surface.map.spread(on_points, positions().rows());
  }
};

std::vector<SupportedNode> hold_where(const Points& x, const auto& is_held, const Vec3& shift) {
  std::vector<SupportedNode> held;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const Vec3 place = x.row(i);
    if (is_held(place)) held.push_back({to_int(i), {true, true, true}, place + shift});
  }
  return held;
}

// A unit ball whose mesh is finest at its lowest point, where it will be touched, in the depth as well as on
// the surface. An even mesh (`n` parts of an icosahedron's edge) is moved along the distance r from that
// point to
//   r' = s/g (exp(g r/h) − 1),
// which turns elements of size h into such of size s + g r' (s follows from r' = r = 2 at the other end);
// angles about the point are scaled so that spheres around it stay within the ball and vertices on its
// surface.
TetMesh graded_ball(int n) {
  const double h = 1.1 / n, growth = 0.25;
  VolumeOptions options;
  options.splitting = Splitting::keep;
  options.max_tet_volume = 0.15 * h * h * h;
  options.allow_cage = false;
  TetMesh mesh = build_volume(make_sphere({1, n}), options).mesh;
  const Vec3 pole(0, -1, 0);
  for (Eigen::Index i = 0; i < mesh.vertices.rows(); ++i) {
    const Vec3 from = mesh.vertices.row(i).transpose() - pole;
    const Vec3 flat(from.x(), 0, from.z());
    const double r = from.norm();
    if (r < 1e-9) continue;
    const double moved = 2 * std::expm1(growth * r / h) / std::expm1(growth * 2 / h);
    const double angle = std::atan2(flat.norm(), from.y()) * std::acos(std::min(1.0, moved / 2)) /
                         std::max(1e-12, std::acos(std::min(1.0, r / 2)));
    const Vec3 aside = flat.norm() > 0 ? Vec3(flat.normalized()) : Vec3::Zero();
    mesh.vertices.row(i) =
        (pole + moved * (std::sin(angle) * aside + std::cos(angle) * Vec3::UnitY())).transpose();
  }
  return mesh;
}

struct HertzPoint {
  double approach = 0, force = 0;
};

// Two balls, the outer half of each held; the upper one is lowered.
HertzPoint press_balls(int n, double approach) {
  const double reach = 0.02 * approach;
  ContactWorld world;
  const TetMesh mesh = graded_ball(n);
  TetMesh mirrored = mesh;
  mirrored.vertices.col(0) *= -1;
  mirrored.vertices.col(1) *= -1;
  const ContactBody law{reach, 0.1 * k_young, 0};
  const double gap = 0.5 * reach;
  world.add(mesh, Vec3(0, 1 + gap, 0), Vec3::Zero(), law);
  world.add(mirrored, Vec3(0, -1, 0), Vec3::Zero(), law);
  ImplicitOptions implicit;
  implicit.inertia = false;
  implicit.stiffness_force = k_young * 1e-7;
  implicit.length = 0.02;
  world.start(implicit, {reach, 0.1 * k_young, 1e-3});
  const Points start = world.positions();
  const Eigen::Index nodes = mesh.vertices.rows();
  StepInput input;
  input.dt = 1;
  const int steps = 5;
  for (int k = 1; k <= steps; ++k) {
    const double way = approach * k / steps;
    input.held = hold_where(
        start, [](const Vec3& x) { return x.y() > 1.0; }, Vec3(0, -way, 0));
    const auto low = hold_where(
        start, [](const Vec3& x) { return x.y() < -1.0; }, Vec3::Zero());
    input.held.insert(input.held.end(), low.begin(), low.end());
    if (world.model->step(input).status != StepStatus::ok) return {};
  }
  double left = 0;
  const Points forces = world.forces(&left);
  // Counted from surface to surface: barriers keep a gap.
  return {approach - gap + left, forces.topRows(nodes).col(1).sum()};
}

double hertz_force(double approach) {
  const double radius = 0.5,
               modulus = 0.5 * k_young / (1 - k_poisson * k_poisson);  // R*, E* of two unit balls
  return 4.0 / 3 * modulus * std::sqrt(radius) * std::pow(approach, 1.5);
}

ContactWorld two_blocks(double speed, double friction) {
  ContactWorld world;
  const TetMesh mesh = tet_box({0.2, 0.2, 0.2}, {4, 4, 4});
  TetMesh turned = mesh;  // by half a turn about y
  turned.vertices.col(0) *= -1;
  turned.vertices.col(2) *= -1;
  const ContactOptions law = default_contact_options(0.2 * std::sqrt(3.0), k_young);
  const ContactBody body{law.reach, law.stiffness, friction};
  world.add(mesh, Vec3(-0.12, 0, 0), Vec3(speed, 0, 0), body);
  world.add(turned, Vec3(0.12, 0, 0), Vec3(-speed, 0, 0), body);
  ImplicitOptions implicit;
  implicit.linear = LinearMethod::direct;
  implicit.newton.force_tolerance = 1e-10;
  world.start(implicit, law);
  return world;
}

double kinetic(const ContactWorld& world) {
  const ImplicitState& state = world.model->solver().state();
  return 0.5 * world.model->solver().masses().dot(state.velocities.rowwise().squaredNorm());
}

}  // namespace

std::vector<ValidationRecord> validate_hertz(const ValidationContext&) {
  std::vector<ValidationRecord> records;
  // Contact radius a = √(R δ / 2) = 0.032 R. Holding the outer halves makes the balls stiffer than Hertz'
  // half spaces by about (0.73 a/R) · 1.5 = 3.5 % of the force (Boussinesq's displacement at the depth R).
  const double approach = 0.002;
  std::vector<double> errors;
  const std::vector<int> meshes{7, 9, 11};
  for (const int n : meshes) {
    const HertzPoint point = press_balls(n, approach);
    const double expected = hertz_force(point.approach);
    errors.push_back(std::abs(point.force / expected - 1));
    if (errors.size() > 1)
      records.push_back(at_most(fmt::format("two balls pressed together: error with {} parts per edge", n),
                                errors.back(), errors[errors.size() - 2],
                                "that of the coarser mesh: converges"));
    if (n == meshes.back())
      records.push_back(
          near_relative(fmt::format("two balls pressed together, {} parts per edge: force at δ/R = {:.4f}, N",
                                    n, point.approach),
                        point.force, expected, 0.1, "Hertz: F = 4/3 E* √R* δ^1.5"));
  }
  return records;
}

std::vector<ValidationRecord> validate_stack_forces(const ValidationContext&) {
  ContactWorld world;
  const double g = 9.81;
  const ContactOptions law = default_contact_options(0.4, k_young);
  const TetMesh mesh = tet_box({0.2, 0.2, 0.2}, {4, 4, 4});
  for (int b = 0; b < 4; ++b)
    world.add(mesh, Vec3(0.02 * b, (0.2 + 0.4 * law.reach) * b, 0.013 * b), Vec3::Zero(),
              {law.reach, law.stiffness, 0});  // no friction: it would carry a part where normals are tilted
  ImplicitOptions implicit;
  implicit.inertia = false;
  implicit.linear = LinearMethod::direct;
  implicit.newton.force_tolerance = 1e-9;
  world.start(implicit, law);
  StepInput input;
  input.dt = 1;
  input.held = hold_where(
      world.positions(), [](const Vec3& x) { return x.y() < -0.099; }, Vec3::Zero());
  const Eigen::Index n = mesh.vertices.rows();
  // Without friction nothing holds a block from sliding: one face of each stays in its plane, free to move up
  // and down.
  for (Eigen::Index i = n; i < 4 * n; ++i) {
    if (mesh.vertices(i % n, 0) < -0.099)
      input.held.push_back({to_int(i), {true, false, true}, Vec3(world.positions().row(i).transpose())});
  }
  const VecX& masses = world.model->solver().masses();
  for (int k = 1; k <= 6; ++k) {
    input.forces = std::min(1.0, k / 4.0) * masses * Vec3(0, -g, 0).transpose();
    if (world.model->step(input).status != StepStatus::ok) break;
  }
  const Points forces = world.forces();
  std::vector<ValidationRecord> records;
  for (int b = 1; b < 4; ++b) {
    // What acts on all blocks from b on comes from the interface below them.
    const double carried = forces.bottomRows(n * (4 - b)).col(1).sum();
    records.push_back(near_relative(fmt::format("stack of four blocks: force under block {}, N", b + 1),
                                    carried, g * masses.tail(n * (4 - b)).sum(), 1e-6, "the weight above"));
  }
  return records;
}

std::vector<ValidationRecord> validate_stick_and_slip(const ValidationContext&) {
  std::vector<ValidationRecord> records;
  const double mu = 0.4, g = 9.81, duration = 0.3;
  for (const double ratio : {0.95, 1.05}) {
    ContactWorld world;
    const ContactOptions law{2e-4, 0.1 * k_young, 1e-4};
    world.add(tet_box({0.6, 0.1, 0.2}, {7, 2, 3}), Vec3(0, -0.05, 0), Vec3::Zero(),
              {law.reach, law.stiffness, mu});
    world.add(tet_box({0.1, 0.05, 0.1}, {3, 2, 3}), Vec3(-0.15, 0.025 + 0.6 * law.reach, 0.01), Vec3::Zero(),
              {law.reach, law.stiffness, mu});
    ImplicitOptions implicit;
    implicit.linear = LinearMethod::direct;
    world.start(implicit, law);
    const Eigen::Index n = 18;
    const double angle = std::atan(mu * ratio);
    StepInput input;
    input.dt = 0.0025;
    input.held = hold_where(
        world.positions().topRows(world.nodes() - n), [](const Vec3&) { return true; }, Vec3::Zero());
    const auto run = [&](double seconds, const Vec3& gravity) {
      input.forces = world.model->solver().masses() * gravity.transpose();
      for (int k = 0; k < std::lround(seconds / input.dt); ++k) world.model->step(input);
      return world.positions().bottomRows(n).col(0).mean();
    };
    // It settles on the level first.
    const double from = run(0.2, Vec3(0, -g, 0));
    const double way = run(duration, g * Vec3(std::sin(angle), -std::cos(angle), 0)) - from;
    const double free = 0.5 * g * (std::sin(angle) - mu * std::cos(angle)) * duration * duration;
    if (ratio < 1) {
      records.push_back(at_most("slope at 0.95 of friction: way after 0.3 s / m", way,
                                2 * law.sticking_speed * duration, "it holds, but for the sticking speed"));
    } else {
      records.push_back(near_relative("slope at 1.05 of friction: way after 0.3 s, m", way, free, 0.1,
                                      "½ g (sin α − μ cos α) t²"));
      const double felt = std::tan(angle) - 2 * way / (g * std::cos(angle) * duration * duration);
      records.push_back(
          near_relative("coefficient of friction that this way means", felt, mu, 0.01, "that of the bodies"));
    }
  }
  return records;
}

std::vector<ValidationRecord> validate_head_on(const ValidationContext&) {
  const double speed = 5;
  ContactWorld world = two_blocks(speed, 0.3);
  ImplicitSolver& solver = world.model->solver();
  const Eigen::Index n = solver.masses().size() / 2;
  const double momentum = speed * solver.masses().head(n).sum(), initial = kinetic(world);
  StepInput input;
  input.dt = 2e-4;
  double drift = 0, asymmetry = 0, rise = 0, barrier = 0, integrator = 0, before = initial;
  for (int k = 0; k < 200; ++k) {
    const Points x = world.positions(), v = solver.state().velocities;
    const double elastic = world.model->internal_energy(), contact = solver.state().energies.barrier;
    world.model->step(input);
    const ImplicitState& state = solver.state();
    drift = std::max(drift, (state.velocities.transpose() * solver.masses()).norm() / momentum);
    Points turned = state.positions.bottomRows(n);
    turned.col(0) *= -1;
    turned.col(2) *= -1;
    asymmetry = std::max(asymmetry, (state.positions.topRows(n) - turned).cwiseAbs().maxCoeff());
    // What implicit Euler takes: ½‖Δv‖²_M + (∇W + ∇B)·Δx − ΔW − ΔB.
    const Points dx = state.positions - x, dv = state.velocities - v;
    const Points inner = -solver.internal_forces();
    integrator += 0.5 * solver.masses().dot(dv.rowwise().squaredNorm()) + inner.cwiseProduct(dx).sum() -
                  (world.model->internal_energy() - elastic);
    integrator -= world.forces().cwiseProduct(dx).sum() + (state.energies.barrier - contact);
    const double now = kinetic(world) + world.model->internal_energy() + state.energies.barrier;
    rise = std::max(rise, (now - before) / initial);
    before = now;
    barrier = std::max(barrier, state.energies.barrier / initial);
  }
  const double rebound =
      (solver.state().velocities.topRows(n).transpose() * solver.masses().head(n)).x() / momentum;
  const double lost = initial - before, booked = integrator + solver.state().energies.contact;
  std::vector<ValidationRecord> records;
  records.push_back(at_most("head-on at 10 m/s: momentum / that of one block", drift, 1e-12, "it is zero"));
  records.push_back(at_most("asymmetry of the two blocks, m", asymmetry, 1e-10, "each is the other turned"));
  records.push_back(at_most("momentum of the left block after / before", rebound, 0, "it bounces back"));
  records.push_back(
      no_less_than("largest contact energy / kinetic energy before", barrier, 1e-4, "they touch"));
  records.push_back(
      at_most("largest rise of energy in a step / energy", rise, 1e-9, "none comes from nothing"));
  records.push_back(near("energy lost, less what friction, stiffening and the integrator took / energy",
                         (lost - booked) / initial, 0, 2e-3, "balance"));
  return records;
}

}  // namespace exemplar::fem
