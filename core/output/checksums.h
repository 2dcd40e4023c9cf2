// checksums.csv: size and checksum of every file of a run that has ended, or of a comparison, but for the frames of a run,
// which its manifest.csv has. Damage is noticed (`exemplar check DIR`), and what Exemplar made is told from what it did
// not. Its last line is about the list itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace exemplar {

inline constexpr const char* k_checksums_name = "checksums.csv";

struct FileSum {
  std::filesystem::path file;  // relative to the folder
  std::uintmax_t bytes = 0;    // size
  std::uint64_t checksum = 0;  // core/base/checksum.h
};

// Lists those of `files` (relative to the folder) that are there. Throws OutputError.
void write_checksums(const std::filesystem::path& directory, std::vector<std::filesystem::path> files);
// Nothing when there is no list or it is damaged.
std::optional<std::vector<FileSum>> read_checksums(const std::filesystem::path& directory);

// What is wrong with a file, "surface.pvd has a wrong checksum"; empty: nothing.
std::string damage_of(const std::filesystem::path& directory, const FileSum& sum);

struct FileDamage {
  std::filesystem::path file;
  std::string what;
};
// Every file of the list that is missing or is not as it was written; the list itself when it is damaged; nothing where
// there is none.
std::vector<FileDamage> find_damaged_files(const std::filesystem::path& directory);

}  // namespace exemplar
