// Flow without delay: the return within the step against its definition, the return after the step to the yield surface,
// and that no flow, with examples in any role, ever makes energy.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "core/base/random.h"
#include "core/mesh/volume/tet_box.h"
#include "fem/checks/cuboid_cases.h"
#include "fem/checks/validation.h"
#include "fem/plastic_return.h"
#include "tests/fem/fem_run.h"

namespace exemplar::fem {
namespace {

const std::vector<ElasticModel> k_models{ElasticModel::modified_stvk, ElasticModel::stvk,
                                         ElasticModel::corotated, ElasticModel::neo_hookean,
                                         ElasticModel::barrier_neo_hookean};

Vec3 random_stretches(std::uint64_t seed, double size) {
  Vec3 s;
  for (int i = 0; i < 3; ++i) s[i] = std::exp(size * normal_random(seed, static_cast<std::uint64_t>(i)));
  std::sort(s.data(), s.data() + 3, std::greater<>());
  return s;
}

double von_mises_of(const ElasticEnergy& energy, const Vec3& s) {
  const Mat3 f = s.asDiagonal();
  const Mat3 p = std::visit([&](const auto& psi) -> Mat3 { return psi.gradient(f); }, energy);
  return std::sqrt(squared_von_mises<double>(Mat3(p * f)));
}

// Without hardening and with it; 1000 states and five energies.
TEST(PlasticReturn, EndsOnTheYieldSurfaceAndKeepsTheVolume) {
  int flowed = 0, left = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Vec3 s = random_stretches(seed, 0.2);
    for (const ElasticModel model : k_models) {
      const ElasticEnergy energy = make_energy(model, 1000, 0.3);
      const YieldCurve curve(20, seed % 2 == 0 ? 0 : 300);
      const YieldLimit limit{&curve, 0.1 * static_cast<double>(seed % 3), 1};
      const PlasticReturn after = return_to_yield(energy, s, limit);
      if (!after.flowed()) {
        left += von_mises_of(energy, s) > limit.stress(0) * (1 + 1e-12) ? 1 : 0;
        continue;
      }
      ++flowed;
      EXPECT_NEAR(von_mises_of(energy, after.elastic) / limit.stress(after.strain), 1, 1e-9)
          << seed << name_of(model);
      EXPECT_NEAR(after.elastic.prod() / s.prod(), 1, 1e-12);
      EXPECT_NEAR(std::sqrt(2.0 / 3) * after.flow.norm(), after.strain, 1e-14);
    }
  }
  EXPECT_GT(flowed, 900);
  EXPECT_EQ(left, 0);
}

// Energies grow softer when they are compressed: an element that is crushed within one step must not become elastic
// again on the way, with a jump of what the step minimises.
TEST(PlasticReturn, HasNoJumpWhenAnElementIsCrushed) {
  for (const ElasticModel model : k_models) {
    const ElasticEnergy energy = make_energy(model, 1000, 0.3);
    const double mu = small_strain_parameters(energy).mu;
    const YieldCurve curve(60, 0);
    const YieldLimit limit{&curve, 0, 1};
    const auto returned = [&](const Vec3& s) {
      const double stress = von_mises_of(energy, s);
      PlasticReturn none;
      none.elastic = s;
      return may_flow(stress * stress, s.squaredNorm(), s.prod(), mu, limit)
                 ? return_to_yield(energy, s, limit)
                 : none;
    };
    // StVK itself gives way below a stretch of 1/√3.
    const double shortest = model == ElasticModel::stvk ? 0.6 : 0.03;
    const int steps = 4000;
    const double size = (1 - shortest) / steps;
    for (const Vec3& others : {Vec3(1, 1, 0), Vec3(1.3, 0.9, 0), Vec3(1.05, 0.4, 0)}) {
      for (int i = 0; i < steps; ++i) {
        const Vec3 before = others + Vec3(0, 0, 1 - i * size), after = before - Vec3(0, 0, size);
        const double slope =
            0.5 * (slopes_after(energy, returned(before)) + slopes_after(energy, returned(after))).z();
        const double change =
            value_after(energy, returned(after), limit) - value_after(energy, returned(before), limit);
        ASSERT_NEAR(change, -size * slope, 1e-2 * size * (std::abs(slope) + 60))
            << name_of(model) << before.z();
      }
    }
  }
}

TEST(PlasticReturn, SlopesAndHessianAreThoseOfItsValue) {
  const auto value = [](const ElasticEnergy& energy, const Vec3& s, const YieldLimit& limit) {
    return value_after(energy, return_to_yield(energy, s, limit), limit);
  };
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Vec3 s = random_stretches(seed, 0.2);
    for (const ElasticModel model : k_models) {
      const ElasticEnergy energy = make_energy(model, 1000, 0.3);
      const YieldCurve curve(20, 300);
      const YieldLimit limit{&curve, 0.05, 0.9};
      const PlasticReturn after = return_to_yield(energy, s, limit);
      if (!after.flowed()) continue;
      const Vec3 slopes = slopes_after(energy, after);
      const PrincipalHessian h = hessian_after(energy, s, after, limit);
      const double step = 1e-5;
      for (int i = 0; i < 3; ++i) {
        Vec3 up = s, down = s;
        up[i] += step;
        down[i] -= step;
        EXPECT_NEAR((value(energy, up, limit) - value(energy, down, limit)) / (2 * step), slopes[i], 1e-4);
        const Vec3 curve_of_slope = (slopes_after(energy, return_to_yield(energy, up, limit)) -
                                     slopes_after(energy, return_to_yield(energy, down, limit))) /
                                    (2 * step);
        EXPECT_LT((curve_of_slope - h.a.col(i)).norm(), 1e-4 * h.a.norm()) << seed << name_of(model);
      }
    }
  }
}

// The flow after a step, with examples: below the yield stress or where the energy is least.
TEST(YieldAfterTheStep, StressIsAtTheYieldStressWhateverTheStep) {
  const TetMesh mesh = tet_box({1, 1, 1}, {2, 2, 2});
  const ElasticEnergy energy = ModifiedStVK{100, 250};
  for (const double stretch : {1.02, 1.2, 2.0}) {
    TetElements elements(mesh);
    const Vec3 s(stretch, 1 / std::sqrt(stretch), 1 / std::sqrt(stretch));
    const Points x = mesh.vertices * s.asDiagonal();
    Plasticity plasticity(elements, {2.0, {}, 0}, {x});
    const double before = elastic_energy(energy, elements, x);
    const FlowSum sum = plasticity.update(x, energy, 1e9, elements);
    EXPECT_TRUE(sum.flowed);
    EXPECT_NEAR(sum.released, before - elastic_energy(energy, elements, x), 1e-10 * before);
    for (std::size_t e = 0; e < elements.count(); ++e) {
      const Mat3 f = elements.deformation(x, e);
      const Mat3 p = std::visit([&](const auto& psi) -> Mat3 { return psi.gradient(f); }, energy);
      EXPECT_NEAR(std::sqrt(squared_von_mises<double>(Mat3(p * f.transpose()))) / f.determinant(), 2.0, 1e-6);
    }
  }
}

// A free box that is thrown into a random motion.
SolidBody thrown_box(std::uint64_t seed, bool elastic, bool plastic, std::optional<double> rate, bool carry) {
  SolidBody body;
  body.mesh = tet_box({1, 1, 2}, {3, 3, 5});
  body.energy = ModifiedStVK{1e4, 2e4};
  const Points& x = body.mesh.vertices;
  const std::vector<Points> poses{twisted_pose(x, 2, 60, 0.8)};
  if (elastic) {
    ExampleSet set;
    set.poses = poses;
    set.stiffness = 4;
    body.examples.push_back(set);
  }
  PlasticBody flow;
  flow.parameters = {YieldCurve(600, 500), rate, 0};
  flow.carries_examples = carry;
  if (plastic) flow.poses = poses;
  body.plastic = flow;
  Mat3 gradient;
  for (int i = 0; i < 9; ++i) gradient(i) = 3 * normal_random(seed, static_cast<std::uint64_t>(i));
  body.velocities = x * gradient.transpose();
  return body;
}

struct Books {
  double flowed = 0, smallest_change = 0, defect = 0;
};

// `defect`: by how much the energy with what flowed ever rises in a step, of the first energy; nothing may add any.
Books throw_box(const SolidBody& body, ExampleMethod method) {
  ImplicitOptions options;
  options.linear = LinearMethod::direct;
  options.newton.force_tolerance = 1e-8;
  options.newton.max_iterations = 400;
  SolidModel model({body}, options, method);
  const VecX m = model.solver().masses();
  const auto energy = [&] {
    return 0.5 * m.dot(model.solver().state().velocities.rowwise().squaredNorm()) + model.internal_energy() +
           model.example_energy();
  };
  StepInput input;
  input.dt = 0.01;
  Books books;
  const double first = energy();
  double flowed_so_far = 0;
  for (int k = 0; k < 40; ++k) {
    const double before = energy(), flowed = model.plastic_dissipation();
    EXPECT_EQ(model.step(input).status, StepStatus::ok);
    const double change = model.plastic_dissipation() - flowed;
    books.smallest_change = std::min(books.smallest_change, change);
    // Nothing but flow and the integrator takes energy, and neither gives any.
    books.defect = std::max(books.defect, (energy() + change - before) / first);
    flowed_so_far += change;
  }
  books.flowed = flowed_so_far / first;
  return books;
}

TEST(PlasticDissipation, NeverFallsInRandomMotions) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    for (int roles = 0; roles < 4; ++roles) {
      for (const std::optional<double> rate : {std::optional<double>(), std::optional<double>(50)}) {
        const std::string name = fmt::format("seed {}, roles {}, rate {}", seed, roles, rate.value_or(0));
        const Books books = throw_box(thrown_box(seed, (roles & 1) != 0, (roles & 2) != 0, rate, seed == 1),
                                      ExampleMethod::incompatible);
        EXPECT_GE(books.smallest_change, 0) << name;
        EXPECT_LT(books.defect, 1e-3) << name;
        if (roles < 2) {
          EXPECT_GT(books.flowed, 0.01) << name;
        }
      }
    }
  }
  EXPECT_GE(throw_box(thrown_box(0, true, true, {}, false), ExampleMethod::compatible).smallest_change, 0);
}

void expect_yield_ok(const std::vector<ValidationRecord>& records) {
  EXPECT_FALSE(records.empty());
  for (const ValidationRecord& r : records)
    EXPECT_TRUE(r.ok) << r.quantity << ": " << r.measured << ", expected " << r.expected << " ± "
                      << r.tolerance;
}

TEST(PlasticValidation, Bar) {
  expect_yield_ok(validate_plastic_bar({}));
}
TEST(PlasticValidation, LimitLoad) {
  expect_yield_ok(validate_limit_load({}));
}

// Taylor's rod on a plane without friction, at default settings.
const char* k_rod = R"({
  "time": {"duration": 0.006, "fps": 1000}, "gravity": [0, 0, 0],
  "bodies": [{"name": "rod", "surface": {"box": {"size": [0.03, 0.1, 0.03], "resolution": [3, 10, 3]}},
    "volume": {"grid": [3, 10, 3]}, "position": [0, 0.0505, 0], "velocity": [0, -30, 0],
    "material": {"density": 1000, "young": 1e8, "poisson": 0.3, "yield_stress": 1e6}}],
  "obstacles": [{"name": "wall", "plane": {}, "friction": 0}]})";

double length_left(const std::vector<std::string>& assignments) {
  testing::FemRun run(k_rod, assignments);
  const StepReport report = run.advance(0.006);
  EXPECT_EQ(report.status, Status::ok) << report.message;
  const Points x = run.nodes();
  return (x.col(1).maxCoeff() - x.col(1).minCoeff()) / 0.1;
}

TEST(TaylorRod, KeepsSevenTenthsOfItsLength) {
  EXPECT_NEAR(length_left({}), 0.70, 0.03);
  EXPECT_NEAR(length_left({"time.accuracy=0.003"}), 0.70, 0.03);
  EXPECT_NEAR(length_left({"time.steps_per_frame=10"}), 0.70, 0.07);  // implicit Euler's own loss
}

// A box of 0.1 m pulled at 2 m/s, a strain rate of 20/s, by a body that flows at 100/s.
const char* k_pulled = R"({
  "time": {"duration": 0.01, "fps": 1000, "steps_per_frame": 5}, "gravity": [0, 0, 0],
  "bodies": [{"name": "bar", "surface": {"box": {"size": [0.1, 0.02, 0.02], "resolution": [5, 1, 1]}},
    "volume": {"grid": [5, 1, 1]},
    "material": {"density": 1000, "young": 1e8, "poisson": 0.3, "yield_stress": 1e6, "damping": 1e-4},
    "supports": [{"region": {"half_space": {"point": [-0.0499, 0, 0], "normal": "-x"}}, "y": false, "z": false},
      {"region": {"half_space": {"point": [0.0499, 0, 0], "normal": "x"}}, "y": false, "z": false,
       "interpolation": "linear", "keyframes": [{"time": 0}, {"time": 0.01, "position": [0.02, 0, 0]}]}]}]})";

TEST(Overstress, ARateThatIsTooLowIsSaid) {
  const auto warned = [](const std::vector<std::string>& assignments) {
    testing::FemRun run(k_pulled, assignments);
    EXPECT_EQ(run.advance(0.01).status, Status::ok);
    for (const Note& note : run.method().notes()) {
      if (note.text.find("plasticity.rate is too low") != std::string::npos) return true;
    }
    return false;
  };
  EXPECT_TRUE(warned({"methods.fem.plasticity.rate=100"}));
  EXPECT_FALSE(warned({"methods.fem.plasticity.rate=1e5"}));
  EXPECT_FALSE(warned({}));
}

}  // namespace
}  // namespace exemplar::fem
