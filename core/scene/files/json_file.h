// The text of a JSON document → a tree of values. Comments (// and /* */) are allowed.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace exemplar {

using Json = nlohmann::ordered_json;

// Nothing that Exemplar reads is nested deeper than ten; far deeper would end in the parser's recursion.
inline constexpr int k_deepest_nesting = 100;

// Throws InputError with line and column when the text is not JSON, or a key occurs twice in one object. `file` is
// what the message calls it.
Json parse_json(const std::string& text, const std::string& file);
Json read_json_file(const std::string& path);

}  // namespace exemplar
