// report.html: one self-contained page that shows what each method did, in pictures, in a 3D view and in
// plots.
#pragma once

#include "compare/cli/terminal.h"
#include "compare/collect.h"
#include "core/run/registry.h"

namespace exemplar {

// Writes <comparison directory>/report.html. Without `render` the page's own 3D view draws the pictures.
void write_report(const Comparison& comparison, const Registry& registry, bool render,
                  const Terminal& terminal);

}  // namespace exemplar
