// Benches of shape matching: what `exemplar bench shape-matching` runs. One thread beside Bullet's soft-body clusters with
// the same particles and the same cells in the same process, by turns, decided by medians.
#include <BulletSoftBody/btSoftBody.h>
#include <BulletSoftBody/btSoftBodyInternals.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <span>

#include "core/base/parallel.h"
#include "core/base/random.h"
#include "meshless/shape_matching/checks/experiments.h"
#include "meshless/shape_matching/method.h"

namespace exemplar::shape_matching {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int k_turns = 60;

// Nanoseconds per particle and step, over a few steps.
template <class Step>
double time_per_particle(Eigen::Index particles, const Step& step) {
  const int steps = static_cast<int>(std::clamp<Eigen::Index>(40'000 / particles, 1, 200));
  const auto start = Clock::now();
  for (int k = 0; k < steps; ++k) step();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return seconds / steps / static_cast<double>(particles) * 1e9;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Medians of two things measured by turns, and of the ratio of the second to the first within a turn: what slows the machine
// down for a while slows both.
struct Turns {
  double first, second, ratio;
};

Turns measure_by_turns(const std::function<double()>& first, const std::function<double()>& second) {
  std::vector<double> firsts, seconds, ratios;
  for (int turn = -2; turn < k_turns; ++turn) {
    const double a = first(), b = second();
    if (turn < 0) continue;  // caches are cold
    firsts.push_back(a);
    seconds.push_back(b);
    ratios.push_back(b / a);
  }
  return {median(firsts), median(seconds), median(ratios)};
}

// A cube of 2 m cells; `merged`: cells of 3³ particles that share faces, else of 2³.
CellModel cube(int cells_per_side, bool merged) {
  CellModel model = make_block(Vec3::Zero(), Vec3::Constant(cells_per_side),
                               {cells_per_side, cells_per_side, cells_per_side}, 1.0)
                        .model;
  if (merged) model.cells = coarsen(model.cells, model.rest_positions);
  return model;
}

Points disturbance(const CellModel& model) {
  Points out(model.rest_positions.rows(), 3);
  for (Eigen::Index i = 0; i < out.size(); ++i)
    out.data()[i] = normal_random(1, static_cast<std::uint64_t>(i));
  return out;
}

class OurBody {
 public:
  explicit OurBody(const CellModel& model) : m_body(model, stiff_options()) {
    m_body.velocities = disturbance(model);
  }
  void step() { m_body.step(0.01, Vec3(0, -1, 0)); }

 private:
  ShapeMatchingBody m_body;
};

std::vector<btVector3> bullet_points(const CellModel& model) {
  std::vector<btVector3> points;
  for (Eigen::Index i = 0; i < model.rest_positions.rows(); ++i)
    points.emplace_back(model.rest_positions(i, 0), model.rest_positions(i, 1), model.rest_positions(i, 2));
  return points;
}

class BulletBody {
 public:
  explicit BulletBody(const CellModel& model)
      : m_body(&m_world, static_cast<int>(model.rest_positions.rows()), bullet_points(model).data(),
               model.masses.data()) {
    m_world.m_gravity.setValue(0, -1, 0);
    m_body.m_cfg.collisions = 0;
    m_body.m_cfg.piterations = m_body.m_cfg.viterations = m_body.m_cfg.diterations = 0;
    m_body.m_cfg.citerations = 1;
    for (int c = 0; c < model.cells.count(); ++c) add_cluster(model.cells.of(c));
    m_body.initializeClusters();
    m_body.updateClusters();
    const Points v = disturbance(model);
    for (int i = 0; i < m_body.m_nodes.size(); ++i) m_body.m_nodes[i].m_v.setValue(v(i, 0), v(i, 1), v(i, 2));
  }
  void step() {
    m_body.predictMotion(0.01);
    m_body.solveConstraints();
    m_body.integrateMotion();
  }

 private:
  void add_cluster(std::span<const int> particles) {
    auto* cluster = new (btAlignedAlloc(sizeof(btSoftBody::Cluster), 16)) btSoftBody::Cluster();
    for (const int p : particles) cluster->m_nodes.push_back(&m_body.m_nodes[p]);
    cluster->m_matching = 1.0;
    cluster->m_collide = false;
    m_body.m_clusters.push_back(cluster);
  }

  btSoftBodyWorldInfo m_world;
  btSoftBody m_body;
};

// One size: ours, Bullet's, and their ratio; returns our time on one thread.
double compare_with_bullet(const CellModel& model, const std::string& cells, bool has_goal,
                           std::vector<BenchRecord>& out) {
  const Eigen::Index particles = model.rest_positions.rows();
  const std::string settings =
      fmt::format("{} particles, {} cells, one thread, one pass, damped, medians of {} turns", particles,
                  model.cells.count(), k_turns);
  OurBody ours(model);
  BulletBody bullet(model);
  const Turns turns = measure_by_turns([&] { return time_per_particle(particles, [&] { ours.step(); }); },
                                       [&] { return time_per_particle(particles, [&] { bullet.step(); }); });
  const std::string size = fmt::format("{}, {} particles", cells, particles);
  if (has_goal) {
    out.push_back(goal_at_most("step, " + size, turns.first, "ns per particle", 60.0,
                               "PositionBasedDynamics' kernel: 13–68 ns per node", settings));
  } else {
    out.push_back(reported("step, " + size, turns.first, "ns per particle", "linear growth", settings));
  }
  out.push_back(reported("Bullet btSoftBody clusters, " + size, turns.second, "ns per particle",
                         "same process", settings));
  out.push_back(
      goal_at_least("Bullet over ours, " + size, turns.ratio, "×", 5.0, "btSoftBody clusters", settings));
  return turns.first;
}

// One thread's time over that of two, by turns.
double speed_of_two_threads(const CellModel& model) {
  OurBody body(model);
  const auto with = [&](int threads) {
    set_thread_count(threads);
    return time_per_particle(model.rest_positions.rows(), [&] { body.step(); });
  };
  return measure_by_turns([&] { return with(2); }, [&] { return with(1); }).ratio;
}

std::vector<BenchRecord> speed(const ValidationContext&) {
  std::vector<BenchRecord> out;
  const int threads = thread_count();
  for (const bool merged : {true, false}) {
    const std::string cells = merged ? "cells of 3³ particles" : "cells of 2³ particles";
    std::vector<double> times;
    for (const int side : {9, 21, 45}) {
      set_thread_count(1);
      const CellModel model = cube(side + (merged ? side % 2 : 0), merged);
      times.push_back(compare_with_bullet(model, cells, merged && side == 21, out));
      out.push_back(
          reported(fmt::format("one thread over two, {}, {} particles", cells, model.rest_positions.rows()),
                   speed_of_two_threads(model), "×", "2 at most", "medians by turns"));
    }
    out.push_back(reported("time per particle, 100 k over 10 k, " + cells, times[2] / times[1], "×",
                           "1: linear growth", "the rest is memory: 10 k nearly fit the second-level cache"));
  }
  set_thread_count(threads);
  return out;
}

// Fig. 3.6 as a table: how far the tip of a bar hangs down, and what a step costs.
std::vector<BenchRecord> cluster_sizes_table(const ValidationContext&) {
  std::vector<BenchRecord> out;
  const auto add = [&](int n, int iterations, int levels) {
    const auto start = Clock::now();
    const double tip = bar_tip_deflection(n, iterations, levels);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const std::string name = fmt::format("{} cells, {} iterations, {} levels", n * n * n, iterations, levels);
    const std::string settings = "bar of 4 × 1 × 1 m clamped at one end, α = 1, 3000 steps of 1/60 s";
    out.push_back(reported("tip deflection, " + name, tip, "m", "one cell's", settings));
    out.push_back(reported("cost, " + name, seconds / 3000.0 * 1e6, "µs per step", "", settings));
  };
  add(1, 1, 1);
  for (const int n : {2, 3, 4}) {
    add(n, 1, 1);
    add(n, cluster_iterations(n), 1);
    add(n, 1, n);
  }
  return out;
}

// One pass of matching over a block's cells.
class Matching {
 public:
  Matching(const CellModel& model, const LatticeRegions& regions)
      : m_positions(model.rest_positions + 0.05 * disturbance(model)),
        m_cells(model.rest_positions, model.masses, model.cells, {}, regions) {}
  double operator()() {
    return time_per_particle(m_positions.rows(), [&] { m_cells.match(m_positions, Vec3::Zero(), m_goals); });
  }

 private:
  Points m_positions, m_goals;
  CellSet m_cells;
};

// Rivers and James' point: a wide overlap costs the same as a narrow one, once sums go over the lattice.
std::vector<BenchRecord> wide_overlap(const ValidationContext&) {
  constexpr int side = 24;
  const int threads = thread_count();
  set_thread_count(1);
  std::vector<BenchRecord> out;
  const auto settings = fmt::format("{0}³ cells, one pass, one thread, medians of {1} turns", side, k_turns);
  const auto model_of = [](int overlap) {
    return make_block(Vec3::Zero(), Vec3::Constant(side), {side, side, side}, 1.0, overlap).model;
  };
  for (const int overlap : {0, 1, 2, 4, 6}) {
    const CellModel model = model_of(overlap);
    Matching used(model, model.regions), one_by_one(model, {});
    std::vector<double> times(k_turns);
    std::generate(times.begin(), times.end(), [&] { return used(); });
    out.push_back(reported(fmt::format("matching, overlap {}", overlap), median(times), "ns per particle",
                           fmt::format("one by one, once: {:.0f}", one_by_one()), settings));
  }
  const CellModel narrow_model = model_of(2), wide_model = model_of(6);
  Matching narrow(narrow_model, narrow_model.regions), wide(wide_model, wide_model.regions);
  const Turns turns = measure_by_turns([&] { return narrow(); }, [&] { return wide(); });
  set_thread_count(threads);
  out.push_back(goal_at_most("overlap 6 over overlap 2", turns.ratio, "×", 1.5,
                             "14³ particles a cell against 6³", settings));
  return out;
}

}  // namespace

void add_benches(Registry& registry) {
  registry.add(Bench{"shape-matching", "speed", speed});
  registry.add(Bench{"shape-matching", "cluster-sizes", cluster_sizes_table});
  registry.add(Bench{"shape-matching", "overlap", wide_overlap});
}

}  // namespace exemplar::shape_matching
