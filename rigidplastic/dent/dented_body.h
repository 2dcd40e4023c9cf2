// A body that can be dented: the points of its surface (of its pieces, where it is cut beforehand) in its own fixed
// coordinates, those the body was made in, the dents that are still growing, and what follows from the surface: mass
// properties and collision vertices. Pieces that have parted are still side by side in these coordinates; a dent acts
// on those that it names. Units: m, kg, s.
#pragma once

#include <algorithm>
#include <vector>

#include "core/output/state.h"
#include "core/scene/scene.h"
#include "rigidplastic/dent/denter.h"
#include "rigidplastic/fracture/piece_bodies.h"

namespace exemplar::dent {

class DentedBody {
 public:
  explicit DentedBody(const Body& body);

  const Body& body() const { return *m_body; }
  const rigid::PieceSurfaces& surfaces() const { return m_cut.surfaces; }
  const std::vector<Cut>& cuts() const { return m_cut.cuts; }
  int pieces() const { return static_cast<int>(surfaces().pieces.size()); }
  const Points& points() const { return m_points; }  // of all pieces
  const Adjacency& neighbours() const { return m_neighbours; }
  // Closed surfaces of some pieces, over all points.
  Triangles triangles_of(const std::vector<int>& pieces) const;
  double edge_length() const { return m_edge_length; }          // mean, at rest
  double smallest_extent() const { return m_smallest_extent; }  // at rest
  bool growing() const { return !m_growing.empty(); }
  int dent_count() const { return m_count; }
  double deepest() const { return m_deepest; }  // largest dent distance so far

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

  void save(StateWriter& out, const std::string& prefix) const;
  void load(StateReader& in, const std::string& prefix);

 private:
  struct Growing {
    DentMap map;
    double elapsed = 0, duration = 0;
    std::vector<int> pieces;
    double share() const { return elapsed >= duration ? 1 : elapsed / duration; }
  };
  void apply(const DentMap& map, const std::vector<int>& pieces, double share, Points& points) const;
  void apply_growing();

  const Body* m_body;
  rigid::CutBody m_cut;
  Points m_start;   // before any dent
  Points m_points;  // with all dents as far as they have grown
  Points m_base;    // without those that still grow
  std::vector<Growing> m_growing;
  Adjacency m_neighbours;
  std::vector<char> m_closed;  // pieces with a volume
  double m_edge_length = 0, m_smallest_extent = 0;
  double m_deepest = 0;
  int m_count = 0;
};

}  // namespace exemplar::dent
