#include "core/scene/checks/start_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/input_file.h"
#include "core/mesh/distance.h"
#include "core/mesh/quality.h"
#include "core/scene/rig_file.h"

namespace exemplar {

namespace {

double diagonal(const Points& points) {
  return (points.colwise().maxCoeff() - points.colwise().minCoeff()).norm();
}

// How deep the deepest of these points is inside the obstacle; 0: none is.
double depth_in(const ObstacleBody& obstacle, const Points& points) {
  double deepest = 0;
  for (Eigen::Index i = 0; i < points.rows(); ++i)
    deepest =
        std::max(deepest, -obstacle.distance(obstacle.initial_state(), points.row(i).transpose()).value);
  return deepest;
}

// Points of an obstacle where it may touch something, in the world; each stands for a ball of the features' radius.
Points samples_of(const ObstacleBody& obstacle) {
  const RigidState& state = obstacle.initial_state();
  Points points = obstacle.shape().samples();
  for (Eigen::Index i = 0; i < points.rows(); ++i)
    points.row(i) = (state.position + state.orientation * Vec3(points.row(i))).transpose();
  return points;
}

std::string path_of(const Scene& scene, std::size_t obstacle) {
  return obstacle < scene.obstacle_paths.size() ? scene.obstacle_paths[obstacle] : "obstacles";
}

bool is_closed(const Body& body) {
  if (body.is_sheet()) return false;
  const SurfaceReport report = inspect(body.surface());
  return report.closed && report.manifold && report.volume > 0;
}

bool is_near(const ObstacleBody& obstacle, const Points& points) {
  if (obstacle.shape().kind() == ShapeKind::plane) return false;  // seen from the body's side
  const double reach = obstacle.shape().bounding_radius();
  const Vec3& x = obstacle.initial_state().position;
  const Vec3 low = points.colwise().minCoeff().transpose(), high = points.colwise().maxCoeff().transpose();
  return ((x.array() > low.array() - reach) && (x.array() < high.array() + reach)).all();
}

void find_in_bodies(const Scene& scene, const Body& body, std::vector<Problem>& problems) {
  const Points& surface = body.initial_surface();
  const double allowed = k_start_depth * diagonal(surface);
  std::optional<SurfaceDistance> inside;
  for (std::size_t o = 0; o < scene.obstacles.size(); ++o) {
    const ObstacleBody& obstacle = scene.obstacles[o];
    double depth = depth_in(obstacle, surface);
    if (depth <= allowed && is_near(obstacle, surface) && is_closed(body)) {
      if (!inside) inside.emplace(TriMesh{surface, body.surface().triangles});
      const Points samples = samples_of(obstacle);
      for (Eigen::Index i = 0; i < samples.rows(); ++i)
        depth = std::max(
            depth, obstacle.shape().features().radius - inside->signed_distance(samples.row(i).transpose()));
    }
    if (depth > allowed)
      problems.push_back({"", body.path() + ".position",
                          fmt::format("{} starts {:.3g} m inside {} ({}); at most {:.2g} m is moved out",
                                      body.name(), depth, obstacle.name(), path_of(scene, o), allowed)});
  }
}

// Samples of one in the other, both ways.
double overlap(const ObstacleBody& a, const ObstacleBody& b) {
  double depth = 0;
  for (const auto& [of, in] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    if (of->shape().kind() == ShapeKind::plane) continue;
    const Points samples = samples_of(*of);
    for (Eigen::Index i = 0; i < samples.rows(); ++i)
      depth = std::max(depth, of->shape().features().radius -
                                  in->distance(in->initial_state(), samples.row(i).transpose()).value);
  }
  return depth;
}

bool may_touch(const ObstacleBody& a, const ObstacleBody& b) {
  const double reach = a.shape().bounding_radius() + b.shape().bounding_radius();
  return (a.initial_state().position - b.initial_state().position).norm() <= reach;
}

void find_between_obstacles(const Scene& scene, std::vector<Problem>& problems) {
  for (std::size_t i = 0; i < scene.obstacles.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const ObstacleBody &a = scene.obstacles[j], &b = scene.obstacles[i];
      if ((!a.dynamic() && !b.dynamic()) || !may_touch(a, b)) continue;
      const double size = std::min(a.shape().bounding_radius(), b.shape().bounding_radius());
      const double depth = overlap(a, b);
      if (depth > k_start_depth * size)
        problems.push_back(
            {"", path_of(scene, i) + ".position",
             fmt::format("{} overlaps {} ({}) by {:.3g} m at the start, and one of them moves freely: "
                         "move them apart",
                         b.name(), a.name(), path_of(scene, j), depth)});
    }
  }
}

void warn_if(Notes& notes, bool is_odd, const std::string& text) {
  if (is_odd) notes.push_back({Severity::warning, text});
}

void warn_of_units(const Body& body, const Vec3& gravity, Notes& notes) {
  const Material& m = body.material();
  const Points& x = body.surface().vertices;
  const double size = diagonal(x);
  const std::string& name = body.name();
  warn_if(notes, size > 150,
          fmt::format("{} is {:.3g} m large: millimetres? surface.scale: 0.001", name, size));
  warn_if(notes, size < 1e-4, fmt::format("{} is {:.3g} m large: metres? surface.scale: 1000", name, size));
  // Both a thousand and a milliard times larger make a common solid: aluminium, steel, glass, wood.
  const bool is_scaled = m.density >= 0.5 && m.density < 25 && m.young >= 0.01 && m.young <= 1000;
  warn_if(
      notes, is_scaled,
      fmt::format("{} has a density of {:g} kg/m³ and a modulus of {:g} Pa: g/cm³ and GPa? density: {:g}, "
                  "young: {:g}",
                  name, m.density, m.young, 1000 * m.density, 1e9 * m.young));
  warn_if(notes, m.density < 5 && !is_scaled,
          fmt::format("{} has a density of {:g} kg/m³, that of air: g/cm³? density: {:g}", name, m.density,
                      1000 * m.density));
  warn_if(notes, m.density > 3e4,
          fmt::format("{} has a density of {:g} kg/m³, more than any metal", name, m.density));
  warn_if(notes, m.young < 100 && !is_scaled,
          fmt::format("{} has a modulus of {:g} Pa, softer than any gel: MPa or GPa? young: {:g} or {:g}",
                      name, m.young, 1e6 * m.young, 1e9 * m.young));
  warn_if(notes, m.young > 2e12,
          fmt::format("{} has a modulus of {:g} Pa, stiffer than diamond", name, m.young));
  if (body.is_sheet() || gravity.norm() == 0) return;
  const VecX heights = x * gravity.normalized();
  const double height = heights.maxCoeff() - heights.minCoeff();
  const double sag = m.density * gravity.norm() * height / m.young;
  warn_if(
      notes, sag > 2 && m.young >= 100,
      fmt::format(
          "{} is too soft for its own weight: ρ g h / E = {:.2g} (a standing column of it would be flat); a "
          "larger young?",
          name, sag));
}

void warn_of_idle_supports(const Body& body, Notes& notes) {
  const std::vector<Support>& supports = body.supports();
  for (std::size_t k = 0; k < supports.size(); ++k) {
    const std::string path = fmt::format("{}.supports[{}]", body.path(), k);
    warn_if(notes, !supports[k].x && !supports[k].y && !supports[k].z,
            path + " holds nothing: x, y and z are all false");
    warn_if(notes, supports[k].clamped && !body.is_sheet(),
            path + ".clamped has no effect: only sheets have it");
  }
}

void warn_of_idle_loads(const Scene& scene, Notes& notes) {
  const auto check = [&](const std::string& path, double start) {
    warn_if(notes, start >= scene.time.duration,
            fmt::format("{} has no effect: it starts at {:g} s, the scene ends at {:g} s", path, start,
                        scene.time.duration));
  };
  for (const Load& load : scene.loads) check(load.path, load.start);
  for (const Pull& pull : scene.pulls) check(pull.path, pull.window.start);
}

std::string problem_of_run(const std::string& place) {
  std::error_code error;
  return std::filesystem::exists(place, error) ? "" : "there is no such run";
}

void find_rig_problems(const std::string& place, const std::string& path, std::vector<Problem>& problems) {
  try {
    check_rig_file(place);
  } catch (const InputError& error) {
    for (const Problem& problem : error.problems()) problems.push_back({place, path, problem.message});
  }
}

}  // namespace

std::vector<Problem> file_problems(const Scene& scene) {
  std::vector<Problem> problems;
  for (const Body& body : scene.bodies) {
    if (&body != &scene.bodies.front() && (&body - 1)->path() == body.path()) continue;  // a copy
    const auto place_of = [&](const std::string& name) {
      return (std::filesystem::path(body.directory()) / name).string();
    };
    const auto look_at = [&](const std::string& name, const std::string& path, const auto& problem_of) {
      const std::string place = place_of(name), problem = problem_of(place);
      if (!problem.empty()) problems.push_back({place, body.path() + path, problem});
      return problem.empty();
    };
    const BodySettings& settings = body.settings();
    for (std::size_t e = 0; e < settings.examples.size(); ++e) {
      const ExampleSettings& example = settings.examples[e];
      const std::string path = fmt::format(".examples[{}]", e);
      if (example.file) look_at(*example.file, path, problem_of_file);
      if (example.frame) look_at(example.frame->run, path, problem_of_run);
    }
    if (settings.volume.file) look_at(*settings.volume.file, ".volume", problem_of_file);
    if (settings.pieces && settings.pieces->labels)
      look_at(*settings.pieces->labels, ".pieces", problem_of_file);
    if (settings.rig && settings.rig->file && look_at(*settings.rig->file, ".rig.file", problem_of_file))
      find_rig_problems(place_of(*settings.rig->file), body.path() + ".rig.file", problems);
  }
  return problems;
}

std::vector<Problem> start_problems(const Scene& scene) {
  std::vector<Problem> problems = file_problems(scene);
  if (!problems.empty()) return problems;  // where a body starts may be in one of them
  for (const Body& body : scene.bodies) find_in_bodies(scene, body, problems);
  find_between_obstacles(scene, problems);
  return problems;
}

Notes scene_warnings(const Scene& scene) {
  Notes notes;
  for (const Body& body : scene.bodies) {
    // Copies of one body say it once.
    const bool is_copy = &body != &scene.bodies.front() && (&body - 1)->path() == body.path();
    if (is_copy) continue;
    warn_of_units(body, scene.gravity, notes);
    warn_of_idle_supports(body, notes);
  }
  warn_of_idle_loads(scene, notes);
  return notes;
}

}  // namespace exemplar
