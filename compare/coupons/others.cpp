// A body that turns freely.
#include <cmath>
#include <nlohmann/json.hpp>

#include "compare/coupons/groups.h"
#include "compare/coupons/specimen.h"

namespace exemplar::coupons {

namespace {

// About the axis of the largest moment of inertia, where turning is stable.
Coupon spin() {
  const Vec3 size(0.3, 0.1, 0.2);
  Coupon c;
  c.name = "spin";
  c.title = "A box turns freely about its shortest axis for five seconds";
  c.quantities = {
      {"spin", "angular momentum after five seconds over that at the start", "", "1: no torque acts", {}}};
  c.scene = [=](const Subject& subject) {
    const Json material{{"density", 1000}, {"young", 1e6}, {"poisson", 0.3}, {"damping", 0.002}};
    Json body = box_body(subject, size, {3, 1, 2}, material);
    body["angular_velocity"] = {0, 5, 0};
    Json scene = scene_document(subject, 5, std::move(body));
    scene["gravity"] = {0, 0, 0};
    return scene;
  };
  c.watch = [](const LiveRun& run, const Points&) {
    const Vec3 l = run.method().diagnostics().angular_momentum;
    return std::vector<double>{l.x(), l.y(), l.z()};
  };
  c.every = 60;
  c.counts_cut = true;
  c.read = [](const Subject&, const Course& course) {
    const Eigen::Map<const Vec3> first(course.rows.front().data()), last(course.rows.back().data());
    return std::vector<Reading>{{last.dot(first) / first.squaredNorm(), 1}};
  };
  return c;
}

}  // namespace

std::vector<Coupon> other_coupons() {
  return {spin()};
}

}  // namespace exemplar::coupons
