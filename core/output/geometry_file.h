// Geometry as VTK XML files: .vtp for points, lines, triangles and polygons, .vtu for tets and hexahedra;
// appended raw, compressed. The same geometry gives the same bytes. Numbers are stored as Float64 and Int32,
// so that what is read back equals what was written.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/output/fields.h"

namespace exemplar {

// ".vtp" or ".vtu".
std::string geometry_extension(CellKind kind);

// The element of a .vtp that holds cells of this kind; of a .vtu: Cells.
std::string cell_section(CellKind kind);

// The bytes of the file; `time` (s) is stored as the field array TimeValue.
std::string encode_geometry(const Geometry& geometry, double time);

// Back again, but for `series`; nothing when the bytes are not what encode_geometry makes. What the numbers say is not
// looked at: indices may point anywhere.
std::optional<Geometry> decode_geometry(std::string_view bytes);

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
// are each one vertex come back with empty connectivity. Throws InputError when it cannot be read, mixes kinds of cells,
// or holds indices without a point, points that are not finite or arrays of another length: whoever made the file, what
// comes back can be worked with. Files of other programs go through VTK, in a process of its own with limited memory.
Geometry read_geometry(const std::filesystem::path& path);

// Several named geometries at one moment: `path` (.vtm) refers to files in a folder beside it that has its
// stem as name. The blocks are written first, so the .vtm never lists a missing file. Returns what was written, relative
// to the folder of `path`. Throws OutputError.
std::vector<std::filesystem::path> write_vtm(const std::filesystem::path& path, double time,
                                             const std::vector<std::pair<std::string, Geometry>>& blocks);

}  // namespace exemplar
