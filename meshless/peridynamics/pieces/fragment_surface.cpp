#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>

#include "meshless/peridynamics/pieces/fragments.h"

namespace exemplar::peridynamics {

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

// A face as one fragment shows it.
struct Side {
  const Face* face;
  int owner;
  bool reversed;
  bool is_interior() const { return face->other >= 0; }
};

// Faces on the original surface and between different fragments, of the fragments that are drawn.
std::vector<Side> sides_of(const Elements& elements, std::span<const int> of_particle,
                           const std::function<bool(int)>& is_drawn) {
  std::vector<Side> sides;
  const auto add = [&](const Face& face, int owner, bool reversed) {
    if (!is_drawn || is_drawn(owner)) sides.push_back({&face, owner, reversed});
  };
  for (const Face& face : elements.faces) {
    const int mine = of_particle[face.particle];
    if (face.other < 0) {
      add(face, mine, false);
    } else if (const int theirs = of_particle[face.other]; theirs != mine) {
      add(face, mine, false);
      add(face, theirs, true);
    }
  }
  return sides;
}

// One point per fragment, vertex and kind of face (the rim of a fracture face is sharp): owner, vertex and kind in
// one number, so that sorted numbers are the points.
std::uint64_t key_of(const Side& side, int vertex) {
  return static_cast<std::uint64_t>(side.owner) << 33 | static_cast<std::uint64_t>(vertex) << 1 |
         static_cast<std::uint64_t>(side.is_interior());
}

using KeyedCorner = std::pair<std::uint64_t, std::uint32_t>;  // key, which corner

// By part_of(key) < parts; what is equal keeps its order.
std::vector<KeyedCorner> sorted_by_count(const std::vector<KeyedCorner>& corners, std::size_t parts,
                                         const auto& part_of) {
  std::vector<std::uint32_t> next(parts + 1, 0);
  for (const auto& [key, corner] : corners) ++next[part_of(key) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<KeyedCorner> sorted(corners.size());
  for (const KeyedCorner& corner : corners) sorted[next[part_of(corner.first)]++] = corner;
  return sorted;
}

class SurfaceBuilder {
 public:
  SurfaceBuilder(const Elements& elements, const TriMesh& surface, const std::vector<RigidTransform>& motions,
                 std::vector<Side> sides)
      : m_elements(elements), m_surface(surface), m_motions(motions), m_sides(std::move(sides)) {
    number_points();
  }

  Geometry build(int body) {
    place_points();
    std::size_t first = 0;
    for (const Side& side : m_sides) {
      add(side, std::span(m_corner_point).subspan(first, static_cast<std::size_t>(side.face->count)));
      first += static_cast<std::size_t>(side.face->count);
    }
    m_normals.rowwise().normalize();
    Geometry out;
    out.series = "surface";
    out.kind = CellKind::triangles;
    const std::size_t count = m_keys.size(), cells = m_fragment.size();
    out.arrays.push_back(make_array("displacement", Association::point, m_displacement));
    out.arrays.push_back(make_integer_array("body", Association::point, std::vector<int>(count, body)));
    out.arrays.push_back(make_integer_array("body", Association::cell, std::vector<int>(cells, body)));
    out.arrays.push_back(make_integer_array("original_triangle", Association::point, m_triangle));
    out.arrays.push_back(make_array("original_barycentric", Association::point, m_barycentric));
    out.arrays.push_back(make_array("normal", Association::point, m_normals));
    out.arrays.push_back(make_integer_array("fragment", Association::cell, m_fragment));
    out.arrays.push_back(make_integer_array("interior", Association::cell, m_interior));
    out.arrays.push_back(make_integer_array("particle", Association::cell, m_particle));
    out.rigid_parts = std::move(m_fragment);
    out.points = std::move(m_points);
    out.connectivity = std::move(m_connectivity);
    return out;
  }

 private:
  // Gives every corner of every side the number of its point. Sorted by counting, twice: a comparing sort took a third of
  // the time of a frame's surface.
  void number_points() {
    std::vector<KeyedCorner> corners;
    for (const Side& side : m_sides)
      for (int k = 0; k < side.face->count; ++k)
        corners.emplace_back(key_of(side, m_elements.corners[side.face->begin + k]),
                             static_cast<std::uint32_t>(corners.size()));
    const auto places = 2 * static_cast<std::size_t>(m_elements.vertices.rows());
    corners = sorted_by_count(corners, places, [](std::uint64_t key) { return key & 0x1FFFFFFFFu; });
    corners = sorted_by_count(corners, m_motions.size(), [](std::uint64_t key) { return key >> 33; });
    m_corner_point.resize(corners.size());
    for (const auto& [key, corner] : corners) {
      if (m_keys.empty() || m_keys.back() != key) m_keys.push_back(key);
      m_corner_point[corner] = static_cast<int>(m_keys.size()) - 1;
    }
  }

  void place_points() {
    const auto count = static_cast<Eigen::Index>(m_keys.size());
    m_points.resize(count, 3);
    m_displacement.resize(count, 3);
    m_barycentric = Points::Zero(count, 3);
    m_normals = Points::Zero(count, 3);
    m_triangle.assign(m_keys.size(), -1);
    for (Eigen::Index i = 0; i < count; ++i) {
      const std::uint64_t key = m_keys[static_cast<std::size_t>(i)];
      const Vec3 rest = m_elements.vertices.row(static_cast<Eigen::Index>(key >> 1 & 0xFFFFFFFFu));
      m_points.row(i) = m_motions[key >> 33].apply(rest).transpose();
      m_displacement.row(i) = m_points.row(i) - rest.transpose();
    }
  }

  // As area_vector has it, without a list of the corners.
  Vec3 area_of(const Face& face) const {
    const Vec3 first = m_elements.corner(face, 0);
    Vec3 sum = Vec3::Zero();
    for (int k = 1; k + 1 < face.count; ++k)
      sum += 0.5 * (m_elements.corner(face, k) - first).cross(m_elements.corner(face, k + 1) - first);
    return sum;
  }

  // `points` of the face's corners.
  void add(const Side& side, std::span<const int> points) {
    const Face& face = *side.face;
    const Vec3 area = (side.reversed ? -1.0 : 1.0) * area_of(face);
    const Vec3 turned = m_motions[side.owner].rotation * area;
    for (int k = 0; k < face.count; ++k) {
      const int v = m_elements.corners[face.begin + k], p = points[static_cast<std::size_t>(k)];
      m_normals.row(p) += turned.transpose();
      if (face.triangle < 0 || m_triangle[p] >= 0) continue;
      m_triangle[p] = face.triangle;
      m_barycentric.row(p) = barycentric_of(m_surface, face.triangle, m_elements.vertices.row(v)).transpose();
    }
    const auto point_of = [&](int vertex) {
      int k = 0;
      while (m_elements.corners[face.begin + k] != vertex) ++k;
      return points[static_cast<std::size_t>(k)];
    };
    for (int t = face.first_triangle; t < face.first_triangle + face.count - 2; ++t) {
      const auto& [a, b, c] = m_elements.triangles[t];
      m_connectivity.insert(m_connectivity.end(),
                            {point_of(a), point_of(side.reversed ? c : b), point_of(side.reversed ? b : c)});
      m_fragment.push_back(side.owner);
      m_interior.push_back(side.is_interior());
      m_particle.push_back(side.reversed ? face.other : face.particle);
    }
  }

  const Elements& m_elements;
  const TriMesh& m_surface;
  const std::vector<RigidTransform>& m_motions;
  std::vector<Side> m_sides;
  std::vector<std::uint64_t> m_keys;  // of the points, in order
  std::vector<int> m_corner_point;    // of the corners of all sides, one after another
  Points m_points, m_displacement, m_barycentric, m_normals;
  std::vector<int> m_triangle, m_connectivity, m_fragment, m_interior, m_particle;
};

}  // namespace

Geometry fragment_surface(const Elements& elements, const TriMesh& surface, std::span<const int> of_particle,
                          const std::vector<RigidTransform>& motions, int body,
                          const std::function<bool(int)>& is_drawn) {
  return SurfaceBuilder(elements, surface, motions, sides_of(elements, of_particle, is_drawn)).build(body);
}

}  // namespace exemplar::peridynamics
