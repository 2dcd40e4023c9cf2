#include "core/mesh/samples.h"

#include <algorithm>
#include <vector>

#include "core/base/random.h"
#include "core/mesh/mass_properties.h"

namespace exemplar {

SurfaceSamples sample_surface(const TriMesh& mesh, int count, std::uint64_t seed) {
  SurfaceSamples samples;
  samples.triangle.resize(count);
  samples.barycentric.resize(count, 3);
  const VecX areas = triangle_areas(mesh.vertices, mesh.triangles);
  std::vector<double> sums(static_cast<std::size_t>(areas.size()));
  double total = 0;
  for (Eigen::Index t = 0; t < areas.size(); ++t) sums[static_cast<std::size_t>(t)] = total += areas[t];
  for (int i = 0; i < count; ++i) {
    const auto key = static_cast<std::uint64_t>(i) * 3;
    const double place = (i + uniform_random(seed, key)) / count * total;
    const auto found = std::upper_bound(sums.begin(), sums.end(), place);
    const auto last = static_cast<std::ptrdiff_t>(sums.size()) - 1;
    samples.triangle[i] = static_cast<int>(std::min(found - sums.begin(), last));
    // Folding the unit square onto the triangle keeps the density even.
    double u = uniform_random(seed, key + 1);
    double v = uniform_random(seed, key + 2);
    if (u + v > 1) {
      u = 1 - u;
      v = 1 - v;
    }
    samples.barycentric.row(i) << 1 - u - v, u, v;
  }
  return samples;
}

Points sample_positions(const SurfaceSamples& samples, const Triangles& triangles, const Points& positions) {
  Points result(samples.triangle.size(), 3);
  for (Eigen::Index i = 0; i < result.rows(); ++i) {
    const auto corners = triangles.row(samples.triangle[i]);
    result.row(i) = samples.barycentric(i, 0) * positions.row(corners[0]) +
                    samples.barycentric(i, 1) * positions.row(corners[1]) +
                    samples.barycentric(i, 2) * positions.row(corners[2]);
  }
  return result;
}

}  // namespace exemplar
