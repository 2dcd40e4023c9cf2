// What a method shows of its state: named arrays on named geometry. Written as VTK by core/output; methods
// never see files. SI units.
#pragma once

#include <string>
#include <vector>

#include "core/math/types.h"

namespace exemplar {

enum class Association { point, cell };

// values.size() = components × (number of points or cells). Integers are stored exactly and written as Int32.
struct FieldArray {
  std::string name;  // plain: displacement, velocity, plastic_strain, example_weight_<name>, damage, fragment
  Association on = Association::point;
  int components = 1;
  bool integer = false;
  std::vector<double> values;
};

enum class CellKind { points, lines, triangles, polygons, tets, hexahedra };

// One written series, e.g. "surface" (every method), "tets", "particles", "cells", "bonds".
struct Geometry {
  std::string series;
  CellKind kind = CellKind::triangles;
  Points points;
  std::vector<int> connectivity;  // point indices, cell after cell (points: may be empty, one vertex a point)
  std::vector<int> offsets;       // polygons only: end of each cell in `connectivity`
  std::vector<FieldArray> arrays;
  std::vector<int>
      rigid_parts;  // of every cell, where each part moves as a whole; not written; empty: nothing does
};

int points_per_cell(CellKind kind);  // 0 for polygons
std::size_t cell_count(const Geometry& geometry);

// Appends `part` to `whole` (same series and kind), shifting indices; arrays missing on one side are filled
// with 0.
void append(Geometry& whole, const Geometry& part);

// A scalar or vector array from an Eigen matrix, one row a point or cell.
FieldArray make_array(std::string name, Association on, const Eigen::Ref<const MatX>& rows);
FieldArray make_integer_array(std::string name, Association on, const std::vector<int>& values);

}  // namespace exemplar
