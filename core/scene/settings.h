// Settings described once. A plain struct has one function
//     void describe(Describe<T>& d)
// (found by argument-dependent lookup) that names each field with its unit, range and one sentence. From that
// single description come parsing, validation with JSON paths and did-you-mean, the defaults written to
// run.json, and the JSON Schema (core/scene/json.h). Nothing here knows JSON, so methods can include it.
#pragma once

#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/math/types.h"

namespace exemplar {

using IntVec3 = Eigen::Vector3i;

// A JSON value kept as its text, where its type depends on what it will be used for.
struct JsonText {
  std::string text = "null";
};
// Objects with free keys: {"name": number}, NaN where it is null, and {"name": any value}.
using NamedNumbers = std::vector<std::pair<std::string, double>>;
using NamedValues = std::vector<std::pair<std::string, JsonText>>;

enum class FieldKind {
  number,
  integer,
  boolean,
  text,
  vector,
  integer_vector,
  numbers,
  vectors,
  texts,
  json,
  named_numbers,
  named_values,
  choice,
  object,
  list
};

struct Range {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool open_min = false, open_max = false;  // the bound itself is not allowed
};
inline Range any_value() {
  return {};
}
inline Range positive() {
  return {0, std::numeric_limits<double>::infinity(), true, false};
}
inline Range non_negative() {
  return {0, std::numeric_limits<double>::infinity(), false, false};
}
inline Range at_least(double min) {
  return {min, std::numeric_limits<double>::infinity(), false, false};
}
inline Range between(double min, double max) {
  return {min, max, false, false};
}
inline Range strictly_between(double min, double max) {
  return {min, max, true, true};
}

struct Description;

// One field of a described struct; `object` below is the address of the struct that holds it.
struct FieldSpec {
  std::string key;
  std::string unit;  // empty: none
  std::string doc;
  FieldKind kind = FieldKind::number;
  Range range;
  bool is_required = false;
  bool is_optional = false;   // may be absent or null
  bool is_direction = false;  // vector: "x", "-y", … are accepted too
  bool is_path = false;       // text: a file or folder, relative to the file that names it
  bool takes_single = false;  // numbers: one number stands for a list of one
  bool is_live = false;       // a run may go on from its state with another value, all that is in it too
  std::vector<std::string> choices;     // kind choice, or a text that must be one of these
  const Description* nested = nullptr;  // object: its description; list: that of an element

  std::function<const void*(const void* object)> get;   // the value, or nullptr when an optional is empty
  std::function<void*(void* object)> make;              // the value to write into; fills an empty optional
  std::function<void(void* object)> clear;              // optional: make it empty; list: no elements
  std::function<void*(void* object)> append;            // list: a new element at the end
  std::function<std::size_t(const void* object)> size;  // list
  std::function<const void*(const void*, std::size_t)> element;
  std::function<int(const void* object)> get_choice;  // index into choices
  std::function<void(void* object, int)> set_choice;

  FieldSpec& required() {
    is_required = true;
    return *this;
  }
  FieldSpec& direction() {
    is_direction = true;
    return *this;
  }
  FieldSpec& path() {
    is_path = true;
    return *this;
  }
  FieldSpec& or_single() {
    takes_single = true;
    return *this;
  }
  FieldSpec& live() {
    is_live = true;
    return *this;
  }
  FieldSpec& one_of(std::vector<std::string> allowed) {
    choices = std::move(allowed);
    return *this;
  }
};

// Reports a problem of a whole object: key (may be empty) and message.
using ProblemSink = std::function<void(const std::string& key, const std::string& message)>;

struct Description {
  std::string name;  // for the schema
  std::vector<FieldSpec> fields;
  std::vector<std::vector<std::string>>
      exactly_one;  // groups of optional fields of which exactly one is given
  std::vector<std::vector<std::string>> at_most_one;
  std::string shorthand;   // a value that is no object stands for this field, as in "mode": 7
  std::string preset_key;  // a text field that fills the struct before the other keys are read
  std::vector<std::string> preset_names;
  std::function<void(void* object, const std::string& preset)> apply_preset;
  std::function<void(const void* object, const ProblemSink&)> check;  // rules between fields
  std::function<std::shared_ptr<void>()> make_default;

  const FieldSpec* find(const std::string& key) const {
    for (const FieldSpec& field : fields) {
      if (field.key == key) return &field;
    }
    return nullptr;
  }
};

template <class T>
const Description& description_of();

namespace detail {

template <class U>
struct IsOptional : std::false_type {};
template <class U>
struct IsOptional<std::optional<U>> : std::true_type {};
template <class U>
struct IsVector : std::false_type {};
template <class U>
struct IsVector<std::vector<U>> : std::true_type {};

template <class U>
constexpr FieldKind kind_of() {
  if constexpr (std::is_same_v<U, double>)
    return FieldKind::number;
  else if constexpr (std::is_same_v<U, bool>)
    return FieldKind::boolean;
  else if constexpr (std::is_same_v<U, int>)
    return FieldKind::integer;
  else if constexpr (std::is_same_v<U, std::string>)
    return FieldKind::text;
  else if constexpr (std::is_same_v<U, Vec3>)
    return FieldKind::vector;
  else if constexpr (std::is_same_v<U, IntVec3>)
    return FieldKind::integer_vector;
  else if constexpr (std::is_same_v<U, std::vector<double>>)
    return FieldKind::numbers;
  else if constexpr (std::is_same_v<U, std::vector<Vec3>>)
    return FieldKind::vectors;
  else if constexpr (std::is_same_v<U, std::vector<std::string>>)
    return FieldKind::texts;
  else if constexpr (std::is_same_v<U, JsonText>)
    return FieldKind::json;
  else if constexpr (std::is_same_v<U, NamedNumbers>)
    return FieldKind::named_numbers;
  else if constexpr (std::is_same_v<U, NamedValues>)
    return FieldKind::named_values;
  else if constexpr (IsVector<U>::value)
    return FieldKind::list;
  else
    return FieldKind::object;
}

}  // namespace detail

template <class T>
class Describe {
 public:
  explicit Describe(Description& description) : m_description(description) {}

  void name(std::string text) { m_description.name = std::move(text); }

  // `member` may belong to a base of T.
  template <class U, class Base>
  requires std::is_base_of_v<Base, T> FieldSpec& field(std::string key, U Base::*base_member,
                                                       std::string unit, std::string doc,
                                                       Range range = any_value()) {
    U T::*member = base_member;
    FieldSpec& spec = add(std::move(key), std::move(unit), std::move(doc), range);
    if constexpr (detail::IsOptional<U>::value) {
      set_optional<typename U::value_type>(spec, member);
    } else {
      set_plain<U>(spec, member);
    }
    return spec;
  }

  template <class E>
  FieldSpec& choice(std::string key, E T::*member, std::vector<std::pair<std::string, E>> values,
                    std::string doc) {
    FieldSpec& spec = add(std::move(key), "", std::move(doc), any_value());
    spec.kind = FieldKind::choice;
    for (const auto& value : values) spec.choices.push_back(value.first);
    spec.get = [member](const void* o) -> const void* { return &(static_cast<const T*>(o)->*member); };
    spec.get_choice = [member, values](const void* o) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i].second == static_cast<const T*>(o)->*member) return static_cast<int>(i);
      }
      return -1;
    };
    spec.set_choice = [member, values](void* o, int i) {
      static_cast<T*>(o)->*member = values[static_cast<std::size_t>(i)].second;
    };
    return spec;
  }

  void shorthand(std::string key) { m_description.shorthand = std::move(key); }
  void exactly_one(std::vector<std::string> keys) { m_description.exactly_one.push_back(std::move(keys)); }
  void at_most_one(std::vector<std::string> keys) { m_description.at_most_one.push_back(std::move(keys)); }

  void presets(std::string key, std::vector<std::string> names,
               std::function<void(T&, const std::string&)> apply) {
    m_description.preset_key = std::move(key);
    m_description.preset_names = std::move(names);
    m_description.apply_preset = [apply](void* o, const std::string& preset) {
      apply(*static_cast<T*>(o), preset);
    };
  }

  void check(std::function<void(const T&, const ProblemSink&)> rule) {
    m_description.check = [rule](const void* o, const ProblemSink& sink) {
      rule(*static_cast<const T*>(o), sink);
    };
  }

 private:
  FieldSpec& add(std::string key, std::string unit, std::string doc, Range range) {
    FieldSpec& spec = m_description.fields.emplace_back();
    spec.key = std::move(key);
    spec.unit = std::move(unit);
    spec.doc = std::move(doc);
    spec.range = range;
    return spec;
  }

  template <class U>
  void set_plain(FieldSpec& spec, U T::*member) {
    spec.kind = detail::kind_of<U>();
    spec.get = [member](const void* o) -> const void* { return &(static_cast<const T*>(o)->*member); };
    spec.make = [member](void* o) -> void* { return &(static_cast<T*>(o)->*member); };
    if constexpr (detail::kind_of<U>() == FieldKind::object) spec.nested = &description_of<U>();
    if constexpr (detail::kind_of<U>() == FieldKind::list) {
      spec.nested = &description_of<typename U::value_type>();
      spec.clear = [member](void* o) { (static_cast<T*>(o)->*member).clear(); };
      spec.append = [member](void* o) -> void* { return &(static_cast<T*>(o)->*member).emplace_back(); };
      spec.size = [member](const void* o) { return (static_cast<const T*>(o)->*member).size(); };
      spec.element = [member](const void* o, std::size_t i) -> const void* {
        return &(static_cast<const T*>(o)->*member)[i];
      };
    }
  }

  template <class U>
  void set_optional(FieldSpec& spec, std::optional<U> T::*member) {
    static_assert(detail::kind_of<U>() != FieldKind::list);
    spec.kind = detail::kind_of<U>();
    spec.is_optional = true;
    spec.get = [member](const void* o) -> const void* {
      const auto& value = static_cast<const T*>(o)->*member;
      return value ? &*value : nullptr;
    };
    spec.make = [member](void* o) -> void* {
      auto& value = static_cast<T*>(o)->*member;
      if (!value) value.emplace();
      return &*value;
    };
    spec.clear = [member](void* o) { (static_cast<T*>(o)->*member).reset(); };
    if constexpr (detail::kind_of<U>() == FieldKind::object) spec.nested = &description_of<U>();
  }

  Description& m_description;
};

// The description of T, made on first use.
template <class T>
const Description& description_of() {
  static const Description description = [] {
    Description made;
    made.make_default = [] { return std::make_shared<T>(); };
    Describe<T> builder(made);
    describe(builder);
    return made;
  }();
  return description;
}

// A settings struct of any type together with its description: how a method's own settings travel from the
// scene file to the method without core knowing their type.
struct AnySettings {
  const Description* type = nullptr;
  std::shared_ptr<void> data;

  template <class T>
  static AnySettings of(T value) {
    return {&description_of<T>(), std::make_shared<T>(std::move(value))};
  }
  template <class T>
  const T& as() const {
    return *static_cast<const T*>(data.get());
  }
};

}  // namespace exemplar
