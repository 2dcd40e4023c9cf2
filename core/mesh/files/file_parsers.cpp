// The scanner and the plain text formats: OBJ, OFF, MEDIT, TetGen.
#include "core/mesh/files/file_parsers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>

namespace exemplar {

namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

bool is_number(std::string_view word) {
  return !word.empty() && (std::isdigit(static_cast<unsigned char>(word[0])) || word[0] == '-' ||
                           word[0] == '+' || word[0] == '.');
}

// Text in messages: short, and without bytes that a terminal would choke on.
std::string shown(std::string_view word) {
  std::string text(word.substr(0, 20));
  for (char& c : text) {
    if (!std::isprint(static_cast<unsigned char>(c))) c = '?';
  }
  return text;
}

std::array<double, 3> three_numbers(TextScanner& scan) {
  const double x = scan.number();
  const double y = scan.number();
  const double z = scan.number();
  return {x, y, z};
}

}  // namespace

void RawMesh::add_polygon(std::span<const std::int64_t> corners) {
  for (std::size_t k = 2; k < corners.size(); ++k)
    triangles.push_back({corners[0], corners[k - 1], corners[k]});
}

void RawMesh::add_vtk_cell(std::int64_t type, std::span<const std::int64_t> corners) {
  constexpr int strip = 6, triangle = 5, polygon = 7, quad = 9, tet = 10, first_solid = 11, last_solid = 14;
  constexpr int quadratic_triangle = 22, quadratic_tet = 24;
  if (type == triangle || type == polygon || type == quad) {
    add_polygon(corners);
  } else if (type == quadratic_triangle) {
    add_polygon(corners.first(std::min<std::size_t>(3, corners.size())));
  } else if (type == strip) {
    for (std::size_t k = 2; k < corners.size(); ++k) {
      const std::size_t odd = k % 2;  // every second triangle of a strip runs the other way round
      triangles.push_back({corners[k - 2 + odd], corners[k - 1 - odd], corners[k]});
    }
  } else if (type == tet || type == quadratic_tet) {
    if (corners.size() < 4) throw ParseError{"a tet with fewer than four corners"};
    tets.push_back({corners[0], corners[1], corners[2], corners[3]});
  } else if (type >= first_solid && type <= last_solid) {
    throw ParseError{"only tets are read, not hexahedra, wedges or pyramids"};
  }
}

void TextScanner::skip_blanks(bool over_lines) {
  while (m_position < m_text.size()) {
    const char c = m_text[m_position];
    if (is_blank(c)) {
      ++m_position;
    } else if (c == '\n' && over_lines) {
      ++m_position;
      ++m_line;
    } else if (m_comment != '\0' && c == m_comment) {
      while (m_position < m_text.size() && m_text[m_position] != '\n') ++m_position;
    } else {
      return;
    }
  }
}

bool TextScanner::at_end() {
  skip_blanks(true);
  return m_position >= m_text.size();
}

bool TextScanner::at_line_end() {
  skip_blanks(false);
  return m_position >= m_text.size() || m_text[m_position] == '\n';
}

void TextScanner::skip_line() {
  while (m_position < m_text.size() && m_text[m_position] != '\n') ++m_position;
  if (m_position < m_text.size()) {
    ++m_position;
    ++m_line;
  }
}

std::string_view TextScanner::rest_of_line() {
  const std::size_t begin = m_position;
  while (m_position < m_text.size() && m_text[m_position] != '\n') ++m_position;
  return m_text.substr(begin, m_position - begin);
}

std::string_view TextScanner::peek() {
  if (at_end()) return {};
  std::size_t end = m_position;
  while (end < m_text.size() && !is_blank(m_text[end]) && m_text[end] != '\n') ++end;
  return m_text.substr(m_position, end - m_position);
}

std::string_view TextScanner::word() {
  const std::string_view result = peek();
  if (result.empty()) fail("the file ends too early");
  m_position += result.size();
  return result;
}

double TextScanner::number() {
  std::string_view text = word();
  const std::string_view original = text;
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = end == text.data() + text.size();
  // Magnitudes below the smallest double become zero, above the largest infinite, which is refused later.
  if (error == std::errc::result_out_of_range && whole)
    return std::strtod(std::string(text).c_str(), nullptr);
  if (error != std::errc{} || !whole) fail(fmt::format("expected a number, got \"{}\"", shown(original)));
  return value;
}

std::int64_t TextScanner::integer() {
  std::string_view text = word();
  const std::string_view original = text;
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    fail(fmt::format("expected a whole number, got \"{}\"", shown(original)));
  }
  // So that sums and differences of two of them stay in range.
  constexpr std::int64_t largest = std::int64_t{1} << 53;
  if (value > largest || value < -largest) fail(fmt::format("{} is too large a number", value));
  return value;
}

void TextScanner::fail(const std::string& message) const {
  throw ParseError{fmt::format("line {}: {}", m_line, message)};
}

namespace {

// "7", "7/1", "7//3": the vertex comes first; negative numbers count back from the newest vertex.
std::int64_t obj_index(TextScanner& scan, std::size_t vertex_count) {
  const std::string_view word = scan.word();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool whole = end == word.data() + word.size() || *end == '/';
  if (error != std::errc{} || !whole || value == 0) {
    scan.fail(fmt::format("expected a vertex of a face, got \"{}\"", shown(word)));
  }
  return value > 0 ? value - 1 : static_cast<std::int64_t>(vertex_count) + value;
}

}  // namespace

RawMesh parse_obj(std::string_view text) {
  static const std::array known{"vt",     "vn",       "vp",       "o",          "g",        "s",    "usemtl",
                                "mtllib", "l",        "p",        "cstype",     "deg",      "curv", "surf",
                                "parm",   "trim",     "hole",     "end",        "bmat",     "step", "curv2",
                                "scrv",   "sp",       "con",      "mg",         "bevel",    "lod",  "usemap",
                                "maplib", "c_interp", "d_interp", "shadow_obj", "trace_obj"};
  RawMesh mesh;
  TextScanner scan(text, '#');
  std::vector<std::int64_t> corners;
  while (!scan.at_end()) {
    const std::string_view key = scan.word();
    if (key == "v") {
      mesh.vertices.push_back(three_numbers(scan));
    } else if (key == "f") {
      corners.clear();
      while (!scan.at_line_end()) corners.push_back(obj_index(scan, mesh.vertices.size()));
      if (corners.size() < 3) scan.fail("a face needs at least three vertices");
      mesh.add_polygon(corners);
    } else if (std::find(known.begin(), known.end(), key) == known.end()) {
      scan.fail(fmt::format("\"{}\" is not a statement of an OBJ file", shown(key)));
    }
    scan.skip_line();
  }
  return mesh;
}

RawMesh parse_off(std::string_view text) {
  RawMesh mesh;
  TextScanner scan(text, '#');
  const std::string_view head = scan.word();
  if (!head.ends_with("OFF")) scan.fail("an OFF file begins with OFF");
  if (head.starts_with("4") || head.find('n') != std::string_view::npos)
    scan.fail("only three dimensions are read");
  const std::int64_t vertices = scan.integer();
  const std::int64_t faces = scan.integer();
  if (!scan.at_line_end()) scan.integer();  // the number of edges, often left out
  for (std::int64_t v = 0; v < vertices; ++v) {
    mesh.vertices.push_back(three_numbers(scan));
    scan.rest_of_line();  // normals, colours
  }
  std::vector<std::int64_t> corners;
  for (std::int64_t f = 0; f < faces; ++f) {
    corners.clear();
    const std::int64_t count = scan.integer();
    for (std::int64_t k = 0; k < count; ++k) corners.push_back(scan.integer());
    mesh.add_polygon(corners);
    scan.rest_of_line();
  }
  return mesh;
}

RawMesh parse_medit(std::string_view text) {
  RawMesh mesh;
  TextScanner scan(text, '#');
  if (scan.word() != "MeshVersionFormatted") scan.fail("a MEDIT file begins with MeshVersionFormatted");
  scan.integer();
  const auto corners = [&]<std::size_t N>(std::array<std::int64_t, N>& list) {
    for (auto& corner : list) corner = scan.integer() - 1;
    scan.integer();  // the reference
  };
  while (!scan.at_end()) {
    const std::string_view key = scan.word();
    if (key == "End") break;
    if (key == "Dimension") {
      if (scan.integer() != 3) scan.fail("only three dimensions are read");
    } else if (key == "Vertices") {
      for (std::int64_t n = scan.integer(); n > 0; --n) {
        mesh.vertices.push_back(three_numbers(scan));
        scan.integer();
      }
    } else if (key == "Triangles" || key == "Quadrilaterals") {
      for (std::int64_t n = scan.integer(); n > 0; --n) {
        std::array<std::int64_t, 4> quad{};
        std::array<std::int64_t, 3> triangle{};
        key == "Triangles" ? corners(triangle) : corners(quad);
        if (key == "Triangles") mesh.triangles.push_back(triangle);
        if (key == "Quadrilaterals") mesh.add_polygon(quad);
      }
    } else if (key == "Tetrahedra") {
      for (std::int64_t n = scan.integer(); n > 0; --n) corners(mesh.tets.emplace_back());
    } else if (is_number(key)) {
      scan.fail(fmt::format("expected a keyword, got \"{}\"", shown(key)));
    } else {
      while (is_number(scan.peek())) scan.word();  // edges, corners, normals and so on
    }
  }
  return mesh;
}

RawMesh parse_tetgen(std::string_view nodes, std::string_view elements, std::string_view faces) {
  RawMesh mesh;
  TextScanner scan(nodes, '#');
  const std::int64_t count = scan.integer();
  if (scan.integer() != 3) scan.fail("only three dimensions are read");
  scan.rest_of_line();
  std::int64_t first = 0;
  for (std::int64_t v = 0; v < count; ++v) {
    const std::int64_t number = scan.integer();
    if (v == 0) first = number;
    if (number != first + v) scan.fail(fmt::format("expected node {}, got {}", first + v, number));
    mesh.vertices.push_back(three_numbers(scan));
    scan.rest_of_line();
  }
  if (!elements.empty()) {
    TextScanner ele(elements, '#');
    const std::int64_t tets = ele.integer();
    const std::int64_t per_tet = ele.integer();
    if (per_tet != 4 && per_tet != 10) ele.fail("a tet has 4 or 10 nodes");
    ele.rest_of_line();
    for (std::int64_t t = 0; t < tets; ++t) {
      ele.integer();
      auto& corners = mesh.tets.emplace_back();
      for (auto& corner : corners) corner = ele.integer() - first;
      ele.rest_of_line();
    }
  }
  if (!faces.empty()) {
    TextScanner face(faces, '#');
    const std::int64_t triangles = face.integer();
    face.rest_of_line();
    for (std::int64_t t = 0; t < triangles; ++t) {
      face.integer();
      auto& corners = mesh.triangles.emplace_back();
      for (auto& corner : corners) corner = face.integer() - first;
      face.rest_of_line();
    }
  }
  return mesh;
}

}  // namespace exemplar
