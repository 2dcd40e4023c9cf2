#include "core/scene/scene_file.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace exemplar {

namespace {

void read_methods(const Json& json, const MethodDescriptions& known, SceneFile& file,
                  std::vector<Problem>& problems) {
  if (!json.is_object()) {
    problems.push_back({"", "methods", "expected an object {\"<method>\": {...}}"});
    return;
  }
  std::vector<std::string> names;
  for (const auto& [name, description] : known) names.push_back(name);
  for (const auto& [key, value] : json.items()) {
    bool found = false;
    for (auto& [name, own] : file.methods) {
      if (name != key) continue;
      read_object(value, *own.type, own.data.get(), "methods." + key, problems);
      found = true;
    }
    if (!found) problems.push_back({"", "methods." + key, "unknown method" + did_you_mean(key, names)});
  }
}

}  // namespace

const AnySettings& SceneFile::method(const std::string& name) const {
  for (const auto& [known, own] : methods) {
    if (known == name) return own;
  }
  throw InputError("unknown method '" + name + "'");
}

SceneFile parse_scene(Json document, const std::string& path, const MethodDescriptions& methods) {
  SceneFile file;
  file.path = path;
  file.directory = std::filesystem::path(path).parent_path().string();
  file.document = document.dump(2, ' ', false, Json::error_handler_t::replace);
  for (const auto& [name, description] : methods) {
    file.methods.emplace_back(name, AnySettings{description, description->make_default()});
  }
  std::vector<Problem> problems;
  take_schema_key(document, problems);
  if (document.is_object()) {
    if (document.contains("methods")) {
      read_methods(document["methods"], methods, file, problems);
      document.erase("methods");
    }
  }
  read_object(document, description_of<SceneSettings>(), &file.settings, "", problems);
  if (!problems.empty()) {
    for (Problem& problem : problems) problem.file = path;
    throw InputError(problems);
  }
  return file;
}

SceneFile read_scene(const std::string& path, const std::vector<std::string>& assignments,
                     const MethodDescriptions& methods) {
  Json document = read_json_file(path);
  for (const std::string& assignment : assignments) apply_assignment(document, assignment);
  return parse_scene(std::move(document), path, methods);
}

bool is_live_setting(const std::string& path, const MethodDescriptions& methods) {
  std::vector<std::string> keys{""};
  for (const char c : path) {
    if (c == '.')
      keys.emplace_back();
    else
      keys.back() += c;
  }
  for (std::string& key : keys) key = key.substr(0, key.find('['));
  const Description* type = &description_of<SceneSettings>();
  std::size_t next = 0;
  if (keys[0] == "methods") {
    const auto method = std::find_if(methods.begin(), methods.end(),
                                     [&](const auto& m) { return keys.size() > 1 && m.first == keys[1]; });
    if (method == methods.end()) return false;
    type = method->second;
    next = 2;
  }
  for (; next < keys.size() && type != nullptr; ++next) {
    const FieldSpec* field = type->find(keys[next]);
    if (field == nullptr) return false;
    if (field->is_live) return true;
    type = field->nested;
  }
  return false;
}

Json scene_schema(const MethodDescriptions& methods) {
  Json schema = schema_of(description_of<SceneSettings>());
  Json& all = schema["properties"]["methods"];
  all = {{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}};
  for (const auto& [name, description] : methods) all["properties"][name] = schema_of(*description);
  schema["properties"]["$schema"] = {{"type", "string"}};
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "Exemplar scene";
  return schema;
}

Json write_scene(const SceneFile& file, const std::string& method) {
  Json json = write_object(description_of<SceneSettings>(), &file.settings);
  const AnySettings& settings = file.method(method);
  json["methods"] = {{method, write_object(*settings.type, settings.data.get())}};
  return json;
}

}  // namespace exemplar
