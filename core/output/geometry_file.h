// Geometry as VTK XML files: .vtp for points, lines, triangles and polygons, .vtu for tets and hexahedra;
// appended raw, compressed. The same geometry gives the same bytes. Numbers are stored as Float64 and Int32,
// so that what is read back equals what was written.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/output/fields.h"

namespace exemplar {

// ".vtp" or ".vtu".
std::string geometry_extension(CellKind kind);

// The bytes of the file; `time` (s) is stored as the field array TimeValue.
std::string encode_geometry(const Geometry& geometry, double time);

// The same for frame after frame: compressed blocks of arrays that did not change since the last frame are taken again. Keeps
// what it compressed of one frame of every series in memory.
class GeometryEncoder {
 public:
  GeometryEncoder();
  ~GeometryEncoder();
  std::string encode(const Geometry& geometry, double time);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> m_implementation;
};

// Writes `path` atomically; throws OutputError. The extension is the caller's:
// geometry_extension(geometry.kind).
void write_geometry(const std::filesystem::path& path, const Geometry& geometry, double time);

// Reads a .vtp or .vtu of one kind of cell; `series` is the file name without its frame number. Points that
// are each one vertex come back with empty connectivity. Throws InputError when it cannot be read or mixes
// kinds of cells.
Geometry read_geometry(const std::filesystem::path& path);

// Several named geometries at one moment: `path` (.vtm) refers to files in a folder beside it that has its
// stem as name. The blocks are written first, so the .vtm never lists a missing file. Returns what was written, relative
// to the folder of `path`. Throws OutputError.
std::vector<std::filesystem::path> write_vtm(const std::filesystem::path& path, double time,
                                             const std::vector<std::pair<std::string, Geometry>>& blocks);

}  // namespace exemplar
