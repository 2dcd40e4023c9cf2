// A body that can be dented: the points of its surface (of its pieces, where it is cut beforehand) in its own fixed
// coordinates, those the body was made in, the dents that are still growing, and what follows from the surface: mass
// properties and collision vertices. Pieces that have parted are still side by side in these coordinates; a dent acts
// on those that it names. Units: m, kg, s.
#pragma once

#include <algorithm>
#include <vector>

#include "core/scene/scene.h"
#include "rigidplastic/dent/denter.h"
#include "rigidplastic/fracture/piece_bodies.h"

namespace exemplar::dent {

// A dent that is not there yet.
struct GrowingDent {
  DentMap map;
  double elapsed = 0, duration = 0;  // s
  std::vector<int> pieces;           // that hold together and take it

  double share() const { return elapsed >= duration ? 1 : elapsed / duration; }

  static constexpr auto described() {
    return std::tuple(member("map", &GrowingDent::map), member("elapsed", &GrowingDent::elapsed),
                      member("duration", &GrowingDent::duration), member("pieces", &GrowingDent::pieces));
  }
};

struct DentedBodyState {
  Points points;  // of all pieces, with all dents as far as they have grown
  Points base;    // without those that still grow
  std::vector<GrowingDent> growing;
  double deepest = 0;  // m, largest dent distance so far
  int count = 0;       // of dents

  static constexpr auto described() {
    return std::tuple(member("points", &DentedBodyState::points), member("base", &DentedBodyState::base),
                      member("growing", &DentedBodyState::growing),
                      member("deepest", &DentedBodyState::deepest), member("count", &DentedBodyState::count));
  }
};

class DentedBody {
 public:
  explicit DentedBody(const Body& body);

  const Body& body() const { return *m_body; }
  const rigid::PieceSurfaces& surfaces() const { return m_cut.surfaces; }
  const std::vector<Cut>& cuts() const { return m_cut.cuts; }
  int pieces() const { return static_cast<int>(surfaces().pieces.size()); }
  const Points& points() const { return m_state.points; }
  const Adjacency& neighbours() const { return m_neighbours; }
  // Closed surfaces of some pieces, over all points.
  Triangles triangles_of(const std::vector<int>& pieces) const;
  double edge_length() const { return m_edge_length; }          // mean, at rest
  double smallest_extent() const { return m_smallest_extent; }  // at rest
  bool growing() const { return !m_state.growing.empty(); }
  int dent_count() const { return m_state.count; }
  double deepest() const { return m_state.deepest; }

  // Whether its pieces keep a quarter of the volume that they began with, this dent and the growing ones applied: what
  // is crushed flatter has no inertia that could be worked with, and real material would be dense by then.
  bool leaves_enough(const DentMap& map, const std::vector<int>& pieces) const;
  // A dent in the body's coordinates that is there after `duration`, in the pieces that hold together.
  void add(DentMap map, double duration, const std::vector<int>& pieces);
  // Growing dents go on by dt: the surface is always the undented one with the dents applied in their order.
  void grow(double dt);

  Points piece_points(int piece) const;
  // Of the surface as it is, with the mass that the piece has always had: dents move material, they remove none. A
  // surface with holes has no volume of its own: the frame stays what it is.
  rigid::BodyFrame frame(int piece, double mass, const rigid::BodyFrame& now) const;
  // Vertices of the collision shape (sheets: extruded), in the body's coordinates.
  Points collision_points(int piece) const;
  double volume() const;  // m³; sheets: area times thickness
  bool has_volume() const { return std::find(m_closed.begin(), m_closed.end(), 0) == m_closed.end(); }
  VecX depths() const;              // how far each point has moved
  VecX depths_of_vertices() const;  // the same for the vertices of the input surface

  const DentedBodyState& state() const { return m_state; }
  void restore(DentedBodyState state) { m_state = std::move(state); }

 private:
  void apply(const DentMap& map, const std::vector<int>& pieces, double share, Points& points) const;
  void apply_growing();

  const Body* m_body;
  rigid::CutBody m_cut;
  Points m_start;  // before any dent
  DentedBodyState m_state;
  Adjacency m_neighbours;
  std::vector<char> m_closed;  // pieces with a volume
  double m_edge_length = 0, m_smallest_extent = 0;
};

}  // namespace exemplar::dent
