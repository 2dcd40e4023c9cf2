#include "compare/cli/settings_reference.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "core/scene/json.h"

namespace exemplar {

namespace {

const char* type_name(const FieldSpec& field) {
  switch (field.kind) {
    case FieldKind::number:
      return "number";
    case FieldKind::integer:
      return field.takes_auto ? "whole number or `auto`" : "whole number";
    case FieldKind::boolean:
      return "true or false";
    case FieldKind::text:
      return field.is_path ? "path" : "text";
    case FieldKind::vector:
      return field.is_direction ? "direction" : "[x, y, z]";
    case FieldKind::integer_vector:
      return "three whole numbers";
    case FieldKind::numbers:
      return field.takes_single ? "number or list of numbers" : "list of numbers";
    case FieldKind::pairs:
      return "list of [x, y]";
    case FieldKind::vectors:
      return "list of [x, y, z]";
    case FieldKind::texts:
      return "list of texts";
    case FieldKind::json:
      return "any";
    case FieldKind::named_numbers:
      return "{name: number}";
    case FieldKind::named_values:
      return "{path: value}";
    case FieldKind::choice:
      return "choice";
    case FieldKind::object:
      return "object";
    case FieldKind::list:
      return "list of objects";
  }
  return "";
}

std::string range_text(const FieldSpec& field) {
  if (!field.choices.empty()) return fmt::format("`{}`", fmt::join(field.choices, "`, `"));
  const Range& range = field.range;
  const bool has_min = std::isfinite(range.min), has_max = std::isfinite(range.max);
  if (has_min && has_max) {
    return fmt::format("{}{:g}, {:g}{}", range.open_min ? "(" : "[", range.min, range.max,
                       range.open_max ? ")" : "]");
  }
  if (has_min) return fmt::format("{} {:g}", range.open_min ? ">" : "≥", range.min);
  if (has_max) return fmt::format("{} {:g}", range.open_max ? "<" : "≤", range.max);
  return "";
}

std::string default_text(const FieldSpec& field, const Json& defaults) {
  if (field.is_required) return "**required**";
  if (field.kind == FieldKind::object || field.kind == FieldKind::list) return "";
  if (!defaults.contains(field.key) || defaults[field.key].is_null()) return "none";
  const Json& value = defaults[field.key];
  if (value.is_string() && value.get<std::string>().empty()) return "none";
  if (value.is_number_float()) return fmt::format("{:g}", value.get<double>());
  return "`" + value.dump() + "`";
}

// A bar would end the cell.
std::string table_cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
}

class Reference {
 public:
  std::string text;

  void add_object(const Description& type, const std::string& prefix) {
    m_places[&type] = prefix;
    if (!prefix.empty()) text += fmt::format("\n### `{}`\n", prefix);
    add_rules(type);
    text += "\n| key | type | unit | range | default | meaning |\n|---|---|---|---|---|---|\n";
    const Json defaults = write_object(type, type.make_default().get());
    for (const FieldSpec& field : type.fields) add_row(field, defaults);
    if (!type.preset_key.empty()) {
      text += fmt::format("| `{}` | text |  | `{}` | none | fills in the other keys first |\n",
                          type.preset_key, fmt::join(type.preset_names, "`, `"));
    }
    for (const FieldSpec& field : type.fields) {
      if (field.nested && !m_places.contains(field.nested))
        add_object(*field.nested, place_of(field, prefix));
    }
  }

 private:
  static std::string place_of(const FieldSpec& field, const std::string& prefix) {
    return (prefix.empty() ? "" : prefix + ".") + field.key + (field.kind == FieldKind::list ? "[]" : "");
  }

  void add_rules(const Description& type) {
    if (!type.shorthand.empty())
      text += fmt::format("\nA value that is no object stands for `{}`.\n", type.shorthand);
    for (const auto& group : type.exactly_one)
      text += fmt::format("\nExactly one of `{}` is given.\n", fmt::join(group, "`, `"));
    for (const auto& group : type.at_most_one)
      text += fmt::format("\nAt most one of `{}` is given.\n", fmt::join(group, "`, `"));
  }

  void add_row(const FieldSpec& field, const Json& defaults) {
    std::string type = type_name(field);
    if (field.nested) {
      const auto known = m_places.find(field.nested);
      type += known == m_places.end() ? ": see below" : fmt::format(" as `{}`", known->second);
    }
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", field.key, type, table_cell(field.unit),
                        table_cell(range_text(field)), table_cell(default_text(field, defaults)),
                        table_cell(field.doc));
  }

  std::map<const Description*, std::string> m_places;
};

}  // namespace

std::string settings_reference(const std::vector<ReferencePart>& parts) {
  Reference reference;
  for (const ReferencePart& part : parts) {
    reference.text += fmt::format("\n## {}\n\n{}\n", part.title, part.introduction);
    reference.add_object(*part.type, part.prefix);
  }
  return reference.text;
}

}  // namespace exemplar
