// Geometry → bytes of a VTK XML file. Written without VTK's own writers, which took longer for what is around the
// compression (ranges, copies) than for it.
#include <fmt/format.h>

#include <cassert>
#include <cstdint>
#include <map>
#include <numeric>
#include <stdexcept>

#include "core/output/geometry_file.h"
#include "core/output/packed_blocks.h"
#include "core/output/pvd_file.h"

namespace exemplar {

namespace {

constexpr std::uint8_t k_vtk_tetra = 10, k_vtk_hexahedron = 12;

std::size_t expected_size(const Geometry& geometry, const FieldArray& field) {
  const bool on_points = field.on == Association::point;
  const std::size_t count =
      on_points ? static_cast<std::size_t>(geometry.points.rows()) : cell_count(geometry);
  if (field.components < 1 || field.values.size() != count * static_cast<std::size_t>(field.components)) {
    throw std::logic_error("series " + geometry.series + ": array " + field.name + " has " +
                           std::to_string(field.values.size()) + " values on " + std::to_string(count) +
                           (on_points ? " points" : " cells"));
  }
  return field.values.size();
}

std::vector<std::int32_t> connectivity_of(const Geometry& geometry) {
  if (geometry.kind != CellKind::points || !geometry.connectivity.empty()) return geometry.connectivity;
  std::vector<std::int32_t> identity(static_cast<std::size_t>(geometry.points.rows()));
  std::iota(identity.begin(), identity.end(), 0);
  return identity;
}

// Where each cell ends in the connectivity.
std::vector<std::int32_t> ends_of(const Geometry& geometry) {
  const int width = points_per_cell(geometry.kind);
  if (width == 0) return geometry.offsets;
  std::vector<std::int32_t> ends(cell_count(geometry));
  for (std::size_t i = 0; i < ends.size(); ++i) ends[i] = static_cast<std::int32_t>(i + 1) * width;
  return ends;
}

template <class T>
std::string_view bytes_of(const T* values, std::size_t count) {
  return {reinterpret_cast<const char*>(values), count * sizeof(T)};
}

}  // namespace

struct GeometryEncoder::Implementation {
  BlockPacker packer;
  std::map<std::string, std::vector<PackedBlock>> last;  // of every array, by series and name
};

namespace {

// One file in the making: the text in front, and the arrays behind it.
class VtkFile {
 public:
  VtkFile(const Geometry& geometry, BlockPacker& packer,
          std::map<std::string, std::vector<PackedBlock>>& last)
      : m_geometry(geometry), m_packer(packer), m_last(last) {
    std::size_t values = static_cast<std::size_t>(geometry.points.size()) + geometry.connectivity.size();
    for (const FieldArray& field : geometry.arrays) values += field.values.size();
    m_data.reserve(values * sizeof(double));
  }

  std::string write(double time) {
    const bool is_flat = geometry_extension(m_geometry.kind) == ".vtp";
    const char* type = is_flat ? "PolyData" : "UnstructuredGrid";
    m_text = fmt::format(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"{0}\" version=\"1.0\" byte_order=\"LittleEndian\" "
        "header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">\n  <{0}>\n",
        type);
    add_field_data(time);
    m_text += fmt::format("    <Piece {}>\n", counts(is_flat));
    add_arrays("PointData", Association::point);
    add_arrays("CellData", Association::cell);
    open("Points");
    add_doubles("Points", 3, m_geometry.points.data(), static_cast<std::size_t>(m_geometry.points.size()));
    close("Points");
    add_cells(is_flat);
    m_text += fmt::format("    </Piece>\n  </{}>\n  <AppendedData encoding=\"raw\">\n   _", type);
    m_text.reserve(m_text.size() + m_data.size() + 64);
    m_text += m_data;
    m_text += "\n  </AppendedData>\n</VTKFile>\n";
    return std::move(m_text);
  }

 private:
  void open(const char* section) { m_text += fmt::format("      <{}>\n", m_section = section); }
  void close(const char* section) { m_text += fmt::format("      </{}>\n", section); }

  std::string counts(bool is_flat) const {
    const std::size_t points = static_cast<std::size_t>(m_geometry.points.rows());
    const std::size_t cells = cell_count(m_geometry);
    if (!is_flat) return fmt::format("NumberOfPoints=\"{}\" NumberOfCells=\"{}\"", points, cells);
    std::string text = fmt::format("NumberOfPoints=\"{}\"", points);
    for (const std::string section : {"Verts", "Lines", "Strips", "Polys"})
      text +=
          fmt::format(" NumberOf{}=\"{}\"", section, section == cell_section(m_geometry.kind) ? cells : 0);
    return text;
  }

  void add_field_data(double time) {
    open("FieldData");
    add("TimeValue", "Float64", "NumberOfTuples=\"1\"", bytes_of(&time, 1), ByteContent::doubles);
    // Tells triangles from polygons, and lines from points when there are none, on reading back.
    const auto kind = static_cast<std::int32_t>(m_geometry.kind);
    add("CellKind", "Int32", "NumberOfTuples=\"1\"", bytes_of(&kind, 1), ByteContent::integers);
    close("FieldData");
  }

  void add_arrays(const char* section, Association on) {
    open(section);
    for (const FieldArray& field : m_geometry.arrays) {
      if (field.on != on) continue;
      const std::size_t size = expected_size(m_geometry, field);
      if (field.integer) {
        m_integers.resize(size);
        for (std::size_t i = 0; i < size; ++i) m_integers[i] = static_cast<std::int32_t>(field.values[i]);
        add_integers(field.name, field.components, m_integers);
      } else {
        add_doubles(field.name, field.components, field.values.data(), size);
      }
    }
    close(section);
  }

  void add_cells(bool is_flat) {
    const std::vector<std::int32_t> connectivity = connectivity_of(m_geometry), ends = ends_of(m_geometry);
    assert((ends.empty() ? 0 : ends.back()) == static_cast<std::int32_t>(connectivity.size()));
    const std::string section = cell_section(m_geometry.kind);
    open(section.c_str());
    add_integers("connectivity", 1, connectivity);
    add_integers("offsets", 1, ends);
    if (!is_flat) {
      const std::vector<std::uint8_t> types(
          ends.size(), m_geometry.kind == CellKind::tets ? k_vtk_tetra : k_vtk_hexahedron);
      add("types", "UInt8", "", bytes_of(types.data(), types.size()), ByteContent::integers);
    }
    close(section.c_str());
  }

  void add_doubles(const std::string& name, int components, const double* values, std::size_t size) {
    add(name, "Float64", components_of(components), bytes_of(values, size), ByteContent::doubles);
  }
  void add_integers(const std::string& name, int components, const std::vector<std::int32_t>& values) {
    add(name, "Int32", components_of(components), bytes_of(values.data(), values.size()),
        ByteContent::integers);
  }
  static std::string components_of(int components) {
    return fmt::format("NumberOfComponents=\"{}\"", components);
  }

  void add(const std::string& name, const char* type, const std::string& shape, std::string_view bytes,
           ByteContent content) {
    m_text +=
        fmt::format("        <DataArray type=\"{}\" Name=\"{}\" {} format=\"appended\" offset=\"{}\"/>\n",
                    type, escape_xml(name), shape, m_data.size());
    m_packer.append(bytes, content, m_last[fmt::format("{}/{}/{}", m_geometry.series, m_section, name)],
                    m_data);
  }

  const Geometry& m_geometry;
  BlockPacker& m_packer;
  std::map<std::string, std::vector<PackedBlock>>& m_last;
  std::string m_text, m_data;
  const char* m_section = "";
  std::vector<std::int32_t> m_integers;
};

}  // namespace

GeometryEncoder::GeometryEncoder() : m_implementation(std::make_unique<Implementation>()) {}
GeometryEncoder::~GeometryEncoder() = default;

std::string GeometryEncoder::encode(const Geometry& geometry, double time) {
  return VtkFile(geometry, m_implementation->packer, m_implementation->last).write(time);
}

std::string encode_geometry(const Geometry& geometry, double time) {
  return GeometryEncoder().encode(geometry, time);
}

}  // namespace exemplar
