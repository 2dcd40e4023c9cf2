#include "compare/render/ground.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "compare/render/colours.h"
#include "compare/stage/stage.h"

namespace exemplar::render {

namespace {

using stage::cell_points;

// The distinct corners of one or two cells, if they are four.
std::vector<Vec3> four_corners(const Geometry& geometry, const std::vector<std::size_t>& cells) {
  std::vector<Vec3> corners;
  if (cells.size() > 2) return corners;
  for (std::size_t cell : cells) {
    for (int index : cell_points(geometry, cell)) {
      const Vec3 point = geometry.points.row(index).transpose();
      const bool known =
          std::any_of(corners.begin(), corners.end(), [&](const Vec3& c) { return c == point; });
      if (!known) corners.push_back(point);
    }
  }
  return corners;
}

std::optional<Rectangle> as_rectangle(std::vector<Vec3> corners) {
  if (corners.size() != 4) return std::nullopt;
  const Vec3 first = corners[0];
  std::sort(corners.begin() + 1, corners.end(), [&](const Vec3& a, const Vec3& b) {
    return (a - first).squaredNorm() < (b - first).squaredNorm();
  });
  const Vec3 u = corners[1] - first, v = corners[2] - first;
  const double scale = u.norm() * v.norm();
  const bool right_angle = std::abs(u.dot(v)) < 1e-6 * scale;
  const bool closes = (first + u + v - corners[3]).norm() < 1e-6 * (u.norm() + v.norm());
  if (!(scale > 0) || !right_angle || !closes) return std::nullopt;
  return Rectangle{first + (u + v) / 2, u.normalized(), v.normalized(), u.norm() / 2, v.norm() / 2};
}

void add_cell(Geometry& rest, const Geometry& from, std::size_t cell, int obstacle) {
  const std::vector<int> points = cell_points(from, cell);
  rest.connectivity.insert(rest.connectivity.end(), points.begin(), points.end());
  rest.offsets.push_back(static_cast<int>(rest.connectivity.size()));
  rest.arrays[0].values.push_back(obstacle);
}

}  // namespace

bool is_surface(const Geometry& geometry) {
  return geometry.kind == CellKind::triangles || geometry.kind == CellKind::polygons;
}

ObstacleParts split_obstacles(const Geometry& obstacles) {
  ObstacleParts parts;
  parts.rest.kind = CellKind::polygons;
  parts.rest.points = obstacles.points;
  parts.rest.arrays.push_back({"obstacle", Association::cell, 1, true, {}});
  if (!is_surface(obstacles)) return parts;
  const FieldArray* ids = find_array(obstacles, "obstacle");
  std::map<int, std::vector<std::size_t>> cells;
  for (std::size_t cell = 0; cell < cell_count(obstacles); ++cell) {
    const bool known = ids && ids->on == Association::cell;
    cells[known ? static_cast<int>(ids->values[cell]) : 0].push_back(cell);
  }
  for (const auto& [id, members] : cells) {
    if (auto rectangle = as_rectangle(four_corners(obstacles, members))) {
      parts.rectangles.push_back(*rectangle);
    } else {
      for (std::size_t cell : members) add_cell(parts.rest, obstacles, cell, id);
    }
  }
  return parts;
}

namespace {

// Overlap of [centre ± half] with [middle ± reach], as a new centre and half length.
std::pair<double, double> overlap(double half, double middle, double reach) {
  const double low = std::max(-half, middle - reach), high = std::min(half, middle + reach);
  return low < high ? std::pair{(low + high) / 2, (high - low) / 2} : std::pair{0.0, half};
}

}  // namespace

Rectangle crop(const Rectangle& whole, const Box& motion) {
  Rectangle shown = whole;
  const Vec3 offset = motion.centre() - whole.centre;
  const double reach = 1.6 * motion.diagonal();
  const auto [centre_u, half_u] = overlap(whole.half_u, offset.dot(whole.axis_u), reach);
  const auto [centre_v, half_v] = overlap(whole.half_v, offset.dot(whole.axis_v), reach);
  shown.centre += centre_u * whole.axis_u + centre_v * whole.axis_v;
  shown.half_u = half_u;
  shown.half_v = half_v;
  if (shown.normal().dot(offset) < 0)
    std::swap(shown.axis_u, shown.axis_v), std::swap(shown.half_u, shown.half_v);
  return shown;
}

double ground_tile_size(const Box& motion) {
  return round_down_125(std::max(1e-9, motion.diagonal() / 7));
}

double round_down_125(double length) {
  const double power = std::pow(10.0, std::floor(std::log10(length)));
  for (double factor : {5.0, 2.0}) {
    if (factor * power <= length) return factor * power;
  }
  return power;
}

namespace {

using Mask = Eigen::ArrayXXf;  // (column, row), 1 in the shade

// Scanline fill of one triangle given in pixels.
void fill_triangle(Mask& mask, const Vec2& a, const Vec2& b, const Vec2& c) {
  const auto rows = static_cast<double>(mask.cols()), columns = static_cast<double>(mask.rows());
  const double low = std::min({a.y(), b.y(), c.y()}), high = std::max({a.y(), b.y(), c.y()});
  if (!(low < rows && high > 0)) return;
  const auto first = static_cast<Eigen::Index>(std::max(0.0, std::floor(low)));
  const auto last = static_cast<Eigen::Index>(std::min(rows - 1, std::ceil(high)));
  for (Eigen::Index row = first; row <= last; ++row) {
    const double y = static_cast<double>(row) + 0.5;
    double left = columns, right = -1;
    const Vec2* corners[4] = {&a, &b, &c, &a};
    for (int k = 0; k < 3; ++k) {
      const Vec2 &p = *corners[k], &q = *corners[k + 1];
      if ((p.y() <= y) == (q.y() <= y)) continue;
      const double x = p.x() + (y - p.y()) / (q.y() - p.y()) * (q.x() - p.x());
      left = std::min(left, x);
      right = std::max(right, x);
    }
    const auto begin = static_cast<Eigen::Index>(std::clamp(std::round(left), 0.0, columns));
    const auto end = static_cast<Eigen::Index>(std::clamp(std::round(right), 0.0, columns));
    for (Eigen::Index column = begin; column < end; ++column) mask(column, row) = 1;
  }
}

// Running mean of 2·radius + 1 values along the columns of `mask`.
Mask blur_columns(const Mask& mask, Eigen::Index radius) {
  Mask blurred(mask.rows(), mask.cols());
  const Eigen::Index size = mask.rows();
  for (Eigen::Index j = 0; j < mask.cols(); ++j) {
    float sum = 0;
    for (Eigen::Index i = 0; i < std::min(radius, size); ++i) sum += mask(i, j);
    for (Eigen::Index i = 0; i < size; ++i) {
      if (i + radius < size) sum += mask(i + radius, j);
      if (i > radius) sum -= mask(i - radius - 1, j);
      blurred(i, j) = sum / static_cast<float>(2 * radius + 1);
    }
  }
  return blurred;
}

// Maps points to pixels of the texture: the projection along the light onto the plane.
struct Projection {
  Rectangle plane;
  Vec3 light;
  double pixels_u, pixels_v;

  double height(const Vec3& point) const { return plane.normal().dot(point - plane.centre); }
  Vec2 operator()(const Vec3& point) const {
    const Vec3 foot = point - light * (height(point) / plane.normal().dot(light)) - plane.centre;
    return {(foot.dot(plane.axis_u) + plane.half_u) * pixels_u,
            (foot.dot(plane.axis_v) + plane.half_v) * pixels_v};
  }
};

void cast_shadow(Mask& mask, const Geometry& caster, const Projection& project) {
  if (!is_surface(caster)) return;
  for (std::size_t cell = 0; cell < cell_count(caster); ++cell) {
    const std::vector<int> points = cell_points(caster, cell);
    for (std::size_t k = 2; k < points.size(); ++k) {
      Vec3 corners[3];
      bool finite = true, above = false;
      const std::size_t places[3] = {0, k - 1, k};
      for (int i = 0; i < 3; ++i) {
        corners[i] = caster.points.row(points[places[i]]).transpose();
        finite = finite && corners[i].allFinite();
        above = above || project.height(corners[i]) > 0;
      }
      if (finite && above) fill_triangle(mask, project(corners[0]), project(corners[1]), project(corners[2]));
    }
  }
}

Mask shadow_mask(const Rectangle& shown, const std::vector<const Geometry*>& casters, const Vec3& light,
                 int width, int height) {
  Mask mask = Mask::Zero(width, height);
  if (shown.normal().dot(light) < 0.15 * light.norm()) return mask;
  const Projection project{shown, light.normalized(), width / (2 * shown.half_u),
                           height / (2 * shown.half_v)};
  for (const Geometry* caster : casters) cast_shadow(mask, *caster, project);
  const Eigen::Index radius = std::max<Eigen::Index>(1, std::max(width, height) / 220);
  for (int pass = 0; pass < 2; ++pass) {
    mask = blur_columns(mask, radius);
    mask = blur_columns(mask.transpose(), radius).transpose();
  }
  return mask;
}

double smooth_step(double x) {
  const double t = std::clamp(x, 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

// One axis of the texture: the place of each pixel from the centre, and the share of odd squares in it
// (smooth at edges).
struct TextureAxis {
  TextureAxis(int pixels, double half, double origin, double tile) : place(pixels), odd(pixels) {
    const double pixel = 2 * half / pixels / tile;
    for (int i = 0; i < pixels; ++i) {
      place[i] = (2 * (i + 0.5) / pixels - 1) * half;
      const double x = (place[i] + origin) / tile;
      const double from_edge = std::abs(x - 2 * std::round(x / 2)) - 0.5;  // in squares
      odd[i] = std::clamp(from_edge / pixel, -0.5, 0.5) + 0.5;
    }
  }
  Eigen::ArrayXd place, odd;
};

void shade_pixel(std::uint8_t* pixel, double odd, double shade, double solid) {
  const double lightness = (1 - 0.32 * shade) * (0.905 - 0.05 * odd);
  constexpr double k_white[3] = {246, 246, 250};
  for (std::size_t c = 0; c < 3; ++c) {
    pixel[c] = static_cast<std::uint8_t>(
        std::lround(solid * lightness * k_white[c] + (1 - solid) * k_background[c]));
  }
}

}  // namespace

Image ground_texture(const Rectangle& whole, const Rectangle& shown,
                     const std::vector<const Geometry*>& casters, const Vec3& light, double tile,
                     int resolution) {
  const double longer = std::max(shown.half_u, shown.half_v);
  const int width = std::max(16, static_cast<int>(resolution * shown.half_u / longer));
  const int height = std::max(16, static_cast<int>(resolution * shown.half_v / longer));
  const Mask shade = shadow_mask(shown, casters, light, width, height);
  const bool cropped = shown.half_u + shown.half_v < 0.999 * (whole.half_u + whole.half_v);
  const Vec3 origin = shown.centre - whole.centre;
  const TextureAxis u(width, shown.half_u, origin.dot(shown.axis_u), tile);
  const TextureAxis v(height, shown.half_v, origin.dot(shown.axis_v), tile);
  Image texture(width, height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const double odd = u.odd[x] * (1 - v.odd[y]) + v.odd[y] * (1 - u.odd[x]);
      const double radius = std::sqrt(u.place[x] * u.place[x] + v.place[y] * v.place[y]) / longer;
      const double solid = cropped ? 1 - smooth_step((radius - 0.35) / 0.6) : 1;
      shade_pixel(texture.pixel(x, y), odd, static_cast<double>(shade(x, y)), solid);
    }
  }
  return texture;
}

}  // namespace exemplar::render
