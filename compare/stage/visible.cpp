#include "compare/stage/visible.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "compare/stage/stage.h"

namespace exemplar::stage {

double Visible::share(int body) const {
  return static_cast<double>(std::count(owner.begin(), owner.end(), body)) /
         static_cast<double>(owner.size());
}

double Visible::share_of_bodies() const {
  const auto seen = std::count_if(owner.begin(), owner.end(), [](int own) { return own >= 0; });
  return static_cast<double>(seen) / static_cast<double>(owner.size());
}

std::map<int, double> Visible::values_of_bodies() const {
  std::map<int, double> sums;
  for (std::size_t i = 0; i < owner.size(); ++i) {
    if (owner[i] >= 0) sums[owner[i]] += static_cast<double>(value[i]);
  }
  return sums;
}

namespace {

// A corner in pixels, with the inverse of its depth, which is linear over the picture.
struct Corner {
  Vec2 place = Vec2::Zero();
  double inverse_depth = 0, value = 0;
};

class Raster {
 public:
  Raster(const Camera& camera, double aspect, int height)
      : m_camera(camera), m_aspect(aspect), m_right(camera.right()), m_backward(camera.backward()) {
    m_up = m_backward.cross(m_right);
    m_picture.height = height;
    m_picture.width = std::max(1, static_cast<int>(std::lround(aspect * height)));
    const auto pixels = static_cast<std::size_t>(m_picture.width) * static_cast<std::size_t>(height);
    m_picture.depth.assign(pixels, std::numeric_limits<float>::infinity());
    m_picture.owner.assign(pixels, k_nobody);
    m_picture.value.assign(pixels, 0);
  }

  Corner corner(const Vec3& point, double value) const {
    const Vec3 from = point - m_camera.position;
    const double depth = -from.dot(m_backward), slope = depth * std::tan(m_camera.view_angle / 2);
    if (!(depth > 0)) return {Vec2::Zero(), 0, 0};  // behind the camera, or not a number
    const double x = from.dot(m_right) / (slope * m_aspect), y = from.dot(m_up) / slope;
    return {Vec2((x + 1) / 2 * m_picture.width, (1 - y) / 2 * m_picture.height), 1 / depth, value};
  }

  void draw_point(const Corner& at, int owner) {
    if (at.inverse_depth > 0)
      set(static_cast<int>(std::floor(at.place.x())), static_cast<int>(std::floor(at.place.y())),
          at.inverse_depth, at.value, owner);
  }

  void draw_triangle(const std::array<Corner, 3>& corners, int owner) {
    const auto& [a, b, c] = corners;
    if (!(a.inverse_depth > 0 && b.inverse_depth > 0 && c.inverse_depth > 0)) return;
    const double area = cross(b.place - a.place, c.place - a.place);
    if (area == 0) return;
    const Vec2 low = a.place.cwiseMin(b.place).cwiseMin(c.place);
    const Vec2 high = a.place.cwiseMax(b.place).cwiseMax(c.place);
    const int right = static_cast<int>(std::min<double>(m_picture.width - 1, std::floor(high.x())));
    const int bottom = static_cast<int>(std::min<double>(m_picture.height - 1, std::floor(high.y())));
    for (int y = static_cast<int>(std::max(0.0, std::floor(low.y()))); y <= bottom; ++y) {
      for (int x = static_cast<int>(std::max(0.0, std::floor(low.x()))); x <= right; ++x) {
        const Vec2 pixel(x + 0.5, y + 0.5);
        const double u = cross(b.place - pixel, c.place - pixel) / area;
        const double v = cross(c.place - pixel, a.place - pixel) / area;
        const double w = 1 - u - v;
        if (u < 0 || v < 0 || w < 0) continue;
        set(x, y, u * a.inverse_depth + v * b.inverse_depth + w * c.inverse_depth,
            u * a.value + v * b.value + w * c.value, owner);
      }
    }
  }

  Visible take() { return std::move(m_picture); }

 private:
  static double cross(const Vec2& a, const Vec2& b) { return a.x() * b.y() - a.y() * b.x(); }

  void set(int x, int y, double inverse_depth, double value, int owner) {
    if (x < 0 || y < 0 || x >= m_picture.width || y >= m_picture.height) return;
    const auto at =
        static_cast<std::size_t>(y) * static_cast<std::size_t>(m_picture.width) + static_cast<std::size_t>(x);
    const auto depth = static_cast<float>(1 / inverse_depth);
    if (!(depth < m_picture.depth[at])) return;
    m_picture.depth[at] = depth;
    m_picture.owner[at] = owner;
    m_picture.value[at] = static_cast<float>(value);
  }

  Camera m_camera;
  double m_aspect;
  Vec3 m_right, m_backward, m_up;
  Visible m_picture;
};

// Faces of a cell as lists of its corners; those of a volume are drawn from all sides.
std::vector<std::vector<int>> drawn_faces(CellKind kind, const std::vector<int>& points) {
  if (kind == CellKind::tets)
    return {{points[0], points[1], points[2]},
            {points[0], points[1], points[3]},
            {points[1], points[2], points[3]},
            {points[0], points[2], points[3]}};
  if (kind == CellKind::hexahedra) {
    std::vector<std::vector<int>> faces;
    constexpr std::size_t k_faces[6][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}, {0, 1, 5, 4},
                                           {2, 3, 7, 6}, {0, 3, 7, 4}, {1, 2, 6, 5}};
    for (const auto& face : k_faces)
      faces.push_back({points[face[0]], points[face[1]], points[face[2]], points[face[3]]});
    return faces;
  }
  return {points};
}

template <class OwnerOf>
void draw(Raster& raster, const Geometry& geometry, const VecX& values, OwnerOf owner_of) {
  std::vector<Corner> corners(static_cast<std::size_t>(geometry.points.rows()));
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    corners[i] = raster.corner(geometry.points.row(row).transpose(), values.size() > row ? values[row] : 0);
  }
  const auto at = [&](int point) { return corners[static_cast<std::size_t>(point)]; };
  for (std::size_t cell = 0; cell < cell_count(geometry); ++cell) {
    const int owner = owner_of(cell);
    if (owner == k_nobody) continue;
    const std::vector<int> points = cell_points(geometry, cell);
    if (points.size() == 1) raster.draw_point(at(points[0]), owner);
    if (points.size() < 3) continue;
    for (const std::vector<int>& face : drawn_faces(geometry.kind, points)) {
      for (std::size_t k = 2; k < face.size(); ++k)
        raster.draw_triangle({at(face[0]), at(face[k - 1]), at(face[k])}, owner);
    }
  }
}

const FieldArray* cell_array(const Geometry& geometry, const std::string& name) {
  for (const FieldArray& array : geometry.arrays) {
    if (array.name == name && array.on == Association::cell) return &array;
  }
  return nullptr;
}

}  // namespace

Visible look(const Camera& camera, double aspect, int height, const Geometry& shown,
             const Geometry* obstacles, const VecX& values) {
  Raster raster(camera, aspect, height);
  const std::vector<int> bodies = body_of_points(shown);
  draw(raster, shown, values,
       [&](std::size_t cell) { return bodies[static_cast<std::size_t>(cell_points(shown, cell)[0])]; });
  if (obstacles) {
    const FieldArray* plane = cell_array(*obstacles, "plane");
    draw(raster, *obstacles, {},
         [&](std::size_t cell) { return plane && plane->values[cell] != 0 ? k_nobody : k_behind_obstacle; });
  }
  return raster.take();
}

}  // namespace exemplar::stage
