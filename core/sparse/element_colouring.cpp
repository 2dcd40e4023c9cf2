#include "core/sparse/element_colouring.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <numeric>

namespace exemplar {

namespace {

constexpr std::size_t k_chunk = 256;

// Spreads the low 21 bits of x over every third bit.
std::uint64_t spread_bits(std::uint64_t x) {
  x &= 0x1fffff;
  x = (x | x << 32) & 0x1f00000000ffffULL;
  x = (x | x << 16) & 0x1f0000ff0000ffULL;
  x = (x | x << 8) & 0x100f00f00f00f00fULL;
  x = (x | x << 4) & 0x10c30c30c30c30c3ULL;
  return (x | x << 2) & 0x1249249249249249ULL;
}

}  // namespace

std::vector<int> spatial_order(const Points& centroids) {
  std::vector<int> order(static_cast<std::size_t>(centroids.rows()));
  std::iota(order.begin(), order.end(), 0);
  if (order.empty()) return order;
  const Vec3 low = centroids.colwise().minCoeff();
  const double size = std::max((centroids.colwise().maxCoeff().transpose() - low).maxCoeff(), 1e-300);
  std::vector<std::uint64_t> keys(order.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Vec3 p = (centroids.row(static_cast<Eigen::Index>(i)).transpose() - low) / size * 2097151.0;
    for (int c = 0; c < 3; ++c) keys[i] |= spread_bits(static_cast<std::uint64_t>(p[c])) << c;
  }
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return keys[static_cast<std::size_t>(a)] < keys[static_cast<std::size_t>(b)];
  });
  return order;
}

ElementColouring::ElementColouring(std::span<const int> nodes, int per_element, std::vector<int> order)
    : m_order(std::move(order)) {
  const std::size_t width = static_cast<std::size_t>(per_element);
  const std::size_t count = nodes.size() / width;
  if (m_order.empty()) {
    m_order.resize(count);
    std::iota(m_order.begin(), m_order.end(), 0);
  }
  assert(m_order.size() == count);
  const int node_count = nodes.empty() ? 0 : *std::max_element(nodes.begin(), nodes.end()) + 1;
  std::vector<std::vector<bool>> used;  // per colour: the nodes it touches
  for (std::size_t begin = 0; begin < count; begin += k_chunk) {
    const Chunk chunk{begin, std::min(begin + k_chunk, count)};
    const auto conflicts = [&](const std::vector<bool>& colour) {
      for (std::size_t k = chunk.begin; k < chunk.end; ++k) {
        for (std::size_t a = 0; a < width; ++a) {
          if (colour[static_cast<std::size_t>(nodes[static_cast<std::size_t>(m_order[k]) * width + a])])
            return true;
        }
      }
      return false;
    };
    std::size_t colour = 0;
    while (colour < used.size() && conflicts(used[colour])) ++colour;
    if (colour == used.size()) {
      used.emplace_back(static_cast<std::size_t>(node_count), false);
      m_colours.emplace_back();
    }
    for (std::size_t k = chunk.begin; k < chunk.end; ++k) {
      for (std::size_t a = 0; a < width; ++a) {
        used[colour][static_cast<std::size_t>(nodes[static_cast<std::size_t>(m_order[k]) * width + a])] =
            true;
      }
    }
    m_colours[colour].push_back(chunk);
  }
}

}  // namespace exemplar
