// A method's state as named binary arrays: what checkpoints hold. Names and sizes are checked on reading.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/math/types.h"

namespace exemplar {

using StateArrays = std::map<std::string, std::vector<std::uint8_t>>;

class StateWriter {
 public:
  void write(const std::string& name, std::span<const double> values);
  void write(const std::string& name, std::span<const std::int64_t> values);
  void write(const std::string& name, std::span<const int> values);
  void write(const std::string& name, double value) { write(name, std::span<const double>(&value, 1)); }
  void write(const std::string& name, const Points& points) {
    write(name, std::span<const double>(points.data(), static_cast<std::size_t>(points.size())));
  }
  void write(const std::string& name, const VecX& vector) {
    write(name, std::span<const double>(vector.data(), static_cast<std::size_t>(vector.size())));
  }
  void write_bytes(const std::string& name, std::vector<std::uint8_t> bytes) {
    m_arrays[name] = std::move(bytes);
  }
  const StateArrays& arrays() const { return m_arrays; }

 private:
  StateArrays m_arrays;
};

// Throws InputError when a name is missing or a size does not fit: the checkpoint belongs to something else.
class StateReader {
 public:
  explicit StateReader(StateArrays arrays) : m_arrays(std::move(arrays)) {}
  // Into a buffer whose size is known.
  void read(const std::string& name, std::span<double> values) const;
  void read(const std::string& name, std::span<std::int64_t> values) const;
  void read(const std::string& name, std::span<int> values) const;
  double read_double(const std::string& name) const;
  void read(const std::string& name, Points& points) const {
    read(name, std::span<double>(points.data(), static_cast<std::size_t>(points.size())));
  }
  void read(const std::string& name, VecX& vector) const {
    read(name, std::span<double>(vector.data(), static_cast<std::size_t>(vector.size())));
  }
  // Of any size.
  std::vector<double> read_doubles(const std::string& name) const;
  std::vector<int> read_ints(const std::string& name) const;
  const std::vector<std::uint8_t>& bytes(const std::string& name) const;
  std::size_t array_count() const { return m_arrays.size(); }

 private:
  StateArrays m_arrays;
};

}  // namespace exemplar
