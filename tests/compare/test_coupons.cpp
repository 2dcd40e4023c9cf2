// Coupons: their closed forms beside independent numbers, what is read off a course that is known, and the whole way for two
// methods.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "compare/coupons/beam_theory.h"
#include "compare/coupons/impact_theory.h"
#include "compare/coupons/plastic_theory.h"
#include "compare/coupons/ring_down.h"
#include "compare/coupons/scorecard.h"
#include "compare/registered_methods.h"
#include "core/base/errors.h"

namespace exemplar::coupons {
namespace {

const Registry& methods_of_program() {
  static const Registry registry = registered_methods();
  return registry;
}

const Coupon& coupon_called(const std::string& name) {
  return *coupons_called({name}).front();
}

Subject subject_of(const std::string& method) {
  return subject_for(methods_of_program().get(method), 1);
}

// The roots of Timoshenko's equations for a clamped bar, by shooting with 400 Runge–Kutta steps.
TEST(CouponTheory, TheFrequencyOfAThickBarIsTimoshenkos) {
  EXPECT_NEAR(cantilever_frequency({1000, 3e7, 0.3}, 0.8, 0.1) / 4.3192482, 1, 1e-3);
  EXPECT_NEAR(cantilever_frequency({1000, 8e8, 0.3}, 1, 0.025) / 3.6103723, 1, 1e-4);
}

// Sums over slices: what hangs below stretches each; what sticks out bends and shears each.
TEST(CouponTheory, ElongationAndSagAreSumsOverSlices) {
  const BeamMaterial m{1200, 5e6, 0.25};
  const double length = 0.7, height = 0.08, dx = length / 20000;
  const double shear = m.young / (2 * 1.25) * (10 * 1.25) / (12 + 11 * 0.25);
  double elongation = 0, slope = 0, sag = 0;
  for (double x = dx / 2; x < length; x += dx) {
    const double weight = m.density * 9.81 * (length - x);  // per area of the section
    elongation += weight / m.young * dx;
    slope += weight * (length - x) / 2 / (m.young * height * height / 12) * dx;
    sag += (slope + weight / shear) * dx;
  }
  EXPECT_NEAR(hanging_elongation(m, length) / elongation, 1, 1e-4);
  EXPECT_NEAR(cantilever_sag(m, length, height) / sag, 1, 1e-3);
}

// The motion m x'' = −4/3 E* √R x^(3/2) itself.
TEST(CouponTheory, TheTimeOfContactIsThatOfHertzsMotion) {
  const double radius = 0.1, young = 1e6, poisson = 0.3, speed = 0.6;
  const double mass = 1000 * 4.18879020478639e-3,
               k = 4.0 / 3 * young / (1 - poisson * poisson) * std::sqrt(radius);
  double x = 0, v = speed, t = 0;
  const double dt = 1e-6;
  do {
    v -= dt * k * std::pow(std::max(x, 0.0), 1.5) / mass;
    x += dt * v;
    t += dt;
  } while (x > 0);
  EXPECT_NEAR(hertz_time(young, poisson, 1000, radius, speed) / t, 1, 1e-3);
}

// From the law of moment and curvature of a rectangle: κ = κ_y / √(3 − 2 M/M_y) beyond M_y.
TEST(CouponTheory, TheTipHasGoneTwentyNinthsWhenTheSectionFlows) {
  const PlasticBar bar;
  const double load = limit_load(bar), section = bar.width * std::pow(bar.height, 3) / 12;
  const double yield_moment = bar.yield_stress * bar.width * bar.height * bar.height / 6;
  const double yield_curvature = yield_moment / (bar.young * section);
  double tip = 0;
  const double dx = bar.length / 2e6;
  for (double x = dx / 2; x < bar.length; x += dx) {
    const double ratio = load * x / yield_moment;
    const double curvature = yield_curvature * (ratio <= 1 ? ratio : 1 / std::sqrt(3 - 2 * ratio));
    tip += curvature * x * dx;
  }
  EXPECT_NEAR(tip / yield_deflection(bar), 20.0 / 9, 0.01);
  EXPECT_NEAR(load * bar.length / yield_moment, 1.5, 1e-12);
}

// A rigid bar on a hinge that holds the limit moment, stepped through.
TEST(CouponTheory, ALoadThatGrowsIsAheadOfABarThatFlows) {
  const PlasticBar bar;
  const double rate = 15, dt = 1e-6;
  const double inertia = bar.density * bar.width * bar.height * bar.length * bar.length * bar.length / 3;
  const double angle = (3 - 20.0 / 9) * yield_deflection(bar) / bar.length;
  double turned = 0, speed = 0, time = 0;
  for (; turned < angle; time += dt) {
    speed += dt * rate * time * bar.length / inertia;
    turned += dt * speed;
  }
  EXPECT_NEAR(load_behind(bar, rate) / (rate * time / limit_load(bar)), 1, 1e-3);
}

TEST(CouponTheory, TaylorsRodAndTheDent) {
  EXPECT_NEAR(taylor_length(1000, 30, 1e6), 0.12 + 0.88 * 0.637628, 1e-5);
  const double radius = 0.05, depth = dent_depth(12.5, 1e7, radius), dz = depth / 10000;
  double volume = 0;
  for (double z = dz / 2; z < depth; z += dz) volume += std::numbers::pi * (2 * radius * z - z * z) * dz;
  EXPECT_NEAR(volume * 3 * 1e7, 12.5, 1e-3);
}

TEST(CouponReading, ARingDownGivesItsParameters) {
  std::vector<double> times, values, still;
  const double omega = 2 * std::numbers::pi * 3.1, zeta = 0.07, damped = omega * std::sqrt(1 - zeta * zeta);
  for (int k = 0; k < 70; ++k) {
    const double t = k / 60.0;
    times.push_back(t);
    values.push_back(-0.02 + std::exp(-zeta * omega * t) *
                                 (0.02 * std::cos(damped * t) + 0.001 * std::sin(damped * t)));
    still.push_back(0.5 * (1 - std::exp(-20 * t)));
  }
  const RingDown found = fit_ring_down(times, values, 5);
  EXPECT_NEAR(found.rest, -0.02, 1e-6);
  EXPECT_NEAR(found.frequency, 3.1, 1e-3);
  EXPECT_NEAR(found.damping_ratio, zeta, 1e-3);
  const RingDown settled = fit_ring_down(times, still, 5);
  EXPECT_NEAR(settled.rest, 0.5, 1e-3);
}

// A ball that keeps 0.9 of its speed and stays 40 ms.
TEST(CouponReading, ABounceIsReadOffTheFlights) {
  Course course;
  course.wanted = 0.3;
  const double touch = 0.02 / 0.6, away = touch + 0.04;
  for (int k = 0; k <= 18; ++k) {
    const double t = k / 60.0;
    const double height = t < touch ? 0.12 - 0.6 * t : t > away ? 0.1 + 0.54 * (t - away) : 0.1;
    course.times.push_back(t);
    course.rows.push_back({0, height, 0, height - 0.1});
  }
  const std::vector<Reading> found = coupon_called("rebound").read(subject_of("fem"), course);
  EXPECT_NEAR(found[0].measured, 0.81, 1e-9);
  EXPECT_NEAR(found[1].measured, 0.04, 1e-9);
  EXPECT_EQ(found[0].expected, 1);
  EXPECT_NEAR(coupon_called("rebound").read(subject_of("rigid"), course)[0].expected, 0.64, 1e-12);
}

// Elastic to 1.1 limit loads, then it gives way; and a bar that never does.
TEST(CouponReading, ABarFlowsWhereItGoesTwiceAsFarAsItsElasticityExplains) {
  for (const double stiffness : {1.0, 0.2}) {
    Course course, elastic;
    for (int k = 0; k <= 240; ++k) {
      const double t = k / 60.0, load = 1.5 * t / 4, bent = 0.036 * load / stiffness;
      course.times.push_back(t);
      course.rows.push_back({0, -bent - (load > 1.1 ? 5 * (load - 1.1) : 0), 0});
      elastic.times.push_back(t);
      elastic.rows.push_back({0, -bent, 0});
    }
    const Coupon& coupon = coupon_called("limit-load");
    EXPECT_NEAR(coupon.read(subject_of("fem"), course)[0].measured, stiffness == 1 ? 1.108 : 1.141, 0.005);
    const Reading never = coupon.read(subject_of("fem"), elastic)[0];
    EXPECT_EQ(never.measured, 1.5);
    EXPECT_FALSE(never.remark.empty());
  }
}

TEST(Coupons, NamesOfQuantitiesAreUniqueAndEveryExceptionIsOfSomething) {
  std::vector<std::string> names;
  for (const Coupon& coupon : all_coupons()) {
    for (const Quantity& quantity : coupon.quantities) names.push_back(quantity.name);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_GE(names.size(), 18u);
  for (const LeftOut& item : left_out()) {
    EXPECT_NE(methods_of_program().find(item.method), nullptr) << item.method;
    const Coupon& coupon = coupon_called(item.coupon);
    EXPECT_TRUE(*item.quantity == '\0' ||
                std::any_of(coupon.quantities.begin(), coupon.quantities.end(),
                            [&](const Quantity& q) { return q.name == item.quantity; }))
        << item.quantity;
  }
}

// Every scene that would be run goes through the reader as a user's would.
TEST(Coupons, EverySceneOfEveryMethodIsValid) {
  for (const MethodInfo& method : methods_of_program().methods()) {
    for (const Coupon& coupon : all_coupons()) {
      if (!reason_left_out(method, coupon, coupon.quantities.front()).empty()) continue;
      const SceneFile file = parse_scene(scene_for(coupon, subject_for(method, 1)), coupon.name,
                                         methods_of_program().descriptions());
      EXPECT_EQ(file.settings.bodies.size(), 1u);
      EXPECT_FALSE(file.settings.title.empty());
    }
  }
}

MatrixOptions two_by_two(int threads) {
  MatrixOptions options;
  options.methods = {"fem", "rigid"};
  options.coupons = coupons_called({"hanging-bar", "slide"});
  options.finest = 2;
  options.threads = threads;
  return options;
}

TEST(Coupons, TwoMethodsAndTwoCouponsTheWholeWay) {
  const Matrix matrix = run_matrix(methods_of_program(), two_by_two(1));
  ASSERT_EQ(matrix.cells.size(), 8u);
  const Cell* stretched = finest_cell(matrix.cells, "fem", "elongation");
  ASSERT_NE(stretched, nullptr);
  EXPECT_EQ(stretched->resolution, 2);
  EXPECT_NEAR(stretched->measured, 1000 * 9.81 / 2e6, 0.03 * 0.0049);
  EXPECT_GT(stretched->cpu_seconds, 0);
  const Cell* rigid = finest_cell(matrix.cells, "rigid", "elongation");
  EXPECT_EQ(rigid->outcome, Outcome::left_out);
  EXPECT_EQ(rigid->reason, "does not model elasticity");
  for (const char* method : {"fem", "rigid"})
    EXPECT_LT(std::abs(finest_cell(matrix.cells, method, "slide")->error), 1e-3) << method;
  const auto rows = score_rows(matrix.cells, matrix.methods);
  EXPECT_EQ(rows[0], (std::vector<std::string>{"error in %", "fem", "rigid"}));
  EXPECT_EQ(rows[1][2], "–");
  EXPECT_EQ(rows[2], (std::vector<std::string>{"slide", "0.0", "0.0"}));
  const Matrix side_by_side = run_matrix(methods_of_program(), two_by_two(3));
  for (std::size_t k = 0; k < matrix.cells.size(); ++k)
    EXPECT_EQ(matrix.cells[k].measured, side_by_side.cells[k].measured);
}

TEST(Coupons, TheBudgetCutsARunAndSparesTheFinerOnes) {
  MatrixOptions options = two_by_two(1);
  options.methods = {"fem"};
  options.budget_seconds = 1e-9;
  for (const Cell& cell : run_matrix(methods_of_program(), options).cells) {
    EXPECT_EQ(cell.outcome, cell.resolution == 1 ? Outcome::cut : Outcome::not_run);
    EXPECT_FALSE(cell.has_reading);
    EXPECT_NE(cell.reason.find("cut"), std::string::npos) << cell.reason;
  }
}

TEST(Coupons, UnknownNamesAreHintedAt) {
  try {
    coupons_called({"hanging-bra"});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'hanging-bar'"), std::string::npos)
        << error.what();
  }
}

TEST(Coupons, ALargeErrorIsMarkedUnlessAWarningIsAboutItWithANumber) {
  const Quantity quantity{"sag", "", "m", "", {}, {"stiff"}};
  EXPECT_FALSE(is_warned_of(quantity, {"it is less stiff", "its thickness is 0.1 m"}));
  EXPECT_TRUE(is_warned_of(quantity, {"its thickness is 0.1 m", "0.4 of the stiffness is reached"}));
  Cell cell;
  cell.has_reading = true;
  cell.outcome = Outcome::measured;
  cell.error = 0.3;
  EXPECT_EQ(score_text(&cell), "+30 !");
  cell.is_warned = true;
  EXPECT_EQ(score_text(&cell), "+30 w");
  cell.error = -0.012;
  cell.outcome = Outcome::cut;
  EXPECT_EQ(score_text(&cell), "−1.2~");
  cell.error = 18;
  EXPECT_EQ(score_text(&cell), "> +999~ w");
  EXPECT_EQ(score_text(nullptr), "");
}

TEST(Coupons, ATableIsReadAsItWasWritten) {
  Cell cell;
  cell.coupon = "slide";
  cell.quantity = "slide";
  cell.method = "fem";
  cell.unit = "m/s²";
  cell.outcome = Outcome::measured;
  cell.has_reading = true;
  cell.measured = 1.25;
  cell.expected = 1;
  cell.error = 0.25;
  cell.is_warned = true;
  cell.warnings = {"a \"quoted\" one, with a comma"};
  Cell other = cell;
  other.method = "rigid";
  other.has_reading = false;
  other.outcome = Outcome::left_out;
  other.reason = "does not model it,\nor so";
  const auto file = std::filesystem::temp_directory_path() / "exemplar-coupons-test.csv";
  std::ofstream(file) << csv_text({cell, other});
  const std::vector<Cell> read = read_csv(file);
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].measured, 1.25);
  EXPECT_DOUBLE_EQ(read[0].error, 0.25);
  EXPECT_EQ(read[0].warnings, cell.warnings);
  EXPECT_TRUE(read[0].is_warned);
  EXPECT_FALSE(read[1].has_reading);
  EXPECT_EQ(read[1].reason, other.reason);
  EXPECT_EQ(csv_text(read), csv_text({cell, other}));
  std::ofstream(file) << "frame,time\n0,0\n";
  EXPECT_THROW(read_csv(file), InputError);
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace exemplar::coupons
