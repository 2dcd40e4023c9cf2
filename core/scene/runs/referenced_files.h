// What settings refer to beyond their own text: the files and runs that described fields name (FieldSpec::path).
#pragma once

#include <string>
#include <vector>

#include "core/base/hash.h"
#include "core/scene/settings.h"

namespace exemplar {

// As they stand in the settings, in the order of the fields.
std::vector<std::string> referenced_paths(const Description& type, const void* object);

// Adds the bytes of everything that is named, relative to `directory`. A folder is a finished run: its settings
// and the surfaces of all its frames count. What is not there counts as absent.
void add_referenced_contents(Hasher& hash, const Description& type, const void* object,
                             const std::string& directory);

}  // namespace exemplar
