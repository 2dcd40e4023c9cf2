#include "core/output/checksums.h"

#include <fmt/format.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "core/base/checksum.h"
#include "core/output/atomic_file.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

constexpr const char* k_header = "bytes,checksum,file\n";

std::string line_of(const FileSum& sum) {
  return fmt::format("{},{:016x},{}\n", sum.bytes, sum.checksum, sum.file.generic_string());
}

FileSum sum_of(const fs::path& name, const std::string& bytes) {
  return {name, bytes.size(), checksum(bytes)};
}

// Names within the folder only.
std::optional<FileSum> parse_line(const std::string& line) {
  FileSum sum;
  int length = 0;
  const int found =
      std::sscanf(line.c_str(), "%20" SCNuMAX ",%16" SCNx64 ",%n", &sum.bytes, &sum.checksum, &length);
  if (found != 2 || length == 0) return std::nullopt;
  sum.file = line.substr(static_cast<std::size_t>(length));
  const bool leads_out =
      std::any_of(sum.file.begin(), sum.file.end(), [](const auto& p) { return p == ".."; });
  if (sum.file.empty() || sum.file.is_absolute() || leads_out) return std::nullopt;
  return sum;
}

}  // namespace

void write_checksums(const fs::path& directory, std::vector<fs::path> files) {
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  std::string text = k_header;
  for (const fs::path& file : files) {
    if (fs::is_regular_file(directory / file)) text += line_of(sum_of(file, file_bytes(directory / file)));
  }
  write_file_atomically(directory / k_checksums_name, text + line_of(sum_of(k_checksums_name, text)));
}

std::optional<std::vector<FileSum>> read_checksums(const fs::path& directory) {
  const std::string text = file_bytes(directory / k_checksums_name);
  if (!text.starts_with(k_header) || text.back() != '\n') return std::nullopt;
  std::vector<FileSum> sums;
  std::size_t begin = std::string(k_header).size(), last = begin;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::optional<FileSum> sum = parse_line(text.substr(begin, end - begin));
    if (!sum) return std::nullopt;
    sums.push_back(*sum);
    last = begin;
  }
  if (sums.empty() || line_of(sums.back()) != line_of(sum_of(k_checksums_name, text.substr(0, last))))
    return std::nullopt;
  sums.pop_back();
  return sums;
}

std::string damage_of(const fs::path& directory, const FileSum& sum) {
  std::error_code error;
  const auto size = fs::file_size(directory / sum.file, error);
  if (error) return fmt::format("{} is missing", sum.file.string());
  if (size != sum.bytes) return fmt::format("{} has {} of {} bytes", sum.file.string(), size, sum.bytes);
  if (checksum(file_bytes(directory / sum.file)) != sum.checksum)
    return fmt::format("{} has a wrong checksum", sum.file.string());
  return {};
}

std::vector<FileDamage> find_damaged_files(const fs::path& directory) {
  if (!fs::exists(directory / k_checksums_name)) return {};
  const auto sums = read_checksums(directory);
  if (!sums) return {{k_checksums_name, fmt::format("{} is damaged", k_checksums_name)}};
  std::vector<FileDamage> damaged;
  for (const FileSum& sum : *sums) {
    if (std::string what = damage_of(directory, sum); !what.empty())
      damaged.push_back({sum.file, std::move(what)});
  }
  return damaged;
}

}  // namespace exemplar
