// Where and when numbers were measured: version, commit, processor, threads, date and load.
#pragma once

#include "core/scene/json.h"

namespace exemplar {

Json record_context();

}  // namespace exemplar
