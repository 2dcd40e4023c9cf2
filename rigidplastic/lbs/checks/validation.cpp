#include "rigidplastic/lbs/checks/validation.h"

#include <cmath>

#include "core/base/random.h"
#include "rigidplastic/lbs/checks/bar.h"
#include "rigidplastic/lbs/method.h"
#include "rigidplastic/rigid/method.h"
#include "rigidplastic/simulation/body_frame.h"

namespace exemplar::lbs {

namespace {

constexpr double k_mass = 40;  // kg, of the bar

Parameters bar_parameters() {
  Parameters p;
  p.alpha = 40;
  p.beta = 10;
  p.gamma = 0.4;
  p.lambda = 0.7;
  return p;
}

Vec3 random_vector(std::uint64_t seed, std::uint64_t key) {
  return Vec3(normal_random(seed, 3 * key), normal_random(seed, 3 * key + 1),
              normal_random(seed, 3 * key + 2));
}

void settle_fully(Deformable& body, double dt) {
  body.settle(dt);
  for (int k = 0; k < 20000 && body.pending() > 0; ++k) body.settle(dt);
}

// Rows stay on the simplex through any sequence of impulses.
std::vector<ValidationRecord> barycentric(const ValidationContext&) {
  std::vector<ValidationRecord> records;
  for (const bool paper : {false, true}) {
    for (const Projection projection : {Projection::normalised, Projection::pseudo_inverse,
                                        Projection::gradient, Projection::constrained}) {
      Parameters p = bar_parameters();
      p.paper = paper;
      p.projection = projection;
      if (projection == Projection::constrained && paper) continue;  // not in the paper
      Deformable body = bar(p);
      double worst = 0;
      for (std::uint64_t tick = 0; tick < 400; ++tick) {
        const auto vertex =
            static_cast<int>(uniform_random(5, tick) * static_cast<double>(body.points().rows()));
        if (tick % 3 == 0) body.hit(vertex, 80 * random_vector(6, tick), k_mass, 0.004);
        body.settle(0.004);
        worst = std::max(worst, (body.weights().rowwise().sum().array() - 1).abs().maxCoeff());
        worst = std::max(worst, -body.weights().minCoeff());
      }
      records.push_back(at_most(std::string("rows off the simplex, projection ") +
                                    std::to_string(static_cast<int>(projection)) + (paper ? ", paper" : ""),
                                worst, 1e-12, "0 ≤ E ≤ 1, rows sum to 1, after 134 random impulses"));
    }
  }
  return records;
}

ExampleWeights after_impact(double lambda, double dt) {
  Parameters p = bar_parameters();
  p.lambda = lambda;
  Deformable body = bar(p);
  body.hit(body.nearest_vertex(Vec3(0.5, 0.1, 0), 0, static_cast<int>(body.points().rows())),
           Vec3(-60, -150, 20), k_mass, dt);
  body.settle(dt);
  // A second one arrives while the first is still fading in.
  body.hit(body.nearest_vertex(Vec3(-0.2, 0.1, 0), 0, static_cast<int>(body.points().rows())),
           Vec3(0, -220, 0), k_mass, dt);
  settle_fully(body, dt);
  return body.weights();
}

std::vector<ValidationRecord> fading(const ValidationContext&) {
  const ExampleWeights reference = after_impact(0, 0.004);
  double by_lambda = 0, by_step = 0;
  for (const double lambda : {0.3, 0.7, 0.9, 0.99}) {
    by_lambda = std::max(by_lambda, (after_impact(lambda, 0.004) - reference).cwiseAbs().maxCoeff());
  }
  for (const double dt : {0.0005, 0.002, 0.0167}) {
    by_step = std::max(by_step, (after_impact(0.7, dt) - reference).cwiseAbs().maxCoeff());
  }
  return {
      at_most("change of E with λ from 0 to 0.99", by_lambda, 0, "eq. 14: the total does not depend on λ"),
      at_most("change of E with Δt from 0.5 to 16.7 ms", by_step, 0, "reference time instead of Δt"),
      no_less_than("largest weight of an example", reference.rightCols(2).maxCoeff(), 0.3,
                   "something happened")};
}

std::vector<ValidationRecord> jacobian(const ValidationContext&) {
  const Skin skin = bar_skin();
  double worst = 0;
  for (std::uint64_t k = 0; k < 200; ++k) {
    const auto vertex = static_cast<Eigen::Index>(uniform_random(11, k) * static_cast<double>(skin.points()));
    Vec3 e(uniform_random(12, 3 * k), uniform_random(12, 3 * k + 1), uniform_random(12, 3 * k + 2));
    e /= e.sum();
    const Eigen::Matrix3Xd exact = skin.jacobian(vertex, {e.data(), 3});
    const double h = 1e-5;
    for (int c = 0; c < 3; ++c) {
      Vec3 plus = e, minus = e;
      plus[c] += h;
      minus[c] -= h;
      const Vec3 difference =
          (skin.position(vertex, {plus.data(), 3}) - skin.position(vertex, {minus.data(), 3})) / (2 * h);
      worst = std::max(worst, (difference - exact.col(c)).norm());
    }
  }
  return {at_most("J − central differences [m]", worst, 1e-9, "eq. 5, step 1e-5, 200 random places")};
}

// At the left end only example 1 moves anything: down and a little inwards.
std::vector<ValidationRecord> directions(const ValidationContext&) {
  Deformable body = bar(bar_parameters());
  const int end = body.nearest_vertex(Vec3(-0.5, 0, 0), 0, static_cast<int>(body.points().rows()));
  body.hit(end, Vec3(0, 0, 200), k_mass, 0.004);  // sideways: no example goes there
  body.settle(0.004);
  const double sideways = (body.target().col(0).array() - 1).abs().maxCoeff();
  body.hit(end, Vec3(0, 200, 0), k_mass, 0.004);  // up: away from the example
  body.settle(0.004);
  const double up = (body.target().col(0).array() - 1).abs().maxCoeff();
  const double before = body.points()(end, 1);
  body.hit(end, Vec3(0, -200, 0), k_mass, 0.004);
  settle_fully(body, 0.004);
  const double asked = 40 * (200 - 10) * 0.004 / k_mass;
  return {at_most("weight from an impulse orthogonal to every example", sideways, 0, "eq. 8"),
          at_most("weight from an impulse away from the example", up, 0, "no extrapolation"),
          near("weight from an impulse along the example", body.weights()(end, 1), std::min(1.0, asked),
               1e-12, "α‖Δx‖"),
          no_less_than("displacement along the impulse [m]", before - body.points()(end, 1), 0.05, "eq. 7")};
}

std::vector<ValidationRecord> full_weight(const ValidationContext&) {
  const Skin rig = bar_skin();
  Parameters p = bar_parameters();
  p.alpha = 1e6;
  p.gamma = 100;
  Deformable body = bar(p);
  const int end = body.nearest_vertex(Vec3(-0.5, 0, 0), 0, static_cast<int>(body.points().rows()));
  for (int k = 0; k < 50; ++k) {
    body.hit(end, Vec3(0, -1e4, 0), k_mass, 0.004);
    body.settle(0.004);
  }
  settle_fully(body, 0.004);
  const Points& centres = rig.centres();
  const Points posed = skin(rig.rest(), centres, rig.weights(), bar_poses()[1]);
  // The falloff leaves φ(d/γ) ≥ 0.999 of a step that is clamped at 1 everywhere.
  return {at_most("distance from example 1 [m]", (body.points() - posed).rowwise().norm().maxCoeff(), 1e-12,
                  "plain linear blend skinning of the example (eq. 1)")};
}

// Two prongs, 0.1 m apart and 1 m long, joined at one end; one bone that shifts everything.
std::vector<ValidationRecord> fork(const ValidationContext&) {
  constexpr int count = 41;
  Points points(2 * count, 3);
  Edges edges(2 * (count - 1) + 1, 2);
  int edge = 0;
  for (int prong = 0; prong < 2; ++prong) {
    for (int i = 0; i < count; ++i) {
      points.row(prong * count + i) << i / (count - 1.0), 0.1 * prong, 0;
      if (i > 0) edges.row(edge++) << prong * count + i - 1, prong * count + i;
    }
  }
  edges.row(edge) << 0, count;
  std::vector<BonePose> poses(2, BonePose(1));
  poses[1][0].translation = Vec3(0, 0, -0.2);
  Parameters p = bar_parameters();
  p.gamma = 0.5;
  Deformable body(Skin(points, Points::Zero(1, 3), sparse_weights(MatX::Ones(2 * count, 1)), poses), edges,
                  p);
  body.hit(count - 1, Vec3(0, 0, -150), k_mass, 0.004);
  settle_fully(body, 0.004);
  const double hit = body.weights()(count - 1, 1);
  const double middle = body.weights()(count - 1 - 10, 1);
  return {no_less_than("weight at the tip that was hit", hit, 0.3, "eq. 8"),
          near("weight a quarter metre behind it, over that at the tip", middle / hit, falloff(0.5), 1e-12,
               "φ(0.5)"),
          at_most("weight on the other prong, 0.1 m away", body.weights().col(1).tail(count).maxCoeff(), 0,
                  "geodesic distance is 2 m")};
}

SceneSettings falling_barrel(double density) {
  SceneSettings settings;
  settings.time = {0.8, 60, 4};
  BodySettings body;
  body.name = "barrel";
  body.surface.barrel = BarrelParams{};
  body.surface.barrel->resolution = 24;
  body.position = Vec3(0, 0.3, 0);
  body.rotation = {Vec3::UnitZ(), 25};
  body.velocity = Vec3(0.5, -4, 0);
  body.material.density = density;
  body.material.young = 1e6;
  body.material.yield_stress = 1.5e4;
  ExampleSettings crushed;
  crushed.name = "crushed";
  crushed.stretch = StretchMap{};
  crushed.stretch->axis = Vec3::UnitY();
  crushed.stretch->factor = 0.7;
  body.examples.push_back(crushed);
  settings.bodies.push_back(body);
  ObstacleSettings floor;
  floor.name = "floor";
  floor.plane = PlaneSettings{};
  settings.obstacles.push_back(floor);
  return settings;
}

Points surface_after(const Scene& scene, Method& method, int frames) {
  for (int frame = 1; frame <= frames; ++frame) method.advance(scene.frame_time(frame), [] { return false; });
  return method.fields()[0].points;
}

std::vector<ValidationRecord> rigid_limit(const ValidationContext&) {
  const Scene scene = make_scene(falling_barrel(300), "");
  Settings never;
  never.alpha = 1;
  never.beta = 1e300;
  rigid::Settings plain;
  plain.collision = rigid::CollisionGeometry::round_or_mesh;
  const Points deforming = surface_after(scene, *make_method(scene, never), 48);
  const Points stiff = surface_after(scene, *rigid::make_method(scene, plain), 48);
  return {at_most("difference from `rigid` after 0.8 s [m]", (deforming - stiff).cwiseAbs().maxCoeff(), 0,
                  "β = ∞ with the same collision shape, bit for bit")};
}

// Free flight while a dent fades in: nothing but gravity may change the momenta, no point may jump.
std::vector<ValidationRecord> recentring(const ValidationContext&) {
  Deformable body = bar(bar_parameters());
  const Triangles triangles = bar_mesh().triangles;
  auto frame_at = [&](const Mat3* near) {
    const double volume = signed_volume(body.points(), triangles);
    const MassProperties mass = solid_mass_properties(body.points(), triangles, k_mass / volume);
    return near ? rigid::principal_frame(mass, *near) : rigid::principal_frame(mass);
  };
  rigid::BodyFrame frame = frame_at(nullptr);
  RigidState state;
  state.velocity = Vec3(12, -3, 4);
  state.angular_velocity = Vec3(5, 1, -7);
  state.position = Vec3(1, 2, 3);
  auto momentum = [&] {
    return Vec3(k_mass * state.position.cross(state.velocity) + rigid::spin_momentum(state, frame.inertia));
  };
  const Vec3 start = momentum();
  double jump = 0, shift = 0;
  for (int tick = 0; tick < 60; ++tick) {
    if (tick % 20 == 0) body.hit(40 * tick % 300, Vec3(-90, -160, 60), k_mass, 0.004);
    if (!body.settle(0.004)) continue;
    const rigid::BodyFrame next = frame_at(&frame.axes);
    const RigidState moved = rigid::carried_over(state, k_mass, frame, next);
    for (Eigen::Index i = 0; i < body.points().rows(); i += 17) {
      const Vec3 point = body.points().row(i);
      const Vec3 before = state.to_world(frame.axes.transpose() * (point - frame.centre));
      jump = std::max(jump, (before - moved.to_world(next.axes.transpose() * (point - next.centre))).norm());
    }
    shift += (next.centre - frame.centre).norm();
    frame = next;
    state = moved;
  }
  return {
      at_most("jump of a world point on re-centring [m]", jump, 1e-14, "round-off"),
      at_most("change of angular momentum over its size", (momentum() - start).norm() / start.norm(), 1e-14,
              "ω = I⁻¹(L − δ × p)"),
      no_less_than("path of the centre of mass in the body [m]", shift, 0.01, "there was something to lose")};
}

std::vector<ValidationRecord> resting(const ValidationContext&) {
  SceneSettings settings = falling_barrel(300);
  settings.time.duration = 12;
  settings.bodies[0].rotation.angle = 0;
  settings.bodies[0].position.y() = 0.02;
  settings.bodies[0].velocity.setZero();
  const Scene scene = make_scene(settings, "");
  Settings usual;
  usual.alpha = 50;
  const auto method = make_method(scene, usual);
  const Points start = surface_after(scene, *method, 120);
  for (int frame = 121; frame <= 720; ++frame) method->advance(scene.frame_time(frame), [] { return false; });
  const Points end = method->fields()[0].points;
  return {at_most("creep of the surface in 10 s of rest [m]", (end - start).rowwise().norm().maxCoeff(), 1e-3,
                  "a barrel that stands"),
          at_most("weight of an example", method->diagnostics().plastic_measure, 0,
                  "β is above resting impulses")};
}

}  // namespace

std::vector<ValidationCase> validation_cases() {
  auto named = [](const std::string& name, auto run) {
    return ValidationCase{"rigid-lbs", name, false, run};
  };
  return {named("barycentric", barycentric), named("fading", fading),           named("jacobian", jacobian),
          named("directions", directions),   named("full-weight", full_weight), named("fork", fork),
          named("rigid-limit", rigid_limit), named("recentring", recentring),   named("resting", resting)};
}

}  // namespace exemplar::lbs
