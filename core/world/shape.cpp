#include "core/world/shape.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "core/base/errors.h"
#include "core/mesh/distance.h"
#include "core/mesh/mass_properties.h"
#include "core/mesh/topology.h"
#include "core/world/shape_distance.h"
#include "core/world/shape_surface.h"

namespace exemplar {

namespace {

void require_positive(double value, const char* what) {
  if (!(value > 0) || !std::isfinite(value))
    throw InputError(std::string(what) + " must be positive and finite");
}

void check(const ShapeDescription& d) {
  switch (d.kind) {
    case ShapeKind::plane:
      require_positive(d.extent, "a plane's extent");
      break;
    case ShapeKind::sphere:
      require_positive(d.radius, "a sphere's radius");
      break;
    case ShapeKind::box:
      for (int i = 0; i < 3; ++i) require_positive(d.size[i], "a box's size");
      break;
    case ShapeKind::capsule:
    case ShapeKind::cylinder:
      require_positive(d.radius, "the radius");
      require_positive(d.length, "the length");
      break;
    case ShapeKind::mesh:
      if (d.mesh.triangles.rows() == 0) throw InputError("an obstacle's mesh has no triangles");
      if (!d.mesh.vertices.allFinite())
        throw InputError("an obstacle's mesh has vertices that are not finite");
      if (boundary_edges(d.mesh.triangles).rows() > 0)
        throw InputError("an obstacle's mesh must be closed; it has open borders");
      break;
  }
}

// Points at equal distances inside every edge: contact by samples would miss a box edge lying across another
// one.
constexpr int samples_per_edge = 4;

Points edge_samples(const ShapeFeatures& features) {
  const Eigen::Index corners = features.points.rows();
  const bool subdivide = features.edges.rows() <= 12;
  Points samples(corners + (subdivide ? samples_per_edge * features.edges.rows() : 0), 3);
  samples.topRows(corners) = features.points;
  if (!subdivide) return samples;
  for (Eigen::Index e = 0; e < features.edges.rows(); ++e) {
    const auto a = features.points.row(features.edges(e, 0)), b = features.points.row(features.edges(e, 1));
    for (int k = 0; k < samples_per_edge; ++k) {
      const double t = (k + 1.0) / (samples_per_edge + 1);
      samples.row(corners + samples_per_edge * e + k) = (1 - t) * a + t * b;
    }
  }
  return samples;
}

// The Hessian is that of the nearest feature: zero at a face, curvature 1/d about an edge or a corner.
SignedDistance mesh_distance(const SurfaceDistance& surface, const Vec3& p) {
  const SurfacePoint nearest = surface.signed_nearest(p);
  SignedDistance out;
  out.value = nearest.distance;
  out.gradient = nearest.normal;
  if (std::abs(out.value) < 1e-12) return out;
  const Mat3 across = Mat3::Identity() - out.gradient * out.gradient.transpose();
  const int zeros = static_cast<int>((nearest.barycentric.array() == 0).count());
  if (zeros == 2) out.hessian = across / out.value;
  if (zeros == 1) {
    int corner = 0;
    nearest.barycentric.cwiseAbs().minCoeff(&corner);
    const auto vertex = [&](int k) {
      return Vec3(surface.mesh().vertices.row(surface.mesh().triangles(nearest.triangle, k % 3)));
    };
    const Vec3 along = (vertex(corner + 2) - vertex(corner + 1)).normalized();
    out.hessian = (across - along * along.transpose()) / out.value;
  }
  return out;
}

}  // namespace

ShapeGeometry::ShapeGeometry(ShapeDescription description) {
  check(description);
  m_features = std::make_shared<const ShapeFeatures>(shape_features(description));
  m_samples = std::make_shared<const Points>(edge_samples(*m_features));
  m_description = std::make_shared<const ShapeDescription>(std::move(description));
  if (kind() == ShapeKind::mesh)
    m_surface_distance = std::make_shared<const SurfaceDistance>(m_description->mesh);
  set_mass_properties();
}

void ShapeGeometry::set_mass_properties() {
  const ShapeDescription& d = *m_description;
  constexpr double pi = std::numbers::pi;
  const double r = d.radius, l = d.length, r2 = r * r;
  switch (d.kind) {
    case ShapeKind::plane:
      m_volume = m_bounding_radius = m_inner_radius = std::numeric_limits<double>::infinity();
      break;
    case ShapeKind::sphere:
      m_volume = 4.0 / 3.0 * pi * r2 * r;
      m_unit_inertia = 0.4 * r2 * Mat3::Identity();
      m_bounding_radius = m_inner_radius = r;
      break;
    case ShapeKind::box: {
      const Vec3 s2 = d.size.cwiseAbs2();
      m_volume = d.size.prod();
      m_unit_inertia = Vec3(s2.y() + s2.z(), s2.x() + s2.z(), s2.x() + s2.y()).asDiagonal();
      m_unit_inertia /= 12;
      m_bounding_radius = 0.5 * d.size.norm();
      m_inner_radius = 0.5 * d.size.minCoeff();
      break;
    }
    case ShapeKind::capsule: {
      // Shares of the cylinder and of the two half spheres, whose centroids lie 3r/8 beyond the cylinder's
      // ends.
      const double cylinder = pi * r2 * l, balls = 4.0 / 3.0 * pi * r2 * r;
      m_volume = cylinder + balls;
      const double c = cylinder / m_volume, b = balls / m_volume;
      const double along = 0.5 * c * r2 + 0.4 * b * r2;
      const double across = c * (r2 / 4 + l * l / 12) + b * (0.4 * r2 + l * l / 4 + 3.0 / 8.0 * l * r);
      m_unit_inertia = Vec3(across, along, across).asDiagonal();
      m_bounding_radius = 0.5 * l + r;
      m_inner_radius = r;
      break;
    }
    case ShapeKind::cylinder: {
      m_volume = pi * r2 * l;
      const double across = r2 / 4 + l * l / 12;
      m_unit_inertia = Vec3(across, 0.5 * r2, across).asDiagonal();
      m_bounding_radius = std::hypot(0.5 * l, r);
      m_inner_radius = std::min(0.5 * l, r);
      break;
    }
    case ShapeKind::mesh: {
      const MassProperties properties = solid_mass_properties(d.mesh.vertices, d.mesh.triangles, 1);
      if (!(properties.measure > 0))
        throw InputError("an obstacle's mesh must enclose a volume with its triangles oriented outwards");
      m_volume = properties.measure;
      m_centroid = properties.centre;
      m_unit_inertia = properties.inertia / properties.mass;
      m_bounding_radius = std::sqrt(d.mesh.vertices.rowwise().squaredNorm().maxCoeff());
      m_inner_radius = 2 * m_volume / surface_area(d.mesh.vertices, d.mesh.triangles);
      break;
    }
  }
}

SignedDistance ShapeGeometry::distance(const Vec3& local) const {
  const ShapeDescription& d = *m_description;
  switch (d.kind) {
    case ShapeKind::plane:
      return plane_distance(local);
    case ShapeKind::sphere:
      return sphere_distance(d.radius, local);
    case ShapeKind::box:
      return box_distance(d.size, local);
    case ShapeKind::capsule:
      return capsule_distance(d.radius, d.length, local);
    case ShapeKind::cylinder:
      return cylinder_distance(d.radius, d.length, local);
    case ShapeKind::mesh:
      return mesh_distance(*m_surface_distance, local);
  }
  return {};
}

double ShapeGeometry::value(const Vec3& local) const {
  return distance(local).value;
}

TriMesh ShapeGeometry::surface() const {
  return shape_surface(*m_description);
}

ShapeGeometry ShapeGeometry::centred() const {
  if (kind() != ShapeKind::mesh) return *this;
  ShapeDescription moved = *m_description;
  moved.mesh.vertices.rowwise() -= m_centroid.transpose();
  return ShapeGeometry(std::move(moved));
}

}  // namespace exemplar
