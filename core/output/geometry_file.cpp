#include "core/output/geometry_file.h"

#include <fmt/format.h>

#include "core/output/atomic_file.h"
#include "core/output/pvd_file.h"

namespace exemplar {

namespace fs = std::filesystem;

std::string geometry_extension(CellKind kind) {
  return kind == CellKind::tets || kind == CellKind::hexahedra ? ".vtu" : ".vtp";
}

void write_geometry(const fs::path& path, const Geometry& geometry, double time) {
  write_file_atomically(path, encode_geometry(geometry, time));
}

std::vector<fs::path> write_vtm(const fs::path& path, double time,
                                const std::vector<std::pair<std::string, Geometry>>& blocks) {
  std::vector<fs::path> files{path.filename()};
  const fs::path folder = path.parent_path() / path.stem();
  if (!blocks.empty()) make_writable_directory(folder);
  std::string text =
      "<?xml version=\"1.0\"?>\n"
      "<VTKFile type=\"vtkMultiBlockDataSet\" version=\"1.0\" byte_order=\"LittleEndian\" "
      "header_type=\"UInt64\">\n"
      "  <vtkMultiBlockDataSet>\n";
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto& [name, geometry] = blocks[i];
    const std::string file = fmt::format("block_{:02}{}", i, geometry_extension(geometry.kind));
    write_geometry(folder / file, geometry, time);
    files.push_back(path.stem() / file);
    text += fmt::format("    <DataSet index=\"{}\" name=\"{}\" file=\"{}\"/>\n", i, escape_xml(name),
                        escape_xml((path.stem() / file).generic_string()));
  }
  text += "  </vtkMultiBlockDataSet>\n</VTKFile>\n";
  write_file_atomically(path, text);
  return files;
}

}  // namespace exemplar
