#include "compare/results/plausibility.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/mesh/topology.h"
#include "core/run/energy_watch.h"
#include "core/run/step_advice.h"

namespace exemplar {

namespace {

// What a deformable solid does not do: rubber keeps its volume, a crushed car loses a part of it.
constexpr double k_least_volume = 0.6, k_most_volume = 1.4;
constexpr const char* k_cure_of_volume = "a finer volume, a Poisson's ratio nearer to 0.5, or less load";
constexpr double k_deep = 0.02;       // penetration as a share of the diagonal
constexpr double k_dissipated = 0.5;  // numerical dissipation as a share of the energy that there was
constexpr double k_bearable_stiffness = 1.15;
constexpr std::size_t k_most_triangles = 50000;
constexpr double k_crossing_share = 0.01;  // of the triangles

std::vector<double> column_of(const MetricsTable& table, const std::string& name) {
  std::vector<double> values;
  if (table.find(name) < 0) return values;
  for (const double value : table.column(name)) {
    if (std::isfinite(value)) values.push_back(value);
  }
  return values;
}

TriMesh mesh_of(const Geometry& surface) {
  TriMesh mesh;
  mesh.vertices = surface.points;
  mesh.triangles.resize(static_cast<Eigen::Index>(surface.connectivity.size() / 3), 3);
  std::copy(surface.connectivity.begin(), surface.connectivity.end(), mesh.triangles.data());
  return mesh;
}

void doubt_volume(const MetricsTable& table, std::vector<Doubt>& doubts) {
  const std::vector<double> ratios = column_of(table, "volume_ratio");
  if (ratios.empty()) return;
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  if (*least < k_least_volume)
    doubts.push_back({fmt::format("its volume fell to {:.0f} %", 100 * *least), k_cure_of_volume});
  if (*most > k_most_volume)
    doubts.push_back({fmt::format("its volume rose to {:.0f} %", 100 * *most), k_cure_of_volume});
}

void doubt_depth(const RunData& run, const Geometry& first, std::vector<Doubt>& doubts) {
  if (first.points.rows() == 0) return;
  const double size = (first.points.colwise().maxCoeff() - first.points.colwise().minCoeff()).norm();
  const double depth = run.record.worst_penetration.value_or(0);
  if (depth > k_deep * size)
    doubts.push_back({fmt::format("it sinks {:.3g} mm into obstacles, {:.2g} % of its size", 1e3 * depth,
                                  100 * depth / size),
                      advice_for_smaller_steps(run.record) + ", or a finer surface where it meets them"});
}

// Energy that only the time step has taken, beside the most that was there to be taken, or brought.
void doubt_energy(const MetricsTable& table, const std::string& advice, std::vector<Doubt>& doubts) {
  if (gains_energy(table))
    doubts.push_back({fmt::format("{:.3g} J came from nowhere ({:.3g} J were put in)", energy_gain(table),
                                  energy_input(table)),
                      advice});
  const std::vector<double> lost = column_of(table, "numerical_dissipation");
  if (lost.empty()) return;
  const double most = energy_supply(table);
  if (most > 0 && lost.back() > k_dissipated * most)
    doubts.push_back({fmt::format("the time step took {:.0f} % of its energy", 100 * lost.back() / most),
                      advice + ", or material damping that takes the energy before the step does"});
}

// Softer or stiffer than its material by more than the model says of itself.
void doubt_stiffness(const MetricsTable& table, const std::string& advice, std::vector<Doubt>& doubts) {
  const std::vector<double> shares = column_of(table, "stiffness_share");
  if (shares.empty() || !(shares.back() > 0)) return;
  const double share = shares.back();
  if (share < 1 / k_bearable_stiffness || share > k_bearable_stiffness)
    doubts.push_back({fmt::format("it deforms {:.3g} times as much as its material ({:.2g} of its stiffness)",
                                  1 / share, share),
                      advice + ", or a larger max_substeps"});
}

// Pairs of triangles that cross at the end, beyond those that did at the start.
void doubt_crossings(const Geometry& first, const Geometry& last, std::vector<Doubt>& doubts) {
  if (first.kind != CellKind::triangles || first.connectivity != last.connectivity ||
      !last.points.allFinite())
    return;
  const TriMesh before = mesh_of(first), after = mesh_of(last);
  const auto triangles = static_cast<std::size_t>(after.triangles.rows());
  if (triangles == 0 || triangles > k_most_triangles) return;
  const std::size_t limit = 4 * triangles;
  const std::size_t now = self_intersections(after, limit).size(),
                    then = self_intersections(before, limit).size();
  if (now > then && static_cast<double>(now - then) > k_crossing_share * static_cast<double>(triangles))
    doubts.push_back({fmt::format("its surface crosses itself ({} pairs of triangles)", now),
                      "a finer volume, or a method that models self-contact"});
}

// What is simulated does not go through itself, only the drawn triangles do (other diagonals, curved elements).
bool simulates_without_crossings(const MetricsTable& table) {
  const std::vector<double> counts = column_of(table, "simulated_crossings");
  return !counts.empty() && counts.back() == 0;
}

}  // namespace

std::vector<Doubt> find_doubts(const RunData& run, const Geometry& first, const Geometry& last) {
  std::vector<Doubt> doubts;
  if (!run.is_done()) return doubts;
  doubt_volume(run.metrics, doubts);
  doubt_depth(run, first, doubts);
  doubt_energy(run.metrics, advice_for_smaller_steps(run.record), doubts);
  if (!simulates_without_crossings(run.metrics)) doubt_crossings(first, last, doubts);
  doubt_stiffness(run.metrics, advice_for_smaller_steps(run.record), doubts);
  const std::vector<double> inverted = column_of(run.metrics, "inverted");
  if (!inverted.empty() && inverted.back() > 0)
    doubts.push_back({fmt::format("{:g} elements end inside out", inverted.back()),
                      "a finer volume and " + advice_for_smaller_steps(run.record)});
  return doubts;
}

}  // namespace exemplar
