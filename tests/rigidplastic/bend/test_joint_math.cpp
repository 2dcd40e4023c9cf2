#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/base/random.h"
#include "core/mesh/models/primitives.h"
#include "rigidplastic/bend/cluster.h"
#include "rigidplastic/bend/joint_math.h"

namespace exemplar::bend {

namespace {

// A tiny step of Runge and Kutta's method, for comparison.
OscillatorState integrated(const Oscillator& o, OscillatorState s, double time, int steps) {
  const auto rate = [&](const OscillatorState& x) {
    return OscillatorState{x.rate,
                           (o.torque - o.damping * x.rate - o.stiffness * (x.angle - o.rest)) / o.inertia};
  };
  const auto plus = [](const OscillatorState& a, const OscillatorState& d, double h) {
    return OscillatorState{a.angle + h * d.angle, a.rate + h * d.rate};
  };
  const double h = time / steps;
  for (int k = 0; k < steps; ++k) {
    const OscillatorState a = rate(s), b = rate(plus(s, a, h / 2)), c = rate(plus(s, b, h / 2)),
                          d = rate(plus(s, c, h));
    s.angle += h / 6 * (a.angle + 2 * b.angle + 2 * c.angle + d.angle);
    s.rate += h / 6 * (a.rate + 2 * b.rate + 2 * c.rate + d.rate);
  }
  return s;
}

const std::vector<Oscillator> k_oscillators{
    {0.7, 0.0, 30, 0.2, 1.0},  // undamped
    {0.7, 0.9, 30, 0.2, 1.0},  // under-damped
    {0.5, 4.0, 8, -0.3, 0.5},  // critically damped: C² = 4 I κ
    {0.5, 9.0, 8, -0.3, 0.5},  // over-damped
    {0.5, 9.0, 0, 0.0, 0.5},   // no spring
    {0.5, 0.0, 0, 0.0, 0.5},   // nothing but a torque
};

MassProperties random_mass(std::uint64_t seed) {
  Mat3 a;
  for (int k = 0; k < 9; ++k) a.data()[k] = normal_random(seed, static_cast<std::uint64_t>(k));
  MassProperties mass;
  mass.mass = 1 + uniform_random(seed, 20);
  mass.centre = Vec3(normal_random(seed, 31), normal_random(seed, 32), normal_random(seed, 33));
  mass.inertia = a * a.transpose() + Mat3::Identity();
  return mass;
}

}  // namespace

TEST(ElasticJoint, FollowsTheDifferentialEquation) {
  const OscillatorState start{0.4, -1.5};
  for (const Oscillator& o : k_oscillators) {
    const OscillatorState exact = advanced(o, start, 0.8), numeric = integrated(o, start, 0.8, 20000);
    EXPECT_NEAR(exact.angle, numeric.angle, 1e-12);
    EXPECT_NEAR(exact.rate, numeric.rate, 1e-12);
  }
}

TEST(ElasticJoint, ManyStepsEqualOneOfAnyLength) {
  const OscillatorState start{0.4, -1.5};
  for (const Oscillator& o : k_oscillators) {
    OscillatorState s = start;
    for (int k = 0; k < 37; ++k) s = advanced(o, s, 5.0 / 37);
    const OscillatorState once = advanced(o, start, 5.0);
    EXPECT_NEAR(s.angle, once.angle, 1e-13);
    EXPECT_NEAR(s.rate, once.rate, 1e-12);
  }
}

TEST(ElasticJoint, ItsImpulseLandsOnTheExactAngle) {
  for (const Oscillator& o : k_oscillators) {
    const OscillatorState s{0.4, -1.5};
    const double dt = 0.05, rate = s.rate + spring_impulse(o, s, dt) / o.inertia;
    EXPECT_NEAR(s.angle + dt * rate, advanced(o, s, dt).angle, 1e-15);
  }
}

// Two bodies free in space whose centres stay: opposite impulses ±j n change the relative rate about n by j/I.
TEST(ReducedInertia, IsWhatAnImpulseMeets) {
  const Mat3 a = random_mass(3).inertia, b = random_mass(4).inertia;
  const Vec3 n = Vec3(1, -2, 0.5).normalized();
  const double j = 0.7;
  const Vec3 change = a.inverse() * (j * n) + b.inverse() * (j * n);
  EXPECT_NEAR(reduced_inertia(a.inverse(), b.inverse(), n), j / n.dot(change), 1e-14);
}

// A rod that hangs by its end from something that does not move: I + m (l/2)² = m l²/3 about the end.
TEST(ReducedInertia, OfARodAboutItsEndCountsTheArm) {
  const double mass = 0.9, length = 0.6, own = mass * length * length / 12;
  JointSide wall, rod;
  rod.inverse_mass = 1 / mass;
  rod.inverse_inertia = Mat3::Identity() / own;
  rod.arm = Vec3(0.5 * length, 0, 0);
  EXPECT_NEAR(reduced_inertia(wall, rod, Vec3::UnitZ()), mass * length * length / 3, 1e-14);
  EXPECT_NEAR(reduced_inertia(wall, rod, Vec3::UnitX()), own, 1e-14);
}

TEST(ReducedInertia, EqualsThePapersProductWhereTensorsCommute) {
  const Mat3 a = Vec3(1, 2, 3).asDiagonal(), b = Vec3(4, 1, 0.5).asDiagonal();
  const Mat3 paper = (a + b).inverse() * a * b;
  EXPECT_NEAR(reduced_inertia(a.inverse(), b.inverse(), Vec3::UnitY()), paper(1, 1), 1e-15);
}

// Rectangle b × h: b h²/4 and h b²/4; circle: 4 r³/3; ring: 4 (R³ − r³)/3.
TEST(CrossSection, PlasticModuliOfTextbookSections) {
  const TriMesh box = make_box({Vec3(1.0, 0.06, 0.25), {7, 2, 3}});
  const CrossSection rectangle = cross_section(box, Vec3(0.013, 0, 0), Vec3::UnitX());
  EXPECT_NEAR(rectangle.area(), 0.06 * 0.25, 1e-15);
  const YieldMoments moments = yield_moments(rectangle, 1e6);
  EXPECT_NEAR(moments.moment[0], 1e6 * 0.25 * 0.06 * 0.06 / 4, 1e-6);
  EXPECT_NEAR(moments.moment[1], 1e6 * 0.06 * 0.25 * 0.25 / 4, 1e-6);
  EXPECT_NEAR(std::abs(moments.axes.col(0).z()), 1, 1e-9);

  const CrossSection circle = cross_section(make_cylinder({0.1, 1.0, 256}), Vec3(0, 0.011, 0), Vec3::UnitY());
  EXPECT_NEAR(circle.plastic_modulus(0.3) / (4.0 / 3 * 1e-3), 1, 5e-4);  // a polygon of 256 corners
  const CrossSection ring = cross_section(make_tube({0.1, 0.02, 1.0, 256}), Vec3(0, 0.011, 0), Vec3::UnitY());
  EXPECT_NEAR(ring.plastic_modulus(1.1) / (4.0 / 3 * (1e-3 - 0.512e-3)), 1, 5e-4);
}

// A tee (two rectangles) has its neutral line where the area halves, not at the centroid.
TEST(CrossSection, NeutralLineHalvesTheArea) {
  TriMesh flange = make_box({Vec3(1, 0.02, 0.2), {1, 1, 1}}), web = make_box({Vec3(1, 0.2, 0.01), {1, 1, 1}});
  flange.vertices.col(1).array() += 0.11;
  TriMesh tee{Points(16, 3), Triangles(24, 3)};
  tee.vertices << flange.vertices, web.vertices;
  tee.triangles << flange.triangles, (web.triangles.array() + 8).matrix();
  const YieldMoments moments = yield_moments(cross_section(tee, Vec3(0.013, 0, 0), Vec3::UnitX()), 1);
  // Area 0.004 + 0.002: the line lies in the flange, 0.003/0.2 = 0.015 below its top at y = 0.12.
  const double by_hand = 0.003 * 0.0075 + 0.001 * 0.0025 + 0.002 * (0.105 - 0.0);
  const CrossSection section = cross_section(tee, Vec3(0.013, 0, 0), Vec3::UnitX());
  double nearest = 1;
  for (int k = 0; k < 180; ++k)
    nearest = std::min(nearest, std::abs(section.plastic_modulus(std::numbers::pi * k / 180) - by_hand));
  EXPECT_LT(nearest, 1e-9);
  EXPECT_GT(moments.moment[0], 0);
}

TEST(YieldMoments, AreAnEllipsoid) {
  YieldMoments moments;
  moments.moment = Vec3(1, 3, 2);
  EXPECT_NEAR(moments.along(Vec3::UnitY()), 3, 1e-15);
  const Vec3 n = Vec3(1, 1, 0).normalized();
  EXPECT_NEAR(moments.along(n), 1 / std::sqrt(0.5 / 1 + 0.5 / 9), 1e-15);
}

TEST(Cluster, MergingKeepsMassCentreInertiaAndMomenta) {
  std::vector<MovingPiece> pieces;
  double mass = 0;
  Vec3 momentum = Vec3::Zero(), spin = Vec3::Zero(), first = Vec3::Zero();
  for (std::uint64_t k = 1; k <= 5; ++k) {
    MovingPiece piece{random_mass(k), Vec3(normal_random(k, 50), normal_random(k, 51), normal_random(k, 52)),
                      Vec3(normal_random(k, 60), normal_random(k, 61), normal_random(k, 62))};
    mass += piece.mass.mass;
    first += piece.mass.mass * piece.mass.centre;
    momentum += piece.mass.mass * piece.velocity;
    spin += angular_momentum(piece);
    pieces.push_back(piece);
  }
  const MovingPiece whole = merged(pieces);
  EXPECT_NEAR(whole.mass.mass, mass, 1e-14);
  EXPECT_NEAR((whole.mass.mass * whole.mass.centre - first).norm(), 0, 1e-13);
  EXPECT_NEAR((whole.mass.mass * whole.velocity - momentum).norm(), 0, 1e-13);
  EXPECT_NEAR((angular_momentum(whole) - spin).norm(), 0, 1e-12);
}

TEST(Cluster, OpeningAndMergingAgainChangesNothing) {
  std::vector<MassProperties> masses{random_mass(7), random_mass(8), random_mass(9)};
  MovingPiece whole{merged(masses), Vec3(1, -2, 0.3), Vec3(0.4, 2, -1)};
  std::vector<MovingPiece> pieces;
  double energy = 0;
  Vec3 momentum = Vec3::Zero(), spin = Vec3::Zero();
  for (const MassProperties& mass : masses) {
    pieces.push_back(opened(whole, mass));
    energy += kinetic_energy(pieces.back());
    momentum += mass.mass * pieces.back().velocity;
    spin += angular_momentum(pieces.back());
  }
  EXPECT_NEAR(energy, kinetic_energy(whole), 1e-13 * energy);
  EXPECT_NEAR((momentum - whole.mass.mass * whole.velocity).norm(), 0, 1e-13);
  EXPECT_NEAR((spin - angular_momentum(whole)).norm(), 0, 1e-12);
  const MovingPiece again = merged(pieces);
  EXPECT_NEAR((again.velocity - whole.velocity).norm(), 0, 1e-14);
  EXPECT_NEAR((again.angular_velocity - whole.angular_velocity).norm(), 0, 1e-13);
}

// A box cut in two halves and put together again has the inertia m (b² + c²)/12 of the whole.
TEST(Cluster, TwoHalvesOfABoxHaveItsInertia) {
  TriMesh half = make_box({Vec3(0.5, 0.2, 0.3), {1, 1, 1}});
  half.vertices.col(0).array() += 0.25;
  MassProperties right = solid_mass_properties(half.vertices, half.triangles, 1000);
  const MassProperties left =
      moved(right, Quat(Eigen::AngleAxisd(std::numbers::pi, Vec3::UnitY())).toRotationMatrix(), Vec3::Zero());
  const MassProperties box = merged(std::vector<MassProperties>{left, right});
  EXPECT_NEAR(box.inertia(2, 2), 60.0 * (1 * 1 + 0.2 * 0.2) / 12, 1e-12);
  EXPECT_NEAR(box.centre.norm(), 0, 1e-15);
}

}  // namespace exemplar::bend
