#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/output/described_state.h"

namespace exemplar {
namespace {

enum class Mode { open, closed };

struct Joint {
  Quat held = Quat::Identity();
  Vec3 impulse = Vec3::Zero();
  Mode mode = Mode::open;
  bool broken = false;
  static constexpr auto described() {
    return std::tuple(member("held", &Joint::held), member("impulse", &Joint::impulse),
                      member("mode", &Joint::mode), member("broken", &Joint::broken));
  }
};

struct Body {
  Points positions;
  std::vector<Mat3> plastic;
  std::optional<double> stuck_since;
  static constexpr auto described() {
    return std::tuple(member("positions", &Body::positions), member("plastic", &Body::plastic),
                      member("stuck_since", &Body::stuck_since));
  }
};

struct Everything {
  double time = 0;
  std::int64_t steps = 0;
  std::array<double, 3> energies{};
  std::vector<Joint> joints;
  std::vector<Body> bodies;
  std::vector<VecX> weights;
  std::vector<bool> struck;
  std::vector<std::pair<int, int>> touched;
  MatX wide;
  Eigen::Isometry3d frame = Eigen::Isometry3d::Identity();
  static constexpr auto described() {
    return std::tuple(member("time", &Everything::time), member("steps", &Everything::steps),
                      member("energies", &Everything::energies), member("joints", &Everything::joints),
                      member("bodies", &Everything::bodies), member("weights", &Everything::weights),
                      member("struck", &Everything::struck), member("touched", &Everything::touched),
                      member("wide", &Everything::wide), member("frame", &Everything::frame));
  }
};

struct LeavesOneOut {
  Points positions;
  double forgotten = 0;
  static constexpr auto described() { return std::tuple(member("positions", &LeavesOneOut::positions)); }
};

Everything example() {
  Everything e;
  e.time = 0.1;
  e.steps = std::int64_t{1} << 40;
  e.energies = {1, -0.0, std::numeric_limits<double>::denorm_min()};
  e.joints = {{Quat(0.5, 0.5, -0.5, 0.5), Vec3(1, 2, 3), Mode::closed, true}, {}};
  e.bodies.resize(3);
  e.bodies[1].positions = Points::Random(5, 3);
  e.bodies[1].plastic = {Mat3::Random(), Mat3::Random()};
  e.bodies[2].stuck_since = 0.25;
  e.weights = {VecX(), VecX::Random(4)};
  e.struck = {true, false, true};
  e.touched = {{1, 2}, {-3, 4}};
  e.wide = MatX::Random(2, 7);
  e.frame.translate(Vec3(1, 2, 3));
  return e;
}

TEST(DescribedState, ComesBackBitForBit) {
  const Everything before = example();
  Everything after;
  read_state(StateReader(arrays_of_state(before)), after);
  EXPECT_TRUE(same_state(before, after));
  EXPECT_EQ(after.joints[0].mode, Mode::closed);
  EXPECT_EQ(after.joints[0].impulse, Vec3(1, 2, 3));
  EXPECT_TRUE(std::signbit(after.energies[1]));
  EXPECT_EQ(after.bodies[1].positions, before.bodies[1].positions);
  EXPECT_FALSE(after.bodies[1].stuck_since.has_value());
  EXPECT_EQ(after.bodies[2].stuck_since, 0.25);
  EXPECT_EQ(after.wide, before.wide);
  EXPECT_EQ(after.touched, before.touched);
  EXPECT_EQ(after.struck, before.struck);
}

TEST(DescribedState, ReadsOverWhatWasThere) {
  Everything after = example();
  read_state(StateReader(arrays_of_state(Everything{})), after);
  EXPECT_TRUE(same_state(Everything{}, after));
  EXPECT_TRUE(after.bodies.empty());
}

TEST(DescribedState, SeesEachMember) {
  const auto differs = [](auto change) {
    Everything other = example();
    change(other);
    return !same_state(example(), other);
  };
  EXPECT_TRUE(differs([](Everything& e) { e.time = std::nextafter(e.time, 1); }));
  EXPECT_TRUE(differs([](Everything& e) { e.joints[1].broken = true; }));
  EXPECT_TRUE(differs([](Everything& e) { e.bodies[1].plastic[1](2, 0) += 1e-16; }));
  EXPECT_TRUE(differs([](Everything& e) { e.bodies[0].stuck_since = 0; }));
  EXPECT_TRUE(differs([](Everything& e) { e.wide.resize(7, 2); }));
  EXPECT_TRUE(differs([](Everything& e) { e.struck[1] = true; }));
  EXPECT_TRUE(differs([](Everything& e) { e.weights.pop_back(); }));
}

TEST(DescribedState, NoticesAMemberThatIsLeftOut) {
  EXPECT_TRUE(is_fully_described<Joint>());
  EXPECT_TRUE(is_fully_described<Everything>());
  EXPECT_FALSE(is_fully_described<LeavesOneOut>());  // write_state(LeavesOneOut) does not compile
}

TEST(DescribedState, PacksSmallStructsIntoOneArray) {
  Everything e = example();
  e.joints.resize(1000);
  const StateArrays arrays = arrays_of_state(e);
  EXPECT_EQ(arrays.at("joints").size(), 1000u * (4 * 8 + 3 * 8 + sizeof(Mode) + sizeof(bool)));
  EXPECT_EQ(arrays.at("bodies[1].positions").size(), 15 * sizeof(double));
}

TEST(DescribedState, RefusesWhatDoesNotFit) {
  StateArrays arrays = arrays_of_state(example());
  Everything into;
  StateArrays missing = arrays;
  missing.erase("touched");
  EXPECT_THROW(read_state(StateReader(missing), into), InputError);
  StateArrays cut = arrays;
  cut.at("joints").pop_back();
  EXPECT_THROW(read_state(StateReader(cut), into), InputError);
  StateArrays long_list = arrays;
  long_list.at("bodies") = std::vector<std::uint8_t>(8, 0x7f);
  EXPECT_THROW(read_state(StateReader(long_list), into), InputError);
  StateArrays wrong = arrays;
  wrong.at("wide.columns") = std::vector<std::uint8_t>(8, 3);
  EXPECT_THROW(read_state(StateReader(wrong), into), InputError);
}

}  // namespace
}  // namespace exemplar
