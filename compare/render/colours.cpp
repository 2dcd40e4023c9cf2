#include "compare/render/colours.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <span>

namespace exemplar::render {

namespace {

// Viridis and a blue-white-red map (both perceptually even), at even distances.
constexpr Colour k_viridis[] = {{68, 1, 84},    {72, 35, 116},  {64, 67, 135},  {52, 94, 141},
                                {41, 120, 142}, {32, 144, 140}, {34, 167, 132}, {68, 190, 112},
                                {121, 209, 81}, {189, 222, 38}, {253, 231, 37}};
constexpr Colour k_diverging[] = {{33, 102, 172},  {67, 147, 195},  {146, 197, 222},
                                  {209, 229, 240}, {247, 247, 247}, {253, 219, 199},
                                  {244, 165, 130}, {214, 96, 77},   {178, 24, 43}};

Colour interpolate(std::span<const Colour> table, double place) {
  const double x = std::clamp(place, 0.0, 1.0) * static_cast<double>(table.size() - 1);
  const std::size_t i = std::min(static_cast<std::size_t>(x), table.size() - 2);
  const double t = x - static_cast<double>(i);
  Colour colour;
  for (std::size_t c = 0; c < 3; ++c) {
    colour[c] = static_cast<std::uint8_t>(std::lround((1 - t) * table[i][c] + t * table[i + 1][c]));
  }
  return colour;
}

}  // namespace

Colour category_colour(int index) {
  constexpr Colour k_palette[] = {{46, 124, 186},  {230, 159, 0},  {0, 158, 115},  {213, 94, 0},
                                  {204, 121, 167}, {86, 180, 233}, {240, 228, 66}, {110, 110, 118}};
  return k_palette[((index % 8) + 8) % 8];
}

Colour shade_of(Colour colour, int index) {
  constexpr double k_steps[] = {0, 0.45, -0.3, 0.25, -0.5};  // towards white, towards black
  const double step = k_steps[((index % 5) + 5) % 5];
  for (std::uint8_t& part : colour) {
    const double end = step > 0 ? 255 : 0;
    part = static_cast<std::uint8_t>(std::lround(part + std::abs(step) * (end - part)));
  }
  return colour;
}

std::optional<Colour> parse_colour(const std::string& text) {
  unsigned red = 0, green = 0, blue = 0;
  char rest = 0;
  if (text.size() != 7 || std::sscanf(text.c_str(), "#%2x%2x%2x%c", &red, &green, &blue, &rest) != 3)
    return std::nullopt;
  return Colour{static_cast<std::uint8_t>(red), static_cast<std::uint8_t>(green),
                static_cast<std::uint8_t>(blue)};
}

void include_examples(ColourScale& scale, const Geometry& geometry) {
  for (const FieldArray& array : geometry.arrays) {
    if (!array.name.starts_with("example_weight_") || array.on != Association::point) continue;
    if (std::find(scale.parts.begin(), scale.parts.end(), array.name) == scale.parts.end())
      scale.parts.push_back(array.name);
  }
}

Colour part_colour(std::size_t part) {
  constexpr int k_first_bright = 1;  // orange, then green, red, …
  return category_colour(static_cast<int>(part) + k_first_bright);
}

Colour blend_colour(const ColourScale& scale, const Geometry& geometry, std::size_t point) {
  std::array<double, 3> mixed{255, 255, 255};
  for (std::size_t part = 0; part < scale.parts.size(); ++part) {
    const FieldArray* array = find_array(geometry, scale.parts[part]);
    if (!array) continue;
    const double weight = std::clamp(array->values[point], 0.0, 1.0);
    const Colour full = part_colour(part);
    for (std::size_t c = 0; c < 3; ++c) mixed[c] += weight * (full[c] - 255.0);
  }
  Colour colour;
  for (std::size_t c = 0; c < 3; ++c)
    colour[c] = static_cast<std::uint8_t>(std::lround(std::clamp(mixed[c], 0.0, 255.0)));
  return colour;
}

bool has_skinning(const Geometry& geometry) {
  const FieldArray* handle = find_array(geometry, "strongest_handle");
  const FieldArray* weight = find_array(geometry, "strongest_weight");
  return handle && weight && handle->on == Association::point && weight->on == Association::point;
}

Colour handle_colour(const Geometry& geometry, std::size_t point) {
  const FieldArray* handle = find_array(geometry, "strongest_handle");
  const FieldArray* weight = find_array(geometry, "strongest_weight");
  if (!handle || !weight || handle->values[point] < 0) return {190, 190, 194};
  Colour colour = category_colour(static_cast<int>(handle->values[point]));
  const double share = std::clamp(weight->values[point], 0.0, 1.0);
  for (std::uint8_t& part : colour)
    part = static_cast<std::uint8_t>(std::lround(255 + share * (part - 255.0)));
  return colour;
}

Colour map_colour(const ColourScale& scale, double value) {
  if (scale.kind == ColourScale::Kind::categories) return category_colour(static_cast<int>(value));
  if (!std::isfinite(value)) return {255, 0, 255};  // must be seen
  const double place = (value - scale.low) / (scale.high - scale.low);
  return scale.kind == ColourScale::Kind::diverging ? interpolate(k_diverging, place)
                                                    : interpolate(k_viridis, place);
}

const FieldArray* find_array(const Geometry& geometry, const std::string& name) {
  for (const FieldArray& array : geometry.arrays) {
    if (array.name == name) return &array;
  }
  return nullptr;
}

double scalar_value(const FieldArray& array, std::size_t index) {
  const auto components = static_cast<std::size_t>(array.components);
  if (components == 1) return array.values[index];
  double squares = 0;
  for (std::size_t k = 0; k < components; ++k) squares += std::pow(array.values[index * components + k], 2);
  return std::sqrt(squares);
}

void include_values(ColourScale& scale, const Geometry& geometry) {
  const FieldArray* array = find_array(geometry, scale.array);
  if (!array) return;
  const std::size_t count = array->values.size() / static_cast<std::size_t>(array->components);
  for (std::size_t i = 0; i < count; ++i) {
    const double value = scalar_value(*array, i);
    if (!std::isfinite(value)) continue;
    scale.low = std::min(scale.low, value);
    scale.high = std::max(scale.high, value);
  }
}

void settle(ColourScale& scale, bool integer) {
  if (!(scale.low <= scale.high)) scale.low = scale.high = 0;
  scale.kind = integer ? ColourScale::Kind::categories : ColourScale::Kind::sequential;
  const double largest = std::max(std::abs(scale.low), std::abs(scale.high));
  const bool signed_values = scale.low < -0.05 * largest && scale.high > 0.05 * largest;
  if (signed_values && !integer) {
    scale.kind = ColourScale::Kind::diverging;
    scale.low = -largest;
    scale.high = largest;
  }
  if (scale.high - scale.low <= 1e-12 * largest || scale.high == scale.low)
    scale.high = scale.low + std::max(largest, 1e-12);
}

}  // namespace exemplar::render
