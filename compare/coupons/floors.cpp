// Bodies on a floor. A slope is a level floor under tilted gravity, so that nothing of the place of the body is rounded.
#include <cmath>
#include <nlohmann/json.hpp>

#include "compare/coupons/beam_theory.h"
#include "compare/coupons/groups.h"
#include "compare/coupons/lines.h"
#include "compare/coupons/specimen.h"

namespace exemplar::coupons {

namespace {

constexpr double k_friction = 0.5;
constexpr double k_minute = 60;  // s

const Vec3 k_box_size(0.2, 0.1, 0.2);

Json box_material() {
  return {{"density", 1000}, {"young", 1e6}, {"poisson", 0.3}, {"friction", k_friction}, {"damping", 0.002}};
}

// Along x on a slope whose tangent is `tangent`.
Json box_on_slope(const Subject& subject, double duration, double tangent) {
  Json scene = scene_document(subject, duration, box_body(subject, k_box_size, {2, 1, 2}, box_material()));
  const double angle = std::atan(tangent);
  scene["gravity"] = {k_gravity * std::sin(angle), -k_gravity * std::cos(angle), 0};
  scene["obstacles"] = Json::array({floor_obstacle()});
  return scene;
}

std::vector<double> centre_of(const LiveRun&, const Points& surface) {
  const Vec3 centre = surface.colwise().mean().transpose();
  return {centre.x(), centre.y(), centre.z()};
}

// A speed at which a body goes its own length in a minute.
double slow_speed(double length) {
  return length / k_minute;
}

Coupon sticks() {
  Coupon c;
  c.name = "stick";
  c.title = "A box on a slope of 0.9 of the critical angle's tangent";
  c.quantities = {{"creep",
                   "speed at which it creeps",
                   "m/s",
                   "0: tan θ = 0.9 μ (Coulomb); 100 %: its own length in a minute",
                   {"friction"}}};
  c.scene = [](const Subject& subject) { return box_on_slope(subject, 3, 0.9 * k_friction); };
  c.watch = centre_of;
  c.read = [](const Subject&, const Course& course) {
    const Line line = fit_line(course.times, course.column(0), 1, 3);
    return std::vector<Reading>{{line.slope, 0, slow_speed(k_box_size.x())}};
  };
  return c;
}

Coupon slides() {
  const double tangent = 1.1 * k_friction, angle = std::atan(tangent);
  const double expected = k_gravity * (std::sin(angle) - k_friction * std::cos(angle));
  Coupon c;
  c.name = "slide";
  c.title = "A box on a slope of 1.1 of the critical angle's tangent";
  c.quantities = {{"slide",
                   "acceleration down the slope",
                   "m/s²",
                   "g (sin θ − μ cos θ), tan θ = 1.1 μ (Coulomb)",
                   {"friction"}}};
  c.scene = [=](const Subject& subject) { return box_on_slope(subject, 2, tangent); };
  c.watch = centre_of;
  c.read = [=](const Subject&, const Course& course) {
    return std::vector<Reading>{{fit_acceleration(course.times, course.column(0), 0.5, 2), expected}};
  };
  return c;
}

}  // namespace

std::vector<Coupon> floor_coupons() {
  return {sticks(), slides()};
}

}  // namespace exemplar::coupons
