// Points as nanoflann's k-d trees want to see them.
#pragma once

#include "core/math/types.h"

namespace exemplar::peridynamics {

struct PointCloud {
  const Points& points;
  std::size_t kdtree_get_point_count() const { return static_cast<std::size_t>(points.rows()); }
  double kdtree_get_pt(std::size_t i, std::size_t axis) const {
    return points(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(axis));
  }
  template <class Box>
  bool kdtree_get_bbox(Box&) const {
    return false;
  }
};

}  // namespace exemplar::peridynamics
