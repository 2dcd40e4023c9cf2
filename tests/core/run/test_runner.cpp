#include "core/run/runner.h"

#include <gtest/gtest.h>

#include "core/run/registry.h"
#include "core/run/surface_fields.h"

namespace exemplar {

namespace {

Scene one_box() {
  SceneSettings settings;
  settings.time = {1.0, 10, 2};
  BodySettings body;
  body.name = "box";
  body.surface.box = BoxParams{{1, 1, 1}, {1, 1, 1}};
  settings.bodies.push_back(body);
  return make_scene(settings, "");
}

// A body that slides along x at one metre a second; fails or is interrupted at a given time.
class SlidingMethod : public Method {
 public:
  explicit SlidingMethod(const Scene& scene) : m_scene(scene) {}
  StepReport advance(double until, const InterruptCheck& interrupted) override {
    if (interrupted()) return {Status::interrupted, "stopped", 0, 0};
    if (until > fails_after) return {Status::failed, "too far", 1, 3};
    m_x = until;
    return {Status::ok, "", 1, 2};
  }
  std::vector<Geometry> fields() const override {
    Points points = m_scene.bodies[0].surface().vertices;
    points.col(0).array() += m_x;
    if (m_x > odd_after) points(1, 2) = k_unknown;
    return {surface_geometry(m_scene, {points})};
  }
  Diagnostics diagnostics() const override {
    Diagnostics d;
    d.extra.push_back({"place", "m", m_x});
    if (m_x > infinite_after) d.kinetic_energy = std::numeric_limits<double>::infinity();
    return d;
  }
  void save(StateWriter& out) const override { out.write("x", m_x); }
  void load(StateReader& in) override { m_x = in.read_double("x"); }
  std::vector<std::pair<Vec3, Quat>> obstacle_poses() const override { return {}; }

  double fails_after = 1e9, infinite_after = 1e9, odd_after = 1e9;

 private:
  const Scene& m_scene;
  double m_x = 0;
};

struct RecordingSink : RunSink {
  void frame(const FrameMetrics& metrics, std::vector<Geometry> geometries) override {
    frames.push_back(metrics);
    xs.push_back(geometries.at(0).points.col(0).mean());
  }
  void checkpoint(const FrameMetrics& metrics, const StateArrays& state, bool scheduled) override {
    checkpoints.emplace_back(metrics.frame, scheduled);
    last_state = state;
  }
  std::vector<FrameMetrics> frames;
  std::vector<double> xs;
  std::vector<std::pair<int, bool>> checkpoints;
  StateArrays last_state;
};

RunSummary simulate_with(Method& method, const Scene& scene, RunSink& sink, const RunOptions& options) {
  LiveRun run(scene, method);
  return simulate(run, sink, options);
}

}  // namespace

TEST(Runner, FrameZeroIsTheInitialStateAndTimesAreExact) {
  const Scene scene = one_box();
  SlidingMethod method(scene);
  RecordingSink sink;
  const RunSummary summary = simulate_with(method, scene, sink, {});
  ASSERT_EQ(sink.frames.size(), 11u);
  for (int i = 0; i <= 10; ++i) {
    EXPECT_EQ(sink.frames[static_cast<std::size_t>(i)].time, i / 10.0);
    EXPECT_NEAR(sink.xs[static_cast<std::size_t>(i)], i / 10.0, 1e-14);
  }
  EXPECT_EQ(summary.iterations, 20);
  EXPECT_NEAR(sink.frames.back().volume_ratio, 1, 1e-14);
  const Metrics metrics = metrics_of(sink.frames[3]);
  const auto place =
      std::find_if(metrics.begin(), metrics.end(), [](const Metric& m) { return m.name == "place"; });
  ASSERT_NE(place, metrics.end());
  EXPECT_EQ(place->value, 0.3);
  EXPECT_EQ(place->title(), "place [m]");
}

TEST(Runner, AFailureKeepsTheLastGoodFrameAndItsState) {
  const Scene scene = one_box();
  SlidingMethod method(scene);
  method.fails_after = 0.45;
  RecordingSink sink;
  const RunSummary summary = simulate_with(method, scene, sink, {});
  EXPECT_EQ(summary.status, Status::failed);
  EXPECT_EQ(summary.last_frame, 4);
  EXPECT_EQ(sink.frames.back().frame, 4);
  ASSERT_EQ(sink.checkpoints.size(), 1u);
  EXPECT_EQ(sink.checkpoints[0], std::make_pair(4, false));
  EXPECT_EQ(StateReader(sink.last_state).read_double("x"), 0.4);
}

TEST(Runner, NothingInfiniteIsWritten) {
  const Scene scene = one_box();
  for (const bool points : {false, true}) {
    SlidingMethod method(scene);
    (points ? method.odd_after : method.infinite_after) = 0.45;
    RecordingSink sink;
    const RunSummary summary = simulate_with(method, scene, sink, {});
    EXPECT_EQ(summary.status, Status::failed);
    EXPECT_NE(summary.message.find(points ? "points of the surface" : "kinetic_energy has become infinite"),
              std::string::npos)
        << summary.message;
    EXPECT_EQ(summary.last_frame, 4);
    EXPECT_EQ(summary.last.time, 0.4);
    EXPECT_EQ(sink.frames.size(), 5u);
    EXPECT_EQ(StateReader(sink.last_state).read_double("x"), 0.4);
  }
}

TEST(Runner, InterruptsAndGoesOn) {
  const Scene scene = one_box();
  SlidingMethod method(scene);
  RecordingSink first, second;
  int calls = 0;
  RunOptions options;
  options.interrupted = [&] { return ++calls > 6; };
  EXPECT_EQ(simulate_with(method, scene, first, options).status, Status::interrupted);
  SlidingMethod again(scene);
  LiveRun run(scene, again);
  run.resume(6, 1.0, first.last_state);
  const ResumePoint resume;
  simulate(run, second, {}, &resume);
  ASSERT_EQ(second.frames.size(), 4u);
  EXPECT_EQ(second.frames.front().frame, 7);
  EXPECT_GE(second.frames.front().wall_time, 1.0);
}

TEST(Runner, WhatIsResumedAtItsEndKnowsItsLastFrame) {
  const Scene scene = one_box();
  SlidingMethod method(scene);
  RecordingSink first, second;
  RunOptions options;
  options.frames = 4;
  simulate_with(method, scene, first, options);
  ASSERT_EQ(first.checkpoints.size(), 1u);  // at the end, so that the run can be lengthened
  EXPECT_EQ(first.checkpoints[0], std::make_pair(4, true));
  SlidingMethod again(scene);
  LiveRun run(scene, again);
  run.resume(4, 1.0, first.last_state);
  const ResumePoint resume{4, 8};
  const RunSummary summary = simulate(run, second, options, &resume);
  EXPECT_TRUE(second.frames.empty());
  EXPECT_EQ(summary.status, Status::ok);
  EXPECT_EQ(summary.last_frame, 4);
  EXPECT_EQ(summary.last.time, 0.4);
  EXPECT_EQ(summary.steps, 4);
  EXPECT_EQ(summary.iterations, 8);
  // One that fails at once still says where it stood.
  again.fails_after = 0.45;
  options.frames = 6;
  const RunSummary failed = simulate(run, second, options, &resume);
  EXPECT_EQ(failed.status, Status::failed);
  EXPECT_EQ(failed.last.time, 0.4);
}

TEST(Registry, NamesWhatIsNotModelled) {
  SceneSettings settings;
  BodySettings body;
  body.name = "box";
  body.surface.box = BoxParams{{1, 1, 1}, {1, 1, 1}};
  body.material.yield_stress = 1e5;
  body.material.restitution = 0.5;
  settings.bodies.push_back(body);
  const Scene scene = make_scene(settings, "");
  Capabilities nothing;
  Capabilities all{true, true, true, true, true, true, true, true, true, true, true, true, true, true};
  EXPECT_TRUE(not_modelled(scene, all).empty());
  const auto missing = not_modelled(scene, nothing);
  ASSERT_EQ(missing.size(), 3u);  // plasticity, self-contact and the material's restitution
  EXPECT_NE(missing[0].find("plasticity"), std::string::npos);
  EXPECT_NE(missing[2].find("restitution of materials"), std::string::npos);
}

}  // namespace exemplar
