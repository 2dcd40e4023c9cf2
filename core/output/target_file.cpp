#include "core/output/target_file.h"

#include <fmt/format.h>
#include <sys/xattr.h>

#include <algorithm>
#include <array>

#include "core/base/checksum.h"
#include "core/base/errors.h"
#include "core/output/atomic_file.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

constexpr const char* k_mark = "user.exemplar.checksum";
constexpr const char* k_folder = "folder";  // of a folder, whose contents have no checksum

std::string mark_of(const fs::path& path) {
  std::array<char, 64> text{};
  const ssize_t size = ::lgetxattr(path.c_str(), k_mark, text.data(), text.size());
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : std::string();
}

// A file system without attributes keeps no mark: the file counts as somebody else's.
void set_mark(const fs::path& path, const std::string& text) {
  [[maybe_unused]] const int result = ::lsetxattr(path.c_str(), k_mark, text.data(), text.size(), 0);
}

std::string checksum_text(const fs::path& file) {
  return fmt::format("{:016x}", checksum(file_bytes(file)));
}

bool is_inside(const fs::path& path, const fs::path& folder) {
  const fs::path inner = fs::weakly_canonical(path), outer = fs::weakly_canonical(folder);
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

[[noreturn]] void refuse_target(const fs::path& target, const std::string& why) {
  throw InputError(Problem{target.string(), "", why});
}

}  // namespace

bool is_made_here(const fs::path& file) {
  const std::string mark = mark_of(file);
  return !mark.empty() && fs::is_regular_file(fs::symlink_status(file)) && mark == checksum_text(file);
}

void check_target(const fs::path& target, const WriteRule& rule) {
  const fs::path folder = target.parent_path();
  if (!folder.empty() && !fs::is_directory(folder))
    refuse_target(target, "there is no folder '" + folder.string() + "'");
  const fs::file_status status = fs::symlink_status(target);
  if (!fs::exists(status)) return;
  if (!fs::is_regular_file(status) && !fs::is_symlink(status))
    refuse_target(target, "is not a file: choose another name");
  const bool is_ours = is_made_here(target);
  for (const fs::path& input : rule.inputs) {
    std::error_code ignored;
    const bool is_input = fs::equivalent(target, input, ignored);
    if (is_input || (fs::is_directory(input) && !is_ours && is_inside(target, input)))
      refuse_target(target, "is an input of this command and is never replaced: choose another name");
  }
  if (is_ours || rule.overwrite) return;
  refuse_target(
      target,
      "is there already, and Exemplar did not make it or it has been changed since: choose another name, or "
      "replace it with --overwrite");
}

void write_target(const fs::path& target, const WriteRule& rule, const std::function<void()>& write) {
  check_target(target, rule);
  write();
  set_mark(target, checksum_text(target));
}

void check_target_folder(const fs::path& folder, const WriteRule& rule) {
  const bool is_there = fs::exists(fs::symlink_status(folder));
  if (is_there && !fs::is_directory(folder)) refuse_target(folder, "is not a folder: choose another name");
  if (!is_there || fs::is_empty(folder) || mark_of(folder) == k_folder || rule.overwrite) return;
  refuse_target(
      folder,
      "is there already and holds files that Exemplar did not make: choose another folder, or let files "
      "in it be "
      "replaced with --overwrite");
}

void mark_folder(const fs::path& folder) {
  set_mark(folder, k_folder);
}

}  // namespace exemplar
