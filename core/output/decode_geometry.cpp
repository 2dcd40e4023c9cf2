// The bytes that encode_geometry made → Geometry, without trusting one of them: every size is compared with what is there
// before memory is taken.
#include <libdeflate.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/output/geometry_file.h"

namespace exemplar {

namespace {

struct Undecodable {};

constexpr std::uint64_t k_packed_block = 32768;  // bytes, as BlockPacker has it
constexpr std::int64_t k_most_tuples = std::int64_t{1} << 31, k_most_components = 1 << 12;

[[noreturn]] void give_up() {
  throw Undecodable{};
}

void require(bool holds) {
  if (!holds) give_up();
}

// The text between key=" and ".
std::string_view attribute(std::string_view tag, std::string_view key) {
  const std::size_t found = tag.find(std::string(" ") + std::string(key) + "=\"");
  require(found != std::string_view::npos);
  const std::size_t begin = found + key.size() + 3, end = tag.find('"', begin);
  require(end != std::string_view::npos);
  return tag.substr(begin, end - begin);
}

std::int64_t whole_number(std::string_view text, std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  require(error == std::errc{} && end == text.data() + text.size() && value >= 0 && value <= most);
  return value;
}

// What escape_xml wrote.
std::string plain_name(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, char>, 4> k_escaped{
      {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}}};
  std::string name;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t length = 1;
    char c = text[i];
    for (const auto& [escape, meant] : k_escaped) {
      if (!text.substr(i).starts_with(escape)) continue;
      length = escape.size();
      c = meant;
    }
    name += c;
    i += length;
  }
  return name;
}

struct ArrayTag {
  std::string section, name, type;
  std::int64_t components = 1;
  std::size_t offset = 0;
};

// The file's text: what stands before the data.
struct FileHead {
  std::vector<ArrayTag> arrays;
  std::string piece;
  bool is_flat = false;
};

ArrayTag array_tag(const std::string& section, std::string_view tag, std::size_t data_size) {
  require(attribute(tag, "format") == "appended");
  ArrayTag array{section, plain_name(attribute(tag, "Name")), std::string(attribute(tag, "type")), 1, 0};
  if (tag.find(" NumberOfComponents=") != std::string_view::npos)
    array.components = whole_number(attribute(tag, "NumberOfComponents"), k_most_components);
  array.offset =
      static_cast<std::size_t>(whole_number(attribute(tag, "offset"), static_cast<std::int64_t>(data_size)));
  require(array.components > 0);
  return array;
}

FileHead read_head(std::string_view text, std::size_t data_size) {
  FileHead head;
  std::string section;
  for (std::size_t begin = text.find('<'); begin != std::string_view::npos;
       begin = text.find('<', begin + 1)) {
    const std::size_t end = text.find('>', begin);
    require(end != std::string_view::npos);
    const std::string_view tag = text.substr(begin + 1, end - begin - 1);
    if (tag.starts_with("VTKFile")) {
      require(attribute(tag, "byte_order") == "LittleEndian" && attribute(tag, "header_type") == "UInt64" &&
              attribute(tag, "compressor") == "vtkZLibDataCompressor");
      head.is_flat = attribute(tag, "type") == "PolyData";
    } else if (tag.starts_with("Piece ")) {
      require(head.piece.empty());
      head.piece = tag;
    } else if (tag.starts_with("DataArray ")) {
      head.arrays.push_back(array_tag(section, tag, data_size));
    } else {
      section = tag;
    }
  }
  return head;
}

// The arrays behind the text.
class PackedData {
 public:
  explicit PackedData(std::string_view bytes) : m_bytes(bytes) {}

  template <class T>
  std::vector<T> values(const ArrayTag& array, const char* type, std::int64_t count) const {
    require(array.type == type && count >= 0 && count <= k_most_tuples * k_most_components);
    const std::uint64_t size = static_cast<std::uint64_t>(count) * sizeof(T);
    const std::vector<std::string_view> blocks = blocks_of(array.offset, size);
    std::vector<T> values(static_cast<std::size_t>(count));
    auto* out = reinterpret_cast<char*>(values.data());
    for (std::size_t b = 0; b < blocks.size(); ++b)
      unpack(blocks[b], out + b * k_packed_block, std::min(k_packed_block, size - b * k_packed_block));
    return values;
  }

 private:
  std::uint64_t word(std::size_t at) const {
    require(at <= m_bytes.size() && m_bytes.size() - at >= sizeof(std::uint64_t));
    std::uint64_t value = 0;
    std::memcpy(&value, m_bytes.data() + at, sizeof value);
    return value;
  }

  // The compressed blocks of an array of `size` bytes.
  std::vector<std::string_view> blocks_of(std::size_t offset, std::uint64_t size) const {
    const std::uint64_t count = word(offset);
    require(count == (size + k_packed_block - 1) / k_packed_block && word(offset + 8) == k_packed_block &&
            word(offset + 16) == size % k_packed_block);
    require(count <= m_bytes.size() / sizeof(std::uint64_t));
    std::size_t at = offset + 24 + static_cast<std::size_t>(count) * sizeof(std::uint64_t);
    std::vector<std::string_view> blocks;
    for (std::size_t b = 0; b < count; ++b) {
      const std::uint64_t packed = word(offset + 24 + b * sizeof(std::uint64_t));
      require(at <= m_bytes.size() && packed <= m_bytes.size() - at);
      blocks.push_back(m_bytes.substr(at, static_cast<std::size_t>(packed)));
      at += static_cast<std::size_t>(packed);
    }
    return blocks;
  }

  void unpack(std::string_view packed, char* out, std::size_t size) const {
    std::size_t got = 0;
    require(libdeflate_zlib_decompress(m_decompressor.get(), packed.data(), packed.size(), out, size, &got) ==
                LIBDEFLATE_SUCCESS &&
            got == size);
  }

  struct Free {
    void operator()(libdeflate_decompressor* decompressor) const {
      libdeflate_free_decompressor(decompressor);
    }
  };
  std::string_view m_bytes;
  std::unique_ptr<libdeflate_decompressor, Free> m_decompressor{libdeflate_alloc_decompressor()};
};

class GeometryDecoder {
 public:
  GeometryDecoder(const FileHead& head, std::string_view data) : m_head(head), m_data(data) {}

  Geometry geometry() {
    const auto kind = m_data.values<std::int32_t>(array("FieldData", "CellKind"), "Int32", 1).front();
    require(kind >= 0 && kind <= static_cast<int>(CellKind::hexahedra));
    m_geometry.kind = static_cast<CellKind>(kind);
    require((geometry_extension(m_geometry.kind) == ".vtp") == m_head.is_flat);
    const std::int64_t points = whole_number(attribute(m_head.piece, "NumberOfPoints"), k_most_tuples);
    read_points(points);
    read_cells();
    for (const ArrayTag& tag : m_head.arrays) {
      if (tag.section == "PointData") read_array(tag, Association::point, points);
      if (tag.section == "CellData") read_array(tag, Association::cell, m_cells);
    }
    return std::move(m_geometry);
  }

 private:
  const ArrayTag& array(const std::string& section, const std::string& name) const {
    for (const ArrayTag& tag : m_head.arrays) {
      if (tag.section == section && tag.name == name) return tag;
    }
    give_up();
  }

  void read_points(std::int64_t count) {
    const ArrayTag& tag = array("Points", "Points");
    require(tag.components == 3);
    const std::vector<double> values = m_data.values<double>(tag, "Float64", 3 * count);
    m_geometry.points = Eigen::Map<const Points>(values.data(), count, 3);
  }

  void read_cells() {
    const std::string section = cell_section(m_geometry.kind);
    m_cells = whole_number(attribute(m_head.piece, m_head.is_flat ? "NumberOf" + section : "NumberOfCells"),
                           k_most_tuples);
    const std::vector<std::int32_t> ends =
        m_data.values<std::int32_t>(array(section, "offsets"), "Int32", m_cells);
    const int width = points_per_cell(m_geometry.kind);
    for (std::size_t i = 0; width > 0 && i < ends.size(); ++i)
      require(ends[i] == static_cast<std::int64_t>(i + 1) * width);
    const std::int32_t size = ends.empty() ? 0 : ends.back();
    m_geometry.connectivity = m_data.values<std::int32_t>(array(section, "connectivity"), "Int32", size);
    if (width == 0) m_geometry.offsets = ends;
  }

  void read_array(const ArrayTag& tag, Association on, std::int64_t tuples) {
    const std::int64_t count = tuples * tag.components;
    FieldArray field{tag.name, on, static_cast<int>(tag.components), tag.type == "Int32", {}};
    if (field.integer) {
      const std::vector<std::int32_t> values = m_data.values<std::int32_t>(tag, "Int32", count);
      field.values.assign(values.begin(), values.end());
    } else {
      field.values = m_data.values<double>(tag, "Float64", count);
    }
    m_geometry.arrays.push_back(std::move(field));
  }

  const FileHead& m_head;
  PackedData m_data;
  Geometry m_geometry;
  std::int64_t m_cells = 0;
};

}  // namespace

std::optional<Geometry> decode_geometry(std::string_view bytes) {
  constexpr std::string_view mark = "<AppendedData encoding=\"raw\">\n   _";
  const std::size_t end = bytes.find(mark);
  if (end == std::string_view::npos) return std::nullopt;
  try {
    const std::string_view data = bytes.substr(end + mark.size());
    const FileHead head = read_head(bytes.substr(0, end), data.size());
    return GeometryDecoder(head, data).geometry();
  } catch (const Undecodable&) {
    return std::nullopt;
  }
}

}  // namespace exemplar
