#include "core/run/body_watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/mesh/distance.h"
#include "core/mesh/mass_properties.h"
#include "core/mesh/topology.h"

namespace exemplar {

namespace {

constexpr double k_torn = 10;           // diagonal over that at rest
constexpr double k_deep = 0.01;         // of the diagonal at rest
constexpr double k_inside_share = 0.5;  // of a body's points that may be inside one obstacle
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

BodyWatch::BodyWatch(const Scene& scene) : m_scene(&scene), m_patience(std::min(0.1, 10 / scene.time.fps)) {
  for (const Body& body : scene.bodies) {
    const TriMesh& surface = body.surface();
    const bool is_closed = !body.is_sheet() && boundary_edges(surface.triangles).rows() == 0;
    m_rest.push_back(
        {is_closed ? signed_volume(surface.vertices, surface.triangles) : 0, diagonal(surface.vertices)});
    m_inverted_since.push_back(-1);
  }
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
  }
  return std::nullopt;
}

std::optional<std::string> BodyWatch::check_body(std::size_t index, const WatchedBody& body, double time) {
  if (body.may_tear) return std::nullopt;
  const Rest& rest = m_rest[index];
  const std::string& name = m_scene->bodies[index].name();
  const double size = diagonal(body.surface);
  if (size > k_torn * rest.size)
    return fmt::format("{} has been torn to {:.3g} times its size; {}", name, size / rest.size, k_advice);
  if (rest.volume == 0) return std::nullopt;
  const double ratio = signed_volume(body.surface, m_scene->bodies[index].surface().triangles) / rest.volume;
  double& since = m_inverted_since[index];
  if (ratio > 0) {
    since = -1;
  } else if (since < 0) {
    since = time;
  } else if (time - since >= m_patience - 1e-9) {
    return fmt::format("{} has turned inside out and stays so ({:.2g} of its volume since {:.3g} s); {}",
                       name, ratio, since, k_advice);
  }
  return std::nullopt;
}

}  // namespace exemplar
