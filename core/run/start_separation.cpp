#include "core/run/start_separation.h"

#include <fmt/format.h>

#include <limits>

#include "core/base/errors.h"
#include "core/contact/contact.h"

namespace exemplar {

namespace {

constexpr int k_passes = 50;

[[noreturn]] void refuse_depth(const PlacedBody& body, double depth, const std::string& obstacle) {
  throw InputError(
      Problem{"", body.path + ".position",
              fmt::format("body {} starts {:.3g} m inside obstacle {}", body.name, depth, obstacle)});
}

[[noreturn]] void refuse_wedged(const PlacedBody& body) {
  throw InputError(
      Problem{"", body.path + ".position",
              fmt::format("body {} starts wedged between obstacles: leave a little room", body.name)});
}

// By the signed distance of the surface's points.
Vec3 separate_points(const PlacedBody& body, const std::vector<ObstacleBody>& obstacles, double gap,
                     double limit) {
  const ContactSurface& surface = *body.surface;
  const Points points = surface.map.apply(body.nodes);
  Vec3 shift = Vec3::Zero();
  for (int pass = 0; pass < k_passes; ++pass) {
    double smallest = std::numeric_limits<double>::infinity();
    Vec3 normal = Vec3::Zero();
    std::string name;
    for (const ObstacleBody& obstacle : obstacles) {
      for (Eigen::Index i = 0; i < points.rows(); ++i) {
        const SignedDistance d =
            obstacle.distance(obstacle.initial_state(), points.row(i).transpose() + shift);
        const double room = d.value - surface.radius_of(i);
        if (room >= smallest) continue;
        smallest = room;
        normal = d.gradient;
        name = obstacle.name();
      }
    }
    if (smallest >= gap) return shift;
    if (smallest < -limit) refuse_depth(body, -smallest, name);
    shift += (1.01 * gap - smallest) * normal;
  }
  refuse_wedged(body);
}

// The same for what vertices do not see, e.g. a ball on the middle of a triangle.
Vec3 separate_features(const PlacedBody& body, const std::vector<ObstacleBody>& obstacles, double gap,
                       double limit) {
  ContactPotential contact(*body.surface, obstacles, {gap, 1, 1});
  const VecX zero = VecX::Zero(6 * to_row(obstacles.size()));
  Vec3 shift = Vec3::Zero();
  for (int pass = 0; pass < k_passes; ++pass) {
    const Points x = body.nodes.rowwise() + shift.transpose();
    contact.find_pairs(x, zero, x, zero);
    const ContactPotential::Closest closest = contact.closest(x, zero);
    if (closest.gap >= gap) return shift;
    if (closest.gap < -limit) refuse_depth(body, -closest.gap, obstacles[to_size(closest.obstacle)].name());
    shift += (1.01 * gap - closest.gap) * closest.away;
  }
  refuse_wedged(body);
}

}  // namespace

Vec3 separate_from_obstacles(PlacedBody& body, const std::vector<ObstacleBody>& obstacles, double gap,
                             double limit) {
  const Vec3 shift = separate_points(body, obstacles, gap, limit);
  body.nodes.rowwise() += shift.transpose();
  const Vec3 more = separate_features(body, obstacles, gap, limit);
  body.nodes.rowwise() += more.transpose();
  return shift + more;
}

}  // namespace exemplar
