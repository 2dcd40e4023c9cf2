// From a scene's bodies to sheets: material, example sets by region, plasticity, clamped borders.
#pragma once

#include <string>
#include <vector>

#include "core/run/implicit_method.h"
#include "core/scene/sheet_surface.h"
#include "shells/settings.h"

namespace exemplar::shells {

// `surface`: the body's. `path`: of the body in the scene. `sets`: which examples share weights. Throws
// InputError for surfaces that are no sheet; warns in `notes`.
SheetInput make_sheet_input(const Body& body, const SheetSurface& surface, const std::string& path,
                            const ShellSettings& settings, std::vector<ImplicitExamples>& sets, Notes& notes);

}  // namespace exemplar::shells
