// No crossing, over speeds and steps and in random piles (label slow): pairs of crossing triangles are
// counted by exact predicates in every frame.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "compare/registered_methods.h"
#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/run/surface_crossings.h"
#include "tests/support/method_run.h"

namespace exemplar {
namespace contact_sweep_tests {

const Registry& methods() {
  static const Registry registry = registered_methods();
  return registry;
}

class Run : public testing::MethodRun {
 public:
  Run(const std::string& text, const std::string& method)
      : MethodRun(methods(), text, {"methods." + method + ".contact.self=true"}, method),
        m_is_solid(method == "fem") {}
  // Of the simulated surface; that of shells is the written one.
  double crossings() {
    return m_is_solid ? extra("simulated_crossings") : surface_crossings(series("surface"));
  }

 private:
  bool m_is_solid;
};

// Every frame until the last; what happened is in the message.
void expect_no_crossing(const std::string& text, const std::string& method, int frames,
                        const std::string& name) {
  Run run(text, method);
  bool touched = false;
  const double thrown = run.method().diagnostics().kinetic_energy;
  for (int frame = 1; frame <= frames; ++frame) {
    const StepReport report = run.frames(frame, frame);
    ASSERT_EQ(report.status, Status::ok) << name << ", frame " << frame << ": " << report.message;
    ASSERT_EQ(run.crossings(), 0) << name << ", frame " << frame;
    // In contact now, or already apart again.
    touched = touched || run.extra("contact_energy") > 0 ||
              run.method().diagnostics().kinetic_energy < 0.99 * thrown;
  }
  EXPECT_TRUE(touched) << name;
}

const char* k_time = R"("time": {{"duration": {}, "fps": {}, "steps_per_frame": 1}})";

// A hairpin: two legs 0.3 m long over each other, joined by half a circle; `file` is written.
void write_hairpin(const std::string& file) {
  const int along = 30, across = 6;
  const double leg = 0.3, radius = 0.05, width = 0.2, length = 2 * leg + M_PI * radius;
  std::ofstream out(file);
  for (int i = 0; i <= along; ++i) {
    const double s = length * i / along;
    double x = leg - s, y = radius;
    if (s > length - leg) {
      x = s - (length - leg);
      y = -radius;
    } else if (s > leg) {
      x = -radius * std::sin((s - leg) / radius);
      y = radius * std::cos((s - leg) / radius);
    }
    for (int j = 0; j <= across; ++j)
      out << fmt::format("v {} {} {}\n", x, y, width * (double(j) / across - 0.5));
  }
  for (int i = 0; i < along; ++i) {
    for (int j = 1; j <= across; ++j) {
      const int a = i * (across + 1) + j, b = a + 1, c = a + across + 1, d = c + 1;
      out << fmt::format("f {} {} {}\nf {} {} {}\n", a, b, d, a, d, c);
    }
  }
}

std::string solid(const std::string& name, const std::string& shape, const Vec3& position, double speed) {
  return fmt::format(
      R"({{"name": "{}", "surface": {{{}}}, "volume": {{"grid": [3, 3, 3]}},
           "material": {{"density": 200, "young": 1e7, "poisson": 0.3, "friction": 0.3}},
           "position": [{}, {}, {}], "velocity": [0, {}, 0]}})",
      name, shape, position.x(), position.y(), position.z(), speed);
}

std::string sheet(const std::string& name, const std::string& surface, double height, double speed) {
  return fmt::format(
      R"({{"name": "{}", "kind": "sheet", "thickness": 0.006, "surface": {{{}}},
           "material": {{"density": 200, "young": 1e7, "poisson": 0.2, "friction": 0.3}},
           "position": [0, {}, 0], "velocity": [0, {}, 0]}})",
      name, surface, height, speed);
}

struct SweepCase {
  double speed;
  int fps;
  int frames() const { return static_cast<int>(std::min(60.0, 6 + std::ceil(0.15 / speed * fps))); }
  std::string time() const { return fmt::format(fmt::runtime(k_time), 2.0 * frames() / fps, fps); }
  std::string name() const { return fmt::format("{} m/s, 1/{} s", speed, fps); }
};

class SlowContactSweep : public ::testing::TestWithParam<SweepCase> {};
INSTANTIATE_TEST_SUITE_P(SpeedsAndSteps, SlowContactSweep, ::testing::ValuesIn([] {
                           std::vector<SweepCase> all;
                           for (const double speed : {1.0, 5.0, 20.0, 50.0, 100.0, 200.0}) {
                             for (const int fps : {60, 120, 240, 480, 960}) all.push_back({speed, fps});
                           }
                           return all;
                         }()),
                         [](const auto& sweep) {
                           return fmt::format("At{}mps{}Hz", sweep.param.speed, sweep.param.fps);
                         });

TEST_P(SlowContactSweep, BlockOnBlock) {
  const SweepCase& sweep = GetParam();
  const std::string box = R"("box": {"size": [0.2, 0.2, 0.2], "resolution": [3, 3, 3]})";
  expect_no_crossing(
      fmt::format(R"({{{}, "gravity": [0, 0, 0], "bodies": [{}, {}]}})", sweep.time(),
                  solid("low", box, {0, 0, 0}, 0), solid("high", box, {0.03, 0.21, 0.02}, -sweep.speed)),
      "fem", sweep.frames(), sweep.name());
}

TEST_P(SlowContactSweep, BallIntoSheet) {
  const SweepCase& sweep = GetParam();
  const std::string flat =
      R"("sheet": {"length": 0.6, "width": 0.6, "resolution_x": 12, "resolution_z": 12})";
  const std::string ball = R"("sphere": {"radius": 0.1, "resolution": 4})";
  expect_no_crossing(fmt::format(R"({{{}, "gravity": [0, 0, 0], "bodies": [{}, {}]}})", sweep.time(),
                                 sheet("sheet", flat, 0, 0), sheet("ball", ball, 0.12, -sweep.speed)),
                     "shell", sweep.frames(), sweep.name());
}

// It falls flat on the floor, which stops the lower leg; the upper one goes on.
TEST_P(SlowContactSweep, SheetFoldedOnItself) {
  const SweepCase& sweep = GetParam();
  const std::string file =
      (std::filesystem::temp_directory_path() / fmt::format("hairpin-{}-{}.obj", sweep.speed, sweep.fps))
          .string();
  write_hairpin(file);
  const std::string pin = fmt::format(R"("file": "{}")", file);
  expect_no_crossing(
      fmt::format(
          R"({{{}, "gravity": [0, 0, 0], "bodies": [{}], "obstacles": [{{"name": "floor", "plane": {{}}}}]}})",
          sweep.time(), sheet("pin", pin, 0.065, -sweep.speed)),
      "shell", sweep.frames(), sweep.name());
  std::filesystem::remove(file);
}

// 3 to 6 coarse bodies unlike in size, stiffness, weight and friction, thrown onto each other.
std::string random_pile(int seed) {
  int key = 0;
  const auto random = [&](double from, double to) {
    return from +
           (to - from) * uniform_random(static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(key++));
  };
  const int count = 3 + seed % 4;
  std::string bodies;
  double height = 0.02;
  for (int b = 0; b < count; ++b) {
    const double size = random(0.06, 0.25);
    const bool round = random(0, 1) < 0.4;
    const std::string shape = round
                                  ? fmt::format(R"("sphere": {{"radius": {}, "resolution": 2}})", 0.5 * size)
                                  : fmt::format(R"("box": {{"size": [{}, {}, {}], "resolution": [2, 2, 2]}})",
                                                size, size * random(0.5, 1), size * random(0.5, 1));
    const std::string volume = round ? fmt::format(R"({{"max_tet_volume": {}}})", 0.05 * std::pow(size, 3))
                                     : R"({"grid": [2, 2, 2]})";
    const double half = 0.87 * size;
    bodies += fmt::format(
        R"({}{{"name": "b{}", "surface": {{{}}}{},
            "material": {{"density": {}, "young": {}, "poisson": 0.3, "friction": {}, "damping": 0.003}},
            "position": [{}, {}, {}], "rotation": {{"axis": [{}, {}, 1], "angle": {}}}, "velocity": [{}, {}, {}]}})",
        b > 0 ? "," : "", b, shape, R"(, "volume": )" + volume, random(100, 2000),
        std::pow(10, random(4.5, 6.5)), random(0, 1), random(-0.06, 0.06), height + half, random(-0.06, 0.06),
        random(-1, 1), random(-1, 1), random(0, 360), random(-2, 2), -random(0, 3) - 3.0 * b, random(-2, 2));
    height += 2 * half + 0.01;
  }
  return fmt::format(R"({{"time": {{"duration": 1, "fps": 60, "steps_per_frame": 2}}, "bodies": [{}],
                          "obstacles": [{{"name": "floor", "plane": {{}}}}]}})",
                     bodies);
}

class SlowContactPiles : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Seeds, SlowContactPiles, ::testing::Range(1, 201));

TEST_P(SlowContactPiles, NothingCrosses) {
  expect_no_crossing(random_pile(GetParam()), "fem", 16, fmt::format("pile {}", GetParam()));
}

// A few frames of every scene of contact between bodies, in the methods that it is about.
TEST(SlowContactScenes, TheSameBitsForAnyThreadsAndAfterResuming) {
  const std::vector<std::pair<const char*, std::vector<const char*>>> scenes{
      {"stack", {"fem", "shape-matching", "mass-spring"}},
      {"squeeze", {"fem"}},
      {"folded-cloth", {"shell"}},
      {"fingers", {"fem"}},
      {"hertz", {"fem"}},
      {"cloth-on-cloth", {"shell"}},
      {"jaws", {"fem"}}};
  const std::map<std::string, int> frames{{"stack", 10}, {"cloth-on-cloth", 8}, {"jaws", 6}};
  for (const auto& [scene, names] : scenes) {
    const std::filesystem::path file =
        std::filesystem::path(EXEMPLAR_SOURCE_DIR) / "data/scenes" / (std::string(scene) + ".json");
    const SceneFile description = read_scene(file.string(), {}, methods().descriptions());
    const Scene made = make_scene(description.settings, file.parent_path().string());
    const int last = frames.contains(scene) ? frames.at(scene) : 4;
    for (const char* name : names) {
      StateArrays first;
      for (const int threads : {1, 2, 3}) {
        set_thread_count(threads);
        auto method = methods().get(name).make(made, description.method(name));
        for (int frame = 1; frame <= last; ++frame) {
          ASSERT_EQ(method->advance(made.frame_time(frame), [] { return false; }).status, Status::ok)
              << scene;
          if (threads != 3 || frame != last / 2) continue;
          StateWriter saved;
          method->save(saved);
          StateReader reader(saved.arrays());
          method = methods().get(name).make(made, description.method(name));
          method->load(reader);
        }
        StateWriter out;
        method->save(out);
        if (threads == 1) first = out.arrays();
        EXPECT_EQ(out.arrays(), first) << scene << " " << name << " " << threads;
      }
      set_thread_count(0);
    }
  }
}

}  // namespace contact_sweep_tests
}  // namespace exemplar
