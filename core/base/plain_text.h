// Characters that act instead of being seen: control characters of ASCII and Latin-1, the line ends of Unicode and those
// that turn the direction of writing round. Names, titles and paths go into file names, scripts, pages and onto terminals
// and must hold none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace exemplar {

// The character at `at` (UTF-8) and its length in bytes. A byte that begins none is U+DC00 + byte, of length 1.
std::pair<std::uint32_t, std::size_t> utf8_character(std::string_view text, std::size_t at);
bool is_utf8(std::string_view text);

// Bytes of the control character that begins at `at`; 0: none begins there.
std::size_t control_length(std::string_view text, std::size_t at);

// `allowed`: control characters of one byte that may stand there, such as line ends of a description.
bool has_control_characters(std::string_view text, std::string_view allowed = {});

// For a terminal: control characters that are not allowed as numbers, \x1b.
std::string printable(std::string_view text, std::string_view allowed = {});

}  // namespace exemplar
