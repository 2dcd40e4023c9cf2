// A manufactured solution: small displacements u with the body force that linear elasticity asks for. Linear
// tets must come nearer to it with the square of the mesh width.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/elastic/static_solve.h"
#include "core/mesh/volume/tet_box.h"

namespace exemplar {
namespace {

constexpr double k_pi = std::numbers::pi, k_size = 1e-5, k_young = 1e5, k_poisson = 0.3;

// u = a cos πx cos πy cos πz e_x: zero on the faces of the unit cube about the origin.
Vec3 exact(const Vec3& p) {
  return {k_size * std::cos(k_pi * p.x()) * std::cos(k_pi * p.y()) * std::cos(k_pi * p.z()), 0, 0};
}

// −μ Δu − (λ + μ) ∇(∇·u), by hand.
Vec3 body_force(const Vec3& p) {
  const Lame m = lame_parameters(k_young, k_poisson);
  const double cx = std::cos(k_pi * p.x()), cy = std::cos(k_pi * p.y()), cz = std::cos(k_pi * p.z());
  const double sx = std::sin(k_pi * p.x()), sy = std::sin(k_pi * p.y()), sz = std::sin(k_pi * p.z());
  const double a = k_size * k_pi * k_pi;
  return Vec3(3 * m.mu * a * cx * cy * cz, 0, 0) +
         (m.lambda + m.mu) * a * Vec3(cx * cy * cz, -sx * sy * cz, -sx * cy * sz);
}

double error_of(int cells, ElasticModel model) {
  const TetMesh mesh = tet_box({1, 1, 1}, Eigen::Vector3i::Constant(cells + 1));
  const VecX volumes = lumped_mass(TetElements(mesh), 1, mesh.vertices.rows());
  std::vector<int> held;
  Points forces(mesh.vertices.rows(), 3);
  for (int i = 0; i < mesh.vertices.rows(); ++i) {
    const Vec3 p = mesh.vertices.row(i);
    forces.row(i) = volumes[i] * body_force(p).transpose();
    if (p.cwiseAbs().maxCoeff() > 0.5 - 1e-9) held.push_back(i);
  }
  StaticOptions options;
  options.newton.force_tolerance = 1e-13;
  const StaticResult result =
      static_solve(mesh, make_energy(model, k_young, k_poisson), held, mesh.vertices, forces, options);
  double sum = 0;
  for (int i = 0; i < mesh.vertices.rows(); ++i) {
    const Vec3 moved = result.positions.row(i) - mesh.vertices.row(i);
    sum += volumes[i] * (moved - exact(mesh.vertices.row(i))).squaredNorm();
  }
  return std::sqrt(sum) / k_size;
}

TEST(Convergence, SecondOrderOnAManufacturedSolution) {
  for (const ElasticModel model : {ElasticModel::modified_stvk, ElasticModel::barrier_neo_hookean}) {
    const double coarse = error_of(4, model), middle = error_of(8, model), fine = error_of(12, model);
    EXPECT_NEAR(std::log(coarse / middle) / std::log(2.0), 2, 0.23);
    EXPECT_NEAR(std::log(middle / fine) / std::log(1.5), 2, 0.01);
    EXPECT_LT(fine, 0.02);
  }
}

}  // namespace
}  // namespace exemplar
