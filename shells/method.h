// Method `shell`: discrete shells with examples, plasticity and weight control (schumacher2012 §4.1.2, §5.2).
#pragma once

#include <memory>

#include "core/run/method.h"
#include "core/scene/scene.h"
#include "shells/settings.h"

namespace exemplar::shells {

// The scene must outlive the method. Throws InputError for bodies that are no sheets.
std::unique_ptr<Method> make_shell_method(const Scene& scene, const ShellSettings& settings);

}  // namespace exemplar::shells
