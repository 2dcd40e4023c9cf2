// JSON in and out of described structs: every problem collected at once, defaults written back, and the JSON Schema.
#pragma once

#include <string>
#include <vector>

#include "core/base/errors.h"
#include "core/scene/files/json_file.h"
#include "core/scene/settings.h"

namespace exemplar {

// Fills `object` (of the described type) from `json`; every problem is appended with its JSON path.
void read_object(const Json& json, const Description& type, void* object, const std::string& path,
                 std::vector<Problem>& problems);

// The object after defaults.
Json write_object(const Description& type, const void* object);

Json schema_of(const Description& type);

// "expected a number > 0" and the like.
std::string expectation(const FieldSpec& field);
// " (did you mean 'young'?)" or nothing.
std::string did_you_mean(const std::string& given, const std::vector<std::string>& known);
std::vector<std::string> keys_of(const Description& type);

// Takes "$schema" out of a scene or study: editors read it. A problem unless it is a line of text.
void take_schema_key(Json& document, std::vector<Problem>& problems);

// Throws InputError unless `path` is a path: keys, dots and [index].
void check_path(const std::string& path);
// `path` such as bodies[0].material.young or methods.fem.examples.stiffness. Objects on the way are created;
// an array index must exist (or be the next one). Throws InputError when the path does not fit the document.
void set_at_path(Json& document, const std::string& path, const Json& value);
// "PATH=VALUE" of --set; VALUE is JSON, or taken as a string when it is not.
void apply_assignment(Json& document, const std::string& assignment);

}  // namespace exemplar
