#include "compare/render/poly_data.h"

#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkIntArray.h>
#include <vtkMath.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyDataNormals.h>
#include <vtkUnsignedCharArray.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace exemplar::render {

namespace {

constexpr double k_crease_angle = 40;  // degrees
constexpr double k_near_angle = 25;    // degrees
const char* const k_source = "source";

// Faces of a cell, seen from outside, as VTK orders its corners.
std::vector<std::vector<int>> faces_of(CellKind kind) {
  if (kind == CellKind::tets) return {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
  return {{0, 4, 7, 3}, {1, 2, 6, 5}, {0, 1, 5, 4}, {3, 7, 6, 2}, {0, 3, 2, 1}, {4, 5, 6, 7}};
}

struct Face {
  std::vector<int> points;
  std::size_t cell = 0;
  int count = 0;
};

// In the order of their sorted corners, which does not matter for drawing.
std::map<std::vector<int>, Face> count_faces(const Geometry& volume) {
  const auto local_faces = faces_of(volume.kind);
  const auto width = static_cast<std::size_t>(points_per_cell(volume.kind));
  std::map<std::vector<int>, Face> faces;
  for (std::size_t cell = 0; cell < cell_count(volume); ++cell) {
    for (const auto& local : local_faces) {
      std::vector<int> points;
      for (int k : local) points.push_back(volume.connectivity[cell * width + static_cast<std::size_t>(k)]);
      std::vector<int> key = points;
      std::sort(key.begin(), key.end());
      Face& face = faces[key];
      if (face.count++ == 0) face = {points, cell, 1};
    }
  }
  return faces;
}

FieldArray gather(const FieldArray& array, const std::vector<std::size_t>& cells) {
  FieldArray gathered{array.name, array.on, array.components, array.integer, {}};
  const auto width = static_cast<std::ptrdiff_t>(array.components);
  for (std::size_t cell : cells) {
    const auto begin = array.values.begin() + static_cast<std::ptrdiff_t>(cell) * width;
    gathered.values.insert(gathered.values.end(), begin, begin + width);
  }
  return gathered;
}

}  // namespace

Geometry boundary_surface(const Geometry& volume) {
  Geometry surface;
  surface.series = volume.series;
  surface.kind = CellKind::polygons;
  surface.points = volume.points;
  std::vector<std::size_t> cells;
  for (const auto& [key, face] : count_faces(volume)) {
    if (face.count != 1) continue;
    surface.connectivity.insert(surface.connectivity.end(), face.points.begin(), face.points.end());
    surface.offsets.push_back(static_cast<int>(surface.connectivity.size()));
    cells.push_back(face.cell);
  }
  for (const FieldArray& array : volume.arrays) {
    surface.arrays.push_back(array.on == Association::cell ? gather(array, cells) : array);
  }
  return surface;
}

namespace {

bool is_volume(const Geometry& geometry) {
  return geometry.kind == CellKind::tets || geometry.kind == CellKind::hexahedra;
}

vtkSmartPointer<vtkPolyData> plain(const Geometry& geometry) {
  vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  for (Eigen::Index i = 0; i < geometry.points.rows(); ++i) {
    const bool finite = geometry.points.row(i).allFinite();
    points->InsertNextPoint(finite ? geometry.points.row(i).data() : Vec3::Zero().eval().data());
  }
  vtkNew<vtkCellArray> cells;
  const int width = points_per_cell(geometry.kind);
  int begin = 0;
  for (std::size_t cell = 0; cell < cell_count(geometry); ++cell) {
    const int end = width > 0 ? begin + width : geometry.offsets[cell];
    cells->InsertNextCell(end - begin);
    for (int k = begin; k < end; ++k) {
      cells->InsertCellPoint(
          geometry.connectivity.empty() ? k : geometry.connectivity[static_cast<std::size_t>(k)]);
    }
    begin = end;
  }
  auto data = vtkSmartPointer<vtkPolyData>::New();
  data->SetPoints(points);
  if (geometry.kind == CellKind::points) data->SetVerts(cells);
  if (geometry.kind == CellKind::lines) data->SetLines(cells);
  if (width == 3 || width == 0) data->SetPolys(cells);
  return data;
}

template <class ColourOf>
void add_colours(vtkPolyData& data, Association on, std::size_t count, ColourOf colour_of) {
  vtkNew<vtkUnsignedCharArray> colours;
  colours->SetName("colour");
  colours->SetNumberOfComponents(3);
  for (std::size_t i = 0; i < count; ++i) {
    const Colour colour = colour_of(i);
    colours->InsertNextTypedTuple(colour.data());
  }
  if (on == Association::cell) data.GetCellData()->SetScalars(colours);
  if (on == Association::point) data.GetPointData()->SetScalars(colours);
}

void colour_by(vtkPolyData& data, const Geometry& geometry, const std::optional<ColourScale>& scale,
               const std::optional<Colour>& bodies) {
  const auto body_colour = [&](int body) { return bodies ? shade_of(*bodies, body) : category_colour(body); };
  if (scale && scale->kind == ColourScale::Kind::blend) {
    add_colours(data, Association::point, static_cast<std::size_t>(geometry.points.rows()),
                [&](std::size_t i) { return blend_colour(*scale, geometry, i); });
    return;
  }
  if (scale && scale->kind == ColourScale::Kind::handles) {
    add_colours(data, Association::point, static_cast<std::size_t>(geometry.points.rows()),
                [&](std::size_t i) { return handle_colour(geometry, i); });
    return;
  }
  const FieldArray* array = find_array(geometry, scale ? scale->array : "body");
  if (!array) {
    add_colours(data, Association::cell, cell_count(geometry), [&](std::size_t) {
      return scale ? Colour{190, 190, 194} : body_colour(0);
    });
    return;
  }
  const std::size_t count = array->values.size() / static_cast<std::size_t>(array->components);
  add_colours(data, array->on, count, [&](std::size_t i) {
    const double value = scalar_value(*array, i);
    return scale ? map_colour(*scale, value) : body_colour(static_cast<int>(value));
  });
}

// Normals that the method has written stand where they are near the computed ones; at creases, where points
// are split, these are better.
void take_written_normals(const FieldArray& written, vtkPolyData& data) {
  vtkDataArray* computed = data.GetPointData()->GetNormals();
  vtkDataArray* source = data.GetPointData()->GetArray(k_source);
  if (!computed || !source) return;
  const double least = std::cos(k_near_angle * vtkMath::Pi() / 180);
  for (vtkIdType i = 0; i < data.GetNumberOfPoints(); ++i) {
    const auto row = 3 * static_cast<std::size_t>(source->GetTuple1(i));
    const Vec3 own(written.values.data() + row), other(computed->GetTuple3(i));
    if (own.dot(other) > least) computed->SetTuple(i, own.data());
  }
}

void add_sources(vtkPolyData& data) {
  vtkNew<vtkIntArray> source;
  source->SetName(k_source);
  for (vtkIdType i = 0; i < data.GetNumberOfPoints(); ++i) source->InsertNextValue(static_cast<int>(i));
  data.GetPointData()->AddArray(source);
}

vtkSmartPointer<vtkPolyData> with_normals(vtkSmartPointer<vtkPolyData> data,
                                          const FieldArray* written = nullptr) {
  if (data->GetNumberOfPolys() == 0) return data;
  if (written) add_sources(*data);
  vtkNew<vtkPolyDataNormals> normals;
  normals->SetInputData(data);
  normals->SetFeatureAngle(k_crease_angle);
  normals->SplittingOn();
  normals->ConsistencyOff();
  normals->AutoOrientNormalsOff();
  normals->Update();
  if (written) take_written_normals(*written, *normals->GetOutput());
  return normals->GetOutput();
}

}  // namespace

vtkSmartPointer<vtkPolyData> drawable(const Geometry& geometry, const std::optional<ColourScale>& scale,
                                      const std::optional<Colour>& bodies) {
  if (is_volume(geometry)) return drawable(boundary_surface(geometry), scale, bodies);
  auto data = plain(geometry);
  colour_by(*data, geometry, scale, bodies);
  const FieldArray* normals = find_array(geometry, "normal");
  const bool is_of_points = normals && normals->on == Association::point && normals->components == 3;
  return with_normals(data, is_of_points ? normals : nullptr);
}

vtkSmartPointer<vtkPolyData> drawable(const Geometry& geometry, Colour colour) {
  auto data = plain(geometry);
  add_colours(*data, Association::cell, cell_count(geometry), [&](std::size_t) { return colour; });
  return with_normals(data);
}

}  // namespace exemplar::render
