#include "core/scene/sheet_surface.h"

#include "core/base/index.h"

namespace exemplar {

namespace {

int nearest_row(const Points& points, const Vec3& place) {
  Eigen::Index row = 0;
  (points.rowwise() - place.transpose()).rowwise().squaredNorm().minCoeff(&row);
  return to_int(row);
}

}  // namespace

Points SheetSurface::simulated(const Points& of_surface) const {
  Points rows(to_row(originals.size()), 3);
  for (std::size_t i = 0; i < originals.size(); ++i) rows.row(to_row(i)) = of_surface.row(originals[i]);
  return rows;
}

Repair repair_sheet(const TriMesh& surface) {
  RepairOptions options;
  options.orient = false;  // a sheet that disagrees with itself is refused
  return repair_surface(surface, options);
}

SheetSurface sheet_surface(const Body& body) {
  const TriMesh& surface = body.surface();
  Repair repair = repair_sheet(surface);
  SheetSurface sheet;
  sheet.originals.assign(to_size(repair.mesh.vertices.rows()), -1);
  std::vector<int> nodes(to_size(surface.vertices.rows()));
  for (Eigen::Index v = 0; v < surface.vertices.rows(); ++v) {
    int node = repair.vertex_map[v];
    if (node < 0) node = nearest_row(repair.mesh.vertices, surface.vertices.row(v));
    nodes[to_size(v)] = node;
    int& original = sheet.originals[to_size(node)];
    if (original < 0 && repair.vertex_map[v] >= 0) original = to_int(v);
  }
  sheet.vertices = PointMap::of_nodes(nodes);
  sheet.triangles.assign(repair.triangle_map.begin(), repair.triangle_map.end());
  sheet.mesh = std::move(repair.mesh);
  sheet.mesh.vertices = sheet.simulated(surface.vertices);
  return sheet;
}

}  // namespace exemplar
