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

constexpr double k_longest_piece = 0.2;  // of ν Δt
constexpr int k_flow_halvings = 6;       // of a flow that would raise the energy
constexpr int k_bisections = 45;         // of the way to the yield surface
constexpr int k_sections = 40;           // of the way to the least energy
constexpr double k_smallest_flow_stretch =
    0.05;  // before the power: an inverted or flat element would give NaN
constexpr double k_smallest_volume =
    1e-2;  // J by which stress is divided: a collapsed element has no meaningful one

// Symmetric matrices as vectors whose dot product is that of the matrices.
Eigen::Matrix<double, 6, 1> as_vector(const Mat3& m) {
  const double r = std::sqrt(2.0);
  return (Eigen::Matrix<double, 6, 1>() << m(0, 0), m(1, 1), m(2, 2), r * m(0, 1), r * m(0, 2), r * m(1, 2))
      .finished();
}

// V Σ̂^(−γ) Vᵀ for γ from 0 to 1. As V stays what it is on the way, several flows in a row are one, with
// 1 − γ = Π (1 − γ_k).
class FlowPath {
 public:
  explicit FlowPath(const Mat3& shape) : m_svd(signed_svd(shape)) {
    const Vec3 s = m_svd.s.cwiseAbs().cwiseMax(k_smallest_flow_stretch);
    m_logs = (s / std::cbrt(s.prod())).array().log();
  }
  Mat3 factor(double gamma) const {
    return m_svd.v * (-gamma * m_logs).array().exp().matrix().asDiagonal() * m_svd.v.transpose();
  }
  // Growth of the equivalent plastic strain.
  double strain(double gamma) const { return std::sqrt(2.0 / 3) * gamma * m_logs.norm(); }

 private:
  Svd3 m_svd;
  Vec3 m_logs;
};

// Where f is least on [0, 1], if it has one minimum there.
template <class Function>
double lowest(const Function& f) {
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double a = 0, b = 1, c = b - golden, d = a + golden, at_c = f(c), at_d = f(d);
  for (int k = 0; k < k_sections; ++k) {
    if (at_c < at_d) {
      b = std::exchange(d, c);
      at_d = at_c;
      at_c = f(c = b - golden * (b - a));
    } else {
      a = std::exchange(c, d);
      at_c = at_d;
      at_d = f(d = a + golden * (b - a));
    }
  }
  return f(1.0) <= at_c ? 1.0 : c;
}

}  // namespace

struct Plasticity::Element {
  std::size_t index;
  Mat3 total;    // F
  Mat3 inverse;  // F_p⁻¹ before the update
  FlowPath path;
  double distance;  // d
  double volume;    // m³
  const ElasticEnergy& energy;

  Mat3 inverse_at(double gamma) const { return inverse * path.factor(gamma); }
  // W_i, J.
  double stored(double gamma) const {
    const Mat3 candidate = inverse_at(gamma);
    const double density = std::visit([&](const auto& psi) { return psi.value(total * candidate); }, energy);
    return volume * density;
  }
  Mat3 stress(double gamma) const {
    const Mat3 f = total * inverse_at(gamma);
    const Mat3 p = std::visit([&](const auto& psi) -> Mat3 { return psi.gradient(f); }, energy);
    return p * f.transpose() / std::max(std::abs(f.determinant()), k_smallest_volume);
  }
  double von_mises(double gamma) const { return std::sqrt(squared_von_mises<double>(stress(gamma))); }
};

Plasticity::Plasticity(const TetElements& rest, const PlasticParameters& parameters,
                       const std::vector<Points>& poses, const std::vector<std::vector<char>>& takes_part)
    : m_parameters(parameters),
      m_rest_inverse(rest.rest_inverse),
      m_inverse(rest.count(), Mat3::Identity()),
      m_hardening(rest.count(), 0.0),
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
  return symmetric_root(2 * projected + Mat3::Identity(), k_smallest_flow_stretch * k_smallest_flow_stretch);
}

// τ' after the plastic strain has grown by `more`.
double Plasticity::yield(const Element& element, double more) const {
  return m_parameters.yield.stress(m_hardening[element.index] + more) +
         m_parameters.distance_penalty * element.distance;
}

// The least γ at which von Mises' stress is τ', or the one of least energy if that comes first.
double Plasticity::share_without_delay(const Element& element) const {
  const auto above = [&](double gamma) {
    return element.von_mises(gamma) > yield(element, element.path.strain(gamma));
  };
  if (!above(0)) return 0;
  double high = lowest([&](double gamma) { return element.stored(gamma); });
  if (above(high)) return element.stored(high) < element.stored(0) ? high : 0;
  double low = 0;
  for (int k = 0; k < k_bisections; ++k) {
    const double middle = 0.5 * (low + high);
    (above(middle) ? low : high) = middle;
  }
  return high;
}

double Plasticity::share_at_rate(const Element& element, double dt) const {
  const int pieces = std::max(1, static_cast<int>(std::ceil(*m_parameters.rate * dt / k_longest_piece)));
  double share = 0, stored = element.stored(0);
  for (int k = 0; k < pieces; ++k) {
    const double stress = element.stress(share).norm(), limit = yield(element, element.path.strain(share));
    if (!(stress > limit)) break;
    double gamma = std::clamp(*m_parameters.rate * dt / pieces * (stress - limit) / stress, 0.0, 1.0);
    bool falls = false;
    for (int h = 0; h < k_flow_halvings && !falls; ++h, gamma *= 0.5) {
      const double next = 1 - (1 - share) * (1 - gamma), there = element.stored(next);
      falls = there <= stored;
      if (!falls) continue;
      share = next;
      stored = there;
    }
    if (!falls) break;
  }
  return share;
}

FlowSum Plasticity::update(const Points& x, const ElasticEnergy& energy, double dt, TetElements& elements,
                           double share) {
  std::vector<ElementFlow> flows(elements.count());
  std::vector<Overstress> over(elements.count());
  const bool watched = m_parameters.rate && m_count == 0;
  parallel_for(elements.count(), [&](std::size_t e) {
    const Mat3 total = elements.edges(x, e) * m_rest_inverse[e];
    double distance = 0;
    const Mat3 shape = m_count > 0 ? projected_root(e, green_strain(total), &distance) : total;
    const Element element{
        e, total, m_inverse[e], FlowPath(shape * m_inverse[e]), distance, elements.volume[e], energy};
    const double gamma =
        share * (m_parameters.rate ? share_at_rate(element, dt) : share_without_delay(element));
    if (!(gamma > 0)) return;
    const double strain = element.path.strain(gamma);
    flows[e] = {element.path.factor(gamma), strain, element.stored(0) - element.stored(gamma)};
    if (watched) over[e] = {element.stress(gamma).norm() / yield(element, strain), strain / dt};
  });
  if (watched) watch(elements.volume, over);
  return take_over(flows, elements);
}

void Plasticity::watch(const std::vector<double>& volumes, const std::vector<Overstress>& each) {
  Overstress mean;
  double volume = 0;
  for (std::size_t e = 0; e < each.size(); ++e) {
    if (!(each[e].strain_rate > 0)) continue;
    volume += volumes[e];
    mean.factor += volumes[e] * each[e].factor;
    mean.strain_rate += volumes[e] * each[e].strain_rate;
  }
  if (volume == 0 || mean.factor / volume <= m_overstress.factor) return;
  m_overstress = {mean.factor / volume, mean.strain_rate / volume};
}

FlowSum Plasticity::take_over(const std::vector<ElementFlow>& flows, TetElements& elements) {
  FlowSum sum;
  for (std::size_t e = 0; e < flows.size(); ++e) {
    if (!(flows[e].strain > 0)) continue;
    m_inverse[e] *= flows[e].inverse;
    // Round-off must not accumulate in the determinant over many steps.
    m_inverse[e] /= std::cbrt(m_inverse[e].determinant());
    elements.rest_inverse[e] = m_rest_inverse[e] * m_inverse[e];
    m_hardening[e] += flows[e].strain;
    sum.flowed = true;
    sum.released += flows[e].released;
  }
  return sum;
}

void Plasticity::set(std::vector<Mat3> inverse, std::vector<double> strains, TetElements& elements) {
  m_inverse = std::move(inverse);
  m_hardening = std::move(strains);
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
