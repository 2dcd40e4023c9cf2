#include "core/scene/files/json_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace exemplar {

namespace {

class Scanner {
 public:
  explicit Scanner(const std::string& text) : m_text(text) {}

  bool at_end() const { return m_at >= m_text.size(); }
  char peek() const { return at_end() ? '\0' : m_text[m_at]; }
  std::size_t position() const { return m_at; }
  void advance() { m_at = std::min(m_at + 1, m_text.size()); }

  void skip_blanks() {
    while (!at_end()) {
      if (m_text.compare(m_at, 2, "//") == 0) {
        m_at = std::min(m_text.find('\n', m_at), m_text.size());
      } else if (m_text.compare(m_at, 2, "/*") == 0) {
        const std::size_t close = m_text.find("*/", m_at + 2);
        m_at = close == std::string::npos ? m_text.size() : close + 2;
      } else if (std::string(" \t\r\n").find(peek()) != std::string::npos) {
        ++m_at;
      } else {
        return;
      }
    }
  }

  // From an opening quote to behind the closing one; with the quotes.
  std::string take_string() {
    const std::size_t begin = m_at;
    advance();
    while (!at_end() && peek() != '"') {
      if (peek() == '\\') advance();
      advance();
    }
    advance();
    return m_text.substr(begin, m_at - begin);
  }

  void skip_value() {
    int depth = 0;
    do {
      skip_blanks();
      const char c = peek();
      if (c == '"') {
        take_string();
      } else if (c == '{' || c == '[') {
        ++depth;
        advance();
      } else if (c == '}' || c == ']') {
        --depth;
        advance();
      } else if (c == ',' || c == ':') {
        advance();
      } else {
        m_at = std::min(m_text.find_first_of(",]}/ \t\r\n", m_at), m_text.size());
      }
      skip_blanks();
    } while (depth > 0 && !at_end());
  }

  // From the start of an object or array to the start of one of its values; false: it is not there.
  bool enter(const std::string& key) {
    const bool is_object = peek() == '{';
    if (!is_object && peek() != '[') return false;
    advance();
    for (int index = 0;; ++index) {
      skip_blanks();
      if (at_end() || peek() == '}' || peek() == ']') return false;
      std::string name = std::to_string(index);
      if (is_object) {
        name = nlohmann::json::parse(take_string()).get<std::string>();
        skip_blanks();
        advance();  // the colon
        skip_blanks();
      }
      if (name == key) return true;
      skip_value();
      skip_blanks();
      if (peek() == ',') advance();
    }
  }

 private:
  const std::string& m_text;
  std::size_t m_at = 0;
};

}  // namespace

std::optional<TextSpan> find_value(const std::string& text, const std::vector<std::string>& path) {
  Scanner scanner(text);
  scanner.skip_blanks();
  for (const std::string& key : path) {
    if (!scanner.enter(key)) return std::nullopt;
  }
  const std::size_t begin = scanner.position();
  if (scanner.peek() == '"') {
    scanner.take_string();
    return TextSpan{begin, scanner.position()};
  }
  if (scanner.peek() != '{' && scanner.peek() != '[')
    return TextSpan{begin, std::min(text.find_first_of(",]}/ \t\r\n", begin), text.size())};
  scanner.skip_value();
  return TextSpan{begin, text.find_last_of("]}", scanner.position() - 1) + 1};
}

int nesting_depth(const std::string& text) {
  Scanner scanner(text);
  int depth = 0, deepest = 0;
  for (scanner.skip_blanks(); !scanner.at_end(); scanner.skip_blanks()) {
    const char c = scanner.peek();
    if (c == '"') {
      scanner.take_string();
      continue;
    }
    depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    deepest = std::max(deepest, depth);
    scanner.advance();
  }
  return deepest;
}

}  // namespace exemplar
