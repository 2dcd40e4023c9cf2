#include "fem/compatible_term.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "core/elastic/tet_kernel.h"

namespace exemplar::fem {

namespace {

std::size_t pair_index(int p, int q) {
  return static_cast<std::size_t>(p * (p + 1) / 2 + q);
}

}  // namespace

CompatibleTerm::CompatibleTerm(TetElements elements, int pose_offset, const std::vector<Points>& poses,
                               const ElasticEnergy& energy, double penalty, bool on_simplex)
    : m_elements(std::move(elements)),
      m_energy(energy),
      m_pose_offset(pose_offset),
      m_count(static_cast<int>(poses.size())),
      m_on_simplex(on_simplex) {
  double volume = 0;
  m_first = *std::min_element(m_elements.nodes.begin(), m_elements.nodes.end());
  m_nodes = *std::max_element(m_elements.nodes.begin(), m_elements.nodes.end()) + 1 - m_first;
  std::vector<std::set<int>> rings(static_cast<std::size_t>(m_nodes));
  for (std::size_t e = 0; e < m_elements.count(); ++e) {
    volume += m_elements.volume[e];
    for (const Points& pose : poses) {
      const Mat3 f = edge_matrix(pose, m_elements.nodes_of(e)) * m_elements.rest_inverse[e];
      if (!(f.determinant() > 0))
        throw InputError("an example turns element " + std::to_string(e) + " inside out");
      m_strains.push_back(green_strain(f));
    }
    for (int a = 0; a < 4; ++a) m_cliques.push_back(m_elements.nodes_of(e)[a]);
    for (int a = 0; a < 4; ++a) {
      m_cliques.push_back(pose_node(e, a));
      for (int b = 0; b < 4; ++b) {
        rings[static_cast<std::size_t>(m_elements.nodes_of(e)[a] - m_first)].insert(
            m_elements.nodes_of(e)[b] - m_first);
      }
    }
  }
  for (const auto& ring : rings) m_ring_size = std::max(m_ring_size, static_cast<int>(ring.size()));
  for (const auto& ring : rings) {
    for (const int node : ring) m_rings.push_back(node + m_first + m_pose_offset);
    m_rings.resize(m_rings.size() + static_cast<std::size_t>(m_ring_size) - ring.size(), -1);
  }
  const double length = std::cbrt(6 * volume / static_cast<double>(m_elements.count()));
  const double stiffness =
      std::visit([](const auto& psi) { return psi.principal(Vec3::Ones()).flip[0]; }, energy) / 2;
  m_gamma = penalty * stiffness / length;
  m_shift = 1e-7 * stiffness * length;
  m_pose_elements = m_elements;
  for (int& node : m_pose_elements.nodes) node -= m_first;
  m_pose_pattern = std::make_unique<BlockPattern>(m_nodes, m_pose_elements.nodes, 4);
  std::vector<int> identity(static_cast<std::size_t>(m_nodes));
  for (int i = 0; i < m_nodes; ++i) identity[static_cast<std::size_t>(i)] = i;
  m_pose_elements.connect(*m_pose_pattern, identity);
  m_interpolation = BlockMatrix(*m_pose_pattern);
  set_plastic(std::vector<Mat3>(m_elements.count(), Mat3::Identity()));
}

void CompatibleTerm::set_plastic(const std::vector<Mat3>& plastic_inverse, bool carry) {
  const std::size_t m = static_cast<std::size_t>(m_count);
  m_rest.resize(m_elements.count());
  m_directions.resize(m_strains.size());
  parallel_for(m_elements.count(), [&](std::size_t e) {
    const Mat3 plastic = plastic_inverse[e].inverse();
    m_rest[e] = green_strain(plastic);
    for (std::size_t i = e * m; i < (e + 1) * m; ++i)
      m_directions[i] =
          carry ? Mat3(plastic.transpose() * m_strains[i] * plastic) : Mat3(m_strains[i] - m_rest[e]);
  });
}

void CompatibleTerm::append_cliques(std::vector<BlockPattern::CliqueList>& lists) const {
  lists.push_back({m_cliques, 8});
  lists.push_back({m_rings, m_ring_size});
}

void CompatibleTerm::connect(const BlockPattern& pattern, std::span<const int> column_of_node) {
  m_column.assign(column_of_node.begin(), column_of_node.end());
  const auto column = [&](int node) { return m_column[static_cast<std::size_t>(node)]; };
  m_slots.clear();
  for (std::size_t e = 0; e < m_elements.count(); ++e) {
    for (int p = 0; p < 8; ++p) {
      for (int q = 0; q <= p; ++q) {
        m_slots.push_back(pattern.slot(column(m_cliques[8 * e + static_cast<std::size_t>(p)]),
                                       column(m_cliques[8 * e + static_cast<std::size_t>(q)])));
      }
    }
  }
  m_ring_slots.clear();
  const std::size_t size = static_cast<std::size_t>(m_ring_size);
  for (std::size_t k = 0; k < static_cast<std::size_t>(m_nodes); ++k) {
    for (std::size_t p = 0; p < size && m_rings[k * size + p] >= 0; ++p) {
      for (std::size_t q = 0; q <= p; ++q) {
        m_ring_slots.push_back(pattern.slot(column(m_rings[k * size + p]), column(m_rings[k * size + q])));
      }
    }
  }
}

Mat3 CompatibleTerm::pose_edges(const Points& x, std::size_t e) const {
  const int nodes[4] = {pose_node(e, 0), pose_node(e, 1), pose_node(e, 2), pose_node(e, 3)};
  return edge_matrix(x, nodes);
}

Mat3 CompatibleTerm::strain_residual(const Mat3& f, std::size_t e, const VecX& w) const {
  Mat3 residual = green_strain(f) - m_rest[e];
  for (int i = 0; i < m_count; ++i) residual -= w[i] * direction(e, i);
  return residual;
}

VecX CompatibleTerm::interpolation_gradient(const Points& x, const VecX& w) const {
  Points g = Points::Zero(m_nodes, 3);
  m_pose_elements.colouring.for_each([&](std::size_t e) {
    const Mat3 f = pose_edges(x, e) * m_elements.rest_inverse[e];
    const Mat3 nodal =
        m_elements.volume[e] * f * strain_residual(f, e, w) * m_elements.rest_inverse[e].transpose();
    for (int a = 0; a < 3; ++a) g.row(m_pose_elements.nodes_of(e)[a + 1]) += nodal.col(a).transpose();
    g.row(m_pose_elements.nodes_of(e)[0]) -= nodal.rowwise().sum().transpose();
  });
  return flat(g);
}

MatX CompatibleTerm::interpolation_weights(const Points& x) const {
  MatX result = MatX::Zero(3 * m_nodes, m_count);
  m_pose_elements.colouring.for_each([&](std::size_t e) {
    const Mat3 f = pose_edges(x, e) * m_elements.rest_inverse[e];
    for (int i = 0; i < m_count; ++i) {
      const Mat3 nodal = -m_elements.volume[e] * f * direction(e, i) * m_elements.rest_inverse[e].transpose();
      for (int a = 0; a < 3; ++a)
        result.col(i).segment<3>(3 * m_pose_elements.nodes_of(e)[a + 1]) += nodal.col(a);
      result.col(i).segment<3>(3 * m_pose_elements.nodes_of(e)[0]) -= nodal.rowwise().sum();
    }
  });
  return result;
}

void CompatibleTerm::assemble_interpolation(const Points& x, const VecX& w) {
  m_interpolation.set_zero();
  m_pose_elements.colouring.for_each([&](std::size_t e) {
    const Mat3 f = pose_edges(x, e) * m_elements.rest_inverse[e];
    const double volume = m_elements.volume[e];
    const Mat3 bt = m_elements.rest_inverse[e].transpose();
    const Mat3 g = f * bt;
    const Mat3 stress = volume * bt.transpose() * strain_residual(f, e, w) * bt;
    const Mat3 metric = 0.5 * volume * bt.transpose() * bt;
    const Mat3 left = f * f.transpose();
    TetBlocks blocks;
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b <= a; ++b) {
        Mat3& block = blocks[static_cast<std::size_t>(tet_pair(a + 1, b + 1))];
        block = metric(a, b) * left + (0.5 * volume * g.col(b)) * g.col(a).transpose();
        block.diagonal().array() += stress(a, b);
      }
    }
    complete_blocks(blocks);
    for (std::size_t k = 0; k < 10; ++k) m_interpolation.add(m_pose_elements.slots[10 * e + k], blocks[k]);
  });
}

double CompatibleTerm::penalty_energy(const Points& x, const VecX& w) {
  return m_gamma * interpolation_gradient(x, w).squaredNorm();
}

double CompatibleTerm::value(const Points& x, const VecX& w) {
  std::vector<double> values(m_elements.count());
  std::visit(
      [&](const auto& psi) {
        parallel_for(m_elements.count(), [&](std::size_t e) {
          const Mat3 edges = pose_edges(x, e);
          values[e] =
              edges.determinant() > 0
                  ? m_elements.volume[e] * psi.value(edge_matrix(x, m_elements.nodes_of(e)) * edges.inverse())
                  : std::numeric_limits<double>::infinity();
        });
      },
      m_energy);
  double sum = 0;
  for (const double v : values) sum += v;
  return std::isfinite(sum) ? sum + penalty_energy(x, w) : sum;
}

void CompatibleTerm::add_gradient(const Points& x, const VecX& w, Points& g, Eigen::Ref<VecX> g_w) {
  std::visit(
      [&](const auto& psi) {
        m_elements.colouring.for_each([&](std::size_t e) {
          const Mat3 b = pose_edges(x, e).inverse();
          const Mat3 f = edge_matrix(x, m_elements.nodes_of(e)) * b;
          const Mat3 on_x = m_elements.volume[e] * psi.gradient(f) * b.transpose();
          const Mat3 on_y = -f.transpose() * on_x;
          for (int a = 0; a < 3; ++a) {
            g.row(m_elements.nodes_of(e)[a + 1]) += on_x.col(a).transpose();
            g.row(pose_node(e, a + 1)) += on_y.col(a).transpose();
          }
          g.row(m_elements.nodes_of(e)[0]) -= on_x.rowwise().sum().transpose();
          g.row(pose_node(e, 0)) -= on_y.rowwise().sum().transpose();
        });
      },
      m_energy);
  const VecX residual = interpolation_gradient(x, w);
  assemble_interpolation(x, w);
  VecX product;
  m_interpolation.multiply(residual, product);
  for (int i = 0; i < m_nodes; ++i) {
    g.row(m_first + m_pose_offset + i) += 2 * m_gamma * product.segment<3>(3 * i).transpose();
  }
  g_w += 2 * m_gamma * interpolation_weights(x).transpose() * residual;
}

// 2γ K_I²: for every node the outer product of its row of blocks with itself.
void CompatibleTerm::add_penalty_hessian(BlockMatrix& a, double factor) const {
  const std::size_t size = static_cast<std::size_t>(m_ring_size);
  std::size_t slot = 0;
  for (int k = 0; k < m_nodes; ++k) {
    const int* ring = m_rings.data() + static_cast<std::size_t>(k) * size;
    int count = 0;
    while (count < m_ring_size && ring[count] >= 0) ++count;
    Eigen::Matrix<double, 3, Eigen::Dynamic> row(3, 3 * count);
    for (int p = 0; p < count; ++p) {
      const int node = ring[p] - m_first - m_pose_offset;
      const BlockSlot at = m_pose_pattern->slot(k, node);
      const Eigen::OuterStride<> stride(std::abs(at.stride));
      const Eigen::Map<const Mat3, 0, Eigen::OuterStride<>> block(m_interpolation.values().data() + at.offset,
                                                                  stride);
      if (at.stride > 0) {
        row.middleCols<3>(3 * p) = block;
      } else {
        row.middleCols<3>(3 * p) = block.transpose();
      }
    }
    const MatX square = factor * row.transpose() * row;
    for (int p = 0; p < count; ++p) {
      for (int q = 0; q <= p; ++q) a.add(m_ring_slots[slot++], square.block<3, 3>(3 * p, 3 * q));
    }
  }
}

void CompatibleTerm::add_hessian(const Points& x, const VecX& w, bool project, BlockMatrix& a,
                                 Eigen::Ref<MatX> c, Eigen::Ref<MatX> d) {
  std::visit(
      [&](const auto& psi) {
        m_elements.colouring.for_each([&](std::size_t e) {
          const Mat3 b = pose_edges(x, e).inverse();
          const Mat3 f = edge_matrix(x, m_elements.nodes_of(e)) * b;
          const double volume = m_elements.volume[e];
          TetBlocks xx;
          tet_blocks(psi, f, b, volume, project, xx);
          // With projection only the Gauss–Newton part [I, −F]ᵀ K [I, −F] is kept: semi-definite with K.
          const Mat3 p = project ? Mat3::Zero() : Mat3(volume * psi.gradient(f));
          const Mat3 ftp = f.transpose() * p;
          const auto row = [&](int v) -> Vec3 {
            return v == 0 ? Vec3(-b.colwise().sum().transpose()) : Vec3(b.row(v - 1).transpose());
          };
          for (int i = 0; i < 4; ++i) {
            for (int j = 0; j < 4; ++j) {
              const Mat3 k = i >= j ? xx[static_cast<std::size_t>(tet_pair(i, j))]
                                    : Mat3(xx[static_cast<std::size_t>(tet_pair(j, i))].transpose());
              const Mat3 outer = row(j) * row(i).transpose();
              const Mat3 xy = -k * f - p * outer;  // (x_i, y_j)
              const BlockSlot* slots = m_slots.data() + 36 * e;
              a.add(slots[pair_index(4 + j, i)], xy.transpose());
              if (i < j) continue;
              a.add(slots[pair_index(i, j)], k);
              const Mat3 yy = f.transpose() * k * f + ftp * outer + outer * ftp.transpose();
              a.add(slots[pair_index(4 + i, 4 + j)], yy);
            }
          }
        });
      },
      m_energy);
  assemble_interpolation(x, w);
  add_penalty_hessian(a, 2 * m_gamma);
  const MatX by_weight = interpolation_weights(x);
  d += 2 * m_gamma * by_weight.transpose() * by_weight;
  VecX product;
  for (int i = 0; i < m_count; ++i) {
    m_interpolation.multiply(by_weight.col(i), product);
    for (int n = 0; n < m_nodes; ++n) {
      const int column = m_column[static_cast<std::size_t>(m_first + m_pose_offset + n)];
      if (column >= 0) c.col(i).segment<3>(3 * column) += 2 * m_gamma * product.segment<3>(3 * n);
    }
  }
  for (int n = 0; n < m_nodes; ++n) {
    const int column = m_column[static_cast<std::size_t>(m_first + m_pose_offset + n)];
    if (column >= 0) a.add_to_diagonal(column, m_shift);
  }
}

}  // namespace exemplar::fem
