#include "core/base/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "core/base/errors.h"
#include "core/base/hash.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  // Not blocking: a pipe that nobody writes to would wait for ever.
  explicit Descriptor(const fs::path& path)
      : m_number(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)), m_error(errno) {}
  ~Descriptor() {
    if (m_number >= 0) ::close(m_number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  bool is_open() const { return m_number >= 0; }
  int number() const { return m_number; }
  int error() const { return m_error; }

 private:
  int m_number, m_error;
};

std::string problem_of_kind(const struct stat& status) {
  if (S_ISREG(status.st_mode)) return "";
  if (S_ISDIR(status.st_mode)) return "is a folder, not a file";
  return "is a pipe or a device, not a file: write it to a file first";
}

std::string problem_of_error(int error) {
  if (error == ENOENT) return "there is no such file";
  return std::string("cannot be opened for reading: ") + std::strerror(error);
}

std::string size_text(std::uintmax_t bytes) {
  const bool is_large = bytes >= 1000000000;
  const double size = static_cast<double>(bytes) * (is_large ? 1e-9 : 1e-6);
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %s", size, is_large ? "GB" : "MB");
  return text;
}

// Opens `file`'s path only where that has no effect of its own; the second look is at what was opened.
std::string problem_of_open(const fs::path& path, struct stat& status) {
  if (::stat(path.c_str(), &status) != 0) return problem_of_error(errno);
  return problem_of_kind(status);
}

[[noreturn]] void refuse(const fs::path& path, const std::string& problem) {
  throw InputError(Problem{path.string(), {}, problem});
}

// Up to one byte more than `most`.
std::string read_all(const fs::path& path, int descriptor, std::uintmax_t size, std::uintmax_t most) {
  std::string bytes(static_cast<std::size_t>(size) + 1, '\0');
  std::size_t end = 0;
  while (end <= most) {
    if (end == bytes.size()) bytes.resize(std::min<std::uintmax_t>(2 * bytes.size(), most + 1));
    const ssize_t got = ::read(descriptor, bytes.data() + end, bytes.size() - end);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(path, std::string("cannot be read: ") + std::strerror(errno));
    if (got == 0) break;
    end += static_cast<std::size_t>(got);
  }
  bytes.resize(end);
  return bytes;
}

// A short file with nothing but spaces and line ends.
bool is_blank(int descriptor, off_t size) {
  std::string bytes(4096, '\0');
  if (size > static_cast<off_t>(bytes.size())) return false;
  const ssize_t got = ::read(descriptor, bytes.data(), bytes.size());
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return bytes.find_first_not_of(" \t\r\n") == std::string::npos;
}

std::string hash_of(std::string_view bytes) {
  Hasher hash;
  hash.add_text(bytes);
  return hash.text();
}

std::mutex g_log_mutex;
std::map<std::string, std::string>* g_log = nullptr;  // path → hash

void log_input(const fs::path& path, const std::string* bytes) {
  const std::lock_guard lock(g_log_mutex);
  if (g_log) (*g_log)[path.string()] = bytes ? hash_of(*bytes) : "";
}

}  // namespace

std::string problem_of_file(const fs::path& path) {
  struct stat status {};
  if (const std::string problem = problem_of_open(path, status); !problem.empty()) return problem;
  const Descriptor file(path);
  if (!file.is_open()) return problem_of_error(file.error());
  return status.st_size == 0 || is_blank(file.number(), status.st_size) ? "is empty" : "";
}

std::string read_whole_file(const fs::path& path, std::uintmax_t most) {
  struct stat status {};
  if (const std::string problem = problem_of_open(path, status); !problem.empty()) refuse(path, problem);
  const Descriptor file(path);
  if (!file.is_open()) refuse(path, problem_of_error(file.error()));
  if (::fstat(file.number(), &status) != 0) refuse(path, std::strerror(errno));
  if (const std::string problem = problem_of_kind(status); !problem.empty()) refuse(path, problem);
  const auto size = static_cast<std::uintmax_t>(std::max<off_t>(status.st_size, 0));
  const std::string too_large = "has more than the " + size_text(most) + " that are read";
  if (size > most) refuse(path, too_large);
  std::string bytes = read_all(path, file.number(), size, most);
  if (bytes.size() > most) refuse(path, too_large);
  return bytes;
}

std::string read_input(const fs::path& path, std::uintmax_t most) {
  std::string bytes = read_whole_file(path, most);
  log_input(path, &bytes);
  return bytes;
}

std::optional<std::string> read_input_if_any(const fs::path& path, std::uintmax_t most) {
  std::error_code error;
  if (fs::exists(path, error)) return read_input(path, most);
  log_input(path, nullptr);
  return std::nullopt;
}

InputFile look_again(const std::string& path) {
  try {
    return {path, hash_of(read_whole_file(path))};
  } catch (const InputError&) {
    return {path, ""};
  }
}

InputLog::InputLog() {
  const std::lock_guard lock(g_log_mutex);
  assert(!g_log);
  g_log = &m_hashes;
}

InputLog::~InputLog() {
  const std::lock_guard lock(g_log_mutex);
  g_log = nullptr;
}

std::vector<InputFile> InputLog::files() const {
  const std::lock_guard lock(g_log_mutex);
  std::vector<InputFile> list;
  for (const auto& [path, hash] : m_hashes) list.push_back({path, hash});
  return list;
}

}  // namespace exemplar
