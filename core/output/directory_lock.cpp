#include "core/output/directory_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "core/base/errors.h"
#include "core/output/atomic_file.h"

namespace exemplar {

namespace {

std::string own_name() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  std::array<char, 32> since{};
  std::strftime(since.data(), since.size(), "%Y-%m-%d %H:%M:%S", &local);
  return fmt::format("process {} on {} since {}", ::getpid(), host.data(), since.data());
}

std::string holder(int descriptor) {
  std::array<char, 512> text{};
  const ssize_t size = ::pread(descriptor, text.data(), text.size(), 0);
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : "another process";
}

// The holder removes the file: a lock on a file that is no longer there protects nothing.
bool is_still(const std::filesystem::path& path, int descriptor) {
  struct stat ours {
  }, there{};
  return ::fstat(descriptor, &ours) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

}  // namespace

DirectoryLock::DirectoryLock(const std::filesystem::path& directory) : m_path(directory / ".lock") {
  while (true) {
    m_descriptor = ::open(m_path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (m_descriptor < 0) throw OutputError(m_path, std::strerror(errno));
    if (::flock(m_descriptor, LOCK_EX | LOCK_NB) != 0) {
      const std::string who = holder(m_descriptor);
      ::close(m_descriptor);
      throw InputError(Problem{
          directory.string(), {}, "is being written by " + who + "; wait for it, or choose another -o"});
    }
    if (is_still(m_path, m_descriptor)) break;
    ::close(m_descriptor);
  }
  const std::string name = own_name();
  // On a full disk the lock holds without a name.
  if (::ftruncate(m_descriptor, 0) == 0) [[maybe_unused]]
    const ssize_t written = ::pwrite(m_descriptor, name.data(), name.size(), 0);
}

bool is_locked(const std::filesystem::path& directory) {
  const int descriptor = ::open((directory / ".lock").c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool is_held = ::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(descriptor);
  return is_held;
}

DirectoryLock::~DirectoryLock() {
  ::unlink(m_path.c_str());
  ::close(m_descriptor);
}

}  // namespace exemplar
