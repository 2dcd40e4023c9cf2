// Decimation that keeps a subset of the vertices (vtkDecimatePro), so that every frame can be thinned alike.
#include <vtkCellArray.h>
#include <vtkDecimatePro.h>
#include <vtkIntArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>

#include <numeric>

#include "compare/report/export.h"

namespace exemplar {

namespace {

vtkNew<vtkPolyData> to_poly_data(const TriMesh& mesh) {
  vtkNew<vtkPolyData> data;
  vtkNew<vtkPoints> points;
  vtkNew<vtkIntArray> ids;
  vtkNew<vtkCellArray> cells;
  ids->SetName("vertex");
  for (Eigen::Index i = 0; i < mesh.vertices.rows(); ++i) {
    points->InsertNextPoint(mesh.vertices(i, 0), mesh.vertices(i, 1), mesh.vertices(i, 2));
    ids->InsertNextValue(static_cast<int>(i));
  }
  for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
    const vtkIdType corners[3] = {mesh.triangles(t, 0), mesh.triangles(t, 1), mesh.triangles(t, 2)};
    cells->InsertNextCell(3, corners);
  }
  data->SetPoints(points);
  data->SetPolys(cells);
  data->GetPointData()->AddArray(ids);
  return data;
}

Decimated everything(const TriMesh& mesh) {
  Decimated all{std::vector<int>(static_cast<std::size_t>(mesh.vertices.rows())), mesh.triangles};
  std::iota(all.vertices.begin(), all.vertices.end(), 0);
  return all;
}

}  // namespace

Decimated decimate(const TriMesh& mesh, int target) {
  if (mesh.vertices.rows() <= target) return everything(mesh);
  vtkNew<vtkDecimatePro> filter;
  filter->SetInputData(to_poly_data(mesh));
  filter->SetTargetReduction(1.0 - static_cast<double>(target) / static_cast<double>(mesh.vertices.rows()));
  filter->PreserveTopologyOn();
  filter->SplittingOff();
  filter->Update();
  vtkPolyData* thin = filter->GetOutput();
  auto* ids = vtkIntArray::SafeDownCast(thin->GetPointData()->GetArray("vertex"));
  if (!ids || thin->GetNumberOfPolys() == 0) return everything(mesh);
  Decimated result;
  for (vtkIdType i = 0; i < thin->GetNumberOfPoints(); ++i) result.vertices.push_back(ids->GetValue(i));
  result.triangles.resize(thin->GetNumberOfPolys(), 3);
  vtkNew<vtkIdList> corners;
  for (vtkIdType t = 0; t < thin->GetNumberOfPolys(); ++t) {
    thin->GetPolys()->GetCellAtId(t, corners);
    for (int k = 0; k < 3; ++k) result.triangles(t, k) = static_cast<int>(corners->GetId(k));
  }
  return result;
}

}  // namespace exemplar
