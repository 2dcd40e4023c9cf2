// glTF 2.0 in one binary file (.glb): one mesh per part with one morph target per frame, whose weights the
// animation moves from one to the next. Where triangles change (fracture), parts are shown one after the
// other by their scale. Positions are relative to the middle of a part, so that single precision holds a
// millionth of its size. Behind runs with example weights stand the bodies at rest, with the examples as
// named morph targets whose weights are the run's.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "compare/export/animation.h"
#include "core/base/errors.h"
#include "core/output/atomic_file.h"
#include "core/scene/json.h"

namespace exemplar {

namespace {

constexpr int k_float = 5126, k_unsigned = 5125;
constexpr std::size_t k_most_bytes = std::size_t{1} << 31;

using FloatPoints = Eigen::Matrix<float, Eigen::Dynamic, 3, Eigen::RowMajor>;

class GltfWriter {
 public:
  explicit GltfWriter(const Animation& animation) : m_animation(animation) {
    m_json["asset"] = {{"version", "2.0"}, {"generator", "Exemplar"}};
    m_json["scene"] = 0;
    m_json["scenes"] = {{{"name", animation.title}, {"nodes", Json::array()}}};
    for (const char* list : {"nodes", "meshes", "materials", "accessors", "bufferViews"})
      m_json[list] = Json::array();
    m_channels = m_samplers = Json::array();
    for (const AnimationTrack& track : animation.tracks) add_track(track);
    for (const AnimationExamples& examples : animation.examples) add_examples(examples);
    if (!m_channels.empty())
      m_json["animations"] = {{{"name", "motion"}, {"channels", m_channels}, {"samplers", m_samplers}}};
    m_json["buffers"] = {{{"byteLength", m_bytes.size()}}};
  }

  std::string file() {
    std::string json = m_json.dump(-1, ' ', false, Json::error_handler_t::replace);
    json.resize((json.size() + 3) / 4 * 4, ' ');
    std::string file;
    put(file, {0x46546c67u, 2u, static_cast<std::uint32_t>(28 + json.size() + m_bytes.size())});
    put(file, {static_cast<std::uint32_t>(json.size()), 0x4e4f534au});
    file += json;
    put(file, {static_cast<std::uint32_t>(m_bytes.size()), 0x004e4942u});
    return file + m_bytes;
  }

 private:
  static void put(std::string& out, std::initializer_list<std::uint32_t> words) {
    for (const std::uint32_t word : words) out.append(reinterpret_cast<const char*>(&word), sizeof word);
  }

  // Returns the accessor's index; every element is four bytes wide.
  int add_numbers(const void* data, std::size_t count, int per_element, int type, const char* shape) {
    const std::size_t size = count * static_cast<std::size_t>(per_element) * 4;
    if (m_bytes.size() + size > k_most_bytes)
      throw InputError("the animation is larger than 2 GB: choose fewer frames with --from and --to");
    m_json["bufferViews"].push_back({{"buffer", 0}, {"byteOffset", m_bytes.size()}, {"byteLength", size}});
    if (size > 0) m_bytes.append(static_cast<const char*>(data), size);
    m_json["accessors"].push_back({{"bufferView", m_json["bufferViews"].size() - 1},
                                   {"componentType", type},
                                   {"count", count},
                                   {"type", shape}});
    return static_cast<int>(m_json["accessors"].size()) - 1;
  }

  int add_positions(const FloatPoints& points) {
    const int accessor =
        add_numbers(points.data(), static_cast<std::size_t>(points.rows()), 3, k_float, "VEC3");
    Json low = Json::array(), high = Json::array();
    for (int k = 0; k < 3; ++k) {
      low.push_back(points.col(k).minCoeff());
      high.push_back(points.col(k).maxCoeff());
    }
    m_json["accessors"][static_cast<std::size_t>(accessor)]["min"] = low;
    m_json["accessors"][static_cast<std::size_t>(accessor)]["max"] = high;
    return accessor;
  }

  int add_scalars(const std::vector<float>& values, bool with_range) {
    const int accessor = add_numbers(values.data(), values.size(), 1, k_float, "SCALAR");
    if (with_range) {
      m_json["accessors"][static_cast<std::size_t>(accessor)]["min"] = {values.front()};
      m_json["accessors"][static_cast<std::size_t>(accessor)]["max"] = {values.back()};
    }
    return accessor;
  }

  void add_material(const std::string& name, const Vec3& colour) {
    m_json["materials"].push_back({{"name", name},
                                   {"doubleSided", true},
                                   {"pbrMetallicRoughness",
                                    {{"baseColorFactor", {colour.x(), colour.y(), colour.z(), 1}},
                                     {"metallicFactor", 0},
                                     {"roughnessFactor", 0.6}}}});
  }

  void add_track(const AnimationTrack& track) {
    add_material(track.name, track.colour);
    for (std::size_t p = 0; p < track.parts.size(); ++p) {
      const std::string name = track.parts.size() == 1 ? track.name : fmt::format("{} {}", track.name, p);
      add_part(track.parts[p], name);
      if (track.parts.size() > 1) add_visibility(track.parts[p]);
    }
  }

  static Vec3 centre_of(const Points& points) {
    return (0.5 * (points.colwise().minCoeff() + points.colwise().maxCoeff()))
        .transpose()
        .cast<float>()
        .cast<double>();
  }

  Json make_primitive(const FloatPoints& base, const Triangles& triangles) {
    return {{"attributes", {{"POSITION", add_positions(base)}}},
            {"indices", add_numbers(triangles.data(), static_cast<std::size_t>(triangles.size()), 1,
                                    k_unsigned, "SCALAR")},
            {"material", m_json["materials"].size() - 1}};
  }

  void add_node(const std::string& name, const Json& mesh, const Vec3& centre) {
    m_json["meshes"].push_back(mesh);
    m_json["nodes"].push_back({{"name", name},
                               {"mesh", m_json["meshes"].size() - 1},
                               {"translation", {centre.x(), centre.y(), centre.z()}}});
    m_json["scenes"][0]["nodes"].push_back(m_json["nodes"].size() - 1);
  }

  void add_examples(const AnimationExamples& examples) {
    add_material(examples.name, Vec3(0.8, 0.6, 0.1));
    const Vec3 centre = centre_of(examples.rest);
    Json primitive =
        make_primitive((examples.rest.rowwise() - centre.transpose()).cast<float>(), examples.triangles);
    for (const Points& displacement : examples.displacements)
      primitive["targets"].push_back({{"POSITION", add_positions(displacement.cast<float>())}});
    add_node(examples.name,
             {{"name", examples.name},
              {"primitives", {primitive}},
              {"weights", examples.weights.front()},
              {"extras", {{"targetNames", examples.names}}}},
             centre);
    std::vector<float> times, weights;
    for (std::size_t f = 0; f < examples.weights.size(); ++f) {
      times.push_back(static_cast<float>(m_animation.times[f]));
      weights.insert(weights.end(), examples.weights[f].begin(), examples.weights[f].end());
    }
    add_channel(times, add_scalars(weights, false), "LINEAR", "weights");
  }

  void add_part(const AnimationPart& part, const std::string& name) {
    const Points& rest = part.frames.front();
    const Vec3 centre = centre_of(rest);
    const FloatPoints base = (rest.rowwise() - centre.transpose()).cast<float>();
    Json primitive = make_primitive(base, part.triangles);
    const bool moves = std::any_of(part.frames.begin(), part.frames.end(),
                                   [&](const Points& points) { return points != rest; });
    const std::size_t targets = moves ? part.frames.size() - 1 : 0;
    for (std::size_t f = 1; f <= targets; ++f) {
      const FloatPoints delta =
          (part.frames[f].rowwise() - centre.transpose() - base.cast<double>()).cast<float>();
      primitive["targets"].push_back({{"POSITION", add_positions(delta)}});
    }
    Json mesh{{"name", name}, {"primitives", {primitive}}};
    if (targets > 0) mesh["weights"] = std::vector<int>(targets, 0);
    add_node(name, mesh, centre);
    if (targets > 0) add_weights(part, targets);
  }

  // At its own frame each target has the weight 1 and all others 0.
  void add_weights(const AnimationPart& part, std::size_t targets) {
    std::vector<float> times, weights;
    for (std::size_t f = 0; f <= targets; ++f) {
      times.push_back(static_cast<float>(m_animation.times[part.first_frame + f]));
      for (std::size_t t = 1; t <= targets; ++t) weights.push_back(t == f ? 1.0f : 0.0f);
    }
    add_channel(times, add_scalars(weights, false), "LINEAR", "weights");
  }

  void add_visibility(const AnimationPart& part) {
    std::vector<float> times, scales;
    for (std::size_t f = 0; f < m_animation.times.size(); ++f) {
      const bool shown = f >= part.first_frame && f < part.first_frame + part.frames.size();
      times.push_back(static_cast<float>(m_animation.times[f]));
      scales.insert(scales.end(), 3, shown ? 1.0f : 0.0f);
    }
    add_channel(times, add_numbers(scales.data(), times.size(), 3, k_float, "VEC3"), "STEP", "scale");
  }

  void add_channel(const std::vector<float>& times, int output, const char* interpolation, const char* path) {
    m_samplers.push_back(
        {{"input", add_scalars(times, true)}, {"output", output}, {"interpolation", interpolation}});
    m_channels.push_back({{"sampler", m_samplers.size() - 1},
                          {"target", {{"node", m_json["nodes"].size() - 1}, {"path", path}}}});
  }

  const Animation& m_animation;
  Json m_json, m_channels, m_samplers;
  std::string m_bytes;
};

}  // namespace

void write_glb(const std::filesystem::path& file, const Animation& animation) {
  write_file_atomically(file, GltfWriter(animation).file());
}

}  // namespace exemplar
