// Puts data, style and scripts into a page.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace exemplar {

// Text inside <script> must not end it.
std::string inside_script(std::string text);

// JSON inside <script>: "</", "<!--" and "<script" change what the browser reads, so no < is left at all.
std::string json_inside_script(const std::string& json);

// Replaces %NAME% marks of the page, each once, in their order, without looking into what was put in.
std::string filled(std::string_view page, const std::vector<std::pair<std::string, std::string>>& parts);

}  // namespace exemplar
