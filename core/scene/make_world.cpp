#include "core/scene/make_world.h"

#include <fmt/format.h>

#include "core/base/errors.h"
#include "core/math/angles.h"

namespace exemplar {

namespace {

Vec3 rotation_vector(const RotationSettings& settings) {
  return settings.axis.normalized() * (settings.angle * k_degree);
}

std::vector<Keyframe> make_keyframes(const std::vector<KeyframeSettings>& settings) {
  std::vector<Keyframe> keyframes;
  for (const KeyframeSettings& key : settings) {
    keyframes.push_back({key.time, key.position, rotation_vector(key.rotation)});
  }
  return keyframes;
}

std::vector<double> radians(const std::vector<double>& degrees) {
  std::vector<double> angles;
  for (double angle : degrees) angles.push_back(angle * k_degree);
  return angles;
}

ShapeDescription make_shape(const ObstacleSettings& settings, const std::string& directory) {
  ShapeDescription shape;
  if (settings.plane) {
    shape.kind = ShapeKind::plane;
    shape.extent = settings.plane->extent;
  } else if (settings.sphere) {
    shape.kind = ShapeKind::sphere;
    shape.radius = settings.sphere->radius;
  } else if (settings.box) {
    shape.kind = ShapeKind::box;
    shape.size = settings.box->size;
  } else if (settings.capsule) {
    shape.kind = ShapeKind::capsule;
    shape.radius = settings.capsule->radius;
    shape.length = settings.capsule->length;
  } else if (settings.cylinder) {
    shape.kind = ShapeKind::cylinder;
    shape.radius = settings.cylinder->radius;
    shape.length = settings.cylinder->height;
  } else {
    shape.kind = ShapeKind::mesh;
    shape.mesh = make_surface(*settings.mesh, directory);
  }
  return shape;
}

}  // namespace

Region make_region(const RegionSettings& settings) {
  Region region;
  if (settings.box) {
    region.kind = RegionKind::box;
    region.centre = 0.5 * (settings.box->low + settings.box->high);
    region.size = settings.box->high - settings.box->low;
  } else if (settings.sphere) {
    region.kind = RegionKind::sphere;
    region.centre = settings.sphere->centre;
    region.radius = settings.sphere->radius;
  } else if (settings.cylinder) {
    region.kind = RegionKind::cylinder;
    region.centre = 0.5 * (settings.cylinder->from + settings.cylinder->to);
    region.axis = settings.cylinder->to - settings.cylinder->from;
    region.radius = settings.cylinder->radius;
    region.hollow = settings.cylinder->hollow;
  } else if (settings.half_space) {
    region.kind = RegionKind::half_space;
    region.centre = settings.half_space->point;
    region.normal = settings.half_space->normal;
  } else if (settings.nearest) {
    region.kind = RegionKind::nearest;
    region.points = settings.nearest->points;
  }
  return region;
}

Support make_support(const SupportSettings& settings, const std::string& body) {
  Support support;
  support.name = settings.name.value_or("");
  support.body = body;
  support.region = make_region(settings.region);
  support.keyframes = make_keyframes(settings.keyframes);
  support.interpolation = settings.interpolation;
  support.centre = settings.centre;
  support.x = settings.x;
  support.y = settings.y;
  support.z = settings.z;
  support.clamped = settings.clamped;
  if (settings.until) support.release_time = *settings.until;
  return support;
}

namespace {

std::optional<Curve> make_curve(const LoadSettings& settings) {
  if (!settings.curve) return std::nullopt;
  return Curve{settings.curve->times, settings.curve->factors, settings.curve->interpolation};
}

}  // namespace

Load make_load(const LoadSettings& settings) {
  Load load;
  load.body = settings.body.value_or("");
  load.region = make_region(*settings.region);
  load.kind = settings.kind;
  load.value = settings.value;
  load.magnitude = settings.magnitude;
  load.follower = settings.follows;
  load.start = settings.from;
  if (settings.until) load.end = *settings.until;
  load.ramp_up = settings.ramp_up;
  load.ramp_down = settings.ramp_down;
  load.curve = make_curve(settings);
  return load;
}

namespace {

PulledPoint pulled_point(const PullSettings& settings, const Points& vertices, const Triangles& triangles) {
  if (settings.point) return nearest_surface_point(vertices, triangles, *settings.point);
  const int t = *settings.triangle;
  if (t >= triangles.rows())
    throw InputError(fmt::format("there is no triangle {}: the surface has {}", t, triangles.rows()));
  return {{triangles(t, 0), triangles(t, 1), triangles(t, 2)},
          settings.barycentric / settings.barycentric.sum()};
}

}  // namespace

Pull make_pull(const LoadSettings& settings, const std::string& body, const Points& vertices,
               const Triangles& triangles) {
  const PullSettings& given = *settings.pull;
  Pull pull;
  pull.body = body;
  pull.point = pulled_point(given, vertices, triangles);
  if (given.target) pull.target.push_back({0, *given.target, Vec3::Zero()});
  for (const TargetKeyframe& key : given.keyframes)
    pull.target.push_back({key.time, key.position, Vec3::Zero()});
  pull.interpolation = given.interpolation;
  pull.stiffness = given.stiffness;
  if (given.max_force) pull.max_force = *given.max_force;
  pull.window = {settings.from, settings.until.value_or(pull.window.end), settings.ramp_up,
                 settings.ramp_down, make_curve(settings)};
  check_window(pull.window, "a pull");
  return pull;
}

Controller make_controller(const ControllerSettings& settings, const std::string& body) {
  Controller controller;
  controller.body = body;
  controller.example = settings.example;
  if (settings.curve) {
    controller.kind = ControllerKind::time;
    controller.curve = {settings.curve->times, settings.curve->weights};
  } else if (settings.joint_angle) {
    controller.kind = ControllerKind::joint_angle;
    controller.points = {settings.joint_angle->a, settings.joint_angle->joint, settings.joint_angle->b};
    controller.curve = {radians(settings.joint_angle->angles), settings.joint_angle->weights};
  } else if (settings.velocity) {
    controller.kind = ControllerKind::com_velocity;
    controller.direction = settings.velocity->direction;
    controller.curve = {settings.velocity->speeds, settings.velocity->weights};
  } else {
    controller.kind = ControllerKind::turn_angle;
    controller.direction = settings.lean->up;
    controller.minimum_speed = settings.lean->minimum_speed;
    controller.curve = {radians(settings.lean->angles), settings.lean->weights};
  }
  return controller;
}

Obstacle make_obstacle(const ObstacleSettings& settings, double default_friction,
                       const std::string& directory) {
  Obstacle obstacle;
  obstacle.name = settings.name;
  obstacle.shape = make_shape(settings, directory);
  obstacle.kind = settings.mass                ? ObstacleKind::dynamic
                  : settings.keyframes.empty() ? ObstacleKind::fixed
                                               : ObstacleKind::keyframed;
  obstacle.mass = settings.mass.value_or(0);
  obstacle.position = settings.position;
  obstacle.rotation = rotation_vector(settings.rotation);
  obstacle.velocity = settings.velocity;
  obstacle.angular_velocity = settings.angular_velocity;
  obstacle.keyframes = make_keyframes(settings.keyframes);
  obstacle.interpolation = settings.interpolation;
  obstacle.friction = settings.friction.value_or(default_friction);
  obstacle.has_friction = settings.friction.has_value();
  obstacle.restitution = settings.restitution;
  return obstacle;
}

}  // namespace exemplar
