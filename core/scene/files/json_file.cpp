#include "core/scene/files/json_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "core/base/input_file.h"
#include "core/base/plain_text.h"
#include "core/scene/files/json_text.h"

namespace exemplar {

namespace {

// Objects keep the order of their keys, which makes looking one up as long as the object.
constexpr std::size_t k_most_keys = 20000;

// 1-based line and column of a byte offset.
std::pair<int, int> line_and_column(const std::string& text, std::size_t byte) {
  int line = 1, column = 1;
  for (std::size_t i = 0; i + 1 < byte && i < text.size(); ++i) {
    if (text[i] == '\n') {
      ++line;
      column = 1;
    } else {
      ++column;
    }
  }
  return {line, column};
}

// The line itself, as far as one can take it in.
std::string text_of_line(const std::string& text, int line) {
  constexpr std::size_t k_most = 60;
  std::size_t begin = 0;
  for (int k = 1; k < line; ++k) begin = text.find('\n', begin) + 1;
  std::string found = text.substr(begin, text.find('\n', begin) - begin);
  found.erase(0, std::min(found.find_first_not_of(" \t\r"), found.size()));
  const bool is_long = found.size() > k_most;
  if (is_long) found.resize(k_most);
  return printable(found) + (is_long ? "…" : "");
}

// nlohmann's messages read "[json.exception.…] parse error at line 1, column 2: syntax error while …:
// reason".
std::string reason_of(const std::string& what) {
  const std::size_t at = what.find("column ");
  const std::size_t colon = at == std::string::npos ? std::string::npos : what.find(": ", at);
  return colon == std::string::npos ? what : what.substr(colon + 2);
}

// Looks at the keys alone. (A callback of the parser would see them too, but makes it walk through a list again for
// each of its entries.) What is not JSON is reported by the parser that follows.
class KeyCheck : public nlohmann::json_sax<Json> {
 public:
  explicit KeyCheck(const std::string& file) : m_file(file) {}
  const std::vector<Problem>& problems() const { return m_problems; }

  bool key(string_t& name) override {
    if (m_keys.back().size() >= k_most_keys)
      throw InputError(
          Problem{m_file, "", fmt::format("an object has more than the {} keys allowed", k_most_keys)});
    if (!m_keys.back().insert(name).second)
      m_problems.push_back({m_file, "", fmt::format("key \"{}\" occurs twice in one object", name)});
    return true;
  }
  bool start_object(std::size_t) override {
    m_keys.emplace_back();
    return true;
  }
  bool end_object() override {
    m_keys.pop_back();
    return true;
  }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string& token, const Json::exception& error) override {
    constexpr int k_out_of_range = 406;
    if (error.id == k_out_of_range) m_too_large = {position, token};
    return false;
  }
  // A number that no double holds, and where it ends; none: the text is empty.
  const std::pair<std::size_t, std::string>& too_large() const { return m_too_large; }

 private:
  const std::string& m_file;
  std::vector<std::set<std::string>> m_keys;
  std::vector<Problem> m_problems;
  std::pair<std::size_t, std::string> m_too_large;
};

}  // namespace

Json parse_json(const std::string& text, const std::string& file) {
  if (const int depth = nesting_depth(text); depth > k_deepest_nesting)
    throw InputError(Problem{
        file, "",
        fmt::format("brackets are nested {} deep, more than the {} allowed", depth, k_deepest_nesting)});
  KeyCheck keys(file);
  try {
    Json::sax_parse(text, &keys, Json::input_format_t::json, true, true);
    Json json = Json::parse(text, nullptr, true, true);
    if (!keys.problems().empty()) throw InputError(keys.problems());
    return json;
  } catch (const Json::parse_error& error) {
    const auto [line, column] = line_and_column(text, error.byte);
    throw InputError(Problem{file, "",
                             fmt::format("line {}, column {}: not JSON: {}; the line: {}", line, column,
                                         reason_of(error.what()), text_of_line(text, line))});
  } catch (const Json::exception& error) {
    const auto& [position, number] = keys.too_large();
    if (number.empty()) throw InputError(Problem{file, "", fmt::format("not JSON: {}", error.what())});
    const auto [line, column] = line_and_column(text, position);
    throw InputError(Problem{
        file, "", fmt::format("line {}, column {}: the number {} is too large", line, column, number)});
  }
}

Json read_json_file(const std::string& path) {
  return parse_json(read_whole_file(path, k_largest_text_file), path);
}

}  // namespace exemplar
