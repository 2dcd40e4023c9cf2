// Files that somebody else made: opened and read in one place, so that every one of them is a regular file of a size that
// fits, and so that a run knows all that it was made from. Wrong files throw InputError with the file and what is wrong.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace exemplar {

constexpr std::uintmax_t k_largest_mesh_file = std::uintmax_t{4} << 30;  // bytes
constexpr std::uintmax_t k_largest_text_file = std::uintmax_t{1} << 29;

// All bytes. Refused: what is not there or not to be read, folders, pipes and devices, more than `most` bytes.
std::string read_whole_file(const std::filesystem::path& path, std::uintmax_t most = k_largest_mesh_file);

// The same for a file that a result depends on: every InputLog learns of it.
std::string read_input(const std::filesystem::path& path, std::uintmax_t most = k_largest_mesh_file);
// Nothing when there is no such file, which is logged as well.
std::optional<std::string> read_input_if_any(const std::filesystem::path& path,
                                             std::uintmax_t most = k_largest_mesh_file);

// What makes a file unreadable before anything is known of its format; empty: nothing.
std::string problem_of_file(const std::filesystem::path& path);

struct InputFile {
  std::string path;  // as it was opened
  std::string hash;  // of the bytes; empty: there was no such file
  bool operator==(const InputFile&) const = default;
};

// The input as it is now.
InputFile look_again(const std::string& path);

// Remembers every input that is read by any thread while it lives. One at a time.
class InputLog {
 public:
  InputLog();
  ~InputLog();
  InputLog(const InputLog&) = delete;
  InputLog& operator=(const InputLog&) = delete;

  std::vector<InputFile> files() const;  // by path, each once

 private:
  std::map<std::string, std::string> m_hashes;  // by path
};

}  // namespace exemplar
