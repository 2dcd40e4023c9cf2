#include "rigidplastic/bend/checks/validation.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "core/mesh/models/primitives.h"
#include "core/world/rotation.h"
#include "rigidplastic/bend/bending_body.h"
#include "rigidplastic/bend/method.h"

namespace exemplar::bend {

namespace {

double metric(const Diagnostics& d, const std::string& name) {
  for (const Metric& m : d.extra) {
    if (m.name == name) return m.value;
  }
  return k_unknown;
}

// A ball in the middle of a plank that lies on two supports, or floats.
SceneSettings plank_scene(double speed, bool floating) {
  SceneSettings settings;
  settings.time = {0.4, 100, 5};
  settings.gravity = floating ? Vec3(Vec3::Zero()) : Vec3(0, -9.81, 0);
  BodySettings plank;
  plank.name = "plank";
  plank.surface.box = BoxParams{Vec3(1.2, 0.06, 0.25), {48, 3, 10}};
  plank.volume.grid = IntVec3(40, 2, 8);
  plank.material.density = 1350;
  plank.material.yield_stress = 1e6;
  settings.bodies.push_back(plank);
  ObstacleSettings ball;
  ball.name = "ball";
  ball.sphere = SphereSettings{0.08};
  ball.mass = 10;
  ball.position = Vec3(0, 0.12, 0);
  ball.velocity = Vec3(0, -speed, 0);
  settings.obstacles.push_back(ball);
  if (floating) return settings;
  for (const double side : {-1.0, 1.0}) {
    ObstacleSettings support;
    support.name = side < 0 ? "left" : "right";
    support.box = BoxSettings{Vec3(0.1, 0.2, 0.4)};
    support.position = Vec3(0.45 * side, -0.13, 0);
    settings.obstacles.push_back(support);
  }
  return settings;
}

BodyWeights one_bone(const Body& body) {
  return bone_weights(body, {Bone{}});
}

struct Course {
  std::vector<Diagnostics> frames;  // the start and every frame
};

Course run(const SceneSettings& settings, const Settings& method_settings) {
  const Scene scene = make_scene(settings, "");
  const auto method = make_method(scene, method_settings);
  Course course;
  course.frames.push_back(method->diagnostics());
  for (int frame = 1; frame <= scene.frame_count(); ++frame) {
    method->advance(scene.frame_time(frame), [] { return false; });
    course.frames.push_back(method->diagnostics());
  }
  return course;
}

std::vector<ValidationRecord> elastic_joint(const ValidationContext&) {
  std::vector<ValidationRecord> records;
  const std::vector<std::pair<std::string, Oscillator>> kinds{{"under-damped", {0.7, 0.9, 30, 0.2, 1.0}},
                                                              {"critically damped", {0.5, 4, 8, -0.3, 0.5}},
                                                              {"over-damped", {0.5, 9, 8, -0.3, 0.5}}};
  for (const auto& [name, oscillator] : kinds) {
    // θ(t) with the roots r of I r² + C r + κ = 0, or (A + B t) e^(rt).
    const double x0 = 0.4 - oscillator.rest - oscillator.torque / oscillator.stiffness, v0 = -1.5, t = 1.3;
    const double beta = 0.5 * oscillator.damping / oscillator.inertia,
                 q = oscillator.stiffness / oscillator.inertia - beta * beta;
    const double w = std::sqrt(std::abs(q));
    const double shape = std::abs(q) < 1e-12 ? x0 + (v0 + beta * x0) * t
                         : q > 0             ? x0 * std::cos(w * t) + (v0 + beta * x0) / w * std::sin(w * t)
                                 : x0 * std::cosh(w * t) + (v0 + beta * x0) / w * std::sinh(w * t);
    const double exact =
        oscillator.rest + oscillator.torque / oscillator.stiffness + std::exp(-beta * t) * shape;
    for (const int steps : {1, 13, 1000}) {
      OscillatorState state{0.4, -1.5};
      for (int k = 0; k < steps; ++k) state = advanced(oscillator, state, t / steps);
      records.push_back(near(fmt::format("{}, {} steps: angle [rad]", name, steps), state.angle, exact, 1e-12,
                             "closed form"));
    }
  }
  return records;
}

// Half of a plank falls into the elastic joint that holds it to the other half, which is held; the whole method against
//   θ(t) = τ/κ (1 − e^(−βt) (cos wt + β/w sin wt)),   τ = m g l/2,   I = m (l²/3 + h²/12) about the joint.
std::vector<ValidationRecord> elastic_swing(const ValidationContext&) {
  SceneSettings settings = plank_scene(0, true);
  settings.gravity = Vec3(0, -9.81, 0);
  settings.obstacles.clear();
  BodySettings& plank = settings.bodies[0];
  SkeletonSettings skeleton;
  skeleton.points = {Vec3(-0.55, 0, 0), Vec3(0, 0, 0), Vec3(0.55, 0, 0)};
  skeleton.bones = {{0, 1}, {1, 2}};
  skeleton.strength = 1e6;
  plank.skeleton = skeleton;
  SupportSettings support;
  support.region.box = RegionBox{Vec3(0.55, -1, -1), Vec3(1, 1, 1)};
  plank.supports.push_back(support);
  Settings elastic;
  elastic.elastic = ElasticSettings{800, 4};
  elastic.max_step = 1;
  const double mass = 0.5 * 1350 * 1.2 * 0.06 * 0.25, inertia = mass * (0.6 * 0.6 / 3 + 0.06 * 0.06 / 12),
               rest = mass * 9.81 * 0.3 / 800, beta = 0.5 * 4 / inertia,
               w = std::sqrt(800 / inertia - beta * beta);
  std::vector<ValidationRecord> records;
  for (const int steps : {1, 2, 10}) {
    settings.time = {0.5, 100, steps};
    const Course course = run(settings, elastic);
    double worst = 0;
    for (std::size_t f = 0; f < course.frames.size(); ++f) {
      const double t = 0.01 * static_cast<double>(f);
      const double exact = rest * (1 - std::exp(-beta * t) * (std::cos(w * t) + beta / w * std::sin(w * t)));
      const double angle = metric(course.frames[f], "bend_angle") * std::numbers::pi / 180;
      worst = std::max(worst, std::abs(angle - exact) / rest);
    }
    records.push_back(at_most(
        fmt::format("falls into its spring, step {} ms: worst difference / angle at rest", 10.0 / steps),
        worst, 0.01, "closed form over half a second; gravity's arm shortens by 1 − cos θ"));
  }
  return records;
}

// Two boxes one in the other, joined at their centres, that turn against each other: no lever arms, so that the
// reduced inertia is exact.
std::vector<ValidationRecord> turning_energy(const ValidationContext&) {
  std::vector<ValidationRecord> records;
  const TriMesh box = make_box({Vec3(0.3, 0.1, 0.1), {1, 1, 1}});
  const rigid::BulletShape shape = rigid::BulletShape::from_mesh(box, rigid::CollisionGeometry::hull);
  const double inertia = 0.08, spin = 12, moment = 5;
  const double exact = 0.5 * (0.5 * inertia) * spin * spin / moment;
  for (const double h : {0.0005, 0.001, 0.002, 0.004}) {
    rigid::RigidObject object;
    object.shape = &shape;
    object.mass = 3;
    object.principal_inertia.setConstant(inertia);
    object.component = 0;
    std::vector<rigid::RigidObject> objects{object, object};
    objects[0].state.angular_velocity = Vec3(0, 0, 0.5 * spin);
    objects[1].state.angular_velocity = Vec3(0, 0, -0.5 * spin);
    rigid::Joint joint;
    joint.b = 1;
    joint.frame_a = joint.frame_b = Quat::FromTwoVectors(Vec3::UnitX(), Vec3::UnitZ());
    joint.yield_moment.setConstant(moment);
    rigid::BulletWorld world(objects, {joint}, {Vec3::Zero(), 30});
    double angle = 0;
    for (int k = 0; k < 4000; ++k) {
      world.step(h);
      const RigidState a = world.state(0), b = world.state(1);
      angle += h * (a.angular_velocity - b.angular_velocity).norm();
      joint.frame_a = a.orientation.conjugate() * Quat::FromTwoVectors(Vec3::UnitX(), Vec3::UnitZ());
      joint.frame_b = b.orientation.conjugate() * Quat::FromTwoVectors(Vec3::UnitX(), Vec3::UnitZ());
      world.set_joint(0, joint);
    }
    // The step takes M h from the spin before it moves on: the sum is half a step's angle short.
    records.push_back(near_relative(fmt::format("angle after a turn, step {} ms", 1e3 * h),
                                    angle + 0.5 * spin * h, exact, 2e-3, "½ I ω² = M_p θ, less half a step"));
  }
  return records;
}

std::vector<ValidationRecord> strength_holds(const ValidationContext&) {
  Settings strong, weak;
  strong.strength = 1e9;
  strong.condense = false;
  SceneSettings scene = plank_scene(8, false);
  SkeletonSettings skeleton;
  skeleton.points = {Vec3(-0.55, 0, 0), Vec3(0, 0, 0), Vec3(0.55, 0, 0)};
  skeleton.bones = {{0, 1}, {1, 2}};
  scene.bodies[0].skeleton = skeleton;
  const Course held = run(scene, strong);
  strong.condense = true;
  const Course welded = run(scene, strong);
  const Course bent = run(plank_scene(8, true), weak);
  const double last = metric(bent.frames.back(), "bend_angle"),
               before = metric(bent.frames[bent.frames.size() - 11], "bend_angle");
  return {at_most("below strength, joint open: angle [rad]",
                  metric(held.frames.back(), "bend_angle") * std::numbers::pi / 180, 1e-4,
                  "it holds, up to what 60 iterations of the solver leave"),
          near("below strength, condensed: angle [rad]", metric(welded.frames.back(), "bend_angle"), 0, 0,
               "it is never opened"),
          no_less_than("above strength: angle [°]", last, 5, "225 N m against a ball of 10 kg at 8 m/s"),
          near("above strength: angle 0.1 s before the end [°]", before, last, 1e-6,
               "it stays where it stopped")};
}

// The floating plank: momentum with the ball, and the work of the joint M_p θ.
std::vector<ValidationRecord> floating_fold(const ValidationContext&) {
  const Course course = run(plank_scene(8, true), {});
  const double angle = metric(course.frames.back(), "bend_angle") * std::numbers::pi / 180;
  const double moment = 1e6 * 0.25 * 0.06 * 0.06 / 4, mass = 1350 * 1.2 * 0.06 * 0.25;
  const Vec3 plank = course.frames.back().linear_momentum;
  // The ball and the plank stick together at the point of impact (no restitution): the plank cannot have taken more
  // than the ball brought.
  return {
      near_relative("work of the joint [J]", course.frames.back().plastic_dissipation, moment * angle, 0.03,
                    "M_p θ, M_p = σ_y b h²/4"),
      near("bones", metric(course.frames.back(), "bones"), 2, 0, "split once, where it was hit"),
      near("rigid bodies at the end", metric(course.frames.back(), "rigid_bodies"), 1, 0, "condensed again"),
      at_most("momentum taken [kg m/s]", -plank.y(), 80, "10 kg at 8 m/s"),
      no_less_than("momentum taken [kg m/s]", -plank.y(), 80 * mass / (mass + 10) * 0.5, "inelastic impact")};
}

// A split bone bent by 90°: thickness at the plank's ends, and the world surface right after the split.
std::vector<ValidationRecord> plank_ends(const ValidationContext&) {
  const Scene scene = make_scene(plank_scene(8, true), "");
  const Body& body = scene.bodies[0];
  ArticulatedBody plank(body, longest_axis_skeleton(body.surface()), one_bone(body), std::nullopt, true);
  const Points before = plank.skinned({Eigen::Isometry3d::Identity()}, {0});
  plank.split({0, 0.5, 0.18});
  BonePoses poses(2, Eigen::Isometry3d::Identity());
  const Points split = plank.skinned(poses, {0, 0});
  poses[1] = Eigen::AngleAxisd(0.5 * std::numbers::pi, Vec3::UnitZ());
  const Points bent = plank.skinned(poses, {0, 0});
  double worst = 0;
  for (Eigen::Index v = 0; v < before.rows(); ++v) {
    for (Eigen::Index w = 0; w < v; ++w) {
      const bool pair =
          std::abs(std::abs(before(v, 0)) - 0.6) < 1e-9 &&
          (before.row(v) - before.row(w)).cwiseAbs().isApprox(Eigen::RowVector3d(0, 0.06, 0), 1e-9);
      if (pair) worst = std::max(worst, std::abs((bent.row(v) - bent.row(w)).norm() - 0.06));
    }
  }
  return {at_most("change of the ends' thickness at 90° [m]", worst, 1e-14,
                  "rigid ends; linearised elements thicken them"),
          at_most("change of the surface by the split [m]", (split - before).cwiseAbs().maxCoeff(), 1e-14,
                  "weights w s + w (1 − s)")};
}

std::vector<ValidationRecord> condensation(const ValidationContext&) {
  const Scene scene = make_scene(plank_scene(8, true), "");
  const Body& body = scene.bodies[0];
  BendingBody plank(
      ArticulatedBody(body, longest_axis_skeleton(body.surface()), one_bone(body), std::nullopt, true),
      std::nullopt, false);
  RigidState start;
  start.velocity = Vec3(1, -2, 0.5);
  start.angular_velocity = Vec3(0.4, 3, -1);
  std::vector<rigid::RigidBody> whole =
      plank.rebuild(std::span(&start, 1), 0, rigid::CollisionGeometry::hull);
  const auto sums = [](const std::vector<rigid::RigidBody>& bodies) {
    Eigen::Matrix<double, 7, 1> sum = Eigen::Matrix<double, 7, 1>::Zero();
    for (const rigid::RigidBody& b : bodies) {
      const Vec3 spin = rigid::spin_momentum(b.state, b.frame.inertia);
      sum.head<3>() += b.mass * b.state.velocity;
      sum.segment<3>(3) += b.mass * b.state.position.cross(b.state.velocity) + spin;
      sum[6] += 0.5 * b.mass * b.state.velocity.squaredNorm() + 0.5 * spin.dot(b.state.angular_velocity);
    }
    return sum;
  };
  const auto before = sums(whole);
  const Points surface = plank.surface();
  plank.split({0, 0.4, 0.18});
  plank.joints()[0].open = true;
  const std::vector<rigid::RigidBody> parts =
      plank.rebuild(std::span(&whole[0].state, 1), 0, rigid::CollisionGeometry::hull);
  const auto opened_sums = sums(parts);
  std::vector<RigidState> states;
  for (const rigid::RigidBody& part : parts) states.push_back(part.state);
  plank.joints()[0].open = false;
  const std::vector<rigid::RigidBody> again = plank.rebuild(states, 0, rigid::CollisionGeometry::hull);
  return {at_most("momenta and energy after opening, largest relative change",
                  (opened_sums - before).cwiseAbs().maxCoeff() / before.cwiseAbs().maxCoeff(), 1e-12,
                  "conservation"),
          at_most("momenta and energy after closing, largest relative change",
                  (sums(again) - before).cwiseAbs().maxCoeff() / before.cwiseAbs().maxCoeff(), 1e-12,
                  "conservation"),
          near("rigid bodies while open", static_cast<double>(parts.size()), 2, 0, "one joint"),
          at_most("change of the world surface [m]", (plank.surface() - surface).cwiseAbs().maxCoeff(), 1e-12,
                  "nothing moved")};
}

std::vector<ValidationRecord> sections(const ValidationContext&) {
  const YieldMoments plank = yield_moments(
      cross_section(make_box({Vec3(1.2, 0.06, 0.25), {7, 2, 3}}), Vec3(0.013, 0, 0), Vec3::UnitX()), 1e6);
  const double circle =
      cross_section(make_cylinder({0.1, 1.0, 256}), Vec3(0, 0.011, 0), Vec3::UnitY()).plastic_modulus(0.3);
  return {near_relative("rectangle, weak axis [N m]", plank.moment[0], 1e6 * 0.25 * 0.06 * 0.06 / 4, 1e-9,
                        "σ_y b h²/4"),
          near_relative("rectangle, strong axis [N m]", plank.moment[1], 1e6 * 0.06 * 0.25 * 0.25 / 4, 1e-9,
                        "σ_y h b²/4"),
          near_relative("circle [m³]", circle, 4.0 / 3 * 1e-3, 5e-4, "4 r³/3; a polygon of 256 corners")};
}

}  // namespace

std::vector<ValidationCase> validation_cases() {
  return {{"rigid-bend", "elastic-joint", false, elastic_joint},
          {"rigid-bend", "elastic-swing", false, elastic_swing},
          {"rigid-bend", "turning-energy", false, turning_energy},
          {"rigid-bend", "strength", false, strength_holds},
          {"rigid-bend", "floating-fold", false, floating_fold},
          {"rigid-bend", "plank-ends", false, plank_ends},
          {"rigid-bend", "condensation", false, condensation},
          {"rigid-bend", "sections", false, sections}};
}

}  // namespace exemplar::bend
