// manifest.csv: every file of every frame with its size and checksum, so that a frame that power loss or something else
// has damaged is noticed and made again. A line is there before a collection (.pvd) lists its file, and collections are
// made again from it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/output/checksums.h"

namespace exemplar {

struct ManifestEntry {
  int frame = 0;
  double time = 0;             // s
  std::string series;          // e.g. surface
  std::filesystem::path file;  // relative to the run's directory
  std::uintmax_t bytes = 0;    // size
  std::uint64_t checksum = 0;  // core/base/checksum.h
  FileSum sum() const { return {file, bytes, checksum}; }
};

// Appends whole lines. Throws OutputError.
class ManifestFile {
 public:
  // Starts with `kept`, which replaces what is there.
  ManifestFile(const std::filesystem::path& directory, const std::vector<ManifestEntry>& kept);
  ~ManifestFile();
  ManifestFile(const ManifestFile&) = delete;
  ManifestFile& operator=(const ManifestFile&) = delete;

  void append(const std::vector<ManifestEntry>& entries);
  const std::filesystem::path& path() const { return m_path; }

 private:
  std::filesystem::path m_path;
  int m_descriptor = -1;
};

// Every line that is whole, by frame; nothing when there is no manifest.
std::vector<ManifestEntry> read_manifest(const std::filesystem::path& directory);

struct FrameDamage {
  int frame = 0;
  std::string what;
};
// The first frame of 0 … last that is missing or is not what the manifest says.
std::optional<FrameDamage> find_damage(const std::filesystem::path& directory, int last);

}  // namespace exemplar
