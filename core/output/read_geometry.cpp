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

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/child_process.h"
#include "core/base/errors.h"
#include "core/base/input_file.h"
#include "core/output/geometry_file.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

constexpr const char* k_unreadable = "is not a readable VTK file (damaged, or of another type)";

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
    std::vector<double> values = values_of(*array);
    const bool integer =
        array->GetDataType() != VTK_DOUBLE && array->GetDataType() != VTK_FLOAT &&
        std::all_of(values.begin(), values.end(), [](double v) { return std::abs(v) < 2e9; });
    geometry.arrays.push_back(
        {array->GetName(), on, array->GetNumberOfComponents(), integer, std::move(values)});
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
Geometry read(const fs::path& path, const std::string& bytes) {
  vtkNew<Reader> reader;
  vtkNew<ErrorObserver> errors;
  reader->AddObserver(vtkCommand::ErrorEvent, errors);
  reader->SetParserErrorObserver(errors);
  reader->GetExecutive()->AddObserver(vtkCommand::ErrorEvent, errors);
  reader->SetInputString(bytes);
  reader->ReadFromInputStringOn();
  reader->Update();
  auto* data = reader->GetOutput();
  if (errors->failed || !data) refuse(path, k_unreadable);
  Geometry geometry;
  geometry.kind = kind_of(*data, path);
  read_points(*data, geometry);
  vtkCellArray& cells = *cells_of(*data, geometry.kind);
  if (!cells.IsValid()) refuse(path, k_unreadable);
  read_cells(cells, geometry);
  const int width = points_per_cell(geometry.kind);
  if (width > 0 && !all_of_size(cells, width)) refuse(path, "holds lines of several points");
  read_arrays(*data->GetPointData(), Association::point, geometry);
  read_arrays(*data->GetCellData(), Association::cell, geometry);
  return geometry;
}

// Whether the file's last tag is there: some files that were cut off VTK reads as empty ones without a word.
bool is_whole(std::string_view bytes) {
  return bytes.substr(bytes.size() - std::min<std::size_t>(bytes.size(), 64)).find("</VTKFile>") !=
         std::string_view::npos;
}

bool read_and_send(const fs::path& path, const std::string& bytes, const ChildOutput& output) {
  std::string answer;
  try {
    answer =
        "+" + encode_geometry(path.extension() == ".vtp" ? read<vtkXMLPolyDataReader>(path, bytes)
                                                         : read<vtkXMLUnstructuredGridReader>(path, bytes),
                              0);
  } catch (const InputError& error) {
    answer = error.problems().front().message;
  }
  return output.send(answer.data(), answer.size());
}

// VTK takes a file's word for its sizes and indices.
Geometry read_in_child(const fs::path& path, const std::string& bytes) {
  constexpr double k_longest = 60;  // s
  const std::size_t memory = (std::size_t{1} << 30) + 64 * bytes.size();
  const ChildResult child = run_in_child(
      [&](const ChildOutput& output) { return read_and_send(path, bytes, output); }, k_longest, memory);
  if (!child.ok || child.bytes.empty()) refuse(path, k_unreadable);
  if (child.bytes[0] != '+') refuse(path, child.bytes);
  std::optional<Geometry> geometry = decode_geometry(std::string_view(child.bytes).substr(1));
  if (!geometry) refuse(path, k_unreadable);
  return std::move(*geometry);
}

std::string problem_of_cells(const Geometry& geometry) {
  for (const int index : geometry.connectivity) {
    if (index < 0 || index >= geometry.points.rows())
      return fmt::format("a cell uses point {}, but there are {}", index, geometry.points.rows());
  }
  int begin = 0;
  for (const int end : geometry.offsets) {
    if (end < begin + 3) return "a polygon has fewer than three corners";
    begin = end;
  }
  return "";
}

std::string problem_of(const Geometry& geometry) {
  if (!geometry.points.allFinite()) return "a point is not finite";
  if (const std::string problem = problem_of_cells(geometry); !problem.empty()) return problem;
  for (const FieldArray& array : geometry.arrays) {
    const std::size_t count = array.on == Association::point
                                  ? static_cast<std::size_t>(geometry.points.rows())
                                  : cell_count(geometry);
    if (array.values.size() != count * static_cast<std::size_t>(array.components))
      return fmt::format("the array '{}' has {} values for {} places", array.name, array.values.size(),
                         count);
  }
  return "";
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
  const std::string extension = path.extension().string();
  const std::string bytes = read_input(path);
  if (extension != ".vtp" && extension != ".vtu") refuse(path, "expected a .vtp or .vtu file");
  if (!is_whole(bytes)) refuse(path, "is not a whole VTK XML file");
  std::optional<Geometry> own = decode_geometry(bytes);
  Geometry geometry = own ? std::move(*own) : read_in_child(path, bytes);
  if (geometry_extension(geometry.kind) != extension) refuse(path, k_unreadable);
  if (const std::string problem = problem_of(geometry); !problem.empty()) refuse(path, problem);
  geometry.series = series_of(path);
  if (geometry.kind == CellKind::points && is_identity(geometry.connectivity, geometry.points.rows())) {
    geometry.connectivity.clear();
  }
  return geometry;
}

}  // namespace exemplar
