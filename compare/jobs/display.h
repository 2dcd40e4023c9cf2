// Programs that draw need a display: the one there is, or a virtual one (xvfb-run).
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace exemplar {

// A folder of PATH holds the program.
bool on_path(const std::string& program);

// What to put before a command that draws: nothing where there is a display, else xvfb-run with a number of
// its own, since two that look for a free one at the same time may find the same; none when there is neither.
std::optional<std::vector<std::string>> display_prefix();

}  // namespace exemplar
