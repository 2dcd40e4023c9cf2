// Numbers of a written surface that a study may refer to: extent, place and twist of a body.
//
//   size_x, centre_x, low_x, high_x (y, z alike): of the box around its points, m
//   twist_y (x, z alike): angle in degrees about the axis by which the tenth of the body at its upper end along that axis
//   has turned against the tenth at its lower end since the start, −180 to 180
#pragma once

#include <optional>
#include <string>

#include "core/output/fields.h"

namespace exemplar {

struct SurfaceValue {
  double value = 0;
  std::string unit;
};

// `body`: its place among the scene's bodies; none: all of them. Nothing for another name or an empty surface.
std::optional<SurfaceValue> surface_value(const Geometry& surface, const std::string& name,
                                          std::optional<int> body);
bool is_surface_value(const std::string& name);

}  // namespace exemplar
