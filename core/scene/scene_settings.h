// A scene as a user writes it (JSON, see core/scene/json.h): plain described structs. core/scene/scene.h
// holds what is made from it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/mesh/volume/tetrahedralize.h"
#include "core/scene/material.h"
#include "core/scene/pose_maps.h"
#include "core/scene/repeat.h"
#include "core/scene/settings.h"
#include "core/scene/skeleton_settings.h"
#include "core/scene/surface_settings.h"
#include "core/world/curve.h"
#include "core/world/loads.h"

namespace exemplar {

struct TimeSettings {
  double duration = 1;  // s
  double fps = 60;      // frames a second
  std::optional<int>
      steps_per_frame;     // none: error-controlled, or what the method chooses; a method may take more
  double accuracy = 1e-2;  // of error-controlled steps, relative
};

struct RotationSettings {
  Vec3 axis = Vec3::UnitY();
  double angle = 0;  // degrees
};
Quat rotation_of(const RotationSettings& settings);

enum class BodyKind { solid, sheet };

// How the reference volume of a body is made.
struct VolumeSettings {
  std::optional<double> max_tet_volume;  // m³; none: from the surface's edge lengths
  double quality = 1.4;                  // TetGen's radius-edge ratio
  bool cage = true;                      // use an enclosing cage where the surface cannot be filled
  bool always_cage = false;              // use a cage in any case
  std::optional<double> cage_cell;       // m; none: from the surface's size
  std::optional<IntVec3> grid;           // boxes only: a structured mesh with these cells
  Split split = Split::five;             // of a structured mesh's cells
  std::optional<std::string> file;       // a tet mesh to use instead
  double time_limit = 60;                // s, of each attempt of TetGen
};

enum class ExampleUse { both, elastic, plastic };

struct ModePose {
  int index = 7;  // counted from 1 with the six rigid modes first, so 7 is the lowest vibration
  std::optional<double> amplitude;  // m, largest displacement; none: a twentieth of the body's diagonal
};

struct FramePose {
  std::string run;                  // directory of a finished run, relative to the scene file
  std::optional<int> frame;         // none: its last one
  std::optional<std::string> body;  // none: the body of the same name
};

struct RegionBox {
  Vec3 low = Vec3::Zero(), high = Vec3::Zero();
};
struct RegionSphere {
  Vec3 centre = Vec3::Zero();
  double radius = 0.1;
};
struct RegionCylinder {
  Vec3 from = Vec3::Zero(), to = Vec3::UnitY();  // middles of its ends, m
  double radius = 0.1;                           // m
  double hollow = 0;                             // m, radius of the bore
};
// Points p with (p − point)·normal ≥ 0.
struct RegionHalfSpace {
  Vec3 point = Vec3::Zero(), normal = Vec3::UnitY();
};
struct RegionNearest {
  std::vector<Vec3> points;
};

// Which handles a body's rig has (core/rig); lengths in body coordinates.
struct RigBone {
  Vec3 from = Vec3::Zero(), to = Vec3::Zero();
};
struct RigCage {
  std::vector<Vec3> corners;  // a closed polygon
};
struct RigSettings {
  std::optional<std::string> file;  // made by `exemplar rig`; instead of all others
  std::vector<Vec3> points;
  std::vector<RigBone> bones;
  std::vector<RigCage> cages;
  std::optional<int> automatic;  // none: 12 when no other handle is given, else 0
};

struct HandleMove {
  std::optional<std::string> handle;  // its name …
  std::optional<Vec3> near;           // … or a point: the handle nearest to it
  Vec3 by = Vec3::Zero();             // m
  std::optional<RotationSettings> rotation;
};
struct HandlePoseSettings {
  std::vector<HandleMove> move;
  bool others_free = false;
};

// An example pose: one map (inherited), several maps, a file, a vibration mode, a frame of another run or
// moved handles of the body's rig.
struct ExampleSettings : PoseMap {
  std::string name;
  ExampleUse use = ExampleUse::both;
  std::vector<PoseMap> maps;
  std::optional<std::string> file;
  std::optional<ModePose> mode;
  std::optional<FramePose> frame;
  std::optional<HandlePoseSettings> handles;
  std::optional<RegionBox>
      region;  // only elements with their centre in this box (body coordinates) take part
  bool allow_inverted = false;
};

// A part of a body, chosen once in the initial state by world coordinates.
struct RegionSettings {
  std::optional<RegionBox> box;
  std::optional<RegionSphere> sphere;
  std::optional<RegionCylinder> cylinder;
  std::optional<RegionHalfSpace> half_space;
  std::optional<RegionNearest> nearest;
  bool all = false;
};

// Keyframes of a rigid motion: positions relative to the start, rotations about `centre` of the owner.
struct KeyframeSettings {
  double time = 0;               // s
  Vec3 position = Vec3::Zero();  // m: obstacles absolute, supports displacement
  RotationSettings rotation;
};

// A region held where it is, or moved along keyframes; free again after `until`.
struct SupportSettings {
  std::optional<std::string> name;
  RegionSettings region;
  std::vector<KeyframeSettings> keyframes;  // none: fixed
  Vec3 centre = Vec3::Zero();               // m, of the keyframes' rotations
  Interpolation interpolation = Interpolation::smooth;
  std::optional<double> until;        // s
  bool x = true, y = true, z = true;  // which coordinates are held
  bool clamped = false;               // sheets: a held border keeps its direction too
};

struct TargetKeyframe {
  double time = 0;               // s
  Vec3 position = Vec3::Zero();  // m, world
};

// A spring from a point of the body's surface to a target (core/world/pull.h).
struct PullSettings {
  std::optional<Vec3> point;    // m, world, in the initial state: the nearest point of the surface …
  std::optional<int> triangle;  // … or a place on one of its triangles
  Vec3 barycentric = Vec3(1, 1, 1) / 3;   // of the triangle's corners
  std::optional<Vec3> target;             // m, world; fixed …
  std::vector<TargetKeyframe> keyframes;  // … or moved
  Interpolation interpolation = Interpolation::smooth;
  double stiffness = 0;             // N/m
  std::optional<double> max_force;  // N; none: no limit
};

// How strong a load is over time, in shares of its value: held before the first time and after the last.
struct LoadCurve {
  std::vector<double> times, factors;  // s
  Interpolation interpolation = Interpolation::linear;
};

// A force on a region, or a pull at a point.
struct LoadSettings {
  std::optional<std::string> body;  // none: every body
  std::optional<RegionSettings> region;
  std::optional<PullSettings> pull;
  LoadKind kind = LoadKind::force;
  Vec3 value = Vec3::Zero();    // N in total, Pa, m/s² or N·m
  double magnitude = 0;         // Pa, pressure only
  double from = 0;              // s
  std::optional<double> until;  // s; none: to the end
  double ramp_up = 0;           // s, linear rise after `from`
  double ramp_down = 0;         // s, linear fall before `until`
  std::optional<LoadCurve> curve;
  bool follows = false;  // turns with the body's region
};

struct CurveController {
  std::vector<double> times, weights;
};
struct JointController {
  Vec3 a = Vec3::Zero(), joint = Vec3::Zero(),
       b = Vec3::Zero();                // material points, world coordinates at the start
  std::vector<double> angles, weights;  // degrees → weight
};
struct VelocityController {
  Vec3 direction = Vec3::UnitX();
  std::vector<double> speeds, weights;  // m/s → weight
};
struct LeanController {
  Vec3 up = Vec3::UnitY();              // signed angle from velocity to acceleration about this axis
  std::vector<double> angles, weights;  // degrees → weight
  double minimum_speed = 1e-3;          // m/s and m/s²: below it the angle reads 0
};

// Sets one example's weight explicitly instead of letting the deformation choose it.
struct ControllerSettings {
  std::string example;
  std::optional<CurveController> curve;
  std::optional<JointController> joint_angle;
  std::optional<VelocityController> velocity;
  std::optional<LeanController> lean;
};

struct CellPieces {
  int count = 8;
  int seed = 1;
};
// How a body is cut beforehand, for methods that let the pieces part; one of the three.
struct PiecesSettings {
  std::vector<RegionHalfSpace> planes;  // body coordinates
  std::optional<CellPieces> voronoi;
  std::optional<std::string> labels;  // file with one whole number for each tet, relative to the scene file
};

struct BodySettings {
  std::string name;
  BodyKind kind = BodyKind::solid;
  double thickness = 0.005;  // m, sheets
  SurfaceSettings surface;
  VolumeSettings volume;
  Material material;
  Vec3 position = Vec3::Zero();
  RotationSettings rotation;
  Vec3 velocity = Vec3::Zero();
  Vec3 angular_velocity = Vec3::Zero();  // rad/s about the centre of mass
  std::optional<RigSettings> rig;        // none: automatic, where a method or a pose needs one
  std::vector<ExampleSettings> examples;
  std::optional<std::string> initial_pose;  // name of an example the body starts in
  std::vector<SupportSettings> supports;
  std::vector<ControllerSettings> controllers;
  std::optional<SkeletonSettings> skeleton;  // method `rigid-bend`
  std::optional<DentMapSettings> dent_map;   // method `rigid-dent`
  std::optional<PiecesSettings> pieces;
  std::optional<RepeatSettings> repeat;
};

struct PlaneSettings {
  double extent = 10;  // m, side of the drawn square; the plane is infinite
};
struct SphereSettings {
  double radius = 0.5;
};
struct BoxSettings {
  Vec3 size = Vec3::Ones();
};
struct CapsuleSettings {
  double radius = 0.1, length = 1;  // m, length between the centres of the ends, along y
};
struct CylinderSettings {
  double radius = 0.5, height = 1;  // m, along y
};

struct ObstacleSettings {
  std::string name;
  std::optional<PlaneSettings> plane;
  std::optional<SphereSettings> sphere;
  std::optional<BoxSettings> box;
  std::optional<CapsuleSettings> capsule;
  std::optional<CylinderSettings> cylinder;
  std::optional<SurfaceSettings> mesh;
  std::optional<double> mass;  // kg; given: dynamic
  Vec3 position = Vec3::Zero();
  RotationSettings rotation;
  Vec3 velocity = Vec3::Zero();
  Vec3 angular_velocity = Vec3::Zero();
  std::vector<KeyframeSettings> keyframes;  // given: moved by them
  Interpolation interpolation = Interpolation::smooth;
  std::optional<double> friction;  // none: the touching body's
  double restitution = 0;
  std::optional<RepeatSettings> repeat;
};

// A number that a run of this scene must show: regression values, rewritten by `exemplar run
// --rewrite-expect`.
struct ExpectSettings {
  std::string method;
  std::string metric;  // a column of metrics.csv, at the last frame
  double value = 0;
  double margin = 0;
};

// A picture beside the wide one.
struct CloseUpSettings {
  std::string name;
  std::string body;        // to look at; empty: all
  std::optional<Vec3> at;  // m; none: the body's middle
  double size = 0;         // m, of what the picture holds; 0: all of the body
  std::optional<Vec3> direction;
};

// What is on this side of a plane is not drawn.
struct CutSettings {
  Vec3 point = Vec3::Zero();
  Vec3 normal = Vec3::UnitZ();
};

// How the scene is looked at: changes no result.
struct CameraSettings {
  std::optional<Vec3> look_at;          // m; none: what moves fits
  std::optional<Vec3> from;             // m, where the camera stands
  std::optional<Vec3> direction;        // from the scene to the camera
  std::optional<double> field_of_view;  // degrees, from top to bottom
  std::string follow;                   // a body that the camera goes along with
  std::vector<CloseUpSettings> close_ups;
  std::vector<std::string> hide;  // obstacles that are not drawn
  std::optional<CutSettings> cut;
};

struct SceneSettings {
  std::string title;
  std::string description;  // what happens and what to look for
  TimeSettings time;
  Vec3 gravity = Vec3(0, -9.81, 0);
  int seed = 1;
  std::vector<BodySettings> bodies;
  std::vector<ObstacleSettings> obstacles;
  std::vector<LoadSettings> loads;
  std::optional<CameraSettings> camera;
  std::vector<ExpectSettings> expect;
};

// Frames after the initial one.
int frame_count(const TimeSettings& time);

void describe(Describe<TimeSettings>& d);
void describe(Describe<RotationSettings>& d);
void describe(Describe<VolumeSettings>& d);
void describe(Describe<ModePose>& d);
void describe(Describe<FramePose>& d);
void describe(Describe<RigBone>& d);
void describe(Describe<RigCage>& d);
void describe(Describe<RigSettings>& d);
void describe(Describe<HandleMove>& d);
void describe(Describe<HandlePoseSettings>& d);
void describe(Describe<RegionBox>& d);
void describe(Describe<RegionSphere>& d);
void describe(Describe<RegionCylinder>& d);
void describe(Describe<RegionHalfSpace>& d);
void describe(Describe<RegionNearest>& d);
void describe(Describe<RegionSettings>& d);
void describe(Describe<ExampleSettings>& d);
void describe(Describe<KeyframeSettings>& d);
void describe(Describe<SupportSettings>& d);
void describe(Describe<TargetKeyframe>& d);
void describe(Describe<PullSettings>& d);
void describe(Describe<LoadCurve>& d);
void describe(Describe<LoadSettings>& d);
void describe(Describe<CurveController>& d);
void describe(Describe<JointController>& d);
void describe(Describe<VelocityController>& d);
void describe(Describe<LeanController>& d);
void describe(Describe<ControllerSettings>& d);
void describe(Describe<CellPieces>& d);
void describe(Describe<PiecesSettings>& d);
void describe(Describe<BodySettings>& d);
void describe(Describe<PlaneSettings>& d);
void describe(Describe<SphereSettings>& d);
void describe(Describe<BoxSettings>& d);
void describe(Describe<CapsuleSettings>& d);
void describe(Describe<CylinderSettings>& d);
void describe(Describe<ObstacleSettings>& d);
void describe(Describe<ExpectSettings>& d);
void describe(Describe<CloseUpSettings>& d);
void describe(Describe<CutSettings>& d);
void describe(Describe<CameraSettings>& d);
void describe(Describe<SceneSettings>& d);

}  // namespace exemplar
