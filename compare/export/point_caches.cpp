// .pc2 with an OBJ (Blender's and 3ds Max's mesh cache) and .usda (text, time-sampled points).
#include <fmt/format.h>

#include <cctype>
#include <cstdint>

#include "compare/export/animation.h"
#include "core/base/errors.h"
#include "core/output/atomic_file.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string obj_text(const AnimationPart& part, const std::string& name) {
  std::string text = fmt::format("# y up, metres\no {}\n", name);
  const Points& x = part.frames.front();
  for (Eigen::Index i = 0; i < x.rows(); ++i) text += fmt::format("v {} {} {}\n", x(i, 0), x(i, 1), x(i, 2));
  for (Eigen::Index t = 0; t < part.triangles.rows(); ++t)
    text += fmt::format("f {} {} {}\n", part.triangles(t, 0) + 1, part.triangles(t, 1) + 1,
                        part.triangles(t, 2) + 1);
  return text;
}

// A name of a prim: letters, digits and underscores.
std::string prim_name(const std::string& name, std::size_t index) {
  std::string plain = fmt::format("track_{}_", index);
  for (const char c : name) plain += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return plain;
}

// In a string literal of the text format.
std::string quoted(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

std::string points_text(const Points& x) {
  std::string text = "[";
  for (Eigen::Index i = 0; i < x.rows(); ++i)
    text += fmt::format("{}({:.9g}, {:.9g}, {:.9g})", i ? ", " : "", x(i, 0), x(i, 1), x(i, 2));
  return text + "]";
}

std::string indices_text(const Triangles& triangles) {
  std::string text = "[";
  for (Eigen::Index i = 0; i < triangles.size(); ++i)
    text += fmt::format("{}{}", i ? ", " : "", triangles.data()[i]);
  return text + "]";
}

std::string counts_text(const Triangles& triangles) {
  std::string text = "[";
  for (Eigen::Index i = 0; i < triangles.rows(); ++i) text += i ? ", 3" : "3";
  return text + "]";
}

// An attribute that changes with the parts; one value for a track of one part.
template <class Text>
std::string by_part(const AnimationTrack& track, const std::string& attribute, const Text& text) {
  if (track.parts.size() == 1)
    return fmt::format("        {} = {}\n", attribute, text(track.parts[0].triangles));
  std::string all = fmt::format("        {}.timeSamples = {{\n", attribute);
  for (const AnimationPart& part : track.parts)
    all += fmt::format("            {}: {},\n", part.first_frame, text(part.triangles));
  return all + "        }\n";
}

std::string mesh_text(const AnimationTrack& track, std::size_t index) {
  std::string text = fmt::format("    def Mesh \"{}\"\n    {{\n", prim_name(track.name, index));
  text += fmt::format("        custom string exemplar:name = \"{}\"\n", quoted(track.name));
  text += "        uniform token subdivisionScheme = \"none\"\n        uniform bool doubleSided = 1\n";
  text += fmt::format("        color3f[] primvars:displayColor = [({:.4g}, {:.4g}, {:.4g})]\n",
                      track.colour.x(), track.colour.y(), track.colour.z());
  text += by_part(track, "int[] faceVertexCounts", counts_text);
  text += by_part(track, "int[] faceVertexIndices", indices_text);
  text += "        point3f[] points.timeSamples = {\n";
  for (const AnimationPart& part : track.parts) {
    for (std::size_t f = 0; f < part.frames.size(); ++f)
      text += fmt::format("            {}: {},\n", part.first_frame + f, points_text(part.frames[f]));
  }
  return text + "        }\n    }\n";
}

}  // namespace

const AnimationPart& only_part(const Animation& animation) {
  if (animation.tracks.front().parts.size() != 1)
    throw InputError("the surface breaks, and a .pc2 holds one set of triangles: use .glb or .usda");
  if (animation.tracks.size() > 2 ||
      (animation.tracks.size() == 2 && animation.tracks[1].name != "obstacles"))
    throw InputError("a .pc2 holds one run: name its directory instead of the comparison");
  return animation.tracks.front().parts.front();
}

fs::path mesh_beside(const fs::path& point_cache) {
  return point_cache.string() + ".obj";
}

void write_first_frame(const fs::path& file, const AnimationPart& part) {
  write_file_atomically(file, obj_text(part, "surface"));
}

void write_pc2(const fs::path& file, const AnimationPart& part) {
  std::string bytes("POINTCACHE2\0", 12);
  put(bytes, std::int32_t{1});
  put(bytes, static_cast<std::int32_t>(part.frames.front().rows()));
  put(bytes, 0.0f);  // first frame
  put(bytes, 1.0f);  // frames between samples
  put(bytes, static_cast<std::int32_t>(part.frames.size()));
  for (const Points& points : part.frames) {
    for (Eigen::Index i = 0; i < points.size(); ++i) put(bytes, static_cast<float>(points.data()[i]));
  }
  write_file_atomically(file, bytes);
}

void write_usda(const fs::path& file, const Animation& animation) {
  std::string text = fmt::format(
      "#usda 1.0\n(\n    defaultPrim = \"World\"\n    metersPerUnit = 1\n    upAxis = \"Y\"\n    "
      "startTimeCode = 0\n"
      "    endTimeCode = {}\n    timeCodesPerSecond = {}\n    framesPerSecond = {}\n)\n\ndef Xform "
      "\"World\"\n{{\n",
      animation.times.size() - 1, animation.fps, animation.fps);
  for (std::size_t t = 0; t < animation.tracks.size(); ++t) text += mesh_text(animation.tracks[t], t);
  write_file_atomically(file, text + "}\n");
}

}  // namespace exemplar
