// VTK XML file → Geometry.
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkCellType.h>
#include <vtkCommand.h>
#include <vtkDataArray.h>
#include <vtkExecutive.h>
#include <vtkFieldData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkUnstructuredGrid.h>
#include <vtkXMLPolyDataReader.h>
#include <vtkXMLUnstructuredGridReader.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "core/base/errors.h"
#include "core/output/geometry_file.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const std::string& message) {
  throw InputError(Problem{path.string(), {}, message});
}

// Turns VTK's messages on a terminal into a state that can be asked for.
class ErrorObserver : public vtkCommand {
 public:
  static ErrorObserver* New() { return new ErrorObserver; }
  void Execute(vtkObject*, unsigned long, void*) override { failed = true; }
  bool failed = false;
};

// frames/surface_00012.vtp → surface
std::string series_of(const fs::path& path) {
  std::string stem = path.stem().string();
  const std::size_t underscore = stem.rfind('_');
  if (underscore == std::string::npos || underscore + 1 == stem.size()) return stem;
  const bool number = stem.find_first_not_of("0123456789", underscore + 1) == std::string::npos;
  return number ? stem.substr(0, underscore) : stem;
}

std::vector<double> values_of(vtkDataArray& array) {
  const auto components = static_cast<std::size_t>(array.GetNumberOfComponents());
  std::vector<double> values(static_cast<std::size_t>(array.GetNumberOfTuples()) * components);
  for (std::size_t i = 0; i < values.size(); i += components) {
    array.GetTuple(static_cast<vtkIdType>(i / components), values.data() + i);
  }
  return values;
}

void read_arrays(vtkFieldData& data, Association on, Geometry& geometry) {
  for (int i = 0; i < data.GetNumberOfArrays(); ++i) {
    vtkDataArray* array = data.GetArray(i);
    if (!array || !array->GetName()) continue;
    const bool integer = array->GetDataType() != VTK_DOUBLE && array->GetDataType() != VTK_FLOAT;
    geometry.arrays.push_back(
        {array->GetName(), on, array->GetNumberOfComponents(), integer, values_of(*array)});
  }
}

void read_points(vtkPointSet& data, Geometry& geometry) {
  geometry.points.resize(data.GetNumberOfPoints(), 3);
  for (vtkIdType i = 0; i < data.GetNumberOfPoints(); ++i) data.GetPoint(i, geometry.points.row(i).data());
}

void read_cells(vtkCellArray& cells, Geometry& geometry) {
  vtkNew<vtkIdList> ids;
  for (vtkIdType i = 0; i < cells.GetNumberOfCells(); ++i) {
    cells.GetCellAtId(i, ids);
    for (vtkIdType k = 0; k < ids->GetNumberOfIds(); ++k) {
      geometry.connectivity.push_back(static_cast<int>(ids->GetId(k)));
    }
    if (geometry.kind == CellKind::polygons)
      geometry.offsets.push_back(static_cast<int>(geometry.connectivity.size()));
  }
}

bool all_of_size(vtkCellArray& cells, int size) {
  return cells.GetNumberOfCells() == 0 || cells.IsHomogeneous() == size;
}

std::optional<CellKind> stored_kind(vtkDataSet& data) {
  vtkDataArray* stored = data.GetFieldData()->GetArray("CellKind");
  if (!stored || stored->GetNumberOfTuples() != 1) return std::nullopt;
  const int kind = static_cast<int>(stored->GetTuple1(0));
  if (kind < 0 || kind > static_cast<int>(CellKind::hexahedra)) return std::nullopt;
  return static_cast<CellKind>(kind);
}

CellKind kind_of(vtkPolyData& data, const fs::path& path) {
  const int kinds =
      (data.GetNumberOfVerts() > 0) + (data.GetNumberOfLines() > 0) + (data.GetNumberOfPolys() > 0);
  if (kinds > 1 || data.GetNumberOfStrips() > 0) refuse(path, "mixes points, lines and polygons");
  if (data.GetNumberOfVerts() > 0) return CellKind::points;
  if (data.GetNumberOfLines() > 0) return CellKind::lines;
  if (data.GetNumberOfPolys() > 0 && !all_of_size(*data.GetPolys(), 3)) return CellKind::polygons;
  if (auto stored = stored_kind(data); stored && geometry_extension(*stored) == ".vtp") {
    const bool may_be = data.GetNumberOfPolys() == 0 || *stored == CellKind::polygons;
    if (may_be) return *stored;
  }
  return data.GetNumberOfPolys() > 0 ? CellKind::triangles : CellKind::points;
}

CellKind kind_of(vtkUnstructuredGrid& data, const fs::path& path) {
  if (data.GetNumberOfCells() == 0) {
    const CellKind stored = stored_kind(data).value_or(CellKind::tets);
    return geometry_extension(stored) == ".vtu" ? stored : CellKind::tets;
  }
  const int type = data.GetCellType(0);
  for (vtkIdType i = 0; i < data.GetNumberOfCells(); ++i) {
    if (data.GetCellType(i) != type) refuse(path, "mixes kinds of cells");
  }
  if (type == VTK_TETRA) return CellKind::tets;
  if (type == VTK_HEXAHEDRON) return CellKind::hexahedra;
  refuse(path, "holds cells that are neither tets nor hexahedra");
}

vtkCellArray* cells_of(vtkPolyData& data, CellKind kind) {
  if (kind == CellKind::points) return data.GetVerts();
  return kind == CellKind::lines ? data.GetLines() : data.GetPolys();
}
vtkCellArray* cells_of(vtkUnstructuredGrid& data, CellKind) {
  return data.GetCells();
}

template <class Reader>
Geometry read(const fs::path& path) {
  vtkNew<Reader> reader;
  vtkNew<ErrorObserver> errors;
  reader->AddObserver(vtkCommand::ErrorEvent, errors);
  reader->SetParserErrorObserver(errors);
  reader->GetExecutive()->AddObserver(vtkCommand::ErrorEvent, errors);
  reader->SetFileName(path.c_str());
  reader->Update();
  auto* data = reader->GetOutput();
  if (errors->failed || !data) refuse(path, "is not a readable VTK file (damaged, or of another type)");
  Geometry geometry;
  geometry.series = series_of(path);
  geometry.kind = kind_of(*data, path);
  read_points(*data, geometry);
  read_cells(*cells_of(*data, geometry.kind), geometry);
  const int width = points_per_cell(geometry.kind);
  if (width > 0 && !all_of_size(*cells_of(*data, geometry.kind), width))
    refuse(path, "holds lines of several points");
  read_arrays(*data->GetPointData(), Association::point, geometry);
  read_arrays(*data->GetCellData(), Association::cell, geometry);
  return geometry;
}

// Whether the file's last tag is there: some files that were cut off VTK reads as empty ones without a word.
bool is_whole(const fs::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto size = std::min<std::streamoff>(file.tellg(), 64);
  std::string end(static_cast<std::size_t>(std::max<std::streamoff>(size, 0)), '\0');
  file.seekg(-size, std::ios::end);
  file.read(end.data(), size);
  return end.find("</VTKFile>") != std::string::npos;
}

bool is_identity(const std::vector<int>& indices, Eigen::Index count) {
  if (static_cast<Eigen::Index>(indices.size()) != count) return false;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] != static_cast<int>(i)) return false;
  }
  return true;
}

}  // namespace

Geometry read_geometry(const fs::path& path) {
  if (!fs::is_regular_file(path)) refuse(path, "there is no such file");
  const std::string extension = path.extension().string();
  if (extension != ".vtp" && extension != ".vtu") refuse(path, "expected a .vtp or .vtu file");
  if (!is_whole(path)) refuse(path, "is not a whole VTK XML file");
  Geometry geometry =
      extension == ".vtp" ? read<vtkXMLPolyDataReader>(path) : read<vtkXMLUnstructuredGridReader>(path);
  if (geometry.kind == CellKind::points && is_identity(geometry.connectivity, geometry.points.rows())) {
    geometry.connectivity.clear();
  }
  return geometry;
}

}  // namespace exemplar
