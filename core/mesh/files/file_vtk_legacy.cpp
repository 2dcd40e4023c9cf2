// Legacy .vtk files (poly data and unstructured grids, versions up to 5.1, ASCII and binary). VTK's own
// reader crashes on damaged files of this kind, so these are read here; cells become triangles and tets as in
// the XML formats.
#include <fmt/format.h>

#include <bit>

#include "core/mesh/files/file_parsers.h"

namespace exemplar {

namespace {

class LegacyReader {
 public:
  explicit LegacyReader(std::string_view bytes) : m_bytes(bytes), m_scan(bytes) {}

  TextScanner& scan() { return m_scan; }
  void set_binary() { m_binary = true; }
  bool binary() const { return m_binary; }

  // Binary values begin behind the line that announces them.
  void begin_values() {
    if (m_binary) m_scan.skip_line();
  }
  double real(std::string_view type) {
    if (!m_binary) return m_scan.number();
    if (type == "double") return take<double>();
    if (type == "float") return static_cast<double>(take<float>());
    return static_cast<double>(integer(type));
  }
  std::int64_t integer(std::string_view type) {
    if (!m_binary) return m_scan.integer();
    if (type == "int" || type == "vtkIdType") return take<std::int32_t>();
    if (type == "vtktypeint64" || type == "long") return take<std::int64_t>();
    if (type == "unsigned_char" || type == "char") return take<std::uint8_t>();
    if (type == "short") return take<std::int16_t>();
    throw ParseError{fmt::format("values of type \"{}\" are not read", type.substr(0, 20))};
  }

 private:
  template <class T>
  T take() {
    ByteReader reader(m_bytes, m_scan.position(), std::endian::native == std::endian::little);
    const T value = reader.take<T>();
    m_scan.jump(reader.position());
    return value;
  }

  std::string_view m_bytes;
  TextScanner m_scan;
  bool m_binary = false;
};

using Cells = std::vector<std::vector<std::int64_t>>;

// "POLYGONS cells values" followed by count and corners of each cell.
Cells counted_cells(LegacyReader& in, std::int64_t count) {
  Cells cells;
  in.begin_values();
  for (std::int64_t c = 0; c < count; ++c) {
    auto& cell = cells.emplace_back();
    for (std::int64_t k = in.integer("int"); k > 0; --k) cell.push_back(in.integer("int"));
  }
  return cells;
}

// From version 5 on: "POLYGONS offsets corners", then OFFSETS type … CONNECTIVITY type …
Cells offset_cells(LegacyReader& in, std::int64_t offset_count, std::int64_t corner_count) {
  const auto values = [&](const char* name, std::int64_t count) {
    if (in.scan().word() != name) in.scan().fail(fmt::format("expected {}", name));
    const std::string type(in.scan().word());
    in.begin_values();
    std::vector<std::int64_t> list;
    for (std::int64_t i = 0; i < count; ++i) list.push_back(in.integer(type));
    return list;
  };
  const std::vector<std::int64_t> offsets = values("OFFSETS", offset_count);
  const std::vector<std::int64_t> corners = values("CONNECTIVITY", corner_count);
  Cells cells;
  for (std::size_t c = 1; c < offsets.size(); ++c) {
    const std::int64_t begin = offsets[c - 1];
    const std::int64_t end = offsets[c];
    if (begin < 0 || end < begin || end > static_cast<std::int64_t>(corners.size())) {
      throw ParseError{"the offsets of the cells are damaged"};
    }
    cells.emplace_back(corners.begin() + begin, corners.begin() + end);
  }
  return cells;
}

Cells read_cells(LegacyReader& in) {
  const std::int64_t first = in.scan().integer();
  const std::int64_t second = in.scan().integer();
  // In binary files the next bytes may be anything, but OFFSETS on a line of its own is not a count and
  // corners.
  TextScanner ahead = in.scan();
  ahead.skip_line();
  const bool offsets = ahead.text().substr(ahead.position()).starts_with("OFFSETS");
  return offsets ? offset_cells(in, first, second) : counted_cells(in, first);
}

void read_points(LegacyReader& in, RawMesh& mesh) {
  const std::int64_t count = in.scan().integer();
  const std::string type(in.scan().word());
  in.begin_values();
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = in.real(type);
    const double y = in.real(type);
    mesh.vertices.push_back({x, y, in.real(type)});
  }
}

void skip_field(LegacyReader& in) {
  in.scan().word();
  for (std::int64_t arrays = in.scan().integer(); arrays > 0; --arrays) {
    in.scan().word();
    const std::int64_t components = in.scan().integer();
    const std::int64_t tuples = in.scan().integer();
    const std::string type(in.scan().word());
    in.begin_values();
    for (std::int64_t t = 0; t < tuples; ++t) {
      for (std::int64_t c = 0; c < components; ++c) in.real(type);
      if (components <= 0) break;
    }
  }
}

void skip_metadata(LegacyReader& in) {
  in.scan().skip_line();
  while (!in.scan().at_line_end()) in.scan().skip_line();
}

}  // namespace

RawMesh parse_vtk_legacy(std::string_view bytes) {
  LegacyReader in(bytes);
  in.scan().skip_line();
  in.scan().skip_line();
  const std::string_view kind = in.scan().word();
  if (kind == "BINARY") in.set_binary();
  if (kind != "BINARY" && kind != "ASCII") in.scan().fail("expected ASCII or BINARY");
  if (in.scan().word() != "DATASET") in.scan().fail("expected DATASET");
  const std::string_view dataset = in.scan().word();
  if (dataset != "POLYDATA" && dataset != "UNSTRUCTURED_GRID") {
    in.scan().fail("neither POLYDATA nor UNSTRUCTURED_GRID");
  }
  RawMesh mesh;
  Cells grid_cells;
  while (!in.scan().at_end()) {
    const std::string key(in.scan().word());
    if (key == "POINT_DATA" || key == "CELL_DATA") break;
    if (key == "POINTS") {
      read_points(in, mesh);
    } else if (key == "CELLS") {
      grid_cells = read_cells(in);
    } else if (key == "CELL_TYPES") {
      const std::int64_t count = in.scan().integer();
      if (count != static_cast<std::int64_t>(grid_cells.size()))
        in.scan().fail("as many types as cells are needed");
      in.begin_values();
      for (const auto& cell : grid_cells) mesh.add_vtk_cell(in.integer("int"), cell);
    } else if (key == "VERTICES" || key == "LINES" || key == "POLYGONS" || key == "TRIANGLE_STRIPS") {
      const std::int64_t type = key == "POLYGONS" ? 7 : key == "TRIANGLE_STRIPS" ? 6 : 2;
      for (const auto& cell : read_cells(in)) mesh.add_vtk_cell(type, cell);
    } else if (key == "FIELD") {
      skip_field(in);
    } else if (key == "METADATA") {
      skip_metadata(in);
    } else {
      in.scan().fail("not a keyword of a VTK file");
    }
  }
  return mesh;
}

}  // namespace exemplar
