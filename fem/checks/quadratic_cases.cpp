// Quadratic tetrahedra beside linear ones: patch test, bending on coarse meshes, CalculiX, order of
// convergence.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "core/base/random.h"
#include "core/elastic/static_solve.h"
#include "core/mesh/volume/tet_box.h"
#include "fem/checks/calculix.h"
#include "fem/checks/validation.h"
#include "fem/scene_bodies.h"

namespace exemplar::fem {

namespace {

// A mesh with linear or quadratic tets.
struct Solid {
  TetMesh mesh;
  Midsides midsides;

  Solid(TetMesh linear, bool quadratic) : mesh(std::move(linear)) {
    if (!quadratic) return;
    midsides = midsides_of(mesh);
    mesh.vertices = with_midsides(mesh.vertices, midsides);
  }
  TetElements elements() const { return TetElements(mesh, 0, {}, midsides); }
  std::vector<int> nodes(const std::function<bool(const Vec3&)>& in) const {
    std::vector<int> found;
    for (Eigen::Index i = 0; i < mesh.vertices.rows(); ++i) {
      if (in(mesh.vertices.row(i))) found.push_back(to_int(i));
    }
    return found;
  }
};

// A total force, uniform over the plane x = `at`: ∫ N_a over its faces, a third of a linear face on each
// corner, a third of a quadratic one on each midside node.
Points end_force(const Solid& solid, double at, const Vec3& total) {
  const Triangles faces = boundary_triangles(solid.mesh);
  Points forces = Points::Zero(solid.mesh.vertices.rows(), 3);
  double whole = 0;
  for (Eigen::Index t = 0; t < faces.rows(); ++t) {
    const std::array<int, 3> at_corner{faces(t, 0), faces(t, 1), faces(t, 2)};
    const auto corner = [&](int k) { return Vec3(solid.mesh.vertices.row(faces(t, k))); };
    if (std::abs(corner(0).x() - at) + std::abs(corner(1).x() - at) + std::abs(corner(2).x() - at) > 1e-9)
      continue;
    const double area = 0.5 * (corner(1) - corner(0)).cross(corner(2) - corner(0)).norm();
    whole += area;
    for (std::size_t k = 0; k < 3; ++k) {
      const int a = at_corner[k], b = at_corner[(k + 1) % 3];
      forces.row(solid.midsides.empty() ? a : solid.midsides.between(a, b)) += area / 3 * total.transpose();
    }
  }
  return forces / whole;
}

StaticResult solve(const Solid& solid, const ElasticEnergy& energy, std::span<const int> held,
                   const Points& start, const Points& forces) {
  StaticOptions options;
  options.newton.force_tolerance = 1e-11;
  return static_solve(solid.elements(), energy, held, start, forces, options);
}

// Tip deflection of a clamped beam 10 × 1 × 1 with `cells` cells through its thickness and cubic cells along
// it, over that of beam theory, for a load that deflects it by a thousandth of its length.
double beam_share(int cells, bool quadratic) {
  const double length = 10, young = 1e6, poisson = 0.3, load = 1e-3 * 3 * young / 12 / (length * length);
  const Solid solid(tet_box({length, 1, 1}, {10 * cells + 1, cells + 1, cells + 1}), quadratic);
  const auto held = solid.nodes([&](const Vec3& x) { return x.x() < -0.5 * length + 1e-9; });
  const Points forces = end_force(solid, 0.5 * length, {0, 0, -load});
  const Points x =
      solve(solid, make_energy(ElasticModel::stvk, young, poisson), held, solid.mesh.vertices, forces)
          .positions;
  double tip = 0;
  const auto end = solid.nodes([&](const Vec3& p) { return p.x() > 0.5 * length - 1e-9; });
  for (const int i : end) tip -= (x(i, 2) - solid.mesh.vertices(i, 2)) / static_cast<double>(end.size());
  const double bending = load * std::pow(length, 3) / (3 * young / 12);
  const double shear = load * length / (5.0 / 6 * young / (2 * (1 + poisson)));
  return tip / (bending + shear);
}

// Cook's membrane (corners (0,0), (48,44), (48,60), (0,44), thickness 1, plane stress, E 1, ν 1/3, unit shear
// load at the right end, clamped at the left) on n × n cells, one through the thickness: vertical
// displacement of the middle of the right end, for a load small enough to be linear.
double cook_deflection(int n, bool quadratic) {
  TetMesh mesh = tet_box({1, 1, 1}, {n + 1, n + 1, 2});
  for (Eigen::Index i = 0; i < mesh.vertices.rows(); ++i) {
    const double s = mesh.vertices(i, 0) + 0.5, t = mesh.vertices(i, 1) + 0.5;
    mesh.vertices(i, 0) = 48 * s;
    mesh.vertices(i, 1) = (1 - s) * 44 * t + s * (44 + 16 * t);
  }
  const Solid solid(std::move(mesh), quadratic);
  const auto held = solid.nodes([](const Vec3& x) { return x.x() < 1e-9; });
  const double load = 1e-6;
  const Points x = solve(solid, make_energy(ElasticModel::stvk, 1, 1.0 / 3), held, solid.mesh.vertices,
                         end_force(solid, 48, {0, load, 0}))
                       .positions;
  double sum = 0;
  const auto middle =
      solid.nodes([](const Vec3& p) { return p.x() > 48 - 1e-9 && std::abs(p.y() - 52) < 1e-9; });
  for (const int i : middle) sum += (x(i, 1) - solid.mesh.vertices(i, 1)) / load;
  return sum / static_cast<double>(middle.size());
}

// A smooth motion that no polynomial element can follow.
Vec3 made_motion(const Vec3& p) {
  return p + 0.1 * Vec3(std::sin(2 * p.y()) + 0.5 * std::cos(3 * p.z()), std::sin(2 * p.z() + p.x()),
                        std::cos(2 * p.x()) * p.y());
}

// P = 2μFE + κ(J−1) cof F of the made motion, by hand, its gradient by central differences.
Mat3 made_stress(const Vec3& p, double mu, double kappa) {
  const double h = 1e-5;
  Mat3 f;
  for (int k = 0; k < 3; ++k)
    f.col(k) = (made_motion(p + h * Vec3::Unit(k)) - made_motion(p - h * Vec3::Unit(k))) / (2 * h);
  const Mat3 strain = 0.5 * (f.transpose() * f - Mat3::Identity());
  return 2 * mu * f * strain + kappa * (f.determinant() - 1) * f.determinant() * f.inverse().transpose();
}

// −Div P, N/m³.
Vec3 made_force(const Vec3& p, double mu, double kappa) {
  const double h = 3e-4;
  Vec3 sum = Vec3::Zero();
  for (int k = 0; k < 3; ++k)
    sum -= (made_stress(p + h * Vec3::Unit(k), mu, kappa) - made_stress(p - h * Vec3::Unit(k), mu, kappa))
               .col(k) /
           (2 * h);
  return sum;
}

// Gauss points of a cube collapsed to a tet: calls visit(barycentric coordinates, part of the tet's volume).
void for_each_quadrature_point(const std::function<void(const Vec4&, double)>& visit) {
  const double a = std::sqrt(0.6);
  const std::array<double, 3> at{0.5 * (1 - a), 0.5, 0.5 * (1 + a)}, weight{5.0 / 18, 8.0 / 18, 5.0 / 18};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 3; ++k) {
        const double r = at[i], s = at[j] * (1 - r), t = at[k] * (1 - r - s);
        visit({1 - r - s - t, r, s, t}, 6 * weight[i] * weight[j] * weight[k] * (1 - r) * (1 - r - s));
      }
    }
  }
}

std::vector<double> shape_functions(const Vec4& l, bool quadratic) {
  if (!quadratic) return {l[0], l[1], l[2], l[3]};
  std::vector<double> n;
  for (int k = 0; k < 4; ++k) n.push_back(l[k] * (2 * l[k] - 1));
  for (const auto& [k, m] : k_tet_edges) n.push_back(4 * l[k] * l[m]);
  return n;
}

// RMS distance between the solution on `cells` cells in each direction and the made motion.
double made_error(int cells, bool quadratic) {
  const double mu = 1e4, kappa = 2e4;
  const Solid solid(tet_box({1, 1, 1}, Eigen::Vector3i::Constant(cells + 1)), quadratic);
  const TetElements elements = solid.elements();
  const auto held = solid.nodes([](const Vec3& p) { return p.cwiseAbs().maxCoeff() > 0.5 - 1e-9; });
  Points start = solid.mesh.vertices, forces = Points::Zero(start.rows(), 3);
  for (Eigen::Index i = 0; i < start.rows(); ++i) start.row(i) = made_motion(start.row(i)).transpose();
  const auto visit = [&](const auto& at_point) {
    for (std::size_t tet = 0; tet < elements.tet_count(); ++tet) {
      const int* nodes = elements.nodes_of(tet * elements.points_per_tet());
      const double volume =
          elements.volume[tet * elements.points_per_tet()] * static_cast<double>(elements.points_per_tet());
      for_each_quadrature_point([&](const Vec4& l, double part) {
        Vec3 p = Vec3::Zero();
        for (int k = 0; k < 4; ++k) p += l[k] * solid.mesh.vertices.row(nodes[k]).transpose();
        at_point(nodes, shape_functions(l, quadratic), p, part * volume);
      });
    }
  };
  visit([&](const int* nodes, const std::vector<double>& n, const Vec3& p, double volume) {
    const Vec3 force = volume * made_force(p, mu, kappa);
    for (std::size_t a = 0; a < n.size(); ++a) forces.row(nodes[a]) += n[a] * force.transpose();
  });
  const Points x = solve(solid, ModifiedStVK{mu, kappa}, held, start, forces).positions;
  double sum = 0;
  visit([&](const int* nodes, const std::vector<double>& n, const Vec3& p, double volume) {
    Vec3 error = -made_motion(p);
    for (std::size_t a = 0; a < n.size(); ++a) error += n[a] * x.row(nodes[a]).transpose();
    sum += volume * error.squaredNorm();
  });
  return std::sqrt(sum);
}

}  // namespace

std::vector<ValidationRecord> validate_quadratic_patch(const ValidationContext&) {
  std::vector<ValidationRecord> records;
  TetMesh mesh = tet_box({1, 1.2, 0.8}, {4, 4, 4});
  for (Eigen::Index i = 0; i < mesh.vertices.rows(); ++i) {
    if ((mesh.vertices.row(i).transpose().cwiseAbs() - Vec3(0.5, 0.6, 0.4)).maxCoeff() > -1e-9) continue;
    for (int c = 0; c < 3; ++c)
      mesh.vertices(i, c) += 0.06 * (2 * uniform_random(5, static_cast<std::uint64_t>(3 * i + c)) - 1);
  }
  const Solid solid(std::move(mesh), true);
  const auto held =
      solid.nodes([](const Vec3& x) { return (x.cwiseAbs() - Vec3(0.5, 0.6, 0.4)).maxCoeff() > -1e-9; });
  Mat3 f;
  f << 1.1, 0.05, 0.02, -0.03, 0.95, 0.1, 0.04, -0.06, 1.07;
  Points start = solid.mesh.vertices;
  for (const int i : held) start.row(i) = (f * solid.mesh.vertices.row(i).transpose()).transpose();
  const TetElements elements = solid.elements();
  for (const ElasticModel model : {ElasticModel::modified_stvk, ElasticModel::stvk, ElasticModel::corotated,
                                   ElasticModel::neo_hookean, ElasticModel::barrier_neo_hookean}) {
    const ElasticEnergy energy = make_energy(model, 1e5, 0.3);
    StaticOptions options;
    options.newton.force_tolerance = 1e-14;
    const Points x = static_solve(elements, energy, held, start, {}, options).positions;
    const auto stress = [&](const Mat3& g) {
      return std::visit([&](const auto& psi) { return psi.gradient(g); }, energy);
    };
    double worst = 0;
    for (std::size_t e = 0; e < elements.count(); ++e)
      worst = std::max(worst, (stress(elements.deformation(x, e)) - stress(f)).norm() / stress(f).norm());
    records.push_back(at_most(
        fmt::format("patch test of quadratic tets, {}: deviation from uniform stress", name_of(model)), worst,
        1e-12, "an affine boundary gives an affine interior"));
  }
  return records;
}

std::vector<ValidationRecord> validate_quadratic_calculix(const ValidationContext& context) {
  if (!calculix_available()) return {};
  const Solid solid(tet_box({4, 0.5, 0.4}, {13, 3, 3}), true);
  CalculixJob job;
  job.directory = context.directory;
  job.name = "cantilever-quadratic";
  job.mesh = solid.mesh;
  job.midsides = solid.midsides;
  job.young = 1e6;
  job.poisson = 0.3;
  job.clamped = solid.nodes([](const Vec3& x) { return x.x() < -2 + 1e-9; });
  const Points forces = end_force(solid, 2, {0, 0, -180});
  const StaticResult ours = solve(solid, make_energy(ElasticModel::stvk, job.young, job.poisson), job.clamped,
                                  solid.mesh.vertices, forces);
  const std::optional<Points> theirs = calculix_static(job, forces);
  if (!theirs) return {{"CalculiX on the quadratic cantilever", 0, 1, 0, false, "ccx did not finish"}};
  const Points u = ours.positions - solid.mesh.vertices;
  const double scale = theirs->rowwise().norm().maxCoeff();
  return {
      no_less_than("quadratic tets: tip deflection / length: the case is large", scale / 4, 0.2, "geometry"),
      at_most("quadratic tets: largest difference of displacement / tip deflection",
              (u - *theirs).rowwise().norm().maxCoeff() / scale, 1e-4,
              "CalculiX, NLGEOM, C3D10 on the same mesh, St. Venant–Kirchhoff")};
}

std::vector<ValidationRecord> validate_bending(const ValidationContext&) {
  const std::string beam = "Timoshenko beam, length 10 times the thickness, cubic cells";
  const std::string cook = "Cook's membrane, plane stress, refined solution 23.96";
  const double coarse = cook_deflection(4, true) / 23.96, fine = cook_deflection(8, true) / 23.96;
  return {at_most("linear tets, one cell through the thickness: share of the deflection",
                  beam_share(1, false), 0.5, beam + " (they lock)"),
          near("quadratic tets, one cell through the thickness: share of the deflection", beam_share(1, true),
               1, 0.03, beam),
          near("quadratic tets, two cells: share of the deflection", beam_share(2, true), 1, 0.015, beam),
          at_most("linear tets, Cook's membrane on 4×4 cells: share", cook_deflection(4, false) / 23.96, 0.7,
                  cook + " (they lock)"),
          no_less_than("quadratic tets, Cook's membrane on 4×4 cells: share", coarse, 0.9, cook),
          near("quadratic tets, Cook's membrane on 8×8 cells: share", fine, 1, 0.015, cook),
          no_less_than("quadratic tets, Cook's membrane: error on 4×4 over that on 8×8 cells",
                       std::abs(coarse - 1) / std::abs(fine - 1), 3,
                       "halved cells; a corner with infinite stress keeps it below 8")};
}

std::vector<ValidationRecord> validate_manufactured(const ValidationContext&) {
  const std::string source =
      "theory of linear and quadratic elements, smooth manufactured solution of large strain";
  std::vector<ValidationRecord> records;
  for (const bool quadratic : {false, true}) {
    const double coarse = made_error(4, quadratic), fine = made_error(8, quadratic);
    records.push_back(near(fmt::format("{} tets: order of the displacement's error, 4 to 8 cells",
                                       quadratic ? "quadratic" : "linear"),
                           std::log2(coarse / fine), quadratic ? 3 : 2, 0.25, source));
  }
  return records;
}

}  // namespace exemplar::fem
