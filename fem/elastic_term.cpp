#include "fem/elastic_term.h"

#include <Eigen/LU>
#include <algorithm>
#include <numeric>

#include "core/base/index.h"
#include "core/base/parallel.h"
#include "core/elastic/tet_kernel.h"
#include "core/math/svd3.h"

namespace exemplar::fem {

namespace {

constexpr double k_smallest_volume = 0.05;  // of an element, by which its yield stress is multiplied

// J σ of one element or of four.
template <class Energy, class S>
S squared_stress(const Energy& psi, const Matrix3<S>& f) {
  return squared_von_mises<S>(Matrix3<S>(psi.gradient(f) * f.transpose()));
}

double squared_stress(const ElasticEnergy& energy, const Mat3& f) {
  return std::visit([&](const auto& psi) { return squared_stress(psi, f); }, energy);
}

}  // namespace

void ElasticTerm::yield(const YieldCurve* curve, const std::vector<double>* strains) {
  m_curve = curve;
  m_strains = strains;
  if (curve) m_volumes.assign(m_elements.count(), 1.0);
}

void ElasticTerm::begin_step(const RateBase& base) {
  if (!m_curve) return;
  const Points& x0 = base.places.front().second;
  parallel_for(m_elements.count(), [&](std::size_t e) {
    m_volumes[e] = std::max(m_elements.deformation(x0, e).determinant(), k_smallest_volume);
  });
}

bool ElasticTerm::may_flow(std::size_t e, double squared_stress, double squared_stretch,
                           double volume) const {
  return fem::may_flow(squared_stress, squared_stretch, volume, m_mu, limit(e));
}

bool ElasticTerm::may_flow(std::size_t e, const Mat3& f) const {
  return may_flow(e, squared_stress(m_energy, f), f.squaredNorm(), f.determinant());
}

template <class S, class Energy>
bool ElasticTerm::any_may_flow(std::span<const int> group, const Energy& psi, const Matrix3<S>& f) const {
  const S stress = squared_stress(psi, f), stretch = f.squaredNorm(), volume = f.determinant();
  for (std::size_t k = 0; k < group.size(); ++k) {
    const int at = to_int(k);
    if (may_flow(to_size(group[k]), lane(stress, at), lane(stretch, at), lane(volume, at))) return true;
  }
  return false;
}

std::vector<ElementFlow> ElasticTerm::flows(const Points& x) const {
  std::vector<ElementFlow> result(m_elements.count());
  parallel_for(result.size(), [&](std::size_t e) {
    const Mat3 f = m_elements.deformation(x, e);
    if (!may_flow(e, f)) return;
    const Svd3 svd = signed_svd(f);
    const PlasticReturn after = return_to_yield(m_energy, svd.s, limit(e));
    if (!after.flowed()) return;
    const Vec3 factor = (-after.flow).array().exp().matrix();
    result[e] = {svd.v * factor.asDiagonal() * svd.v.transpose(), after.strain,
                 m_elements.volume[e] * limit(e).work(after.strain)};
  });
  return result;
}

double ElasticTerm::value(const Points& x, const VecX&) {
  if (!m_curve) return elastic_energy(m_energy, m_elements, x);
  std::vector<double> values(m_elements.count());
  parallel_for(values.size(), [&](std::size_t e) {
    const Mat3 f = m_elements.deformation(x, e);
    const double density =
        may_flow(e, f) ? value_after(m_energy, return_to_yield(m_energy, signed_svd(f).s, limit(e)), limit(e))
                       : std::visit([&](const auto& psi) { return psi.value(f); }, m_energy);
    values[e] = m_elements.volume[e] * density;
  });
  return std::accumulate(values.begin(), values.end(), 0.0);
}

void ElasticTerm::add_gradient(const Points& x, const VecX&, Points& g, Eigen::Ref<VecX>) {
  if (!m_curve) return add_elastic_gradient(m_energy, m_elements, x, g);
  const auto add = [&](const auto& psi) {
    using Energy = std::decay_t<decltype(psi)>;
    m_elements.for_each_group<Energy>([&]<class S>(std::span<const int> group) {
      const TetGroup<S> tets = m_elements.gather<S>(x, group);
      if (!any_may_flow(group, psi, tets.f))
        return m_elements.scatter(group, tet_gradient(psi, tets.f, tets.rest_inverse, tets.volume), g);
      for (const int& e : group) add_gradient(x, e, g);
    });
  };
  std::visit(add, m_energy);
}

void ElasticTerm::add_gradient(const Points& x, const int& e, Points& g) const {
  const std::span<const int> one(&e, 1);
  const TetGroup<double> tet = m_elements.gather<double>(x, one);
  const Svd3 svd = signed_svd(tet.f);
  const PlasticReturn after = return_to_yield(m_energy, svd.s, limit(to_size(e)));
  const Mat3 stress = svd.u * slopes_after(m_energy, after).asDiagonal() * svd.v.transpose();
  Eigen::Matrix<double, 3, 4> nodal;
  nodal.rightCols<3>() = tet.volume * stress * tet.rest_inverse.transpose();
  nodal.col(0) = -(nodal.col(1) + nodal.col(2) + nodal.col(3));
  m_elements.scatter(one, nodal, g);
}

void ElasticTerm::add_hessian(const Points& x, const VecX&, bool project, BlockMatrix& a, Eigen::Ref<MatX>,
                              Eigen::Ref<MatX>) {
  if (!m_curve) return add_elastic_hessian(m_energy, m_elements, x, project, a);
  const auto add = [&](const auto& psi) {
    using Energy = std::decay_t<decltype(psi)>;
    const auto add_group = [&]<class S>(std::span<const int> group) {
      m_elements.prefetch(group, a);
      const TetGroup<S> tets = m_elements.gather<S>(x, group);
      if (any_may_flow(group, psi, tets.f)) {
        for (const int& e : group) add_hessian(x, e, project, a);
        return;
      }
      BlocksOf<S> blocks;
      tet_blocks(psi, tets.f, tets.rest_inverse, tets.volume, project, blocks);
      m_elements.scatter(group, blocks, a);
    };
    m_elements.for_each_group<Energy>(add_group, project);
  };
  std::visit(add, m_energy);
}

void ElasticTerm::add_hessian(const Points& x, const int& e, bool project, BlockMatrix& a) const {
  const std::span<const int> one(&e, 1);
  const TetGroup<double> tet = m_elements.gather<double>(x, one);
  const Svd3 svd = signed_svd(tet.f);
  const YieldLimit limit = this->limit(to_size(e));
  const PlasticReturn after = return_to_yield(m_energy, svd.s, limit);
  const PrincipalHessian h =
      after.flowed() ? hessian_after(m_energy, svd.s, after, limit)
                     : std::visit([&](const auto& psi) { return psi.principal(svd.s); }, m_energy);
  TetBlocks blocks;
  principal_blocks(h, svd, tet.rest_inverse, tet.volume, project, blocks);
  complete_blocks<double>(blocks);
  m_elements.scatter(one, blocks, a);
}

}  // namespace exemplar::fem
