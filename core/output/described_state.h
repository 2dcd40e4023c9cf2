// State described once. A plain struct names its members in one place,
//
//   struct State {
//     Points positions;   // m
//     double time = 0;    // s
//     static constexpr auto described() {
//       return std::tuple(member("positions", &State::positions), member("time", &State::time));
//     }
//   };
//
// and from that follow write_state(), read_state() and same_state(): checkpoints, snapshots, rewinding, comparisons. A struct that leaves a member out does not compile: its members are counted.
//
// What a member may be: numbers, bool, enums, Eigen matrices, quaternions, transformations, described structs, and
// std::array, std::vector, std::optional and std::pair of such. Values of fixed size are packed into one array each, so
// that a vector of a million small structs is one array; everything else is an array per member: "bodies[0].positions".
#pragma once

#include <array>
#include <concepts>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "core/base/state_member.h"
#include "core/math/types.h"
#include "core/output/state.h"

namespace exemplar {

namespace state_detail {

template <class T>
concept Described = requires {
  T::described();
};

// How many members an aggregate has: the most values that its braces take.
struct AnyValue {
  std::size_t index;
  template <class T>
  operator T&() const&;
  template <class T>
  operator T&&() const&&;
};
template <class T, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return requires {
    T{AnyValue{I}...};
  };
}
template <class T, std::size_t N>
constexpr std::size_t count_members() {
  if constexpr (N == 0 || takes<T>(std::make_index_sequence<N>{}))
    return N;
  else
    return count_members<T, N - 1>();
}

template <Described T>
inline constexpr std::size_t described_count = std::tuple_size_v<decltype(T::described())>;

}  // namespace state_detail

// Whether T names each of its members. Every operation below asserts it.
template <class T>
constexpr bool is_fully_described() {
  static_assert(std::is_aggregate_v<T>, "a described state is a plain struct");
  constexpr std::size_t named = state_detail::described_count<T>;
  return state_detail::count_members<T, named + 4>() == named;
}

namespace state_detail {

template <class T>
struct IsVector : std::false_type {};
template <class T, class A>
struct IsVector<std::vector<T, A>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsPair : std::false_type {};
template <class A, class B>
struct IsPair<std::pair<A, B>> : std::true_type {};
template <class T>
struct IsArray : std::false_type {};
template <class T, std::size_t N>
struct IsArray<std::array<T, N>> : std::true_type {};
template <class T>
struct IsTransform : std::false_type {};
template <class S, int D, int M, int O>
struct IsTransform<Eigen::Transform<S, D, M, O>> : std::true_type {};

template <class T>
concept Number = std::is_arithmetic_v<T> || std::is_enum_v<T>;
template <class T>
concept Matrix = std::derived_from<T, Eigen::PlainObjectBase<T>>;
template <class T>
concept Quaternion = std::same_as<T, Quat>;
template <class T>
concept FixedMatrix = Matrix<T> && T::SizeAtCompileTime != Eigen::Dynamic;

template <class T>
constexpr bool is_fixed();

template <Described T>
constexpr bool members_are_fixed() {
  return std::apply(
      [](auto... m) {
        return (is_fixed<std::remove_cvref_t<decltype(std::declval<T&>().*(m.pointer))>>() && ...);
      },
      T::described());
}

// Values that always take the same number of bytes.
template <class T>
constexpr bool is_fixed() {
  if constexpr (Number<T> || FixedMatrix<T> || Quaternion<T> || IsTransform<T>::value)
    return true;
  else if constexpr (IsPair<T>::value)
    return is_fixed<typename T::first_type>() && is_fixed<typename T::second_type>();
  else if constexpr (IsArray<T>::value)
    return is_fixed<typename T::value_type>();
  else if constexpr (Described<T>)
    return members_are_fixed<T>();
  else
    return false;
}

template <class T>
concept Fixed = is_fixed<T>();
// Contiguous numbers without padding: copied at once.
template <class T>
concept Flat = Number<T> && !std::same_as<T, bool>;

// One fixed value, number by number, to visit(span of numbers).
template <class T, class Visit>
requires Fixed<std::remove_const_t<T>>
void for_each_number(T& value, Visit&& visit) {
  using U = std::remove_const_t<T>;
  if constexpr (Number<U>) {
    visit(std::span(&value, 1));
  } else if constexpr (FixedMatrix<U>) {
    visit(std::span(value.data(), static_cast<std::size_t>(value.size())));
  } else if constexpr (Quaternion<U>) {
    visit(std::span(value.coeffs().data(), 4));
  } else if constexpr (IsTransform<U>::value) {
    visit(std::span(value.data(), static_cast<std::size_t>(value.matrix().size())));
  } else if constexpr (IsPair<U>::value) {
    for_each_number(value.first, visit);
    for_each_number(value.second, visit);
  } else if constexpr (IsArray<U>::value) {
    for (auto& element : value) for_each_number(element, visit);
  } else {
    static_assert(is_fully_described<U>(), "a member of this state is not described");
    std::apply([&](auto... m) { (for_each_number(value.*(m.pointer), visit), ...); }, U::described());
  }
}

template <Fixed T>
std::size_t bytes_of() {
  static const std::size_t bytes = [] {
    T value{};
    std::size_t sum = 0;
    for_each_number(value, [&](auto numbers) { sum += numbers.size_bytes(); });
    return sum;
  }();
  return bytes;
}

template <Fixed T>
std::uint8_t* put(const T& value, std::uint8_t* to) {
  for_each_number(value, [&](auto numbers) {
    std::memcpy(to, numbers.data(), numbers.size_bytes());
    to += numbers.size_bytes();
  });
  return to;
}
template <Fixed T>
const std::uint8_t* take(T& value, const std::uint8_t* from) {
  for_each_number(value, [&](auto numbers) {
    std::memcpy(numbers.data(), from, numbers.size_bytes());
    from += numbers.size_bytes();
  });
  return from;
}

inline std::string element_name(const std::string& name, std::size_t k) {
  return name + "[" + std::to_string(k) + "]";
}
inline std::string member_name(const std::string& name, const char* member) {
  return name.empty() ? std::string(member) : name + "." + member;
}

template <class T>
void write(StateWriter& out, const std::string& name, const T& value);
template <class T>
void read(const StateReader& in, const std::string& name, T& value);

template <class T>
void write_vector(StateWriter& out, const std::string& name, const T& values) {
  using E = typename T::value_type;
  if constexpr (Fixed<E>) {
    std::vector<std::uint8_t> bytes(values.size() * bytes_of<E>());
    std::uint8_t* to = bytes.data();
    if constexpr (Flat<E>) {
      if (!bytes.empty()) std::memcpy(to, values.data(), bytes.size());
    } else {
      for (const auto& element : values) to = put<E>(element, to);  // of std::vector<bool>: a copy
    }
    out.write_bytes(name, std::move(bytes));
  } else {
    write(out, name, static_cast<std::int64_t>(values.size()));
    for (std::size_t k = 0; k < values.size(); ++k) write(out, element_name(name, k), values[k]);
  }
}

template <class T>
void read_vector(const StateReader& in, const std::string& name, T& values) {
  using E = typename T::value_type;
  if constexpr (Fixed<E>) {
    const std::vector<std::uint8_t>& bytes = in.bytes(name);
    if (bytes.size() % bytes_of<E>() != 0)
      throw InputError("checkpoint array '" + name + "' holds no whole number of values");
    values.resize(bytes.size() / bytes_of<E>());
    const std::uint8_t* from = bytes.data();
    if constexpr (Flat<E>) {
      if (!bytes.empty()) std::memcpy(values.data(), from, bytes.size());
    } else {
      for (std::size_t k = 0; k < values.size(); ++k) {
        E element{};
        from = take(element, from);
        values[k] = element;
      }
    }
  } else {
    std::int64_t size = 0;
    read(in, name, size);
    if (size < 0 || static_cast<std::size_t>(size) > in.array_count())
      throw InputError("checkpoint array '" + name + "' has no such size");
    values.resize(static_cast<std::size_t>(size));
    for (std::size_t k = 0; k < values.size(); ++k) read(in, element_name(name, k), values[k]);
  }
}

template <Matrix T>
void write_matrix(StateWriter& out, const std::string& name, const T& matrix) {
  if constexpr (T::RowsAtCompileTime == Eigen::Dynamic && T::ColsAtCompileTime == Eigen::Dynamic)
    write(out, name + ".columns", static_cast<std::int64_t>(matrix.cols()));
  const auto* begin = reinterpret_cast<const std::uint8_t*>(matrix.data());
  out.write_bytes(name,
                  {begin, begin + sizeof(typename T::Scalar) * static_cast<std::size_t>(matrix.size())});
}

template <Matrix T>
void read_matrix(const StateReader& in, const std::string& name, T& matrix) {
  const std::vector<std::uint8_t>& bytes = in.bytes(name);
  const std::size_t size = bytes.size() / sizeof(typename T::Scalar);
  std::int64_t columns = T::ColsAtCompileTime;
  if constexpr (T::ColsAtCompileTime == Eigen::Dynamic && T::RowsAtCompileTime == Eigen::Dynamic)
    read(in, name + ".columns", columns);
  else if constexpr (T::ColsAtCompileTime == Eigen::Dynamic)
    columns = static_cast<std::int64_t>(size / T::RowsAtCompileTime);
  const std::int64_t rows = columns > 0 ? static_cast<std::int64_t>(size) / columns : 0;
  if (columns < 0 || sizeof(typename T::Scalar) * static_cast<std::size_t>(rows * columns) != bytes.size())
    throw InputError("checkpoint array '" + name + "' does not fill its rows");
  matrix.resize(rows, columns);
  if (!bytes.empty()) std::memcpy(matrix.data(), bytes.data(), bytes.size());
}

template <class T>
void write(StateWriter& out, const std::string& name, const T& value) {
  if constexpr (Fixed<T>) {
    std::vector<std::uint8_t> bytes(bytes_of<T>());
    put(value, bytes.data());
    out.write_bytes(name, std::move(bytes));
  } else if constexpr (Matrix<T>) {
    write_matrix(out, name, value);
  } else if constexpr (IsVector<T>::value) {
    write_vector(out, name, value);
  } else if constexpr (IsArray<T>::value) {
    for (std::size_t k = 0; k < value.size(); ++k) write(out, element_name(name, k), value[k]);
  } else if constexpr (IsPair<T>::value) {
    write(out, name + ".first", value.first);
    write(out, name + ".second", value.second);
  } else if constexpr (IsOptional<T>::value) {
    write(out, name + "?", value.has_value());
    if (value) write(out, name, *value);
  } else {
    static_assert(Described<T>, "this type of member is not known to described states");
    static_assert(is_fully_described<T>(), "a member of this state is not described");
    std::apply([&](auto... m) { (write(out, member_name(name, m.name), value.*(m.pointer)), ...); },
               T::described());
  }
}

template <class T>
void read(const StateReader& in, const std::string& name, T& value) {
  if constexpr (Fixed<T>) {
    const std::vector<std::uint8_t>& bytes = in.bytes(name);
    if (bytes.size() != bytes_of<T>())
      throw InputError("checkpoint array '" + name + "' has " + std::to_string(bytes.size()) +
                       " bytes, expected " + std::to_string(bytes_of<T>()));
    take(value, bytes.data());
  } else if constexpr (Matrix<T>) {
    read_matrix(in, name, value);
  } else if constexpr (IsVector<T>::value) {
    read_vector(in, name, value);
  } else if constexpr (IsArray<T>::value) {
    for (std::size_t k = 0; k < value.size(); ++k) read(in, element_name(name, k), value[k]);
  } else if constexpr (IsPair<T>::value) {
    read(in, name + ".first", value.first);
    read(in, name + ".second", value.second);
  } else if constexpr (IsOptional<T>::value) {
    bool has = false;
    read(in, name + "?", has);
    value.reset();
    if (has) read(in, name, value.emplace());
  } else {
    static_assert(Described<T>, "this type of member is not known to described states");
    static_assert(is_fully_described<T>(), "a member of this state is not described");
    std::apply([&](auto... m) { (read(in, member_name(name, m.name), value.*(m.pointer)), ...); },
               T::described());
  }
}

}  // namespace state_detail

// Adds all members of `state` to `out`; `name` (empty: none) comes before theirs.
template <class State>
void write_state(StateWriter& out, const State& state, const std::string& name = {}) {
  state_detail::write(out, name, state);
}

// All members of `state`, with the sizes that were written. Throws InputError when one is missing.
template <class State>
void read_state(const StateReader& in, State& state, const std::string& name = {}) {
  state_detail::read(in, name, state);
}

template <class State>
StateArrays arrays_of_state(const State& state) {
  StateWriter out;
  write_state(out, state);
  return out.arrays();
}

// Bit for bit.
template <class State>
bool same_state(const State& a, const State& b) {
  return arrays_of_state(a) == arrays_of_state(b);
}

}  // namespace exemplar
