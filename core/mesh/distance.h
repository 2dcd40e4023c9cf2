// Distance from points to a triangle surface: nearest point, signed distance, winding number and ray casts.
//
// The sign is exact where the surface allows it: angle-weighted pseudo-normals (Bærentzen and Aanæs 2005) for
// closed manifold surfaces; for all others the generalised winding number, w > ½ being inside, by a tree of
// dipoles (Barill et al. 2018, the order-0 and order-1 terms). Negative inside. Lengths in metres.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "core/mesh/mesh.h"

namespace exemplar {

struct SurfacePoint {
  int triangle = -1;  // −1: nothing within the asked distance
  Vec3 barycentric = Vec3::Zero();
  Vec3 position = Vec3::Zero();
  double distance =
      std::numeric_limits<double>::infinity();  // negative inside where a signed query was asked
  // Direction in which the distance grows: away from the nearest point (towards it inside); the pseudo-normal
  // on the surface itself. Only set by signed queries.
  Vec3 normal = Vec3::Zero();
};

struct RayHit {
  int triangle = -1;
  Vec3 barycentric = Vec3::Zero();
  double t = 0;  // hit point = origin + t·direction
};

class SurfaceDistance {
 public:
  // Keeps a copy of the mesh. Degenerate triangles are allowed; there must be at least one triangle.
  explicit SurfaceDistance(TriMesh mesh);
  ~SurfaceDistance();
  SurfaceDistance(SurfaceDistance&&) noexcept;
  SurfaceDistance& operator=(SurfaceDistance&&) noexcept;

  // The same triangles with new vertex positions: boxes, normals and dipoles are brought up to date.
  void move_to(const Points& vertices);

  const TriMesh& mesh() const;
  // Whether every edge has two consistently oriented triangles and no vertex joins two fans.
  bool closed_manifold() const;

  SurfacePoint nearest(const Vec3& point,
                       double max_distance = std::numeric_limits<double>::infinity()) const;
  SurfacePoint signed_nearest(const Vec3& point) const;
  double signed_distance(const Vec3& point) const { return signed_nearest(point).distance; }
  double winding_number(const Vec3& point) const;
  bool inside(const Vec3& point) const { return winding_number(point) > 0.5; }
  // First hit with 0 ≤ t ≤ max_t, from either side.
  std::optional<RayHit> ray_cast(const Vec3& origin, const Vec3& direction,
                                 double max_t = std::numeric_limits<double>::infinity()) const;

  // The same for every row, in parallel.
  std::vector<SurfacePoint> nearest_all(const Points& points) const;
  std::vector<SurfacePoint> signed_nearest_all(const Points& points) const;
  VecX signed_distances(const Points& points) const;
  VecX winding_numbers(const Points& points) const;

 private:
  struct Data;
  std::unique_ptr<Data> m_data;
};

}  // namespace exemplar
