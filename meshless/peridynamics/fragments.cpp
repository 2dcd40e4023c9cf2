#include "meshless/peridynamics/fragments.h"

#include <algorithm>
#include <numeric>

namespace exemplar::peridynamics {

namespace {

int root_of(std::vector<int>& parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

}  // namespace

Fragments find_fragments(std::span<const std::pair<int, int>> neighbours, std::span<const double> volumes,
                         const std::function<bool(int, int)>& joined) {
  const std::size_t count = volumes.size();
  std::vector<int> parent(count);
  std::iota(parent.begin(), parent.end(), 0);
  for (const auto& [a, b] : neighbours) {
    const int ra = root_of(parent, a), rb = root_of(parent, b);
    if (ra != rb && joined(a, b)) parent[std::max(ra, rb)] = std::min(ra, rb);
  }
  std::vector<double> total(count, 0);
  std::vector<int> roots;
  for (std::size_t i = 0; i < count; ++i) {
    const int root = root_of(parent, static_cast<int>(i));
    if (root == static_cast<int>(i)) roots.push_back(root);
    total[root] += volumes[i];
  }
  std::sort(roots.begin(), roots.end(),
            [&](int a, int b) { return total[a] != total[b] ? total[a] > total[b] : a < b; });
  Fragments fragments;
  std::vector<int> rank(count, 0);
  for (std::size_t r = 0; r < roots.size(); ++r) {
    rank[roots[r]] = static_cast<int>(r);
    fragments.volumes.push_back(total[roots[r]]);
  }
  fragments.of.resize(count);
  for (std::size_t i = 0; i < count; ++i) fragments.of[i] = rank[root_of(parent, static_cast<int>(i))];
  return fragments;
}

std::vector<int> size_histogram(const Fragments& fragments) {
  const double whole = std::accumulate(fragments.volumes.begin(), fragments.volumes.end(), 0.0);
  std::vector<int> bins(5, 0);
  for (const double volume : fragments.volumes) {
    const double share = volume / whole;
    ++bins[share < 1e-4 ? 0 : share < 1e-3 ? 1 : share < 1e-2 ? 2 : share < 1e-1 ? 3 : 4];
  }
  return bins;
}

std::vector<RigidTransform> fit_fragments(const Fragments& fragments, const Points& rest,
                                          const Points& current, std::span<const double> masses,
                                          std::vector<Quat>& rotations) {
  std::vector<std::vector<int>> members(fragments.count());
  for (std::size_t i = 0; i < fragments.of.size(); ++i)
    members[fragments.of[i]].push_back(static_cast<int>(i));
  std::vector<RigidTransform> motions(fragments.count());
  for (std::size_t f = 0; f < members.size(); ++f) {
    const std::vector<int>& group = members[f];
    VecX weights(static_cast<Eigen::Index>(group.size()));
    for (std::size_t k = 0; k < group.size(); ++k) weights[static_cast<Eigen::Index>(k)] = masses[group[k]];
    const Points from = rest(group, Eigen::all), to = current(group, Eigen::all);
    if (group.size() >= 4) {
      motions[f] = fit_rigid(from, to, weights);
    } else {
      motions[f].rotation = rotations[group[0]].toRotationMatrix();
      const Vec3 a = (weights.transpose() * from).transpose() / weights.sum();
      const Vec3 b = (weights.transpose() * to).transpose() / weights.sum();
      motions[f].translation = b - motions[f].rotation * a;
    }
    // Kept rotations are copied, not converted back: doing this twice at one moment must change nothing.
    const Quat kept = group.size() >= 4 ? Quat(motions[f].rotation) : Quat(rotations[group[0]]);
    for (const int i : group) rotations[i] = kept;
  }
  return motions;
}

namespace {

Vec3 barycentric_of(const TriMesh& surface, int triangle, const Vec3& point) {
  const Vec3 a = surface.vertices.row(surface.triangles(triangle, 0));
  const Vec3 u = Vec3(surface.vertices.row(surface.triangles(triangle, 1))) - a;
  const Vec3 v = Vec3(surface.vertices.row(surface.triangles(triangle, 2))) - a;
  const Vec3 p = point - a;
  const Vec3 n = u.cross(v);
  const double area = n.squaredNorm();
  if (!(area > 0)) return {1, 0, 0};
  const double s = p.cross(v).dot(n) / area, t = u.cross(p).dot(n) / area;
  return {1 - s - t, s, t};
}

struct SurfaceBuilder {
  std::vector<double> points, displacement, barycentric;
  std::vector<int> connectivity, triangle, fragment;

  void add(const Elements& elements, const TriMesh& surface, const Face& face, int owner, bool reversed,
           const RigidTransform& motion) {
    const int first = static_cast<int>(points.size() / 3);
    for (int k = 0; k < face.count; ++k) {
      const int row = face.begin + (reversed ? face.count - 1 - k : k);
      const Vec3 rest = elements.corners.row(row);
      const Vec3 now = motion.apply(rest);
      const Vec3 material = face.triangle >= 0 ? barycentric_of(surface, face.triangle, rest) : Vec3::Zero();
      for (int a = 0; a < 3; ++a) {
        points.push_back(now[a]);
        displacement.push_back(now[a] - rest[a]);
        barycentric.push_back(material[a]);
      }
      triangle.push_back(face.triangle);
    }
    for (int k = 1; k + 1 < face.count; ++k) {
      connectivity.insert(connectivity.end(), {first, first + k, first + k + 1});
      fragment.push_back(owner);
    }
  }
};

FieldArray vector_array(const std::string& name, std::vector<double> values) {
  return {name, Association::point, 3, false, std::move(values)};
}

}  // namespace

Geometry fragment_surface(const Elements& elements, const TriMesh& surface, std::span<const int> of_particle,
                          const std::vector<RigidTransform>& motions, int body) {
  SurfaceBuilder builder;
  for (const Face& face : elements.faces) {
    const int mine = of_particle[face.particle];
    if (face.other < 0) {
      builder.add(elements, surface, face, mine, false, motions[mine]);
    } else if (const int theirs = of_particle[face.other]; theirs != mine) {
      builder.add(elements, surface, face, mine, false, motions[mine]);
      builder.add(elements, surface, face, theirs, true, motions[theirs]);
    }
  }
  Geometry geometry;
  geometry.series = "surface";
  geometry.kind = CellKind::triangles;
  geometry.points = Eigen::Map<const Points>(builder.points.data(),
                                             static_cast<Eigen::Index>(builder.points.size() / 3), 3);
  geometry.connectivity = std::move(builder.connectivity);
  const std::size_t count = builder.triangle.size(), cells = builder.fragment.size();
  geometry.arrays.push_back(vector_array("displacement", std::move(builder.displacement)));
  geometry.arrays.push_back(make_integer_array("body", Association::point, std::vector<int>(count, body)));
  geometry.arrays.push_back(make_integer_array("body", Association::cell, std::vector<int>(cells, body)));
  geometry.arrays.push_back(make_integer_array("original_triangle", Association::point, builder.triangle));
  geometry.arrays.push_back(vector_array("original_barycentric", std::move(builder.barycentric)));
  geometry.arrays.push_back(make_integer_array("fragment", Association::cell, builder.fragment));
  return geometry;
}

}  // namespace exemplar::peridynamics
