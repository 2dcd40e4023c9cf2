#include "core/mesh/pieces.h"

#include <gtest/gtest.h>

#include <set>

#include "core/base/errors.h"
#include "core/mesh/mass_properties.h"
#include "core/mesh/volume/tetrahedralize.h"

namespace exemplar {

namespace {

TetMesh bar() {
  return box_tets(Vec3(4, 1, 1), {16, 4, 4});
}

std::vector<double> volumes_of(const TetMesh& mesh, const Pieces& pieces) {
  std::vector<double> volumes(static_cast<std::size_t>(pieces.count), 0);
  const VecX each = tet_volumes(mesh.vertices, mesh.tets);
  for (Eigen::Index t = 0; t < each.size(); ++t)
    volumes[static_cast<std::size_t>(pieces.of_tet[static_cast<std::size_t>(t)])] += each[t];
  return volumes;
}

}  // namespace

TEST(Pieces, APlaneBetweenCellsCutsExactlyThere) {
  const TetMesh mesh = bar();
  const std::vector<CutPlane> planes{{Vec3(-1, 0, 0), Vec3::UnitX()}};
  const Pieces pieces = cut_by_planes(mesh, planes);
  ASSERT_EQ(pieces.count, 2);
  const std::vector<double> volumes = volumes_of(mesh, pieces);
  EXPECT_NEAR(volumes[0], 1, 1e-12);
  EXPECT_NEAR(volumes[1], 3, 1e-12);
  const std::vector<Cut> cuts = cuts_between(mesh, pieces);
  ASSERT_EQ(cuts.size(), 1u);
  EXPECT_NEAR(cuts[0].area, 1, 1e-12);
  EXPECT_LT((cuts[0].centre - Vec3(-1, 0, 0)).norm(), 1e-12);
  const Vec3 a = mesh.vertices.row(cuts[0].faces(0, 0)), b = mesh.vertices.row(cuts[0].faces(0, 1)),
             c = mesh.vertices.row(cuts[0].faces(0, 2));
  EXPECT_GT((b - a).cross(c - a).x(), 0);  // piece 0 lies at −x: its outside is +x
}

TEST(Pieces, CellsFillTheBodyAndDependOnTheSeedOnly) {
  const TetMesh mesh = bar();
  const Pieces pieces = cut_by_cells(mesh, 5, 3);
  EXPECT_GE(pieces.count, 5);
  double sum = 0;
  for (const double volume : volumes_of(mesh, pieces)) {
    EXPECT_GT(volume, 0.2);
    sum += volume;
  }
  EXPECT_NEAR(sum, 4, 1e-12);
  EXPECT_EQ(cut_by_cells(mesh, 5, 3).of_tet, pieces.of_tet);
  EXPECT_NE(cut_by_cells(mesh, 5, 4).of_tet, pieces.of_tet);
}

TEST(Pieces, OneLabelInTwoPlacesIsTwoPieces) {
  const TetMesh mesh = bar();
  const std::vector<CutPlane> planes{{Vec3(-1, 0, 0), Vec3::UnitX()}, {Vec3(1, 0, 0), Vec3::UnitX()}};
  std::vector<int> labels = cut_by_planes(mesh, planes).of_tet;
  for (int& label : labels) label = label == 2 ? 0 : label;
  EXPECT_EQ(cut_by_labels(mesh, labels).count, 3);
}

TEST(Pieces, LabelsMustCoverEveryTet) {
  EXPECT_THROW(cut_by_labels(bar(), {1, 2, 3}), InputError);
}

}  // namespace exemplar
