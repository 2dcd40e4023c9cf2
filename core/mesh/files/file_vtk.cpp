// VTK's formats through VTK's readers and writers; the only place of this folder that includes VTK.
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkCellType.h>
#include <vtkDoubleArray.h>
#include <vtkIdList.h>
#include <vtkIntArray.h>
#include <vtkLogger.h>
#include <vtkNew.h>
#include <vtkObjectFactory.h>
#include <vtkOutputWindow.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkUnstructuredGrid.h>
#include <vtkXMLPolyDataReader.h>
#include <vtkXMLPolyDataWriter.h>
#include <vtkXMLUnstructuredGridReader.h>
#include <vtkXMLUnstructuredGridWriter.h>

#include <vtkCommand.h>

#include <algorithm>

#include "core/base/child_process.h"
#include "core/mesh/files/file_parsers.h"
#include "core/mesh/files/file_vtk.h"

namespace exemplar {

namespace {

// Keeps VTK's error texts off the terminal and remembers the last one.
class ErrorKeeper : public vtkCommand {
 public:
  static ErrorKeeper* New() { return new ErrorKeeper; }
  void Execute(vtkObject*, unsigned long, void* data) override {
    failed = true;
    if (data) text = static_cast<const char*>(data);
  }
  bool failed = false;
  std::string text;
};

// XML and archive parsers inside the readers report to the global window; it stays silent meanwhile.
class SilentWindow : public vtkOutputWindow {
 public:
  static SilentWindow* New();
  vtkTypeMacro(SilentWindow, vtkOutputWindow) void DisplayText(const char*) override {}
  void DisplayErrorText(const char*) override { failed = true; }
  bool failed = false;
};
vtkStandardNewMacro(SilentWindow);

class Silence {
 public:
  Silence() : m_before(vtkOutputWindow::GetInstance()), m_verbosity(vtkLogger::GetCurrentVerbosityCutoff()) {
    vtkOutputWindow::SetInstance(m_window);
    vtkLogger::SetStderrVerbosity(vtkLogger::VERBOSITY_OFF);
  }
  ~Silence() {
    vtkLogger::SetStderrVerbosity(m_verbosity);
    vtkOutputWindow::SetInstance(m_before);
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;
  bool failed() const { return m_window->failed; }

 private:
  vtkSmartPointer<vtkOutputWindow> m_before;
  vtkLogger::Verbosity m_verbosity;
  vtkNew<SilentWindow> m_window;
};

// Walks a cell array without trusting it.
template <class TypeOf>
void add_cells(vtkCellArray* cells, const TypeOf& type_of, RawMesh& mesh) {
  if (!cells || cells->GetNumberOfCells() == 0) return;
  if (!cells->IsValid()) throw ParseError{"the cells are damaged"};
  vtkNew<vtkIdList> corners;
  for (vtkIdType c = 0; c < cells->GetNumberOfCells(); ++c) {
    cells->GetCellAtId(c, corners);
    const std::vector<std::int64_t> list(corners->begin(), corners->end());
    mesh.add_vtk_cell(type_of(c), list);
  }
}

RawMesh convert(vtkDataObject* object) {
  RawMesh mesh;
  auto* points = vtkPointSet::SafeDownCast(object);
  if (!points || !points->GetPoints() || points->GetNumberOfPoints() == 0) throw ParseError{"no points"};
  for (vtkIdType i = 0; i < points->GetNumberOfPoints(); ++i) {
    std::array<double, 3> x{};
    points->GetPoint(i, x.data());
    mesh.vertices.push_back(x);
  }
  if (auto* poly = vtkPolyData::SafeDownCast(object)) {
    add_cells(
        poly->GetPolys(), [](vtkIdType) { return VTK_POLYGON; }, mesh);
    add_cells(
        poly->GetStrips(), [](vtkIdType) { return VTK_TRIANGLE_STRIP; }, mesh);
  } else if (auto* grid = vtkUnstructuredGrid::SafeDownCast(object)) {
    vtkUnsignedCharArray* types = grid->GetCellTypesArray();
    if (grid->GetCells() && grid->GetCells()->GetNumberOfCells() > 0 &&
        (!types || types->GetNumberOfValues() != grid->GetCells()->GetNumberOfCells())) {
      throw ParseError{"cell types are missing"};
    }
    add_cells(
        grid->GetCells(), [&](vtkIdType c) { return static_cast<int>(types->GetValue(c)); }, mesh);
  } else {
    throw ParseError{"neither poly data nor an unstructured grid"};
  }
  return mesh;
}

template <class Reader>
RawMesh read_with(const std::string& bytes) {
  const Silence silence;
  vtkNew<Reader> reader;
  vtkNew<ErrorKeeper> errors;
  reader->AddObserver(vtkCommand::ErrorEvent, errors);
  reader->SetInputString(bytes);
  reader->ReadFromInputStringOn();
  reader->Update();
  if (errors->failed || silence.failed() || reader->GetErrorCode() != 0)
    throw ParseError{"VTK cannot read it"};
  return convert(reader->GetOutputDataObject(0));
}

vtkSmartPointer<vtkPoints> to_points(const Points& points) {
  auto result = vtkSmartPointer<vtkPoints>::New();
  result->SetDataTypeToDouble();
  result->SetNumberOfPoints(points.rows());
  for (Eigen::Index i = 0; i < points.rows(); ++i)
    result->SetPoint(i, points(i, 0), points(i, 1), points(i, 2));
  return result;
}

template <class Elements>
vtkSmartPointer<vtkCellArray> to_cells(const Elements& elements) {
  auto result = vtkSmartPointer<vtkCellArray>::New();
  for (Eigen::Index e = 0; e < elements.rows(); ++e) {
    result->InsertNextCell(static_cast<int>(elements.cols()));
    for (Eigen::Index k = 0; k < elements.cols(); ++k) result->InsertCellPoint(elements(e, k));
  }
  return result;
}

template <class Writer, class Data>
bool write_with(const std::string& path, Data* data) {
  const Silence silence;
  vtkNew<Writer> writer;
  writer->SetFileName(path.c_str());
  writer->SetInputData(data);
  return writer->Write() == 1 && writer->GetErrorCode() == 0;
}

}  // namespace

namespace {

// Damaged compressed blocks make VTK allocate and fill many gigabytes, so the reader works in a child.
bool read_and_send(const std::string& bytes, const std::string& extension, const ChildOutput& output) {
  const RawMesh mesh = extension == ".vtp" ? read_with<vtkXMLPolyDataReader>(bytes)
                                           : read_with<vtkXMLUnstructuredGridReader>(bytes);
  const std::uint64_t counts[3] = {mesh.vertices.size(), mesh.triangles.size(), mesh.tets.size()};
  return output.send(counts, sizeof counts) && output.send(mesh.vertices.data(), mesh.vertices.size() * 24) &&
         output.send(mesh.triangles.data(), mesh.triangles.size() * 24) &&
         output.send(mesh.tets.data(), mesh.tets.size() * 32);
}

template <class Item>
void unpack(const std::string& bytes, std::size_t& position, std::uint64_t count, std::vector<Item>& items) {
  items.resize(count);
  if (bytes.size() - position < count * sizeof(Item)) throw ParseError{"VTK cannot read it"};
  std::memcpy(items.data(), bytes.data() + position, count * sizeof(Item));
  position += count * sizeof(Item);
}

}  // namespace

RawMesh read_vtk(const std::string& bytes, const std::string& extension) {
  // Compressed meshes grow by some tens; the first gigabyte is for the libraries.
  const std::size_t memory = (std::size_t{1} << 30) + 64 * bytes.size();
  const ChildResult child = run_in_child(
      [&](const ChildOutput& output) {
        try {
          return read_and_send(bytes, extension, output);
        } catch (const ParseError& problem) {
          const std::uint64_t none = ~std::uint64_t{0};
          return output.send(&none, sizeof none) &&
                 output.send(problem.message.data(), problem.message.size());
        }
      },
      300, memory);
  if (!child.ok) throw ParseError{"VTK cannot read it"};
  std::uint64_t counts[3] = {};
  std::memcpy(counts, child.bytes.data(), std::min(sizeof counts, child.bytes.size()));
  if (counts[0] == ~std::uint64_t{0}) throw ParseError{child.bytes.substr(sizeof counts[0])};
  RawMesh mesh;
  std::size_t position = sizeof counts;
  unpack(child.bytes, position, counts[0], mesh.vertices);
  unpack(child.bytes, position, counts[1], mesh.triangles);
  unpack(child.bytes, position, counts[2], mesh.tets);
  return mesh;
}

bool write_vtp(const std::string& path, const TriMesh& mesh) {
  vtkNew<vtkPolyData> data;
  data->SetPoints(to_points(mesh.vertices));
  data->SetPolys(to_cells(mesh.triangles));
  return write_with<vtkXMLPolyDataWriter>(path, data.Get());
}

bool write_vtu(const std::string& path, const TetMesh& mesh) {
  vtkNew<vtkUnstructuredGrid> data;
  data->SetPoints(to_points(mesh.vertices));
  data->SetCells(VTK_TETRA, to_cells(mesh.tets));
  return write_with<vtkXMLUnstructuredGridWriter>(path, data.Get());
}

bool write_marked_vtp(const std::string& path, const Points& points, const Edges& lines,
                      const Triangles& triangles, const std::vector<int>& marks) {
  vtkNew<vtkPolyData> data;
  data->SetPoints(to_points(points));
  data->SetLines(to_cells(lines));
  data->SetPolys(to_cells(triangles));
  vtkNew<vtkIntArray> array;
  array->SetName("problem");
  for (const int mark : marks) array->InsertNextValue(mark);
  data->GetCellData()->AddArray(array);
  return write_with<vtkXMLPolyDataWriter>(path, data.Get());
}

}  // namespace exemplar
