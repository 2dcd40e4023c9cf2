#include "core/scene/checks/example_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/math/rigid_fit.h"

namespace exemplar {

namespace {

constexpr double k_hardly = 0.05;  // of the pose's displacement: a body that hardly deforms
constexpr double k_across = 0.35;  // agreement below which the loads ask for something else
constexpr double k_followed =
    0.5;  // weight over the part of the way that was gone: the example was not held back
constexpr double k_seen_pose = 1e-9;  // of the body's size: what differs from rest

// Displacements without the best rigid motion.
Points deformation(const Points& rest, const Points& now) {
  return transform(fit_rigid(now, rest), now) - rest;
}

// The body's surface at the moment at which it was deformed most, and its displacements then.
struct LargestDeformation {
  Points positions;
  double size = 0;  // m, RMS
};

LargestDeformation largest_deformation(const Points& rest, Eigen::Index first, Eigen::Index total,
                                       const std::vector<Points>& surfaces) {
  LargestDeformation largest{rest, 0};
  for (const Points& surface : surfaces) {
    if (surface.rows() != total) continue;
    const Points now = surface.middleRows(first, rest.rows());
    if (!now.allFinite()) continue;
    const double size = std::sqrt(deformation(rest, now).rowwise().squaredNorm().mean());
    if (size > largest.size) largest = {now, size};
  }
  return largest;
}

bool is_steered(const Body& body, const std::string& example) {
  return std::any_of(body.controllers().begin(), body.controllers().end(),
                     [&](const Controller& controller) { return controller.example == example; });
}

std::string reason(const Body& body, const Example& example, double weight, const std::string& method,
                   const LargestDeformation& largest) {
  const Points& rest = body.surface().vertices;
  const std::string setting = "methods." + method;
  if (is_steered(body, example.name)) return "its controller keeps it there: look at the controller's curve";
  if (method == "rigid-lbs")
    return fmt::format("no blow is strong enough: lower {0}.beta, or raise {0}.alpha", setting);
  const Points pose = deformation(rest, example.surface), now = deformation(rest, largest.positions);
  const double way = now.cwiseProduct(pose).sum() / pose.squaredNorm();
  const double agreement = agreement_with_pose(rest, largest.positions, example.surface);
  const bool is_hardly_moved = now.norm() < k_hardly * pose.norm();
  if (agreement < k_across && !is_hardly_moved)
    return fmt::format(
        "the loads ask for something else (what they do agrees with the pose by {:.0f} %): other "
        "loads, or a pose that is like what they do",
        100 * agreement);
  if (is_hardly_moved || weight >= k_followed * way)
    return fmt::format(
        "the loads take the body only {0:.0f} % of the way to it: stronger loads, or a softer body "
        "(lower {1}.internal_stiffness or {1}.examples.stiffness)",
        std::max(0.0, 100 * way), setting);
  return fmt::format(
      "the conventional stiffness wins: lower {}.internal_stiffness (`exemplar pose --reach SCENE` "
      "tells from which ratio on the pose is taken up)",
      setting);
}

double largest_weight(const MetricsTable& metrics, const std::string& column) {
  double most = 0;
  for (const double weight : metrics.column(column)) most = std::fmax(most, weight);
  return most;
}

// The example with the largest weight, where one is taken up.
std::string most_taken(const Body& body, const std::string& prefix, const MetricsTable& metrics) {
  std::string name;
  double most = k_unused_weight;
  for (const Example& example : body.examples()) {
    if (metrics.find(prefix + example.name) < 0) continue;
    const double weight = largest_weight(metrics, prefix + example.name);
    if (weight < most) continue;
    most = weight;
    name = example.name;
  }
  return name;
}

}  // namespace

double agreement_with_pose(const Points& rest, const Points& now, const Points& pose) {
  const Points d = deformation(rest, now), p = deformation(rest, pose);
  const double least = k_seen_pose * rest.norm();
  if (!(d.norm() > least && p.norm() > least)) return 0;
  return d.cwiseProduct(p).sum() / (d.norm() * p.norm());
}

Notes example_notes(const Scene& scene, const std::string& method, const MetricsTable& metrics,
                    const std::vector<Points>& surfaces) {
  Notes notes;
  Eigen::Index total = 0, first = 0;
  for (const Body& body : scene.bodies) total += body.surface().vertices.rows();
  for (const Body& body : scene.bodies) {
    const Points& rest = body.surface().vertices;
    std::optional<LargestDeformation> largest;
    const std::string prefix = "weight_" + body.name() + "_";
    const std::string favourite = most_taken(body, prefix, metrics);
    for (const Example& example : body.examples()) {
      if (metrics.find(prefix + example.name) < 0) continue;
      const double most = largest_weight(metrics, prefix + example.name);
      const bool is_pose = (example.surface - rest).norm() > k_seen_pose * rest.norm();
      if (most >= k_unused_weight || !is_pose) continue;
      if (!largest) largest = largest_deformation(rest, first, total, surfaces);
      const std::string why = favourite.empty() || is_steered(body, example.name)
                                  ? reason(body, example, most, method, *largest)
                                  : fmt::format("what happens is more like its example {}", favourite);
      notes.push_back({Severity::warning,
                       fmt::format("body {}: its example {} is never taken up (largest weight {:.2g}): {}",
                                   body.name(), example.name, most, why)});
    }
    first += rest.rows();
  }
  return notes;
}

}  // namespace exemplar
