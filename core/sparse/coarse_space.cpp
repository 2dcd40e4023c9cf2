#include "core/sparse/coarse_space.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/base/parallel.h"

namespace exemplar {

namespace {

constexpr std::size_t k_largest_aggregate = 64;
constexpr std::size_t k_smallest_aggregate = 4;  // fewer nodes may have rotations without effect
constexpr double k_shift = 1e-12;  // of the diagonal: aggregates on a line keep one such rotation

Mat3 block_at(const BlockMatrix& a, BlockSlot slot) {
  const double* at = a.values().data() + slot.offset;
  Mat3 block;
  for (int c = 0; c < 3; ++c) {
    for (int r = 0; r < 3; ++r) {
      if (slot.stride > 0) {
        block(r, c) = at[c * slot.stride + r];
      } else {
        block(c, r) = at[-c * slot.stride + r];
      }
    }
  }
  return block;
}

// Neighbours of every column, both ways.
std::vector<std::vector<int>> neighbours(const BlockPattern& pattern) {
  std::vector<std::vector<int>> result(static_cast<std::size_t>(pattern.columns()));
  for (int j = 0; j < pattern.columns(); ++j) {
    for (const int i : pattern.block_rows(j)) {
      if (i == j) continue;
      result[static_cast<std::size_t>(i)].push_back(j);
      result[static_cast<std::size_t>(j)].push_back(i);
    }
  }
  return result;
}

}  // namespace

CoarseSpace::CoarseSpace(const BlockPattern& pattern, std::span<const char> left_out) {
  aggregate(pattern, left_out);
  find_pairs(pattern);
  std::vector<int> cliques;
  for (const Pair& pair : m_pairs) {
    for (const int node : {2 * pair.row, 2 * pair.row + 1, 2 * pair.column, 2 * pair.column + 1})
      cliques.push_back(node);
  }
  m_pattern = std::make_unique<BlockPattern>(2 * m_aggregates, cliques, 4);
  m_matrix = BlockMatrix(*m_pattern);
  m_cholesky = std::make_unique<Cholesky>(*m_pattern);
  m_arms.resize(static_cast<std::size_t>(pattern.columns()));
}

// Grows groups breadth first from the free node of lowest index; a remainder that is too small joins a
// neighbour.
void CoarseSpace::aggregate(const BlockPattern& pattern, std::span<const char> left_out) {
  const auto in_space = [&](std::size_t j) { return left_out.empty() || !left_out[j]; };
  const std::vector<std::vector<int>> graph = neighbours(pattern);
  m_aggregate_of.assign(graph.size(), -1);
  for (std::size_t seed = 0; seed < graph.size(); ++seed) {
    if (m_aggregate_of[seed] >= 0 || !in_space(seed)) continue;
    std::vector<std::size_t> group{seed};
    m_aggregate_of[seed] = m_aggregates;
    int beside = -1;
    for (std::size_t next = 0; next < group.size(); ++next) {
      for (const int n : graph[group[next]]) {
        const auto neighbour = static_cast<std::size_t>(n);
        if (m_aggregate_of[neighbour] >= 0) {
          if (m_aggregate_of[neighbour] != m_aggregates) beside = m_aggregate_of[neighbour];
        } else if (group.size() < k_largest_aggregate && in_space(neighbour)) {
          m_aggregate_of[neighbour] = m_aggregates;
          group.push_back(neighbour);
        }
      }
    }
    if (group.size() < k_smallest_aggregate && beside >= 0) {
      for (const std::size_t member : group) m_aggregate_of[member] = beside;
    } else {
      ++m_aggregates;
    }
  }
  m_member_start.assign(static_cast<std::size_t>(m_aggregates) + 1, 0);
  for (const int a : m_aggregate_of) {
    if (a >= 0) ++m_member_start[static_cast<std::size_t>(a) + 1];
  }
  for (std::size_t a = 1; a < m_member_start.size(); ++a) m_member_start[a] += m_member_start[a - 1];
  m_members.resize(static_cast<std::size_t>(m_member_start.back()));
  std::vector<int> fill(m_member_start.begin(), m_member_start.end() - 1);
  for (std::size_t j = 0; j < m_aggregate_of.size(); ++j) {
    if (m_aggregate_of[j] < 0) continue;
    m_members[static_cast<std::size_t>(fill[static_cast<std::size_t>(m_aggregate_of[j])]++)] =
        static_cast<int>(j);
  }
}

void CoarseSpace::find_pairs(const BlockPattern& pattern) {
  std::map<std::pair<int, int>, std::vector<FineBlock>> found;
  for (int j = 0; j < pattern.columns(); ++j) {
    for (const int i : pattern.block_rows(j)) {
      const int a = m_aggregate_of[static_cast<std::size_t>(i)],
                b = m_aggregate_of[static_cast<std::size_t>(j)];
      if (a < 0 || b < 0) continue;
      const FineBlock block =
          a >= b ? FineBlock{i, j, pattern.slot(i, j)} : FineBlock{j, i, pattern.slot(j, i)};
      found[{std::max(a, b), std::min(a, b)}].push_back(block);
    }
  }
  for (const auto& [key, blocks] : found) {
    m_pairs.push_back({key.first, key.second, m_blocks.size(), m_blocks.size() + blocks.size()});
    m_blocks.insert(m_blocks.end(), blocks.begin(), blocks.end());
  }
}

void CoarseSpace::place_nodes(const Points& positions) {
  for (std::size_t a = 0; a < static_cast<std::size_t>(m_aggregates); ++a) {
    const auto begin = static_cast<std::size_t>(m_member_start[a]),
               end = static_cast<std::size_t>(m_member_start[a + 1]);
    Vec3 centre = Vec3::Zero();
    for (std::size_t k = begin; k < end; ++k) centre += positions.row(m_members[k]).transpose();
    centre /= static_cast<double>(end - begin);
    double square = 0;
    for (std::size_t k = begin; k < end; ++k) {
      const Vec3 arm = positions.row(m_members[k]).transpose() - centre;
      m_arms[static_cast<std::size_t>(m_members[k])] = arm;
      square = std::max(square, arm.squaredNorm());
    }
    if (!(square > 0)) continue;
    for (std::size_t k = begin; k < end; ++k)
      m_arms[static_cast<std::size_t>(m_members[k])] /= std::sqrt(square);
  }
}

// Σ P_iᵀ A_ij P_j over the pair's blocks.
Eigen::Matrix<double, 6, 6> CoarseSpace::restricted(const BlockMatrix& a, const Pair& pair) const {
  Eigen::Matrix<double, 6, 6> sum = Eigen::Matrix<double, 6, 6>::Zero();
  for (std::size_t k = pair.begin; k < pair.end; ++k) {
    const FineBlock& fine = m_blocks[k];
    const Mat3 block = block_at(a, fine.slot);
    // A [ρ]× takes the cross product of every row with ρ, [ρ]× A that of ρ with every column.
    const Mat3 right = -block.rowwise().cross(m_arms[static_cast<std::size_t>(fine.column)].transpose());
    const Vec3& arm = m_arms[static_cast<std::size_t>(fine.row)];
    Eigen::Matrix<double, 6, 6> term;
    term << block, right, -block.colwise().cross(arm), -right.colwise().cross(arm);
    sum += term;
    if (pair.row == pair.column && fine.row != fine.column) sum += term.transpose();
  }
  return sum;
}

bool CoarseSpace::update(const BlockMatrix& a, const Points& positions) {
  place_nodes(positions);
  m_matrix.set_zero();
  std::vector<Eigen::Matrix<double, 6, 6>> blocks(m_pairs.size());
  parallel_for(
      m_pairs.size(), [&](std::size_t k) { blocks[k] = restricted(a, m_pairs[k]); }, 16);
  for (std::size_t k = 0; k < m_pairs.size(); ++k) {
    const int row = 2 * m_pairs[k].row, column = 2 * m_pairs[k].column;
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        if (row + i >= column + j)
          m_matrix.add(m_pattern->slot(row + i, column + j), blocks[k].block<3, 3>(3 * i, 3 * j));
      }
    }
    if (row != column) continue;
    const double shift = k_shift * blocks[k].diagonal().cwiseAbs().maxCoeff();
    for (int i = 0; i < 2; ++i) m_matrix.add_to_diagonal(row + i, shift);
  }
  return m_cholesky->factorise(m_matrix);
}

void CoarseSpace::add_correction(const double* r, double* z, int count) {
  MatX coarse(6 * m_aggregates, count);
  const auto k_count = static_cast<std::size_t>(count);
  const auto at = [&](int node, int c, int k) {
    return (3 * static_cast<std::size_t>(node) + static_cast<std::size_t>(c)) * k_count +
           static_cast<std::size_t>(k);
  };
  for (std::size_t a = 0; a < static_cast<std::size_t>(m_aggregates); ++a) {
    for (int k = 0; k < count; ++k) {
      Vec3 force = Vec3::Zero(), torque = Vec3::Zero();
      for (int m = m_member_start[a]; m < m_member_start[a + 1]; ++m) {
        const int node = m_members[static_cast<std::size_t>(m)];
        const Vec3 f(r[at(node, 0, k)], r[at(node, 1, k)], r[at(node, 2, k)]);
        force += f;
        torque += m_arms[static_cast<std::size_t>(node)].cross(f);
      }
      coarse.block<3, 1>(6 * static_cast<Eigen::Index>(a), k) = force;
      coarse.block<3, 1>(6 * static_cast<Eigen::Index>(a) + 3, k) = torque;
    }
  }
  const MatX motion = m_cholesky->solve(coarse);
  for (std::size_t j = 0; j < m_arms.size(); ++j) {
    if (m_aggregate_of[j] < 0) continue;
    const Eigen::Index row = 6 * static_cast<Eigen::Index>(m_aggregate_of[j]);
    for (int k = 0; k < count; ++k) {
      const Vec3 u = motion.block<3, 1>(row, k) + motion.block<3, 1>(row + 3, k).cross(m_arms[j]);
      for (int c = 0; c < 3; ++c) z[at(static_cast<int>(j), c, k)] += u[c];
    }
  }
}

}  // namespace exemplar
