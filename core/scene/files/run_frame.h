// A body's surface from a frame of a finished run, for poses that come from simulations (jones2016 Fig. 5).
#pragma once

#include <optional>
#include <string>

#include "core/math/types.h"

namespace exemplar {

// World positions of the body's vertices; `frame` none: the last one. Throws InputError when the run, the
// frame or the body is not there, when the body broke, or when it has another number of vertices.
Points read_run_surface(const std::string& run_directory, std::optional<int> frame, const std::string& body,
                        Eigen::Index vertex_count);

}  // namespace exemplar
