// A sheet: an open or closed triangle mesh with its edges, their two sides and the place of every unknown,
// and the geometry q of its triangles (triangle_energy.h) in a state of the solver.
//
// In the triangle on one side of edge e the angle towards that edge is α = c θ_e + d φ_e, θ_e the dihedral
// angle and φ_e the edge's own unknown, by which the material normal at the edge leaves the bisector
// (Grinspun et al. 2006; Morley's element when linearised):
//   between two triangles     ½ θ + φ on the left, ½ θ − φ on the right
//   free border               φ
//   clamped (see set_clamped) θ on the free side, 0 on the held side, as changes from the rest shape
// Mid-edge normals without φ do not converge (energy of constant curvature 1.06 to 1.5 times too large on
// irregular and alternating meshes); with it the energy is exact on every mesh.
//
// The unknowns φ are packed by threes into massless nodes behind the sheet's vertices and ghosts, in units of
// length: coordinate c of a pack holds φ_e l̄_e. The direct solver for 3×3 blocks then works as it is, and
// one way serves statics and time steps. Eliminating φ in each Newton iteration would halve the unknowns, but
// needs more iterations in time steps (in a trial 7.8 against 7.5 for cloth, 6.2 against 5.0 for a plate) and
// is poor in statics.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/mesh/mesh.h"
#include "core/mesh/topology.h"
#include "shells/dihedral.h"
#include "shells/triangle_energy.h"

namespace exemplar::shells {

// c and d of one side of an edge; the offset is that of clamped edges of sheets that are curved at rest.
struct SideRule {
  double theta = 0.5, phi = 0, offset = 0;
};

// Edges of two triangles, or of one and a ghost.
struct SheetEdge {
  std::array<int, 4> points{-1, -1, -1, -1};  // both ends and the wings left and right; −1: none
  std::array<int, 2> triangles{-1, -1};       // left and right
  std::array<SideRule, 2> rule;
  double length = 0;              // at rest, m
  int pack = -1, coordinate = 0;  // where φ is; pack −1: the model has none
  bool has_angle() const { return points[2] >= 0 && points[3] >= 0; }
  bool active() const { return rule[0].phi != 0 || rule[1].phi != 0; }  // φ counts
};

// A triangle's place at one of its edges.
struct EdgeSide {
  int edge = 0;
  int side = 0;  // 0: left of it
};

class Sheet {
 public:
  // `mesh` at rest; must be manifold and consistently oriented (check_sheet). With `edge_unknowns` every edge
  // gets its φ. `ghosts`: border edges, given by their two vertices, that a ghost continues in their
  // triangle's plane, so that a clamp knows the direction.
  Sheet(TriMesh mesh, bool edge_unknowns, const Edges& ghost_edges = Edges(0, 2));

  const TriMesh& mesh() const { return m_mesh; }
  int vertex_count() const { return static_cast<int>(m_mesh.vertices.rows()); }
  int ghost_count() const { return static_cast<int>(m_ghosts.size()); }
  int pack_count() const { return m_packs; }
  // Vertices, then ghosts, then packs.
  int node_count() const { return vertex_count() + ghost_count() + m_packs; }
  int first_pack() const { return vertex_count() + ghost_count(); }
  std::size_t triangle_count() const { return static_cast<std::size_t>(m_mesh.triangles.rows()); }

  const std::vector<SheetEdge>& edges() const { return m_edges; }
  const std::array<EdgeSide, 3>& sides(std::size_t triangle) const { return m_sides[triangle]; }
  const RestTriangle& rest(std::size_t triangle) const { return m_rest[triangle]; }
  // Edge of each ghost, in their order.
  const std::vector<int>& ghosts() const { return m_ghosts; }

  // All nodes with the vertices at `x`: ghosts mirrored in their triangles' planes, packs zero.
  Points nodes(const Points& x) const;

  // Edges at which the direction is held, for `held` vertices and ghosts: with a ghost that is held (its ends
  // may slide, as in a plane of symmetry), or with both ends in `held` and either a ghost or one triangle
  // wholly in it. The others get their ordinary rule. Two held rows of nodes alone would not be a clamp: the
  // angle of the edge between them would still give way (12 % too soft).
  void set_clamped(const std::vector<char>& held);

  // Angles of the rest shape: θ per edge and α per triangle (rows). Clamps hold these directions.
  void set_rest_angles(VecX theta, Points alpha);
  // The φ for which the ordinary rule gives the same α as the present one: where a clamped edge goes on when
  // it is let go.
  double released_phi(int edge, double theta) const;

  // Dihedral angles of all edges, continued from `reference` (empty: in (−π, π]).
  VecX angles(const Points& nodes, const VecX& reference) const;
  Stencil stencil(const Points& nodes, const SheetEdge& edge) const {
    Stencil x;
    for (int k = 0; k < 4; ++k)
      x.col(k) = nodes.row(m_first + edge.points[static_cast<std::size_t>(k)]).transpose();
    return x;
  }
  double phi(const Points& nodes, const SheetEdge& edge) const {
    return edge.pack < 0 ? 0.0 : nodes(m_first + edge.pack, edge.coordinate) / edge.length;
  }
  void set_phi(Points& nodes, const VecX& phi) const;
  // The six numbers of a triangle.
  Vec6 shape(const Points& nodes, const VecX& theta, std::size_t triangle) const;

  // The sheet's first node among those of the solver.
  void set_first_node(int first) { m_first = first; }
  int first_node() const { return m_first; }

  double mean_edge() const { return m_mean_edge; }
  double area() const;
  VecX vertex_masses(double surface_density) const;  // lumped, kg

 private:
  void make_edges(const Edges& ghost_edges);
  void add_ghost(int edge);
  void clamp(int edge, double left, double right);
  void pack_angles();
  Vec3 ghost_position(const Points& x, const SheetEdge& edge) const;

  TriMesh m_mesh;
  std::vector<SheetEdge> m_edges;
  std::vector<std::array<EdgeSide, 3>> m_sides;
  std::vector<RestTriangle> m_rest;
  std::vector<int> m_ghosts;
  VecX m_rest_theta;
  Points m_rest_alpha;
  bool m_edge_unknowns;
  int m_packs = 0;
  int m_first = 0;
  double m_mean_edge = 0;
};

// The φ that minimise the bending energy Σ ½ (α − ᾱ)ᵀ C (α − ᾱ) for given angles θ: what a pose given by
// positions alone leaves open. `rest`: ᾱ per triangle (rows). Conjugate gradients: the matrix has a condition
// of about 12 whatever the mesh and the material.
VecX relaxed_phi(const Sheet& sheet, const VecX& theta, const std::vector<Mat3>& stiffness,
                 const Points& rest);

}  // namespace exemplar::shells
