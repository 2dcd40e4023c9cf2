// Parts that are welded to another body: what goes through the weld, when they come off, what is kept.
#include "meshless/shape_matching/weld.h"

#include <gtest/gtest.h>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "meshless/shape_matching/method.h"
#include "tests/support/run.h"

namespace exemplar::shape_matching {
namespace {

BodySettings block(const char* name, const Vec3& size, const Vec3& position) {
  BodySettings body;
  body.name = name;
  body.surface.box = BoxParams{};
  body.surface.box->size = size;
  body.surface.box->resolution = {3, 3, 3};
  body.material.density = 500;
  body.material.young = 1e6;
  body.position = position;
  return body;
}

// The hull ends where the bumper begins, at x = 0.
SceneSettings hull_and_bumper() {
  SceneSettings settings;
  settings.gravity.setZero();
  settings.time = {0.2, 60, 4};
  settings.bodies = {block("hull", Vec3(0.4, 0.2, 0.2), Vec3(-0.2, 0, 0)),
                     block("bumper", Vec3(0.1, 0.2, 0.2), Vec3(0.05, 0, 0))};
  return settings;
}

Settings welded(double detach_impulse, double detach_time) {
  Settings settings;
  PartSettings part;
  part.body = "bumper";
  part.of = "hull";
  if (detach_impulse > 0) part.detach_impulse = detach_impulse;
  part.detach_time = detach_time;
  settings.parts.push_back(part);
  return settings;
}

double extra(const Method& method, const std::string& name) {
  for (const Metric& metric : method.diagnostics().extra)
    if (metric.name == name) return metric.value;
  return std::nan("");
}

// Speed of each body along x, by its surface's points.
std::pair<double, double> speeds(const Scene& scene, const Method& method) {
  const std::vector<Geometry> fields = method.fields();
  for (const FieldArray& array : fields[0].arrays) {
    if (array.name != "velocity") continue;
    const auto first = static_cast<std::size_t>(scene.bodies[0].surface().vertices.rows());
    const std::size_t all = array.values.size() / 3;
    std::pair<double, double> sums{0, 0};
    for (std::size_t i = 0; i < all; ++i) (i < first ? sums.first : sums.second) += array.values[3 * i];
    return {sums.first / static_cast<double>(first), sums.second / static_cast<double>(all - first)};
  }
  return {};
}

// The hull is pulled away: μ v must go through the weld to take the bumper along, μ = 1.6 kg the reduced mass of 8 and
// 2 kg, and twice that at most while the two swing against each other.
TEST(Weld, APartComesOffAboveItsImpulseAndStaysBelow) {
  SceneSettings settings = hull_and_bumper();
  settings.bodies[0].velocity = Vec3(-1, 0, 0);
  for (BodySettings& body : settings.bodies) body.material.damping = 0.01;
  const Scene scene = make_scene(settings, "");
  const double needed = 1.6;
  for (const double share : {0.5, 2.2}) {
    const auto method = make_method(scene, welded(share * needed, 1000));
    const Vec3 before = method->diagnostics().linear_momentum;
    const Vec3 turning = method->diagnostics().angular_momentum;
    for (int frame = 1; frame <= scene.frame_count(); ++frame)
      ASSERT_EQ(method->advance(scene.frame_time(frame), k_never).status, Status::ok);
    const auto [hull, bumper] = speeds(scene, *method);
    // What has gone through decides how fast the two are in either case.
    const double through = extra(*method, "weld_impulse");
    EXPECT_EQ(extra(*method, "detached_parts"), share < 1 ? 1 : 0);
    EXPECT_NEAR(hull, -1 + through / 8, 0.02) << share;
    EXPECT_NEAR(bumper, -through / 2, 0.05) << share;
    if (share > 1) {
      EXPECT_NEAR(through, needed, 0.02 * needed);
    } else {
      EXPECT_GT(through, share * needed);
      EXPECT_LT(hull, bumper - 0.2);
    }
    EXPECT_LT((method->diagnostics().linear_momentum - before).norm(), 1e-12 * before.norm());
    // Taking back what the two are apart moves particles without a velocity.
    EXPECT_LT((method->diagnostics().angular_momentum - turning).norm(), 2e-8 * before.norm());
  }
}

// A lasting force counts with force × time: m g τ.
TEST(Weld, AHangingPartLoadsItsWeldWithItsWeight) {
  SceneSettings settings = hull_and_bumper();
  settings.gravity = Vec3(9.81, 0, 0);
  settings.time.duration = 0.5;
  SupportSettings support;
  support.region.half_space = RegionHalfSpace{Vec3(-0.3, 0, 0), -Vec3::UnitX()};
  settings.bodies[0].supports.push_back(support);
  const Scene scene = make_scene(settings, "");
  const double tau = 0.02, expected = 2 * 9.81 * tau;
  for (const double share : {0.0, 0.8}) {
    const auto method = make_method(scene, welded(share * expected, tau));
    ASSERT_EQ(method->advance(0.5, k_never).status, Status::ok);
    EXPECT_EQ(extra(*method, "detached_parts"), share > 0 ? 1 : 0);
    if (share == 0) {
      EXPECT_NEAR(extra(*method, "weld_impulse"), expected, 0.03 * expected);
    }
  }
}

struct Ram {
  Scene scene;
  Settings own;
};

Ram ram() {
  SceneSettings settings = hull_and_bumper();
  settings.gravity = Vec3(0, -9.81, 0);
  settings.bodies[0].velocity = settings.bodies[1].velocity = Vec3(2, 0, 0);
  ObstacleSettings wall;
  wall.name = "wall";
  wall.box = BoxSettings{Vec3(0.1, 0.1, 1)};
  wall.position = Vec3(0.2, 0.08, 0);
  settings.obstacles.push_back(wall);
  Ram out{make_scene(settings, ""), welded(4, 0.02)};
  out.own.parts[0].beta = 0.5;
  out.own.parts[0].yield = 0.02;
  out.own.sleep = true;
  return out;
}

TEST(Weld, GoesOnFromASavedStateWithTheSameBitsOnAnyNumberOfThreads) {
  const Ram set = ram();
  std::vector<Points> ends;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    auto method = make_method(set.scene, set.own);
    for (int frame = 1; frame <= 10; ++frame) {
      ASSERT_EQ(method->advance(set.scene.frame_time(frame), k_never).status, Status::ok);
      if (threads == 1) continue;
      StateWriter saved;
      method->save(saved);
      StateReader reader(saved.arrays());
      method = make_method(set.scene, set.own);
      method->load(reader);
    }
    ends.push_back(method->fields()[0].points);
  }
  set_thread_count(0);
  EXPECT_EQ(ends[0], ends[1]);
  EXPECT_EQ(ends[0], ends[2]);
}

TEST(Weld, SaysWhatIsWrongWithAPart) {
  const Scene scene = make_scene(hull_and_bumper(), "");
  const auto refused = [&](const std::function<void(PartSettings&)>& change) {
    Settings settings = welded(1, 0.01);
    change(settings.parts[0]);
    EXPECT_THROW(make_method(scene, settings), InputError);
  };
  refused([](PartSettings& part) { part.body = "bonnet"; });
  refused([](PartSettings& part) { part.of = "bonnet"; });
  refused([](PartSettings& part) { part.of = "bumper"; });
  refused([](PartSettings& part) { part.of.reset(); });
  Settings twice = welded(1, 0.01);
  twice.parts.push_back(twice.parts[0]);
  EXPECT_THROW(make_method(scene, twice), InputError);
  Settings mutual = welded(1, 0.01);
  mutual.parts.push_back(mutual.parts[0]);
  std::swap(mutual.parts[1].body, *mutual.parts[1].of);
  EXPECT_THROW(make_method(scene, mutual), InputError);
  SceneSettings apart = hull_and_bumper();
  apart.bodies[1].position.x() += 0.3;
  const Scene far = make_scene(apart, "");
  EXPECT_THROW(make_method(far, welded(1, 0.01)), InputError);
}

}  // namespace
}  // namespace exemplar::shape_matching
