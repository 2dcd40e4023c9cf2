#include "meshless/peridynamics/particles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nanoflann.hpp>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/parallel.h"
#include "meshless/peridynamics/point_cloud.h"

namespace exemplar::peridynamics {

void ParticleSet::append(const ParticleSet& other, int body_index) {
  const Eigen::Index old = positions.rows();
  positions.conservativeResize(old + other.positions.rows(), 3);
  positions.bottomRows(other.positions.rows()) = other.positions;
  volumes.insert(volumes.end(), other.volumes.begin(), other.volumes.end());
  body.insert(body.end(), other.size(), body_index);
  on_surface.insert(on_surface.end(), other.on_surface.begin(), other.on_surface.end());
  radii.insert(radii.end(), other.radii.begin(), other.radii.end());
}

ParticleSet cube_grid(int nx, int ny, int nz, double spacing, const Vec3& origin) {
  const std::size_t count = static_cast<std::size_t>(nx) * ny * nz;
  ParticleSet set;
  set.positions.resize(static_cast<Eigen::Index>(count), 3);
  set.volumes.assign(count, spacing * spacing * spacing);
  set.body.assign(count, 0);
  set.on_surface.resize(count);
  std::size_t p = 0;
  for (int z = 0; z < nz; ++z) {
    for (int y = 0; y < ny; ++y) {
      for (int x = 0; x < nx; ++x, ++p) {
        set.positions.row(static_cast<Eigen::Index>(p)) = (origin + spacing * Vec3(x, y, z)).transpose();
        set.on_surface[p] = x == 0 || y == 0 || z == 0 || x == nx - 1 || y == ny - 1 || z == nz - 1;
      }
    }
  }
  return set;
}

namespace {

// Index along a 3D Hilbert curve of a cell with `bits` bits per axis (Skilling 2004, "Programming the Hilbert
// curve").
std::uint64_t hilbert_index(std::array<std::uint32_t, 3> x, int bits) {
  for (std::uint32_t q = 1u << (bits - 1); q > 1; q >>= 1) {
    const std::uint32_t p = q - 1;
    for (auto& axis : x) {
      if (axis & q) {
        x[0] ^= p;
      } else {
        const std::uint32_t t = (x[0] ^ axis) & p;
        x[0] ^= t;
        axis ^= t;
      }
    }
  }
  x[1] ^= x[0];
  x[2] ^= x[1];
  std::uint32_t t = 0;
  for (std::uint32_t q = 1u << (bits - 1); q > 1; q >>= 1) {
    if (x[2] & q) t ^= q - 1;
  }
  std::uint64_t index = 0;
  for (int b = bits - 1; b >= 0; --b) {
    for (const std::uint32_t axis : x) index = index << 1 | (((axis ^ t) >> b) & 1u);
  }
  return index;
}

}  // namespace

std::vector<int> curve_order(const Points& positions) {
  const std::size_t count = static_cast<std::size_t>(positions.rows());
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  if (count < 2) return order;
  constexpr int bits = 16;
  const Eigen::RowVector3d low = positions.colwise().minCoeff();
  const double extent = (positions.colwise().maxCoeff() - low).maxCoeff();
  const double scale = extent > 0 ? ((1u << bits) - 1) / extent : 0;
  std::vector<std::uint64_t> keys(count);
  parallel_for(count, [&](std::size_t i) {
    std::array<std::uint32_t, 3> cell;
    for (int a = 0; a < 3; ++a) {
      cell[a] = static_cast<std::uint32_t>((positions(static_cast<Eigen::Index>(i), a) - low[a]) * scale);
    }
    keys[i] = hilbert_index(cell, bits);
  });
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return keys[a] != keys[b] ? keys[a] < keys[b] : a < b; });
  return order;
}

namespace {

// Places of the particles in their bodies' lattices, counted from each body's lowest corner; none if one is not on it.
std::optional<std::vector<std::array<std::uint32_t, 3>>> lattice_places(const ParticleSet& particles,
                                                                        std::span<const Vec3> corners,
                                                                        double spacing) {
  constexpr double tolerance = 1e-6, most = 65535;  // cells
  std::vector<std::array<std::uint32_t, 3>> places(particles.size());
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const Vec3 at =
        (Vec3(particles.positions.row(to_row(i))) - corners[to_size(particles.body[i])]) / spacing;
    for (int a = 0; a < 3; ++a) {
      const double whole = std::round(at[a]);
      if (std::abs(at[a] - whole) > tolerance || whole > most) return std::nullopt;
      places[i][to_size(a)] = static_cast<std::uint32_t>(whole);
    }
  }
  return places;
}

}  // namespace

std::vector<int> memory_order(const ParticleSet& particles, double spacing) {
  const std::size_t count = particles.size();
  if (count == 0) return {};
  const auto bodies = to_size(*std::max_element(particles.body.begin(), particles.body.end())) + 1;
  std::vector<Vec3> low(bodies, Vec3::Constant(std::numeric_limits<double>::infinity())), high(bodies);
  for (std::size_t b = 0; b < bodies; ++b) high[b] = -low[b];
  for (std::size_t i = 0; i < count; ++i) {
    const Vec3 x = particles.positions.row(to_row(i));
    const std::size_t b = to_size(particles.body[i]);
    low[b] = low[b].cwiseMin(x);
    high[b] = high[b].cwiseMax(x);
  }
  const auto places = lattice_places(particles, low, spacing);
  if (!places) return curve_order(particles.positions);
  // By body, layer, row and place in the row. Layers are across the longest side, so that those within the horizon are few
  // particles; rows are along the second longest one, unless they would be short.
  constexpr double least_row = 8;
  std::vector<std::array<int, 3>> axes(bodies, {0, 1, 2});
  for (std::size_t b = 0; b < bodies; ++b) {
    const Vec3 size = high[b] - low[b];
    std::stable_sort(axes[b].begin(), axes[b].end(), [&](int a, int c) { return size[a] > size[c]; });
    if (size[axes[b][1]] >= least_row * spacing) std::swap(axes[b][0], axes[b][1]);
  }
  std::vector<std::array<std::uint64_t, 2>> keys(count);
  parallel_for(count, [&](std::size_t i) {
    const std::size_t b = to_size(particles.body[i]);
    const auto place = [&](int k) { return std::uint64_t{(*places)[i][to_size(axes[b][to_size(k)])]}; };
    keys[i] = {b, place(1) << 32 | place(2) << 16 | place(0)};
  });
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return std::tie(keys[to_size(a)], a) < std::tie(keys[to_size(b)], b); });
  return order;
}

std::vector<double> nearest_distances(const Points& positions) {
  const std::size_t count = static_cast<std::size_t>(positions.rows());
  std::vector<double> distances(count, std::numeric_limits<double>::infinity());
  if (count < 2) return distances;
  using Tree =
      nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<double, PointCloud>, PointCloud, 3>;
  const PointCloud cloud{positions};
  Tree tree(3, cloud, nanoflann::KDTreeSingleIndexAdaptorParams(16));
  tree.buildIndex();
  parallel_for(count, [&](std::size_t i) {
    std::array<std::uint32_t, 2> found{};
    std::array<double, 2> squared{};
    tree.knnSearch(positions.row(static_cast<Eigen::Index>(i)).data(), 2, found.data(), squared.data());
    distances[i] = std::sqrt(squared[1]);
  });
  return distances;
}

double particle_spacing(std::span<const Points> bodies, double quantile) {
  std::vector<double> distances;
  for (const Points& positions : bodies) {
    if (positions.rows() < 2) throw InputError("a peridynamic body needs at least two particles");
    const std::vector<double> own = nearest_distances(positions);
    distances.insert(distances.end(), own.begin(), own.end());
  }
  const std::size_t rank = static_cast<std::size_t>(std::clamp(quantile, 0.0, 1.0) * (distances.size() - 1));
  std::nth_element(distances.begin(), distances.begin() + static_cast<std::ptrdiff_t>(rank), distances.end());
  return distances[rank];
}

}  // namespace exemplar::peridynamics
