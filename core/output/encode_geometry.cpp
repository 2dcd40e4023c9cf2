// Geometry → bytes of a VTK XML file.
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkCellType.h>
#include <vtkDoubleArray.h>
#include <vtkFieldData.h>
#include <vtkIntArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkTypeInt32Array.h>
#include <vtkUnstructuredGrid.h>
#include <vtkXMLPolyDataWriter.h>
#include <vtkXMLUnstructuredGridWriter.h>

#include <cassert>
#include <numeric>
#include <stdexcept>

#include "core/output/geometry_file.h"
#include "core/output/quick_zlib.h"

namespace exemplar {

namespace {

// VTK takes no pointers to const; the arrays are only read.
vtkSmartPointer<vtkDoubleArray> borrow(const double* values, std::size_t size, int components) {
  auto array = vtkSmartPointer<vtkDoubleArray>::New();
  array->SetNumberOfComponents(components);
  array->SetArray(const_cast<double*>(values), static_cast<vtkIdType>(size), 1);
  return array;
}

vtkSmartPointer<vtkDataArray> convert(const FieldArray& field) {
  vtkSmartPointer<vtkDataArray> array;
  if (field.integer) {
    auto integers = vtkSmartPointer<vtkIntArray>::New();
    integers->SetNumberOfComponents(field.components);
    integers->SetNumberOfValues(static_cast<vtkIdType>(field.values.size()));
    for (std::size_t i = 0; i < field.values.size(); ++i) {
      integers->SetValue(static_cast<vtkIdType>(i), static_cast<int>(field.values[i]));
    }
    array = integers;
  } else {
    array = borrow(field.values.data(), field.values.size(), field.components);
  }
  array->SetName(field.name.c_str());
  return array;
}

void add_arrays(vtkDataSet& data, const Geometry& geometry, double time) {
  for (const FieldArray& field : geometry.arrays) {
    const bool on_points = field.on == Association::point;
    const std::size_t count =
        on_points ? static_cast<std::size_t>(geometry.points.rows()) : cell_count(geometry);
    if (field.components < 1 || field.values.size() != count * static_cast<std::size_t>(field.components)) {
      throw std::logic_error("series " + geometry.series + ": array " + field.name + " has " +
                             std::to_string(field.values.size()) + " values on " + std::to_string(count) +
                             (on_points ? " points" : " cells"));
    }
    vtkDataSetAttributes* attributes = on_points ? static_cast<vtkDataSetAttributes*>(data.GetPointData())
                                                 : static_cast<vtkDataSetAttributes*>(data.GetCellData());
    attributes->AddArray(convert(field));
  }
  vtkNew<vtkDoubleArray> time_value;
  time_value->SetName("TimeValue");
  time_value->InsertNextValue(time);
  data.GetFieldData()->AddArray(time_value);
  // Tells triangles from polygons, and lines from points when there are none, on reading back.
  vtkNew<vtkIntArray> kind;
  kind->SetName("CellKind");
  kind->InsertNextValue(static_cast<int>(geometry.kind));
  data.GetFieldData()->AddArray(kind);
}

std::vector<int> connectivity_of(const Geometry& geometry) {
  if (geometry.kind != CellKind::points || !geometry.connectivity.empty()) return geometry.connectivity;
  std::vector<int> identity(static_cast<std::size_t>(geometry.points.rows()));
  std::iota(identity.begin(), identity.end(), 0);
  return identity;
}

vtkSmartPointer<vtkCellArray> convert_cells(const Geometry& geometry) {
  const std::vector<int> connectivity = connectivity_of(geometry);
  const auto cells = static_cast<vtkIdType>(cell_count(geometry));
  vtkNew<vtkTypeInt32Array> offsets, indices;
  offsets->SetNumberOfValues(cells + 1);
  offsets->SetValue(0, 0);
  const int width = points_per_cell(geometry.kind);
  for (vtkIdType i = 0; i < cells; ++i) {
    offsets->SetValue(
        i + 1, width > 0 ? static_cast<int>(i + 1) * width : geometry.offsets[static_cast<std::size_t>(i)]);
  }
  assert(offsets->GetValue(cells) == static_cast<int>(connectivity.size()));
  indices->SetNumberOfValues(static_cast<vtkIdType>(connectivity.size()));
  std::copy(connectivity.begin(), connectivity.end(), indices->GetPointer(0));
  auto result = vtkSmartPointer<vtkCellArray>::New();
  result->SetData(offsets, indices);
  return result;
}

void set_points(vtkPointSet& data, const Geometry& geometry) {
  vtkNew<vtkPoints> points;
  points->SetData(borrow(geometry.points.data(), static_cast<std::size_t>(geometry.points.size()), 3));
  data.SetPoints(points);
}

std::string encode(vtkXMLWriter& writer, vtkDataObject& data) {
  writer.SetInputDataObject(&data);
  writer.SetDataModeToAppended();
  writer.EncodeAppendedDataOff();
  writer.SetCompressor(make_quick_zlib());
  writer.SetHeaderTypeToUInt64();
  writer.WriteToOutputStringOn();
  if (!writer.Write()) throw std::runtime_error("VTK could not encode a geometry");
  return writer.GetOutputString();
}

std::string encode_polygonal(const Geometry& geometry, double time) {
  vtkNew<vtkPolyData> data;
  set_points(*data, geometry);
  const auto cells = convert_cells(geometry);
  if (geometry.kind == CellKind::points) {
    data->SetVerts(cells);
  } else if (geometry.kind == CellKind::lines) {
    data->SetLines(cells);
  } else {
    data->SetPolys(cells);
  }
  add_arrays(*data, geometry, time);
  vtkNew<vtkXMLPolyDataWriter> writer;
  return encode(*writer, *data);
}

std::string encode_volumetric(const Geometry& geometry, double time) {
  vtkNew<vtkUnstructuredGrid> data;
  set_points(*data, geometry);
  data->SetCells(geometry.kind == CellKind::tets ? VTK_TETRA : VTK_HEXAHEDRON, convert_cells(geometry));
  add_arrays(*data, geometry, time);
  vtkNew<vtkXMLUnstructuredGridWriter> writer;
  return encode(*writer, *data);
}

}  // namespace

std::string encode_geometry(const Geometry& geometry, double time) {
  return geometry_extension(geometry.kind) == ".vtp" ? encode_polygonal(geometry, time)
                                                     : encode_volumetric(geometry, time);
}

}  // namespace exemplar
