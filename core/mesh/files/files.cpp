#include "core/mesh/files/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>

#include "core/base/errors.h"
#include "core/mesh/files/file_parsers.h"
#include "core/mesh/files/file_vtk.h"
#include "core/mesh/repair.h"
#include "core/mesh/topology.h"

namespace exemplar {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& message) {
  throw InputError(Problem{path, {}, message});
}

std::string extension_of(const std::string& path) {
  std::string extension = fs::path(path).extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return extension;
}

std::string content(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) fail(path, "there is no such file");
  if (fs::is_directory(status)) fail(path, "is a folder, not a mesh file");
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path, "cannot be opened for reading");
  constexpr std::uintmax_t most = 4ULL << 30;
  const std::uintmax_t size = fs::file_size(path, error);
  if (!error && size > most)
    fail(path, fmt::format("has {:.1f} GB; at most 4 are read", static_cast<double>(size) * 1e-9));
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) fail(path, "cannot be read to its end");
  if (bytes.find_first_not_of(" \t\r\n") == std::string::npos) fail(path, "is empty");
  return bytes;
}

// The format whose mark stands at the file's beginning; empty when it has none (OBJ, binary STL, TetGen).
std::string signature(std::string_view bytes) {
  const std::size_t begin = std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size());
  std::string_view head = bytes.substr(begin, 256);
  const auto starts = [&](std::string_view mark) { return head.starts_with(mark); };
  if (starts("ply\n") || starts("ply\r")) return ".ply";
  if (starts("# vtk DataFile")) return ".vtk";
  if (starts("$MeshFormat")) return ".msh";
  if (starts("MeshVersionFormatted")) return ".mesh";
  if (starts("solid ") || starts("solid\n")) return ".stl";
  if (starts("OFF") || starts("COFF") || starts("NOFF") || starts("CNOFF") || starts("STOFF")) return ".off";
  if (starts("<?xml") || starts("<VTKFile")) {
    if (head.find("PolyData") != std::string_view::npos) return ".vtp";
    if (head.find("UnstructuredGrid") != std::string_view::npos) return ".vtu";
    return "XML";
  }
  return {};
}

void check_signature(const std::string& path, const std::string& extension, std::string_view bytes) {
  const std::string found = signature(bytes);
  const bool marked = extension != ".obj" && extension != ".stl" && extension != ".node";
  if (!found.empty() && found != extension && !(found == ".stl" && extension == ".obj")) {
    fail(path, fmt::format("the content looks like {}, not {}", found, extension));
  }
  if (marked && found.empty()) fail(path, fmt::format("the content is not that of a {} file", extension));
}

std::string optional_content(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) ? content(path.string()) : std::string{};
}

RawMesh read_tetgen_files(const std::string& path) {
  const fs::path nodes = fs::path(path).replace_extension(".node");
  return parse_tetgen(content(nodes.string()), optional_content(fs::path(path).replace_extension(".ele")),
                      optional_content(fs::path(path).replace_extension(".face")));
}

RawMesh read_raw(const std::string& path) {
  const std::string extension = extension_of(path);
  const std::string bytes = content(path);
  if (extension == ".node" || extension == ".ele") return read_tetgen_files(path);
  static const std::array known{".obj", ".off", ".ply", ".stl", ".vtk", ".vtp", ".vtu", ".msh", ".mesh"};
  if (std::find(known.begin(), known.end(), extension) == known.end()) {
    fail(
        path,
        fmt::format(
            "the extension \"{}\" is not known; .obj .off .ply .stl .vtk .vtp .vtu .msh .mesh .node .ele are",
            extension));
  }
  check_signature(path, extension, bytes);
  if (extension == ".obj") return parse_obj(bytes);
  if (extension == ".off") return parse_off(bytes);
  if (extension == ".ply") return parse_ply(bytes);
  if (extension == ".stl") return parse_stl(bytes);
  if (extension == ".msh") return parse_gmsh(bytes);
  if (extension == ".mesh") return parse_medit(bytes);
  if (extension == ".vtk") return parse_vtk_legacy(bytes);
  return read_vtk(path, extension);
}

RawMesh read_checked(const std::string& path) {
  try {
    RawMesh mesh = read_raw(path);
    if (mesh.vertices.empty()) fail(path, "has no vertices");
    return mesh;
  } catch (const ParseError& error) {
    fail(path, error.message);
  } catch (const std::bad_alloc&) {
    fail(path, "does not fit into memory");
  } catch (const std::length_error&) {
    fail(path, "holds an impossible count");
  }
}

Points to_points(const std::string& path, const RawMesh& raw) {
  if (raw.vertices.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    fail(path, "has too many vertices");
  Points points(static_cast<Eigen::Index>(raw.vertices.size()), 3);
  for (std::size_t v = 0; v < raw.vertices.size(); ++v) {
    for (int k = 0; k < 3; ++k) {
      const double x = raw.vertices[v][static_cast<std::size_t>(k)];
      if (!std::isfinite(x))
        fail(path, fmt::format("vertex {} has a coordinate that is not a finite number", v));
      // Squares of lengths must stay finite as well.
      if (std::abs(x) > 1e100) fail(path, fmt::format("vertex {} has a coordinate beyond 1e100", v));
      points(static_cast<Eigen::Index>(v), k) = x;
    }
  }
  return points;
}

template <class Elements, std::size_t N>
Elements to_elements(const std::string& path, const std::vector<std::array<std::int64_t, N>>& list,
                     Eigen::Index vertices, const char* what) {
  if (list.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    fail(path, "has too many elements");
  Elements elements(static_cast<Eigen::Index>(list.size()), static_cast<Eigen::Index>(N));
  for (std::size_t e = 0; e < list.size(); ++e) {
    for (std::size_t k = 0; k < N; ++k) {
      const std::int64_t index = list[e][k];
      if (index < 0 || index >= vertices) {
        fail(path, fmt::format("{} {} uses vertex {} (counted from 0), but there are {}", what, e, index,
                               vertices));
      }
      elements(static_cast<Eigen::Index>(e), static_cast<Eigen::Index>(k)) = static_cast<int>(index);
    }
  }
  return elements;
}

TetMesh tets_of(const std::string& path, const RawMesh& raw, int* turned) {
  TetMesh mesh;
  mesh.vertices = to_points(path, raw);
  mesh.tets = to_elements<Tets>(path, raw.tets, mesh.vertices.rows(), "tet");
  const int count = orient_tets(mesh);
  if (turned) *turned = count;
  return mesh;
}

// Writes under another name first and renames when all is well.
void write_safely(const std::string& path, const std::function<bool(const std::string&)>& write) {
  std::string temporary;
  for (int i = 0; temporary.empty() || fs::exists(fs::symlink_status(temporary)); ++i)
    temporary = fmt::format("{}.{}-{}.tmp", path, ::getpid(), i);
  std::error_code error;
  if (!write(temporary)) {
    fs::remove(temporary, error);
    fail(path, "cannot be written");
  }
  fs::rename(temporary, path, error);
  if (error) {
    fs::remove(temporary, error);
    fail(path, "cannot be written");
  }
}

bool write_obj(const std::string& path, const TriMesh& mesh) {
  std::ofstream file(path, std::ios::binary);
  std::string line;
  for (Eigen::Index v = 0; v < mesh.vertices.rows(); ++v) {
    file << fmt::format("v {} {} {}\n", mesh.vertices(v, 0), mesh.vertices(v, 1), mesh.vertices(v, 2));
  }
  for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
    file << fmt::format("f {} {} {}\n", mesh.triangles(t, 0) + 1, mesh.triangles(t, 1) + 1,
                        mesh.triangles(t, 2) + 1);
  }
  file.close();
  return file.good();
}

bool write_ply(const std::string& path, const TriMesh& mesh) {
  std::ofstream file(path, std::ios::binary);
  file << fmt::format(
      "ply\nformat binary_little_endian 1.0\nelement vertex {}\nproperty double x\nproperty double "
      "y\nproperty double z\n"
      "element face {}\nproperty list uchar int vertex_indices\nend_header\n",
      mesh.vertices.rows(), mesh.triangles.rows());
  file.write(reinterpret_cast<const char*>(mesh.vertices.data()),
             static_cast<std::streamsize>(mesh.vertices.size() * static_cast<Eigen::Index>(sizeof(double))));
  for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
    file.put(3);
    file.write(reinterpret_cast<const char*>(mesh.triangles.data() + 3 * t), 3 * sizeof(int));
  }
  file.close();
  return file.good();
}

}  // namespace

TriMesh read_surface(const std::string& path) {
  const RawMesh raw = read_checked(path);
  if (raw.triangles.empty() && !raw.tets.empty()) return boundary_surface(tets_of(path, raw, nullptr));
  TriMesh mesh;
  mesh.vertices = to_points(path, raw);
  mesh.triangles = to_elements<Triangles>(path, raw.triangles, mesh.vertices.rows(), "triangle");
  if (mesh.triangles.rows() == 0) fail(path, "has no faces");
  return mesh;
}

TetMesh read_tets(const std::string& path, int* turned) {
  const RawMesh raw = read_checked(path);
  TetMesh mesh = tets_of(path, raw, turned);
  if (mesh.tets.rows() == 0) fail(path, "has no tets");
  return mesh;
}

bool has_tets(const std::string& path) {
  return !read_checked(path).tets.empty();
}

void write_surface(const std::string& path, const TriMesh& mesh) {
  const std::string extension = extension_of(path);
  write_safely(path, [&](const std::string& temporary) {
    if (extension == ".obj") return write_obj(temporary, mesh);
    if (extension == ".ply") return write_ply(temporary, mesh);
    if (extension == ".vtp") return write_vtp(temporary, mesh);
    fail(path, "surfaces are written as .obj, .ply or .vtp");
  });
}

void write_tets(const std::string& path, const TetMesh& mesh) {
  if (extension_of(path) != ".vtu") fail(path, "tets are written as .vtu");
  write_safely(path, [&](const std::string& temporary) { return write_vtu(temporary, mesh); });
}

void write_problems(const std::string& path, const SurfaceProblems& problems) {
  if (extension_of(path) != ".vtp") fail(path, "problems are written as .vtp");
  Edges lines(problems.boundary_edges.rows() + problems.non_manifold_edges.rows(), 2);
  lines << problems.boundary_edges, problems.non_manifold_edges;
  std::vector<int> marks(static_cast<std::size_t>(problems.boundary_edges.rows()), 1);
  marks.resize(static_cast<std::size_t>(lines.rows()), 2);
  const Triangles crossing = problems.surface.triangles(problems.crossing_triangles, Eigen::all);
  marks.resize(marks.size() + static_cast<std::size_t>(crossing.rows()), 3);
  write_safely(path, [&](const std::string& temporary) {
    return write_marked_vtp(temporary, problems.surface.vertices, lines, crossing, marks);
  });
}

}  // namespace exemplar
