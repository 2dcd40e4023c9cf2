#include "core/rig/refined_fit.h"

#include <algorithm>
#include <numeric>

namespace exemplar {

namespace {

// Vertices of the tet mesh for new handles: nearest to the worst fitted points, apart from each other and from what
// is there by a quarter of the mean distance of handles.
std::vector<int> worst_places(const Volume& volume, const Rig& rig, const Points& rest, const BoneFit& fit,
                              const Points& target, int count) {
  const VecX distance = (fit.fitted - target).rowwise().norm();
  std::vector<int> order(static_cast<std::size_t>(distance.size()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return distance[a] > distance[b]; });
  const Eigen::RowVector3d size = rest.colwise().maxCoeff() - rest.colwise().minCoeff();
  const double apart = 0.25 * size.norm() / std::cbrt(static_cast<double>(rig.bones()));
  std::vector<int> taken = rig.fixed, places;
  for (const int point : order) {
    if (static_cast<int>(places.size()) == count) break;
    Eigen::Index corner = 0;
    volume.surface.weights.row(point).maxCoeff(&corner);
    const int vertex = volume.mesh.tets(volume.surface.tet[point], corner);
    const bool near = std::any_of(taken.begin(), taken.end(), [&](int other) {
      return (volume.mesh.vertices.row(other) - volume.mesh.vertices.row(vertex)).norm() < apart;
    });
    if (near) continue;
    taken.push_back(vertex);
    places.push_back(vertex);
  }
  return places;
}

}  // namespace

RefinedFit fit_adding_handles(const Volume& volume, Rig rig, const Points& rest, const Points& target,
                              const RefineOptions& options) {
  RefinedFit result;
  for (;;) {
    result.fit = fit_bones(rest, rig.centres(), rig.surface, target);
    result.handles.push_back(rig.bones());
    result.rms.push_back(result.fit.rms);
    const int room = options.max_handles - rig.bones();
    if (result.fit.rms <= options.tolerance || room <= 0) break;
    const int wanted = options.handles_a_round > 0 ? options.handles_a_round : std::max(1, rig.bones() / 4);
    const std::vector<int> places =
        worst_places(volume, rig, rest, result.fit, target, std::min(room, wanted));
    if (places.empty()) break;
    PlacedHandles placed = placed_handles(rig);
    for (const int vertex : places) add_handle(placed, volume.mesh, vertex);
    rig = make_rig(volume, placed);
  }
  result.rig = std::move(rig);
  return result;
}

}  // namespace exemplar
