#include "tests/fuzz/inputs.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>

#include "compare/study/study.h"
#include "core/base/checksum.h"
#include "core/base/errors.h"
#include "core/mesh/files/files.h"
#include "core/output/checkpoint.h"
#include "core/output/manifest.h"
#include "core/output/metrics_file.h"
#include "core/output/pvd_file.h"
#include "core/scene/runs/run_record.h"
#include "core/scene/scene_file.h"

namespace exemplar::fuzz {

// Stands for the settings of a method: every kind of field, so that the harness need not link the methods.
struct MethodSettings {
  double step = 0.01;
  int parts = 3;
  bool fast = false;
  std::string title;
  Vec3 up = Vec3::UnitY();
  IntVec3 cells = IntVec3::Ones();
  std::vector<double> weights;
  std::vector<std::string> names;
  std::optional<double> limit;
};

void describe(Describe<MethodSettings>& d) {
  d.name("method");
  d.field("step", &MethodSettings::step, "s", "a number", positive());
  d.field("parts", &MethodSettings::parts, "", "a whole number", between(1, 100));
  d.field("fast", &MethodSettings::fast, "", "true or false");
  d.field("title", &MethodSettings::title, "", "a text");
  d.field("up", &MethodSettings::up, "", "a direction").direction();
  d.field("cells", &MethodSettings::cells, "", "three whole numbers", at_least(1));
  d.field("weights", &MethodSettings::weights, "", "numbers").or_single();
  d.field("names", &MethodSettings::names, "", "texts");
  d.field("limit", &MethodSettings::limit, "", "a number or none", non_negative());
}

namespace {

namespace fs = std::filesystem;

// A folder of this process, in memory where there is such a file system.
class Folder {
 public:
  Folder() {
    const fs::path memory = "/dev/shm";
    m_path = (fs::is_directory(memory) ? memory : fs::temp_directory_path()) /
             ("exemplar-fuzz-" + std::to_string(::getpid()));
    fs::create_directories(m_path);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(m_path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  fs::path write(const std::string& name, const std::string& bytes) const {
    const fs::path path = m_path / name;
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path;
  }
  const fs::path& path() const { return m_path; }

 private:
  fs::path m_path;
};

const Folder& folder() {
  static const Folder once;
  return once;
}

const Registry& registry() {
  static const Registry once = [] {
    Registry made;
    for (const char* name : {"rigid", "fem"}) {
      MethodInfo method;
      method.name = name;
      method.settings = &description_of<MethodSettings>();
      made.add(std::move(method));
    }
    return made;
  }();
  return once;
}

template <class Read>
bool is_taken(const Read& read) {
  try {
    read();
    return true;
  } catch (const InputError&) {
    return false;
  }
}

bool read_scene_text(const std::string& bytes) {
  return is_taken([&] {
    const SceneFile file =
        parse_scene(parse_json(bytes, "fuzz.json"), "fuzz.json", registry().descriptions());
    write_scene(file, "fem").dump(-1, ' ', false, Json::error_handler_t::replace);
  });
}

// The study may change this scene.
constexpr const char* k_scene = R"({"bodies": [{"name": "box", "surface": {"box": {"size": [1, 1, 1]}},
  "volume": {"grid": [2, 2, 2]}, "material": {"young": 1e6}}], "time": {"duration": 0.1}})";

bool read_study_text(const std::string& bytes) {
  static const fs::path scene = folder().write("scene.json", k_scene);
  return is_taken([&] {
    Json study = parse_json(bytes, "fuzz.json");
    if (study.is_object()) study["scene"] = "scene.json";  // and no other file of this machine
    const Study read = read_study(study, (scene.parent_path() / "study.json").string(), registry());
    for (const PlannedRun& run : read.runs) reference_of(read, run);
  });
}

// The first byte chooses the file of the run's folder.
bool read_record_file(const std::string& bytes) {
  if (bytes.empty()) return false;
  const std::string rest = bytes.substr(1);
  switch (bytes[0]) {
    case 'm':
      folder().write("metrics.csv", rest);
      is_taken([&] { read_metrics(folder().path() / "metrics.csv", AtDamage::stop); });
      return is_taken([&] { read_metrics(folder().path() / "metrics.csv"); });
    case 'f':
      folder().write("manifest.csv", rest);
      find_damage(folder().path(), 5);
      return !read_manifest(folder().path()).empty();
    case 'p':
      folder().write("surface.pvd", rest);
      return is_taken([&] { read_pvd(folder().path() / "surface.pvd"); });
    case 'c': {
      std::string whole = rest;  // the fuzzer would never find the checksum
      const std::uint64_t sum = checksum(rest);
      whole.append(reinterpret_cast<const char*>(&sum), sizeof sum);
      folder().write("checkpoint_00001.bin", whole);
      return is_taken([&] { read_checkpoint(folder().path() / "checkpoint_00001.bin"); });
    }
    default:
      folder().write("run.json", rest);
      return is_taken([&] {
        const RunRecord record = read_run_record(folder().path());
        write_run_record(folder().path(), record);
        read_run_record(folder().path());
      });
  }
}

// TetGen's files stand in one input with a line %% between them: .node, .ele, .face.
std::string write_tetgen(const std::string& bytes) {
  std::string rest = bytes, path;
  for (const char* extension : {".face", ".ele", ".node"})
    fs::remove(folder().path() / ("mesh" + std::string(extension)));
  for (const char* extension : {".node", ".ele", ".face"}) {
    const std::size_t end = std::min(rest.find("%%\n"), rest.size());
    path = folder().write("mesh" + std::string(extension), rest.substr(0, end)).string();
    if (end == rest.size()) break;
    rest = rest.substr(end + 3);
  }
  return (folder().path() / "mesh.node").string();
}

bool read_mesh(const std::string& extension, const std::string& bytes) {
  const std::string path =
      extension == "node" ? write_tetgen(bytes) : folder().write("mesh." + extension, bytes).string();
  const bool surface = is_taken([&] { read_surface(path); });
  const bool tets = is_taken([&] { read_tets(path); });
  return surface || tets;
}

}  // namespace

const std::vector<std::string>& targets() {
  static const std::vector<std::string> all{"scene",    "study",     "record",   "mesh-obj", "mesh-off",
                                            "mesh-ply", "mesh-stl",  "mesh-vtk", "mesh-vtp", "mesh-vtu",
                                            "mesh-msh", "mesh-node", "mesh-mesh"};
  return all;
}

bool read_input(const std::string& target, const std::string& bytes) {
  if (target == "scene") return read_scene_text(bytes);
  if (target == "study") return read_study_text(bytes);
  if (target == "record") return read_record_file(bytes);
  const std::string mark = "mesh-";
  if (target.starts_with(mark)) return read_mesh(target.substr(mark.size()), bytes);
  throw std::invalid_argument("there is no input called " + target);
}

}  // namespace exemplar::fuzz
