#include "core/world/region.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/mesh/bvh.h"
#include "core/world/rotation.h"

namespace exemplar {

namespace {

// Positive inside: how far the point is from leaving the region (not a Euclidean distance for boxes).
double depth(const Region& region, const Vec3& point) {
  const Vec3 r = point - region.centre;
  switch (region.kind) {
    case RegionKind::box:
      return (0.5 * region.size - (exp_rotation(region.rotation).transpose() * r).cwiseAbs()).minCoeff();
    case RegionKind::sphere:
      return region.radius - r.norm();
    case RegionKind::cylinder: {
      const double along = r.dot(region.axis.normalized());
      const double across = (r - along * region.axis.normalized()).norm();
      return std::min(
          {0.5 * region.axis.norm() - std::abs(along), region.radius - across, across - region.hollow});
    }
    case RegionKind::half_space:
      return r.dot(region.normal.normalized());
    default:
      return 0;
  }
}

// Of equal ones the first.
std::vector<int> nearest_nodes(const Points& positions, const std::vector<Vec3>& points) {
  std::vector<Box> places(static_cast<std::size_t>(positions.rows()));
  for (std::size_t i = 0; i < places.size(); ++i)
    places[i].extend(Vec3(positions.row(static_cast<Eigen::Index>(i))));
  const Bvh tree(places);
  std::vector<int> nodes;
  for (const Vec3& point : points) {
    int best = -1;
    double limit = std::numeric_limits<double>::infinity();
    tree.for_nearest(point, limit, [&](int i) {
      const double distance = (positions.row(i).transpose() - point).squaredNorm();
      if (distance > limit || (distance == limit && i > best && best >= 0)) return;
      limit = distance;
      best = i;
    });
    nodes.push_back(std::max(best, 0));
  }
  return nodes;
}

}  // namespace

void check_region(const Region& region) {
  if (!region.centre.allFinite() || !region.rotation.allFinite())
    throw InputError("a region's numbers must be finite");
  if (region.kind == RegionKind::box && !(region.size.minCoeff() > 0 && region.size.allFinite()))
    throw InputError("a box region needs positive sizes");
  if (region.kind == RegionKind::sphere && !(region.radius > 0))
    throw InputError("a sphere region needs a positive radius");
  if (region.kind == RegionKind::cylinder && !(region.axis.norm() > 0 && region.axis.allFinite()))
    throw InputError("a cylinder region needs two ends that differ");
  if (region.kind == RegionKind::cylinder && !(region.radius > region.hollow && region.hollow >= 0))
    throw InputError("a cylinder region needs a positive radius, larger than that of its bore");
  if (region.kind == RegionKind::half_space && !(region.normal.norm() > 0 && region.normal.allFinite()))
    throw InputError("a half space needs a normal that is not zero");
  if (region.kind == RegionKind::nearest && region.points.empty())
    throw InputError("a region of nearest nodes needs at least one point");
}

bool contains(const Region& region, const Vec3& point) {
  return depth(region, point) >= 0;
}

std::vector<int> select_nodes(const Region& region, const Points& positions) {
  std::vector<int> nodes;
  if (positions.rows() == 0) return nodes;
  if (region.kind == RegionKind::nearest) {
    nodes = nearest_nodes(positions, region.points);
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    return nodes;
  }
  const double tolerance = 1e-9 * (positions.colwise().maxCoeff() - positions.colwise().minCoeff()).norm();
  for (Eigen::Index i = 0; i < positions.rows(); ++i) {
    if (depth(region, positions.row(i).transpose()) >= -tolerance) nodes.push_back(static_cast<int>(i));
  }
  return nodes;
}

}  // namespace exemplar
