// Closed triangle surfaces made from a few numbers: simple solids, surfaces of revolution and recognisable
// models. Lengths in metres, y is up. Every surface except `sheet` is closed, manifold, oriented outwards and
// free of self-intersections; parameters that cannot give such a surface throw InputError. Results are
// deterministic.
#pragma once

#include <string>
#include <vector>

#include "core/mesh/mesh.h"

namespace exemplar {

// Structured box, centred at the origin. Genus 0.
struct BoxParams {
  Vec3 size = Vec3(1.0, 1.0, 1.0);  // m, extents along x, y, z
  Eigen::Vector3i resolution =
      Eigen::Vector3i(8, 8, 8);  // cells along x, y, z; each ≥ 1; two triangles a cell face
};

// Flat box lying in the xz plane with the long side along x, thickness along y; centred at the origin. Genus
// 0.
struct PlankParams {
  double length = 1.2;      // m, along x
  double thickness = 0.03;  // m, along y
  double width = 0.25;      // m, along z
  int resolution =
      48;  // cells along x, ≥ 1; cells are about cubic, but never longer than 3 × the smallest side
};

// Thin solid plate in the xz plane, thickness along y; centred at the origin. Genus 0.
struct PlateParams {
  double length = 1.0;      // m, along x
  double width = 1.0;       // m, along z
  double thickness = 0.02;  // m, along y
  int resolution = 24;  // cells along x, ≥ 1; cells are about cubic, but never longer than 3 × the thickness
};

// Open rectangular mid-surface in the xz plane at y = 0, centred at the origin, normals along +y. For kind:
// sheet.
struct SheetParams {
  double length = 1.0;    // m, along x
  double width = 1.0;     // m, along z
  int resolution_x = 20;  // cells along x, ≥ 1
  int resolution_z = 20;  // cells along z, ≥ 1
  bool alternate = true;  // neighbouring cells have opposite diagonals, so that no direction is favoured
};

// An open tube about x without a wall, centred at the origin: a sleeve. Normals outwards. Genus 0, two borders.
struct SleeveParams {
  double radius = 0.1;  // m
  double length = 0.6;  // m, along x
  int resolution = 32;  // edges around, ≥ 6; as long along x
};

// Icosahedron with subdivided faces, vertices on the sphere; centred at the origin. Genus 0, 20 resolution²
// triangles.
struct SphereParams {
  double radius = 0.5;  // m
  int resolution = 8;   // parts per icosahedron edge, ≥ 1
};

// Solid cylinder about the y axis, centred at the origin. Genus 0.
struct CylinderParams {
  double radius = 0.25;  // m
  double height = 1.0;   // m, along y
  int resolution = 32;   // edges around, ≥ 6
};

// Cylinder with hemispherical ends about the y axis, centred at the origin. Genus 0.
struct CapsuleParams {
  double radius = 0.25;  // m, of the cylinder and of both ends
  double height = 1.0;   // m, overall, ≥ 2 radius
  int resolution = 32;   // edges around, ≥ 6
};

// Ring about the y axis, centred at the origin. Genus 1.
struct TorusParams {
  double major_radius = 0.4;   // m, from the axis to the middle of the ring
  double minor_radius = 0.15;  // m, of the ring's cross-section, < 0.9 major_radius
  int resolution = 48;         // edges around the axis along the middle circle, ≥ 12
};

// Pipe about the y axis, open at both ends, with a real wall: a closed surface of genus 1; centred at the
// origin.
struct TubeParams {
  double radius = 0.25;  // m, outer
  double wall = 0.04;    // m, thickness of the wall, < radius
  double height = 1.0;   // m, along y
  int resolution = 40;   // edges around, ≥ 8; the wall must be at least 0.3 edges thick
};

// Solid drum about the y axis, resting on y = 0: raised rims around recessed lids, two rolling hoops,
// optional bulge. Genus 0.
struct BarrelParams {
  double radius = 0.29;  // m, of the body at the rims
  double height = 0.88;  // m, along y, ≥ radius
  double bulge =
      0.0;  // m, by how much the middle is wider than the ends; 0 is an oil drum, 0.06 a wooden barrel
  double hoop = 0.014;   // m, height of the hoops over the body; 0 leaves them out; ≤ 0.15 radius
  double recess = 0.03;  // m, depth of both lids below their rims; 0 leaves the rims out; ≤ 0.2 height
  int resolution = 40;   // edges around the rims, ≥ 20
};

// Hollow vase about the y axis, resting on y = 0, with a floor and an open mouth. Genus 0.
struct VaseParams {
  double height = 0.32;         // m
  double foot_radius = 0.055;   // m, outer, at y = 0
  double belly_radius = 0.105;  // m, outer, at 0.4 height
  double neck_radius = 0.045;   // m, outer, at 0.8 height
  double lip_radius = 0.07;     // m, outer, at the mouth
  double wall = 0.012;          // m, thickness of the wall; the floor is 1.5 × as thick
  int resolution = 56;          // edges around the belly, ≥ 16; the wall must be at least 0.3 edges thick
};

// The models below take their longest edges from `resolution` (edges along the overall length or height);
// edges are up to two times shorter where the surface is strongly curved. Their smallest angle is kept
// above 15°.

// Saloon car with cabin, recessed windows, wheel arches and wheels, as one solid: x forward, z to its right,
// wheels on y = 0, centred in x and z. Genus 0.
struct CarParams {
  double length = 4.2;  // m, along x
  double width = 1.8;   // m, along z, 0.3 to 0.6 of the length
  double height = 1.4;  // m, along y, 0.25 to 0.5 of the length
  int resolution = 50;  // edges along the length, 12 to 160; windows and mirrors from 30 on
};

// Twin-engine jet: nose along +x, wings along z, centred in x and z with the fuselage's axis at y = 0. Genus
// 0.
struct AeroplaneParams {
  double length = 12.0;     // m, along x
  double wing_span = 12.0;  // m, along z, 0.7 to 1.4 of the length
  int resolution = 50;      // edges along the length, 24 to 160
};

// Straight human arm with a fist: shoulder at x = 0, elbow at 0.44 length, knuckles at x = length; axis on y
// = z = 0, biceps towards +y, thumb towards +z. Genus 0. Bending at the elbow turns the forearm about the z
// axis.
struct ArmParams {
  double length = 0.7;  // m, along x
  double girth = 1.0;   // factor on the thickness, 0.7 to 1.4
  double biceps = 0.5;  // how far the biceps stands out, 0 (slack) to 1 (flexed)
  int resolution = 50;  // edges along the length, 20 to 160
};

// Harbour crane: four-legged portal, tower, cabin, counterweight and a raised lattice jib along +x with its
// hook block; feet on y = 0, the tower's axis at x = z = 0. Genus 8 (portal openings and the jib's lattice).
struct CraneParams {
  double height = 14.0;  // m, to the jib's tip
  double reach = 10.0;   // m, from the tower's axis to the jib's tip, 0.5 to 1 of the height
  int resolution = 50;   // edges along the height, 30 to 160
};

// Freighter: bow along +x, keel on y = 0, centred in x and z; deck with hatches, bridge aft, funnel and mast.
// Genus 0.
struct ShipParams {
  double length = 30.0;  // m, along x
  double beam = 7.0;     // m, along z, 0.15 to 0.4 of the length
  int resolution = 60;   // edges along the length, 30 to 160; masts are simpler below 40
};

// Sitting rabbit: looks along +x, feet on y = 0, symmetric about z = 0; two upright ears, tail along −x.
// Genus 0.
struct RabbitParams {
  double height = 0.4;      // m, from the feet to the tips of the ears
  double ear_length = 1.0;  // factor on the length of the ears, 0.6 to 1.3
  int resolution = 50;      // edges along the height, 24 to 160
};

// Tetrahedral frame: four balls at the corners of a regular tetrahedron and six rods between them, centred at the
// origin with one face down. Genus 3.
struct FrameParams {
  double edge = 0.5;          // m, between the balls' centres
  double ball_radius = 0.06;  // m, rod_radius to 0.3 edge
  double rod_radius = 0.03;   // m, 0.03 to 0.15 of the edge
  int resolution = 20;        // edges along a rod, 10 to 80
};

// Small spaceship: nose along +x, wings along z with guns at their tips, two engines, two fins; centred in x and z,
// the wings near y = 0. Genus 0.
struct SpaceshipParams {
  double length = 10.0;  // m, along x
  double width = 9.0;    // m, along z, 0.6 to 1.4 of the length
  int resolution = 50;   // edges along the length, 24 to 160
};

TriMesh make_box(const BoxParams& params = {});
TriMesh make_plank(const PlankParams& params = {});
TriMesh make_plate(const PlateParams& params = {});
TriMesh make_sheet(const SheetParams& params = {});
TriMesh make_sleeve(const SleeveParams& params = {});
TriMesh make_sphere(const SphereParams& params = {});
TriMesh make_cylinder(const CylinderParams& params = {});
TriMesh make_capsule(const CapsuleParams& params = {});
TriMesh make_torus(const TorusParams& params = {});
TriMesh make_tube(const TubeParams& params = {});
TriMesh make_barrel(const BarrelParams& params = {});
TriMesh make_vase(const VaseParams& params = {});
TriMesh make_car(const CarParams& params = {});
TriMesh make_aeroplane(const AeroplaneParams& params = {});
TriMesh make_arm(const ArmParams& params = {});
TriMesh make_crane(const CraneParams& params = {});
TriMesh make_ship(const ShipParams& params = {});
TriMesh make_rabbit(const RabbitParams& params = {});
TriMesh make_frame(const FrameParams& params = {});
TriMesh make_spaceship(const SpaceshipParams& params = {});

struct PrimitiveInfo {
  std::string name;  // as in a scene file: box, plank, …
  std::string doc;   // one line: what it is and how it lies
};

// All primitives in the order above.
std::vector<PrimitiveInfo> primitive_list();

}  // namespace exemplar
