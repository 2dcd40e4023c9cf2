// Where the pieces of a body's surface are and how loads on them reach the particles.
//
// A corner of the surface hangs on the particle that owns it and on the particles bonded to that one: its arm at rest is turned and
// stretched by the affine map that fits the bonds best (as in follow.h), a fixed linear combination of their places while no bond
// breaks. Forces reach the particles by the transpose of that map, so what a load does to the particles is what it does to the
// surface: sums, moments and work are kept. With forces on the owners alone their moments about the owners' centres were lost, and
// a free box under pressure all round spun up from nothing (233 J after 0.3 s, 2.4 J of work were done). A corner where pieces of
// several particles meet is the mean of what they say: else the surface would have gaps and a uniform pressure on it a sum.
//
// Where bonds lie in a plane (plates one particle thick), arms across it follow the plane's present normal, and forces on them the
// transpose of its derivative; arms that no bond turns follow the fragment's rotation, and their moment is lost. Units: m, N.
#pragma once

#include <functional>
#include <vector>

#include "core/contact/carried_actions.h"
#include "core/math/types.h"
#include "meshless/peridynamics/elements/elements.h"

namespace exemplar::peridynamics {

// The body's surface in pieces, each carried by the particle that owns it.
CarriedSurface own_surface(const Elements& elements);

// Particles of one body, by their number in it.
struct BondsOfBody {
  std::function<int(int)> count;  // unbroken bonds of a particle
  std::function<void(int, std::vector<int>&)> find;
  std::function<bool(int, int)> has;
};

// Points are those of own_surface, in its order.
class LoadedSurface {
 public:
  LoadedSurface() = default;
  explicit LoadedSurface(const Elements& elements);

  // To be called before the others when bonds may have broken: a corner hangs on bonded particles only, and pieces that no bond
  // holds together at it go their own ways.
  void follow_bonds(const BondsOfBody& bonds);
  // rotation(particle): for arms that no bond turns.
  Points points(const Points& particles, const std::function<Mat3(int)>& rotation) const;
  // What acts on the points, as forces on the particles that are there now. `is_joined`: by all owners around a corner, as points()
  // has it, which loads that follow the surface need. Otherwise by the owner of the piece that the force is on: how its polygon is
  // cut into triangles then makes no difference (joined, the diagonals of a lattice's faces made a mirror image none).
  Points spread(const Points& on_points, const Points& particles, bool is_joined = true) const;

 private:
  struct Owner {
    int particle = 0;
    int bonds = -1;
    std::vector<int> nodes;
    std::vector<Vec3> factors;  // map = Σ (x_node − x_particle) factorᵀ, on arms that bonds reach
    int missing = 3;            // directions without bonds: the first columns of `axes`
    Mat3 axes = Mat3::Identity();
  };
  struct Share {  // of an owner in a vertex
    int owner = 0;
    int part = 0;  // of the vertex: the first of the shares that hold together
    int of = 1;    // so many
    Vec3 arm;      // at rest
  };
  struct Plane {  // of an owner with one direction missing
    Vec3 a, b, normal;
    double area = 0;
  };
  void fit(Owner& owner, const BondsOfBody& bonds) const;
  void join(std::size_t vertex, const BondsOfBody& bonds);
  static Mat3 map_of(const Owner& owner, const Points& particles);
  static Plane plane_of(const Owner& owner, const Mat3& map);

  static void add_normal_moment(const Owner& owner, const Points& particles, Mat3& moment);

  Points m_rest;
  std::vector<Owner> m_owners;
  std::vector<std::vector<int>> m_around;  // owners that meet at a vertex
  std::vector<Share> m_shares;             // vertex by vertex, in the order of m_around
  std::vector<int> m_begin{0};             // of each vertex's shares
  std::vector<int> m_points;               // the share of each
};

}  // namespace exemplar::peridynamics
