#include "rigidplastic/dent/checks/validation.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "core/base/random.h"
#include "core/mesh/models/primitives.h"
#include "rigidplastic/dent/checks/brute_force.h"
#include "rigidplastic/dent/checks/outline.h"
#include "rigidplastic/dent/dent_distance.h"
#include "rigidplastic/dent/envelope.h"
#include "rigidplastic/dent/method.h"
#include "rigidplastic/dent/rim.h"
#include "rigidplastic/rigid/method.h"

namespace exemplar::dent {

namespace {

constexpr double k_degree = std::numbers::pi / 180;
const Rectangle k_everywhere{Vec2(-10, -10), Vec2(10, 10)};

// A surface that touches z = 0 from below at the origin.
struct Striker {
  TriMesh mesh;
  Adjacency neighbours;

  explicit Striker(TriMesh surface) : mesh(std::move(surface)) {
    mesh.vertices.col(2).array() -= mesh.vertices.col(2).maxCoeff();
    neighbours = vertex_neighbours(unique_edges(mesh.triangles), mesh.vertices.rows());
  }
  Projectile projectile() const { return {&mesh.vertices, &mesh.triangles, &neighbours}; }
};

Striker ball(double radius) {
  TriMesh mesh = make_sphere({radius, 48});
  const Quat up = Quat::FromTwoVectors(Vec3(mesh.vertices.row(0)), Vec3::UnitZ());
  mesh.vertices = mesh.vertices * up.toRotationMatrix().transpose();
  return Striker(std::move(mesh));
}

Impact impact_at(double theta) {
  Impact impact;
  impact.velocity = 10 * Vec3(std::sin(theta), 0, std::cos(theta));
  return impact;
}

DentMap map_of(const Striker& striker, double theta, double distance, const ProfileOptions& options) {
  const Impact impact = impact_at(theta);
  DentMap map;
  map.frame = dent_frame(impact);
  map.distance = distance;
  map.grid = finished_profile(
      imprint(striker.projectile(), impact, map.frame, distance, k_everywhere, options), distance, options);
  return map;
}

std::vector<ValidationRecord> envelope(const ValidationContext&) {
  double worst = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    DepthGrid grid = DepthGrid::over({Vec2::Zero(), 0.01 * Vec2(60, 45)}, 0.01, 0);
    for (std::size_t k = 0; k < grid.depth.size(); ++k)
      grid.depth[k] = std::max(0.0, uniform_random(seed, k) - 0.1 * static_cast<double>(seed));
    DepthGrid fast = grid;
    broaden(fast, 0.03);
    const DepthGrid truth = brute_force_envelope(grid, 0.03);
    for (std::size_t k = 0; k < truth.depth.size(); ++k)
      worst = std::max(worst, std::abs(fast.depth[k] / truth.depth[k] - 1));
  }
  return {at_most("envelope, worst relative difference", worst, 1e-12, "brute force over all Gaussians")};
}

// A ball meets a block whose middle vertex lies under it; the whole method, not only the map.
SceneSettings ball_on_block(double speed) {
  SceneSettings settings;
  settings.time = {0.1, 100, 4};
  settings.gravity = Vec3::Zero();
  BodySettings block;
  block.name = "block";
  block.surface.box = BoxParams{Vec3(1, 0.5, 1), {40, 10, 40}};
  block.material.density = 2000;
  block.material.yield_stress = 1e6;
  settings.bodies.push_back(block);
  ObstacleSettings ball_settings;
  ball_settings.name = "ball";
  ball_settings.sphere = SphereSettings{0.2};
  ball_settings.mass = 50;
  ball_settings.position = Vec3(0, 0.46, 0);
  ball_settings.velocity = Vec3(0, -speed, 0);
  settings.obstacles.push_back(ball_settings);
  return settings;
}

struct Outcome {
  Diagnostics first, last;
  Points
      displacement;  // of the first body's surface against a rigid motion: |x − X| in the body's coordinates
  std::vector<VecX> depth;
};

double metric(const Diagnostics& d, const std::string& name) {
  for (const Metric& m : d.extra) {
    if (m.name == name) return m.value;
  }
  return k_unknown;
}

Outcome run(const SceneSettings& settings, const Settings& method_settings) {
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, method_settings);
  Outcome outcome;
  outcome.first = method->diagnostics();
  for (int frame = 1; frame <= scene.frame_count(); ++frame)
    method->advance(scene.frame_time(frame), [] { return false; });
  outcome.last = method->diagnostics();
  const Geometry surface = method->fields().front();
  for (const FieldArray& array : surface.arrays) {
    if (array.name != "dent_depth") continue;
    std::size_t at = 0;
    for (const Body& body : scene.bodies) {
      const Eigen::Index rows = body.surface().vertices.rows();
      outcome.depth.push_back(Eigen::Map<const VecX>(array.values.data() + at, rows));
      at += static_cast<std::size_t>(rows);
    }
  }
  return outcome;
}

std::vector<ValidationRecord> head_on(const ValidationContext&) {
  Settings settings;
  settings.distance = 0.05;
  const Outcome outcome = run(ball_on_block(4), settings);
  const Scene scene = make_scene(ball_on_block(4), "");
  const Points& rest = scene.bodies[0].surface().vertices;
  double spread = 0;
  for (Eigen::Index v = 0; v < rest.rows(); ++v) {
    if (rest(v, 1) < 0.2499) continue;
    for (Eigen::Index w = 0; w < v; ++w) {  // the other seven points of a square's symmetry
      if (rest(w, 1) < 0.2499) continue;
      const bool same =
          std::abs(std::hypot(rest(v, 0), rest(v, 2)) - std::hypot(rest(w, 0), rest(w, 2))) < 1e-9;
      if (same) spread = std::max(spread, std::abs(outcome.depth[0][v] - outcome.depth[0][w]));
    }
  }
  return {near_relative("depth of a head-on ball's dent", outcome.depth[0].maxCoeff(), 0.05, 0.01,
                        "the dent distance"),
          at_most("difference of depths at equal radii / dent distance", spread / 0.05, 0.06,
                  "axial symmetry; a grid of 1 cm"),
          near("dents", metric(outcome.last, "dents"), 1, 0, "one dent per impact")};
}

std::vector<ValidationRecord> glancing(const ValidationContext&) {
  std::vector<ValidationRecord> records;
  const Striker striker = ball(0.4);
  for (const double degrees : {0.0, 30.0, 60.0, 75.0}) {
    const double theta = degrees * k_degree, a = 0.05;
    const DentMap map = map_of(striker, theta, a, {0.05, 0.01, 200, {6, 6}});
    double largest = 0, deepest = 0;
    for (int j = 0; j < map.grid.rows; ++j) {
      for (int i = 0; i < map.grid.columns; ++i) {
        const Vec2 p = map.grid.centre(i, j);
        const Vec3 moved = map.displacement(Vec3(p.x(), p.y(), 0));
        largest = std::max(largest, moved.norm());
        deepest = std::max(deepest, moved.z());
      }
    }
    records.push_back(near_relative(fmt::format("{:.0f}°: largest displacement", degrees), largest, a, 1e-12,
                                    "the dent distance"));
    records.push_back(near_relative(fmt::format("{:.0f}°: normal depth", degrees), deepest,
                                    a * std::cos(theta), 1e-12, "a cos θ"));
  }
  return records;
}

// Fig. 6 as numbers: by how much a rabbit put into its dent sticks out of it.
std::vector<ValidationRecord> interpenetration(const ValidationContext&) {
  const Striker rabbit(make_rabbit({0.4, 1.0, 30}));
  const Impact impact = impact_at(0);
  const ProfileOptions options{0.02, 0.004, 200, {6, 6}};
  const DepthGrid profile =
      imprint(rabbit.projectile(), impact, dent_frame(impact), 0.05, k_everywhere, options);
  DepthGrid heated = profile;
  smooth(heated, {12, 0});
  const DepthGrid broadened = finished_profile(profile, 0.05, options);
  double heat_alone = 0, both = 0;
  for (std::size_t k = 0; k < profile.depth.size(); ++k) {
    heat_alone = std::max(heat_alone, profile.depth[k] - heated.depth[k]);
    both = std::max(both, profile.depth[k] - broadened.depth[k]);
  }
  return {no_less_than("smoothing alone: deepest penetration / dent distance", heat_alone / 0.05, 0.2,
                       "Fig. 6, the profile's corners are lost"),
          at_most("broadened and smoothed: deepest penetration / dent distance", both / 0.05, 1e-12,
                  "Fig. 6, the projectile fits")};
}

// Fig. 11: grids of 20² to 200² cells beside one of 400².
std::vector<ValidationRecord> resolution(const ValidationContext&) {
  const Striker rabbit(make_rabbit({0.4, 1.0, 30}));
  const auto at = [&](int cells) {
    ProfileOptions options{0.03, 1e-6, cells, {0, 0}};
    return map_of(rabbit, 0, 0.05, options);
  };
  const DentMap fine = at(400);
  std::vector<ValidationRecord> records;
  const std::vector<std::pair<int, double>> limits{{20, 0.5}, {50, 0.2}, {100, 0.05}, {200, 0.02}};
  for (const auto& [cells, limit] : limits) {
    const DentMap map = at(cells);
    double worst = 0;
    for (int j = 0; j < fine.grid.rows; j += 3) {
      for (int i = 0; i < fine.grid.columns; i += 3) {
        const Vec2 p = fine.grid.centre(i, j);
        worst = std::max(worst, std::abs(map.grid.sample(p.x(), p.y()) - fine.grid.at(i, j)));
      }
    }
    records.push_back(at_most(fmt::format("{0}×{0}: worst difference / dent distance", cells), worst / 0.05,
                              limit, "Fig. 11, against 400×400"));
  }
  return records;
}

Vec3 angular_momentum_when_rigid(const SceneSettings& settings) {
  const Scene scene = make_scene(settings, "");
  const auto method = rigid::make_method(scene, {});
  for (int frame = 1; frame <= scene.frame_count(); ++frame)
    method->advance(scene.frame_time(frame), [] { return false; });
  return method->diagnostics().angular_momentum;
}

// Two equal balls, one the other turned by 180°, and both by `spin` about the line on which they meet. Corner meets corner:
// between facets Bullet's contact point would lie anywhere on them.
SceneSettings meeting_balls(double spin) {
  SceneSettings settings;
  settings.time = {0.1, 100, 4};
  settings.gravity = Vec3::Zero();
  const Quat corner_first = Quat(Eigen::AngleAxisd(spin, Vec3::UnitX())) *
                            Quat::FromTwoVectors(Vec3(make_sphere({0.2, 16}).vertices.row(0)), Vec3::UnitX());
  for (const double side : {-1.0, 1.0}) {
    BodySettings body;
    body.name = side < 0 ? "left" : "right";
    body.surface.sphere = SphereParams{0.2, 16};
    body.position = Vec3(0.22 * side, 0, 0);
    const Eigen::AngleAxisd turn(Quat(Eigen::AngleAxisd(side < 0 ? 0 : std::numbers::pi, Vec3::UnitZ())) *
                                 corner_first);
    body.rotation = {turn.axis(), turn.angle() * 180 / std::numbers::pi};
    body.velocity = Vec3(-5 * side, 0, 0);
    body.material.yield_stress = 2e5;
    settings.bodies.push_back(body);
  }
  return settings;
}

// Fig. 1: two equal bodies get equal dents, and momentum is kept. Where two corners touch, the normal is any within the
// cone of their facets, which tilts one dent against the other: by 4e-5 to 0.017 of the depth, with the spin and the rounding.
std::vector<ValidationRecord> mutual(const ValidationContext&) {
  double shallowest = 1, difference = 0, momentum = 0, spin_momentum = 0;
  for (const double spin : {0.0, 0.3, 0.9, 1.5, 2.7, 3.3}) {
    const SceneSettings settings = meeting_balls(spin);
    const Outcome outcome = run(settings, {});
    const double deepest = outcome.depth[0].maxCoeff();
    shallowest = std::min(shallowest, deepest);
    difference = std::max(difference, (outcome.depth[0] - outcome.depth[1]).cwiseAbs().maxCoeff() / deepest);
    momentum = std::max(momentum, (outcome.last.linear_momentum - outcome.first.linear_momentum).norm());
    spin_momentum = std::max(spin_momentum,
                             (outcome.last.angular_momentum - angular_momentum_when_rigid(settings)).norm() /
                                 (0.5 * outcome.first.mass * 5 * 0.2));
  }
  return {no_less_than("dent depth [m]", shallowest, 0.005, "5 m/s each into a yield stress of 0.2 MPa"),
          at_most("largest difference of the two dents / depth", difference, 0.025,
                  "symmetry (Fig. 1), six spins"),
          near("change of momentum [kg m/s]", momentum, 0, 1e-9, "conservation"),
          at_most("angular momentum against that of rigid / m v R", spin_momentum, 2e-4,
                  "dents keep it exactly (tests of reshaping); contacts go on differently after them")};
}

std::vector<ValidationRecord> self_intersection(const ValidationContext&) {
  TriMesh wall = make_box({Vec3(1, 1, 0.02), {40, 40, 1}});
  wall.vertices.col(2).array() += 0.01;
  std::vector<ValidationRecord> records;
  for (const double degrees : {0.0, 45.0}) {
    for (const double steepness : {1.0, 2.0, 12.0}) {
      DentMap map = map_of(ball(0.3), degrees * k_degree, 0.08, {0.08, 0.01, 200, {6, 6}});
      map.falloff.steepness = steepness;
      TriMesh dented = wall;
      map.apply(dented.vertices);
      const double pairs = static_cast<double>(count_self_intersections(dented));
      const std::string name = fmt::format(
          "{:.0f}°, steepness {:.0f}: crossing triangle pairs of a thin wall", degrees, steepness);
      records.push_back(
          steepness <= 2
              ? near(name, pairs, 0, 0, "falloff within the bound 1 − z/|D(0)|")
              : no_less_than(name, pairs, 1, "falloff beyond the bound: it folds (and the run warns)"));
    }
  }
  return records;
}

// ½ m_eff v² = 3 σ_y π h² (R − h/3) for a ball on a block.
std::vector<ValidationRecord> energy(const ValidationContext&) {
  std::vector<ValidationRecord> records;
  const double radius = 0.2, yield = 1e6, block = 1000, ball_mass = 50;
  for (const double speed : {2.0, 8.0}) {
    for (const int steps : {2, 8}) {
      SceneSettings scene = ball_on_block(speed);
      scene.time.steps_per_frame = steps;
      const double work = 0.5 / (1 / ball_mass + 1 / block) * speed * speed;
      double low = 0, high = radius;
      for (int k = 0; k < 60; ++k) {
        const double h = 0.5 * (low + high);
        (3 * yield * std::numbers::pi * h * h * (radius - h / 3) < work ? low : high) = h;
      }
      const Outcome outcome = run(scene, {});
      records.push_back(near_relative(fmt::format("{:.0f} m/s, {} steps a frame: dent depth", speed, steps),
                                      metric(outcome.last, "deepest_dent"), low, 0.03,
                                      "½ m_eff v² = 3 σ_y V"));
    }
  }
  return records;
}

std::vector<ValidationRecord> volume(const ValidationContext&) {
  Settings settings;
  settings.distance = 0.06;
  const Outcome plain = run(ball_on_block(4), settings);
  settings.keep_volume = true;
  const Outcome kept = run(ball_on_block(4), settings);
  const double lost = metric(plain.last, "volume_lost");
  return {no_less_than("volume lost / volume", lost / 0.5, 0.002, "without a rim"),
          at_most("volume lost with a rim / lost without", std::abs(metric(kept.last, "volume_lost")) / lost,
                  0.01, "the rim gives it back")};
}

// Growing over a while, a dent ends as the same dent.
std::vector<ValidationRecord> gradual(const ValidationContext&) {
  Settings at_once, slowly;
  at_once.distance = slowly.distance = 0.05;
  slowly.duration = 0.03;
  const VecX a = run(ball_on_block(4), at_once).depth[0], b = run(ball_on_block(4), slowly).depth[0];
  return {at_most("difference of a dent grown over 30 ms from one made at once [m]",
                  (a - b).cwiseAbs().maxCoeff(), 1e-12, "both start from the undented surface")};
}

}  // namespace

std::vector<ValidationCase> validation_cases() {
  return {{"rigid-dent", "envelope", false, envelope},
          {"rigid-dent", "head-on", false, head_on},
          {"rigid-dent", "glancing", false, glancing},
          {"rigid-dent", "interpenetration", false, interpenetration},
          {"rigid-dent", "resolution", false, resolution},
          {"rigid-dent", "mutual", true, mutual},
          {"rigid-dent", "self-intersection", false, self_intersection},
          {"rigid-dent", "energy", false, energy},
          {"rigid-dent", "volume", false, volume},
          {"rigid-dent", "gradual", false, gradual},
          {"rigid-dent", "outline", false, outline},
          {"rigid-dent", "shear", false, shear}};
}

}  // namespace exemplar::dent
