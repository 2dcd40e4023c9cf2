// Files that are either complete or absent: written to a temporary name in the same folder and renamed. A
// reader never sees half a file, and a full disk leaves what was there before.
#pragma once

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace exemplar {

// Output could not be written (disk full, folder not writable). The run ends with exit code 3.
class OutputError : public std::runtime_error {
 public:
  OutputError(const std::filesystem::path& path, const std::string& reason)
      : std::runtime_error("cannot write " + path.string() + ": " + reason) {}
};

// All bytes of a file; nothing when it cannot be read.
std::string file_bytes(const std::filesystem::path& path);

// What the file must survive: power_failure also waits until the bytes are on the disk.
enum class Durability { process_crash, power_failure };

// Of what a process left that was killed while it wrote: the file it should have become. Nothing for another name.
std::optional<std::filesystem::path> target_of_temporary(const std::filesystem::path& file);

// Replaces `path` by `bytes` (text or binary). Throws OutputError; then `path` is what it was before.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes,
                           Durability durability = Durability::process_crash);

// Appends all of `text` to an open file, or nothing of it when the disk is full. Throws OutputError.
void append_whole(int descriptor, const std::filesystem::path& path, std::string_view text);

// Waits until what was written to these files, and their names, are on the disk. Throws OutputError.
void sync_files(const std::filesystem::path& directory, const std::vector<std::filesystem::path>& files);

// Makes the folder and its parents; throws OutputError when that fails or no file can be made in it.
void make_writable_directory(const std::filesystem::path& directory);

}  // namespace exemplar
