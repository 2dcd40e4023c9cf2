#include "compare/results/example_reach.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/errors.h"
#include "core/math/rigid_fit.h"
#include "core/run/live_run.h"

namespace exemplar {

namespace {

constexpr double k_end = 0.12;         // of the length: an end
constexpr double k_least_share = 0.2;  // of the pose: what two parts must take of it
constexpr double k_seen = 1e-6;        // of the size: a pose that differs from rest
constexpr double k_half = 0.5;         // the weight of an example that wins
constexpr int k_frames = 8;            // from rest to the pose
constexpr int k_doublings = 6;         // of the ratio, up and down
constexpr int k_bisections = 3;

struct Part {
  Json region;
  std::vector<Eigen::Index> vertices;
};

struct Grips {
  Part held, moved;
  RigidTransform motion;  // of the moved part against the held one
  double share = 0;       // of the pose's displacements that the moved part takes
  double bent = 0;        // what the pose does to the two parts themselves, likewise

  double quality() const { return std::min(1.0, share) - bent; }
};

Json vector_of(const Vec3& v) {
  return Json::array({v.x(), v.y(), v.z()});
}

Part half_space(const Points& rest, const Vec3& point, const Vec3& normal) {
  Part part;
  part.region = {{"half_space", {{"point", vector_of(point)}, {"normal", vector_of(normal)}}}};
  for (Eigen::Index v = 0; v < rest.rows(); ++v) {
    if ((Vec3(rest.row(v)) - point).dot(normal) >= 0) part.vertices.push_back(v);
  }
  return part;
}

Part ball(const Points& rest, const Vec3& centre, double radius) {
  Part part;
  part.region = {{"sphere", {{"centre", vector_of(centre)}, {"radius", radius}}}};
  for (Eigen::Index v = 0; v < rest.rows(); ++v) {
    if ((Vec3(rest.row(v)) - centre).norm() <= radius) part.vertices.push_back(v);
  }
  return part;
}

RigidTransform motion_of(const Part& part, const Points& rest, const Points& pose) {
  const Points from = rest(part.vertices, Eigen::all), to = pose(part.vertices, Eigen::all);
  return fit_rigid(from, to);
}

double rms(const Points& displacements) {
  return displacements.rows() > 0 ? std::sqrt(displacements.rowwise().squaredNorm().mean()) : 0;
}

std::optional<Grips> grips_of(Part held, Part moved, const Points& rest, const Points& pose) {
  if (held.vertices.size() < 3 || moved.vertices.size() < 3) return std::nullopt;
  const RigidTransform frame = motion_of(held, pose, rest);
  const Points against = transform(frame, pose);  // the pose with the held part where it is at rest
  Grips grips{std::move(held), std::move(moved), {}, 0, 0};
  grips.motion = motion_of(grips.moved, rest, against);
  const double whole = rms(against - rest);
  if (!(whole > k_seen * rms(rest.rowwise() - rest.colwise().mean()))) return std::nullopt;
  const auto rows = [](const Points& all, const Part& part) -> Points {
    return all(part.vertices, Eigen::all);
  };
  const Points part = rows(rest, grips.moved), moved_part = transform(grips.motion, part);
  grips.share = rms(moved_part - part) / whole;
  grips.bent = (rms(moved_part - rows(against, grips.moved)) +
                rms(rows(rest, grips.held) - rows(against, grips.held))) /
               whole;
  return grips;
}

std::optional<Grips> best_grips(const Points& rest, const Points& pose) {
  const Vec3 low = rest.colwise().minCoeff(), high = rest.colwise().maxCoeff();
  std::vector<std::optional<Grips>> candidates;
  for (int axis = 0; axis < 3; ++axis) {
    const Vec3 along = Vec3::Unit(axis);
    const double end = k_end * (high - low)[axis];
    candidates.push_back(grips_of(half_space(rest, low + end * along, -along),
                                  half_space(rest, high - end * along, along), rest, pose));
  }
  Eigen::Index most = 0;
  (transform(fit_rigid(pose, rest), pose) - rest).rowwise().squaredNorm().maxCoeff(&most);
  const Vec3 place = rest.row(most), centre = 0.5 * (low + high);
  const Vec3 inward = (centre - place).normalized();
  candidates.push_back(grips_of(half_space(rest, centre + 0.25 * (centre - place), inward),
                                ball(rest, place, k_end * (high - low).norm()), rest, pose));
  std::optional<Grips> best;
  for (std::optional<Grips>& grips : candidates) {
    if (grips && (!best || grips->quality() > best->quality())) best = std::move(grips);
  }
  return best;
}

Json supports_of(const Grips& grips) {
  const Eigen::AngleAxisd turn(grips.motion.rotation);
  const Json region = grips.moved.region;
  const Json end = {{"time", 1},
                    {"position", vector_of(grips.motion.translation)},
                    {"rotation", {{"axis", vector_of(turn.axis())}, {"angle", turn.angle() * 180 / M_PI}}}};
  return Json::array({{{"region", grips.held.region}},
                      {{"region", region}, {"keyframes", Json::array({Json{{"time", 0}}, end})}}});
}

// The body alone, without everything that happens to it.
Json bare_scene(const SceneFile& file, std::size_t body, const std::string& method) {
  const Json whole = parse_json(file.document, file.path);
  Json scene = {{"time", {{"duration", 1}, {"fps", k_frames}, {"steps_per_frame", 1}}},
                {"gravity", Json::array({0, 0, 0})},
                {"bodies", Json::array({whole["bodies"][body]})}};
  Json& alone = scene["bodies"][0];
  for (const char* key :
       {"velocity", "angular_velocity", "initial_pose", "controllers", "repeat", "supports"})
    alone.erase(key);
  if (alone.contains("material") && alone["material"].is_object())
    alone["material"]["yield_stress"] = nullptr;
  Json settings = whole.value("methods", Json::object()).value(method, Json::object());
  settings["mode"] = "quasi-static";
  settings.erase("plasticity");
  scene["methods"] = {{method, settings}};
  return scene;
}

struct Probe {
  const SceneFile& file;
  const Registry& registry;
  std::string method, column;
  Json scene;
  double internal = 1;  // relative stiffness of the conventional potential

  // The weight at the end; nothing where the solver does not get there.
  std::optional<double> weight_at(double ratio) const {
    Json tried = scene;
    tried["methods"][method]["examples"]["stiffness"] = ratio * internal;
    LiveRun run(parse_scene(tried, file.path, registry.descriptions()), registry, method);
    for (int frame = 0; frame < k_frames; ++frame) {
      if (run.advance_frame().status != Status::ok) return std::nullopt;
    }
    for (const Metric& metric : run.method().diagnostics().extra) {
      if (metric.name == column) return metric.value;
    }
    throw InputError("the method " + method + " has no weights of examples");
  }

  bool wins_at(double ratio) const { return weight_at(ratio).value_or(0) >= k_half; }

  // The smallest ratio within some doublings of the scene's at which the example wins.
  std::optional<double> first_win(double ratio, double weight) const {
    const double factor = weight >= k_half ? 0.5 : 2;
    double inside = ratio;
    for (int k = 0; k < k_doublings; ++k) {
      const double next = inside * factor;
      if (wins_at(next) != (weight >= k_half))
        return bisected(std::min(inside, next), std::max(inside, next));
      inside = next;
    }
    return weight >= k_half ? std::optional(inside) : std::nullopt;
  }

  double bisected(double loses, double wins) const {
    for (int k = 0; k < k_bisections; ++k) {
      const double middle = std::sqrt(loses * wins);
      (wins_at(middle) ? wins : loses) = middle;
    }
    return wins;
  }
};

double number_in(const Json& settings, const char* key, double otherwise) {
  return settings.contains(key) && settings[key].is_number() ? settings[key].get<double>() : otherwise;
}

struct Question {
  const SceneFile& file;
  const Registry& registry;
  std::string method;
};

// `place`: of the body among those of the file.
ExampleReach reach_of(const Question& question, const Body& body, std::size_t place, const Example& example) {
  const auto& [file, registry, method] = question;
  const std::string name = file.settings.bodies[place].name;  // copies have names of their own
  ExampleReach reach;
  reach.body = name;
  reach.example = example.name;
  const Points& rest = body.surface().vertices;
  const std::optional<Grips> grips = best_grips(rest, example.surface);
  if (!grips || grips->share < k_least_share) {
    reach.problem = "no two parts of the body are moved against each other by this pose";
    return reach;
  }
  reach.share = std::min(1.0, grips->share);
  Probe probe{file, registry, method, "weight_" + name + "_" + example.name, bare_scene(file, place, method)};
  probe.scene["bodies"][0]["supports"] = supports_of(*grips);
  const Json settings = write_scene(file, method)["methods"][method];
  probe.internal = number_in(settings, "internal_stiffness", 1);
  const double stiffness = number_in(settings.value("examples", Json::object()), "stiffness", 1);
  if (probe.internal == 0 || stiffness == 0) {
    reach.problem = probe.internal == 0 ? "nothing competes with the examples (internal_stiffness is 0)"
                                        : "the examples have no stiffness";
    return reach;
  }
  reach.ratio = stiffness / probe.internal;
  const std::optional<double> weight = probe.weight_at(reach.ratio);
  if (!weight) {
    reach.problem = "the body cannot be moved there without collapsing";
    return reach;
  }
  reach.weight = *weight;
  reach.wins_at = probe.first_win(reach.ratio, *weight);
  reach.wins_below = reach.wins_at == std::ldexp(reach.ratio, -k_doublings);
  return reach;
}

}  // namespace

std::vector<ExampleReach> find_reach(const SceneFile& file, const Registry& registry,
                                     const std::string& method) {
  const MethodInfo& info = registry.get(method);
  if (!info.capabilities.elastic_examples)
    throw InputError("the method " + method + " has no potential of examples");
  const Scene scene = make_scene(file.settings, file.directory);
  std::vector<ExampleReach> all;
  std::string last;  // copies share a path
  std::size_t place = 0;
  for (const Body& body : scene.bodies) {
    if (body.path() == last) continue;
    last = body.path();
    for (const Example& example : body.examples()) {
      if (example.elastic) all.push_back(reach_of({file, registry, method}, body, place, example));
    }
    ++place;
  }
  return all;
}

}  // namespace exemplar
