#include "rigidplastic/bend/checks/bench.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/run/stepping.h"
#include "rigidplastic/bend/bending_body.h"

namespace exemplar::bend {

namespace {

// The rabbit of scene `creature`, with about as many triangles as the paper's bunny.
SceneSettings fine_rabbit() {
  SceneSettings settings;
  BodySettings body;
  body.name = "rabbit";
  body.surface.rabbit = RabbitParams{0.4, 1.0, 110};
  body.volume.always_cage = true;
  body.volume.cage_cell = 0.025;
  body.material.yield_stress = 1e5;
  SkeletonSettings skeleton;
  skeleton.points = {
      {-0.09, 0.09, 0}, {0.03, 0.14, 0}, {0.075, 0.235, 0}, {0.032, 0.385, 0.055}, {0.032, 0.385, -0.055}};
  skeleton.bones = {{0, 1}, {1, 2}, {2, 3}, {2, 4}};
  body.skeleton = skeleton;
  settings.bodies.push_back(body);
  return settings;
}

template <class Work>
double best_milliseconds(int repetitions, const Work& work) {
  double best = 1e300;
  for (int r = 0; r < repetitions; ++r) {
    const Stopwatch watch;
    work();
    best = std::min(best, 1e3 * watch.seconds());
  }
  return best;
}

std::vector<BenchRecord> skinning(const ValidationContext&) {
  const Scene scene = make_scene(fine_rabbit(), "");
  const Body& body = scene.bodies[0];
  std::vector<std::array<int, 2>> pairs;
  for (const BoneSettings& bone : body.settings().skeleton->bones) pairs.push_back({bone.from, bone.to});
  const Skeleton skeleton = skeleton_of(body.settings().skeleton->points, pairs);
  const Stopwatch watch;
  const BodyWeights weights = bone_weights(body, skeleton.bones);
  const double weight_time = watch.seconds();
  BendingBody rabbit(ArticulatedBody(body, skeleton, weights, std::nullopt, true), std::nullopt, true);
  const std::string size =
      fmt::format("rabbit of {} triangles, 4 bones, one thread", body.surface().triangles.rows());
  RigidState start;
  std::vector<rigid::RigidBody> parts =
      rabbit.rebuild(std::span(&start, 1), 0, rigid::CollisionGeometry::mesh);
  std::vector<RigidState> states;
  for (const rigid::RigidBody& part : parts) states.push_back(part.state);
  Points surface;
  const double skin = best_milliseconds(9, [&] { surface = rabbit.surface(); });
  const double update =
      best_milliseconds(5, [&] { parts = rabbit.rebuild(states, 0, rigid::CollisionGeometry::mesh); });
  return {goal_at_most("skinning", skin, "ms", 50, "patkar2014 §4.5: 50 ms for 34 000 triangles", size),
          reported("sub-bodies anew: skin, surfaces, masses, collision shapes with their search trees",
                   update, "ms", "patkar2014 §4.5: 5 ms for surfaces and level sets alone", size),
          reported("skinning weights, once", weight_time, "s", "", size)};
}

// Of the method's own phases: metrics and frames of 400 000 triangles cost more than the simulation and say nothing here.
double simulated(const SceneTiming& timing) {
  double sum = 0;
  for (const auto& [name, seconds] : timing.phases) sum += seconds;
  return sum;
}

// 48 frames instead of 400, so that the bench ends; from where the first ones reach the cubes to where most have.
std::vector<BenchRecord> tetrahedra(const ValidationContext& context) {
  const double seconds = 0.5;
  const std::string few = "bodies[0].repeat.count=[4,3,4]";
  const SceneTiming condensed = context.time_scene("tetrahedra", "rigid-bend", {few}, seconds);
  const SceneTiming open =
      context.time_scene("tetrahedra", "rigid-bend", {few, "methods.rigid-bend.condense=false"}, seconds);
  const std::string size = fmt::format("48 frames of 6 bones, {} s simulated, without output", seconds);
  return {reported("tetrahedra, condensed", simulated(condensed), "s", "", size),
          reported("tetrahedra, all joints open", simulated(open), "s", "", size),
          goal_at_least("all joints open / condensed", simulated(open) / simulated(condensed), "×", 1,
                        "condensation must pay", size)};
}

}  // namespace

std::vector<Bench> benches() {
  return {{"rigid-bend", "skinning", skinning}, {"rigid-bend", "tetrahedra", tetrahedra}};
}

}  // namespace exemplar::bend
