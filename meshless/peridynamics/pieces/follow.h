// The input surface carried by the particles (written surface `deforming`): each vertex follows its nearest
// particles, each by the affine map that fits its unbroken bonds best, so that an unbroken body that bends is
// seen to bend.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/math/types.h"

namespace exemplar::peridynamics {

class SurfaceFollower {
 public:
  // The `count` nearest of the particles for every vertex, weighted by inverse square distance.
  SurfaceFollower(const Points& vertices, const Points& particles, int count = 4);

  int nearest(Eigen::Index vertex) const { return m_nearest[static_cast<std::size_t>(m_count * vertex)]; }
  // Particles that carry a vertex, ascending: only their maps are needed.
  const std::vector<int>& carriers() const { return m_carriers; }

  // Positions of the vertices. A vertex leaves out carriers that are in another fragment than its nearest
  // one.
  Points follow(const Points& rest, const Points& current, const std::function<Mat3(int)>& map_of,
                std::span<const int> fragment) const;

 private:
  Points m_vertices;
  int m_count;
  std::vector<int> m_nearest;  // m_count per vertex, nearest first
  std::vector<double> m_weights;
  std::vector<int> m_carriers;
};

// Affine map F that fits x_j − x_i ≈ F (X_j − X_i) over the given bonds (weights 1/|X_j − X_i|²); `fallback`
// where fewer than three independent bonds are left.
Mat3 fit_affine(const Points& rest, const Points& current, int particle, std::span<const int> bonded,
                const Mat3& fallback);

}  // namespace exemplar::peridynamics
