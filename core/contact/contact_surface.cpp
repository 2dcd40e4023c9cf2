#include "core/contact/contact_surface.h"

#include "core/mesh/topology.h"

namespace exemplar {

void append(ContactSurface& surface, const ContactSurface& other, int node_offset) {
  const int points = surface.map.size(), bodies = to_int(surface.bodies.size());
  const Eigen::Index triangles = surface.triangles.rows(), rest = surface.rest.rows();
  if (surface.radius.size() > 0 || other.radius.size() > 0) {
    VecX radius = VecX::Zero(points + other.map.size());
    for (int i = 0; i < points; ++i) radius[i] = surface.radius_of(i);
    for (int i = 0; i < other.map.size(); ++i) radius[points + i] = other.radius_of(i);
    surface.radius = std::move(radius);
  }
  surface.body.resize(to_size(points), 0);
  for (int i = 0; i < other.map.size(); ++i)
    surface.body.push_back(bodies + (other.body.empty() ? 0 : other.body[to_size(i)]));
  surface.bodies.insert(surface.bodies.end(), other.bodies.begin(), other.bodies.end());
  surface.map.append(other.map, node_offset);
  surface.triangles.conservativeResize(triangles + other.triangles.rows(), 3);
  surface.triangles.bottomRows(other.triangles.rows()) = other.triangles.array() + points;
  surface.rest.conservativeResize(rest + other.rest.rows(), 3);
  surface.rest.bottomRows(other.rest.rows()) = other.rest;
}

double half_width(const ContactSurface& surface) {
  double area = 0, volume = 0, border = 0;
  for (Eigen::Index t = 0; t < surface.triangles.rows(); ++t) {
    const auto corner = [&](int k) { return Vec3(surface.rest.row(surface.triangles(t, k))); };
    const Vec3 twice = (corner(1) - corner(0)).cross(corner(2) - corner(0));
    area += 0.5 * twice.norm();
    volume += corner(0).dot(twice) / 6;
  }
  const Edges edges = boundary_edges(surface.triangles);
  for (Eigen::Index e = 0; e < edges.rows(); ++e)
    border += (surface.rest.row(edges(e, 0)) - surface.rest.row(edges(e, 1))).norm();
  return border > 0 ? 2 * area / border : 3 * std::abs(volume) / area;
}

}  // namespace exemplar
