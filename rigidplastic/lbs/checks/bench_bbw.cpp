#include "rigidplastic/lbs/checks/bench_bbw.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "core/base/random.h"
#include "core/mesh/volume/tetrahedralize.h"
#include "core/rig/handles.h"
#include "rigidplastic/lbs/checks/igl_bbw.h"

namespace exemplar {

namespace {

constexpr int k_bench_handles = 12;

// An uneven box of 2 × 1 × 1 m with 12 automatic handles.
struct WeightCase {
  TetMesh mesh;
  FixedRows fixed;

  explicit WeightCase(int cells) : mesh(box_tets(Vec3(2, 1, 1), {2 * cells, cells, cells}, Split::six)) {
    for (Eigen::Index i = 0; i < mesh.vertices.size(); ++i) {
      mesh.vertices.data()[i] += 0.2 * (uniform_random(1, static_cast<std::uint64_t>(i)) - 0.5) / cells;
    }
    HandleRequest request;
    request.automatic = k_bench_handles;
    fixed = place_handles(mesh, request).fixed;
  }
  std::string name() const { return fmt::format("{} vertices", mesh.vertices.rows()); }
};

// The best of `times` runs: the first pays for threads and memory that the process does not have yet.
template <class Work>
double seconds_of(const Work& work, int times = 1) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < times; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

// Of ours and of igl::bbw alike.
int repetitions(const WeightCase& c) {
  return c.mesh.vertices.rows() < 2000 ? 5 : c.mesh.vertices.rows() < 4000 ? 2 : 1;
}

void add_own(const WeightCase& c, std::vector<BenchRecord>& records, double& seconds, BbwResult& result) {
  seconds = seconds_of([&] { result = bounded_biharmonic_weights(c.mesh, c.fixed); }, repetitions(c));
  const std::string settings =
      fmt::format("box, {} handles, {} iterations", k_bench_handles, result.iterations);
  const double sums = (result.weights.rowwise().sum().array() - 1).abs().maxCoeff();
  records.push_back(reported(c.name() + ": time", seconds, "s", "", settings));
  records.push_back(goal_at_most(c.name() + ": KKT residual", result.residual, "", 1e-6,
                                 "stationarity over largest multiplier", settings));
  records.push_back(goal_at_most(c.name() + ": rows' sums − 1", sums, "", 1e-12, "", settings));
}

void add_peer(const WeightCase& c, std::vector<BenchRecord>& records, double own_seconds,
              const BbwResult& own) {
  MatX peer;
  const double peer_seconds =
      seconds_of([&] { peer = igl_bounded_biharmonic_weights(c.mesh, c.fixed); }, repetitions(c));
  BbwOptions bounds_only;
  bounds_only.partition_of_unity = false;
  BbwResult same_problem;
  const double seconds = seconds_of(
      [&] { same_problem = bounded_biharmonic_weights(c.mesh, c.fixed, bounds_only); }, repetitions(c));
  const SparseMatrix q = biharmonic_matrix(c.mesh);
  const std::string settings = fmt::format("igl::bbw converged, {:.3g} s", peer_seconds);
  records.push_back(goal_at_least(c.name() + ": igl::bbw's time over ours", peer_seconds / own_seconds, "x",
                                  30, "libigl igl::bbw", settings));
  records.push_back(goal_at_least(c.name() + ": igl::bbw's time over ours, its problem",
                                  peer_seconds / seconds, "x", 30, "libigl igl::bbw", settings));
  records.push_back(goal_at_most(c.name() + ": objective over igl::bbw's − 1, its problem",
                                 same_problem.objective / biharmonic_energy(q, peer) - 1, "", 1e-8,
                                 "no worse", settings));
  const MatX normalised = peer.array().colwise() / peer.rowwise().sum().array();
  records.push_back(goal_at_most(c.name() + ": objective over igl::bbw's − 1, rows summing to 1",
                                 own.objective / biharmonic_energy(q, normalised) - 1, "", 0,
                                 "igl::bbw normalised afterwards", settings));
}

std::vector<BenchRecord> run_bbw_bench(const ValidationContext&) {
  std::vector<BenchRecord> records;
  // igl::bbw takes minutes from 4 k vertices on and hours from 20 k: it runs on the first three sizes only.
  const std::vector<std::pair<int, bool>> sizes{{7, true}, {10, true}, {13, true}, {20, false}, {29, false}};
  for (const auto& [cells, with_peer] : sizes) {
    const WeightCase c(cells);
    double seconds = 0;
    BbwResult own;
    add_own(c, records, seconds, own);
    if (with_peer) add_peer(c, records, seconds, own);
  }
  return records;
}

}  // namespace

Bench bbw_bench() {
  return {"rigid-lbs", "bbw", run_bbw_bench};
}

}  // namespace exemplar
