// exemplar list: what there is, one line each.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "compare/cli/commands.h"
#include "compare/cli/settings_reference.h"
#include "compare/study/study.h"
#include "compare/study/study_settings.h"
#include "core/base/errors.h"
#include "core/mesh/models/primitives.h"

namespace exemplar {

namespace {

struct Entry {
  std::string name, doc;
  Json more = Json::object();
};

Json capabilities_json(const Capabilities& c) {
  return {{"deformation", c.deformation},
          {"elastic_examples", c.elastic_examples},
          {"plastic_examples", c.plastic_examples},
          {"weight_control", c.weight_control},
          {"plasticity", c.plasticity},
          {"fracture", c.fracture},
          {"body_contact", c.body_contact},
          {"self_contact", c.self_contact},
          {"friction", c.friction},
          {"restitution", c.restitution},
          {"material_restitution", c.material_restitution},
          {"open_surfaces", c.open_surfaces},
          {"supports", c.supports},
          {"loads", c.loads},
          {"pulls", c.pulls}};
}

std::vector<Entry> list_methods(const Registry& registry) {
  std::vector<Entry> entries;
  for (const MethodInfo& method : registry.methods()) {
    entries.push_back({method.name, method.summary,
                       Json{{"source", method.source},
                            {"scene", method.scene},
                            {"validated_by", method.validated_by},
                            {"capabilities", capabilities_json(method.capabilities)}}});
  }
  return entries;
}

bool has_examples(const Json& scene) {
  if (!scene.contains("bodies") || !scene["bodies"].is_array()) return false;
  const Json& bodies = scene["bodies"];
  return std::any_of(bodies.begin(), bodies.end(),
                     [](const Json& body) { return body.is_object() && body.contains("examples"); });
}

// The method that shows a scene best: the first one it has settings for, else the one that names it as its
// own scene, else the first that deforms (by examples when there are some).
std::string shown_with(const std::string& name, const Json& scene, const Registry& registry) {
  if (scene.contains("methods") && scene["methods"].is_object()) {
    for (const auto& item : scene["methods"].items()) {
      if (registry.find(item.key())) return item.key();
    }
  }
  for (const MethodInfo& method : registry.methods()) {
    if (method.scene == name) return method.name;
  }
  const bool examples = has_examples(scene);
  for (const MethodInfo& method : registry.methods()) {
    if (method.capabilities.deformation && (!examples || method.capabilities.elastic_examples))
      return method.name;
  }
  return registry.methods().empty() ? "" : registry.methods().front().name;
}

// Title of every JSON file in a folder of data/; scenes also say which method shows them.
std::vector<Entry> list_files(const std::string& folder, const Registry& registry) {
  namespace fs = std::filesystem;
  std::vector<Entry> entries;
  const fs::path directory = fs::path(data_directory()) / folder;
  if (!fs::is_directory(directory)) return entries;
  for (const fs::directory_entry& item : fs::directory_iterator(directory)) {
    if (item.path().extension() != ".json") continue;
    const std::string name = item.path().stem().string();
    Entry entry{name, "(not readable)", {{"path", item.path().string()}}};
    try {
      const Json document = read_json_file(item.path().string());
      entry.doc = document.value("title", "");
      if (folder == "scenes") entry.more["shown_with"] = shown_with(name, document, registry);
    } catch (const InputError&) {
    }
    entries.push_back(entry);
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

// 2.1e+11 and 210000000000 are both hard to read: 210 GPa.
std::string pascals(double value) {
  const auto text = [](double v, const char* unit) { return fmt::format("{:.4g} {}", v, unit); };
  if (value >= 1e9) return text(value * 1e-9, "GPa");
  if (value >= 1e6) return text(value * 1e-6, "MPa");
  return value >= 1e3 ? text(value * 1e-3, "kPa") : text(value, "Pa");
}

void say_materials(const Terminal& terminal) {
  std::vector<std::vector<std::string>> rows{{"materials", "", "density [kg/m³]", "young", "poisson",
                                              "yield_stress", "fracture_energy [J/m²]", "damping [s]"}};
  for (const MaterialPreset& preset : material_presets()) {
    const Material& m = preset.material;
    rows.push_back({preset.name, preset.doc, fmt::format("{:g}", m.density), pascals(m.young),
                    fmt::format("{:g}", m.poisson), m.yield_stress ? pascals(*m.yield_stress) : "–",
                    m.fracture_energy ? fmt::format("{:g}", *m.fracture_energy) : "–",
                    fmt::format("{:g}", m.damping)});
  }
  terminal.say(format_table(rows));
}

std::vector<Entry> list_materials() {
  std::vector<Entry> entries;
  for (const MaterialPreset& preset : material_presets()) {
    entries.push_back({preset.name, preset.doc, write_object(description_of<Material>(), &preset.material)});
  }
  return entries;
}

std::vector<Entry> list_primitives() {
  std::vector<Entry> entries;
  for (const PrimitiveInfo& primitive : primitive_list()) entries.push_back({primitive.name, primitive.doc});
  return entries;
}

// docs/settings.md: made from the descriptions, nothing else.
std::string settings_page(const Registry& registry) {
  std::vector<ReferencePart> parts{
      {"Scene",
       "A scene file is an object with these keys. Comments are allowed; `--set PATH=VALUE` changes one.", "",
       &description_of<SceneSettings>()},
      {"Study", "A study file is an object with these keys.", "", &description_of<StudySettings>()}};
  for (const MethodInfo& method : registry.methods()) {
    parts.push_back({"Method `" + method.name + "`", method.summary + " (" + method.source + ").",
                     "methods." + method.name, method.settings});
  }
  return "# Settings\n\nEvery key of scenes, studies and methods. Made by `exemplar list settings` from the "
         "same "
         "descriptions that files are read with; a test keeps this page current. SI units.\n" +
         settings_reference(parts);
}

void list_settings(const ListArguments& arguments, const Registry& registry, const Terminal& terminal) {
  if (!arguments.json) {
    std::string page = settings_page(registry);
    page.pop_back();  // say() ends the line
    return terminal.say(page);
  }
  const Json schemas{{"scene", scene_schema(registry.descriptions())}, {"study", study_schema()}};
  terminal.say(schemas.dump(2));
}

// One method: what it is, what it models and its settings.
void say_method(const MethodInfo& method, const Terminal& terminal) {
  terminal.say(fmt::format("{}: {} ({})", method.name, method.summary, method.source));
  std::vector<std::string> models, leaves_out;
  const Json capabilities = capabilities_json(method.capabilities);
  for (const auto& [name, can] : capabilities.items()) {
    std::string words = name;
    std::replace(words.begin(), words.end(), '_', ' ');
    (can.get<bool>() ? models : leaves_out).push_back(words);
  }
  terminal.say(fmt::format("models: {}", fmt::join(models, ", ")));
  terminal.say(fmt::format("leaves out: {}",
                           leaves_out.empty() ? "nothing" : fmt::format("{}", fmt::join(leaves_out, ", "))));
  terminal.say(fmt::format("try: exemplar run {} --method {}\n", method.scene, method.name));
  const std::shared_ptr<void> defaults = method.settings->make_default();
  const Json values = write_object(*method.settings, defaults.get());
  std::vector<std::vector<std::string>> rows{{"methods." + method.name + ".…", "default", ""}};
  for (const FieldSpec& field : method.settings->fields) {
    const std::string value =
        values.contains(field.key) && !values[field.key].is_structured() ? values[field.key].dump() : "";
    rows.push_back({field.key, value, field.doc + (field.unit.empty() ? "" : " [" + field.unit + "]")});
  }
  terminal.say(format_table(rows));
}

std::vector<Entry> entries_of(const std::string& what, const Registry& registry) {
  if (what == "methods") return list_methods(registry);
  if (what == "materials") return list_materials();
  if (what == "primitives") return list_primitives();
  return list_files(what, registry);
}

void check_kind(const std::string& what, std::vector<std::string> known, const Registry& registry) {
  if (std::find(known.begin(), known.end(), what) != known.end()) return;
  known.push_back("settings");
  for (const MethodInfo& method : registry.methods()) known.push_back(method.name);
  throw InputError(
      fmt::format("there is no list of '{}'{}: methods, scenes, studies, materials, primitives, settings, "
                  "or the name of a method",
                  what, did_you_mean(what, known)));
}

}  // namespace

int list_command(const ListArguments& arguments, const Registry& registry, const Terminal& terminal) {
  if (arguments.what == "settings") {
    list_settings(arguments, registry, terminal);
    return k_exit_done;
  }
  std::vector<std::string> kinds{"methods", "scenes", "studies", "materials", "primitives"};
  if (const MethodInfo* method = registry.find(arguments.what); method && !arguments.json) {
    say_method(*method, terminal);
    return k_exit_done;
  }
  if (!arguments.what.empty()) {
    check_kind(arguments.what, kinds, registry);
    kinds = {arguments.what};
  }
  Json all = Json::object();
  for (const std::string& kind : kinds) {
    const std::vector<Entry> entries = entries_of(kind, registry);
    if (arguments.json) {
      all[kind] = Json::array();
      for (const Entry& entry : entries) {
        Json item{{"name", entry.name}, {"doc", entry.doc}};
        item.update(entry.more);
        all[kind].push_back(item);
      }
      continue;
    }
    if (kind == "materials" && kinds.size() == 1) {
      say_materials(terminal);
      continue;
    }
    std::vector<std::vector<std::string>> rows{{kind, ""}};
    for (const Entry& entry : entries) rows.push_back({entry.name, entry.doc});
    terminal.say(format_table(rows));
  }
  if (arguments.json) terminal.say(all.dump(2));
  return k_exit_done;
}

}  // namespace exemplar
