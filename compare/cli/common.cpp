#include <cstdlib>
#include <filesystem>

#include "compare/cli/commands.h"
#include "core/base/errors.h"

namespace exemplar {

MethodDescriptions method_descriptions(const Registry& registry) {
  MethodDescriptions descriptions;
  for (const MethodInfo& method : registry.methods()) descriptions.emplace_back(method.name, method.settings);
  return descriptions;
}

const MethodInfo& method_or_throw(const Registry& registry, const std::string& name) {
  if (const MethodInfo* method = registry.find(name)) return *method;
  throw InputError("unknown method '" + name + "'" + did_you_mean(name, registry.method_names()) +
                   "; exemplar list methods names them");
}

std::string data_directory() {
  if (const char* own = std::getenv("EXEMPLAR_DATA"); own && *own) return own;
  // The program stands in <tree>/build/<preset>/.
  std::error_code ignored;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const std::filesystem::path tree = program.parent_path().parent_path().parent_path();
  if (std::filesystem::is_directory(tree / "data" / "scenes")) return (tree / "data").string();
  return "data";
}

}  // namespace exemplar
