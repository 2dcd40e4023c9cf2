// Settings of method `falling`.
#pragma once

#include "core/scene/settings.h"

namespace exemplar::falling {

struct Settings {
  double drag = 0;  // 1/s
};

inline void describe(Describe<Settings>& d) {
  d.field("drag", &Settings::drag, "1/s", "speed lost a second, as a share of it", non_negative());
}

}  // namespace exemplar::falling
