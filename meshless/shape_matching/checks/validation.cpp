// Validation cases of shape matching: what `exemplar validate shape-matching` runs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/random.h"
#include "meshless/shape_matching/checks/experiments.h"
#include "meshless/shape_matching/method.h"

namespace exemplar::shape_matching {

namespace {

using Records = std::vector<ValidationRecord>;

Points random_cloud(int count, std::uint64_t seed) {
  Points out(count, 3);
  for (Eigen::Index i = 0; i < out.size(); ++i)
    out.data()[i] = normal_random(seed, static_cast<std::uint64_t>(i));
  return out;
}

// Largest goal error over 100 random motions of a cell: rigid (0), linear (1) or quadratic (2).
double motion_error(int order) {
  double most = 0.0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Points rest = random_cloud(27, seed);
    MatchOptions options;
    options.beta = order == 0 ? 0.0 : 1.0;
    options.quadratic = order == 2;
    CellSet cells(rest, VecX::Ones(27), single_cell(27), options);
    const auto number = [&](int k) { return normal_random(seed + 7000, static_cast<std::uint64_t>(k)); };
    Mat3 linear;
    for (int k = 0; k < 9; ++k) linear.data()[k] = number(k);
    if (order == 0) linear = Quat(number(0), number(1), number(2), number(3)).normalized().toRotationMatrix();
    Points now = rest * linear.transpose();
    for (Eigen::Index i = 0; order == 2 && i < now.rows(); ++i)
      for (int axis = 0; axis < 3; ++axis)
        now(i, axis) +=
            0.3 * (number(20 + axis) * rest(i, 0) * rest(i, 1) + number(30 + axis) * rest(i, 2) * rest(i, 2));
    Points goals;
    cells.match(now, Vec3::Zero(), goals);
    most = std::max(most, (goals - now).cwiseAbs().maxCoeff());
  }
  return most;
}

Records exact_motions(const ValidationContext&) {
  return {at_most("goal error of rigid motions [m]", motion_error(0), 1e-13, "exact"),
          at_most("goal error of linear maps, β = 1 [m]", motion_error(1), 1e-12, "exact"),
          at_most("goal error of quadratic maps, quadratic mode [m]", motion_error(2), 1e-10, "exact")};
}

Records momentum(const ValidationContext&) {
  BodyOptions options = stiff_options(0.3);
  options.stiffness.iterations = 3;
  options.levels = 2;
  ShapeMatchingBody body({make_block({0, 0, 0}, {2, 1, 1}, {6, 3, 3}, 1000.0).model, options});
  body.velocities = random_cloud(static_cast<int>(body.positions.rows()), 5);
  const CloudMotion before = body.motion();
  for (int k = 0; k < 300; ++k) body.step(0.01, Vec3::Zero());
  const CloudMotion after = body.motion();
  return {at_most("relative change of linear momentum, 300 steps",
                  (after.velocity - before.velocity).norm() / before.velocity.norm(), 1e-11, "conservation"),
          at_most("relative change of angular momentum, 300 steps",
                  (after.angular_momentum - before.angular_momentum).norm() / before.angular_momentum.norm(),
                  1e-10, "conservation")};
}

Records scrambles(const ValidationContext&) {
  const Scramble one = scramble(1, 1, 1000);
  return {near("one cell: recovered of 1000 scrambles, h = 1/30 s", one.recovered, 1000, 0,
               "unconditional stability")};
}

// The same for many cells: recovery is not promised, staying together is.
Records many_scrambles(const ValidationContext&) {
  Records out;
  for (const int n : {2, 3, 4}) {
    const Scramble many = scramble(n, 3, 1000);
    const std::string name = std::to_string(n * n * n) + " cells, 3 levels";
    out.push_back(no_less_than(name + ": share of 1000 scrambles recovered, h = 1/30 s",
                               many.recovered / 1000.0, 0.99, "seen: all of them"));
    out.push_back(at_most(name + ": farthest particle [body sizes]", many.farthest, 3.0, "bounded always"));
  }
  return out;
}

Records spin(const ValidationContext&) {
  const auto neighbours = PlasticityReference::neighbours, whole = PlasticityReference::body;
  const char* source = "turning as a whole never yields";
  return {at_most("cells that flow in 10 s of spin, stretch only",
                  cells_flowing_in_spin(PlasticityKind::stretch, neighbours), 0, source),
          at_most("the same, with rotation against the neighbours",
                  cells_flowing_in_spin(PlasticityKind::with_rotation, neighbours), 0, source),
          at_most("the same, with rotation against the body",
                  cells_flowing_in_spin(PlasticityKind::with_rotation, whole), 0, source)};
}

Records degenerate(const ValidationContext&) {
  Records out;
  const std::pair<const char*, std::array<int, 3>> bodies[] = {{"plate one particle thick", {6, 1, 5}},
                                                               {"rod one particle thick", {8, 1, 1}},
                                                               {"two particles", {2, 1, 1}},
                                                               {"one particle", {1, 1, 1}},
                                                               {"one cell", {2, 2, 2}}};
  for (const auto& [name, counts] : bodies) {
    const Degenerate thrown = thrown_degenerate(counts);
    out.push_back(at_most(std::string(name) + ": distances within cells 2 s after a throw [m]",
                          thrown.distance_error, 1e-3, "a hundredth of a cell"));
    out.push_back(at_most(std::string(name) + ": relative change of momentum", thrown.momentum_change, 1e-11,
                          "conservation"));
  }
  return out;
}

Records flipped(const ValidationContext&) {
  Records out;
  for (const int n : {1, 3}) {
    const Flipped body = mirrored_body(n);
    const std::string name = "mirrored body of " + std::to_string(n * n * n) + " cells";
    out.push_back(near(name + ": determinant of the rotations", body.least_determinant, 1.0, 1e-9, "proper"));
    out.push_back(at_most(name + ": farthest particle [body sizes]", body.farthest, 1.5, "bounded"));
    out.push_back(
        at_most(name + ": shape error after 10 s [body sizes]", body.shape_error, 1e-3, "recovery"));
  }
  return out;
}

Records materials(const ValidationContext&) {
  return {
      near_relative("stretch of a hanging bar, 8 cells, over ρgL²/2E", hanging_bar_stretch(8), 1.0, 0.15,
                    "closed form"),
      near_relative("the same, 16 cells", hanging_bar_stretch(16), 1.0, 0.15, "closed form"),
      near_relative("how far a hanging bar of tets goes down, 8 cubes, over ρgL²/3E",
                    hanging_tet_bar_stretch(8, 1), 1.0, 0.1, "closed form"),
      near_relative("the same, 16 cubes", hanging_tet_bar_stretch(16, 1), 1.0, 0.1, "closed form"),
      near_relative("the same, 8 cubes, one and a half passes", hanging_tet_bar_stretch(8, 2), 1.0, 0.1,
                    "closed form"),
      at_most("soft bar's path, h against h/8", step_size_difference(0), 0.05, "the same body at any step"),
      at_most("soft bar's path, h/2 against h/8", step_size_difference(1), 0.025,
              "the same body at any step"),
      at_most("soft bar's path, h/4 against h/8", step_size_difference(2), 0.0125,
              "the same body at any step")};
}

Records stacked_cubes(const ValidationContext&) {
  const auto neighbours = PlasticityReference::neighbours;
  return {
      at_most("residual bend, stretch only [degrees]", residual_bend(PlasticityKind::stretch, neighbours),
              3.0, "bugbear2009 Fig. 3.9: no bending"),
      no_less_than("residual bend, with rotation [degrees]",
                   residual_bend(PlasticityKind::with_rotation, neighbours), 20.0, "bugbear2009 Fig. 3.10"),
      no_less_than("residual bend, with rotation, compared with the body [degrees]",
                   residual_bend(PlasticityKind::with_rotation, PlasticityReference::body), 20.0,
                   "bugbear2009 Fig. 3.10")};
}

Records cluster_sizes(const ValidationContext&) {
  const double one = bar_tip_deflection(1, 1);
  double last = one;
  Records out;
  for (const int n : {2, 3, 4}) {
    const double plain = bar_tip_deflection(n, 1);
    out.push_back(
        no_less_than("deflection of " + std::to_string(n * n * n) + " cells over the next smaller cluster's",
                     plain / last, 1.0, "bugbear2009 Fig. 3.6: stiffness falls"));
    last = plain;
  }
  for (const int n : {2, 3, 4})
    out.push_back(near_relative("deflection of " + std::to_string(n * n * n) + " cells with " +
                                    std::to_string(cluster_iterations(n)) + " iterations, over one cell's",
                                bar_tip_deflection(n, cluster_iterations(n)) / one, 1.0, 0.25,
                                "bugbear2009 §3.2"));
  return out;
}

Records volume(const ValidationContext&) {
  Records out;
  for (const double beta : {0.0, 0.5, 0.9, 0.99})
    out.push_back(near("volume over rest volume at half height, beta " + fmt::format("{}", beta),
                       squeezed_volume(true, beta), 1.0, 0.02, "volume conservation"));
  out.push_back(at_most("the same without volume conservation, beta 0", squeezed_volume(false, 0.0), 0.95,
                        "it is not free"));
  return out;
}

}  // namespace

void add_validation_cases(Registry& registry) {
  const auto add = [&](const char* name, Records (*run)(const ValidationContext&)) {
    registry.add(ValidationCase{"shape-matching", name, false, run});
  };
  add("exact-motions", exact_motions);
  add("momentum", momentum);
  add("scramble", scrambles);
  add("material", materials);
  add("stacked-cubes", stacked_cubes);
  add("cluster-sizes", cluster_sizes);
  add("volume", volume);
  add("spin", spin);
  add("degenerate", degenerate);
  add("flipped", flipped);
  add("scramble-many", many_scrambles);
}

}  // namespace exemplar::shape_matching
