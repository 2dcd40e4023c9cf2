#include "fem/viscous_term.h"

#include "core/base/parallel.h"
#include "core/math/psd.h"

namespace exemplar::fem {

namespace {

// ΔE of one element or of four.
template <class S>
Matrix3<S> strain_change(const Matrix3<S>& f, const std::vector<Mat3>& start, std::span<const int> group) {
  LanePointers<S> from;
  for (std::size_t k = 0; k < from.size(); ++k) from[k] = start[lane_element(group, k)].data();
  return green_strain(f) - gather_matrix<S>(from);
}

}  // namespace

void ViscousTerm::begin_step(const RateBase& base) {
  m_rate = {m_damping / base.dt * m_material.mu, m_damping / base.dt * m_material.lambda};
  m_base.resize(m_elements.count());
  m_start.resize(m_elements.count());
  parallel_for(m_elements.count(), [&](std::size_t e) {
    m_start[e] = green_strain(m_elements.deformation(base.places[0].second, e));
    m_base[e] = base.places[0].first * m_start[e];
    for (std::size_t k = 1; k < base.places.size(); ++k)
      m_base[e] += base.places[k].first * green_strain(m_elements.deformation(base.places[k].second, e));
  });
}

double ViscousTerm::dissipated(const Points& x) {
  std::vector<double> values(m_base.size());
  parallel_for(m_base.size(), [&](std::size_t e) {
    const Mat3 strain = green_strain(m_elements.deformation(x, e));
    const Mat3 stress = m_rate.stress(Mat3(strain - m_base[e]));
    values[e] = m_elements.volume[e] * stress.cwiseProduct(strain - m_start[e]).sum();
  });
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

double ViscousTerm::value(const Points& x, const VecX&) {
  std::vector<double> values(m_base.size());
  parallel_for(m_base.size(), [&](std::size_t e) {
    const Mat3 change = green_strain(m_elements.deformation(x, e)) - m_base[e];
    values[e] = m_elements.volume[e] * m_rate.value_of_strain(change);
  });
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

void ViscousTerm::add_gradient(const Points& x, const VecX&, Points& g, Eigen::Ref<VecX>) {
  if (m_base.empty()) return;
  m_elements.for_each_group<StVK>([&]<class S>(std::span<const int> group) {
    const TetGroup<S> tets = m_elements.gather<S>(x, group);
    const Matrix3<S> stress = tets.volume * (tets.f * m_rate.stress(strain_change(tets.f, m_base, group)));
    Eigen::Matrix<S, 3, 4> nodal;
    nodal.template rightCols<3>().noalias() = stress * tets.rest_inverse.transpose();
    nodal.col(0) = -(nodal.col(1) + nodal.col(2) + nodal.col(3));
    m_elements.scatter(group, nodal, g);
  });
}

void ViscousTerm::add_hessian(const Points& x, const VecX&, bool project, BlockMatrix& a, Eigen::Ref<MatX>,
                              Eigen::Ref<MatX>) {
  if (m_base.empty()) return;
  const auto add_group = [&]<class S>(std::span<const int> group) {
    m_elements.prefetch(group, a);
    const TetGroup<S> tets = m_elements.gather<S>(x, group);
    Matrix3<S> stress = m_rate.stress(strain_change(tets.f, m_base, group));
    // Without its stress the matrix is a sum of squares.
    if constexpr (lane_count<S> == 1) {
      if (project) stress = project_psd(stress);
    }
    BlocksOf<S> blocks;
    strain_blocks(m_rate, tets.f, stress, tets.rest_inverse, tets.volume, blocks);
    complete_blocks<S>(blocks);
    m_elements.scatter(group, blocks, a);
  };
  m_elements.for_each_group<StVK>(add_group, project);
}

}  // namespace exemplar::fem
