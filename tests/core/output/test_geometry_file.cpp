#include <gtest/gtest.h>
#include <vtkCellData.h>
#include <vtkCompositeDataSet.h>
#include <vtkDataArray.h>
#include <vtkFieldData.h>
#include <vtkInformation.h>
#include <vtkMultiBlockDataSet.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkUnstructuredGrid.h>
#include <vtkXMLMultiBlockDataReader.h>
#include <vtkXMLPolyDataReader.h>
#include <vtkXMLUnstructuredGridReader.h>

#include <limits>

#include "core/base/errors.h"
#include "core/base/random.h"
#include "core/output/atomic_file.h"
#include "core/output/geometry_file.h"
#include "output_support.h"

namespace exemplar::test {

namespace {

constexpr CellKind k_kinds[] = {CellKind::points,   CellKind::lines, CellKind::triangles,
                                CellKind::polygons, CellKind::tets,  CellKind::hexahedra};

TEST(GeometryFile, EveryKindComesBackExactly) {
  const TemporaryFolder folder;
  for (CellKind kind : k_kinds) {
    const Geometry written = small_geometry(kind, 0.3);
    const auto path = folder.path() / ("thing_00007" + geometry_extension(kind));
    write_geometry(path, written, 0.25);
    expect_equal(read_geometry(path), written);
  }
}

TEST(GeometryFile, EmptyGeometryKeepsItsKind) {
  const TemporaryFolder folder;
  for (CellKind kind : k_kinds) {
    Geometry written;
    written.series = "bonds";
    written.kind = kind;
    const auto path = folder.path() / ("bonds_00000" + geometry_extension(kind));
    write_geometry(path, written, 0);
    expect_equal(read_geometry(path), written);
  }
}

TEST(GeometryFile, PolygonsThatAreTrianglesStayPolygons) {
  const TemporaryFolder folder;
  Geometry written = small_geometry(CellKind::triangles, 1);
  written.kind = CellKind::polygons;
  written.offsets = {3, 6, 9};
  write_geometry(folder.path() / "thing.vtp", written, 0);
  expect_equal(read_geometry(folder.path() / "thing.vtp"), written);
}

// With VTK alone, as ParaView reads it.
TEST(GeometryFile, VtkReadsSurfaceTimeAndTypes) {
  const TemporaryFolder folder;
  const Geometry written = small_geometry(CellKind::triangles, 0.7);
  write_geometry(folder.path() / "a.vtp", written, 0.125);
  vtkNew<vtkXMLPolyDataReader> reader;
  reader->SetFileName((folder.path() / "a.vtp").c_str());
  reader->Update();
  vtkPolyData* data = reader->GetOutput();
  ASSERT_EQ(data->GetNumberOfPolys(), 3);
  EXPECT_EQ(data->GetNumberOfCells(), 3);
  for (int i = 0; i < 10; ++i) {
    for (int k = 0; k < 3; ++k) EXPECT_EQ(data->GetPoint(i)[k], written.points(i, k));
  }
  EXPECT_EQ(data->GetFieldData()->GetArray("TimeValue")->GetTuple1(0), 0.125);
  EXPECT_EQ(data->GetPointData()->GetArray("body")->GetDataType(), VTK_INT);
  EXPECT_EQ(data->GetPointData()->GetArray("velocity")->GetNumberOfComponents(), 3);
  EXPECT_EQ(data->GetCellData()->GetArray("damage")->GetTuple1(2), written.arrays[4].values[2]);
}

TEST(GeometryFile, VtkReadsTets) {
  const TemporaryFolder folder;
  const Geometry written = small_geometry(CellKind::tets, 0.7);
  write_geometry(folder.path() / "a.vtu", written, 2);
  vtkNew<vtkXMLUnstructuredGridReader> reader;
  reader->SetFileName((folder.path() / "a.vtu").c_str());
  reader->Update();
  vtkUnstructuredGrid* data = reader->GetOutput();
  ASSERT_EQ(data->GetNumberOfCells(), 2);
  EXPECT_EQ(data->GetCellType(1), VTK_TETRA);
  EXPECT_EQ(data->GetCell(1)->GetPointId(0), 9);
  EXPECT_EQ(data->GetFieldData()->GetArray("TimeValue")->GetTuple1(0), 2.0);
}

TEST(GeometryFile, SameGeometrySameBytes) {
  for (CellKind kind : k_kinds) {
    const std::string bytes = encode_geometry(small_geometry(kind, 0.3), 0.25);
    EXPECT_EQ(bytes, encode_geometry(small_geometry(kind, 0.3), 0.25));
    EXPECT_NE(bytes, encode_geometry(small_geometry(kind, 0.30000000001), 0.25));
  }
}

// Arrays of several blocks: random digits, few values, integers; what changes from frame to frame is told
// from what stays.
Geometry large_geometry(int frame) {
  Geometry geometry;
  geometry.series = "particles";
  geometry.kind = CellKind::points;
  geometry.points.resize(20000, 3);
  FieldArray few{"few", Association::point, 1, false, {}}, number{"number", Association::point, 1, true, {}};
  for (Eigen::Index i = 0; i < geometry.points.rows(); ++i) {
    for (int k = 0; k < 3; ++k)
      geometry.points(i, k) =
          uniform_random(static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(i + frame));
    few.values.push_back(i < 9000 * frame ? i % 7 / 7.0 : 0.1);
    number.values.push_back(static_cast<double>(i == 12345 * frame ? -1 : i / 3));
  }
  geometry.arrays = {few, number};
  return geometry;
}

TEST(GeometryFile, LargeArraysComeBackExactly) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "particles_00001.vtp";
  write_geometry(path, large_geometry(1), 0);
  expect_equal(read_geometry(path), large_geometry(1));
  // Positions are stored, the rest shrinks to less than a third.
  const auto size = static_cast<double>(std::filesystem::file_size(path));
  EXPECT_GT(size, 20000 * 24);
  EXPECT_LT(size, 20000 * (24 + 0.33 * (8 + 4 + 4 + 4)));
}

TEST(GeometryFile, FramesDoNotDependOnThoseBefore) {
  GeometryEncoder encoder;
  for (const int frame : {0, 0, 1, 2, 1}) {
    const Geometry geometry = large_geometry(frame);
    EXPECT_TRUE(encoder.encode(geometry, frame) == encode_geometry(geometry, frame)) << frame;
  }
  const Geometry small = small_geometry(CellKind::points, 0.3);
  EXPECT_TRUE(encoder.encode(small, 0) == encode_geometry(small, 0));
}

TEST(GeometryFile, MultiBlockHasNamedBlocks) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "side_by_side_00003.vtm";
  write_vtm(path, 0.5,
            {{"fem, \"no\" <examples> & more", small_geometry(CellKind::triangles, 1)},
             {"shell", small_geometry(CellKind::hexahedra, 2)}});
  vtkNew<vtkXMLMultiBlockDataReader> reader;
  reader->SetFileName(path.c_str());
  reader->Update();
  auto* blocks = vtkMultiBlockDataSet::SafeDownCast(reader->GetOutput());
  ASSERT_TRUE(blocks);
  ASSERT_EQ(blocks->GetNumberOfBlocks(), 2u);
  EXPECT_STREQ(blocks->GetMetaData(0u)->Get(vtkCompositeDataSet::NAME()), "fem, \"no\" <examples> & more");
  EXPECT_EQ(vtkPolyData::SafeDownCast(blocks->GetBlock(0))->GetNumberOfPolys(), 3);
  EXPECT_EQ(vtkUnstructuredGrid::SafeDownCast(blocks->GetBlock(1))->GetNumberOfCells(), 2);
}

TEST(GeometryFile, WrongArraySizeIsAProgrammingError) {
  Geometry geometry = small_geometry(CellKind::triangles, 1);
  geometry.arrays[0].values.pop_back();
  EXPECT_THROW(encode_geometry(geometry, 0), std::logic_error);
}

TEST(GeometryFile, DamagedAndMissingFilesAreRefused) {
  const TemporaryFolder folder;
  EXPECT_THROW(read_geometry(folder.path() / "missing.vtp"), InputError);
  EXPECT_THROW(read_geometry(folder.path()), InputError);
  const std::string bytes = encode_geometry(small_geometry(CellKind::triangles, 1), 0);
  for (std::size_t size = 0; size + 1 < bytes.size(); size += bytes.size() / 71) {
    write_file_atomically(folder.path() / "cut.vtp", bytes.substr(0, size));
    EXPECT_THROW(read_geometry(folder.path() / "cut.vtp"), InputError) << size << " of " << bytes.size();
  }
  write_file_atomically(folder.path() / "text.vtp", "no XML at all");
  EXPECT_THROW(read_geometry(folder.path() / "text.vtp"), InputError);
  write_file_atomically(folder.path() / "other.vtu", bytes);
  EXPECT_THROW(read_geometry(folder.path() / "other.vtu"), InputError);
}

// Whatever is read can be worked with: no index leads nowhere.
void expect_usable(const Geometry& geometry) {
  for (const int index : geometry.connectivity) ASSERT_TRUE(index >= 0 && index < geometry.points.rows());
  int begin = 0;
  for (const int end : geometry.offsets) {
    ASSERT_GT(end, begin);
    begin = end;
  }
  if (geometry.kind == CellKind::polygons) {
    ASSERT_EQ(static_cast<std::size_t>(begin), geometry.connectivity.size());
  }
  ASSERT_TRUE(geometry.points.allFinite());
  for (const FieldArray& array : geometry.arrays) {
    const std::size_t count = array.on == Association::point
                                  ? static_cast<std::size_t>(geometry.points.rows())
                                  : cell_count(geometry);
    ASSERT_EQ(array.values.size(), count * static_cast<std::size_t>(array.components));
  }
}

TEST(GeometryFile, MutatedFilesAreUsableOrRefused) {
  const TemporaryFolder folder;
  int refused = 0;
  for (int i = 0; i < 600; ++i) {
    const CellKind kind = k_kinds[i % 6];
    std::string bytes = encode_geometry(small_geometry(kind, 1), 0);
    for (int k = 0; k < 1 + i % 3; ++k) {
      const auto draw = [&](int what) {
        return static_cast<std::size_t>(
            1e9 * uniform_random(5, static_cast<std::uint64_t>(100 * i + 10 * k + what)));
      };
      bytes[draw(0) % bytes.size()] = static_cast<char>(draw(1));
    }
    const auto path = folder.path() / ("thing" + geometry_extension(kind));
    write_file_atomically(path, bytes);
    try {
      expect_usable(read_geometry(path));
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 300);
}

TEST(GeometryFile, IndicesWithoutAPointAreRefused) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "thing.vtp";
  for (const int index : {-1, 1000000, std::numeric_limits<int>::min()}) {
    Geometry geometry = small_geometry(CellKind::triangles, 1);
    geometry.connectivity[2] = index;
    write_geometry(path, geometry, 0);
    EXPECT_THROW(read_geometry(path), InputError) << index;
  }
  Geometry geometry = small_geometry(CellKind::triangles, 1);
  geometry.points(0, 0) = std::numeric_limits<double>::quiet_NaN();
  write_geometry(path, geometry, 0);
  EXPECT_THROW(read_geometry(path), InputError);
}

}  // namespace

}  // namespace exemplar::test
