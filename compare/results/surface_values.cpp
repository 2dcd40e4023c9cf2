#include "compare/results/surface_values.h"

#include <cmath>
#include <numbers>
#include <vector>

#include "compare/results/surface_distance.h"
#include "core/math/rigid_fit.h"

namespace exemplar {

namespace {

constexpr double k_end = 0.1;  // share of the length that counts as an end

// "size_y" → {"size", 1}.
std::optional<std::pair<std::string, int>> parts_of(const std::string& name) {
  if (name.size() < 3 || name[name.size() - 2] != '_') return std::nullopt;
  const int axis = name.back() - 'x';
  const std::string what = name.substr(0, name.size() - 2);
  const bool is_known =
      what == "size" || what == "centre" || what == "low" || what == "high" || what == "twist";
  if (axis < 0 || axis > 2 || !is_known) return std::nullopt;
  return std::pair{what, axis};
}

std::vector<Eigen::Index> points_of(const Geometry& surface, std::optional<int> body) {
  const FieldArray* bodies = nullptr;
  for (const FieldArray& array : surface.arrays) {
    if (array.name == "body" && array.on == Association::point) bodies = &array;
  }
  std::vector<Eigen::Index> rows;
  for (Eigen::Index i = 0; i < surface.points.rows(); ++i) {
    const int own = bodies ? static_cast<int>(bodies->values[static_cast<std::size_t>(i)]) : 0;
    if (!body || own == *body) rows.push_back(i);
  }
  return rows;
}

Points rows_between(const Points& rest, const Points& points, int axis, double low, double high) {
  std::vector<Eigen::Index> rows;
  for (Eigen::Index i = 0; i < rest.rows(); ++i) {
    if (rest(i, axis) >= low && rest(i, axis) <= high) rows.push_back(i);
  }
  return points(rows, Eigen::all);
}

double twist(const Points& rest, const Points& points, int axis) {
  const double low = rest.col(axis).minCoeff(), high = rest.col(axis).maxCoeff();
  const double length = k_end * (high - low), inf = std::numeric_limits<double>::infinity();
  const Mat3 upper = fit_rigid(rows_between(rest, rest, axis, high - length, inf),
                               rows_between(rest, points, axis, high - length, inf))
                         .rotation;
  const Mat3 lower = fit_rigid(rows_between(rest, rest, axis, -inf, low + length),
                               rows_between(rest, points, axis, -inf, low + length))
                         .rotation;
  // The part of the turn that is about the axis (swing and twist).
  const Quat turn(Mat3(lower.transpose() * upper));
  const double half = std::atan2(turn.vec()[axis], turn.w());
  return std::remainder(2 * half, 2 * std::numbers::pi) * 180 / std::numbers::pi;
}

}  // namespace

bool is_surface_value(const std::string& name) {
  return parts_of(name).has_value();
}

std::optional<SurfaceValue> surface_value(const Geometry& surface, const std::string& name,
                                          std::optional<int> body) {
  const auto parts = parts_of(name);
  const std::vector<Eigen::Index> rows = points_of(surface, body);
  if (!parts || rows.empty()) return std::nullopt;
  const auto& [what, axis] = *parts;
  const Points points = surface.points(rows, Eigen::all);
  if (what == "twist")
    return SurfaceValue{twist(rest_positions(surface)(rows, Eigen::all), points, axis), "°"};
  const double low = points.col(axis).minCoeff(), high = points.col(axis).maxCoeff();
  if (what == "low") return SurfaceValue{low, "m"};
  if (what == "high") return SurfaceValue{high, "m"};
  return SurfaceValue{what == "size" ? high - low : 0.5 * (low + high), "m"};
}

}  // namespace exemplar
