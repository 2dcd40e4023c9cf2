// The solid shapes of obstacles: exact signed distance with gradient and Hessian in local coordinates,
// drawing surface, features for contact, volume and inertia. Distances are positive outside, in metres.
//
// Local frames: a plane is the half space y ≤ 0 with normal +y; boxes, spheres, capsules and cylinders are
// centred at the origin, the latter two along the y axis; a mesh keeps its coordinates unless centred (see
// ShapeGeometry::centred).
#pragma once

#include <memory>
#include <string>

#include "core/mesh/mesh.h"

namespace exemplar {

class SurfaceDistance;

enum class ShapeKind { plane, sphere, box, capsule, cylinder, mesh };

// What a scene says about a shape; only the fields of its kind matter.
struct ShapeDescription {
  ShapeKind kind = ShapeKind::plane;
  double extent = 10;        // plane: side of the drawn square, m (the plane itself is infinite)
  double radius = 0.5;       // sphere, capsule, cylinder, m
  double length = 1;         // capsule: between the centres of its half spheres; cylinder: height; m
  Vec3 size = Vec3::Ones();  // box: full side lengths, m
  TriMesh mesh;              // mesh: closed, outwards oriented surface
};

struct SignedDistance {
  double value = 0;               // m, negative inside
  Vec3 gradient = Vec3::UnitY();  // unit vector; on the medial axis one of the possible ones
  Mat3 hessian = Mat3::Zero();    // 1/m; exact where the distance is twice differentiable
};

// Pieces of the shape's surface that can touch something between its vertices. All of them are inflated by
// `radius`: a sphere is its centre, a capsule its axis. A cylinder's rims are polygons of `rim_segments`
// corners on the rims.
struct ShapeFeatures {
  Points points;
  Edges edges;
  Triangles triangles;  // meshes only: other shapes are touched through their signed distance
  double radius = 0;
};

inline constexpr int rim_segments = 32;

// A shape ready for use; cheap to copy (the mesh is shared).
class ShapeGeometry {
 public:
  // Throws InputError for sizes that are not positive and finite, and for meshes that are empty or not
  // closed.
  explicit ShapeGeometry(ShapeDescription description);

  const ShapeDescription& description() const { return *m_description; }
  ShapeKind kind() const { return m_description->kind; }
  bool convex() const { return kind() != ShapeKind::mesh; }

  SignedDistance distance(const Vec3& local) const;
  double value(const Vec3& local) const;

  const ShapeFeatures& features() const { return *m_features; }
  // Points whose depth in another shape is looked at by impulse-based contact: the features' points and
  // points along their edges, inflated by features().radius.
  const Points& samples() const { return *m_samples; }
  // The surface to draw (triangles counter-clockwise from outside).
  TriMesh surface() const;

  double volume() const { return m_volume; }                   // m³; infinite for a plane
  const Vec3& centroid() const { return m_centroid; }          // local
  const Mat3& unit_inertia() const { return m_unit_inertia; }  // m², about the centroid, for one kilogram
  // Largest distance of a point of the shape from the local origin; infinite for a plane.
  double bounding_radius() const { return m_bounding_radius; }

  // How deep a point can be inside, m (infinite for a plane; for meshes 2V/A, the half thickness of a slab up
  // to a factor of two).
  double inner_radius() const { return m_inner_radius; }

  // The same shape with its centroid at the local origin.
  ShapeGeometry centred() const;

 private:
  void set_mass_properties();

  std::shared_ptr<const ShapeDescription> m_description;
  std::shared_ptr<const ShapeFeatures> m_features;
  std::shared_ptr<const Points> m_samples;
  std::shared_ptr<const SurfaceDistance> m_surface_distance;  // meshes only
  double m_volume = 0;
  double m_bounding_radius = 0, m_inner_radius = 0;
  Vec3 m_centroid = Vec3::Zero();
  Mat3 m_unit_inertia = Mat3::Identity();
};

}  // namespace exemplar
