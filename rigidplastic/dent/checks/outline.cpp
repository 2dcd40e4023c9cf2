#include "rigidplastic/dent/checks/outline.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "rigidplastic/dent/method.h"

namespace exemplar::dent {

namespace {

constexpr double k_dent_distance = 0.06;  // m, of every dent here
constexpr double k_dented_level = 0.25;   // of the distance: what counts as dented
constexpr double k_wall_cell = 0.01;      // m, of the walls

// A rabbit flies broadside into a block, which is held.
SceneSettings rabbit_and_wall() {
  SceneSettings settings;
  settings.time = {0.05, 200, 4};
  settings.gravity = Vec3::Zero();
  BodySettings wall;
  wall.name = "wall";
  wall.surface.box = BoxParams{Vec3(0.4, 0.56, 0.56), {4, 56, 56}};
  wall.material.yield_stress = 2e5;
  SupportSettings support;
  support.region.all = true;
  wall.supports.push_back(support);
  settings.bodies.push_back(wall);
  BodySettings rabbit;
  rabbit.name = "rabbit";
  rabbit.surface.rabbit = RabbitParams{0.4, 1.0, 32};
  rabbit.position = Vec3(0.42, -0.2, 0);
  rabbit.rotation = {Vec3::UnitY(), -90};
  rabbit.velocity = Vec3(-8, 0, 0);
  settings.bodies.push_back(rabbit);
  return settings;
}

// Surface of the first body, after the first dents.
Points dented_surface(const Scene& scene, const Settings& settings) {
  const auto method = make_method(scene, settings);
  for (int frame = 1; frame <= scene.frame_count(); ++frame) {
    method->advance(scene.frame_time(frame), [] { return false; });
    if (method->diagnostics().plastic_measure > 0) break;
  }
  return method->fields().front().points.topRows(scene.bodies[0].surface().vertices.rows());
}

// The smallest x of a surface above the point (y, z); infinite beside it. Straight from the definition.
double nearest_above(const Points& points, const Triangles& triangles, double y, double z) {
  double nearest = std::numeric_limits<double>::infinity();
  for (Eigen::Index t = 0; t < triangles.rows(); ++t) {
    const Vec3 a = points.row(triangles(t, 0)), b = points.row(triangles(t, 1)),
               c = points.row(triangles(t, 2));
    const auto twice_area = [](const Vec3& p, const Vec3& q, double ry, double rz) {
      return (q.y() - p.y()) * (rz - p.z()) - (q.z() - p.z()) * (ry - p.y());
    };
    const double u = twice_area(b, c, y, z), v = twice_area(c, a, y, z), w = twice_area(a, b, y, z),
                 sum = u + v + w;
    if (sum == 0 || u / sum < 0 || v / sum < 0 || w / sum < 0) continue;
    nearest = std::min(nearest, (u * a.x() + v * b.x() + w * c.x()) / sum);
  }
  return nearest;
}

// Dent and projectile over the front of the wall.
struct Front {
  std::vector<Vec2> places;           // (y, z) at rest
  std::vector<double> dent, imprint;  // m
  std::vector<char> ear, body;        // rows of places: at half the height of the ear, and of the rabbit
};

Front front_of(const Scene& scene, const Points& dented) {
  const Points &rest = scene.bodies[0].initial_surface(), &rabbit = scene.bodies[1].initial_surface();
  const double nose = rabbit.col(0).minCoeff(), foot = rabbit.col(1).minCoeff(),
               height = rabbit.col(1).maxCoeff() - foot;
  Front front;
  for (Eigen::Index v = 0; v < rest.rows(); ++v) {
    if (rest(v, 0) < 0.1999) continue;
    front.places.emplace_back(rest(v, 1), rest(v, 2));
    front.dent.push_back((dented.row(v) - rest.row(v)).norm());
    front.imprint.push_back(std::max(
        0.0,
        k_dent_distance -
            (nearest_above(rabbit, scene.bodies[1].surface().triangles, rest(v, 1), rest(v, 2)) - nose)));
    const double up = (rest(v, 1) - foot) / height;
    front.ear.push_back(std::abs(up - 0.8) * height < 0.5 * k_wall_cell);
    front.body.push_back(std::abs(up - 0.3) * height < 0.5 * k_wall_cell);
  }
  return front;
}

// How wide a row of places is deeper than the level.
double width_of(const std::vector<double>& depth, const std::vector<char>& row) {
  double cells = 0;
  for (std::size_t k = 0; k < depth.size(); ++k)
    cells += row[k] && depth[k] > k_dented_level * k_dent_distance;
  return cells * k_wall_cell;
}

double farthest_from_imprint(const Front& front) {
  double farthest = 0;
  for (std::size_t k = 0; k < front.dent.size(); ++k) {
    if (front.dent[k] <= k_dented_level * k_dent_distance) continue;
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < front.imprint.size(); ++i) {
      if (front.imprint[i] > 0) nearest = std::min(nearest, (front.places[k] - front.places[i]).norm());
    }
    farthest = std::max(farthest, nearest);
  }
  return farthest;
}

}  // namespace

std::vector<ValidationRecord> outline(const ValidationContext&) {
  const Scene scene = make_scene(rabbit_and_wall(), "");
  Settings settings;
  settings.distance = k_dent_distance;
  settings.broadening = 0.5;
  settings.resolution = 200;
  const Front front = front_of(scene, dented_surface(scene, settings));
  double sticks_out = 0, imprinted = 0, covered = 0;
  for (std::size_t k = 0; k < front.dent.size(); ++k) {
    sticks_out = std::max(sticks_out, front.imprint[k] - front.dent[k]);
    imprinted += front.imprint[k] > k_dented_level * k_dent_distance;
    covered += front.imprint[k] > k_dented_level * k_dent_distance &&
               front.dent[k] > k_dented_level * k_dent_distance;
  }
  const double blur = 0.5 * k_dent_distance * std::sqrt(2 * std::log(1 / k_dented_level));
  const double ear = width_of(front.imprint, front.ear), body = width_of(front.imprint, front.body),
               ear_dent = width_of(front.dent, front.ear), body_dent = width_of(front.dent, front.body);
  return {at_most("rabbit put into its dent sticks out / dent distance", sticks_out / k_dent_distance, 0.05,
                  "the projectile's own surface; the wall has cells of 1 cm"),
          near("imprint that is dented, share", covered / imprinted, 1, 0, "the whole outline, ear included"),
          at_most("dented places, farthest from the imprint [m]", farthest_from_imprint(front),
                  blur + 2 * k_wall_cell, "w √(2 ln 4) of the Gaussians, two cells of smoothing"),
          no_less_than("width of the ear's imprint [m]", ear, 0.02, "the projectile itself"),
          near("width of the ear's dent [m]", ear_dent, ear + 2 * blur, 3 * k_wall_cell,
               "the ear's, blurred by w √(2 ln 4) on both sides; a level a little deeper"),
          at_most("width of the dent at the ear / at the body", ear_dent / body_dent, 0.6,
                  fmt::format("the outline's own: {:.2f}", ear / body))};
}

// Balls at 0° to 75°: which way and how far the deepest point of each dent moved.
std::vector<ValidationRecord> shear(const ValidationContext&) {
  std::vector<ValidationRecord> records;
  for (const double degrees : {0.0, 15.0, 30.0, 45.0, 60.0, 75.0}) {
    const double theta = degrees * std::numbers::pi / 180;
    SceneSettings scene_settings;
    scene_settings.time = {0.1, 200, 8};
    scene_settings.gravity = Vec3::Zero();
    BodySettings slab;
    slab.name = "slab";
    slab.surface.box = BoxParams{Vec3(0.6, 0.3, 0.3), {60, 3, 30}};
    slab.material.yield_stress = 1e6;
    SupportSettings support;
    support.region.all = true;
    slab.supports.push_back(support);
    scene_settings.bodies.push_back(slab);
    ObstacleSettings ball;
    ball.name = "ball";
    ball.sphere = SphereSettings{0.1};
    ball.mass = 6;
    ball.position = Vec3(-0.1 * std::sin(theta), 0.252 + 0.1 * std::cos(theta), 0);
    ball.velocity = 7 * Vec3(std::sin(theta), -std::cos(theta), 0);
    scene_settings.obstacles.push_back(ball);
    const Scene scene = make_scene(scene_settings, "");
    Settings settings;
    settings.distance = k_dent_distance;
    const Points moved = dented_surface(scene, settings) - scene.bodies[0].initial_surface();
    Eigen::Index deepest = 0;
    moved.rowwise().norm().maxCoeff(&deepest);
    const Vec3 way = moved.row(deepest);
    records.push_back(near(fmt::format("{:.0f}°: direction of the largest displacement [°]", degrees),
                           std::atan2(way.x(), -way.y()) * 180 / std::numbers::pi, degrees, 1,
                           "along the ball's velocity"));
    records.push_back(near_relative(fmt::format("{:.0f}°: largest displacement", degrees), way.norm(),
                                    k_dent_distance, 0.02, "the dent distance; vertices every centimetre"));
  }
  return records;
}

}  // namespace exemplar::dent
