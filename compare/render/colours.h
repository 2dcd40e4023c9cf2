// Colours of pictures: bodies, colour maps for arrays. All can be told apart by colour-blind readers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/render/image.h"
#include "core/output/fields.h"

namespace exemplar::render {

inline constexpr Colour k_background = {246, 247, 249};
inline constexpr Colour k_obstacle = {168, 172, 178};
inline constexpr Colour k_projectile = {78, 84, 98};
inline constexpr Colour k_handle = {38, 42, 50};

// Okabe and Ito's palette, repeated after eight.
Colour category_colour(int index);

// Bodies of a run that has a colour of its own: the first in that colour, the others lighter and darker by
// turns.
Colour shade_of(Colour colour, int index);
// "#rrggbb"; nothing when it is not that.
std::optional<Colour> parse_colour(const std::string& text);

// How an array becomes colours, the same in all pictures of a sheet.
struct ColourScale {
  // viridis; blue-white-red around 0; integers; the examples' colours mixed by their weights, white where a
  // body is as it was (jones2016 Fig. 8); a colour for each handle of a rig, paler where other handles have a
  // share
  enum class Kind { sequential, diverging, categories, blend, handles };
  std::string array;
  Kind kind = Kind::sequential;
  double low = 0, high = 1;
  std::vector<std::string> parts = {};  // of a blend: arrays on points, each with a colour of its own
};

// The name that stands for all arrays example_weight_….
inline constexpr const char* k_example_weights = "example_weights";
// Those of them that `geometry` has and `scale` does not have yet.
void include_examples(ColourScale& scale, const Geometry& geometry);
Colour part_colour(std::size_t part);
Colour blend_colour(const ColourScale& scale, const Geometry& geometry, std::size_t point);

// The name that stands for the arrays strongest_handle and strongest_weight on points.
inline constexpr const char* k_skinning = "skinning";
bool has_skinning(const Geometry& geometry);
// Of the point's strongest handle; grey where there is none.
Colour handle_colour(const Geometry& geometry, std::size_t point);

Colour map_colour(const ColourScale& scale, double value);

// The array of that name, on points or cells; nullptr when there is none.
const FieldArray* find_array(const Geometry& geometry, const std::string& name);

// One number a point or cell: the value, or the length of a vector.
double scalar_value(const FieldArray& array, std::size_t index);

// Widens the scale to the values in `geometry` (start with low = +infinity, high = -infinity).
void include_values(ColourScale& scale, const Geometry& geometry);
// After all values are in: chooses the kind, makes the range symmetric or non-empty.
void settle(ColourScale& scale, bool integer);

}  // namespace exemplar::render
