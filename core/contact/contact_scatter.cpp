#include "core/contact/contact_scatter.h"

#include <algorithm>

namespace exemplar {

namespace {

// Border unknowns of the block's obstacles, −1 for those that are none.
std::array<int, 2> borders(const ContactBlock& block, const ContactUnknowns& unknowns) {
  std::array<int, 2> out{-1, -1};
  for (int k = 0; k < 2; ++k) {
    if (block.obstacles[k] >= 0) out[k] = unknowns.border_of_obstacle[block.obstacles[k]];
  }
  return out;
}

}  // namespace

ContactCliques contact_cliques(const ContactSurface& surface) {
  std::vector<std::vector<int>> groups;
  std::size_t size = 0;
  for (Eigen::Index t = 0; t < surface.triangles.rows(); ++t) {
    std::vector<int> group;
    for (int k = 0; k < 3; ++k) {
      const int point = surface.triangles(t, k);
      for (int e = surface.map.offsets[point]; e < surface.map.offsets[point + 1]; ++e)
        group.push_back(surface.map.nodes[e]);
    }
    std::sort(group.begin(), group.end());
    group.erase(std::unique(group.begin(), group.end()), group.end());
    size = std::max(size, group.size());
    groups.push_back(std::move(group));
  }
  ContactCliques out;
  out.size = static_cast<int>(size);
  for (const std::vector<int>& group : groups) {
    out.nodes.insert(out.nodes.end(), group.begin(), group.end());
    out.nodes.resize(out.nodes.size() + size - group.size(), -1);
  }
  return out;
}

void add_gradient(std::span<const ContactBlock> blocks, const ContactUnknowns& unknowns, Points& nodes,
                  VecX& border) {
  for (const ContactBlock& block : blocks) {
    const auto count = static_cast<Eigen::Index>(block.nodes.size());
    for (Eigen::Index i = 0; i < count; ++i)
      nodes.row(block.nodes[i]) += block.gradient.segment<3>(3 * i).transpose();
    const std::array<int, 2> first = borders(block, unknowns);
    for (int k = 0; k < 2; ++k) {
      if (first[k] >= 0) border.segment<6>(first[k]) += block.gradient.segment<6>(3 * count + 6 * k);
    }
  }
}

void add_hessian(std::span<const ContactBlock> blocks, const ContactUnknowns& unknowns, BorderedHessian& h) {
  const BlockPattern& pattern = h.a.pattern();
  for (const ContactBlock& block : blocks) {
    const int nodes = static_cast<int>(block.nodes.size());
    const std::array<int, 2> border = borders(block, unknowns);
    for (int i = 0; i < nodes; ++i) {
      const int row = unknowns.column_of_node[block.nodes[i]];
      if (row < 0) continue;
      for (int j = 0; j <= i; ++j) {
        const int column = unknowns.column_of_node[block.nodes[j]];
        if (column >= 0) h.a.add(pattern.slot(row, column), block.hessian.block<3, 3>(3 * i, 3 * j));
      }
      for (int k = 0; k < 2; ++k) {
        if (border[k] >= 0)
          h.c.block<3, 6>(3 * row, border[k]) += block.hessian.block<3, 6>(3 * i, 3 * nodes + 6 * k);
      }
    }
    for (int k = 0; k < 2; ++k) {
      for (int l = 0; l < 2; ++l) {
        if (border[k] >= 0 && border[l] >= 0)
          h.d.block<6, 6>(border[k], border[l]) +=
              block.hessian.block<6, 6>(3 * nodes + 6 * k, 3 * nodes + 6 * l);
      }
    }
  }
}

}  // namespace exemplar
