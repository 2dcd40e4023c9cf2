// Where things stand in the text of a JSON document with comments: for editing a value in place, and to measure how
// deeply it is nested before it is parsed.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace exemplar {

struct TextSpan {
  std::size_t begin = 0, end = 0;  // bytes
};

// The value at a path of keys and indices ("expect", "0", "value") of a document that parses; none: there is no such
// value.
std::optional<TextSpan> find_value(const std::string& text, const std::vector<std::string>& path);

// The deepest nesting of brackets outside strings and comments; also of a text that is not JSON.
int nesting_depth(const std::string& text);

}  // namespace exemplar
