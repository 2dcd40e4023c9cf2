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
  m_own = make_system({});
  m_arms.resize(static_cast<std::size_t>(pattern.columns()));
}

CoarseSpace::System CoarseSpace::make_system(std::span<const std::pair<int, int>> more) const {
  std::vector<int> cliques;
  const auto link = [&](int a, int b) {
    for (const int node : {2 * a, 2 * a + 1, 2 * b, 2 * b + 1}) cliques.push_back(node);
  };
  for (const Pair& pair : m_pairs) link(pair.row, pair.column);
  for (const auto& [a, b] : more) link(a, b);
  System system;
  system.pattern = std::make_unique<BlockPattern>(2 * m_aggregates, cliques, 4);
  system.matrix = BlockMatrix(*system.pattern);
  system.cholesky = std::make_unique<Cholesky>(*system.pattern);
  return system;
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

// P_iᵀ B P_j of a block B between the columns i and j.
CoarseSpace::Block6 CoarseSpace::term(const Mat3& block, int row, int column) const {
  // A [ρ]× takes the cross product of every row with ρ, [ρ]× A that of ρ with every column.
  const Mat3 right = -block.rowwise().cross(m_arms[static_cast<std::size_t>(column)].transpose());
  const Vec3& arm = m_arms[static_cast<std::size_t>(row)];
  Block6 out;
  out << block, right, -block.colwise().cross(arm), -right.colwise().cross(arm);
  return out;
}

// Σ P_iᵀ A_ij P_j over the pair's blocks.
CoarseSpace::Block6 CoarseSpace::restricted(const BlockMatrix& a, const Pair& pair) const {
  Block6 sum = Block6::Zero();
  for (std::size_t k = pair.begin; k < pair.end; ++k) {
    const FineBlock& fine = m_blocks[k];
    const Block6 one = term(block_at(a, fine.slot), fine.row, fine.column);
    sum += one;
    if (pair.row == pair.column && fine.row != fine.column) sum += one.transpose();
  }
  return sum;
}

// Block (row, column) of aggregates, row ≥ column.
void CoarseSpace::add(int row, int column, const Block6& block, System& system) const {
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      if (2 * row + i >= 2 * column + j)
        system.matrix.add(system.pattern->slot(2 * row + i, 2 * column + j), block.block<3, 3>(3 * i, 3 * j));
    }
  }
}

bool CoarseSpace::update(const BlockMatrix& a, const Points& positions, const PatchMatrix* patch) {
  place_nodes(positions);
  std::vector<Block6> blocks(m_pairs.size());
  parallel_for(
      m_pairs.size(), [&](std::size_t k) { blocks[k] = restricted(a, m_pairs[k]); }, 16);
  m_active = &m_own;
  if (patch != nullptr) select_system(*patch);
  m_active->matrix.set_zero();
  for (std::size_t k = 0; k < m_pairs.size(); ++k) {
    const int row = m_pairs[k].row, column = m_pairs[k].column;
    add(row, column, blocks[k], *m_active);
    if (row != column) continue;
    const double shift = k_shift * blocks[k].diagonal().cwiseAbs().maxCoeff();
    for (int i = 0; i < 2; ++i) m_active->matrix.add_to_diagonal(2 * row + i, shift);
  }
  if (patch != nullptr) add_patch(*patch);
  return m_active->cholesky->factorise(m_active->matrix);
}

// The system that has all pairs of aggregates that the patch couples.
void CoarseSpace::select_system(const PatchMatrix& patch) {
  std::vector<std::pair<int, int>> linked;
  patch.for_blocks([&](int row, int column, const Mat3&) {
    const int i = m_aggregate_of[static_cast<std::size_t>(row)],
              j = m_aggregate_of[static_cast<std::size_t>(column)];
    if (i >= 0 && j >= 0 && i != j) linked.emplace_back(std::max(i, j), std::min(i, j));
  });
  std::sort(linked.begin(), linked.end());
  linked.erase(std::unique(linked.begin(), linked.end()), linked.end());
  std::erase_if(linked, [&](const std::pair<int, int>& link) {
    return std::binary_search(
        m_pairs.begin(), m_pairs.end(), Pair{link.first, link.second, 0, 0},
        [](const Pair& a, const Pair& b) { return std::pair(a.row, a.column) < std::pair(b.row, b.column); });
  });
  if (linked.empty()) return;
  if (linked != m_linked || !m_patched.pattern) {
    m_patched = make_system(linked);
    m_linked = std::move(linked);
  }
  m_active = &m_patched;
}

void CoarseSpace::add_patch(const PatchMatrix& patch) {
  patch.for_blocks([&](int row, int column, const Mat3& block) {
    const int i = m_aggregate_of[static_cast<std::size_t>(row)],
              j = m_aggregate_of[static_cast<std::size_t>(column)];
    if (i < 0 || j < 0) return;
    Block6 one = term(block, row, column);
    if (i == j && row != column) one = (one + one.transpose()).eval();
    if (i >= j)
      add(i, j, one, *m_active);
    else
      add(j, i, one.transpose(), *m_active);
  });
}

void CoarseSpace::add_correction(const double* r, double* z, int count) {
  MatX coarse(6 * m_aggregates, count);
  const auto k_count = static_cast<std::size_t>(count);
  const auto at = [&](int node, int c, int k) {
    return (3 * static_cast<std::size_t>(node) + static_cast<std::size_t>(c)) * k_count +
           static_cast<std::size_t>(k);
  };
  const auto restrict_to = [&](std::size_t a) {
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
  };
  parallel_for(static_cast<std::size_t>(m_aggregates), restrict_to, 16);
  const MatX motion = m_active->cholesky->solve(coarse);
  const auto prolong_to = [&](std::size_t j) {
    if (m_aggregate_of[j] < 0) return;
    const Eigen::Index row = 6 * static_cast<Eigen::Index>(m_aggregate_of[j]);
    for (int k = 0; k < count; ++k) {
      const Vec3 u = motion.block<3, 1>(row, k) + motion.block<3, 1>(row + 3, k).cross(m_arms[j]);
      for (int c = 0; c < 3; ++c) z[at(static_cast<int>(j), c, k)] += u[c];
    }
  };
  parallel_for(m_arms.size(), prolong_to, 1024);
}

}  // namespace exemplar
