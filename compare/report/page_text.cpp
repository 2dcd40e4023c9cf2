#include "compare/report/page_text.h"

namespace exemplar {

std::string inside_script(std::string text) {
  for (std::size_t at = 0; (at = text.find("</", at)) != std::string::npos; at += 3)
    text.insert(at + 1, "\\");
  return text;
}

std::string json_inside_script(const std::string& json) {
  std::string text;
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

std::string filled(std::string_view page, const std::vector<std::pair<std::string, std::string>>& parts) {
  std::string text;
  std::size_t from = 0;
  for (const auto& [mark, content] : parts) {
    const std::size_t at = page.find("%" + mark + "%", from);
    if (at == std::string_view::npos) continue;
    text += page.substr(from, at - from);
    text += content;
    from = at + mark.size() + 2;
  }
  text += page.substr(from);
  return text;
}

}  // namespace exemplar
