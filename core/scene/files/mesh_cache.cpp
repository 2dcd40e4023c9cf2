#include "core/scene/files/mesh_cache.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <sstream>

#include "core/base/checksum.h"
#include "core/base/hash.h"
#include "core/output/atomic_file.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t k_format = 5;  // raise when what is stored or how volumes are made changes

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

bool read_volume(std::istream& in, Volume& volume) {
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
  return true;
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

bool read_surface(std::istream& in, TriMesh& mesh) {
  return read_matrix(in, mesh.vertices) && read_matrix(in, mesh.triangles);
}

}  // namespace

std::optional<fs::path> cache_entry(const std::string& name) {
  const std::optional<fs::path> directory = cache_directory();
  return directory ? std::optional<fs::path>(*directory / name) : std::nullopt;
}

std::optional<std::string> read_cache_entry(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::string contents{std::istreambuf_iterator<char>(in), {}};
  std::uint64_t expected = 0;
  if (contents.size() < sizeof expected) return std::nullopt;
  const std::size_t size = contents.size() - sizeof expected;
  std::memcpy(&expected, contents.data() + size, sizeof expected);
  contents.resize(size);
  return checksum(contents) == expected ? std::optional(std::move(contents)) : std::nullopt;
}

void write_cache_entry(const fs::path& path, std::string contents) {
  const std::uint64_t sum = checksum(contents);
  contents.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  try {
    write_file_atomically(path, contents);
  } catch (const OutputError&) {
  }
}

Volume cached_volume(const TriMesh& surface, const VolumeOptions& options) {
  const std::optional<fs::path> path = cache_entry(key_of(surface, options) + ".volume");
  if (!path) return build_volume(surface, options);
  if (const auto contents = read_cache_entry(*path)) {
    std::istringstream in(*contents, std::ios::binary);
    if (Volume volume; read_volume(in, volume)) return volume;
  }
  Volume volume = build_volume(surface, options);
  if (volume.time_limited) return volume;
  std::ostringstream out(std::ios::binary);
  write_volume(out, volume);
  write_cache_entry(*path, out.str());
  return volume;
}

TriMesh cached_surface(const std::string& description, const std::function<TriMesh()>& make) {
  Hasher hash;
  hash.add(k_format);
  hash.add(description.data(), description.size());
  const std::optional<fs::path> path = cache_entry(hash.text() + ".surface");
  if (!path) return make();
  if (const auto contents = read_cache_entry(*path)) {
    std::istringstream in(*contents, std::ios::binary);
    if (TriMesh mesh; read_surface(in, mesh)) return mesh;
  }
  TriMesh mesh = make();
  std::ostringstream out(std::ios::binary);
  write_matrix(out, mesh.vertices);
  write_matrix(out, mesh.triangles);
  write_cache_entry(*path, out.str());
  return mesh;
}

}  // namespace exemplar
