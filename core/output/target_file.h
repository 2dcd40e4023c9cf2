// Files that a command writes where its user says (-o and the like). Nothing that Exemplar did not make is ever replaced:
// what it writes carries a mark, an extended attribute with the checksum of its bytes, and a file that is there already
// gives way only while its mark fits, or to --overwrite. Where a file system keeps no such attributes, to --overwrite alone.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

namespace exemplar {

struct WriteRule {
  bool overwrite = false;                     // --overwrite
  std::vector<std::filesystem::path> inputs;  // files and folders that the same command reads: never replaced
};

// Before anything expensive: throws InputError when `target` may not be written, or its folder is not there.
void check_target(const std::filesystem::path& target, const WriteRule& rule);

// The one way to write such a file: checks, lets `write` make it, marks it.
void write_target(const std::filesystem::path& target, const WriteRule& rule,
                  const std::function<void()>& write);

// A folder that is filled with files whose names are not known before. It must be new, empty or marked.
void check_target_folder(const std::filesystem::path& folder, const WriteRule& rule);
void mark_folder(const std::filesystem::path& folder);

// The file carries the mark, and nobody has changed it since.
bool is_made_here(const std::filesystem::path& file);

}  // namespace exemplar
