#include "fem/example_term.h"

#include <Eigen/LU>

#include "core/elastic/tet_kernel.h"
#include "core/math/errors.h"
#include "core/math/parallel.h"
#include "core/math/polar.h"

namespace exemplar {

ExampleTerm::ExampleTerm(TetElements elements, const std::vector<Points>& poses, const ElasticEnergy& energy,
                         bool on_simplex)
    : m_elements(std::move(elements)),
      m_energy(energy),
      m_count(static_cast<int>(poses.size())),
      m_on_simplex(on_simplex) {
  for (std::size_t e = 0; e < m_elements.count(); ++e) {
    m_undeformed.push_back(m_elements.rest_inverse[e].inverse());
    for (const Points& pose : poses) {
      m_poses.push_back(edge_matrix(pose, m_elements.nodes_of(e)));
      if (!(m_poses.back().determinant() > 0)) {
        throw InputError("example " + std::to_string((m_poses.size() - 1) % poses.size() + 1) +
                         " turns element " + std::to_string(e) + " inside out");
      }
    }
  }
  m_directions.resize(m_poses.size());
  set_plastic(std::vector<Mat3>(m_elements.count(), Mat3::Identity()));
}

void ExampleTerm::set_plastic(const std::vector<Mat3>& plastic_inverse) {
  m_rest.resize(m_elements.count());
  const std::size_t m = static_cast<std::size_t>(m_count);
  parallel_for(m_elements.count(), [&](std::size_t e) {
    m_rest[e] = plastic_inverse[e].inverse() * m_undeformed[e];
    const Mat3 inverse = m_rest[e].inverse();
    for (std::size_t i = e * m; i < (e + 1) * m; ++i) {
      m_directions[i] = polar_rotation(m_poses[i] * inverse).transpose() * m_poses[i] - m_rest[e];
    }
  });
  m_weights.resize(0);
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

void ExampleTerm::add_gradient(const Points& x, const VecX& w, Points& g, Eigen::Ref<VecX> g_w) {
  set_weights(w);
  const std::size_t m = static_cast<std::size_t>(m_count);
  m_slots.resize(m * m_elements.count());
  std::visit(
      [&](const auto& psi) {
        m_elements.colouring.for_each([&](std::size_t e) {
          const Mat3 f = m_elements.deformation(x, e);
          const Eigen::Matrix<double, 3, 4> nodal =
              tet_gradient(psi, f, m_elements.rest_inverse[e], m_elements.volume[e]);
          for (int a = 0; a < 4; ++a) g.row(m_elements.nodes_of(e)[a]) += nodal.col(a).transpose();
          const Mat3 pulled = f.transpose() * nodal.rightCols<3>();
          for (int i = 0; i < m_count; ++i) {
            m_slots[e * m + static_cast<std::size_t>(i)] = -pulled.cwiseProduct(direction(e, i)).sum();
          }
        });
      },
      m_energy);
  for (std::size_t e = 0; e < m_elements.count(); ++e) {
    g_w += Eigen::Map<const VecX>(m_slots.data() + e * m, m_count);
  }
}

void ExampleTerm::add_hessian(const Points& x, const VecX& w, bool project, BlockMatrix& a,
                              Eigen::Ref<MatX> c, Eigen::Ref<MatX> d) {
  set_weights(w);
  const std::size_t m = static_cast<std::size_t>(m_count);
  m_slots.resize(m * m * m_elements.count());
  std::visit(
      [&](const auto& psi) {
        m_elements.colouring.for_each([&](std::size_t e) {
          const Mat3& b = m_elements.rest_inverse[e];
          const Mat3 f = m_elements.deformation(x, e);
          for (std::size_t k = 0; k < 10; ++k) a.prefetch(m_elements.slots[10 * e + k]);
          TetBlocks blocks;
          tet_blocks(psi, f, b, m_elements.volume[e], project, blocks);
          for (std::size_t k = 0; k < 10; ++k) a.add(m_elements.slots[10 * e + k], blocks[k]);
          const Mat3 nodal = m_elements.volume[e] * psi.gradient(f) * b.transpose();
          add_borders(e, f, nodal, blocks, c);
        });
      },
      m_energy);
  for (std::size_t e = 0; e < m_elements.count(); ++e) {
    d += Eigen::Map<const MatX>(m_slots.data() + e * m * m, m_count, m_count);
  }
}

void ExampleTerm::add_borders(std::size_t e, const Mat3& f, const Mat3& nodal, const TetBlocks& blocks,
                              Eigen::Ref<MatX> c) {
  const std::size_t m = static_cast<std::size_t>(m_count);
  const Mat3& b = m_elements.rest_inverse[e];
  const Mat3 pulled = f.transpose() * nodal;
  for (int i = 0; i < m_count; ++i) {
    const Mat3& d_i = direction(e, i);
    const Mat3 stiff = edge_forces(blocks, -f * d_i);
    const Mat3 turned = b * d_i;
    add_border_column(e, stiff - nodal * turned.transpose(), c.col(i));
    for (int j = 0; j < m_count; ++j) {
      const Mat3& d_j = direction(e, j);
      m_slots[(e * m + static_cast<std::size_t>(i)) * m + static_cast<std::size_t>(j)] =
          -stiff.cwiseProduct(f * d_j).sum() + pulled.cwiseProduct(d_j * turned + d_i * (b * d_j)).sum();
    }
  }
}

void ExampleTerm::add_border_column(std::size_t e, const Mat3& nodal, Eigen::Ref<VecX> column) const {
  const int* nodes = m_elements.nodes_of(e);
  const int first = m_column[static_cast<std::size_t>(nodes[0])];
  if (first >= 0) column.segment<3>(3 * first) -= nodal.rowwise().sum();
  for (int v = 0; v < 3; ++v) {
    const int at = m_column[static_cast<std::size_t>(nodes[v + 1])];
    if (at >= 0) column.segment<3>(3 * at) += nodal.col(v);
  }
}

}  // namespace exemplar
