// Shared by the tests of core/output: a folder that goes away, and small geometries of every kind.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "core/output/fields.h"

namespace exemplar::test {

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return m_path; }

 private:
  std::filesystem::path m_path;
};

inline std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Two to four cells with a scalar, a vector and an integer array on points and on cells; values depend on
// `seed`.
Geometry small_geometry(CellKind kind, double seed);

void expect_equal(const Geometry& a, const Geometry& b);

}  // namespace exemplar::test
