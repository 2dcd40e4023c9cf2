#include "fem/example_term.h"

#include <Eigen/LU>
#include <cmath>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/parallel.h"
#include "core/elastic/tet_kernel.h"
#include "core/math/polar.h"
#include "core/math/psd.h"
#include "core/math/simplex_qp.h"

namespace exemplar::fem {

ExampleTerm::ExampleTerm(TetElements elements, const std::vector<Points>& poses, const ElasticEnergy& energy,
                         bool on_simplex)
    : m_elements(std::move(elements)),
      m_energy(energy),
      m_count(static_cast<int>(poses.size())),
      m_on_simplex(on_simplex) {
  for (std::size_t e = 0; e < m_elements.count(); ++e) {
    m_undeformed.push_back(m_elements.rest_inverse[e].inverse());
    for (const Points& pose : poses) {
      m_poses.push_back(m_elements.edges(pose, e));
      if (!(m_poses.back().determinant() > 0)) {
        throw InputError("example " + std::to_string((m_poses.size() - 1) % poses.size() + 1) +
                         " turns element " + std::to_string(m_elements.tet_of(e)) + " inside out");
      }
    }
  }
  m_directions.resize(m_poses.size());
  set_plastic(std::vector<Mat3>(m_elements.count(), Mat3::Identity()));
}

void ExampleTerm::set_plastic(const std::vector<Mat3>& plastic_inverse, bool carry) {
  m_rest.resize(m_elements.count());
  const std::size_t m = static_cast<std::size_t>(m_count);
  parallel_for(m_elements.count(), [&](std::size_t e) {
    m_rest[e] = plastic_inverse[e].inverse() * m_undeformed[e];
    const Mat3 inverse = m_rest[e].inverse();
    const Mat3 change = m_undeformed[e].inverse() * m_rest[e];
    for (std::size_t i = e * m; i < (e + 1) * m; ++i) {
      const Mat3 pose = carry ? Mat3(m_poses[i] * change) : m_poses[i];
      m_directions[i] = polar_rotation(pose * inverse).transpose() * pose - m_rest[e];
    }
  });
  m_weights.resize(0);
}

VecX ExampleTerm::slopes(const Points& x, const VecX& w) {
  Points unused = Points::Zero(x.rows(), 3);
  VecX g = VecX::Zero(m_count);
  add_gradient(x, w, unused, g);
  return g;
}

// Newton's method on the simplex with curvatures from differences: there are only a few weights.
VecX ExampleTerm::settled_weights(const Points& x, VecX w, const VecX& given) {
  constexpr int most_iterations = 20, most_halvings = 8;
  constexpr double difference = 1e-5, tolerance = 1e-7;
  std::vector<Eigen::Index> free;
  double room = 1;
  for (Eigen::Index i = 0; i < m_count; ++i) {
    if (i < given.size() && !std::isnan(given[i])) {
      room -= given[i];
    } else {
      free.push_back(i);
    }
  }
  if (free.empty() || (m_on_simplex && room <= 0)) return w;
  const SimplexGroup group{0, to_int(free.size()), room};
  const auto groups = m_on_simplex ? std::span(&group, 1) : std::span<const SimplexGroup>();
  double energy = value(x, w);
  for (int k = 0; k < most_iterations; ++k) {
    const VecX all = slopes(x, w), g = all(free);
    MatX curvature(g.size(), g.size());
    for (Eigen::Index i = 0; i < g.size(); ++i) {
      VecX near = w;
      near[free[to_size(i)]] += difference;
      curvature.col(i) = (slopes(x, near)(free) - g) / difference;
    }
    const MatX a = make_positive(0.5 * (curvature + curvature.transpose()), 1e-6);
    const VecX start = w(free), target = minimise_on_simplices(a, g - a * start, start, groups);
    double share = 1;
    VecX next = w;
    for (int h = 0; h < most_halvings; ++h, share *= 0.5) {
      next(free) = start + share * (target - start);
      if (value(x, next) <= energy) break;
    }
    const double there = value(x, next);
    if (!(there < energy)) return w;
    const double moved = (next - w).lpNorm<Eigen::Infinity>();
    w = next;
    energy = there;
    if (moved < tolerance) break;
  }
  return w;
}

Mat3 ExampleTerm::rest_edges(std::size_t e, const VecX& w) const {
  Mat3 edges = m_rest[e];
  for (int i = 0; i < m_count; ++i) edges += w[i] * direction(e, i);
  return edges;
}

void ExampleTerm::set_weights(const VecX& w) {
  if (m_weights.size() == w.size() && m_weights == w) return;
  m_weights = w;
  parallel_for(m_elements.count(),
               [&](std::size_t e) { m_elements.rest_inverse[e] = rest_edges(e, w).inverse(); });
}

void ExampleTerm::connect(const BlockPattern& pattern, std::span<const int> column_of_node) {
  m_elements.connect(pattern, column_of_node);
  m_column.assign(column_of_node.begin(), column_of_node.end());
}

double ExampleTerm::value(const Points& x, const VecX& w) {
  set_weights(w);
  return elastic_energy(m_energy, m_elements, x);
}

template <class S>
Matrix3<S> ExampleTerm::direction(std::span<const int> group, int i) const {
  LanePointers<S> from;
  for (std::size_t k = 0; k < from.size(); ++k) from[k] = direction(lane_element(group, k), i).data();
  return gather_matrix<S>(from);
}

void ExampleTerm::add_gradient(const Points& x, const VecX& w, Points& g, Eigen::Ref<VecX> g_w) {
  set_weights(w);
  const std::size_t m = static_cast<std::size_t>(m_count);
  m_slots.resize(m * m_elements.count());
  const auto add = [&](const auto& psi) {
    using Energy = std::decay_t<decltype(psi)>;
    m_elements.for_each_group<Energy>([&]<class S>(std::span<const int> group) {
      const TetGroup<S> tets = m_elements.gather<S>(x, group);
      const Eigen::Matrix<S, 3, 4> nodal = tet_gradient(psi, tets.f, tets.rest_inverse, tets.volume);
      m_elements.scatter(group, nodal, g);
      const Matrix3<S> pulled = tets.f.transpose() * nodal.template rightCols<3>();
      for (int i = 0; i < m_count; ++i) {
        const S slope = -pulled.cwiseProduct(direction<S>(group, i)).sum();
        for (std::size_t k = 0; k < group.size(); ++k)
          m_slots[static_cast<std::size_t>(group[k]) * m + static_cast<std::size_t>(i)] =
              lane(slope, static_cast<int>(k));
      }
    });
  };
  std::visit(add, m_energy);
  for (std::size_t e = 0; e < m_elements.count(); ++e) {
    g_w += Eigen::Map<const VecX>(m_slots.data() + e * m, m_count);
  }
}

void ExampleTerm::add_hessian(const Points& x, const VecX& w, bool project, BlockMatrix& a,
                              Eigen::Ref<MatX> c, Eigen::Ref<MatX> d) {
  set_weights(w);
  const std::size_t m = static_cast<std::size_t>(m_count);
  m_slots.resize(m * m * m_elements.count());
  const auto add = [&](const auto& psi) {
    using Energy = std::decay_t<decltype(psi)>;
    const auto add_group = [&]<class S>(std::span<const int> group) {
      m_elements.prefetch(group, a);
      const TetGroup<S> tets = m_elements.gather<S>(x, group);
      BlocksOf<S> blocks;
      tet_blocks(psi, tets.f, tets.rest_inverse, tets.volume, project, blocks);
      m_elements.scatter(group, blocks, a);
      const Matrix3<S> stress = tets.volume * psi.gradient(tets.f);
      const Matrix3<S> nodal = stress * tets.rest_inverse.transpose();
      add_borders(group, tets, nodal, blocks, c);
    };
    m_elements.for_each_group<Energy>(add_group, project);
  };
  std::visit(add, m_energy);
  for (std::size_t e = 0; e < m_elements.count(); ++e) {
    d += Eigen::Map<const MatX>(m_slots.data() + e * m * m, m_count, m_count);
  }
}

template <class S>
void ExampleTerm::add_borders(std::span<const int> group, const TetGroup<S>& tets, const Matrix3<S>& nodal,
                              const BlocksOf<S>& blocks, Eigen::Ref<MatX> c) {
  const std::size_t m = static_cast<std::size_t>(m_count);
  const Matrix3<S>& b = tets.rest_inverse;
  const Matrix3<S> pulled = tets.f.transpose() * nodal;
  for (int i = 0; i < m_count; ++i) {
    const Matrix3<S> d_i = direction<S>(group, i);
    const Matrix3<S> change = -tets.f * d_i;
    const Matrix3<S> stiff = edge_forces<S>(blocks, change);
    const Matrix3<S> turned = b * d_i;
    Eigen::Matrix<S, 3, 4> column;
    column.template rightCols<3>() = stiff - nodal * turned.transpose();
    column.col(0) = -(column.col(1) + column.col(2) + column.col(3));
    m_elements.for_each_nodal(group, column, [&](int node, int axis, double value) {
      const int at = m_column[static_cast<std::size_t>(node)];
      if (at >= 0) c(3 * at + axis, i) += value;
    });
    for (int j = 0; j < m_count; ++j) {
      const Matrix3<S> d_j = direction<S>(group, j);
      const Matrix3<S> moved = tets.f * d_j, second = d_j * turned + d_i * (b * d_j);
      const S curvature = pulled.cwiseProduct(second).sum() - stiff.cwiseProduct(moved).sum();
      for (std::size_t k = 0; k < group.size(); ++k) {
        const std::size_t row = static_cast<std::size_t>(group[k]) * m + static_cast<std::size_t>(i);
        m_slots[row * m + static_cast<std::size_t>(j)] = lane(curvature, static_cast<int>(k));
      }
    }
  }
}

}  // namespace exemplar::fem
