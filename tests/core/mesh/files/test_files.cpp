#include "core/mesh/files/files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/base/errors.h"
#include "core/mesh/mass_properties.h"
#include "core/mesh/topology.h"
#include "tests/core/mesh/shapes.h"

namespace exemplar {
namespace {

namespace fs = std::filesystem;
using testing::box_surface;

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / fmt::format("exemplar_files_{}", ::getpid());
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string path(const std::string& name) const { return (folder / name).string(); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  // The message of the InputError that reading must give.
  std::string message(const std::string& file, bool tets = false) const {
    try {
      if (tets) {
        read_tets(file);
      } else {
        read_surface(file);
      }
    } catch (const InputError& error) {
      EXPECT_EQ(error.problems()[0].file, file);
      return error.what();
    }
    ADD_FAILURE() << file << " was read";
    return {};
  }

  fs::path folder;
};

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

// Coordinates with no short decimal form.
TriMesh odd_sphere() {
  TriMesh mesh = testing::sphere_surface(0.7, 7, 9);
  mesh.vertices =
      (mesh.vertices * testing::some_rotation()).rowwise() + Eigen::RowVector3d(1e-9, 3, -1e5 / 3);
  return mesh;
}

std::string numbers(const Points& points, const std::string& before, const std::string& after,
                    int first = -1) {
  std::string text;
  for (Eigen::Index i = 0; i < points.rows(); ++i) {
    text += before;
    if (first >= 0) text += fmt::format("{} ", first + i);
    text += fmt::format("{} {} {}{}\n", points(i, 0), points(i, 1), points(i, 2), after);
  }
  return text;
}

template <class Elements>
std::string rows(const Elements& elements, int first, const std::string& before, const std::string& after,
                 int number = -1) {
  std::string text;
  for (Eigen::Index e = 0; e < elements.rows(); ++e) {
    if (number >= 0) text += fmt::format("{} ", number + e);
    text += before;
    for (Eigen::Index k = 0; k < elements.cols(); ++k)
      text += fmt::format("{}{}", k ? " " : "", elements(e, k) + first);
    text += after + "\n";
  }
  return text;
}

template <class T>
void put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

TEST_F(Files, SurfacesComeBackBitForBit) {
  const TriMesh mesh = odd_sphere();
  for (const char* name : {"a.obj", "a.ply", "a.vtp"}) {
    write_surface(path(name), mesh);
    const TriMesh read = read_surface(path(name));
    EXPECT_TRUE(read.vertices == mesh.vertices) << name;
    EXPECT_TRUE(read.triangles == mesh.triangles) << name;
    for (const auto& item : fs::directory_iterator(fs::path(path(name)).parent_path()))
      EXPECT_NE(item.path().extension(), ".tmp") << item.path();
  }
}

TEST_F(Files, TextSurfaces) {
  const TriMesh mesh = odd_sphere();
  const auto v = mesh.vertices.rows();
  const auto t = mesh.triangles.rows();
  write("a.off", fmt::format("OFF\n# made for a test\n{} {} 0\n", v, t) + numbers(mesh.vertices, "", "") +
                     rows(mesh.triangles, 0, "3 ", ""));
  write("b.off", fmt::format("COFF {} {}\n", v, t) + numbers(mesh.vertices, "", " 255 0 0 255") +
                     rows(mesh.triangles, 0, "3 ", " 1 0 0"));
  write("a.ply",
        fmt::format("ply\nformat ascii 1.0\ncomment x\nelement vertex {}\nproperty double x\nproperty double "
                    "y\nproperty double z\nproperty uchar red\nelement face {}\nproperty list uchar int "
                    "vertex_index\nend_header\n",
                    v, t) +
            numbers(mesh.vertices, "", " 7") + rows(mesh.triangles, 0, "3 ", ""));
  write("a.mesh", fmt::format("MeshVersionFormatted 2\nDimension\n3\nVertices\n{}\n", v) +
                      numbers(mesh.vertices, "", " 0") + "Corners\n2\n1\n2\n" +
                      fmt::format("Triangles\n{}\n", t) + rows(mesh.triangles, 1, "", " 5") + "End\n");
  write("a.vtk",
        fmt::format("# vtk DataFile Version 3.0\ntest\nASCII\nDATASET POLYDATA\nPOINTS {} double\n", v) +
            numbers(mesh.vertices, "", "") + fmt::format("POLYGONS {} {}\n", t, 4 * t) +
            rows(mesh.triangles, 0, "3 ", ""));
  write("a.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n" + fmt::format("$Nodes\n{}\n", v) +
                     numbers(mesh.vertices, "", "", 1) + fmt::format("$EndNodes\n$Elements\n{}\n", t) +
                     rows(mesh.triangles, 1, "2 2 0 1 ", "", 1) + "$EndElements\n");
  write("a.node", fmt::format("{} 3 0 0\n", v) + numbers(mesh.vertices, "", "", 1));
  write("a.face", fmt::format("{} 1\n", t) + rows(mesh.triangles, 1, "", " -1", 1));
  for (const char* name : {"a.off", "b.off", "a.ply", "a.mesh", "a.vtk", "a.msh", "a.node"}) {
    const TriMesh read = read_surface(path(name));
    EXPECT_TRUE(read.triangles == mesh.triangles) << name;
    // VTK's own text parser is off by a unit in the last place now and then.
    EXPECT_LT((read.vertices - mesh.vertices).cwiseAbs().maxCoeff(), 1e-11) << name;
  }
}

TEST_F(Files, StlTextAndBinary) {
  const TriMesh box = box_surface(Vec3(-1, -2, -3), Vec3(1, 2, 3));
  std::string text = "solid box\n";
  std::string bytes(80, 's');
  put(bytes, static_cast<std::uint32_t>(12));
  for (int t = 0; t < 12; ++t) {
    text += "facet normal 0 0 0\n outer loop\n";
    for (int k = 0; k < 3; ++k) put(bytes, 0.0F);
    for (int k = 0; k < 3; ++k) {
      const auto x = box.vertices.row(box.triangles(t, k));
      text += fmt::format("  vertex {} {} {}\n", x[0], x[1], x[2]);
      for (int i = 0; i < 3; ++i) put(bytes, static_cast<float>(x[i]));
    }
    text += " endloop\nendfacet\n";
    put(bytes, static_cast<std::uint16_t>(0));
  }
  bytes.replace(0, 5, "solid");  // as some programs do
  for (const std::string& file : {write("t.stl", text + "endsolid box\n"), write("b.stl", bytes)}) {
    const TriMesh read = read_surface(file);
    EXPECT_EQ(read.vertices.rows(), 36);
    EXPECT_EQ(read.triangles.rows(), 12);
    EXPECT_NEAR(signed_volume(read.vertices, read.triangles), 48, 1e-12);
  }
}

TEST_F(Files, BigEndianPly) {
  std::string bytes =
      "ply\nformat binary_big_endian 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty "
      "float "
      "z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n";
  const auto big = [&](auto value) {
    std::string raw(reinterpret_cast<const char*>(&value), sizeof value);
    bytes.append(raw.rbegin(), raw.rend());
  };
  for (const float x : {0.F, 0.F, 0.F, 2.F, 0.F, 0.F, 0.F, 3.F, 0.F}) big(x);
  bytes += '\3';
  for (const std::int32_t i : {0, 1, 2}) big(i);
  const TriMesh read = read_surface(write("big.ply", bytes));
  EXPECT_NEAR(surface_area(read.vertices, read.triangles), 3, 1e-12);
}

TEST_F(Files, ObjVariants) {
  const TriMesh read =
      read_surface(write("quad.obj",
                         "# a quad\r\nmtllib x.mtl\r\no thing\r\nv 0 0 0\r\nv 1 0 0 0.5 0.5 0.5\r\nv 1 1 "
                         "0\r\nv 0 1 0\r\nvt 0 0\r\nvn 0 0 1\r\nf 1/1/1 2/1/1 3//1 -1\r\n"));
  EXPECT_EQ(read.triangles.rows(), 2);
  EXPECT_NEAR(surface_area(read.vertices, read.triangles), 1, 1e-15);
}

TEST_F(Files, TetsInEveryFormat) {
  const TetMesh mesh = box_tets(Vec3(1, 2, 3), {2, 3, 2});
  const auto v = mesh.vertices.rows();
  const auto t = mesh.tets.rows();
  write_tets(path("a.vtu"), mesh);
  write("a.mesh", fmt::format("MeshVersionFormatted 2\nDimension 3\nVertices {}\n", v) +
                      numbers(mesh.vertices, "", " 0") + fmt::format("Tetrahedra {}\n", t) +
                      rows(mesh.tets, 1, "", " 1") + "End\n");
  write("a.node", fmt::format("{} 3 0 0\n", v) + numbers(mesh.vertices, "", "", 0) + "# end\n");
  write("a.ele", fmt::format("{} 4 0\n", t) + rows(mesh.tets, 0, "", "", 0));
  write("v2.msh",
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"body\"\n$EndPhysicalNames\n" +
            fmt::format("$Nodes\n{}\n", v) + numbers(mesh.vertices, "", "", 1) +
            fmt::format("$EndNodes\n$Elements\n{}\n", t) + rows(mesh.tets, 1, "4 2 0 1 ", "", 1) +
            "$EndElements\n");
  std::string tags;
  for (int i = 1; i <= v; ++i) tags += fmt::format("{}\n", i);
  write("v4.msh", "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n" +
                      fmt::format("$Nodes\n1 {0} 1 {0}\n3 1 0 {0}\n", v) + tags +
                      numbers(mesh.vertices, "", "") +
                      fmt::format("$EndNodes\n$Elements\n1 {0} 1 {0}\n3 1 4 {0}\n", t) +
                      rows(mesh.tets, 1, "", "", 1) + "$EndElements\n");
  write("v40.msh", "$MeshFormat\n4 0 8\n$EndMeshFormat\n" + fmt::format("$Nodes\n1 {0}\n1 3 0 {0}\n", v) +
                       numbers(mesh.vertices, "", "", 1) +
                       fmt::format("$EndNodes\n$Elements\n1 {0}\n1 3 4 {0}\n", t) +
                       rows(mesh.tets, 1, "", "", 1) + "$EndElements\n");
  write(
      "a.vtk",
      fmt::format("# vtk DataFile Version 3.0\ntest\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {} double\n",
                  v) +
          numbers(mesh.vertices, "", "") + fmt::format("CELLS {} {}\n", t, 5 * t) +
          rows(mesh.tets, 0, "4 ", "") + fmt::format("CELL_TYPES {}\n", t) + [&] {
            std::string types;
            for (int i = 0; i < t; ++i) types += "10\n";
            return types;
          }());
  for (const char* name : {"a.vtu", "a.mesh", "a.node", "a.ele", "v2.msh", "v4.msh", "v40.msh", "a.vtk"}) {
    const TetMesh read = read_tets(path(name));
    EXPECT_TRUE(read.tets == mesh.tets) << name;
    EXPECT_LT((read.vertices - mesh.vertices).cwiseAbs().maxCoeff(), 1e-14) << name;
    // Asked for a surface, the same files give the border.
    const TriMesh surface = read_surface(path(name));
    EXPECT_NEAR(signed_volume(surface.vertices, surface.triangles), 6, 1e-12) << name;
  }
}

TEST_F(Files, BinaryGmsh) {
  const TetMesh mesh = box_tets(Vec3(1, 2, 3), {2, 1, 2});
  const auto v = static_cast<int>(mesh.vertices.rows());
  const auto t = static_cast<int>(mesh.tets.rows());
  std::string two = "$MeshFormat\n2.2 1 8\n";
  put(two, 1);
  two += fmt::format("\n$EndMeshFormat\n$Nodes\n{}\n", v);
  for (int i = 0; i < v; ++i) {
    put(two, i + 1);
    for (int k = 0; k < 3; ++k) put(two, mesh.vertices(i, k));
  }
  two += fmt::format("\n$EndNodes\n$Elements\n{}\n", t);
  for (const int value : {4, t, 2}) put(two, value);
  for (int e = 0; e < t; ++e) {
    for (const int value : {e + 1, 0, 1}) put(two, value);
    for (int k = 0; k < 4; ++k) put(two, mesh.tets(e, k) + 1);
  }
  two += "\n$EndElements\n";
  std::string four = "$MeshFormat\n4.1 1 8\n";
  put(four, 1);
  four += "\n$EndMeshFormat\n$Nodes\n";
  const auto wide = [&](int value) { put(four, static_cast<std::uint64_t>(value)); };
  for (const int value : {1, v, 1, v}) wide(value);
  for (const int value : {3, 1, 0}) put(four, value);
  wide(v);
  for (int i = 0; i < v; ++i) wide(i + 1);
  for (Eigen::Index i = 0; i < mesh.vertices.size(); ++i) put(four, mesh.vertices.data()[i]);
  four += "\n$EndNodes\n$Elements\n";
  for (const int value : {1, t, 1, t}) wide(value);
  for (const int value : {3, 1, 4}) put(four, value);
  wide(t);
  for (int e = 0; e < t; ++e) {
    wide(e + 1);
    for (int k = 0; k < 4; ++k) wide(mesh.tets(e, k) + 1);
  }
  four += "\n$EndElements\n";
  for (const std::string& file : {write("two.msh", two), write("four.msh", four)}) {
    const TetMesh read = read_tets(file);
    EXPECT_TRUE(read.tets == mesh.tets) << file;
    EXPECT_TRUE(read.vertices == mesh.vertices) << file;
  }
}

TEST_F(Files, InvertedTetsAreTurned) {
  write("a.node", "4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n");
  write("a.ele", "1 4 0\n0 1 0 2 3\n");
  int turned = 0;
  const TetMesh mesh = read_tets(path("a.ele"), &turned);
  EXPECT_EQ(turned, 1);
  EXPECT_GT(tet_volumes(mesh.vertices, mesh.tets)[0], 0);
}

TEST_F(Files, WrongFilesSayWhy) {
  expect_contains(message(path("nothing.obj")), "no such file");
  expect_contains(message(folder.string()), "folder");
  expect_contains(message(write("empty.obj", " \n\n")), "empty");
  expect_contains(message(write("a.xyz", "0 0 0\n")), ".xyz");
  expect_contains(message(write("ply.obj", "ply\nformat ascii 1.0\n")), "looks like .ply");
  expect_contains(message(write("text.ply", "v 0 0 0\n")), "not that of a .ply");
  expect_contains(message(write("text.obj", "Dear reader,\n")), "line 1");
  expect_contains(message(write("points.obj", "v 0 0 0\nv 1 0 0\n")), "no faces");
  expect_contains(message(write("nan.obj", "v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")), "finite");
  expect_contains(message(write("inf.obj", "v 0 0 1e999\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")), "finite");
  expect_contains(message(write("range.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n")), "uses vertex 3");
  expect_contains(message(write("zero.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n")), "line 4");
  expect_contains(message(write("number.obj", "v 0 0 0\nv 1 zero 0\n")), "line 2");
  expect_contains(message(write("short.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n")), "too early");
  expect_contains(message(write("short.stl", "solid x\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\n")),
                  "within");
  expect_contains(message(write("bytes.stl", std::string(200, '\1'))), "STL");
  expect_contains(
      message(write("a.vtu", "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\"><oops")), "VTK");
  expect_contains(
      message(write("a.vtk", "# vtk DataFile Version 3.0\nx\nASCII\nDATASET POLYDATA\nPOINTS 3 double\n")),
      "a.vtk");
  expect_contains(message(write("a.msh", "$MeshFormat\n1.0 0 8\n$EndMeshFormat\n")), "version");
  expect_contains(message(write("s.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"), true), "no tets");
  expect_contains(
      message(write("huge.ply",
                    "ply\nformat binary_little_endian 1.0\nelement vertex 999999999999\nproperty float "
                    "x\nend_header\nabc")),
      "too early");
}

// Truncations and changed bytes: an InputError or a mesh, never a crash.
TEST_F(Files, DamagedFilesNeverCrash) {
  const TetMesh tets = box_tets(Vec3(1, 2, 3), {1, 1, 1});
  const TriMesh box = box_surface(-Vec3::Ones(), Vec3::Ones());
  for (const char* name : {"a.obj", "a.ply", "a.vtp"}) write_surface(path(name), box);
  write_tets(path("a.vtu"), tets);
  write("b.vtk",
        "# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n0 0 0 1 0 0 0 1 0 "
        "0 0 "
        "1\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n");
  write("b.vtp.vtk",
        "# vtk DataFile Version 3.0\nx\nASCII\nDATASET POLYDATA\nPOINTS 3 double\n0 0 0 1 0 0 0 1 "
        "0\nPOLYGONS 1 4\n3 0 1 2\n");
  write(
      "a.msh",
      "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 4 1 4\n3 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n0 1 0\n0 0 "
      "1\n$EndNodes\n$Elements\n1 1 1 1\n3 1 4 1\n1 1 2 3 4\n$EndElements\n");
  write("a.mesh",
        "MeshVersionFormatted 2\nDimension 3\nVertices 3\n0 0 0 0\n1 0 0 0\n0 1 0 0\nTriangles 1\n1 2 3 "
        "0\nEnd\n");
  write("a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n");
  int read = 0;
  int refused = 0;
  for (const std::string name :
       {"a.obj", "a.ply", "a.vtp", "a.vtu", "b.vtk", "b.vtp.vtk", "a.msh", "a.mesh", "a.off"}) {
    std::ifstream file(path(name), std::ios::binary);
    const std::string good{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    for (std::uint64_t trial = 0; trial < 150; ++trial) {
      std::string bad = good;
      const auto pick = [&](std::uint64_t key, std::size_t count) {
        return static_cast<std::size_t>(uniform_random(trial, key) * static_cast<double>(count));
      };
      if (trial % 3 == 0) bad.resize(pick(1, bad.size()));
      for (std::uint64_t i = 0; i < 1 + trial % 4 && !bad.empty(); ++i) {
        const char* digits = "0123456789-. e/n";
        const bool digit = trial % 2 == 0;
        bad[pick(2 + i, bad.size())] =
            digit ? digits[pick(20 + i, 16)] : static_cast<char>(pick(40 + i, 256));
      }
      const std::string damaged = write("damaged" + name.substr(1), bad);
      try {
        const TriMesh mesh = read_surface(damaged);
        EXPECT_GE(mesh.triangles.minCoeff(), 0);
        EXPECT_LT(mesh.triangles.maxCoeff(), mesh.vertices.rows());
        EXPECT_TRUE(mesh.vertices.allFinite());
        ++read;
      } catch (const InputError&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(read, 50);
  EXPECT_GT(refused, 300);
}

TEST_F(Files, UnwritableFolderIsSaid) {
  EXPECT_THROW(write_surface(path("none/a.obj"), odd_sphere()), InputError);
  EXPECT_THROW(write_surface(path("none/a.vtp"), odd_sphere()), InputError);
  EXPECT_THROW(write_surface(path("a.doc"), odd_sphere()), InputError);
  EXPECT_THROW(write_tets(path("a.obj"), TetMesh{}), InputError);
}

TEST_F(Files, ProblemsAreMarked) {
  TriMesh open = testing::sphere_surface(1, 6, 8, true);
  const SurfaceProblems problems = find_problems(open, true);
  write_problems(path("p.vtp"), problems);
  EXPECT_GT(fs::file_size(path("p.vtp")), 500u);
}

}  // namespace
}  // namespace exemplar
