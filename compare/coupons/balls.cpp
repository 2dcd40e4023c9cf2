// A ball of one decimetre that bounces, rolls, or lies still.
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "compare/coupons/groups.h"
#include "compare/coupons/impact_theory.h"
#include "compare/coupons/lines.h"
#include "compare/coupons/specimen.h"

namespace exemplar::coupons {

namespace {

constexpr double k_radius = 0.1;  // m
constexpr double k_coefficient = 0.8;

Json ball_material(double young, double damping) {
  return {{"density", 1000},
          {"young", young},
          {"poisson", 0.3},
          {"friction", 0.5},
          {"restitution", k_coefficient},
          {"damping", damping}};
}

struct Bounce {
  double energy = 0;                                       // share of it that comes back
  double time = std::numeric_limits<double>::quiet_NaN();  // s, of contact
};

// From straight lines through the flights before and after: the centre passes the height at which the ball touches.
Bounce bounce_of(const Course& course, double speed) {
  const std::vector<double> centre = course.column(1);
  const double touch = centre.front() - course.rows.front()[3], start = (centre.front() - touch) / speed;
  const Line away = fit_line(course.times, centre, 0.6 * course.wanted, course.wanted);
  if (!(away.slope > 0)) return {};
  return {std::pow(away.slope / speed, 2), (touch - away.value) / away.slope - start};
}

// No gravity, which would act during the impact as well.
Coupon rebound() {
  const double young = 1e6, speed = 0.6;
  Coupon c;
  c.name = "rebound";
  c.title = "A ball meets a wall";
  c.quantities = {{"rebound",
                   "kinetic energy that comes back: height of rebound over height of fall",
                   "",
                   "1 of an elastic ball far slower than its waves; e² where a coefficient says so",
                   {},
                   {"energy", "restitution"}},
                  {"contact-time",
                   "time of contact",
                   "s",
                   "2.868 (m²/(R E*² v))^(1/5), Hertz 1882",
                   {k_elasticity},
                   {"stiff", "Young"}}};
  c.scene = [=](const Subject& subject) {
    Json body = ball_body(subject, k_radius, {0, k_radius + 0.02, 0}, ball_material(young, 0));
    body["velocity"] = {0, -speed, 0};
    Json scene = scene_document(subject, 0.3, std::move(body));
    scene["gravity"] = {0, 0, 0};
    scene["obstacles"] = Json::array({floor_obstacle()});
    return scene;
  };
  c.watch = [](const LiveRun& run, const Points& surface) {
    std::vector<double> row = centre_of(run, surface);
    row.push_back(surface.col(1).minCoeff());
    return row;
  };
  c.read = [=](const Subject& subject, const Course& course) {
    const Bounce bounce = bounce_of(course, speed);
    const double share = models_elasticity(subject.capabilities) ? 1 : k_coefficient * k_coefficient;
    return std::vector<Reading>{{bounce.energy, share},
                                {bounce.time, hertz_time(young, 0.3, 1000, k_radius, speed)}};
  };
  return c;
}

Json ball_on_floor(const Subject& subject, double speed, double damping, double duration) {
  Json body = ball_body(subject, k_radius, {0, k_radius + 1e-4, 0}, ball_material(1e6, damping));
  body["velocity"] = {speed, 0, 0};
  Json scene = scene_document(subject, duration, std::move(body));
  scene["obstacles"] = Json::array({floor_obstacle()});
  return scene;
}

// It slides for 2v/7μg = 0.09 s. Without damping, by which a soft ball that rolls would be braked.
Coupon roll() {
  const double speed = 1.5;
  Coupon c;
  c.name = "roll";
  c.title = "A ball that slides begins to roll and rolls on";
  c.quantities = {{"roll",
                   "speed in the second second over that at the start",
                   "",
                   "5/7: angular momentum about the line of contact",
                   {"friction"},
                   {"roll"}}};
  c.scene = [=](const Subject& subject) { return ball_on_floor(subject, speed, 0, 2); };
  c.watch = centre_of;
  c.read = [=](const Subject&, const Course& course) {
    return std::vector<Reading>{{fit_line(course.times, course.column(0), 1, 2).slope / speed, 5.0 / 7}};
  };
  return c;
}

Coupon rest_ball() {
  Coupon c;
  c.name = "rest-ball";
  c.title = "A ball lies on a floor for twenty seconds";
  c.quantities = {{"ball-drift",
                   "how far it rolls away by itself",
                   "m",
                   "0: nothing moves it; 100 %: its diameter",
                   {},
                   {"roll", "rest"}}};
  c.scene = [](const Subject& subject) { return ball_on_floor(subject, 0, 0.002, 20); };
  c.watch = centre_of;
  c.every = 60;
  c.counts_cut = true;
  c.read = [](const Subject&, const Course& course) {
    const std::vector<double>&first = course.rows.front(), &last = course.rows.back();
    const double drift = std::hypot(last[0] - first[0], last[2] - first[2]);
    return std::vector<Reading>{{drift, 0, 2 * k_radius}};
  };
  return c;
}

}  // namespace

std::vector<Coupon> ball_coupons() {
  return {rebound(), roll(), rest_ball()};
}

}  // namespace exemplar::coupons
