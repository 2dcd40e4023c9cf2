// `exemplar bench rigid-lbs/bbw`: our bounded biharmonic weights beside `igl::bbw`, and how they grow to 18 k
// vertices.
#pragma once

#include "core/run/validation.h"

namespace exemplar {

Bench bbw_bench();

}  // namespace exemplar
