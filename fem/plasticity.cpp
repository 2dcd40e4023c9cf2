#include "fem/plasticity.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "core/base/parallel.h"
#include "core/elastic/tet_kernel.h"
#include "core/math/polar.h"
#include "core/math/simplex_qp.h"

namespace exemplar::fem {

namespace {

constexpr double k_longest_piece = 0.2;      // of ν Δt
constexpr int k_halvings = 6;                // of a flow that would raise W_i
constexpr double k_smallest_stretch = 0.05;  // before the power: an inverted or flat element would give NaN

// Symmetric matrices as vectors whose dot product is that of the matrices.
Eigen::Matrix<double, 6, 1> as_vector(const Mat3& m) {
  const double r = std::sqrt(2.0);
  return (Eigen::Matrix<double, 6, 1>() << m(0, 0), m(1, 1), m(2, 2), r * m(0, 1), r * m(0, 2), r * m(1, 2))
      .finished();
}

// V Σ̂^(−γ) Vᵀ
Mat3 flow_factor(const Mat3& f, double gamma) {
  const Svd3 svd = signed_svd(f);
  const Vec3 s = svd.s.cwiseAbs().cwiseMax(k_smallest_stretch);
  const Vec3 unit = s / std::cbrt(s.prod());
  return svd.v * unit.array().pow(-gamma).matrix().asDiagonal() * svd.v.transpose();
}

// F_p⁻¹ after a flow by γ, or by the largest of γ/2, γ/4 … that does not raise W_i; false: none of them.
bool flow_downhill(const Mat3& total, const Mat3& shape, const ElasticEnergy& energy, double gamma,
                   Mat3& inverse) {
  const auto stored = [&](const Mat3& candidate) {
    return std::visit([&](const auto& psi) { return psi.value(total * candidate); }, energy);
  };
  const double before = stored(inverse);
  for (int k = 0; k < k_halvings; ++k, gamma *= 0.5) {
    const Mat3 candidate = inverse * flow_factor(shape * inverse, gamma);
    if (!(stored(candidate) <= before)) continue;
    inverse = candidate;
    return true;
  }
  return false;
}

}  // namespace

Plasticity::Plasticity(const TetElements& rest, const PlasticParameters& parameters,
                       const std::vector<Points>& poses, const std::vector<std::vector<char>>& takes_part)
    : m_parameters(parameters),
      m_rest_inverse(rest.rest_inverse),
      m_inverse(rest.count(), Mat3::Identity()),
      m_count(poses.size()) {
  for (std::size_t e = 0; e < rest.count(); ++e) {
    for (std::size_t i = 0; i < m_count; ++i) {
      const bool in = takes_part.empty() || takes_part[i].empty() || takes_part[i][rest.tet_of(e)] != 0;
      m_strains.push_back(in ? green_strain(rest.edges(poses[i], e) * m_rest_inverse[e]) : Mat3::Zero());
    }
  }
}

Mat3 Plasticity::projected_root(std::size_t e, const Mat3& strain, double* distance) const {
  MatX columns(6, static_cast<Eigen::Index>(m_count));
  for (std::size_t i = 0; i < m_count; ++i)
    columns.col(static_cast<Eigen::Index>(i)) = as_vector(m_strains[e * m_count + i]);
  const VecX w = project_on_simplex_hull(columns, as_vector(strain));
  Mat3 projected = Mat3::Zero();
  for (std::size_t i = 0; i < m_count; ++i)
    projected += w[static_cast<Eigen::Index>(i)] * m_strains[e * m_count + i];
  *distance = (strain - projected).norm();
  return symmetric_root(2 * projected + Mat3::Identity(), k_smallest_stretch * k_smallest_stretch);
}

bool Plasticity::flow(const Mat3& total, const ElasticEnergy& energy, double dt, std::size_t e) {
  double distance = 0;
  Mat3 shape = total;
  if (m_count > 0) shape = projected_root(e, green_strain(total), &distance);
  const double yield = m_parameters.yield_stress + m_parameters.distance_penalty * distance;
  const int pieces = std::max(1, static_cast<int>(std::ceil(m_parameters.rate * dt / k_longest_piece)));
  bool flowed = false;
  for (int k = 0; k < pieces; ++k) {
    const Mat3 elastic = total * m_inverse[e];
    const Mat3 p = std::visit([&](const auto& psi) { return psi.gradient(elastic); }, energy);
    const double j = elastic.determinant();
    // σ = P Fᵀ / J; a collapsed element has no meaningful stress per deformed area: bounded from below.
    const double stress = (p * elastic.transpose()).norm() / std::max(std::abs(j), 1e-2);
    if (!(stress > yield)) break;
    const double gamma = std::clamp(m_parameters.rate * dt / pieces * (stress - yield) / stress, 0.0, 1.0);
    if (!flow_downhill(total, shape, energy, gamma, m_inverse[e])) break;
    flowed = true;
  }
  return flowed;
}

bool Plasticity::update(const Points& x, const ElasticEnergy& energy, double dt, TetElements& elements) {
  std::vector<char> flowed(elements.count(), 0);
  parallel_for(elements.count(), [&](std::size_t e) {
    const Mat3 total = elements.edges(x, e) * m_rest_inverse[e];
    if (!flow(total, energy, dt, e)) return;
    // Round-off must not accumulate in the determinant over many steps.
    m_inverse[e] /= std::cbrt(m_inverse[e].determinant());
    elements.rest_inverse[e] = m_rest_inverse[e] * m_inverse[e];
    flowed[e] = 1;
  });
  return std::find(flowed.begin(), flowed.end(), 1) != flowed.end();
}

void Plasticity::set_inverse(std::vector<Mat3> inverse, TetElements& elements) {
  m_inverse = std::move(inverse);
  for (std::size_t e = 0; e < elements.count(); ++e)
    elements.rest_inverse[e] = m_rest_inverse[e] * m_inverse[e];
}

double Plasticity::largest() const {
  double largest = 0;
  for (const Mat3& inverse : m_inverse)
    largest = std::max(largest, (inverse.inverse() - Mat3::Identity()).norm());
  return largest;
}

}  // namespace exemplar::fem
