// Two methods in a limit they share: a bent plate as a sheet of triangles and as a solid with enough cells
// through its thickness.
#include <gtest/gtest.h>

#include "compare/registered_methods.h"
#include "tests/support/method_run.h"

namespace exemplar {
namespace {

// How far the free end, at x = 0.5, has sunk.
double sag(const std::string& method, const std::string& body) {
  const Registry registry = registered_methods();
  testing::MethodRun run(registry, R"({"time": {"duration": 1, "fps": 1}, "bodies": [)" + body + R"(],
    "methods": {"fem": {"mode": "quasi-static"}, "shell": {"mode": "quasi-static"}}})",
                         {}, method);
  EXPECT_EQ(run.frames(1, 1).status, Status::ok);
  const Points x = run.surface(), rest = run.scene().bodies[0].surface().vertices;
  double sum = 0, count = 0;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    if (rest(i, 0) < 0.499) continue;
    sum += rest(i, 1) - x(i, 1);
    ++count;
  }
  return sum / count;
}

TEST(ShellAndFem, AgreeOnABentPlate) {
  const std::string material = R"("material": {"density": 1000, "young": 3e7, "poisson": 0})";
  const double shell = sag("shell", R"({"name": "plate", "kind": "sheet", "thickness": 0.1,
    "surface": {"sheet": {"length": 1, "width": 0.025, "resolution_x": 40, "resolution_z": 1}},
    "supports": [{"region": {"half_space": {"point": [-0.499, 0, 0], "normal": "-x"}}, "clamped": true}], )" +
                                        material + "}");
  const double fem = sag("fem", R"({"name": "plate",
    "surface": {"box": {"size": [1, 0.1, 0.025], "resolution": [80, 8, 2]}}, "volume": {"grid": [80, 8, 2]},
    "supports": [{"region": {"half_space": {"point": [-0.499, 0, 0], "normal": "-x"}}}], )" +
                                    material + "}");
  // Beam theory: 1.5 ρ g L⁴/(E t²) = 0.049.
  EXPECT_NEAR(shell, 0.049, 0.001);
  EXPECT_NEAR(fem / shell, 1, 0.03);
}

}  // namespace
}  // namespace exemplar
