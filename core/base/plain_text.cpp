#include "core/base/plain_text.h"

namespace exemplar {

std::pair<std::uint32_t, std::size_t> utf8_character(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[at + k]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  const std::pair<std::uint32_t, std::size_t> none{0xdc00 + first, 1};
  if (first < 0xc2 || first > 0xf4 || at + length > text.size()) return none;
  std::uint32_t code = first & (0x7fu >> length);
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(k) & 0xc0) != 0x80) return none;
    code = code << 6 | (byte(k) & 0x3fu);
  }
  const bool too_long = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool is_none = (code >= 0xd800 && code < 0xe000) || code > 0x10ffff;
  return too_long || is_none ? none : std::pair(code, length);
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto [code, length] = utf8_character(text, i);
    if (code >= 0xdc00 && code < 0xe000) return false;
    i += length;
  }
  return true;
}

std::size_t control_length(std::string_view text, std::size_t at) {
  const auto [code, length] = utf8_character(text, at);
  const bool is_control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool is_line_or_turn = (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
  return is_control || is_line_or_turn ? length : 0;
}

bool has_control_characters(std::string_view text, std::string_view allowed) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (control_length(text, i) > 0 && allowed.find(text[i]) == std::string_view::npos) return true;
  }
  return false;
}

std::string printable(std::string_view text, std::string_view allowed) {
  constexpr char digits[] = "0123456789abcdef";
  std::string shown;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_allowed = allowed.find(text[i]) != std::string_view::npos;
    const std::size_t length = is_allowed ? 0 : control_length(text, i);
    if (length == 0) shown += text[i];
    for (std::size_t k = i; k < i + length; ++k) {
      const auto byte = static_cast<unsigned char>(text[k]);
      shown += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    }
    if (length > 1) i += length - 1;
  }
  return shown;
}

}  // namespace exemplar
