#include "core/contact/contact_scatter.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace exemplar {

namespace {

constexpr int k_most_nodes = 40;  // of a block: four points on at most ten nodes each

// The nodes that a block's points hang on, each once, and with which weights.
struct Spread {
  std::array<int, k_most_nodes> nodes;
  std::array<Vec4, k_most_nodes> weights;  // of each of the block's points
  int count = 0;

  Spread(const ContactBlock& block, const PointMap& map) {
    for (int p = 0; p < block.point_count; ++p) {
      const int point = block.points[to_size(p)];
      for (int k = map.begin(point); k < map.end(point); ++k)
        slot_of(map.nodes[to_size(k)])[p] = map.weights[to_size(k)];
    }
  }
  Vec3 gradient(const ContactBlock& block, int a) const {
    Vec3 sum = Vec3::Zero();
    for (int p = 0; p < block.point_count; ++p) {
      if (weights[to_size(a)][p] != 0) sum += weights[to_size(a)][p] * block.gradient.segment<3>(3 * p);
    }
    return sum;
  }
  Mat3 hessian(const ContactBlock& block, int a, int b) const {
    Mat3 sum = Mat3::Zero();
    for (int p = 0; p < block.point_count; ++p) {
      for (int r = 0; r < block.point_count; ++r) {
        const double weight = weights[to_size(a)][p] * weights[to_size(b)][r];
        if (weight != 0) sum += weight * block.hessian.block<3, 3>(3 * p, 3 * r);
      }
    }
    return sum;
  }
  Eigen::Matrix<double, 3, 6> border(const ContactBlock& block, int a, int k) const {
    Eigen::Matrix<double, 3, 6> sum = Eigen::Matrix<double, 3, 6>::Zero();
    for (int p = 0; p < block.point_count; ++p) {
      const double weight = weights[to_size(a)][p];
      if (weight != 0) sum += weight * block.hessian.block<3, 6>(3 * p, block.obstacle_first(k));
    }
    return sum;
  }

 private:
  Vec4& slot_of(int node) {
    const auto end = nodes.begin() + count;
    const auto found = std::find(nodes.begin(), end, node);
    const std::size_t at = to_size(found - nodes.begin());
    if (found == end) {
      assert(count < k_most_nodes);
      nodes[to_size(count)] = node;
      weights[to_size(count++)].setZero();
    }
    return weights[at];
  }
};

void add_nodes(const ContactBlock& block, const Spread& spread, const ContactUnknowns& unknowns,
               BorderedHessian& h) {
  const BlockPattern& pattern = h.a.pattern();
  for (int a = 0; a < spread.count; ++a) {
    const int row = unknowns.column_of_node[to_size(spread.nodes[to_size(a)])];
    if (row < 0) continue;
    for (int b = 0; b <= a; ++b) {
      const int column = unknowns.column_of_node[to_size(spread.nodes[to_size(b)])];
      if (column >= 0) h.a.add(pattern.slot(row, column), spread.hessian(block, a, b));
    }
    for (int k = 0; k < block.obstacle_count(); ++k) {
      const int border = unknowns.border_of_obstacle[to_size(block.obstacles[to_size(k)])];
      h.c.block<3, 6>(3 * row, border) += spread.border(block, a, k);
    }
  }
}

}  // namespace

ContactCliques contact_cliques(const ContactSurface& surface) {
  std::vector<std::vector<int>> groups;
  std::size_t size = 0;
  for (Eigen::Index t = 0; t < surface.triangles.rows(); ++t) {
    std::vector<int> group;
    for (int k = 0; k < 3; ++k) {
      const std::span<const int> nodes = surface.map.nodes_of(surface.triangles(t, k));
      group.insert(group.end(), nodes.begin(), nodes.end());
    }
    std::sort(group.begin(), group.end());
    group.erase(std::unique(group.begin(), group.end()), group.end());
    size = std::max(size, group.size());
    groups.push_back(std::move(group));
  }
  ContactCliques out;
  out.size = to_int(size);
  for (const std::vector<int>& group : groups) {
    out.nodes.insert(out.nodes.end(), group.begin(), group.end());
    out.nodes.resize(out.nodes.size() + size - group.size(), -1);
  }
  return out;
}

double add_gradient(std::span<const ContactBlock> blocks, const PointMap& map,
                    const ContactUnknowns& unknowns, Points& nodes, VecX& border) {
  double largest = 0;
  for (const ContactBlock& block : blocks) {
    const Spread spread(block, map);
    for (int a = 0; a < spread.count; ++a) {
      const Vec3 force = spread.gradient(block, a);
      largest = std::max(largest, force.norm());
      nodes.row(spread.nodes[to_size(a)]) += force.transpose();
    }
    for (int k = 0; k < block.obstacle_count(); ++k) {
      const int first = unknowns.border_of_obstacle[to_size(block.obstacles[to_size(k)])];
      border.segment<6>(first) += block.gradient.segment<6>(block.obstacle_first(k));
    }
  }
  return largest;
}

void add_hessian(std::span<const ContactBlock> blocks, const PointMap& map, const ContactUnknowns& unknowns,
                 BorderedHessian& h) {
  for (const ContactBlock& block : blocks) {
    if (block.between) continue;
    add_nodes(block, Spread(block, map), unknowns, h);
    for (int k = 0; k < block.obstacle_count(); ++k) {
      for (int l = 0; l < block.obstacle_count(); ++l) {
        const int row = unknowns.border_of_obstacle[to_size(block.obstacles[to_size(k)])];
        const int column = unknowns.border_of_obstacle[to_size(block.obstacles[to_size(l)])];
        h.d.block<6, 6>(row, column) +=
            block.hessian.block<6, 6>(block.obstacle_first(k), block.obstacle_first(l));
      }
    }
  }
}

void add_patch(std::span<const std::span<const ContactBlock>> lists, const PointMap& map,
               const ContactUnknowns& unknowns, BorderedHessian& h) {
  std::vector<std::pair<const ContactBlock*, Spread>> all;
  int size = 0;
  for (const std::span<const ContactBlock> blocks : lists) {
    for (const ContactBlock& block : blocks) {
      if (!block.between) continue;
      all.emplace_back(&block, Spread(block, map));
      size = std::max(size, all.back().second.count);
    }
  }
  if (all.empty()) return;
  const auto column = [&](const Spread& spread, int a) {
    return unknowns.column_of_node[to_size(spread.nodes[to_size(a)])];
  };
  std::vector<int> cliques;
  cliques.reserve(all.size() * to_size(size));
  for (const auto& [block, spread] : all) {
    for (int a = 0; a < size; ++a) cliques.push_back(a < spread.count ? column(spread, a) : -1);
  }
  h.patch = PatchMatrix(cliques, size);
  for (const auto& [block, spread] : all) {
    for (int a = 0; a < spread.count; ++a) {
      for (int b = 0; b <= a; ++b) {
        if (column(spread, a) >= 0 && column(spread, b) >= 0)
          h.patch.add(column(spread, a), column(spread, b), spread.hessian(*block, a, b));
      }
    }
  }
}

}  // namespace exemplar
