#include "compare/jobs/quoting.h"

#include <fmt/format.h>

#include "core/base/plain_text.h"

namespace exemplar {

std::string shell_quoted(const std::string& word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_-+=./:,@%") == std::string::npos;
  if (plain) return word;
  std::string quoted(1, '\'');
  for (const char c : word) {
    if (c == '\'') quoted += "'\\'";
    quoted += c;
  }
  quoted += '\'';
  return quoted;
}

std::string shell_line(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& word : command) line += (line.empty() ? "" : " ") + shell_quoted(word);
  return line;
}

std::string as_operand(const std::string& path) {
  return path.starts_with('-') ? "./" + path : path;
}

std::string python_string(const std::string& text) {
  std::string literal = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const auto [code, length] = utf8_character(text, i);
    if (code == '"' || code == '\\') {
      literal += {'\\', text[i]};
    } else if (code >= 0x20 && code < 0x7f) {
      literal += text[i];
    } else if (code < 0x10000) {
      literal += fmt::format("\\u{:04x}", code);
    } else {
      literal += fmt::format("\\U{:08x}", code);
    }
    i += length;
  }
  return literal + '"';
}

std::string snakemake_command(const std::string& shell) {
  std::string doubled;
  for (const char c : shell) doubled += c == '{' || c == '}' ? std::string(2, c) : std::string(1, c);
  return python_string(doubled);
}

}  // namespace exemplar
