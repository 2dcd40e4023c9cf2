#include "core/output/fields.h"

#include <algorithm>
#include <cassert>

namespace exemplar {

int points_per_cell(CellKind kind) {
  switch (kind) {
    case CellKind::points:
      return 1;
    case CellKind::lines:
      return 2;
    case CellKind::triangles:
      return 3;
    case CellKind::tets:
      return 4;
    case CellKind::hexahedra:
      return 8;
    case CellKind::polygons:
      return 0;
  }
  return 0;
}

std::size_t cell_count(const Geometry& geometry) {
  if (geometry.kind == CellKind::polygons) return geometry.offsets.size();
  if (geometry.kind == CellKind::points && geometry.connectivity.empty()) {
    return static_cast<std::size_t>(geometry.points.rows());
  }
  return geometry.connectivity.size() / static_cast<std::size_t>(points_per_cell(geometry.kind));
}

namespace {

std::size_t size_on(const Geometry& geometry, Association on) {
  return on == Association::point ? static_cast<std::size_t>(geometry.points.rows()) : cell_count(geometry);
}

const FieldArray* find_array(const Geometry& geometry, const FieldArray& like) {
  auto found = std::find_if(geometry.arrays.begin(), geometry.arrays.end(), [&](const FieldArray& array) {
    return array.name == like.name && array.on == like.on;
  });
  return found == geometry.arrays.end() ? nullptr : &*found;
}

void append_arrays(Geometry& whole, const Geometry& part) {
  for (const FieldArray& array : part.arrays) {
    if (find_array(whole, array)) continue;
    FieldArray empty = array;
    empty.values.assign(size_on(whole, array.on) * static_cast<std::size_t>(array.components), 0.0);
    whole.arrays.push_back(std::move(empty));
  }
  for (FieldArray& array : whole.arrays) {
    if (const FieldArray* from = find_array(part, array)) {
      assert(from->components == array.components);
      array.values.insert(array.values.end(), from->values.begin(), from->values.end());
    } else {
      array.values.resize(array.values.size() +
                          size_on(part, array.on) * static_cast<std::size_t>(array.components));
    }
  }
}

}  // namespace

void append(Geometry& whole, const Geometry& part) {
  assert(whole.kind == part.kind);
  append_arrays(whole, part);
  if (whole.rigid_parts.empty() || part.rigid_parts.empty()) {
    whole.rigid_parts.clear();
  } else {
    whole.rigid_parts.insert(whole.rigid_parts.end(), part.rigid_parts.begin(), part.rigid_parts.end());
  }
  const int first = static_cast<int>(whole.points.rows());
  Points points(first + part.points.rows(), 3);
  points << whole.points, part.points;
  whole.points = std::move(points);
  const int shift = static_cast<int>(whole.connectivity.size());
  for (int index : part.connectivity) whole.connectivity.push_back(index + first);
  for (int offset : part.offsets) whole.offsets.push_back(offset + shift);
}

FieldArray make_array(std::string name, Association on, const Eigen::Ref<const MatX>& rows) {
  FieldArray array{std::move(name), on, static_cast<int>(rows.cols()), false, {}};
  array.values.resize(static_cast<std::size_t>(rows.size()));
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<RowMajor>(array.values.data(), rows.rows(), rows.cols()) = rows;
  return array;
}

FieldArray make_integer_array(std::string name, Association on, const std::vector<int>& values) {
  return {std::move(name), on, 1, true, std::vector<double>(values.begin(), values.end())};
}

}  // namespace exemplar
