#include "core/output/manifest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "core/output/atomic_file.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

constexpr const char* k_name = "manifest.csv";
constexpr const char* k_header = "frame,time [s],series,file,bytes,checksum\n";

std::string line_of(const ManifestEntry& entry) {
  return fmt::format("{},{},{},{},{},{:016x}\n", entry.frame, entry.time, entry.series,
                     entry.file.generic_string(), entry.bytes, entry.checksum);
}

// Names that the frame writer gives: no comma, no folder but frames/.
std::optional<ManifestEntry> parse_line(const std::string& line) {
  ManifestEntry entry;
  char series[128] = "", file[256] = "";
  int length = 0;
  const int found =
      std::sscanf(line.c_str(), "%9d,%lf,%127[^,/],%255[^,],%" SCNuMAX ",%16" SCNx64 "%n", &entry.frame,
                  &entry.time, series, file, &entry.bytes, &entry.checksum, &length);
  const bool is_whole = found == 6 && length == static_cast<int>(line.size()) &&
                        line.size() - line.rfind(',') == 17;  // sixteen digits: a line cut short has fewer
  if (!is_whole) return std::nullopt;
  entry.series = series;
  entry.file = file;
  if (entry.file.parent_path() != "frames") return std::nullopt;
  return entry;
}

}  // namespace

ManifestFile::ManifestFile(const fs::path& directory, const std::vector<ManifestEntry>& kept)
    : m_path(directory / k_name) {
  std::string text = k_header;
  for (const ManifestEntry& entry : kept) text += line_of(entry);
  write_file_atomically(m_path, text);
  m_descriptor = ::open(m_path.c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
  if (m_descriptor < 0) throw OutputError(m_path, std::strerror(errno));
}

ManifestFile::~ManifestFile() {
  if (m_descriptor >= 0) ::close(m_descriptor);
}

void ManifestFile::append(const std::vector<ManifestEntry>& entries) {
  std::string text;
  for (const ManifestEntry& entry : entries) text += line_of(entry);
  append_whole(m_descriptor, m_path, text);
}

std::vector<ManifestEntry> read_manifest(const fs::path& directory) {
  std::vector<ManifestEntry> entries;
  const std::string text = file_bytes(directory / k_name);
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    if (const auto entry = parse_line(text.substr(begin, end - begin))) entries.push_back(*entry);
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.frame < b.frame; });
  return entries;
}

std::optional<FrameDamage> find_damage(const fs::path& directory, int last) {
  int whole = -1;  // frames up to here are there
  for (const ManifestEntry& entry : read_manifest(directory)) {
    if (entry.frame > last) break;
    if (entry.frame > whole + 1) break;
    whole = entry.frame;
    if (const std::string damage = damage_of(directory, entry.sum()); !damage.empty())
      return FrameDamage{entry.frame, damage};
  }
  if (whole < last) return FrameDamage{whole + 1, fmt::format("frame {} is not in manifest.csv", whole + 1)};
  return std::nullopt;
}

}  // namespace exemplar
