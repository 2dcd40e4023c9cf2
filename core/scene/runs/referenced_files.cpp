#include "core/scene/runs/referenced_files.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/base/errors.h"
#include "core/output/pvd_file.h"
#include "core/scene/runs/run_record.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

void add_file(Hasher& hash, const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  hash.add_text(in ? "file" : "absent");
  hash.add_text(std::string(std::istreambuf_iterator<char>(in), {}));
}

void add_run(Hasher& hash, const fs::path& directory) {
  const std::optional<RunRecord> record = find_run_record(directory);
  hash.add_text(record ? record->settings.text : "absent");
  try {
    for (const PvdEntry& entry : read_pvd(directory / "surface.pvd")) add_file(hash, entry.file);
  } catch (const InputError&) {
    hash.add_text("absent");
  }
}

void collect_paths(const Description& type, const void* object, std::vector<std::string>& paths) {
  for (const FieldSpec& field : type.fields) {
    if (field.kind == FieldKind::list) {
      for (std::size_t i = 0; i < field.size(object); ++i)
        collect_paths(*field.nested, field.element(object, i), paths);
      continue;
    }
    const void* value = field.get(object);
    if (!value) continue;
    if (field.kind == FieldKind::object) collect_paths(*field.nested, value, paths);
    if (field.is_path) paths.push_back(*static_cast<const std::string*>(value));
  }
}

}  // namespace

std::vector<std::string> referenced_paths(const Description& type, const void* object) {
  std::vector<std::string> paths;
  collect_paths(type, object, paths);
  return paths;
}

void add_referenced_contents(Hasher& hash, const Description& type, const void* object,
                             const std::string& directory) {
  for (const std::string& named : referenced_paths(type, object)) {
    const fs::path path = fs::path(directory) / named;
    if (fs::is_directory(path)) {
      add_run(hash, path);
    } else {
      add_file(hash, path);
    }
  }
}

}  // namespace exemplar
