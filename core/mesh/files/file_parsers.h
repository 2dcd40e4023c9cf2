// The parsers behind files.h. Each takes the content of a file and returns what it holds, without trusting
// any number in it: counts are never used to allocate, and every read is checked against the end. Indices are
// checked by the caller.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace exemplar {

// What a file holds; indices count from 0 and may still be out of range.
struct RawMesh {
  std::vector<std::array<double, 3>> vertices;
  std::vector<std::array<std::int64_t, 3>> triangles;
  std::vector<std::array<std::int64_t, 4>> tets;

  // A fan of triangles; fewer than three corners give none.
  void add_polygon(std::span<const std::int64_t> corners);
  // A cell by VTK's number of its type; points and lines are left out.
  void add_vtk_cell(std::int64_t type, std::span<const std::int64_t> corners);
};

// Thrown by parsers; the caller adds the file's name.
struct ParseError {
  std::string message;
};

// Words and numbers of a text with the line they stand on.
class TextScanner {
 public:
  explicit TextScanner(std::string_view text, char comment = '\0') : m_text(text), m_comment(comment) {}

  int line() const { return m_line; }
  bool at_end();       // nothing but white space and comments is left
  bool at_line_end();  // the same for this line
  void skip_line();
  std::string_view word();  // throws at the end
  std::string_view peek();  // empty at the end
  std::string_view rest_of_line();
  double number();
  std::int64_t integer();
  [[noreturn]] void fail(const std::string& message) const;

  // For binary sections: the bytes behind the current line's end.
  std::size_t position() const { return m_position; }
  void jump(std::size_t position) { m_position = position; }
  std::string_view text() const { return m_text; }

 private:
  void skip_blanks(bool over_lines);

  std::string_view m_text;
  std::size_t m_position = 0;
  int m_line = 1;
  char m_comment;
};

// Checked reads of plain values, with the byte order turned when asked.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes, std::size_t position = 0, bool swap = false)
      : m_bytes(bytes), m_position(position), m_swap(swap) {}

  template <class T>
  T take() {
    if (m_position > m_bytes.size() || m_bytes.size() - m_position < sizeof(T)) {
      throw ParseError{"the file ends too early"};
    }
    char raw[sizeof(T)];
    std::memcpy(raw, m_bytes.data() + m_position, sizeof(T));
    m_position += sizeof(T);
    if (m_swap) {
      for (std::size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(raw[i], raw[sizeof(T) - 1 - i]);
    }
    T value;
    std::memcpy(&value, raw, sizeof(T));
    return value;
  }
  std::size_t position() const { return m_position; }

 private:
  std::string_view m_bytes;
  std::size_t m_position;
  bool m_swap;
};

RawMesh parse_obj(std::string_view text);
RawMesh parse_off(std::string_view text);
RawMesh parse_medit(std::string_view text);
RawMesh parse_ply(std::string_view bytes);
RawMesh parse_stl(std::string_view bytes);
RawMesh parse_gmsh(std::string_view bytes);
// `faces` and `elements` may be empty when there is no such file.
RawMesh parse_tetgen(std::string_view nodes, std::string_view elements, std::string_view faces);
RawMesh parse_vtk_legacy(std::string_view bytes);
// Through VTK's own readers: .vtp or .vtu.
RawMesh read_vtk(const std::string& bytes, const std::string& extension);

}  // namespace exemplar
