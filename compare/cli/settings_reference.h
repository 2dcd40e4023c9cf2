// The settings reference: every key of described settings as Markdown, made from the descriptions
// (docs/settings.md).
#pragma once

#include <string>
#include <vector>

#include "core/scene/settings.h"

namespace exemplar {

// One part of the page: `title` as its heading, `prefix` before every key, e.g. "methods.fem".
struct ReferencePart {
  std::string title, introduction, prefix;
  const Description* type = nullptr;
};

// A table of keys (type, unit, range, default, meaning) for every object, those that occur in several places
// once.
std::string settings_reference(const std::vector<ReferencePart>& parts);

}  // namespace exemplar
