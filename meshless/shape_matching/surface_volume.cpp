#include "meshless/shape_matching/surface_volume.h"

namespace exemplar::shape_matching {

double SurfaceVolume::at(const Points& particles, Points& gradient) const {
  const Points p = vertices.apply(particles);
  const Vec3 origin = p.colwise().mean();  // of no matter for a closed surface; keeps the terms small
  Points by_vertex = Points::Zero(p.rows(), 3);
  double six_volumes = 0;
  for (Eigen::Index t = 0; t < triangles.rows(); ++t) {
    const Vec3 a = p.row(triangles(t, 0)).transpose() - origin,
               b = p.row(triangles(t, 1)).transpose() - origin,
               c = p.row(triangles(t, 2)).transpose() - origin;
    six_volumes += a.dot(b.cross(c));
    by_vertex.row(triangles(t, 0)) += b.cross(c).transpose() / 6;
    by_vertex.row(triangles(t, 1)) += c.cross(a).transpose() / 6;
    by_vertex.row(triangles(t, 2)) += a.cross(b).transpose() / 6;
  }
  gradient = vertices.spread(by_vertex, particles.rows());
  return six_volumes / 6;
}

SurfaceVolume surface_volume(const PointMap& vertices, const Triangles& triangles,
                             const Points& rest_particles) {
  SurfaceVolume out{vertices, triangles, 0};
  Points gradient;
  out.rest = out.at(rest_particles, gradient);
  return out;
}

}  // namespace exemplar::shape_matching
