#include "meshless/shape_matching/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <numeric>

#include "core/base/errors.h"
#include "meshless/shape_matching/stiffness.h"

namespace exemplar::shape_matching {

void Cells::add(std::span<const int> members) {
  particles.insert(particles.end(), members.begin(), members.end());
  start.push_back(static_cast<int>(particles.size()));
}

std::uint64_t morton_code(const std::array<std::uint32_t, 3>& place) {
  std::uint64_t code = 0;
  for (int bit = 0; bit < 21; ++bit)
    for (int axis = 0; axis < 3; ++axis)
      code |= static_cast<std::uint64_t>((place[axis] >> bit) & 1U) << (3 * bit + axis);
  return code;
}

namespace {

std::vector<int> sorted_unique(std::vector<int> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

// Names what was asked for: numbers of cells, or their size.
[[noreturn]] void refuse_lattice(const CubicalOptions& options, double points) {
  const auto& counts = options.cell_counts;
  const bool is_counted = counts[0] > 0 || counts[1] > 0 || counts[2] > 0;
  const std::string asked = is_counted ? fmt::format("[{}, {}, {}] cells", counts[0], counts[1], counts[2])
                                       : fmt::format("a cell size of {} m", options.cell_size);
  throw InputError(Problem{{},
                           fmt::format("methods.shape-matching.{}", is_counted ? "cell_counts" : "cell_size"),
                           fmt::format("{} would need {:.3g} lattice points (limit {}); use {} cells", asked,
                                       points, options.max_lattice_points, is_counted ? "fewer" : "larger")});
}

// Lattice of the box [low, high]; a direction without extent gets one cell of the wanted size.
Lattice make_lattice(Vec3 low, Vec3 high, const CubicalOptions& options) {
  if (!(low.allFinite() && high.allFinite()))
    throw InputError("the surface has coordinates that are not finite");
  const double longest = (high - low).maxCoeff();
  if (!(longest > 0.0)) throw InputError("the surface has no extent, so it cannot be divided into cells");
  Lattice lattice;
  double points = 1.0;
  for (int axis = 0; axis < 3; ++axis) {
    double extent = high(axis) - low(axis);
    if (extent < 1e-9 * longest) {
      const double thickness = std::min(options.cell_size, longest);
      low(axis) -= 0.5 * thickness;
      extent = thickness;
    }
    double count = options.cell_counts[axis];
    if (options.cell_counts[axis] <= 0) count = std::max(1.0, std::round(extent / options.cell_size));
    count *= options.subdivisions;
    points *= count + 1.0;
    lattice.spacing(axis) = extent / count;
    lattice.cells[axis] = static_cast<int>(std::min(count, 1e9));
  }
  if (!(points <= static_cast<double>(options.max_lattice_points))) refuse_lattice(options, points);
  lattice.origin = low;
  lattice.particle_at.assign(static_cast<std::size_t>(points), -1);
  return lattice;
}

template <class Visit>
void for_each_cube(const Lattice& lattice, const Visit& visit) {
  for (int k = 0; k < lattice.cells[2]; ++k)
    for (int j = 0; j < lattice.cells[1]; ++j)
      for (int i = 0; i < lattice.cells[0]; ++i) visit(i, j, k);
}

Vec3 cube_centre(const Lattice& lattice, int i, int j, int k) {
  return lattice.origin + lattice.spacing.cwiseProduct(Vec3(i + 0.5, j + 0.5, k + 0.5));
}

std::vector<char> touched_by_surface(const TriMesh& surface, const Lattice& lattice) {
  std::vector<char> touched(static_cast<std::size_t>(lattice.cells[0]) * lattice.cells[1] * lattice.cells[2],
                            0);
  // A surface that runs along a lattice plane belongs to the cube inside, so boxes are a little smaller than
  // cubes.
  const Vec3 half = 0.499 * lattice.spacing;
  for (Eigen::Index t = 0; t < surface.triangles.rows(); ++t) {
    const Vec3 a = surface.vertices.row(surface.triangles(t, 0)),
               b = surface.vertices.row(surface.triangles(t, 1)),
               c = surface.vertices.row(surface.triangles(t, 2));
    const Vec3 from = (a.cwiseMin(b).cwiseMin(c) - lattice.origin).cwiseQuotient(lattice.spacing);
    const Vec3 to = (a.cwiseMax(b).cwiseMax(c) - lattice.origin).cwiseQuotient(lattice.spacing);
    std::array<int, 3> low{}, high{};
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = std::clamp(static_cast<int>(std::floor(from(axis) - 1e-9)), 0, lattice.cells[axis] - 1);
      high[axis] = std::clamp(static_cast<int>(std::floor(to(axis) + 1e-9)), 0, lattice.cells[axis] - 1);
    }
    for (int k = low[2]; k <= high[2]; ++k)
      for (int j = low[1]; j <= high[1]; ++j)
        for (int i = low[0]; i <= high[0]; ++i)
          if (triangle_meets_box(a, b, c, cube_centre(lattice, i, j, k), half))
            touched[lattice.cell_index(i, j, k)] = 1;
  }
  return touched;
}

struct Filling {
  std::vector<char> occupied;  // per lattice cube
  std::vector<double> masses;  // per lattice point
};

// Adds the mass of one cube's filled samples to its corners with trilinear weights: mass and centre stay
// exact.
int add_samples(const Lattice& lattice, const InsideTest& inside, const CubicalOptions& options,
                const std::array<int, 3>& place, bool is_full, std::vector<double>& masses) {
  const int n = options.mass_samples;
  const double share = options.density * lattice.spacing.prod() / (n * n * n);
  int hits = 0;
  for (int s = 0; s < n * n * n; ++s) {
    const Vec3 local =
        (Eigen::Vector3i(s % n, (s / n) % n, s / (n * n)).cast<double>() + Vec3::Constant(0.5)) / n;
    const Vec3 at = lattice.origin + lattice.spacing.cwiseProduct(local + Vec3(place[0], place[1], place[2]));
    if (!is_full && !inside(at)) continue;
    ++hits;
    for (int corner = 0; corner < 8; ++corner) {
      double weight = share;
      for (int axis = 0; axis < 3; ++axis) weight *= (corner >> axis) & 1 ? local(axis) : 1.0 - local(axis);
      masses[lattice.point_index(place[0] + (corner & 1), place[1] + ((corner >> 1) & 1),
                                 place[2] + (corner >> 2))] += weight;
    }
  }
  return hits;
}

Filling fill(const TriMesh& surface, const InsideTest& inside, const Lattice& lattice,
             const CubicalOptions& options) {
  Filling filling{touched_by_surface(surface, lattice), std::vector<double>(lattice.particle_at.size(), 0.0)};
  for_each_cube(lattice, [&](int i, int j, int k) {
    char& occupied = filling.occupied[lattice.cell_index(i, j, k)];
    // A cube that no triangle meets lies on one side as a whole: its centre tells which.
    const bool is_full = !occupied && inside(cube_centre(lattice, i, j, k));
    if (occupied || is_full) add_samples(lattice, inside, options, {i, j, k}, is_full, filling.masses);
    if (is_full) occupied = 1;
  });
  return filling;
}

// Numbers the lattice points that occupied cubes use along a Morton curve, which keeps the particles of a
// cell near each other in memory, and collects their masses.
void make_particles(Lattice& lattice, const Filling& filling, double density, CellModel& model) {
  std::vector<std::array<int, 3>> places;
  for_each_cube(lattice, [&](int i, int j, int k) {
    if (!filling.occupied[lattice.cell_index(i, j, k)]) return;
    for (int corner = 0; corner < 8; ++corner) {
      const std::array<int, 3> p{i + (corner & 1), j + ((corner >> 1) & 1), k + (corner >> 2)};
      int& particle = lattice.particle_at[lattice.point_index(p[0], p[1], p[2])];
      if (particle >= 0) continue;
      particle = 0;
      places.push_back(p);
    }
  });
  const auto code = [](const std::array<int, 3>& p) {
    return morton_code({static_cast<std::uint32_t>(p[0]), static_cast<std::uint32_t>(p[1]),
                        static_cast<std::uint32_t>(p[2])});
  };
  std::sort(places.begin(), places.end(), [&](const auto& a, const auto& b) { return code(a) < code(b); });
  for (std::size_t n = 0; n < places.size(); ++n)
    lattice.particle_at[lattice.point_index(places[n][0], places[n][1], places[n][2])] = static_cast<int>(n);
  const double least = 0.02 * density * lattice.spacing.prod();
  model.rest_positions.resize(static_cast<Eigen::Index>(places.size()), 3);
  model.masses.resize(static_cast<Eigen::Index>(places.size()));
  for (std::size_t n = 0; n < places.size(); ++n) {
    const auto [i, j, k] = places[n];
    model.rest_positions.row(n) = lattice.origin + lattice.spacing.cwiseProduct(Vec3(i, j, k));
    model.masses(n) = std::max(least, filling.masses[lattice.point_index(i, j, k)]);
  }
}

// The lattice points of the cell at (i, j, k) (in cells) with its overlap, restricted to particles that
// exist.
std::vector<int> cell_members(const Lattice& lattice, const std::array<int, 3>& place, int subdivisions,
                              int overlap) {
  std::vector<int> members;
  std::array<int, 3> low{}, high{};
  for (int axis = 0; axis < 3; ++axis) {
    low[axis] = std::max(0, place[axis] * subdivisions - overlap);
    high[axis] = std::min(lattice.cells[axis], (place[axis] + 1) * subdivisions + overlap);
  }
  for (int k = low[2]; k <= high[2]; ++k)
    for (int j = low[1]; j <= high[1]; ++j)
      for (int i = low[0]; i <= high[0]; ++i)
        if (const int p = lattice.particle_at[lattice.point_index(i, j, k)]; p >= 0) members.push_back(p);
  return members;
}

void make_cells(Lattice& lattice, const std::vector<char>& occupied, const CubicalOptions& options,
                Cells& cells) {
  const int s = options.subdivisions;
  lattice.cell_at.assign(occupied.size(), -1);
  std::map<std::array<int, 3>, int> known;
  for_each_cube(lattice, [&](int i, int j, int k) {
    if (!occupied[lattice.cell_index(i, j, k)]) return;
    const std::array<int, 3> place{i / s, j / s, k / s};
    const auto [it, is_new] = known.try_emplace(place, cells.count());
    lattice.cell_at[lattice.cell_index(i, j, k)] = it->second;
    if (!is_new) return;
    lattice.cell_places.push_back(place);
    cells.add(cell_members(lattice, place, s, options.overlap));
  });
}

// What the lattice knows about particles and cells, for sums over wide cells.
LatticeRegions regions_of(const Lattice& lattice, const CubicalOptions& options, std::size_t particles) {
  LatticeRegions out;
  out.overlap = options.overlap;
  out.subdivisions = options.subdivisions;
  for (int axis = 0; axis < 3; ++axis) out.points[axis] = lattice.cells[axis] + 1;
  out.particles.assign(particles, 0);
  for (std::size_t p = 0; p < lattice.particle_at.size(); ++p)
    if (lattice.particle_at[p] >= 0) out.particles[lattice.particle_at[p]] = static_cast<int>(p);
  for (const std::array<int, 3>& place : lattice.cell_places)
    out.corners.push_back(lattice.point_index(
        place[0] * options.subdivisions, place[1] * options.subdivisions, place[2] * options.subdivisions));
  return out;
}

}  // namespace

bool triangle_meets_box(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& centre, const Vec3& half) {
  const std::array<Vec3, 3> v{a - centre, b - centre, c - centre};
  const std::array<Vec3, 3> edges{v[1] - v[0], v[2] - v[1], v[0] - v[2]};
  const auto separates = [&](const Vec3& axis) {
    const double p0 = axis.dot(v[0]), p1 = axis.dot(v[1]), p2 = axis.dot(v[2]);
    const double reach = axis.cwiseAbs().dot(half);
    return std::min({p0, p1, p2}) > reach || std::max({p0, p1, p2}) < -reach;
  };
  for (int axis = 0; axis < 3; ++axis) {
    if (separates(Vec3::Unit(axis))) return false;
    for (const Vec3& edge : edges)
      if (separates(Vec3::Unit(axis).cross(edge))) return false;
  }
  return !separates(edges[0].cross(edges[1]));
}

CubicalModel make_cubical_cells(const TriMesh& surface, const InsideTest& inside,
                                const CubicalOptions& options) {
  if (surface.vertices.rows() == 0 || surface.triangles.rows() == 0) throw InputError("the surface is empty");
  if (!(options.cell_size > 0.0) || options.subdivisions < 1 || options.overlap < 0 ||
      options.mass_samples < 1)
    throw InputError("cell size, subdivisions and mass samples must be positive, the overlap not negative");
  CubicalModel out;
  out.lattice =
      make_lattice(surface.vertices.colwise().minCoeff(), surface.vertices.colwise().maxCoeff(), options);
  const Filling filling = fill(surface, inside, out.lattice, options);
  make_particles(out.lattice, filling, options.density, out.model);
  make_cells(out.lattice, filling.occupied, options, out.model.cells);
  out.model.regions = regions_of(out.lattice, options, static_cast<std::size_t>(out.model.masses.size()));
  return out;
}

CubicalModel make_block(const Vec3& low, const Vec3& high, const std::array<int, 3>& cell_counts,
                        double density, int overlap) {
  CubicalOptions options;
  options.cell_counts = cell_counts;
  options.density = density;
  options.overlap = overlap;
  CubicalModel out;
  out.lattice = make_lattice(low, high, options);
  Filling filling;
  filling.occupied.assign(static_cast<std::size_t>(cell_counts[0]) * cell_counts[1] * cell_counts[2], 1);
  filling.masses.assign(out.lattice.particle_at.size(), 0.0);
  for_each_cube(out.lattice, [&](int i, int j, int k) {
    add_samples(out.lattice, nullptr, options, {i, j, k}, true, filling.masses);
  });
  make_particles(out.lattice, filling, density, out.model);
  make_cells(out.lattice, filling.occupied, options, out.model.cells);
  out.model.regions = regions_of(out.lattice, options, static_cast<std::size_t>(out.model.masses.size()));
  return out;
}

CellModel make_tet_cells(const TetMesh& mesh, double density, const VecX& fill) {
  if (mesh.tets.rows() == 0) throw InputError("the volume mesh has no tetrahedra");
  CellModel model;
  model.rest_positions = mesh.vertices;
  model.masses = VecX::Zero(mesh.vertices.rows());
  VecX volumes(mesh.tets.rows());
  for (Eigen::Index t = 0; t < mesh.tets.rows(); ++t) {
    const std::array<int, 4> v{mesh.tets(t, 0), mesh.tets(t, 1), mesh.tets(t, 2), mesh.tets(t, 3)};
    const Vec3 a = mesh.vertices.row(v[0]);
    Mat3 edges;
    for (int i = 0; i < 3; ++i) edges.col(i) = mesh.vertices.row(v[i + 1]).transpose() - a;
    volumes(t) = (fill.size() > 0 ? fill(t) : 1.0) * std::abs(edges.determinant()) / 6.0;
    for (int i = 0; i < 4; ++i) model.masses(v[i]) += 0.25 * density * volumes(t);
    model.cells.add(v);
  }
  model.square_radius = tet_square_radius(model, volumes);
  return model;
}

namespace {

Points farthest_points(const Points& points, int count) {
  Points centres(count, 3);
  VecX distance = VecX::Constant(points.rows(), std::numeric_limits<double>::max());
  Eigen::Index next = 0;
  // The first centre is the point farthest from the middle: no random numbers needed.
  (points.rowwise() - points.colwise().mean()).rowwise().squaredNorm().maxCoeff(&next);
  for (int c = 0; c < count; ++c) {
    centres.row(c) = points.row(next);
    distance = distance.cwiseMin((points.rowwise() - centres.row(c)).rowwise().squaredNorm());
    distance.maxCoeff(&next);
  }
  return centres;
}

Eigen::Index nearest_row(const Points& centres, const Eigen::RowVector3d& point) {
  Eigen::Index best = 0;
  (centres.rowwise() - point).rowwise().squaredNorm().minCoeff(&best);
  return best;
}

// k-means centres of the points.
Points lloyd(const Points& points, Points centres, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    Points sums = Points::Zero(centres.rows(), 3);
    VecX members = VecX::Zero(centres.rows());
    for (Eigen::Index i = 0; i < points.rows(); ++i) {
      const Eigen::Index c = nearest_row(centres, points.row(i));
      sums.row(c) += points.row(i);
      members(c) += 1.0;
    }
    for (Eigen::Index c = 0; c < centres.rows(); ++c)
      if (members(c) > 0.0) centres.row(c) = sums.row(c) / members(c);
  }
  return centres;
}

Points cell_middles(const Cells& cells, const Points& rest_positions) {
  Points out = Points::Zero(cells.count(), 3);
  for (int c = 0; c < cells.count(); ++c)
    for (const int p : cells.of(c))
      out.row(c) += rest_positions.row(p) / static_cast<double>(cells.of(c).size());
  return out;
}

}  // namespace

Cells make_kmeans_regions(const Cells& cells, const Points& rest_positions, int regions, double overlap,
                          int rounds) {
  if (regions < 1 || cells.count() == 0)
    throw InputError("k-means regions need at least one region and one cell");
  const Points middles = cell_middles(cells, rest_positions);
  const int count = std::min(regions, cells.count());
  const Points centres = lloyd(middles, farthest_points(middles, count), rounds);
  std::vector<std::vector<int>> lists(count);
  for (Eigen::Index i = 0; i < middles.rows(); ++i) {
    const VecX distances = (centres.rowwise() - middles.row(i)).rowwise().norm();
    const double reach = (1.0 + overlap) * distances.minCoeff();
    const auto members = cells.of(static_cast<int>(i));
    for (int c = 0; c < count; ++c)
      if (distances(c) <= reach) lists[c].insert(lists[c].end(), members.begin(), members.end());
  }
  Cells out;
  for (std::vector<int>& list : lists)
    if (!list.empty()) out.add(sorted_unique(std::move(list)));
  return out;
}

Cells coarsen(const Cells& cells, const Points& rest_positions) {
  // Cell size: the mean extent of the cells, an axis at a time, so that long cells stay long.
  Points centres(cells.count(), 3);
  Eigen::RowVector3d extent = Eigen::RowVector3d::Zero();
  for (int c = 0; c < cells.count(); ++c) {
    Eigen::RowVector3d low = rest_positions.row(cells.of(c)[0]), high = low;
    for (const int p : cells.of(c)) {
      low = low.cwiseMin(rest_positions.row(p));
      high = high.cwiseMax(rest_positions.row(p));
    }
    centres.row(c) = 0.5 * (low + high);
    extent += (high - low) / cells.count();
  }
  const Eigen::RowVector3d origin = centres.colwise().minCoeff() - 0.5 * extent;
  std::map<std::array<long, 3>, std::vector<int>> groups;
  for (int c = 0; c < cells.count(); ++c) {
    std::array<long, 3> key{};
    for (int axis = 0; axis < 3; ++axis)
      key[axis] =
          extent(axis) > 0.0
              ? static_cast<long>(std::floor((centres(c, axis) - origin(axis)) / (2.0 * extent(axis)) + 1e-9))
              : 0;
    std::vector<int>& group = groups[key];
    group.insert(group.end(), cells.of(c).begin(), cells.of(c).end());
  }
  Cells coarse;
  for (auto& [key, group] : groups) coarse.add(sorted_unique(std::move(group)));
  return coarse;
}

Cells single_cell(int particles) {
  std::vector<int> all(particles);
  std::iota(all.begin(), all.end(), 0);
  Cells cells;
  cells.add(all);
  return cells;
}

}  // namespace exemplar::shape_matching
