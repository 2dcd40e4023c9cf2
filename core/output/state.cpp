#include "core/output/state.h"

#include <cstring>

#include "core/base/errors.h"

namespace exemplar {

namespace {

template <class T>
std::vector<std::uint8_t> bytes_of(std::span<const T> values) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(values.data());
  return {begin, begin + values.size_bytes()};
}

const std::vector<std::uint8_t>& find(const StateArrays& arrays, const std::string& name) {
  auto found = arrays.find(name);
  if (found == arrays.end()) throw InputError("checkpoint has no array '" + name + "'");
  return found->second;
}

template <class T>
void copy_exactly(const StateArrays& arrays, const std::string& name, std::span<T> values) {
  const auto& bytes = find(arrays, name);
  if (bytes.size() != values.size_bytes()) {
    throw InputError("checkpoint array '" + name + "' has " + std::to_string(bytes.size()) +
                     " bytes, expected " + std::to_string(values.size_bytes()));
  }
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
}

template <class T>
std::vector<T> copy_all(const StateArrays& arrays, const std::string& name) {
  std::vector<T> values(find(arrays, name).size() / sizeof(T));
  copy_exactly(arrays, name, std::span<T>(values));
  return values;
}

}  // namespace

void StateWriter::write(const std::string& name, std::span<const double> values) {
  m_arrays[name] = bytes_of(values);
}
void StateWriter::write(const std::string& name, std::span<const std::int64_t> values) {
  m_arrays[name] = bytes_of(values);
}
void StateWriter::write(const std::string& name, std::span<const int> values) {
  m_arrays[name] = bytes_of(values);
}

void StateReader::read(const std::string& name, std::span<double> values) const {
  copy_exactly(m_arrays, name, values);
}
void StateReader::read(const std::string& name, std::span<std::int64_t> values) const {
  copy_exactly(m_arrays, name, values);
}
void StateReader::read(const std::string& name, std::span<int> values) const {
  copy_exactly(m_arrays, name, values);
}
double StateReader::read_double(const std::string& name) const {
  double value = 0;
  copy_exactly(m_arrays, name, std::span<double>(&value, 1));
  return value;
}
std::vector<double> StateReader::read_doubles(const std::string& name) const {
  return copy_all<double>(m_arrays, name);
}
const std::vector<std::uint8_t>& StateReader::bytes(const std::string& name) const {
  return find(m_arrays, name);
}
std::vector<int> StateReader::read_ints(const std::string& name) const {
  return copy_all<int>(m_arrays, name);
}

}  // namespace exemplar
