#include "meshless/peridynamics/filling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/mesh/distance.h"
#include "core/mesh/models/implicit.h"
#include "core/mesh/topology.h"

namespace exemplar::peridynamics {

namespace {

constexpr double k_most_samples = 4e6;  // of the signed distance

constexpr int k_most_tries = 4;
constexpr double k_near_enough = 1.1;  // of the asked number of tets

double miss(const Volume& volume, double wanted) {
  return std::abs(std::log(static_cast<double>(volume.mesh.tets.rows()) / wanted));
}

// Asks TetGen for larger or smaller tets until their number is near the wanted one, or larger ones change nothing
// because the surface's triangles ask for so many. Replaces `best` by what is nearer.
void try_sizes(const TriMesh& surface, VolumeOptions options, double wanted, double start, Volume& best) {
  double size = start, last = 0;
  for (int k = 0; k < k_most_tries; ++k) {
    options.max_tet_volume = size;
    Volume volume = build_volume(surface, options);
    const double ratio = static_cast<double>(volume.mesh.tets.rows()) / wanted;
    const bool is_cage = volume.cage;
    if (best.mesh.tets.rows() == 0 || (!is_cage && miss(volume, wanted) < miss(best, wanted)))
      best = std::move(volume);
    if (is_cage || std::abs(std::log(ratio)) < std::log(k_near_enough)) return;
    if (k > 0 && ratio > 1 && ratio > 0.95 * last) return;
    last = ratio;
    size = std::clamp(size * ratio, 0.2 * start, 30 * start);
  }
}

// About as many tets as cubes of this spacing would fit. Well-shaped tets in thin walls can be ten times as
// many (vase: 118 192 for 12 000); then the shape is given up for the number, as particles only need to lie
// evenly.
Volume fill_with_tets(const TriMesh& surface, double spacing, double volume) {
  const double cube = spacing * spacing * spacing, wanted = volume / cube;
  Volume best;
  VolumeOptions options;
  options.time_limit = std::max(options.time_limit, wanted / 1000);  // s; half a million take some minutes
  try_sizes(surface, options, wanted, 0.9 * cube, best);  // 0.9: TetGen's count is then near the asked one
  if (best.cage || miss(best, wanted) < std::log(k_near_enough)) return best;
  options.quality = 2;
  options.min_dihedral = 0;
  options.splitting = Splitting::keep;
  try_sizes(surface, options, wanted, 0.9 * cube, best);
  return best;
}

// A closed manifold where the winding number says inside, with edges of about the spacing. Where a surface crosses
// itself, sheets of it lie inside the body, and the distance to them is no distance to the outside: remeshing by
// it did not end. There the outline on the sampling grid is taken as it is.
TriMesh mesh_anew(const TriMesh& surface, double spacing, bool crosses_itself) {
  const SurfaceDistance distance(surface);
  ImplicitMeshing options;
  const Vec3 low = surface.vertices.colwise().minCoeff(), high = surface.vertices.colwise().maxCoeff();
  options.cell =
      std::max((crosses_itself ? 0.9 : 0.4) * spacing, std::cbrt((high - low).prod() / k_most_samples));
  options.low = low - Vec3::Constant(3 * options.cell);
  options.high = high + Vec3::Constant(3 * options.cell);
  options.edge_length = std::max(spacing, 2 * options.cell);
  options.smallest_edge = 0.4 * options.edge_length;
  const auto field = [&](const Vec3& p) { return distance.signed_distance(p); };
  if (!crosses_itself) return mesh_implicit(field, options);
  return marching_tetrahedra(field, options.low, options.high, options.cell);
}

}  // namespace

Filling fill_body(ElementKind kind, const TriMesh& closed, const Volume& volume, double spacing,
                  double measure) {
  const auto fill = [&](const TriMesh& surface) {
    if (kind == ElementKind::tets) return fill_with_tets(surface, spacing, measure);
    return build_volume(surface);
  };
  const bool is_own = kind != ElementKind::tets && !volume.cage;
  Volume filled = is_own || volume.cage ? volume : fill(closed);
  if (!filled.cage) return {closed, std::move(filled.mesh), false, false};
  // A surface that is not too fine for TetGen is in a cage because it crosses itself.
  TriMesh anew = mesh_anew(closed, spacing, closed.triangles.rows() <= VolumeOptions{}.max_surface_triangles);
  Volume again = fill(anew);
  if (again.cage) return {closed, kind == ElementKind::tets ? fill(closed).mesh : volume.mesh, false, true};
  return {std::move(anew), std::move(again.mesh), true, false};
}

Filling fill_with_layers(const TriMesh& closed, const LayerOptions& options, std::string& note) {
  LayeredTets layered = make_layered_tets(closed, options);
  note = fmt::format("{} layers of points {:.3g} m apart, {}", layered.layers, layered.distance,
                     layered.is_hollow ? "hollow inside" : "filled to the middle");
  if (layered.layers < options.layers)
    note += fmt::format("; {} were asked for, the body is too thin for more", options.layers);
  Filling out;
  out.surface = boundary_surface(layered.mesh);
  out.is_remeshed = true;
  out.is_hollow = layered.is_hollow;
  out.volume = std::move(layered.mesh);
  return out;
}

}  // namespace exemplar::peridynamics
