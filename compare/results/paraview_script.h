// paraview.py: opens a comparison in ParaView, one linked view a run (paraview --script=, pvbatch).
#pragma once

#include "compare/results/collect.h"

namespace exemplar {

std::string paraview_script(const Comparison& comparison);
void write_paraview_script(const Comparison& comparison);

}  // namespace exemplar
