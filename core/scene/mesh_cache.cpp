#include "core/scene/mesh_cache.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>

#include "core/base/hash.h"
#include "core/output/atomic_file.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t k_format = 4;  // raise when what is stored or how volumes are made changes

std::optional<fs::path> cache_directory() {
  if (const char* own = std::getenv("EXEMPLAR_CACHE")) {
    return std::string(own) == "off" || !*own ? std::nullopt : std::optional<fs::path>(own);
  }
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg) return fs::path(xdg) / "exemplar";
  if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache" / "exemplar";
  return std::nullopt;
}

std::string key_of(const TriMesh& surface, const VolumeOptions& o) {
  Hasher hash;
  hash.add(k_format);
  hash.add(surface.vertices.data(), static_cast<std::size_t>(surface.vertices.size()));
  hash.add(surface.triangles.data(), static_cast<std::size_t>(surface.triangles.size()));
  for (double value : {o.max_tet_volume, o.quality, o.min_dihedral, o.cage_cell, o.time_limit})
    hash.add(value);
  hash.add(static_cast<int>(o.splitting));
  hash.add(o.allow_cage ? 1 : 0);
  hash.add(o.force_cage ? 1 : 0);
  hash.add(o.max_surface_triangles);
  hash.add(o.max_tets);
  return hash.text();
}

template <class Matrix>
void write_matrix(std::ostream& out, const Matrix& matrix) {
  const std::int64_t rows = matrix.rows(), columns = matrix.cols();
  out.write(reinterpret_cast<const char*>(&rows), sizeof rows);
  out.write(reinterpret_cast<const char*>(&columns), sizeof columns);
  out.write(reinterpret_cast<const char*>(matrix.data()),
            static_cast<std::streamsize>(matrix.size() * static_cast<Eigen::Index>(sizeof(*matrix.data()))));
}

template <class Matrix>
bool read_matrix(std::istream& in, Matrix& matrix) {
  std::int64_t rows = 0, columns = 0;
  in.read(reinterpret_cast<char*>(&rows), sizeof rows);
  in.read(reinterpret_cast<char*>(&columns), sizeof columns);
  if (!in || rows < 0 || rows > (1LL << 31) || columns < 0 || columns > 4) return false;
  if (Matrix::ColsAtCompileTime != Eigen::Dynamic && columns != Matrix::ColsAtCompileTime) return false;
  matrix.resize(rows, columns);
  in.read(reinterpret_cast<char*>(matrix.data()),
          static_cast<std::streamsize>(matrix.size() * static_cast<Eigen::Index>(sizeof(*matrix.data()))));
  return static_cast<bool>(in);
}

bool read_volume(const fs::path& path, Volume& volume) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return false;
  char cage = 0;
  std::int64_t notes = 0;
  if (!read_matrix(in, volume.mesh.vertices) || !read_matrix(in, volume.mesh.tets) ||
      !read_matrix(in, volume.surface.tet) || !read_matrix(in, volume.surface.weights) ||
      !read_matrix(in, volume.fill)) {
    return false;
  }
  in.read(&cage, 1);
  in.read(reinterpret_cast<char*>(&notes), sizeof notes);
  if (!in || notes < 0 || notes > 1000) return false;
  volume.cage = cage != 0;
  for (std::int64_t i = 0; i < notes; ++i) {
    std::string note;
    if (!std::getline(in, note)) return false;
    volume.notes.push_back(note);
  }
  std::string end;
  return std::getline(in, end) && end == "end";
}

// A cache that cannot be written is no error.
void write_entry(const fs::path& path, const std::function<void(std::ostream&)>& write) {
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  std::ostringstream out(std::ios::binary);
  write(out);
  out << "end\n";
  try {
    write_file_atomically(path, out.str());
  } catch (const OutputError&) {
  }
}

void write_volume(std::ostream& out, const Volume& volume) {
  write_matrix(out, volume.mesh.vertices);
  write_matrix(out, volume.mesh.tets);
  write_matrix(out, volume.surface.tet);
  write_matrix(out, volume.surface.weights);
  write_matrix(out, volume.fill);
  const char cage = volume.cage ? 1 : 0;
  const auto notes = static_cast<std::int64_t>(volume.notes.size());
  out.write(&cage, 1);
  out.write(reinterpret_cast<const char*>(&notes), sizeof notes);
  for (const std::string& note : volume.notes) out << note << '\n';
}

bool read_surface_entry(const fs::path& path, TriMesh& mesh) {
  std::ifstream in(path, std::ios::binary);
  std::string end;
  return in && read_matrix(in, mesh.vertices) && read_matrix(in, mesh.triangles) && std::getline(in, end) &&
         end == "end";
}

}  // namespace

std::optional<fs::path> cache_entry(const std::string& name) {
  const std::optional<fs::path> directory = cache_directory();
  return directory ? std::optional<fs::path>(*directory / name) : std::nullopt;
}

Volume cached_volume(const TriMesh& surface, const VolumeOptions& options) {
  const std::optional<fs::path> directory = cache_directory();
  if (!directory) return build_volume(surface, options);
  const fs::path path = *directory / (key_of(surface, options) + ".volume");
  if (Volume volume; read_volume(path, volume)) return volume;
  Volume volume = build_volume(surface, options);
  write_entry(path, [&](std::ostream& out) { write_volume(out, volume); });
  return volume;
}

TriMesh cached_surface(const std::string& description, const std::function<TriMesh()>& make) {
  const std::optional<fs::path> directory = cache_directory();
  if (!directory) return make();
  Hasher hash;
  hash.add(k_format);
  hash.add(description.data(), description.size());
  const fs::path path = *directory / (hash.text() + ".surface");
  if (TriMesh mesh; read_surface_entry(path, mesh)) return mesh;
  TriMesh mesh = make();
  write_entry(path, [&](std::ostream& out) {
    write_matrix(out, mesh.vertices);
    write_matrix(out, mesh.triangles);
  });
  return mesh;
}

}  // namespace exemplar
