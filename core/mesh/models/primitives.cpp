#include "core/mesh/models/primitives.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <tuple>

#include "core/mesh/models/primitive_checks.h"

namespace exemplar {
namespace {

// Collects vertices on an integer lattice, each once, and triangles between them.
class LatticeSurface {
 public:
  explicit LatticeSurface(std::size_t expected) { m_keys.reserve(expected); }

  int vertex(const Eigen::Vector3i& key) {
    const auto [place, is_new] =
        m_index.try_emplace({key.x(), key.y(), key.z()}, static_cast<int>(m_keys.size()));
    if (is_new) m_keys.push_back(key);
    return place->second;
  }

  void quad(const std::array<int, 4>& q, bool other_diagonal) {
    if (other_diagonal) {
      m_triangles.push_back({q[0], q[1], q[3]});
      m_triangles.push_back({q[1], q[2], q[3]});
    } else {
      m_triangles.push_back({q[0], q[1], q[2]});
      m_triangles.push_back({q[0], q[2], q[3]});
    }
  }

  // Lattice point k goes to origin + k ∘ step.
  TriMesh mesh(const Vec3& origin, const Vec3& step) const {
    TriMesh result;
    result.vertices.resize(static_cast<Eigen::Index>(m_keys.size()), 3);
    result.triangles.resize(static_cast<Eigen::Index>(m_triangles.size()), 3);
    for (std::size_t i = 0; i < m_keys.size(); ++i)
      result.vertices.row(static_cast<Eigen::Index>(i)) =
          origin + m_keys[i].cast<double>().cwiseProduct(step);
    for (std::size_t t = 0; t < m_triangles.size(); ++t)
      for (int k = 0; k < 3; ++k) result.triangles(static_cast<Eigen::Index>(t), k) = m_triangles[t][k];
    return result;
  }

 private:
  std::map<std::tuple<int, int, int>, int> m_index;
  std::vector<Eigen::Vector3i> m_keys;
  std::vector<std::array<int, 3>> m_triangles;
};

// Adds the grid face perpendicular to `axis` at lattice plane `level`, facing along +axis if `up`.
void add_face(LatticeSurface& surface, const Eigen::Vector3i& cells, int axis, int level, bool up) {
  const int u = (axis + 1) % 3;
  const int v = (axis + 2) % 3;
  for (int i = 0; i < cells[u]; ++i) {
    for (int j = 0; j < cells[v]; ++j) {
      std::array<int, 4> q;
      for (int corner = 0; corner < 4; ++corner) {
        Eigen::Vector3i key;
        key[axis] = level;
        key[u] = i + ((corner == 1 || corner == 2) ? 1 : 0);
        key[v] = j + (corner >= 2 ? 1 : 0);
        q[corner] = surface.vertex(key);
      }
      if (!up) std::swap(q[1], q[3]);
      surface.quad(q, (i + j) % 2 == 1);
    }
  }
}

TriMesh structured_box(const std::string& name, const Vec3& size, const Eigen::Vector3i& cells) {
  const Vec3 n = cells.cast<double>();
  require_triangles(name, 4 * (n.x() * n.y() + n.y() * n.z() + n.z() * n.x()));
  LatticeSurface surface(static_cast<std::size_t>(cells.squaredNorm()) * 2);
  for (int axis = 0; axis < 3; ++axis) {
    add_face(surface, cells, axis, 0, false);
    add_face(surface, cells, axis, cells[axis], true);
  }
  return surface.mesh(-0.5 * size, size.cwiseQuotient(cells.cast<double>()));
}

// About cubic cells of edge size.x / resolution, refined where the thinnest side would make flat slivers of
// them.
TriMesh slab(const std::string& name, const Vec3& size, int resolution) {
  require_resolution(name, "resolution", resolution, 1);
  const double edge = std::min(size.x() / resolution, 3 * size.minCoeff());
  Eigen::Vector3i cells;
  for (int axis = 0; axis < 3; ++axis) {
    const double count = std::max(1.0, std::round(size[axis] / edge));
    require_range(name, "number of cells along one side", count, 1, 4000);
    cells[axis] = static_cast<int>(count);
  }
  return structured_box(name, size, cells);
}

// The twelve vertices and twenty faces (counter-clockwise from outside) of the unit icosahedron.
void icosahedron(std::array<Vec3, 12>& corners, std::array<std::array<int, 3>, 20>& faces) {
  const double g = (1 + std::sqrt(5.0)) / 2;
  corners = {Vec3(-1, g, 0), Vec3(1, g, 0), Vec3(-1, -g, 0), Vec3(1, -g, 0),
             Vec3(0, -1, g), Vec3(0, 1, g), Vec3(0, -1, -g), Vec3(0, 1, -g),
             Vec3(g, 0, -1), Vec3(g, 0, 1), Vec3(-g, 0, -1), Vec3(-g, 0, 1)};
  for (Vec3& corner : corners) corner.normalize();
  faces = {{{0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
            {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
            {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}}};
}

}  // namespace

TriMesh make_box(const BoxParams& params) {
  static const char* const axes[] = {"x", "y", "z"};
  for (int axis = 0; axis < 3; ++axis) {
    require_positive("box", std::string("size.") + axes[axis], params.size[axis]);
    require_resolution("box", std::string("resolution.") + axes[axis], params.resolution[axis], 1);
  }
  return structured_box("box", params.size, params.resolution);
}

TriMesh make_plank(const PlankParams& params) {
  require_positive("plank", "length", params.length);
  require_positive("plank", "thickness", params.thickness);
  require_positive("plank", "width", params.width);
  return slab("plank", {params.length, params.thickness, params.width}, params.resolution);
}

TriMesh make_plate(const PlateParams& params) {
  require_positive("plate", "length", params.length);
  require_positive("plate", "width", params.width);
  require_positive("plate", "thickness", params.thickness);
  return slab("plate", {params.length, params.thickness, params.width}, params.resolution);
}

TriMesh make_sleeve(const SleeveParams& params) {
  require_positive("sleeve", "radius", params.radius);
  require_positive("sleeve", "length", params.length);
  require_resolution("sleeve", "resolution", params.resolution, 6);
  const int around = params.resolution;
  const double edge = 2 * std::numbers::pi * params.radius / around;
  require_triangles("sleeve", 2.0 * around * params.length / edge);
  // Rows of nearly equilateral triangles, every other one shifted by half an edge.
  const int rows = std::max(2, static_cast<int>(std::lround(params.length / (0.5 * std::sqrt(3.0) * edge))));
  TriMesh mesh;
  mesh.vertices.resize((rows + 1) * around, 3);
  mesh.triangles.resize(2 * rows * around, 3);
  for (int j = 0; j <= rows; ++j) {
    for (int i = 0; i < around; ++i) {
      const double a = 2 * std::numbers::pi * (i + 0.5 * (j % 2)) / around;
      mesh.vertices.row(j * around + i) << (static_cast<double>(j) / rows - 0.5) * params.length,
          params.radius * std::cos(a), params.radius * std::sin(a);
    }
  }
  Eigen::Index t = 0;
  for (int j = 0; j < rows; ++j) {
    for (int i = 0; i < around; ++i) {
      const int a = j * around + i, b = j * around + (i + 1) % around;
      const int c = (j + 1) * around + i, d = (j + 1) * around + (i + 1) % around;
      if (j % 2 == 0) {
        mesh.triangles.row(t++) << a, b, c;
        mesh.triangles.row(t++) << b, d, c;
      } else {
        mesh.triangles.row(t++) << a, b, d;
        mesh.triangles.row(t++) << a, d, c;
      }
    }
  }
  return mesh;
}

TriMesh make_sheet(const SheetParams& params) {
  require_positive("sheet", "length", params.length);
  require_positive("sheet", "width", params.width);
  require_resolution("sheet", "resolution_x", params.resolution_x, 1);
  require_resolution("sheet", "resolution_z", params.resolution_z, 1);
  require_triangles("sheet", 2.0 * params.resolution_x * params.resolution_z);
  LatticeSurface surface(static_cast<std::size_t>(params.resolution_x + 1) * (params.resolution_z + 1));
  for (int i = 0; i < params.resolution_x; ++i)
    for (int k = 0; k < params.resolution_z; ++k) {
      const std::array<int, 4> q = {surface.vertex({i, 0, k}), surface.vertex({i, 0, k + 1}),
                                    surface.vertex({i + 1, 0, k + 1}), surface.vertex({i + 1, 0, k})};
      surface.quad(q, params.alternate && (i + k) % 2 == 1);
    }
  return surface.mesh({-0.5 * params.length, 0, -0.5 * params.width},
                      {params.length / params.resolution_x, 1, params.width / params.resolution_z});
}

TriMesh make_sphere(const SphereParams& params) {
  require_positive("sphere", "radius", params.radius);
  require_resolution("sphere", "resolution", params.resolution, 1, 500);
  const int n = params.resolution;
  std::array<Vec3, 12> corners;
  std::array<std::array<int, 3>, 20> faces;
  icosahedron(corners, faces);

  // A vertex is the sum of integer multiples of two or three corners; the sorted multiples identify it across
  // faces.
  std::map<std::array<int, 6>, int> index;
  std::vector<Vec3> vertices;
  const auto vertex = [&](const std::array<int, 3>& face, int a, int b, int c) {
    std::array<std::pair<int, int>, 3> parts = {
        {{a > 0 ? face[0] : 12, a}, {b > 0 ? face[1] : 12, b}, {c > 0 ? face[2] : 12, c}}};
    std::sort(parts.begin(), parts.end());
    std::array<int, 6> key;
    for (int k = 0; k < 3; ++k) std::tie(key[2 * k], key[2 * k + 1]) = parts[k];
    const auto [place, is_new] = index.try_emplace(key, static_cast<int>(vertices.size()));
    if (is_new) {
      const Vec3 sum = a * corners[face[0]] + b * corners[face[1]] + c * corners[face[2]];
      vertices.push_back(params.radius * sum.normalized());
    }
    return place->second;
  };

  TriMesh mesh;
  mesh.triangles.resize(20 * n * n, 3);
  Eigen::Index t = 0;
  for (const auto& face : faces)
    for (int i = 0; i < n; ++i)
      for (int j = 0; i + j < n; ++j) {
        const auto at = [&](int b, int c) { return vertex(face, n - b - c, b, c); };
        mesh.triangles.row(t++) << at(i, j), at(i + 1, j), at(i, j + 1);
        if (i + j + 1 < n) mesh.triangles.row(t++) << at(i + 1, j), at(i + 1, j + 1), at(i, j + 1);
      }
  mesh.vertices.resize(static_cast<Eigen::Index>(vertices.size()), 3);
  for (std::size_t i = 0; i < vertices.size(); ++i)
    mesh.vertices.row(static_cast<Eigen::Index>(i)) = vertices[i];
  return mesh;
}

std::vector<PrimitiveInfo> primitive_list() {
  return {
      {"box", "structured box centred at the origin, with its own resolution along each axis"},
      {"plank", "flat box, long side along x, thickness along y, centred"},
      {"plate", "thin solid plate in the xz plane, centred"},
      {"sheet", "open rectangular mid-surface in the xz plane, for thin shells"},
      {"sleeve", "open tube about x without a wall, for thin shells"},
      {"sphere", "subdivided icosahedron, centred"},
      {"cylinder", "solid cylinder about the y axis, centred"},
      {"capsule", "cylinder with hemispherical ends about the y axis, centred"},
      {"torus", "ring about the y axis, centred"},
      {"tube", "thick-walled pipe about the y axis, open at both ends, centred"},
      {"barrel", "drum about the y axis with rims and hoops, standing on y = 0; bulge makes a wooden barrel"},
      {"vase", "hollow vase about the y axis with a real wall, standing on y = 0"},
      {"car", "saloon car, x forward, wheels on y = 0"},
      {"aeroplane", "twin-engine jet, nose along x, wings along z, centred"},
      {"arm", "straight arm with a fist, shoulder at x = 0, fist along x, biceps towards y"},
      {"crane", "harbour crane on four legs, jib along x, feet on y = 0"},
      {"ship", "freighter, bow along x, keel on y = 0"},
      {"rabbit", "sitting rabbit that looks along x, feet on y = 0"},
      {"frame", "tetrahedron of four balls and six rods, one face down, centred"},
      {"spaceship", "small spaceship, nose along x, wings along z"},
  };
}

}  // namespace exemplar
