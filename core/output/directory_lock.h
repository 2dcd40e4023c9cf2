// One process at a time writes into an output directory: a lock (flock) on the file .lock in it, which names the
// process that holds it and is removed with the lock. The system releases it when the process ends in any way.
#pragma once

#include <filesystem>

namespace exemplar {

class DirectoryLock {
 public:
  // Throws InputError that says who holds it, OutputError when the lock file cannot be made.
  explicit DirectoryLock(const std::filesystem::path& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  std::filesystem::path m_path;
  int m_descriptor = -1;
};

// A process writes into the directory.
bool is_locked(const std::filesystem::path& directory);

}  // namespace exemplar
