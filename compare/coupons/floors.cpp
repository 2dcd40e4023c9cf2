// Bodies on a floor. A slope is a level floor under tilted gravity, so that nothing of the place of the body is rounded.
#include <algorithm>
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
                   {"friction"},
                   {"friction", "creep"}}};
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
                   {"friction"},
                   {"friction", "creep"}}};
  c.scene = [=](const Subject& subject) { return box_on_slope(subject, 2, tangent); };
  c.watch = centre_of;
  c.read = [=](const Subject&, const Course& course) {
    return std::vector<Reading>{{fit_acceleration(course.times, course.column(0), 0.5, 2), expected}};
  };
  return c;
}

// Speed: root mean square over the body's mass, at the end.
std::vector<double> centre_and_speed(const LiveRun& run, const Points& surface) {
  std::vector<double> row = centre_of(run, surface);
  const Diagnostics d = run.method().diagnostics();
  row.push_back(std::sqrt(2 * std::max(d.kinetic_energy, 0.0) / d.mass));
  return row;
}

Coupon rest() {
  Coupon c;
  c.name = "rest";
  c.title = "A box lies on a floor for a minute";
  c.quantities = {{"rest-drift",
                   "how far it moves along the floor",
                   "m",
                   "0: nothing moves it; 100 %: its own length",
                   {},
                   {"rest", "friction"}},
                  {"rest-speed",
                   "speed that is left, root mean square over the mass",
                   "m/s",
                   "0: everything has come to rest; 100 %: its own length in a minute",
                   {},
                   {"rest", "swing"}}};
  c.scene = [](const Subject& subject) { return box_on_slope(subject, k_minute, 0); };
  c.watch = centre_and_speed;
  c.every = 60;
  c.counts_cut = true;
  c.read = [](const Subject&, const Course& course) {
    const std::vector<double>&first = course.rows.front(), &last = course.rows.back();
    const double length = k_box_size.x(), drift = std::hypot(last[0] - first[0], last[2] - first[2]);
    return std::vector<Reading>{{drift, 0, length}, {last[3], 0, slow_speed(length)}};
  };
  return c;
}

}  // namespace

std::vector<Coupon> floor_coupons() {
  return {sticks(), slides(), rest()};
}

}  // namespace exemplar::coupons
