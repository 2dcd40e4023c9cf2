#include "core/world/loads.h"

#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/world/pressure.h"

namespace exemplar {

namespace {

void check(const Load& load) {
  check_region(load.region);
  if (!load.value.allFinite() || !std::isfinite(load.magnitude))
    throw InputError("a load's value must be finite");
  check_window(load.window(), "a load");
}

Vec3 centroid(const std::vector<int>& nodes, const VecX& weights, const Points& positions) {
  Vec3 sum = Vec3::Zero();
  for (std::size_t k = 0; k < nodes.size(); ++k)
    sum += weights[static_cast<Eigen::Index>(k)] * positions.row(nodes[k]).transpose();
  return sum;
}

// The rotation that fits `now` to `start` best in the weighted least-squares sense.
Mat3 best_rotation(const std::vector<int>& nodes, const VecX& weights, const Points& start,
                   const Points& now) {
  const Vec3 c0 = centroid(nodes, weights, start), c1 = centroid(nodes, weights, now);
  Mat3 covariance = Mat3::Zero();
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    covariance += weights[static_cast<Eigen::Index>(k)] * (now.row(nodes[k]).transpose() - c1) *
                  (start.row(nodes[k]).transpose() - c0).transpose();
  }
  if (covariance.norm() < 1e-300) return Mat3::Identity();
  const Eigen::JacobiSVD<Mat3> svd(covariance, Eigen::ComputeFullU | Eigen::ComputeFullV);
  Vec3 signs = Vec3::Ones();
  signs.z() = (svd.matrixU() * svd.matrixV().transpose()).determinant() < 0 ? -1 : 1;
  return svd.matrixU() * signs.asDiagonal() * svd.matrixV().transpose();
}

// Least-squares solution for a positive semi-definite matrix: nodes on a line cannot take a moment about it.
Vec3 solve_symmetric(const Mat3& matrix, const Vec3& right) {
  const Eigen::SelfAdjointEigenSolver<Mat3> eigen(matrix);
  Vec3 scaled = eigen.eigenvectors().transpose() * right;
  const double smallest = 1e-12 * eigen.eigenvalues()[2];
  for (int i = 0; i < 3; ++i)
    scaled[i] = eigen.eigenvalues()[i] > smallest ? scaled[i] / eigen.eigenvalues()[i] : 0;
  return eigen.eigenvectors() * scaled;
}

}  // namespace

LoadSet::LoadSet(const std::vector<Load>& loads, const std::string& body, const Points& start_positions,
                 const VecX& node_masses, const Triangles& surface)
    : m_start(start_positions), m_masses(node_masses), m_surface(surface) {
  for (const Load& load : loads) {
    if (!load.body.empty() && load.body != body) continue;
    check(load);
    Prepared p{load, select_nodes(load.region, start_positions), {}, {}, {}};
    if (p.nodes.empty()) throw InputError("a load's region holds no node of body " + body);
    std::vector<int> slot(static_cast<std::size_t>(start_positions.rows()), -1);
    for (std::size_t k = 0; k < p.nodes.size(); ++k) slot[p.nodes[k]] = static_cast<int>(k);
    p.areas = VecX::Zero(static_cast<Eigen::Index>(p.nodes.size()));
    p.triangles = triangles_among(p.nodes, surface);
    for (const int t : p.triangles) {
      const int a = surface(t, 0), b = surface(t, 1), c = surface(t, 2);
      const Vec3 xa = m_start.row(a), xb = m_start.row(b), xc = m_start.row(c);
      const double third = (xb - xa).cross(xc - xa).norm() / 6;
      for (const int v : {a, b, c}) p.areas[slot[v]] += third;
    }
    const bool needs_surface = load.kind == LoadKind::traction || load.kind == LoadKind::pressure;
    if (needs_surface && p.triangles.empty())
      throw InputError("a traction's or pressure's region holds no surface triangle of body " + body);
    const bool by_area = load.kind == LoadKind::force && p.areas.sum() > 0;
    p.weights = by_area ? p.areas : VecX(p.areas.size());
    if (!by_area) {
      for (std::size_t k = 0; k < p.nodes.size(); ++k)
        p.weights[static_cast<Eigen::Index>(k)] = node_masses[p.nodes[k]];
    }
    p.weights /= p.weights.sum();
    m_loads.push_back(std::move(p));
  }
}

Points LoadSet::forces(const Points& positions, double from, double to) const {
  Points forces = Points::Zero(positions.rows(), 3);
  for (const Prepared& p : m_loads) {
    const double factor = p.load.window().mean(from, to);
    if (factor != 0) add_forces(p, positions, factor, forces);
  }
  return forces;
}

void LoadSet::add_forces(const Prepared& p, const Points& positions, double factor, Points& forces) const {
  if (p.load.kind == LoadKind::pressure) {
    std::vector<PressedTriangle> pressed;
    for (const int t : p.triangles)
      pressed.push_back({{m_surface(t, 0), m_surface(t, 1), m_surface(t, 2)}, factor * p.load.magnitude});
    add_pressure_forces(pressed, positions, forces);
    return;
  }
  Vec3 value = factor * p.load.value;
  if (p.load.follower) value = best_rotation(p.nodes, p.weights, m_start, positions) * value;
  if (p.load.kind == LoadKind::torque) {
    // f = w λ×r about the weighted centroid: Σ f = 0 and Σ r×f = (Σ w(|r|² I − r rᵀ)) λ = value.
    const Vec3 centre = centroid(p.nodes, p.weights, positions);
    Mat3 inertia = Mat3::Zero();
    for (std::size_t k = 0; k < p.nodes.size(); ++k) {
      const Vec3 r = positions.row(p.nodes[k]).transpose() - centre;
      inertia +=
          p.weights[static_cast<Eigen::Index>(k)] * (r.squaredNorm() * Mat3::Identity() - r * r.transpose());
    }
    const Vec3 lambda = solve_symmetric(inertia, value);
    for (std::size_t k = 0; k < p.nodes.size(); ++k) {
      const Vec3 r = positions.row(p.nodes[k]).transpose() - centre;
      forces.row(p.nodes[k]) += p.weights[static_cast<Eigen::Index>(k)] * lambda.cross(r).transpose();
    }
    return;
  }
  for (std::size_t k = 0; k < p.nodes.size(); ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    const double share = p.load.kind == LoadKind::force      ? p.weights[i]
                         : p.load.kind == LoadKind::traction ? p.areas[i]
                                                             : m_masses[p.nodes[k]];
    forces.row(p.nodes[k]) += share * value.transpose();
  }
}

}  // namespace exemplar
