// PLY and STL, ASCII and binary.
#include <fmt/format.h>

#include <bit>

#include "core/mesh/files/file_parsers.h"

namespace exemplar {

namespace {

enum class Scalar { int8, uint8, int16, uint16, int32, uint32, float32, float64 };

Scalar scalar_of(std::string_view name) {
  if (name == "char" || name == "int8") return Scalar::int8;
  if (name == "uchar" || name == "uint8") return Scalar::uint8;
  if (name == "short" || name == "int16") return Scalar::int16;
  if (name == "ushort" || name == "uint16") return Scalar::uint16;
  if (name == "int" || name == "int32") return Scalar::int32;
  if (name == "uint" || name == "uint32") return Scalar::uint32;
  if (name == "float" || name == "float32") return Scalar::float32;
  if (name == "double" || name == "float64") return Scalar::float64;
  throw ParseError{"unknown type of a PLY property"};
}

struct PlyProperty {
  std::string name;
  bool list = false;
  Scalar count = Scalar::uint8;
  Scalar value = Scalar::float32;
};

struct PlyElement {
  std::string name;
  std::int64_t count = 0;
  std::vector<PlyProperty> properties;
};

struct PlyHeader {
  std::string format;
  std::vector<PlyElement> elements;
};

PlyHeader parse_header(TextScanner& scan) {
  PlyHeader header;
  if (scan.word() != "ply") scan.fail("a PLY file begins with ply");
  while (true) {
    const std::string_view key = scan.word();
    if (key == "end_header") break;
    if (key == "format") {
      header.format = scan.word();
    } else if (key == "element") {
      PlyElement& element = header.elements.emplace_back();
      element.name = scan.word();
      element.count = scan.integer();
    } else if (key == "property") {
      if (header.elements.empty()) scan.fail("a property without an element");
      PlyProperty& property = header.elements.back().properties.emplace_back();
      const std::string_view type = scan.word();
      property.list = type == "list";
      if (property.list) property.count = scalar_of(scan.word());
      property.value = scalar_of(property.list ? scan.word() : type);
      property.name = scan.word();
    } else if (key != "comment" && key != "obj_info") {
      scan.fail("not a line of a PLY header");
    }
    scan.rest_of_line();
  }
  scan.skip_line();
  return header;
}

class PlyText {
 public:
  explicit PlyText(TextScanner scan) : m_scan(scan) {}
  double number(Scalar) { return m_scan.number(); }

 private:
  TextScanner m_scan;
};

class PlyBytes {
 public:
  PlyBytes(std::string_view bytes, std::size_t position, bool swap) : m_reader(bytes, position, swap) {}
  double number(Scalar type) {
    switch (type) {
      case Scalar::int8:
        return m_reader.take<std::int8_t>();
      case Scalar::uint8:
        return m_reader.take<std::uint8_t>();
      case Scalar::int16:
        return m_reader.take<std::int16_t>();
      case Scalar::uint16:
        return m_reader.take<std::uint16_t>();
      case Scalar::int32:
        return m_reader.take<std::int32_t>();
      case Scalar::uint32:
        return m_reader.take<std::uint32_t>();
      case Scalar::float32:
        return static_cast<double>(m_reader.take<float>());
      case Scalar::float64:
        return m_reader.take<double>();
    }
    return 0;
  }

 private:
  ByteReader m_reader;
};

// Indices arrive as doubles, which hold every 32-bit one exactly.
std::int64_t to_index(double value) {
  if (!(value >= -2147483648.0 && value <= 4294967295.0)) throw ParseError{"an index is out of range"};
  return static_cast<std::int64_t>(value);
}

template <class Source>
void read_element(Source& source, const PlyElement& element, RawMesh& mesh) {
  const bool vertex = element.name == "vertex";
  const bool face = element.name == "face";
  // An element without properties takes no bytes, whatever its count says.
  if (element.properties.empty()) return;
  std::vector<std::int64_t> corners;
  for (std::int64_t i = 0; i < element.count; ++i) {
    std::array<double, 3> position{};
    for (const PlyProperty& property : element.properties) {
      if (!property.list) {
        const double value = source.number(property.value);
        if (vertex && property.name.size() == 1 && property.name[0] >= 'x' && property.name[0] <= 'z') {
          position[static_cast<std::size_t>(property.name[0] - 'x')] = value;
        }
        continue;
      }
      const bool wanted = face && (property.name == "vertex_indices" || property.name == "vertex_index");
      corners.clear();
      for (std::int64_t n = to_index(source.number(property.count)); n > 0; --n) {
        const double value = source.number(property.value);
        if (wanted) corners.push_back(to_index(value));
      }
      mesh.add_polygon(corners);
    }
    if (vertex) mesh.vertices.push_back(position);
  }
}

template <class Source>
RawMesh read_elements(Source source, const PlyHeader& header) {
  RawMesh mesh;
  for (const PlyElement& element : header.elements) read_element(source, element, mesh);
  return mesh;
}

RawMesh parse_binary_stl(std::string_view bytes) {
  RawMesh mesh;
  ByteReader reader(bytes, 80, std::endian::native == std::endian::big);
  const std::uint32_t count = reader.take<std::uint32_t>();
  for (std::uint32_t t = 0; t < count; ++t) {
    for (int k = 0; k < 3; ++k) reader.take<float>();  // the normal, often wrong
    std::array<std::int64_t, 3> corners{};
    for (auto& corner : corners) {
      corner = static_cast<std::int64_t>(mesh.vertices.size());
      auto& position = mesh.vertices.emplace_back();
      for (double& x : position) x = static_cast<double>(reader.take<float>());
    }
    reader.take<std::uint16_t>();
    mesh.triangles.push_back(corners);
  }
  return mesh;
}

RawMesh parse_text_stl(std::string_view text) {
  RawMesh mesh;
  TextScanner scan(text);
  if (scan.word() != "solid") scan.fail("an STL file begins with solid");
  scan.skip_line();
  std::vector<std::int64_t> corners;
  while (!scan.at_end()) {
    const std::string_view key = scan.word();
    if (key == "vertex") {
      const double x = scan.number();
      const double y = scan.number();
      const double z = scan.number();
      corners.push_back(static_cast<std::int64_t>(mesh.vertices.size()));
      mesh.vertices.push_back({x, y, z});
      continue;
    }
    if (key == "endloop") {
      if (corners.size() < 3) scan.fail("a facet needs three vertices");
      mesh.add_polygon(corners);
      corners.clear();
    } else if (key != "facet" && key != "outer" && key != "endfacet" && key != "endsolid" && key != "solid") {
      scan.fail("not a line of an STL file");
    }
    scan.skip_line();
  }
  if (!corners.empty()) scan.fail("the file ends within a facet");
  return mesh;
}

}  // namespace

RawMesh parse_ply(std::string_view bytes) {
  TextScanner scan(bytes);
  const PlyHeader header = parse_header(scan);
  if (header.format == "ascii") return read_elements(PlyText(scan), header);
  const bool little = header.format == "binary_little_endian";
  if (!little && header.format != "binary_big_endian") throw ParseError{"unknown PLY format"};
  const bool swap = little != (std::endian::native == std::endian::little);
  return read_elements(PlyBytes(bytes, scan.position(), swap), header);
}

RawMesh parse_stl(std::string_view bytes) {
  // Some binary files begin with "solid" too: their size gives them away.
  if (bytes.size() >= 84) {
    std::uint32_t count = 0;
    std::memcpy(&count, bytes.data() + 80, sizeof count);
    if (bytes.size() == 84 + 50 * static_cast<std::size_t>(count)) return parse_binary_stl(bytes);
  }
  if (bytes.starts_with("solid")) return parse_text_stl(bytes);
  throw ParseError{
      "neither ASCII STL (it does not begin with solid) nor binary STL (its size does not match its count)"};
}

}  // namespace exemplar
