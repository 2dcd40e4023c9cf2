#include "meshless/shape_matching/checks/experiments.h"

#include <algorithm>
#include <cmath>

#include "core/base/random.h"
#include "core/mesh/volume/tetrahedralize.h"

namespace exemplar::shape_matching {

BodyOptions stiff_options(double beta) {
  BodyOptions options;
  options.match.beta = beta;
  options.stiffness.frequency = 1e4;
  options.stiffness.iterations = 1;
  options.stiffness.damping_ratio = 0.5;
  return options;
}

double shape_error(const ShapeMatchingBody& body) {
  const Points &rest = body.rest_positions(), &x = body.positions;
  const VecX& m = body.masses();
  const Mat3 r = body_rotation(rest, x, m, Mat3::Identity());
  const Eigen::RowVector3d c0 = m.transpose() * rest / m.sum(), c = m.transpose() * x / m.sum();
  return ((x.rowwise() - c) - (rest.rowwise() - c0) * r.transpose()).rowwise().norm().maxCoeff();
}

std::vector<int> particles_at(const ShapeMatchingBody& body, int axis, double value) {
  std::vector<int> out;
  for (Eigen::Index i = 0; i < body.rest_positions().rows(); ++i)
    if (std::abs(body.rest_positions()(i, axis) - value) < 1e-9) out.push_back(static_cast<int>(i));
  return out;
}

Scramble scramble(int n, int levels, int seeds) {
  Scramble out;
  for (int seed = 0; seed < seeds; ++seed) {
    BodyOptions options = stiff_options();
    options.levels = levels;
    options.stiffness.frequency = 1e3;
    ShapeMatchingBody body(
        {make_block(Vec3::Constant(-0.5), Vec3::Constant(0.5), {n, n, n}, 1000.0).model, options});
    for (Eigen::Index i = 0; i < body.positions.size(); ++i)
      body.positions.data()[i] =
          uniform_random(static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(i)) - 0.5;
    for (int k = 0; k < 60; ++k) {
      body.step(1.0 / 30.0, Vec3::Zero());
      out.farthest = std::max(out.farthest, body.positions.cwiseAbs().maxCoeff());
    }
    out.recovered += shape_error(body) < 1e-3;
  }
  return out;
}

int cells_flowing_in_spin(PlasticityKind kind, PlasticityReference reference) {
  BodyOptions options = stiff_options();
  options.plasticity.kind = kind;
  options.plasticity.reference = reference;
  options.plasticity.yield = 0.1;
  ShapeMatchingBody body({make_block({-0.5, 0, -0.5}, {0.5, 5, 0.5}, {1, 5, 1}, 1000.0).model, options});
  const Vec3 spin(3, 20, 22), centre(0, 2.5, 0);
  for (Eigen::Index i = 0; i < body.positions.rows(); ++i)
    body.velocities.row(i) = spin.cross(Vec3(body.positions.row(i)) - centre).transpose();
  int flowed = 0;
  for (int k = 0; k < 10'000; ++k) {
    body.step(0.001, Vec3::Zero());
    flowed += body.flowing_cells();
  }
  return flowed;
}

namespace {

// A lattice of particles, cells of two along every axis that has more than one.
CellModel thin_model(const std::array<int, 3>& counts) {
  CellModel model;
  const int n = counts[0] * counts[1] * counts[2];
  model.rest_positions.resize(n, 3);
  model.masses = VecX::Constant(n, 0.1);
  const auto at = [&](int i, int j, int k) { return i + counts[0] * (j + counts[1] * k); };
  const auto last = [](int count) { return std::max(1, count - 1); };
  for (int k = 0; k < counts[2]; ++k)
    for (int j = 0; j < counts[1]; ++j)
      for (int i = 0; i < counts[0]; ++i) model.rest_positions.row(at(i, j, k)) << 0.1 * i, 0.1 * j, 0.1 * k;
  for (int k = 0; k < last(counts[2]); ++k)
    for (int j = 0; j < last(counts[1]); ++j)
      for (int i = 0; i < last(counts[0]); ++i) {
        std::vector<int> members;
        for (int corner = 0; corner < 8; ++corner) {
          const int a = i + (corner & 1), b = j + ((corner >> 1) & 1), c = k + (corner >> 2);
          if (a < counts[0] && b < counts[1] && c < counts[2]) members.push_back(at(a, b, c));
        }
        model.cells.add(members);
      }
  return model;
}

}  // namespace

namespace {

// Largest change of a distance between two particles of a cell [m].
double distance_error(const ShapeMatchingBody& body) {
  double most = 0.0;
  const Points &rest = body.rest_positions(), &now = body.positions;
  const Cells& cells = body.cells().cells();
  for (int c = 0; c < cells.count(); ++c)
    for (const int a : cells.of(c))
      for (const int b : cells.of(c))
        most =
            std::max(most, std::abs((now.row(a) - now.row(b)).norm() - (rest.row(a) - rest.row(b)).norm()));
  return most;
}

}  // namespace

Degenerate thrown_degenerate(const std::array<int, 3>& particles) {
  BodyOptions options = stiff_options(0.3);
  options.stiffness.iterations = 4;
  ShapeMatchingBody body(thin_model(particles), options);
  const Vec3 spin(1, 2, 3), velocity(4, 5, 6);
  for (Eigen::Index i = 0; i < body.positions.rows(); ++i)
    body.velocities.row(i) = (velocity + spin.cross(Vec3(body.positions.row(i)))).transpose();
  if (body.positions.rows() > 2)
    body.velocities.row(body.positions.rows() / 2) += Eigen::RowVector3d(1, 1, 1);
  const auto momentum = [&] { return Vec3((body.masses().transpose() * body.velocities).transpose()); };
  const Vec3 before = momentum();
  for (int k = 0; k < 600; ++k) body.step(1.0 / 300.0, Vec3::Zero());
  return {distance_error(body), (momentum() - before).norm() / before.norm()};
}

Flipped mirrored_body(int cells_per_side) {
  BodyOptions options = stiff_options();
  options.levels = 3;
  options.stiffness.frequency = 1e3;
  const int n = cells_per_side;
  ShapeMatchingBody body(
      {make_block(Vec3::Constant(-0.5), Vec3::Constant(0.5), {n, n, n}, 1000.0).model, options});
  body.positions.col(0) *= -1.0;
  // An exact mirror image is a saddle of the fit: a little noise decides which way it turns.
  for (Eigen::Index i = 0; i < body.positions.size(); ++i)
    body.positions.data()[i] += 1e-3 * (uniform_random(3, static_cast<std::uint64_t>(i)) - 0.5);
  Flipped out;
  for (int k = 0; k < 600; ++k) {
    body.step(1.0 / 60.0, Vec3::Zero());
    for (int c = 0; c < body.cells().cells().count(); ++c)
      out.least_determinant = std::min(out.least_determinant, body.cells().rotation(c).determinant());
    out.farthest = std::max(out.farthest, body.positions.cwiseAbs().maxCoeff());
  }
  out.shape_error = shape_error(body);
  return out;
}

double residual_bend(PlasticityKind kind, PlasticityReference reference) {
  BodyOptions options = stiff_options();
  options.stiffness.iterations = 4;
  options.plasticity.kind = kind;
  options.plasticity.reference = reference;
  options.plasticity.yield = 0.1;
  ShapeMatchingBody body({make_block({-0.5, 0, -0.5}, {0.5, 5, 0.5}, {1, 5, 1}, 1000.0).model, options});
  std::vector<int> held;
  for (const double height : {0.0, 1.0, 4.0, 5.0})
    for (const int p : particles_at(body, 1, height)) held.push_back(p);
  body.set_held(held);
  const int steps = 200;
  for (int k = 1; k <= steps; ++k) {  // the end cubes are carried along a circular arc of 90° in the end
    const double angle = 0.5 * EIGEN_PI * k / steps, r = 5.0 / angle;
    for (const int p : held) {
      const Vec3 x = body.rest_positions().row(p);
      const double phi = angle * x.y() / 5.0;
      body.positions.row(p) << r - (r - x.x()) * std::cos(phi), (r - x.x()) * std::sin(phi), x.z();
    }
    body.step(0.01, Vec3::Zero());
  }
  body.set_held({});
  body.velocities.setZero();
  for (int k = 0; k < 600; ++k) body.step(0.01, Vec3::Zero());
  const Vec3 first = body.cells().rotation(0).col(1), last = body.cells().rotation(4).col(1);
  return std::acos(std::clamp(first.dot(last), -1.0, 1.0)) * 180.0 / EIGEN_PI;
}

double bar_tip_deflection(int n, int iterations, int levels) {
  BodyOptions options = stiff_options();
  options.stiffness.iterations = iterations;
  options.levels = levels;
  ShapeMatchingBody body({make_block({0, 0, 0}, {4, 1, 1}, {n, n, n}, 1000.0).model, options});
  body.set_held(particles_at(body, 0, 0.0));
  const std::vector<int> tip = particles_at(body, 0, 4.0);
  for (int k = 0; k < 3000; ++k) body.step(1.0 / 60.0, Vec3(0, -9.81, 0));
  double sum = 0.0;
  for (const int p : tip) sum += body.rest_positions()(p, 1) - body.positions(p, 1);
  return sum / static_cast<double>(tip.size());
}

int cluster_iterations(int n) {
  return std::max(1, 2 * (n * n - 1));
}

double hanging_bar_stretch(int cells_along) {
  const double young = 2e5, density = 1000.0, length = 1.0, g = 9.81, width = 2.0 * length / cells_along;
  BodyOptions options;
  options.stiffness.wave_speed = std::sqrt(young / density);
  options.stiffness.damping_ratio = 0.5;
  ShapeMatchingBody body(
      {make_block({0, -length, 0}, {width, 0, width}, {2, cells_along, 2}, density).model, options});
  body.set_held(particles_at(body, 1, 0.0));
  for (int k = 0; k < 8000; ++k) body.step(0.001, Vec3(0, -g, 0));
  return (-length - body.positions.col(1).minCoeff()) / (density * g * length * length / (2.0 * young));
}

TetMesh uneven_tet_bar(int cubes_along) {
  const double size = 1.0 / cubes_along;
  const Vec3 half(size, 0.5, size);
  TetMesh mesh = box_tets(2.0 * half, {2, cubes_along, 2}, Split::six);
  for (Eigen::Index i = 0; i < mesh.vertices.rows(); ++i)
    for (int axis = 0; axis < 3; ++axis)
      if (std::abs(mesh.vertices(i, axis)) < half(axis) - 1e-9)
        mesh.vertices(i, axis) +=
            0.25 * size * (2.0 * uniform_random(11, static_cast<std::uint64_t>(3 * i + axis)) - 1.0);
  return mesh;
}

double hanging_tet_bar_stretch(int cubes_along, int passes) {
  const double young = 2e5, density = 1000.0, g = 9.81, speed = std::sqrt(young / density);
  CellModel model = make_tet_cells(uneven_tet_bar(cubes_along), density);
  const double step = std::sqrt((passes - 0.5) * model.square_radius) / speed;
  BodyOptions options;
  options.stiffness.wave_speed = speed;
  options.stiffness.damping_ratio = 0.5;
  ShapeMatchingBody body(std::move(model), options);
  body.set_held(particles_at(body, 1, 0.5));
  // Air that brakes the slowest swing, π c/2 [rad/s], near critically: only where it ends matters.
  const double kept = std::exp(-0.8 * EIGEN_PI * speed * step);
  for (int k = 0; k < static_cast<int>(20.0 / (speed * step)); ++k) {
    body.step(step, Vec3(0, -g, 0));
    body.velocities *= kept;
  }
  const VecX drop = body.rest_positions().col(1) - body.positions.col(1);
  return body.masses().dot(drop) / body.masses().sum() / (density * g / (3.0 * young));
}

namespace {

// Sum over cubical cells of the volume of five tets each.
double volume_of(const ShapeMatchingBody& body) {
  constexpr int tets[5][4] = {{0, 1, 2, 4}, {1, 3, 2, 7}, {1, 2, 4, 7}, {1, 4, 5, 7}, {2, 4, 7, 6}};
  double sum = 0.0;
  const Cells& cells = body.cells().cells();
  for (int c = 0; c < cells.count(); ++c)
    for (const auto& t : tets) {
      Mat3 edges;
      const Vec3 a = body.positions.row(cells.of(c)[t[0]]);
      for (int k = 0; k < 3; ++k) edges.col(k) = body.positions.row(cells.of(c)[t[k + 1]]).transpose() - a;
      sum += std::abs(edges.determinant()) / 6.0;
    }
  return sum;
}

}  // namespace

double squeezed_volume(bool conserve_volume, double beta) {
  constexpr double dt = 0.01, speed = 0.125, time = 4.0;  // to half the height, then six seconds more
  BodyOptions options = stiff_options(beta);
  options.match.conserve_volume = conserve_volume;
  options.stiffness.iterations = 4;
  ShapeMatchingBody body({make_block({0, 0, 0}, {1, 1, 1}, {4, 4, 4}, 1000.0).model, options});
  const double before = volume_of(body);
  const std::vector<int> bottom = particles_at(body, 1, 0.0), top = particles_at(body, 1, 1.0);
  for (int k = 0; k < 1000; ++k) {
    std::vector<HeldParticle> platens;
    for (const int p : bottom) platens.push_back({p, {false, true, false}, Vec3::Zero()});
    for (const int p : top)
      platens.push_back({p, {false, true, false}, k * dt < time ? Vec3(0, -speed, 0) : Vec3(0, 0, 0)});
    body.set_supports(platens);
    body.step(dt, Vec3::Zero());
  }
  return volume_of(body) / before;
}

double step_size_difference(int halvings) {
  const auto path_of = [](int power) {
    BodyOptions options;
    options.stiffness.wave_speed = 20.0;
    options.stiffness.damping_ratio = 0.1;
    ShapeMatchingBody body({make_block({0, 0, 0}, {1, 0.25, 0.25}, {8, 2, 2}, 1000.0).model, options});
    body.set_held(particles_at(body, 0, 0.0));
    std::vector<double> path;
    for (int k = 0; k < 400 << power; ++k) {
      body.step(0.002 / (1 << power), Vec3(0, -9.81, 0));
      if ((k + 1) % (20 << power) == 0) path.push_back(body.positions.col(1).minCoeff());
    }
    return path;
  };
  const std::vector<double> path = path_of(halvings), finest = path_of(3);
  const auto [low, high] = std::minmax_element(finest.begin(), finest.end());
  double most = 0.0;
  for (std::size_t k = 0; k < path.size(); ++k) most = std::max(most, std::abs(path[k] - finest[k]));
  return most / (*high - *low);
}

}  // namespace exemplar::shape_matching
