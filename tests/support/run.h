// What tests of methods share.
#pragma once

#include "core/run/method.h"

namespace exemplar {

inline const InterruptCheck k_never = [] { return false; };

}  // namespace exemplar
