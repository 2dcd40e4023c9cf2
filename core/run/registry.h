// Which methods there are. A method library has one function `void register_<library>(Registry&)` that adds
// its methods, validation cases and benches; CMake collects the libraries (exemplar_method), so nothing else
// changes when one is added.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/run/method.h"
#include "core/run/validation.h"
#include "core/scene/scene.h"
#include "core/scene/scene_file.h"
#include "core/scene/settings.h"

namespace exemplar {

struct MethodInfo {
  std::string name;          // as in "methods": {"<name>": {…}} and --method
  std::string summary;       // one line
  std::string source;        // the paper
  std::string scene;         // a scene that shows it, for the README's table
  std::string validated_by;  // what it is checked against, for the README's table
  Capabilities capabilities;
  const Description* settings = nullptr;
  // Bad combinations of scene and settings throw InputError; nothing expensive before that.
  std::function<std::unique_ptr<Method>(const Scene&, const AnySettings&)> make;
};

class Registry {
 public:
  void add(MethodInfo method) { m_methods.push_back(std::move(method)); }
  void add(ValidationCase validation) { m_cases.push_back(std::move(validation)); }
  void add(Bench bench) { m_benches.push_back(std::move(bench)); }

  const std::vector<MethodInfo>& methods() const { return m_methods; }
  const std::vector<ValidationCase>& cases() const { return m_cases; }
  const std::vector<Bench>& benches() const { return m_benches; }
  const MethodInfo* find(const std::string& name) const;
  // Throws InputError that suggests another name.
  const MethodInfo& get(const std::string& name) const;
  std::vector<std::string> method_names() const;
  MethodDescriptions descriptions() const;

 private:
  std::vector<MethodInfo> m_methods;
  std::vector<ValidationCase> m_cases;
  std::vector<Bench> m_benches;
};

// What of the scene the method does not take into account, one sentence each.
std::vector<std::string> not_modelled(const Scene& scene, const Capabilities& capabilities);

}  // namespace exemplar
