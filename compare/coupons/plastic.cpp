// Specimens that stay deformed or break.
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "compare/coupons/groups.h"
#include "compare/coupons/lines.h"
#include "compare/coupons/plastic_theory.h"
#include "compare/coupons/specimen.h"

namespace exemplar::coupons {

namespace {

constexpr double k_ramp = 4;      // s
constexpr double k_most = 1.5;    // limit loads at its end
constexpr double k_nothing = -1;  // what never happened

// The load, in limit loads, at which a bar has gone twice as far as its own elasticity explains, and at least as far as at
// first yield. `yield_deflection`: m, of the closed form.
double load_that_flows(const Course& course, double yield_deflection) {
  std::vector<double> loads, deflections;
  for (std::size_t k = 0; k < course.times.size(); ++k) {
    loads.push_back(k_most * course.times[k] / k_ramp);
    deflections.push_back(-course.rows[k][1]);
  }
  const double compliance = std::max(0.0, fit_line(loads, deflections, 0.1, 0.45).slope);
  double before = 0;
  for (std::size_t k = 0; k < loads.size(); ++k) {
    const double beyond = deflections[k] - std::max(2 * compliance * loads[k], yield_deflection);
    if (beyond >= 0 && k > 0) return loads[k] - (loads[k] - loads[k - 1]) * beyond / (beyond - before);
    before = beyond;
  }
  return k_nothing;
}

Coupon limit_load() {
  const PlasticBar plastic;
  Bar bar;
  bar.length = plastic.length;
  bar.cells_along = 7;
  Coupon c;
  c.name = "limit-load";
  c.title = "A clamped bar is bent by a force at its tip that grows until it flows";
  c.quantities = {{"limit-load",
                   "force at which it flows, over the limit load",
                   "",
                   "1: P = σ_y b h²/4L, with what inertia adds in the time that flowing takes to show",
                   {"plasticity", "supports", "loads"},
                   {"yield", "flow"}}};
  c.scene = [=](const Subject& subject) {
    const Json material{{"density", plastic.density},
                        {"young", plastic.young},
                        {"poisson", 0.3},
                        {"yield_stress", plastic.yield_stress}};
    Json scene = scene_document(subject, k_ramp, bar_body(subject, bar, material));
    scene["gravity"] = {0, 0, 0};
    const Json end{{"half_space", {{"point", {bar.length - 1e-4, 0, 0}}, {"normal", {1, 0, 0}}}}};
    scene["loads"] = Json::array(
        {{{"region", end}, {"value", {0, -k_most * limit_load(plastic), 0}}, {"ramp_up", k_ramp}}});
    return scene;
  };
  c.watch = tip_displacement;
  c.read = [=](const Subject&, const Course& course) {
    const double load = load_that_flows(course, yield_deflection(plastic));
    const double expected = 1 + load_behind(plastic, k_most * limit_load(plastic) / k_ramp);
    if (load != k_nothing) return std::vector<Reading>{{load, expected}};
    return std::vector<Reading>{{k_most, expected, 0, "does not flow up to 1.5 limit loads"}};
  };
  return c;
}

// Frames short enough for 30 m/s.
Coupon taylor() {
  const Vec3 size(0.06, 0.3, 0.06);
  const double yield_stress = 1e6, speed = 30;
  Coupon c;
  c.name = "taylor";
  c.title = "A rod flies against a wall and is squashed";
  c.quantities = {{"taylor",
                   "share of its length that it loses for good",
                   "",
                   "1 − L/L₀, L/L₀ = 0.12 + 0.88 e^(−ρv²/2σ_y), Wilkins and Guinan 1973",
                   {"plasticity"},
                   {"yield", "flow", "stiff"}}};
  c.scene = [=](const Subject& subject) {
    const Json material{
        {"density", 1000}, {"young", 1e8}, {"poisson", 0.3}, {"yield_stress", yield_stress}, {"friction", 0}};
    Json body = box_body(subject, size, {1, 5, 1}, material);
    body["position"] = {0, size.y() / 2 + 0.002, 0};
    body["velocity"] = {0, -speed, 0};
    Json scene = scene_document(subject, 0.02, std::move(body));
    scene["time"]["fps"] = 1000;
    scene["gravity"] = {0, 0, 0};
    scene["obstacles"] = Json::array({floor_obstacle()});
    return scene;
  };
  c.watch = [](const LiveRun& run, const Points& surface) {
    return std::vector<double>{face_distance(run, surface)};
  };
  c.read = [=](const Subject&, const Course& course) {
    const double length = course.rows.back()[0] / course.rows.front()[0];
    return std::vector<Reading>{{1 - length, 1 - taylor_length(1000, speed, yield_stress)}};
  };
  return c;
}

Coupon dent() {
  const double yield_stress = 1e7, radius = 0.05, mass = 1, speed = 5;
  Coupon c;
  c.name = "dent";
  c.title = "A ball of one kilogram dents a block";
  c.quantities = {{"dent",
                   "depth of the dent",
                   "m",
                   "½mv² = 3σ_y V(h), V = πh²(R − h/3): hardness of Tabor 1951",
                   {"plasticity"},
                   {"dent", "yield"}}};
  c.scene = [=](const Subject& subject) {
    const Json material{{"density", 1000}, {"young", 1e9}, {"poisson", 0.3}, {"yield_stress", yield_stress}};
    Json body = box_body(subject, {0.4, 0.1, 0.4}, {16, 4, 16}, material);
    body["supports"] = Json::array({{{"region", {{"all", true}}}}});
    Json scene = scene_document(subject, 0.1, std::move(body));
    scene["gravity"] = {0, 0, 0};
    scene["obstacles"] = Json::array({{{"name", "ball"},
                                       {"sphere", {{"radius", radius}}},
                                       {"mass", mass},
                                       {"position", {0, 0.1 + radius + 0.05, 0}},
                                       {"velocity", {0, -speed, 0}}}});
    return scene;
  };
  c.watch = [](const LiveRun& run, const Points& surface) {
    return std::vector<double>{(run.scene().bodies.front().initial_surface() - surface).col(1).maxCoeff()};
  };
  c.read = [=](const Subject&, const Course& course) {
    return std::vector<Reading>{
        {course.rows.back()[0], dent_depth(mass * speed * speed / 2, yield_stress, radius)}};
  };
  return c;
}

// A strip 0.3 m long and 0.1 m high between grips, cut from the left over a third of its length. It stores little beside
// what the crack takes: the crack runs, and does not branch.
Coupon notched_strip() {
  const double toughness = 20, depth = 0.02, height = 0.12;  // J/m², m, m
  Coupon c;
  c.name = "notched-strip";
  c.title = "A strip that is cut at one end is pulled apart slowly";
  c.quantities = {{"crack",
                   "energy of the crack per area",
                   "J/m²",
                   "the toughness G_c that the material has (Griffith)",
                   {"fracture", "supports"},
                   {"fracture", "tough", "crack"}}};
  c.scene = [=](const Subject& subject) {
    const Json material{{"density", 1000}, {"young", 1e6}, {"poisson", 0.25}, {"fracture_energy", toughness}};
    Json body = box_body(subject, {0.3, height, depth}, {15, 6, 1}, material);
    const auto grip = [&](double sign) {
      return Json{
          {"region",
           {{"half_space", {{"point", {0, height / 2 + sign * 0.05, 0}}, {"normal", {0, sign, 0}}}}}},
          {"keyframes", Json::array({{{"time", 0}}, {{"time", 1}, {"position", {0, sign * 0.003, 0}}}})},
          {"interpolation", "linear"}};
    };
    body["supports"] = Json::array({grip(1), grip(-1)});
    Json scene = scene_document(subject, 1, std::move(body));
    scene["gravity"] = {0, 0, 0};
    const Json notch{
        {"parallelogram",
         {{"corner", {-0.16, height / 2, -depth}}, {"u", {0.11, 0, 0}}, {"v", {0, 0, 2 * depth}}}}};
    scene["methods"]["peridynamics"]["notches"] = Json::array({notch});
    return scene;
  };
  c.watch = [](const LiveRun& run, const Points&) {
    return std::vector<double>{run.method().diagnostics().fracture_energy};
  };
  c.every = 6;
  c.read = [=](const Subject&, const Course& course) {
    return std::vector<Reading>{{course.rows.back()[0] / (0.2 * depth), toughness}};
  };
  return c;
}

}  // namespace

std::vector<Coupon> plastic_coupons() {
  return {limit_load(), taylor(), dent(), notched_strip()};
}

}  // namespace exemplar::coupons
