#include "core/run/body_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/mesh/distance.h"
#include "core/mesh/mass_properties.h"
#include "core/mesh/topology.h"

namespace exemplar {

namespace {

constexpr double k_torn = 10;                    // diagonal over that at rest
constexpr double k_deep = 0.01;                  // of the diagonal at rest
constexpr double k_inside_share = 0.5;           // of a body's points that may be inside one obstacle
constexpr double k_flat = 0.02, k_swollen = 20;  // volume over that at rest
constexpr double k_least_whole = 0.1;            // of what holds a body together
constexpr double k_out_of_reach = 1e3;           // times what a scene could reach
constexpr const char* k_advice = "try more steps per frame, a stiffer material or a finer mesh";

double diagonal(const Points& points) {
  return (points.colwise().maxCoeff() - points.colwise().minCoeff()).norm();
}

int count_inside(const ObstacleBody& obstacle, const ObstacleState& state, const Points& points,
                 double depth) {
  int inside = 0;
  for (Eigen::Index i = 0; i < points.rows(); ++i)
    inside += obstacle.distance(state, points.row(i).transpose()).value < -depth;
  return inside;
}

// How far the middle of all points is below a plane: half of them may lie on it while the rest has gone through.
double sunk_below(const ObstacleBody& obstacle, const ObstacleState& state, const WatchedBody& body) {
  const Points& points = body.particles.rows() > 0 ? body.particles : body.surface;
  if (obstacle.shape().kind() != ShapeKind::plane || points.rows() == 0) return 0;
  return -obstacle.distance(state, points.colwise().mean().transpose()).value;
}

// Far more than a body of the scene could get away, thrown or falling.
double farthest_reach(const Scene& scene) {
  double size = 0, speed = 0;
  for (const Body& body : scene.bodies) {
    size = std::max(size, body.initial_surface().rowwise().norm().maxCoeff());
    for (Eigen::Index i = 0; i < body.initial_surface().rows(); ++i)
      speed = std::max(speed, body.initial_velocity(body.initial_surface().row(i).transpose()).norm());
  }
  for (const ObstacleBody& obstacle : scene.obstacles) {
    if (std::isfinite(obstacle.shape().bounding_radius()))
      size = std::max(size, obstacle.initial_state().position.norm() + obstacle.shape().bounding_radius());
    speed = std::max(speed, obstacle.initial_state().velocity.norm());
  }
  const double duration = scene.time.duration;
  return k_out_of_reach * (size + (speed + scene.gravity.norm() * duration) * duration);
}

}  // namespace

Notes body_overlap_notes(const Scene& scene) {
  Notes out;
  for (const Body& other : scene.bodies) {
    if (other.is_sheet() || boundary_edges(other.surface().triangles).rows() > 0) continue;
    const SurfaceDistance distance(facing_outwards({other.initial_surface(), other.surface().triangles}));
    for (const Body& body : scene.bodies) {
      if (&body == &other) continue;
      const double deepest = -distance.signed_distances(body.initial_surface()).minCoeff();
      if (deepest > 0.01 * diagonal(body.initial_surface()))
        out.push_back({Severity::warning,
                       fmt::format("{} starts {:.2g} m inside {}", body.name(), deepest, other.name())});
    }
  }
  return out;
}

Notes overlap_notes(const Scene& scene) {
  Notes out = body_overlap_notes(scene);
  for (const Body& body : scene.bodies) {
    const Points& surface = body.initial_surface();
    for (const ObstacleBody& obstacle : scene.obstacles) {
      double deepest = 0;
      for (Eigen::Index i = 0; i < surface.rows(); ++i)
        deepest =
            std::max(deepest, -obstacle.distance(obstacle.initial_state(), surface.row(i).transpose()).value);
      if (deepest > 1e-4 * diagonal(surface))
        out.push_back({Severity::warning,
                       fmt::format("{} starts {:.2g} m inside {}", body.name(), deepest, obstacle.name())});
    }
  }
  return out;
}

BodyWatch::BodyWatch(const Scene& scene)
    : m_scene(&scene), m_patience(std::min(0.1, 10 / scene.time.fps)), m_reach(farthest_reach(scene)) {
  for (const Body& body : scene.bodies) {
    const TriMesh& surface = body.surface();
    const bool is_closed = !body.is_sheet() && boundary_edges(surface.triangles).rows() == 0;
    m_rest.push_back(
        {is_closed ? signed_volume(surface.vertices, surface.triangles) : 0, diagonal(surface.vertices)});
    m_state.flat_since.push_back(-1);
  }
}

void BodyWatch::set_state(State state) {
  if (state.flat_since.size() != m_rest.size()) throw InputError("this state belongs to another scene");
  m_state = std::move(state);
}

std::optional<std::string> BodyWatch::check(const std::vector<std::pair<Vec3, Quat>>& obstacle_poses,
                                            std::span<const WatchedBody> bodies, double time) {
  std::vector<ObstacleState> states(obstacle_poses.size());
  for (std::size_t o = 0; o < states.size(); ++o) {
    states[o].position = obstacle_poses[o].first;
    states[o].orientation = obstacle_poses[o].second;
  }
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    if (auto reason = check_obstacles(b, bodies[b], states)) return reason;
    if (auto reason = check_body(b, bodies[b], time)) return reason;
  }
  return std::nullopt;
}

std::optional<std::string> BodyWatch::check_obstacles(std::size_t index, const WatchedBody& body,
                                                      const std::vector<ObstacleState>& states) const {
  const auto all = static_cast<double>(body.surface.rows() + body.particles.rows());
  for (std::size_t o = 0; o < states.size(); ++o) {
    const ObstacleBody& obstacle = m_scene->obstacles[o];
    // A sheet that lies on something touches it everywhere, by rounding from either side.
    const double depth = k_deep * m_rest[index].size;
    const int inside = count_inside(obstacle, states[o], body.surface, depth) +
                       count_inside(obstacle, states[o], body.particles, depth);
    if (inside > k_inside_share * all)
      return fmt::format("{} has gone into {}: {:.0f} % of its points are inside; {}",
                         m_scene->bodies[index].name(), obstacle.name(), 100 * inside / all, k_advice);
    const double sunk = sunk_below(obstacle, states[o], body);
    if (sunk > depth)
      return fmt::format("{} has gone into {}: its middle is {:.3g} m below; {}",
                         m_scene->bodies[index].name(), obstacle.name(), sunk, k_advice);
  }
  return std::nullopt;
}

std::optional<std::string> BodyWatch::check_body(std::size_t index, const WatchedBody& body, double time) {
  const std::string& name = m_scene->bodies[index].name();
  if (body.whole < k_least_whole)
    return fmt::format("{} has fallen to its nodes: {:.0f} % of what held it together has broken; {}", name,
                       100 * (1 - body.whole), k_advice);
  if (auto reason = check_place(index, body)) return reason;
  if (body.may_tear) return std::nullopt;
  const double size = diagonal(body.surface);
  if (size > k_torn * m_rest[index].size)
    return fmt::format("{} has been torn to {:.3g} times its size; {}", name, size / m_rest[index].size,
                       k_advice);
  return check_volume(index, body, time);
}

std::optional<std::string> BodyWatch::check_place(std::size_t index, const WatchedBody& body) const {
  const Vec3 home = m_scene->bodies[index].surface().vertices.row(0);
  for (const Points* points : {&body.surface, &body.particles}) {
    if (points->rows() == 0) continue;
    const double away = std::sqrt((points->rowwise() - home.transpose()).rowwise().squaredNorm().maxCoeff());
    if (away > m_reach)
      return fmt::format("{} has left the world: a part of it is {:.3g} m away; {}",
                         m_scene->bodies[index].name(), away, k_advice);
  }
  return std::nullopt;
}

std::optional<std::string> BodyWatch::check_volume(std::size_t index, const WatchedBody& body, double time) {
  const double rest = m_rest[index].volume;
  if (rest == 0) return std::nullopt;
  const std::string& name = m_scene->bodies[index].name();
  const double ratio = signed_volume(body.surface, m_scene->bodies[index].surface().triangles) / rest;
  if (ratio > k_swollen) return fmt::format("{} has {:.3g} times its volume; {}", name, ratio, k_advice);
  double& since = m_state.flat_since[index];
  if (ratio > k_flat) {
    since = -1;
  } else if (since < 0) {
    since = time;
  } else if (time - since >= m_patience - 1e-9) {
    const char* what = ratio < 0 ? "has turned inside out" : "has lost its volume";
    return fmt::format("{} {} and stays so ({:.2g} of it since {:.3g} s); {}", name, what, ratio, since,
                       k_advice);
  }
  return std::nullopt;
}

}  // namespace exemplar
