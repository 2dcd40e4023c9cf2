// Bars that are held at one end and let go: they swing about the place where they would rest. Elongation, sag, frequency and
// damping are read off the course of the tip (ring_down.h), so that no settling has to be waited for.
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "compare/coupons/beam_theory.h"
#include "compare/coupons/groups.h"
#include "compare/coupons/ring_down.h"
#include "compare/coupons/specimen.h"

namespace exemplar::coupons {

namespace {

const std::vector<std::string> k_elastic_bar{"supports", k_elasticity}, k_stiffness_words{"stiff", "Young"},
    k_damping_words{"stiff", "Young", "damping is stable"};

Json material_json(const BeamMaterial& m, double damping) {
  return {{"density", m.density}, {"young", m.young}, {"poisson", m.poisson}, {"damping", damping}};
}

constexpr double k_periods = 4;  // that are watched

// A tenth of critical damping at 7.9 Hz.
Coupon hanging_bar() {
  const BeamMaterial material{1000, 1e6, 0.3};
  const double damping = 0.004;
  Bar bar;
  bar.cells_along = 11;
  bar.is_held_along_only = true;
  const double frequency = std::sqrt(material.young / material.density) / (4 * bar.length);
  Coupon c;
  c.name = "hanging-bar";
  c.title = "A bar of one metre hangs by its end";
  c.quantities = {{"elongation", "elongation under its own weight", "m",
                   "ρgL²/2E, the integral of the strain ρg(L − x)/E", k_elastic_bar, k_stiffness_words}};
  c.scene = [=](const Subject& subject) {
    Json scene = scene_document(subject, k_periods / frequency,
                                bar_body(subject, bar, material_json(material, damping)));
    scene["gravity"] = {k_gravity, 0, 0};
    return scene;
  };
  c.watch = tip_displacement;
  c.read = [=](const Subject&, const Course& course) {
    const RingDown found = fit_ring_down(course.times, course.column(0), frequency);
    return std::vector<Reading>{{found.rest, hanging_elongation(material, bar.length)}};
  };
  return c;
}

// Eight times as long as thick: it sags by a fortieth of its length, at 4.3 Hz, with a twentieth of critical damping.
Coupon thick_cantilever() {
  const BeamMaterial material{1000, 3e7, 0.3};
  const double damping = 0.004;
  Bar bar;
  bar.length = 0.8;
  bar.cells_along = 9;
  const double frequency = cantilever_frequency(material, bar.length, bar.height);
  Coupon c;
  c.name = "thick-cantilever";
  c.title = "A bar eight times as long as thick is clamped and let go";
  c.quantities = {{"thick-sag", "sag of the tip", "m", "3ρgL⁴/2Eh² + ρgL²/2κG (Timoshenko; κ of Cowper 1966)",
                   k_elastic_bar, k_stiffness_words},
                  {"frequency", "first bending frequency", "Hz",
                   "(1.8751²/2π) √(Eh²/12ρL⁴), shear after Dunkerley, rotary inertia after Rayleigh",
                   k_elastic_bar, k_stiffness_words},
                  {"damping", "share of critical damping", "", "βω/2 of damping in proportion to stiffness",
                   k_elastic_bar, k_damping_words}};
  c.scene = [=](const Subject& subject) {
    return scene_document(subject, k_periods / frequency,
                          bar_body(subject, bar, material_json(material, damping)));
  };
  c.watch = tip_displacement;
  c.read = [=](const Subject&, const Course& course) {
    const RingDown found = fit_ring_down(course.times, course.column(1), frequency);
    return std::vector<Reading>{{-found.rest, cantilever_sag(material, bar.length, bar.height)},
                                {found.frequency, frequency},
                                {found.damping_ratio, damping_ratio(damping, frequency)}};
  };
  return c;
}

// Forty times as long as thick, and stiff: it sags by a thirty-fourth of its length, at 3.6 Hz.
Coupon thin_cantilever() {
  const BeamMaterial material{1000, 8e8, 0.3};
  Bar bar;
  bar.height = 0.025;
  bar.width = 0.05;
  bar.stub = 0.05;
  bar.cells_along = 21;
  const double frequency = cantilever_frequency(material, bar.length, bar.height);
  const double damping = 0.1 / (std::numbers::pi * frequency);
  Coupon c;
  c.name = "thin-cantilever";
  c.title = "A strip forty times as long as thick is clamped and let go";
  c.quantities = {{"thin-sag", "sag of the tip", "m", "3ρgL⁴/2Eh² + ρgL²/2κG (Timoshenko)", k_elastic_bar,
                   k_stiffness_words}};
  c.scene = [=](const Subject& subject) {
    return scene_document(subject, k_periods / frequency,
                          bar_body(subject, bar, material_json(material, damping)));
  };
  c.watch = tip_displacement;
  c.read = [=](const Subject&, const Course& course) {
    const RingDown found = fit_ring_down(course.times, course.column(1), frequency);
    return std::vector<Reading>{{-found.rest, cantilever_sag(material, bar.length, bar.height)}};
  };
  return c;
}

}  // namespace

std::vector<Coupon> bar_coupons() {
  return {hanging_bar(), thick_cantilever(), thin_cantilever()};
}

}  // namespace exemplar::coupons
