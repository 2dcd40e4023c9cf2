// report.html: one self-contained page that shows what each method did, in pictures, in a 3D view and in
// plots.
#pragma once

#include <functional>

#include "compare/results/collect.h"
#include "core/base/note.h"
#include "core/run/registry.h"

namespace exemplar {

struct ReportOptions {
  bool pictures = true;  // rendered; without them the page's own 3D view draws them
  std::function<bool()> interrupted = [] { return false; };
};

// The page; what it had to do without is in the notes.
std::string report_page(const Comparison& comparison, const Registry& registry, const ReportOptions& options,
                        Notes& notes);
// The page as report.html in the comparison's directory.
Notes write_report(const Comparison& comparison, const Registry& registry, const ReportOptions& options);

}  // namespace exemplar
