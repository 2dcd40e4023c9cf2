#include "core/run/live_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "core/base/phase.h"
#include "core/base/stopwatch.h"
#include "core/mesh/distance.h"
#include "core/run/surface_crossings.h"
#include "core/run/surface_fields.h"
#include "core/scene/checks/start_check.h"

namespace exemplar {

namespace {

constexpr double k_pin_frequency =
    30;  // Hz, of a body that hangs on a pin: under its own weight it sags by 0.3 mm

double known(double value) {
  return std::isnan(value) ? 0 : value;
}

// Nothing but gravity and resting obstacles acts on the bodies.
bool is_left_alone(const Scene& scene) {
  const auto rests = [](const ObstacleBody& o) { return o.kind() == ObstacleKind::fixed; };
  const auto is_free = [](const Body& b) { return b.supports().empty() && b.controllers().empty(); };
  return scene.loads.empty() && scene.pulls.empty() &&
         std::all_of(scene.obstacles.begin(), scene.obstacles.end(), rests) &&
         std::all_of(scene.bodies.begin(), scene.bodies.end(), is_free);
}

// What nothing else accounts for is the time step's.
void close_balance(Diagnostics& d, double start_energy, const Scene& scene) {
  if (!std::isnan(d.numerical_dissipation) || std::isnan(start_energy)) return;
  if (d.is_static || std::isnan(d.damping_dissipation)) return;
  if (std::isnan(d.contact_dissipation) && !scene.obstacles.empty()) return;
  if (std::isnan(d.external_work) && is_left_alone(scene)) d.external_work = 0;
  if (std::isnan(d.external_work)) return;
  d.numerical_dissipation = start_energy + d.external_work - stored_energy(d) - known(d.plastic_dissipation) -
                            known(d.contact_dissipation) - d.damping_dissipation - known(d.fracture_energy);
}

const Geometry* find_series(const std::vector<Geometry>& geometries, const std::string& series) {
  for (const Geometry& geometry : geometries) {
    if (geometry.series == series) return &geometry;
  }
  return nullptr;
}

// With what is stored in contact.
double all_stored(const Diagnostics& d) {
  double energy = stored_energy(d);
  for (const Metric& metric : d.extra) energy += metric.name == "contact_energy" ? known(metric.value) : 0;
  return energy;
}

StateArrays state_of(const Method& method) {
  StateWriter out;
  method.save(out);
  return out.arrays();
}

// `old` for a method whose scene has more obstacles at the end of its list; theirs is what `fresh` says. Arrays of
// obstacles have that in their name and one entry for each.
StateArrays with_new_obstacles(StateArrays old, const StateArrays& fresh, std::size_t before,
                               std::size_t after) {
  for (const auto& [name, bytes] : fresh) {
    const auto found = old.find(name);
    if (found == old.end()) {
      old[name] = bytes;
    } else if (name.find("obstacle") != std::string::npos && bytes.size() > found->second.size()) {
      const bool fits =
          before == 0 || (bytes.size() % after == 0 && found->second.size() == bytes.size() / after * before);
      if (!fits) throw InputError("this method takes up no new obstacle while it runs");
      const auto tail = bytes.begin() + static_cast<std::ptrdiff_t>(found->second.size());
      found->second.insert(found->second.end(), tail, bytes.end());
    }
  }
  return old;
}

Json numbers(const Vec3& v) {
  return Json::array({v.x(), v.y(), v.z()});
}

// Of a pull that was added to a live run.
Json& added_pull(Json& loads, int number) {
  const bool is_one = number >= 0 && to_size(number) < loads.size() &&
                      loads[to_size(number)].contains("pull") &&
                      loads[to_size(number)]["pull"].contains("keyframes") &&
                      loads[to_size(number)]["pull"].value("interpolation", "") == "linear";
  if (!is_one) throw InputError(fmt::format("loads[{}] is no pull that was added to this run", number));
  return loads[to_size(number)];
}

Json key(double time, const Vec3& position) {
  return {{"time", time}, {"position", numbers(position)}};
}

}  // namespace

LiveRun::LiveRun(SceneFile file, const Registry& registry, const std::string& method)
    : m_descriptions(registry.descriptions()), m_info(&registry.get(method)) {
  take(make(std::move(file), From::start));
  m_start_energy = stored_energy(m_method->diagnostics());
}

LiveRun::LiveRun(const Scene& scene, Method& method) : m_scene(&scene), m_method(&method) {
  m_start_energy = stored_energy(m_method->diagnostics());
}

LiveRun::Made LiveRun::make(SceneFile file, From from) const {
  if (m_info == nullptr) throw InputError("this run's scene came from no file: nothing of it can be changed");
  Made made{std::move(file), nullptr, nullptr};
  made.scene = std::make_unique<Scene>(make_scene(made.file.settings, made.file.directory));
  if (from == From::start) {
    if (const auto problems = start_problems(*made.scene); !problems.empty()) throw InputError(problems);
  }
  const Phase phase(m_info->name + ": setting up");
  made.method = m_info->make(*made.scene, made.file.method(m_info->name));
  return made;
}

void LiveRun::take(Made made) {
  m_file = std::move(made.file);
  m_own_method = std::move(made.method);
  m_settings = m_file.method(m_info->name);
  m_own_scene = std::move(made.scene);
  m_scene = m_own_scene.get();
  m_method = m_own_method.get();
}

void LiveRun::start_again(Made made) {
  take(std::move(made));
  m_frame = 0;
  m_time = m_wall_time = m_work = m_numerical = 0;
  m_last = {};
  m_start_energy = stored_energy(m_method->diagnostics());
}

void LiveRun::go_on_with(Made made) {
  StateReader reader(with_new_obstacles(state(), state_of(*made.method), m_scene->obstacles.size(),
                                        made.scene->obstacles.size()));
  made.method->load(reader);
  const Diagnostics before = m_method->diagnostics(), after = made.method->diagnostics();
  m_work += known(all_stored(after) - all_stored(before) - known(after.external_work - before.external_work));
  m_numerical += known(before.numerical_dissipation - after.numerical_dissipation);
  take(std::move(made));
}

StepReport LiveRun::step_to(double time, const InterruptCheck& interrupted) {
  const Stopwatch stopwatch;
  m_last = m_method->advance(time, interrupted);
  m_wall_time += stopwatch.seconds();
  if (m_last.status != Status::ok) return m_last;
  m_time = time;
  m_frame = static_cast<int>(std::floor(time * m_scene->time.fps + 1e-9));
  return m_last;
}

StepReport LiveRun::advance_frame(const InterruptCheck& interrupted) {
  const int next = m_frame + 1;
  const StepReport report = step_to(m_scene->frame_time(next), interrupted);
  if (report.status == Status::ok) m_frame = next;
  return report;
}

LiveRun::Frame LiveRun::measure() const {
  Frame frame{{}, m_method->fields()};
  FrameMetrics& metrics = frame.metrics;
  const auto poses = m_method->obstacle_poses();
  metrics.frame = m_frame;
  metrics.time = m_time;
  metrics.diagnostics = m_method->diagnostics();
  metrics.diagnostics.external_work += m_work;
  metrics.diagnostics.numerical_dissipation += m_numerical;
  close_balance(metrics.diagnostics, m_start_energy, *m_scene);
  metrics.steps = m_last.steps;
  metrics.iterations = m_last.iterations;
  metrics.wall_time = m_wall_time;
  metrics.phases = m_method->phase_times();
  if (const Geometry* surface = find_series(frame.geometries, "surface")) {
    metrics.volume_ratio = surface_volume_ratio(*m_scene, *surface);
    metrics.crossings = surface_crossings(*surface);
    double& depth = metrics.diagnostics.deepest_penetration;
    if (std::isnan(depth)) depth = deepest_penetration(*m_scene, poses, surface->points);
  }
  if (!m_scene->obstacles.empty()) frame.geometries.push_back(obstacle_geometry(*m_scene, poses));
  return frame;
}

Geometry LiveRun::surface() const {
  std::vector<Geometry> geometries = m_method->fields();
  const Geometry* surface = find_series(geometries, "surface");
  return surface ? *surface : Geometry{};
}

StateArrays LiveRun::state() const {
  return state_of(*m_method);
}

LiveRun::Snapshot LiveRun::snapshot() const {
  return {m_file.document, m_frame, m_time, m_work, m_numerical, state()};
}

void LiveRun::restore(const Snapshot& snapshot) {
  if (snapshot.document != m_file.document) take(make(with_document(snapshot.document), From::state));
  StateReader reader(snapshot.state);
  m_method->load(reader);
  m_frame = snapshot.frame;
  m_time = snapshot.time;
  m_work = snapshot.work;
  m_numerical = snapshot.numerical;
  m_last = {};
}

void LiveRun::resume(int frame, double wall_time, const StateArrays& state) {
  StateReader reader(state);
  m_method->load(reader);
  m_frame = frame;
  m_time = m_scene->frame_time(frame);
  m_wall_time = wall_time;
  m_last = {};
}

SceneFile LiveRun::with_document(const std::string& document) const {
  return parse_scene(parse_json(document, m_file.path), m_file.path, m_descriptions);
}

LiveRun::Effect LiveRun::set(const std::string& path, const std::string& value) {
  Json document = parse_json(m_file.document, m_file.path);
  apply_assignment(document, path + "=" + value);
  const SceneFile file = parse_scene(std::move(document), m_file.path, m_descriptions);
  if (is_live_setting(path, m_descriptions)) {
    try {
      go_on_with(make(file, From::state));
      return Effect::at_once;
    } catch (const InputError&) {
      // The state does not fit, as where a body yields that did not before. A bad setting is refused below.
    }
  }
  start_again(make(file, From::start));
  return Effect::restarted;
}

LiveRun::Hold LiveRun::nearest(const Vec3& point) const {
  const Points vertices = surface().points;
  Hold hold;
  double least = std::numeric_limits<double>::infinity();
  Eigen::Index first = 0;
  for (const Body& body : m_scene->bodies) {
    const Eigen::Index count = body.surface().vertices.rows();
    const SurfacePoint found =
        SurfaceDistance({vertices.middleRows(first, count), body.surface().triangles}).nearest(point);
    first += count;
    if (found.distance >= least) continue;
    least = found.distance;
    hold = {body.name(), found.triangle, found.barycentric};
  }
  return hold;
}

Vec3 LiveRun::place(const Hold& hold) const {
  const Points vertices = surface().points;
  Eigen::Index first = 0;
  for (const Body& body : m_scene->bodies) {
    if (body.name() == hold.body) {
      Vec3 sum = Vec3::Zero();
      for (int k = 0; k < 3; ++k)
        sum += hold.barycentric[k] *
               vertices.row(first + body.surface().triangles(hold.triangle, k)).transpose();
      return sum;
    }
    first += body.surface().vertices.rows();
  }
  throw InputError("there is no body called '" + hold.body + "'");
}

// Pulls are read from the scene in each step: nothing else is made anew.
void LiveRun::change_loads(const std::function<void(Json& loads)>& change) {
  if (m_info == nullptr) throw InputError("this run's scene came from no file: nothing of it can be changed");
  Json document = parse_json(m_file.document, m_file.path);
  if (!document["loads"].is_array()) document["loads"] = Json::array();
  change(document["loads"]);
  SceneFile file = parse_scene(std::move(document), m_file.path, m_descriptions);
  std::vector<Pull> pulls = make_pulls(file.settings, m_scene->bodies);
  m_file = std::move(file);
  m_own_scene->pulls = std::move(pulls);
}

int LiveRun::add_pull(const Hold& hold, const Vec3& target, double stiffness,
                      std::optional<double> max_force) {
  int number = 0;
  change_loads([&](Json& loads) {
    number = static_cast<int>(loads.size());
    Json pull{{"triangle", hold.triangle},
              {"barycentric", numbers(hold.barycentric)},
              {"keyframes", Json::array({key(m_time, target)})},
              {"interpolation", "linear"},
              {"stiffness", stiffness}};
    if (max_force) pull["max_force"] = *max_force;
    loads.push_back({{"body", hold.body}, {"pull", pull}, {"from", m_time}});
  });
  return number;
}

int LiveRun::add_pin(const Hold& hold) {
  const auto body = std::find_if(m_scene->bodies.begin(), m_scene->bodies.end(),
                                 [&](const Body& b) { return b.name() == hold.body; });
  if (body == m_scene->bodies.end()) throw InputError("there is no body called '" + hold.body + "'");
  const double omega = 2 * std::numbers::pi * k_pin_frequency;
  return add_pull(hold, place(hold), body->mass_properties().mass * omega * omega, std::nullopt);
}

// The target waits until now and is there at the next frame: what has been simulated stays as the scene says it.
void LiveRun::move_pull(int pull, const Vec3& target) {
  change_loads([&](Json& loads) {
    Json& keys = added_pull(loads, pull)["pull"]["keyframes"];
    const double last = keys.back().at("time").get<double>();
    if (last > m_time) {
      keys.back()["position"] = numbers(target);
      return;
    }
    if (last < m_time) {
      Json waits = keys.back();
      waits["time"] = m_time;
      keys.push_back(std::move(waits));
    }
    keys.push_back(key(m_scene->frame_time(m_frame + 1), target));
  });
}

void LiveRun::release_pull(int pull) {
  change_loads([&](Json& loads) {
    Json& load = added_pull(loads, pull);
    const double from = load.value("from", 0.0);
    load["until"] = m_time > from ? m_time : m_scene->frame_time(m_frame + 1);
  });
}

void LiveRun::throw_ball(const Vec3& position, const Vec3& velocity, double radius, double mass) {
  Json document = parse_json(m_file.document, m_file.path);
  Json& obstacles = document["obstacles"];
  if (!obstacles.is_array()) obstacles = Json::array();
  const Vec3 nearest_place = place(nearest(position));
  if ((nearest_place - position).norm() <= radius)
    throw InputError("there is no room for a ball here: it would start inside of a body");
  obstacles.push_back({{"name", fmt::format("ball-{}", obstacles.size() + 1)},
                       {"sphere", {{"radius", radius}}},
                       {"mass", mass},
                       {"position", numbers(position)},
                       {"velocity", numbers(velocity)}});
  go_on_with(make(parse_scene(std::move(document), m_file.path, m_descriptions), From::state));
}

}  // namespace exemplar
