#include "core/output/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>

namespace exemplar {

namespace {

namespace fs = std::filesystem;

// Owns the temporary file: removed again unless it was renamed. Its name is its own and no link is followed, so that
// neither another writer nor somebody who guessed the name gets in between.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& target) : m_target(target) {
    static std::atomic<unsigned> counter = 0;
    do {
      m_path = fmt::format("{}.{}-{}.tmp", target.string(), ::getpid(), counter++);
      m_descriptor = ::open(m_path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    } while (m_descriptor < 0 && errno == EEXIST);  // left by a process that had the same number
    if (m_descriptor < 0) fail();
  }
  ~TemporaryFile() {
    if (m_descriptor >= 0) ::close(m_descriptor);
    if (!m_renamed) ::unlink(m_path.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(m_descriptor, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail();
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void sync() {
    if (::fsync(m_descriptor) != 0) fail();
  }

  // A network file system may report a full disk only here, so the result of close counts.
  void rename_to_target() {
    const int closed = ::close(m_descriptor);
    m_descriptor = -1;
    if (closed != 0 || ::rename(m_path.c_str(), m_target.c_str()) != 0) fail();
    m_renamed = true;
  }

 private:
  [[noreturn]] void fail() const {
    const int error = errno;
    if (m_descriptor < 0) ::unlink(m_path.c_str());
    throw OutputError(m_target, std::strerror(error));
  }

  fs::path m_target, m_path;
  int m_descriptor = -1;
  bool m_renamed = false;
};

// More files than this are cheaper to sync with everything else on their disk.
constexpr std::size_t k_single_syncs = 32;

void sync_one(const fs::path& path, int (*sync)(int), int flags) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
  const bool ok = descriptor >= 0 && sync(descriptor) == 0;
  const int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  // Some file systems have nothing to sync for a folder.
  if (!ok && error != EINVAL && error != ENOSYS) throw OutputError(path, std::strerror(error));
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

// TARGET.PROCESS-COUNTER.tmp
std::optional<fs::path> target_of_temporary(const fs::path& file) {
  const fs::path named = file.stem();
  const std::string numbers = named.extension().string();
  const std::size_t dash = numbers.find('-');
  if (file.extension() != ".tmp" || dash == std::string::npos) return std::nullopt;
  if (!is_number(std::string_view(numbers).substr(1, dash - 1)) ||
      !is_number(std::string_view(numbers).substr(dash + 1)))
    return std::nullopt;
  return file.parent_path() / named.stem();
}

std::string file_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file_atomically(const fs::path& path, std::string_view bytes, Durability durability) {
  TemporaryFile file(path);
  file.write(bytes);
  if (durability == Durability::power_failure) file.sync();
  file.rename_to_target();
  if (durability == Durability::power_failure) sync_one(folder_of(path), ::fsync, O_DIRECTORY);
}

void append_whole(int descriptor, const fs::path& path, std::string_view text) {
  const off_t before = ::lseek(descriptor, 0, SEEK_END);
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;
      if (::ftruncate(descriptor, before) != 0) throw OutputError(path, std::strerror(errno));
      throw OutputError(path, std::strerror(error));
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void sync_files(const fs::path& directory, const std::vector<fs::path>& files) {
  if (files.size() > k_single_syncs) return sync_one(directory, ::syncfs, O_DIRECTORY);
  std::set<fs::path> folders;
  for (const fs::path& file : files) {
    sync_one(file, ::fsync, 0);
    folders.insert(folder_of(file));
  }
  for (const fs::path& folder : folders) sync_one(folder, ::fsync, O_DIRECTORY);
}

void make_writable_directory(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) throw OutputError(directory, error.message());
  if (!fs::is_directory(directory)) throw OutputError(directory, "it is not a folder");
  const fs::path probe = directory / ".writable";
  write_file_atomically(probe, "");
  fs::remove(probe, error);
}

}  // namespace exemplar
