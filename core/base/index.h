// Short names for conversions between the index types of the standard library (std::size_t), of Eigen
// (Eigen::Index) and of connectivity (int), for numbers that are known to fit.
#pragma once

#include <Eigen/Core>
#include <concepts>
#include <cstddef>

namespace exemplar {

constexpr std::size_t to_size(std::integral auto i) {
  return static_cast<std::size_t>(i);
}
constexpr Eigen::Index to_row(std::integral auto i) {
  return static_cast<Eigen::Index>(i);
}
constexpr int to_int(std::integral auto i) {
  return static_cast<int>(i);
}

}  // namespace exemplar
