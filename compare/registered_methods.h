// Every method of this build, with its validation cases and benches.
#pragma once

#include "core/run/registry.h"

namespace exemplar {

Registry registered_methods();

}  // namespace exemplar
