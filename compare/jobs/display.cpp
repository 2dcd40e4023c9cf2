#include "compare/jobs/display.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace exemplar {

bool on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::string rest = path ? path : "";
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    if (std::filesystem::exists(std::filesystem::path(rest.substr(0, colon)) / program)) return true;
    rest.erase(0, colon + 1);
  }
  return false;
}

std::optional<std::vector<std::string>> display_prefix() {
  const char* display = std::getenv("DISPLAY");
  if (display && *display) return std::vector<std::string>{};
  if (!on_path("xvfb-run")) return std::nullopt;
  // No reset: a server that starts anew after its last client has gone refuses the next one.
  return std::vector<std::string>{"xvfb-run", "-a",
                                  "-n",       std::to_string(100 + ::getpid() % 30000),
                                  "-s",       "-screen 0 1280x1024x24 -noreset"};
}

}  // namespace exemplar
