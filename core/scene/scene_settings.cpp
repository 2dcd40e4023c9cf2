#include "core/scene/scene_settings.h"

#include <fmt/format.h>

#include <numbers>
#include <set>

namespace exemplar {

Quat rotation_of(const RotationSettings& settings) {
  return Quat(Eigen::AngleAxisd(settings.angle * std::numbers::pi / 180, settings.axis.normalized()));
}

namespace {

// Faster things give infinite energies long before anything is wrong with the method.
Range slower_than_light() {
  return between(-3e8, 3e8);
}

void check_curve_sizes(const std::vector<double>& inputs, const std::vector<double>& values, const char* key,
                       const ProblemSink& problem) {
  if (inputs.empty() || inputs.size() != values.size()) {
    problem(key, "needs as many entries as weights, at least one");
    return;
  }
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    if (inputs[i] <= inputs[i - 1]) problem(key, "must increase");
  }
}

template <class Keyframe>
void check_increasing_times(const std::vector<Keyframe>& keyframes, const ProblemSink& problem) {
  for (std::size_t i = 1; i < keyframes.size(); ++i) {
    if (keyframes[i].time <= keyframes[i - 1].time) {
      problem("keyframes[" + std::to_string(i) + "].time", "must be later than the keyframe before it");
    }
  }
}

void check_box(const Vec3& low, const Vec3& high, const ProblemSink& problem) {
  if ((low.array() > high.array()).any()) problem("low", "must not be above high in any coordinate");
}

template <class T>
void check_unique_names(const std::vector<T>& items, const std::string& list, const ProblemSink& problem) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i].name.empty() && !seen.insert(items[i].name).second) {
      problem(list + "[" + std::to_string(i) + "].name", "'" + items[i].name + "' is taken already");
    }
  }
}

const ExampleSettings* find_example(const BodySettings& body, const std::string& name) {
  for (const ExampleSettings& example : body.examples) {
    if (example.name == name) return &example;
  }
  return nullptr;
}

void check_controllers(const BodySettings& body, const ProblemSink& problem) {
  std::set<std::string> controlled;
  for (std::size_t i = 0; i < body.controllers.size(); ++i) {
    const std::string& name = body.controllers[i].example;
    const std::string place = "controllers[" + std::to_string(i) + "].example";
    const ExampleSettings* example = find_example(body, name);
    if (!example) problem(place, "there is no example called '" + name + "'");
    if (example && example->use == ExampleUse::plastic)
      problem(place, "'" + name +
                         "' shapes plastic flow only and has no weight to set; its use would have to be "
                         "\"elastic\" or \"both\"");
    if (!controlled.insert(name).second)
      problem(place, "'" + name + "' has a controller already; one weight cannot follow two");
  }
}

void check_body(const BodySettings& body, const ProblemSink& problem) {
  check_unique_names(body.examples, "examples", problem);
  if (body.initial_pose && !find_example(body, *body.initial_pose)) {
    problem("initial_pose", "there is no example called '" + *body.initial_pose + "'");
  }
  check_controllers(body, problem);
  if (body.volume.grid && !body.surface.box)
    problem("volume.grid", "only boxes can have a structured volume");
  if ((body.surface.sheet || body.surface.sleeve) && body.kind != BodyKind::sheet) {
    problem("kind", "the surface is an open sheet: expected \"sheet\"");
  }
}

constexpr int k_most_things = 200000;          // bodies, or obstacles, of a scene
constexpr double k_gigabytes_of_thing = 1e-5;  // with a surface of a dozen triangles

// Each `repeat` has a limit of its own, but there may be many of them.
template <class Thing>
void check_copies(const std::vector<Thing>& things, const std::string& key, const ProblemSink& problem) {
  double copies = 0;
  for (const Thing& thing : things)
    copies += thing.repeat ? thing.repeat->count.template cast<double>().prod() : 1;
  if (copies > k_most_things)
    problem(key, fmt::format("are {:.7g} with all their copies (roughly {:.2g} GB before the first step); at "
                             "most {} are allowed",
                             copies, copies * k_gigabytes_of_thing, k_most_things));
}

// Copies are called after what they copy.
template <class Named>
bool is_named(const std::vector<Named>& all, const std::string& name) {
  return std::any_of(all.begin(), all.end(), [&](const Named& one) { return name.starts_with(one.name); });
}

void check_camera(const SceneSettings& scene, const ProblemSink& problem) {
  const CameraSettings& camera = *scene.camera;
  const auto check_body = [&](const std::string& name, const std::string& path) {
    if (!name.empty() && !is_named(scene.bodies, name))
      problem(path, "there is no body called '" + name + "'");
  };
  check_body(camera.follow, "camera.follow");
  for (std::size_t i = 0; i < camera.close_ups.size(); ++i)
    check_body(camera.close_ups[i].body, "camera.close_ups[" + std::to_string(i) + "].body");
  for (std::size_t i = 0; i < camera.hide.size(); ++i) {
    if (!is_named(scene.obstacles, camera.hide[i]))
      problem("camera.hide[" + std::to_string(i) + "]",
              "there is no obstacle called '" + camera.hide[i] + "'");
  }
}

void check_scene(const SceneSettings& scene, const ProblemSink& problem) {
  check_copies(scene.bodies, "bodies", problem);
  check_copies(scene.obstacles, "obstacles", problem);
  check_unique_names(scene.bodies, "bodies", problem);
  check_unique_names(scene.obstacles, "obstacles", problem);
  std::set<std::string> bodies;
  for (const BodySettings& body : scene.bodies) bodies.insert(body.name);
  for (std::size_t i = 0; i < scene.loads.size(); ++i) {
    if (scene.loads[i].body && !bodies.count(*scene.loads[i].body)) {
      problem("loads[" + std::to_string(i) + "].body",
              "there is no body called '" + *scene.loads[i].body + "'");
    }
  }
  if (scene.bodies.empty()) problem("bodies", "expected at least one body");
  if (scene.camera) check_camera(scene, problem);
}

}  // namespace

int frame_count(const TimeSettings& time) {
  return static_cast<int>(std::floor(time.duration * time.fps + 0.5));
}

void describe(Describe<TimeSettings>& d) {
  d.field("duration", &TimeSettings::duration, "s", "simulated time", positive()).live();
  d.field("fps", &TimeSettings::fps, "1/s", "frames written per second", positive());
  d.field("steps_per_frame", &TimeSettings::steps_per_frame, "",
          "time steps per frame; auto: as long as the accuracy allows (fem, fem-compatible, shell), at most "
          "1/240 s in the other methods",
          between(1, 1e6))
      .or_auto();
  d.field("accuracy", &TimeSettings::accuracy, "",
          "of steps_per_frame auto: what a step may lose of the energy in play; in position it may be off by "
          "0.3 % of the body's size times this",
          between(1e-6, 1));
  d.check([](const TimeSettings& time, const ProblemSink& problem) {
    if (time.duration * time.fps < 0.5) problem("duration", "is shorter than one frame");
    if (time.duration * time.fps > 1e6) problem("fps", "gives more than a million frames");
  });
}

void describe(Describe<RotationSettings>& d) {
  d.field("axis", &RotationSettings::axis, "", "axis of the rotation").direction();
  d.field("angle", &RotationSettings::angle, "deg", "angle");
}

void describe(Describe<VolumeSettings>& d) {
  d.field("max_tet_volume", &VolumeSettings::max_tet_volume, "m³", "largest tet; none: from the surface",
          positive());
  d.field("quality", &VolumeSettings::quality, "", "largest radius-edge ratio of a tet", between(1.1, 10));
  d.field("cage", &VolumeSettings::cage, "", "where the surface cannot be filled, use an enclosing cage");
  d.field("always_cage", &VolumeSettings::always_cage, "", "use an enclosing cage in any case");
  d.field("cage_cell", &VolumeSettings::cage_cell, "m", "cell size of the cage; none: from the surface",
          positive());
  d.field("grid", &VolumeSettings::grid, "", "boxes: a structured mesh with these cells", between(1, 1000));
  d.choice("split", &VolumeSettings::split, {{"five", Split::five}, {"six", Split::six}},
           "tets per cell of a structured mesh");
  d.field("file", &VolumeSettings::file, "", "tet mesh to use instead, relative to the scene file").path();
  d.field("time_limit", &VolumeSettings::time_limit, "s",
          "of each attempt of TetGen; a mesh that depends on it is not cached, and a note says so",
          positive());
  d.check([](const VolumeSettings& volume, const ProblemSink& problem) {
    if (!volume.grid) return;
    const double tets = (volume.split == Split::five ? 5 : 6) * volume.grid->cast<double>().prod();
    const auto most = static_cast<double>(VolumeOptions{}.max_tets);
    if (tets > most)
      problem("grid",
              fmt::format("would be {:.2g} tets (roughly {:.2g} GB to simulate); at most {:.2g} are allowed",
                          tets, tets * 4e-6, most));
  });
}

void describe(Describe<ModePose>& d) {
  d.field("index", &ModePose::index, "", "mode, counted from 1 with six rigid ones first", between(7, 200));
  d.field("amplitude", &ModePose::amplitude, "m",
          "largest displacement; default: a twentieth of the body's diagonal", positive());
  d.shorthand("index");
}

void describe(Describe<FramePose>& d) {
  d.field("run", &FramePose::run, "", "directory of a finished run, relative to the scene file")
      .path()
      .required();
  d.field("frame", &FramePose::frame, "", "frame; none: the last one", at_least(0));
  d.field("body", &FramePose::body, "", "body in that run; none: the one of the same name");
}

void describe(Describe<RigBone>& d) {
  d.field("from", &RigBone::from, "m", "one end, body coordinates").required();
  d.field("to", &RigBone::to, "m", "the other end").required();
}

void describe(Describe<RigCage>& d) {
  d.field("corners", &RigCage::corners, "m", "of a closed polygon, body coordinates").required();
  d.check([](const RigCage& cage, const ProblemSink& problem) {
    if (cage.corners.size() < 3) problem("corners", "a cage needs at least three corners");
  });
}

void describe(Describe<RigSettings>& d) {
  d.field("file", &RigSettings::file, "", "a rig made by `exemplar rig`, relative to the scene file");
  d.field("points", &RigSettings::points, "m", "point handles, body coordinates");
  d.field("bones", &RigSettings::bones, "", "segments that move as one");
  d.field("cages", &RigSettings::cages, "", "closed polygons whose corners are handles");
  d.field("automatic", &RigSettings::automatic, "",
          "how many handles are found on the surface; default: 12 when no other is given", between(0, 1000));
  d.shorthand("automatic");
  d.check([](const RigSettings& rig, const ProblemSink& problem) {
    const bool given = !rig.points.empty() || !rig.bones.empty() || !rig.cages.empty() || rig.automatic;
    if (rig.file && given)
      problem("file", "stands for all handles: no points, bones, cages or automatic ones");
    if (!rig.file && rig.points.empty() && rig.bones.empty() && rig.cages.empty() && rig.automatic == 0)
      problem("automatic", "a rig needs at least one handle");
  });
}

void describe(Describe<HandleMove>& d) {
  d.field("handle", &HandleMove::handle, "", "name of the handle (`exemplar rig` lists them)");
  d.field("near", &HandleMove::near, "m", "the handle nearest to this point, body coordinates");
  d.field("by", &HandleMove::by, "m", "displacement");
  d.field("rotation", &HandleMove::rotation, "", "how it is turned; default: found automatically");
  d.exactly_one({"handle", "near"});
}

void describe(Describe<HandlePoseSettings>& d) {
  d.field("move", &HandlePoseSettings::move, "", "the moved handles").required();
  d.field("others_free", &HandlePoseSettings::others_free, "",
          "the other handles go where the body bends least, instead of staying");
}

void describe(Describe<RegionBox>& d) {
  d.field("low", &RegionBox::low, "m", "lower corner").required();
  d.field("high", &RegionBox::high, "m", "upper corner").required();
  d.check([](const RegionBox& box, const ProblemSink& problem) { check_box(box.low, box.high, problem); });
}

void describe(Describe<RegionSphere>& d) {
  d.field("centre", &RegionSphere::centre, "m", "centre").required();
  d.field("radius", &RegionSphere::radius, "m", "radius", positive()).required();
}

void describe(Describe<RegionCylinder>& d) {
  d.field("from", &RegionCylinder::from, "m", "middle of one end").required();
  d.field("to", &RegionCylinder::to, "m", "middle of the other end").required();
  d.field("radius", &RegionCylinder::radius, "m", "radius", positive()).required();
  d.field("hollow", &RegionCylinder::hollow, "m", "radius of a bore that does not belong to it",
          non_negative());
  d.check([](const RegionCylinder& cylinder, const ProblemSink& problem) {
    if (cylinder.from == cylinder.to) problem("to", "must differ from from");
    if (cylinder.hollow >= cylinder.radius) problem("hollow", "must be smaller than radius");
  });
}

void describe(Describe<RegionHalfSpace>& d) {
  d.field("point", &RegionHalfSpace::point, "m", "a point of its border").required();
  d.field("normal", &RegionHalfSpace::normal, "", "points into the region").direction().required();
}

void describe(Describe<RegionNearest>& d) {
  d.field("points", &RegionNearest::points, "m", "the node nearest to each of these").required();
}

void describe(Describe<RegionSettings>& d) {
  d.field("box", &RegionSettings::box, "", "a box with sides along the axes");
  d.field("sphere", &RegionSettings::sphere, "", "a ball");
  d.field("cylinder", &RegionSettings::cylinder, "", "a cylinder in any direction, or a tube");
  d.field("half_space", &RegionSettings::half_space, "", "everything on one side of a plane");
  d.field("nearest", &RegionSettings::nearest, "", "the nodes nearest to given points");
  d.field("all", &RegionSettings::all, "", "the whole body");
  d.exactly_one({"box", "sphere", "cylinder", "half_space", "nearest", "all"});
  d.check([](const RegionSettings& region, const ProblemSink& problem) {
    const bool has_shape =
        region.box || region.sphere || region.cylinder || region.half_space || region.nearest;
    if (!has_shape && !region.all) problem("all", "expected true, or another kind of region");
  });
}

void describe(Describe<ExampleSettings>& d) {
  d.field("name", &ExampleSettings::name, "", "name of the example").required();
  d.choice("use", &ExampleSettings::use,
           {{"both", ExampleUse::both}, {"elastic", ExampleUse::elastic}, {"plastic", ExampleUse::plastic}},
           "whether it shapes elastic or plastic deformation");
  describe_pose_map(d);
  d.field("maps", &ExampleSettings::maps, "", "several maps, one after the other");
  d.field("file", &ExampleSettings::file, "", "mesh file with the surface's (or the volume's) topology")
      .path();
  d.field("mode", &ExampleSettings::mode, "", "a vibration mode of the body: its number, or more about it");
  d.field("frame", &ExampleSettings::frame, "", "a frame of another run");
  d.field("handles", &ExampleSettings::handles, "", "moved handles of the body's rig");
  d.field("region", &ExampleSettings::region, "m", "only elements whose centre lies in this box");
  d.field("allow_inverted", &ExampleSettings::allow_inverted, "", "accept a pose with inverted elements");
  std::vector<std::string> sources = pose_map_names();
  for (const char* source : {"maps", "file", "mode", "frame", "handles"}) sources.push_back(source);
  d.exactly_one(sources);
}

void describe(Describe<KeyframeSettings>& d) {
  d.field("time", &KeyframeSettings::time, "s", "when").required();
  d.field("position", &KeyframeSettings::position, "m", "where (supports: displacement)");
  d.field("rotation", &KeyframeSettings::rotation, "", "how it is turned");
}

void describe(Describe<SupportSettings>& d) {
  d.field("name", &SupportSettings::name, "",
          "gives it columns of its own, reaction_NAME_x, _y and _z (methods fem, fem-compatible and shell)");
  d.field("region", &SupportSettings::region, "", "what is held, in the initial state").required();
  d.field("keyframes", &SupportSettings::keyframes, "", "motion; none: fixed");
  d.field("centre", &SupportSettings::centre, "m", "centre of the keyframes' rotations");
  d.choice("interpolation", &SupportSettings::interpolation,
           {{"smooth", Interpolation::smooth}, {"linear", Interpolation::linear}}, "between keyframes");
  d.field("until", &SupportSettings::until, "s", "when it releases the body; none: never", non_negative());
  d.field("x", &SupportSettings::x, "", "hold the x coordinate");
  d.field("y", &SupportSettings::y, "", "hold the y coordinate");
  d.field("z", &SupportSettings::z, "", "hold the z coordinate");
  d.field("clamped", &SupportSettings::clamped, "",
          "sheets: hold the direction at held borders as well (method shell)");
  d.check([](const SupportSettings& support, const ProblemSink& problem) {
    check_increasing_times(support.keyframes, problem);
  });
}

void describe(Describe<TargetKeyframe>& d) {
  d.field("time", &TargetKeyframe::time, "s", "when").required();
  d.field("position", &TargetKeyframe::position, "m", "where").required();
}

void describe(Describe<PullSettings>& d) {
  d.field("point", &PullSettings::point, "m",
          "the point of the surface that is nearest to this place in the initial state");
  d.field("triangle", &PullSettings::triangle, "",
          "or a place on this triangle of the surface, counted from 0", non_negative());
  d.field("barycentric", &PullSettings::barycentric, "",
          "where on the triangle: shares of its three corners, scaled to a sum of 1");
  d.field("target", &PullSettings::target, "m", "where it is pulled to");
  d.field("keyframes", &PullSettings::keyframes, "",
          "or a target that moves; held before the first and after "
          "the last");
  d.choice("interpolation", &PullSettings::interpolation,
           {{"smooth", Interpolation::smooth}, {"linear", Interpolation::linear}}, "between keyframes");
  d.field("stiffness", &PullSettings::stiffness, "N/m", "force per distance from the target", positive())
      .required();
  d.field("max_force", &PullSettings::max_force, "N", "the pull is never stronger; none: no limit",
          positive());
  d.exactly_one({"point", "triangle"});
  d.check([](const PullSettings& pull, const ProblemSink& problem) {
    if (pull.target.has_value() != pull.keyframes.empty())
      problem("target", "a pull needs a target or keyframes, and not both");
    check_increasing_times(pull.keyframes, problem);
    if (pull.barycentric.minCoeff() < 0 || !(pull.barycentric.sum() > 0))
      problem("barycentric", "shares must not be negative, and not all be zero");
  });
}

void describe(Describe<LoadCurve>& d) {
  d.field("times", &LoadCurve::times, "s", "when, in the time of the scene; each later than the one before")
      .required();
  d.field("factors", &LoadCurve::factors, "",
          "shares of the load's value at these times, held before the first and after the last; may be "
          "negative, but not of a pull")
      .required();
  d.choice("interpolation", &LoadCurve::interpolation,
           {{"linear", Interpolation::linear}, {"smooth", Interpolation::smooth}}, "between them");
  d.check([](const LoadCurve& curve, const ProblemSink& problem) {
    const auto is_no_later = [](double time, double next) { return !(next > time); };
    if (curve.times.empty()) problem("times", "needs at least one time");
    if (curve.times.size() != curve.factors.size()) problem("factors", "must be as many as times");
    if (std::adjacent_find(curve.times.begin(), curve.times.end(), is_no_later) != curve.times.end())
      problem("times", "must increase");
  });
}

void describe(Describe<LoadSettings>& d) {
  d.field("body", &LoadSettings::body, "", "the body; none: every body");
  d.field("region", &LoadSettings::region, "", "where it acts, in the initial state");
  d.field("pull", &LoadSettings::pull, "",
          "instead: a spring from a point of the surface to a target, as a mouse pulls it");
  d.exactly_one({"region", "pull"});
  d.choice("kind", &LoadSettings::kind,
           {{"force", LoadKind::force},
            {"traction", LoadKind::traction},
            {"pressure", LoadKind::pressure},
            {"acceleration", LoadKind::acceleration},
            {"torque", LoadKind::torque}},
           "total force (N), traction (Pa), pressure (Pa), acceleration (m/s²) or torque (N·m)"
           "; accelerations and torques act on the whole mass of every node or particle that starts in the "
           "region, whose border is thus half a spacing sharp");
  d.field("value", &LoadSettings::value, "N, Pa, m/s² or N·m", "strength and direction; not for pressure");
  d.field("magnitude", &LoadSettings::magnitude, "Pa", "of a pressure, positive inwards");
  d.field("from", &LoadSettings::from, "s", "start", non_negative());
  d.field("until", &LoadSettings::until, "s", "end; none: it never ends", non_negative());
  d.field("ramp_up", &LoadSettings::ramp_up, "s", "linear rise after the start", non_negative());
  d.field("ramp_down", &LoadSettings::ramp_down, "s", "linear fall before the end", non_negative());
  d.field("curve", &LoadSettings::curve, "", "how strong it is over time, instead of ramps");
  d.field("follows", &LoadSettings::follows, "", "turns with the body");
  d.check([](const LoadSettings& load, const ProblemSink& problem) {
    if (load.pull) {
      if (!load.value.isZero())
        problem("value", "a pull has none: its stiffness and target say how strong it is");
      if (load.magnitude != 0) problem("magnitude", "a pull has none: see its stiffness");
      const auto is_negative = [](double factor) { return factor < 0; };
      if (load.curve && std::any_of(load.curve->factors.begin(), load.curve->factors.end(), is_negative))
        problem("curve.factors", "must not be negative: a spring pulls, it does not push");
    } else if (load.kind == LoadKind::pressure && load.magnitude == 0) {
      problem("magnitude", "a pressure needs a magnitude");
    } else if (load.kind != LoadKind::pressure && load.value.isZero()) {
      problem("value", "is missing or zero");
    }
    if (load.until && *load.until <= load.from) problem("until", "must be later than from");
    if (load.curve && (load.ramp_up > 0 || load.ramp_down > 0))
      problem("curve", "a load has a curve or ramps, not both");
  });
}

void describe(Describe<CurveController>& d) {
  d.field("times", &CurveController::times, "s", "keys").required();
  d.field("weights", &CurveController::weights, "", "weight at each key", between(0, 1)).required();
  d.check([](const CurveController& c, const ProblemSink& p) {
    check_curve_sizes(c.times, c.weights, "times", p);
  });
}

void describe(Describe<JointController>& d) {
  d.field("a", &JointController::a, "m", "a point of the first limb").required();
  d.field("joint", &JointController::joint, "m", "the joint").required();
  d.field("b", &JointController::b, "m", "a point of the second limb").required();
  d.field("angles", &JointController::angles, "deg", "angle at the joint, keys").required();
  d.field("weights", &JointController::weights, "", "weight at each key", between(0, 1)).required();
  d.check([](const JointController& c, const ProblemSink& p) {
    check_curve_sizes(c.angles, c.weights, "angles", p);
  });
}

void describe(Describe<VelocityController>& d) {
  d.field("direction", &VelocityController::direction, "", "component of the centre's velocity").direction();
  d.field("speeds", &VelocityController::speeds, "m/s", "keys").required();
  d.field("weights", &VelocityController::weights, "", "weight at each key", between(0, 1)).required();
  d.check([](const VelocityController& c, const ProblemSink& p) {
    check_curve_sizes(c.speeds, c.weights, "speeds", p);
  });
}

void describe(Describe<LeanController>& d) {
  d.field("up", &LeanController::up, "", "axis of the signed angle from velocity to acceleration")
      .direction();
  d.field("angles", &LeanController::angles, "deg", "keys").required();
  d.field("weights", &LeanController::weights, "", "weight at each key", between(0, 1)).required();
  d.field("minimum_speed", &LeanController::minimum_speed, "m/s",
          "below it (and this acceleration) the angle is 0", positive());
  d.check([](const LeanController& c, const ProblemSink& p) {
    check_curve_sizes(c.angles, c.weights, "angles", p);
  });
}

void describe(Describe<ControllerSettings>& d) {
  d.field("example", &ControllerSettings::example, "", "the example whose weight is set").required();
  d.field("curve", &ControllerSettings::curve, "", "weight over time");
  d.field("joint_angle", &ControllerSettings::joint_angle, "", "weight from the angle at a joint");
  d.field("velocity", &ControllerSettings::velocity, "", "weight from the centre of mass' velocity");
  d.field("lean", &ControllerSettings::lean, "",
          "weight from the angle between velocity and acceleration (smoothed over 0.1 s)");
  d.exactly_one({"curve", "joint_angle", "velocity", "lean"});
}

void describe(Describe<CellPieces>& d) {
  d.field("count", &CellPieces::count, "", "how many cells", between(2, 1000));
  d.field("seed", &CellPieces::seed, "", "where the first one lies", non_negative());
  d.shorthand("count");
}

void describe(Describe<PiecesSettings>& d) {
  d.field("planes", &PiecesSettings::planes, "", "cuts along these planes (body coordinates)");
  d.field("voronoi", &PiecesSettings::voronoi, "", "Voronoi cells of points far apart");
  d.field("labels", &PiecesSettings::labels, "", "file with one whole number for each tet of the volume")
      .path();
  d.at_most_one({"voronoi", "labels"});
  d.check([](const PiecesSettings& p, const ProblemSink& problem) {
    if (p.planes.empty() && !p.voronoi && !p.labels) problem("", "needs planes, voronoi or labels");
    if (!p.planes.empty() && (p.voronoi || p.labels))
      problem("planes", "cannot be combined with voronoi or labels");
  });
}

void describe(Describe<BodySettings>& d) {
  d.field("name", &BodySettings::name, "", "name of the body").required();
  d.choice("kind", &BodySettings::kind, {{"solid", BodyKind::solid}, {"sheet", BodyKind::sheet}},
           "a filled closed surface, or a mid-surface with thickness");
  d.field("thickness", &BodySettings::thickness, "m", "of a sheet", positive());
  d.field("surface", &BodySettings::surface, "", "where the surface comes from").required();
  d.field("volume", &BodySettings::volume, "", "how its reference volume is made");
  d.field("material", &BodySettings::material, "", "physical material");
  d.field("position", &BodySettings::position, "m", "placement of the surface's origin");
  d.field("rotation", &BodySettings::rotation, "", "placement: rotation about the surface's origin");
  d.field("velocity", &BodySettings::velocity, "m/s", "initial velocity", slower_than_light());
  d.field("angular_velocity", &BodySettings::angular_velocity, "rad/s", "initial, about the centre of mass",
          slower_than_light());
  d.field("rig", &BodySettings::rig, "",
          "handles for skinning and for poses by handles; default: 12 automatic");
  d.field("examples", &BodySettings::examples, "", "example poses");
  d.field("initial_pose", &BodySettings::initial_pose, "",
          "the example in which the body starts; none: at rest");
  d.field("supports", &BodySettings::supports, "", "held or moved regions");
  d.field("controllers", &BodySettings::controllers, "", "explicit example weights");
  d.field("skeleton", &BodySettings::skeleton, "", "bones of rigid-bend; none: one along the longest axis");
  d.field("dent_map", &BodySettings::dent_map, "",
          "drawn map of every dent in this body; none: what strikes it");
  d.field("pieces", &BodySettings::pieces, "", "cut beforehand: the body may break along these cuts");
  d.field("repeat", &BodySettings::repeat, "", "copies on a grid");
  d.check(check_body);
}

void describe(Describe<PlaneSettings>& d) {
  d.field("extent", &PlaneSettings::extent, "m", "side of the drawn square; the plane is infinite",
          positive());
}

void describe(Describe<SphereSettings>& d) {
  d.field("radius", &SphereSettings::radius, "m", "radius", positive());
}

void describe(Describe<BoxSettings>& d) {
  d.field("size", &BoxSettings::size, "m", "side lengths", positive());
}

void describe(Describe<CapsuleSettings>& d) {
  d.field("radius", &CapsuleSettings::radius, "m", "radius", positive());
  d.field("length", &CapsuleSettings::length, "m", "between the centres of its ends, along y", positive());
}

void describe(Describe<CylinderSettings>& d) {
  d.field("radius", &CylinderSettings::radius, "m", "radius", positive());
  d.field("height", &CylinderSettings::height, "m", "along y", positive());
}

void describe(Describe<ObstacleSettings>& d) {
  d.field("name", &ObstacleSettings::name, "", "name of the obstacle").required();
  d.field("plane", &ObstacleSettings::plane, "", "half space below the local xz plane");
  d.field("sphere", &ObstacleSettings::sphere, "", "ball");
  d.field("box", &ObstacleSettings::box, "", "box centred at its position");
  d.field("capsule", &ObstacleSettings::capsule, "", "capsule along the local y axis");
  d.field("cylinder", &ObstacleSettings::cylinder, "", "cylinder along the local y axis");
  d.field("mesh", &ObstacleSettings::mesh, "", "closed surface");
  d.field("mass", &ObstacleSettings::mass, "kg", "given: it moves freely with this mass", positive());
  d.field("position", &ObstacleSettings::position, "m", "placement");
  d.field("rotation", &ObstacleSettings::rotation, "", "placement");
  d.field("velocity", &ObstacleSettings::velocity, "m/s", "initial, with a mass only", slower_than_light());
  d.field("angular_velocity", &ObstacleSettings::angular_velocity, "rad/s", "initial, with a mass only",
          slower_than_light());
  d.field("keyframes", &ObstacleSettings::keyframes, "", "moves it along these (absolute) placements");
  d.choice("interpolation", &ObstacleSettings::interpolation,
           {{"smooth", Interpolation::smooth}, {"linear", Interpolation::linear}}, "between keyframes");
  d.field("friction", &ObstacleSettings::friction, "",
          "Coulomb coefficient; none: that of the body that touches it", between(0, 10))
      .live();
  d.field("restitution", &ObstacleSettings::restitution, "", "part of the normal velocity kept",
          between(0, 1))
      .live();
  d.field("repeat", &ObstacleSettings::repeat, "", "copies on a grid");
  d.exactly_one({"plane", "sphere", "box", "capsule", "cylinder", "mesh"});
  d.check([](const ObstacleSettings& o, const ProblemSink& problem) {
    check_increasing_times(o.keyframes, problem);
    if (o.mass && !o.keyframes.empty()) problem("mass", "an obstacle has either a mass or keyframes");
    if (o.mass && o.plane) problem("mass", "a plane cannot move freely");
    const bool moves = !o.velocity.isZero() || !o.angular_velocity.isZero();
    if (!o.mass && moves)
      problem("velocity", "needs a mass (fixed obstacles do not move; keyframes prescribe motion)");
  });
}

void describe(Describe<ExpectSettings>& d) {
  d.field("method", &ExpectSettings::method, "", "method of the run").required();
  d.field("metric", &ExpectSettings::metric, "", "column of metrics.csv, at the last frame").required();
  d.field("value", &ExpectSettings::value, "", "expected value").required();
  d.field("margin", &ExpectSettings::margin, "", "allowed difference", non_negative()).required();
}

void describe(Describe<CloseUpSettings>& d) {
  d.field("name", &CloseUpSettings::name, "", "caption");
  d.field("body", &CloseUpSettings::body, "", "name of the body to look at; empty: all");
  d.field("at", &CloseUpSettings::at, "m",
          "place to look at; none: the middle of the body, which is followed");
  d.field("size", &CloseUpSettings::size, "m", "of what the picture holds; 0: all of the body",
          non_negative());
  d.field("direction", &CloseUpSettings::direction, "", "from there to the camera; none: the wide picture's");
}

void describe(Describe<CutSettings>& d) {
  d.field("point", &CutSettings::point, "m", "on the plane");
  d.field("normal", &CutSettings::normal, "", "towards what is not drawn");
  d.check([](const CutSettings& cut, const ProblemSink& problem) {
    if (cut.normal.isZero()) problem("normal", "has no direction");
  });
}

void describe(Describe<CameraSettings>& d) {
  d.field("look_at", &CameraSettings::look_at, "m",
          "place in the middle of the picture; none: all that moves fits");
  d.field("from", &CameraSettings::from, "m", "where the camera stands");
  d.field("direction", &CameraSettings::direction, "",
          "from the scene to the camera, where `from` is not given");
  d.field("field_of_view", &CameraSettings::field_of_view, "deg", "from top to bottom", between(1, 120));
  d.field("follow", &CameraSettings::follow, "", "name of a body that the camera goes along with");
  d.field("close_ups", &CameraSettings::close_ups, "", "pictures beside the wide one");
  d.field("hide", &CameraSettings::hide, "", "names of obstacles that are not drawn");
  d.field("cut", &CameraSettings::cut, "", "a plane that opens the bodies to view");
  d.check([](const CameraSettings& camera, const ProblemSink& problem) {
    if (camera.from && camera.direction) problem("direction", "is given by `from` and `look_at` already");
    if (camera.from && !camera.look_at) problem("look_at", "is needed beside `from`");
    if (camera.direction && camera.direction->isZero()) problem("direction", "is zero");
    if (camera.from && camera.look_at && *camera.from == *camera.look_at)
      problem("from", "is where it looks");
  });
}

void describe(Describe<SceneSettings>& d) {
  d.field("title", &SceneSettings::title, "", "one line").live();
  d.field("description", &SceneSettings::description, "", "what happens and what to look for").live();
  d.field("time", &SceneSettings::time, "", "duration, frames and steps");
  d.field("gravity", &SceneSettings::gravity, "m/s²", "acceleration of everything");
  d.field("seed", &SceneSettings::seed, "", "of everything random", at_least(0));
  d.field("bodies", &SceneSettings::bodies, "", "what deforms").required();
  d.field("obstacles", &SceneSettings::obstacles, "", "rigid objects around them");
  d.field("loads", &SceneSettings::loads, "", "forces over time").live();
  d.field("camera", &SceneSettings::camera, "", "how pictures look at it; changes no result").live();
  d.field("expect", &SceneSettings::expect, "", "regression values").live();
  d.check(check_scene);
}

}  // namespace exemplar
