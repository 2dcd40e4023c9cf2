#include "core/scene/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/plain_text.h"
#include "core/scene/files/json_text.h"

namespace exemplar {

namespace {

std::string describe_value(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 40) text = text.substr(0, 37) + "...";
  return fmt::format("{} (a{} {})", text,
                     std::string("aeiou").find(json.type_name()[0]) != std::string::npos ? "n" : "",
                     json.type_name());
}

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t previous = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = previous;
    }
  }
  return row[b.size()];
}

std::string range_text(const Range& range) {
  const bool has_min = std::isfinite(range.min), has_max = std::isfinite(range.max);
  if (has_min && has_max) {
    return fmt::format(" in {}{:g}, {:g}{}", range.open_min ? "(" : "[", range.min, range.max,
                       range.open_max ? ")" : "]");
  }
  if (has_min) return fmt::format(" {} {:g}", range.open_min ? ">" : "≥", range.min);
  if (has_max) return fmt::format(" {} {:g}", range.open_max ? "<" : "≤", range.max);
  return "";
}

bool in_range(const Range& range, double value) {
  if (!std::isfinite(value)) return false;
  if (range.open_min ? value <= range.min : value < range.min) return false;
  return !(range.open_max ? value >= range.max : value > range.max);
}

std::string join_path(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

// Reads one value of a field; says false when it does not fit (type or range).
class ValueReader {
 public:
  ValueReader(const FieldSpec& field, const Json& json) : m_field(field), m_json(json) {}

  bool read_into(void* value) const {
    switch (m_field.kind) {
      case FieldKind::number:
        return number(m_json, *static_cast<double*>(value));
      case FieldKind::integer:
        return integer(m_json, *static_cast<int*>(value));
      case FieldKind::boolean:
        return boolean(*static_cast<bool*>(value));
      case FieldKind::text:
        return text(m_json, *static_cast<std::string*>(value));
      case FieldKind::vector:
        return vector(m_json, *static_cast<Vec3*>(value));
      case FieldKind::integer_vector:
        return integer_vector(*static_cast<IntVec3*>(value));
      case FieldKind::numbers:
        return sequence(*static_cast<std::vector<double>*>(value), &ValueReader::number);
      case FieldKind::pairs:
        return sequence(*static_cast<std::vector<Vec2>*>(value), &ValueReader::pair);
      case FieldKind::vectors:
        return sequence(*static_cast<std::vector<Vec3>*>(value), &ValueReader::vector);
      case FieldKind::texts:
        return sequence(*static_cast<std::vector<std::string>*>(value), &ValueReader::text);
      case FieldKind::json:
        return json_text(m_json, *static_cast<JsonText*>(value));
      case FieldKind::named_numbers:
        return named(*static_cast<NamedNumbers*>(value), &ValueReader::number_or_null);
      case FieldKind::named_values:
        return named(*static_cast<NamedValues*>(value), &ValueReader::json_text);
      default:
        return false;
    }
  }

 private:
  bool number(const Json& json, double& value) const {
    if (!json.is_number()) return false;
    value = json.get<double>();
    return in_range(m_field.range, value);
  }
  bool number_or_null(const Json& json, double& value) const {
    value = std::numeric_limits<double>::quiet_NaN();
    return json.is_null() || number(json, value);
  }
  bool json_text(const Json& json, JsonText& value) const {
    value.text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
    return true;
  }
  bool integer(const Json& json, int& value) const {
    if (!json.is_number()) return false;
    const double wide = json.get<double>();
    if (wide != std::floor(wide) || std::abs(wide) > 2e9) return false;
    value = static_cast<int>(wide);
    return in_range(m_field.range, wide);
  }
  bool boolean(bool& value) const {
    if (!m_json.is_boolean()) return false;
    value = m_json.get<bool>();
    return true;
  }
  bool text(const Json& json, std::string& value) const {
    if (!json.is_string()) return false;
    value = json.get<std::string>();
    const auto& allowed = m_field.choices;
    const bool has_lines = m_field.key == "description" || m_field.key == "lesson";
    if (has_control_characters(value, has_lines ? "\n" : "")) return false;
    return allowed.empty() || std::find(allowed.begin(), allowed.end(), value) != allowed.end();
  }
  bool direction(const Json& json, Vec3& value) const {
    const std::string name = json.get<std::string>();
    const bool negative = !name.empty() && name[0] == '-';
    const std::size_t axis = std::string("xyz").find(name.substr(negative ? 1 : 0));
    if (axis == std::string::npos || name.size() != (negative ? 2u : 1u)) return false;
    value = Vec3::Unit(static_cast<int>(axis)) * (negative ? -1 : 1);
    return true;
  }
  bool vector(const Json& json, Vec3& value) const {
    if (m_field.is_direction && json.is_string()) return direction(json, value);
    if (!json.is_array() || json.size() != 3) return false;
    for (int k = 0; k < 3; ++k) {
      if (!number(json[static_cast<std::size_t>(k)], value[k])) return false;
    }
    return !m_field.is_direction || value.norm() > 0;
  }
  bool pair(const Json& json, Vec2& value) const {
    if (!json.is_array() || json.size() != 2) return false;
    return number(json[0], value[0]) && number(json[1], value[1]);
  }
  bool integer_vector(IntVec3& value) const {
    if (!m_json.is_array() || m_json.size() != 3) return false;
    for (int k = 0; k < 3; ++k) {
      if (!integer(m_json[static_cast<std::size_t>(k)], value[k])) return false;
    }
    return true;
  }
  template <class U>
  bool sequence(std::vector<U>& values, bool (ValueReader::*read)(const Json&, U&) const) const {
    if (!m_json.is_array() && !m_field.takes_single) return false;
    values.clear();
    for (const Json& item : m_json.is_array() ? m_json : Json::array({m_json})) {
      U value{};
      if (!(this->*read)(item, value)) return false;
      values.push_back(value);
    }
    return true;
  }
  template <class U>
  bool named(std::vector<std::pair<std::string, U>>& values,
             bool (ValueReader::*read)(const Json&, U&) const) const {
    if (!m_json.is_object()) return false;
    values.clear();
    for (const auto& [key, item] : m_json.items()) {
      values.emplace_back(key, U{});
      if (has_control_characters(key)) return false;
      if (!(this->*read)(item, values.back().second)) return false;
    }
    return true;
  }

  const FieldSpec& m_field;
  const Json& m_json;
};

void read_list(const Json& json, const FieldSpec& field, void* object, const std::string& path,
               std::vector<Problem>& problems) {
  if (!json.is_array()) {
    problems.push_back({"", path, "expected a list [...], got " + describe_value(json)});
    return;
  }
  field.clear(object);
  for (std::size_t i = 0; i < json.size(); ++i) {
    read_object(json[i], *field.nested, field.append(object), fmt::format("{}[{}]", path, i), problems);
  }
}

void read_choice(const Json& json, const FieldSpec& field, void* object, const std::string& path,
                 std::vector<Problem>& problems) {
  if (json.is_string()) {
    const std::string given = json.get<std::string>();
    const auto found = std::find(field.choices.begin(), field.choices.end(), given);
    if (found != field.choices.end()) {
      field.set_choice(object, static_cast<int>(found - field.choices.begin()));
      return;
    }
  }
  problems.push_back(
      {"", path,
       fmt::format("{}, got {}{}", expectation(field), describe_value(json),
                   json.is_string() ? did_you_mean(json.get<std::string>(), field.choices) : "")});
}

void read_field(const Json& json, const FieldSpec& field, void* object, const std::string& path,
                std::vector<Problem>& problems) {
  if (field.is_optional && json.is_null()) return field.clear(object);
  if (field.takes_auto && json == "auto") return field.clear(object);
  if (field.kind == FieldKind::object)
    return read_object(json, *field.nested, field.make(object), path, problems);
  if (field.kind == FieldKind::list) return read_list(json, field, object, path, problems);
  if (field.kind == FieldKind::choice) return read_choice(json, field, object, path, problems);
  if (!ValueReader(field, json).read_into(field.make(object))) {
    problems.push_back(
        {"", path,
         fmt::format("{}, got {}{}", expectation(field), describe_value(json),
                     json.is_string() ? did_you_mean(json.get<std::string>(), field.choices) : "")});
  }
}

void check_groups(const Json& json, const Description& type, const std::string& path,
                  std::vector<Problem>& problems) {
  auto check = [&](const std::vector<std::string>& group, bool needs_one) {
    std::vector<std::string> given;
    for (const std::string& key : group) {
      if (json.contains(key) && !json[key].is_null()) given.push_back(key);
    }
    if (given.size() > 1) {
      problems.push_back(
          {"", path, fmt::format("only one of these may be given: {}", fmt::join(given, ", "))});
    } else if (given.empty() && needs_one) {
      problems.push_back({"", path, fmt::format("one of these is needed: {}", fmt::join(group, ", "))});
    }
  };
  for (const auto& group : type.exactly_one) check(group, true);
  for (const auto& group : type.at_most_one) check(group, false);
}

void read_preset(const Json& json, const Description& type, void* object, const std::string& path,
                 std::vector<Problem>& problems) {
  const Json& given = json[type.preset_key];
  if (given.is_null()) return;
  const auto& names = type.preset_names;
  if (given.is_string() && std::find(names.begin(), names.end(), given.get<std::string>()) != names.end()) {
    type.apply_preset(object, given.get<std::string>());
    return;
  }
  problems.push_back(
      {"", join_path(path, type.preset_key),
       fmt::format("expected one of {}, got {}{}", fmt::join(names, ", "), describe_value(given),
                   given.is_string() ? did_you_mean(given.get<std::string>(), names) : "")});
}

Json json_of(const JsonText& value) {
  const Json json = Json::parse(value.text, nullptr, false);
  return json.is_discarded() ? Json(value.text) : json;
}

Json write_value(const FieldSpec& field, const void* object) {
  const void* value = field.get(object);
  if (!value) return nullptr;
  auto vector = [](const auto& v) { return Json::array({v[0], v[1], v[2]}); };
  switch (field.kind) {
    case FieldKind::number:
      return *static_cast<const double*>(value);
    case FieldKind::integer:
      return *static_cast<const int*>(value);
    case FieldKind::boolean:
      return *static_cast<const bool*>(value);
    case FieldKind::text:
      return *static_cast<const std::string*>(value);
    case FieldKind::vector:
      return vector(*static_cast<const Vec3*>(value));
    case FieldKind::integer_vector:
      return vector(*static_cast<const IntVec3*>(value));
    case FieldKind::numbers:
      return *static_cast<const std::vector<double>*>(value);
    case FieldKind::texts:
      return *static_cast<const std::vector<std::string>*>(value);
    case FieldKind::pairs: {
      Json list = Json::array();
      for (const Vec2& v : *static_cast<const std::vector<Vec2>*>(value))
        list.push_back(Json::array({v[0], v[1]}));
      return list;
    }
    case FieldKind::vectors: {
      Json list = Json::array();
      for (const Vec3& v : *static_cast<const std::vector<Vec3>*>(value)) list.push_back(vector(v));
      return list;
    }
    case FieldKind::json:
      return json_of(*static_cast<const JsonText*>(value));
    case FieldKind::named_numbers: {
      Json object_with_numbers = Json::object();
      for (const auto& [name, number] : *static_cast<const NamedNumbers*>(value))
        object_with_numbers[name] = std::isfinite(number) ? Json(number) : Json(nullptr);
      return object_with_numbers;
    }
    case FieldKind::named_values: {
      Json object_with_values = Json::object();
      for (const auto& [name, text] : *static_cast<const NamedValues*>(value))
        object_with_values[name] = json_of(text);
      return object_with_values;
    }
    case FieldKind::object:
      return write_object(*field.nested, value);
    default:
      return nullptr;
  }
}

Json number_schema(const char* type, const Range& range) {
  Json schema{{"type", type}};
  if (std::isfinite(range.min)) schema[range.open_min ? "exclusiveMinimum" : "minimum"] = range.min;
  if (std::isfinite(range.max)) schema[range.open_max ? "exclusiveMaximum" : "maximum"] = range.max;
  return schema;
}

Json array_schema(Json items, int count = 0) {
  Json schema{{"type", "array"}, {"items", std::move(items)}};
  if (count > 0) schema["minItems"] = schema["maxItems"] = count;
  return schema;
}

Json vector_schema(const FieldSpec& field) {
  Json vector = array_schema(number_schema("number", field.range), 3);
  if (!field.is_direction) return vector;
  return Json{{"anyOf", Json::array({vector, Json{{"enum", {"x", "y", "z", "-x", "-y", "-z"}}}})}};
}

Json field_schema(const FieldSpec& field);

Json object_schema(const Description& type) {
  Json whole = schema_of(type);
  if (type.shorthand.empty()) return whole;
  return Json{{"anyOf", Json::array({field_schema(*type.find(type.shorthand)), whole})}};
}

Json field_schema(const FieldSpec& field) {
  switch (field.kind) {
    case FieldKind::number:
      return number_schema("number", field.range);
    case FieldKind::integer:
      return number_schema("integer", field.range);
    case FieldKind::boolean:
      return {{"type", "boolean"}};
    case FieldKind::choice:
      return {{"enum", field.choices}};
    case FieldKind::text:
      return field.choices.empty() ? Json{{"type", "string"}} : Json{{"enum", field.choices}};
    case FieldKind::vector:
      return vector_schema(field);
    case FieldKind::integer_vector:
      return array_schema(number_schema("integer", field.range), 3);
    case FieldKind::numbers: {
      const Json number = number_schema("number", field.range);
      if (!field.takes_single) return array_schema(number);
      return {{"anyOf", Json::array({number, array_schema(number)})}};
    }
    case FieldKind::texts:
      return array_schema({{"type", "string"}});
    case FieldKind::pairs:
      return array_schema(array_schema(number_schema("number", field.range), 2));
    case FieldKind::vectors:
      return array_schema(vector_schema(field));
    case FieldKind::json:
      return Json::object();
    case FieldKind::named_numbers:
      return {{"type", "object"},
              {"additionalProperties",
               {{"anyOf", Json::array({number_schema("number", field.range), Json{{"type", "null"}}})}}}};
    case FieldKind::named_values:
      return {{"type", "object"}};
    case FieldKind::object:
      return object_schema(*field.nested);
    case FieldKind::list:
      return array_schema(object_schema(*field.nested));
  }
  return Json::object();
}

Json documented(const FieldSpec& field, const Json& default_value) {
  Json schema = field_schema(field);
  if (field.takes_auto) schema = Json{{"anyOf", Json::array({schema, Json{{"const", "auto"}}})}};
  if (field.is_optional) schema = Json{{"anyOf", Json::array({schema, Json{{"type", "null"}}})}};
  schema["description"] = field.unit.empty() ? field.doc : fmt::format("{} [{}]", field.doc, field.unit);
  if (!default_value.is_null() && field.kind != FieldKind::object && field.kind != FieldKind::list) {
    schema["default"] = default_value;
  }
  return schema;
}

// Of an object with few keys, how one is written.
std::string shape_of(const Description& type) {
  constexpr std::size_t k_few = 4;
  if (type.fields.size() > k_few) return " {...}";
  const std::shared_ptr<void> defaults = type.make_default();
  const Json shape = write_object(type, defaults.get());
  return shape.empty() ? " {...}" : " such as " + shape.dump();
}

}  // namespace

void read_object(const Json& json, const Description& type, void* object, const std::string& path,
                 std::vector<Problem>& problems) {
  if (!json.is_object() && !type.shorthand.empty())
    return read_field(json, *type.find(type.shorthand), object, path, problems);
  if (!json.is_object()) {
    problems.push_back(
        {"", path, fmt::format("expected an object{}, got {}", shape_of(type), describe_value(json))});
    return;
  }
  const std::size_t problems_before = problems.size();
  if (!type.preset_key.empty() && json.contains(type.preset_key))
    read_preset(json, type, object, path, problems);
  for (const auto& [key, value] : json.items()) {
    if (key == type.preset_key && !key.empty()) continue;
    const std::string where = join_path(path, key);
    if (const FieldSpec* field = type.find(key)) {
      read_field(value, *field, object, where, problems);
    } else {
      problems.push_back({"", where, "unknown key" + did_you_mean(key, keys_of(type))});
    }
  }
  for (const FieldSpec& field : type.fields) {
    if (field.is_required && !json.contains(field.key)) {
      problems.push_back(
          {"", join_path(path, field.key), "is missing: " + expectation(field) + " (" + field.doc + ")"});
    }
  }
  check_groups(json, type, path, problems);
  if (type.check && problems.size() == problems_before) {
    type.check(object, [&](const std::string& key, const std::string& message) {
      problems.push_back({"", key.empty() ? path : join_path(path, key), message});
    });
  }
}

Json write_object(const Description& type, const void* object) {
  Json json = Json::object();
  for (const FieldSpec& field : type.fields) {
    if (field.kind == FieldKind::choice) {
      const int index = field.get_choice(object);
      json[field.key] = index < 0 ? Json(nullptr) : Json(field.choices[static_cast<std::size_t>(index)]);
    } else if (field.kind == FieldKind::list) {
      Json list = Json::array();
      for (std::size_t i = 0; i < field.size(object); ++i) {
        list.push_back(write_object(*field.nested, field.element(object, i)));
      }
      json[field.key] = std::move(list);
    } else if (field.get(object)) {
      json[field.key] = write_value(field, object);
    } else if (field.takes_auto) {
      json[field.key] = "auto";
    }
  }
  return json;
}

Json schema_of(const Description& type) {
  const std::shared_ptr<void> defaults = type.make_default();
  const Json default_values = write_object(type, defaults.get());
  Json schema{{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}};
  Json required = Json::array();
  for (const FieldSpec& field : type.fields) {
    schema["properties"][field.key] =
        documented(field, default_values.contains(field.key) ? default_values[field.key] : Json(nullptr));
    if (field.is_required) required.push_back(field.key);
  }
  if (!type.preset_key.empty()) schema["properties"][type.preset_key] = {{"enum", type.preset_names}};
  if (!required.empty()) schema["required"] = required;
  for (const auto& group : type.exactly_one) {
    Json options = Json::array();
    for (const std::string& key : group) options.push_back({{"required", Json::array({key})}});
    schema["oneOf"] = options;
  }
  return schema;
}

std::string expectation(const FieldSpec& field) {
  const std::string range = range_text(field.range);
  switch (field.kind) {
    case FieldKind::number:
      return "expected a number" + range;
    case FieldKind::integer:
      return "expected a whole number" + range + (field.takes_auto ? " or \"auto\"" : "");
    case FieldKind::boolean:
      return "expected true or false";
    case FieldKind::text:
      return field.choices.empty() ? "expected a string in one line, without control characters"
                                   : fmt::format("expected one of {}", fmt::join(field.choices, ", "));
    case FieldKind::choice:
      return fmt::format("expected one of {}", fmt::join(field.choices, ", "));
    case FieldKind::vector:
      return field.is_direction ? "expected a direction: three numbers or x, y, z, -x, -y, -z"
                                : "expected three numbers [x, y, z]" + range;
    case FieldKind::integer_vector:
      return "expected three whole numbers" + range;
    case FieldKind::numbers:
      return field.takes_single ? fmt::format("expected a number{} or a list of them", range)
                                : "expected a list of numbers" + range;
    case FieldKind::texts:
      return "expected a list of strings, each in one line";
    case FieldKind::pairs:
      return "expected a list of pairs of numbers [x, y]" + range;
    case FieldKind::vectors:
      return "expected a list of [x, y, z]";
    case FieldKind::json:
      return "expected a value";
    case FieldKind::named_numbers:
      return "expected an object {\"name\": number}";
    case FieldKind::named_values:
      return "expected an object {\"path\": value}";
    case FieldKind::object:
      return "expected an object {...}";
    case FieldKind::list:
      return "expected a list [...]";
  }
  return "";
}

std::string did_you_mean(const std::string& given, const std::vector<std::string>& known) {
  const auto lower = [](std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
  };
  std::size_t best = std::max<std::size_t>(2, given.size() / 3) + 1;
  std::string nearest;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(lower(given), lower(candidate));
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest);
}

std::vector<std::string> keys_of(const Description& type) {
  std::vector<std::string> keys;
  for (const FieldSpec& field : type.fields) keys.push_back(field.key);
  if (!type.preset_key.empty()) keys.push_back(type.preset_key);
  return keys;
}

namespace {

// One step of a path: an object key or an array index.
struct PathStep {
  std::string key;
  std::size_t index = 0;
  bool is_index = false;
};

// [7] at `at`, which moves behind it.
PathStep take_index(const std::string& path, std::size_t& at) {
  const std::size_t close = path.find(']', at);
  const std::string digits = close == std::string::npos ? "" : path.substr(at + 1, close - at - 1);
  if (digits.empty() || digits.size() > 6 || digits.find_first_not_of("0123456789") != std::string::npos)
    throw InputError(Problem{"", path, "not a path: expected an index such as [0]"});
  at = close + 1;
  return {"", static_cast<std::size_t>(std::stoul(digits)), true};
}

PathStep take_key(const std::string& path, std::size_t& at) {
  const std::size_t end = std::min(path.find_first_of(".[", at), path.size());
  const std::string key = path.substr(at, end - at);
  if (key.empty()) throw InputError(Problem{"", path, "not a path: empty key"});
  if (has_control_characters(key) || key.find_first_of("]=") != std::string::npos)
    throw InputError(Problem{"", path, "not a path: a key has no ], no = and no control characters"});
  at = end;
  return {key, 0, false};
}

// key ( "." key | "[" index "]" )*
std::vector<PathStep> parse_path(const std::string& path) {
  if (path.empty()) throw InputError("--set: empty path");
  std::vector<PathStep> steps;
  for (std::size_t at = 0; at < path.size();) {
    if (path[at] == '[' && !steps.empty()) {
      steps.push_back(take_index(path, at));
      continue;
    }
    if (!steps.empty() && path[at++] != '.')
      throw InputError(Problem{"", path, "not a path: expected . or [ behind ]"});
    steps.push_back(take_key(path, at));
  }
  // It names the description for editors and is not read.
  if (steps[0].key == "$schema") throw InputError(Problem{"", path, "is not a setting"});
  return steps;
}

}  // namespace

void check_path(const std::string& path) {
  parse_path(path);
}

void take_schema_key(Json& document, std::vector<Problem>& problems) {
  if (!document.is_object() || !document.contains("$schema")) return;
  const Json& schema = document["$schema"];
  if (!schema.is_string() || has_control_characters(schema.get<std::string>()))
    problems.push_back({"", "$schema", "expected a string in one line, without control characters"});
  document.erase("$schema");
}

void set_at_path(Json& document, const std::string& path, const Json& value) {
  Json* at = &document;
  for (const PathStep& step : parse_path(path)) {
    if (step.is_index) {
      if (at->is_null()) *at = Json::array();
      if (!at->is_array() || step.index > at->size()) {
        throw InputError(Problem{"", path, fmt::format("there is no element [{}]", step.index)});
      }
      if (step.index == at->size()) at->push_back(nullptr);
      at = &(*at)[step.index];
    } else {
      if (at->is_null()) *at = Json::object();
      if (!at->is_object())
        throw InputError(Problem{"", path, fmt::format("'{}' is not inside an object", step.key)});
      at = &(*at)[step.key];
    }
  }
  *at = value;
}

void apply_assignment(Json& document, const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw InputError("--set " + assignment + ": expected PATH=VALUE, e.g. bodies[0].material.young=1e6");
  }
  const std::string text = assignment.substr(equals + 1);
  if (nesting_depth(text) > k_deepest_nesting)
    throw InputError(fmt::format("--set {}: brackets are nested more than {} deep",
                                 assignment.substr(0, equals), k_deepest_nesting));
  Json value = Json::parse(text, nullptr, false, true);
  if (value.is_discarded()) value = text;
  if (!is_utf8(assignment)) throw InputError("--set: the path or the value is not UTF-8");
  set_at_path(document, assignment.substr(0, equals), value);
}

}  // namespace exemplar
