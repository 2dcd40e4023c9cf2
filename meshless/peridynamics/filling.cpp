#include "meshless/peridynamics/filling.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/mesh/distance.h"
#include "core/mesh/models/implicit.h"

namespace exemplar::peridynamics {

namespace {

constexpr double k_most_samples = 4e6;  // of the signed distance

// About as many tets as cubes of this spacing would fit. Well-shaped tets in thin walls can be ten times as
// many (vase: 118 192 for 12 000); then the shape is given up for the number, as particles only need to lie
// evenly.
Volume fill_with_tets(const TriMesh& surface, double spacing, double volume) {
  VolumeOptions options;
  options.max_tet_volume = 0.9 * spacing * spacing * spacing;  // TetGen's count is then near the asked one
  Volume shapely = build_volume(surface, options);
  const double wanted = volume / (spacing * spacing * spacing);
  const auto miss = [&](const Volume& v) {
    return std::abs(std::log(static_cast<double>(v.mesh.tets.rows()) / wanted));
  };
  if (miss(shapely) < std::log(1.6)) return shapely;
  options.quality = 2;
  options.min_dihedral = 0;
  options.splitting = Splitting::keep;
  Volume plain = build_volume(surface, options);
  return miss(plain) < miss(shapely) ? std::move(plain) : std::move(shapely);
}

// A closed manifold where the winding number says inside, with edges of about the spacing.
TriMesh mesh_anew(const TriMesh& surface, double spacing) {
  const SurfaceDistance distance(surface);
  ImplicitMeshing options;
  const Vec3 low = surface.vertices.colwise().minCoeff(), high = surface.vertices.colwise().maxCoeff();
  options.cell = std::max(0.4 * spacing, std::cbrt((high - low).prod() / k_most_samples));
  options.low = low - Vec3::Constant(3 * options.cell);
  options.high = high + Vec3::Constant(3 * options.cell);
  options.edge_length = std::max(spacing, 2 * options.cell);
  options.smallest_edge = 0.4 * options.edge_length;
  return mesh_implicit([&](const Vec3& p) { return distance.signed_distance(p); }, options);
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
  TriMesh anew = mesh_anew(closed, spacing);
  Volume again = fill(anew);
  if (again.cage) return {closed, kind == ElementKind::tets ? fill(closed).mesh : volume.mesh, false, true};
  return {std::move(anew), std::move(again.mesh), true, false};
}

}  // namespace exemplar::peridynamics
