// Gmsh .msh, versions 2 and 4, ASCII and binary. Sections other than nodes and elements are skipped.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/mesh/files/file_parsers.h"

namespace exemplar {

namespace {

// Numbers of either kind of file, with the types binary files store them in.
class GmshReader {
 public:
  GmshReader(std::string_view bytes, TextScanner scan) : m_bytes(bytes), m_scan(scan) {}

  void set_binary(bool swap) {
    m_binary = true;
    m_swap = swap;
  }
  bool binary() const { return m_binary; }
  TextScanner& scan() { return m_scan; }

  std::int64_t int32() { return m_binary ? read<std::int32_t>() : m_scan.integer(); }
  std::int64_t size() {
    const std::int64_t value = m_binary ? static_cast<std::int64_t>(read<std::uint64_t>()) : m_scan.integer();
    if (value < 0) throw ParseError{"a count or tag is negative"};
    return value;
  }
  double real() { return m_binary ? read<double>() : m_scan.number(); }

 private:
  template <class T>
  T read() {
    ByteReader reader(m_bytes, m_scan.position(), m_swap);
    const T value = reader.take<T>();
    m_scan.jump(reader.position());
    return value;
  }

  std::string_view m_bytes;
  TextScanner m_scan;
  bool m_binary = false;
  bool m_swap = false;
};

struct ElementType {
  int nodes;
  int dimension;
  int corners;
};

ElementType element_type(std::int64_t type) {
  switch (type) {
    case 1:
      return {2, 1, 2};
    case 2:
      return {3, 2, 3};
    case 3:
      return {4, 2, 4};
    case 4:
      return {4, 3, 4};
    case 5:
      return {8, 3, 8};
    case 6:
      return {6, 3, 6};
    case 7:
      return {5, 3, 5};
    case 8:
      return {3, 1, 2};
    case 9:
      return {6, 2, 3};
    case 10:
      return {9, 2, 4};
    case 11:
      return {10, 3, 4};
    case 15:
      return {1, 0, 1};
    case 16:
      return {8, 2, 4};
    default:
      throw ParseError{
          fmt::format("element type {} is not read (triangles, quadrilaterals and tets are)", type)};
  }
}

struct GmshMesh {
  RawMesh raw;
  std::unordered_map<std::int64_t, std::int64_t> place;  // node tag → vertex; only looked up, never walked

  void add_node(std::int64_t tag, const std::array<double, 3>& position) {
    place[tag] = static_cast<std::int64_t>(raw.vertices.size());
    raw.vertices.push_back(position);
  }
  void add_element(const ElementType& type, const std::vector<std::int64_t>& tags) {
    if (type.dimension < 2) return;
    if (type.dimension == 3 && type.corners != 4)
      throw ParseError{"only tets are read, not hexahedra, prisms or pyramids"};
    std::array<std::int64_t, 4> corners{};
    for (int k = 0; k < type.corners; ++k) {
      const auto found = place.find(tags[static_cast<std::size_t>(k)]);
      if (found == place.end()) {
        throw ParseError{
            fmt::format("an element uses node {}, which does not exist", tags[static_cast<std::size_t>(k)])};
      }
      corners[static_cast<std::size_t>(k)] = found->second;
    }
    if (type.dimension == 3) {
      raw.tets.push_back(corners);
    } else {
      raw.add_polygon({corners.data(), static_cast<std::size_t>(type.corners)});
    }
  }
};

void read_corners(GmshReader& in, bool wide, int count, std::vector<std::int64_t>& tags) {
  tags.clear();
  for (int k = 0; k < count; ++k) tags.push_back(wide ? in.size() : in.int32());
}

void nodes_2(GmshReader& in, GmshMesh& mesh) {
  const std::int64_t count = in.scan().integer();
  if (in.binary()) in.scan().skip_line();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t tag = in.int32();
    const double x = in.real();
    const double y = in.real();
    mesh.add_node(tag, {x, y, in.real()});
  }
}

void elements_2(GmshReader& in, GmshMesh& mesh) {
  const std::int64_t count = in.scan().integer();
  if (in.binary()) in.scan().skip_line();
  std::vector<std::int64_t> tags;
  for (std::int64_t i = 0; i < count;) {
    if (!in.binary()) in.int32();  // the element's number
    const ElementType type = element_type(in.int32());
    const std::int64_t block = in.binary() ? in.int32() : 1;
    const std::int64_t labels = in.int32();
    if (block <= 0 || labels < 0) throw ParseError{"an element block has a negative count"};
    for (std::int64_t b = 0; b < block; ++b, ++i) {
      if (in.binary()) in.int32();
      for (std::int64_t l = 0; l < labels; ++l) in.int32();
      read_corners(in, false, type.nodes, tags);
      mesh.add_element(type, tags);
    }
  }
}

void nodes_4(GmshReader& in, GmshMesh& mesh, bool version_40) {
  const std::int64_t blocks = in.size();
  in.size();
  if (!version_40) {
    in.size();
    in.size();
  }
  std::vector<std::int64_t> tags;
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t first = in.int32();
    const std::int64_t second = in.int32();
    const std::int64_t dimension = version_40 ? second : first;
    const std::int64_t parameters = in.int32() != 0 ? std::clamp<std::int64_t>(dimension, 0, 3) : 0;
    const std::int64_t count = in.size();
    tags.clear();
    if (!version_40) {
      for (std::int64_t i = 0; i < count; ++i) tags.push_back(in.size());
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t tag = version_40 ? in.int32() : tags[static_cast<std::size_t>(i)];
      const double x = in.real();
      const double y = in.real();
      const double z = in.real();
      for (std::int64_t p = 0; p < parameters; ++p) in.real();
      mesh.add_node(tag, {x, y, z});
    }
  }
}

void elements_4(GmshReader& in, GmshMesh& mesh, bool version_40) {
  const std::int64_t blocks = in.size();
  in.size();
  if (!version_40) {
    in.size();
    in.size();
  }
  std::vector<std::int64_t> tags;
  for (std::int64_t b = 0; b < blocks; ++b) {
    in.int32();
    in.int32();
    const ElementType type = element_type(in.int32());
    const std::int64_t count = in.size();
    for (std::int64_t i = 0; i < count; ++i) {
      version_40 ? in.int32() : in.size();
      read_corners(in, !version_40, type.nodes, tags);
      mesh.add_element(type, tags);
    }
  }
}

// Binary sections may hold any bytes, so the end mark is searched as text.
void skip_section(GmshReader& in, std::string_view name) {
  const std::string end = fmt::format("$End{}", name.substr(1));
  const std::size_t found = in.scan().text().find(end, in.scan().position());
  if (found == std::string_view::npos) throw ParseError{fmt::format("{} is missing", end)};
  in.scan().jump(found + end.size());
}

}  // namespace

RawMesh parse_gmsh(std::string_view bytes) {
  GmshReader in(bytes, TextScanner(bytes));
  if (in.scan().word() != "$MeshFormat") throw ParseError{"a Gmsh file begins with $MeshFormat"};
  const double version = in.scan().number();
  const bool binary = in.scan().integer() == 1;
  if (in.scan().integer() != 8) throw ParseError{"only 8-byte numbers are read"};
  if (!(version >= 2 && version < 3) && !(version >= 4 && version < 5)) {
    throw ParseError{fmt::format("Gmsh version {} is not read; 2 and 4 are", version)};
  }
  const bool version_40 = version >= 4 && version < 4.1;
  if (binary && version_40) throw ParseError{"binary Gmsh 4.0 is not read; 4.1 is"};
  if (binary) {
    in.scan().skip_line();
    ByteReader one(bytes, in.scan().position());
    in.set_binary(one.take<std::int32_t>() != 1);
    in.scan().jump(one.position());
  }
  GmshMesh mesh;
  skip_section(in, "$MeshFormat");
  while (!in.scan().at_end()) {
    const std::string name(in.scan().word());
    if (!name.starts_with('$')) throw ParseError{"expected a section that begins with $"};
    const bool wanted = name == "$Nodes" || name == "$Elements";
    if (wanted && version < 3) {
      name == "$Nodes" ? nodes_2(in, mesh) : elements_2(in, mesh);
    } else if (wanted) {
      if (binary) in.scan().skip_line();
      name == "$Nodes" ? nodes_4(in, mesh, version_40) : elements_4(in, mesh, version_40);
    }
    skip_section(in, name);
  }
  return std::move(mesh.raw);
}

}  // namespace exemplar
