#include "core/run/start_separation.h"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "core/base/errors.h"
#include "core/contact/contact.h"
#include "core/mesh/topology.h"

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
              fmt::format("{} starts wedged between obstacles: leave a little room", body.name)});
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

// Shifts a whole body so that `gap` (m) is left between its surface (the points' radii included) and every obstacle, and says
// by how much; zero when there is room already. Throws InputError when the body starts deeper inside than `limit` or wedged
// between obstacles.
Vec3 separate_from_obstacles(PlacedBody& body, const std::vector<ObstacleBody>& obstacles, double gap,
                             double limit) {
  const Vec3 shift = separate_points(body, obstacles, gap, limit);
  body.nodes.rowwise() += shift.transpose();
  const Vec3 more = separate_features(body, obstacles, gap, limit);
  body.nodes.rowwise() += more.transpose();
  return shift + more;
}

// From obstacles and from the bodies before it; what makes room for one may take it from another.
Vec3 make_room_by(double share, PlacedBody& body, const StartRoom& room,
                  std::span<const PlacedBody> earlier) {
  constexpr int k_rounds = 10;
  Vec3 shift = Vec3::Zero();
  for (int round = 0; round < k_rounds; ++round) {
    Vec3 more = Vec3::Zero();
    if (!room.obstacles.empty())
      more += separate_from_obstacles(body, room.obstacles, share * body.reach, 5 * body.reach);
    const Vec3 from_obstacles = more;
    if (room.between) more += separate_from_bodies(body, earlier, share);
    shift += more;
    if (more == from_obstacles) return shift;
  }
  throw InputError(Problem{
      "", body.path + ".position",
      fmt::format("body {} starts wedged between bodies and obstacles: leave a little room", body.name)});
}

// Vertices of a sheet may all be outside an obstacle that goes through one of its triangles.
void refuse_pierced(const PlacedBody& body, const StartRoom& room) {
  const TriMesh mesh = body.mesh();
  for (std::size_t o = 0; o < room.obstacles.size(); ++o) {
    const ObstacleBody& obstacle = room.obstacles[o];
    const std::size_t count = count_crossings(mesh, obstacle.surface(obstacle.initial_state()));
    if (count == 0) continue;
    throw InputError(
        Problem{"", body.path + ".position",
                fmt::format("{} and {} ({}) go through each other at the start: {} pairs of triangles cross",
                            body.name, obstacle.name(), room.paths[o], count)});
  }
}

// How `body` is shifted away from obstacles when it starts at `start`; none: there is no way.
std::optional<Vec3> way_out(PlacedBody body, const Vec3& start, const std::vector<ObstacleBody>& obstacles) {
  body.nodes.rowwise() += start.transpose();
  try {
    return separate_from_obstacles(body, obstacles, body.reach, 5 * body.reach);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

// Upwards, as things lie on each other: the corners of a box on another of its size say nothing about the way. Along the gaps
// where that is far shorter, as for a ball beside another.
Vec3 separate_upwards(const PlacedBody& body, const std::vector<ObstacleBody>& obstacles,
                      const Vec3& gravity) {
  constexpr int k_lifts = 40;
  constexpr double k_far = 3;
  const std::optional<Vec3> along_gaps = way_out(body, Vec3::Zero(), obstacles);
  if (along_gaps && along_gaps->isZero()) return Vec3::Zero();
  const Vec3 lift = gravity.norm() > 0 ? Vec3(-1.01 * body.reach * gravity.normalized()) : Vec3::Zero();
  for (int k = 1; k <= k_lifts; ++k) {
    if (along_gaps && k * lift.norm() > k_far * along_gaps->norm()) return *along_gaps;
    const std::optional<Vec3> rest = way_out(body, k * lift, obstacles);
    if (rest && rest->isZero()) return k * lift;
  }
  if (!along_gaps) refuse_wedged(body);
  return *along_gaps;
}

// Triangles of an obstacle's surface, each a little smaller: the corners of a box that stands flush beside or on another of its
// size lie on edges of that, where the way out is not to be seen.
ContactSurface inner_triangles(const TriMesh& mesh) {
  constexpr double k_shrink = 1e-4;
  ContactSurface surface;
  surface.rest.resize(3 * mesh.triangles.rows(), 3);
  surface.triangles.resize(mesh.triangles.rows(), 3);
  for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
    Eigen::RowVector3d centre = Eigen::RowVector3d::Zero();
    for (int k = 0; k < 3; ++k) centre += mesh.vertices.row(mesh.triangles(t, k)) / 3;
    for (int k = 0; k < 3; ++k) {
      surface.triangles(t, k) = static_cast<int>(3 * t) + k;
      surface.rest.row(3 * t + k) =
          (1 - k_shrink) * mesh.vertices.row(mesh.triangles(t, k)) + k_shrink * centre;
    }
  }
  surface.map = PointMap::identity(static_cast<int>(surface.rest.rows()));
  return surface;
}

// How far the triangles are inside the shape that they stand for, e.g. a sphere.
double depth_of_triangles(const ObstacleBody& obstacle, const TriMesh& mesh) {
  double depth = 0;
  for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
    Vec3 centre = Vec3::Zero();
    for (int k = 0; k < 3; ++k) centre += mesh.vertices.row(mesh.triangles(t, k)).transpose() / 3;
    depth = std::max(depth, -obstacle.distance(obstacle.initial_state(), centre).value);
  }
  return depth;
}

}  // namespace

std::vector<ObstacleBody> obstacles_with_room(const Scene& scene, double reach) {
  std::vector<ObstacleBody> placed;
  for (const ObstacleBody& obstacle : scene.obstacles)
    if (!obstacle.dynamic()) placed.push_back(obstacle);
  std::vector<ObstacleBody> result = scene.obstacles;
  for (std::size_t o = 0; o < result.size(); ++o) {
    if (!result[o].dynamic()) continue;
    const TriMesh mesh = result[o].surface(result[o].initial_state());
    const ContactSurface surface = inner_triangles(mesh);
    const PlacedBody body{result[o].name(),
                          scene.obstacle_paths[o],
                          &surface,
                          surface.rest,
                          reach + depth_of_triangles(result[o], mesh),
                          Vec3::Zero()};
    Obstacle moved = result[o].description();
    if (!placed.empty()) moved.position += separate_upwards(body, placed, scene.gravity);
    result[o] = ObstacleBody(moved);
    placed.push_back(result[o]);
  }
  return result;
}

// By a whole reach, so that contact is not loaded like a spring at the start (a rug of 0.2 kg that was put on the floor held
// 2.9 J and hopped); where there is no room for that, by half.
Vec3 make_room(PlacedBody& body, const StartRoom& room, std::span<const PlacedBody> earlier) {
  Vec3 shift = room.between ? carry_along(body, earlier) : Vec3::Zero();
  const PlacedBody start = body;
  try {
    shift += make_room_by(1, body, room, earlier);
  } catch (const InputError&) {
    body = start;
    shift += make_room_by(0.5, body, room, earlier);
  }
  refuse_pierced(body, room);
  body.moved = shift;
  return shift;
}

}  // namespace exemplar
