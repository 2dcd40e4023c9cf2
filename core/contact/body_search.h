// Which features of deformable bodies can come within reach of each other on a straight path: points against
// triangles and edges against edges, of two bodies and of a body with itself. Every body has hierarchies of boxes
// over its triangles and edges, shaped once at rest and refitted to each path.
//
// Boxes are swept in a frame that moves with the body: a fast body otherwise sweeps through its own neighbours,
// and everything pairs with everything. What the boxes find is kept when the distance at the path's start is
// not longer than reach, radii and what the four points move relative to each other. Features that share a point
// make no pair. Cost grows like features plus pairs.
//
// A body that is hardly deformed between two searches has the same near features: they are kept as candidates,
// found with a margin around a reference shape, and are all there is to look at as long as every point stays
// within the margin of the reference, moved rigidly. Pairs in reach on the path and their order do not depend on
// the threads or on earlier searches.
#pragma once

#include <vector>

#include "core/contact/contact_points.h"
#include "core/mesh/bvh.h"

namespace exemplar {

class BodySearch {
 public:
  // `points` must outlive this.
  explicit BodySearch(const ContactPoints& points);

  bool empty() const { return m_parts.empty(); }
  void append_pairs(const ContactPath& path, std::vector<ContactPair>& pairs);

 private:
  // Near features of one body at a reference shape.
  struct Candidates {
    Points reference;  // of the part's points; empty: none yet
    double margin = 0;
    std::vector<ContactPair> pairs;
    // A place that is the reference moved rigidly by `turn`, but for margin − room: what lies within `room` of it,
    // wherever it was shifted to, needs no fit.
    Points seen;
    Mat3 turn = Mat3::Identity();
    double room = 0;
  };
  // One body.
  struct Part {
    bool self = false;
    std::vector<int> points;
    Triangles triangles;
    Edges edges;
    Bvh triangle_tree, edge_tree;
    Vec3 drift = Vec3::Zero();  // of the path: mean displacement of the points, m
    Box bounds;                 // swept in its own frame
    std::vector<Box> triangle_boxes, edge_boxes;
    bool placed = false;  // trees and boxes are those of the path
    Candidates candidates;
  };
  using Found = std::vector<std::vector<ContactPair>>;

  void make_parts();
  void measure(Part& part, const ContactPath& path) const;
  void place(Part& part, const ContactPath& path) const;
  void add_self_pairs(Part& part, const ContactPath& path, std::vector<ContactPair>& pairs);
  void add_pairs_between(Part& a, Part& b, const ContactPath& path, std::vector<ContactPair>& pairs) const;
  static bool is_covered(Part& part, const ContactPath& path);
  static bool fits(const std::vector<int>& points, const Points& now, Candidates& known);
  void find_candidates(Part& part, const ContactPath& path);
  Box point_box(int point, const Vec3& drift, const ContactPath& path) const;
  // Points of `a` against triangles of `b`, and edges against edges; a may be b.
  void add_point_pairs(const Part& a, const Part& b, const ContactPath& path,
                       std::vector<ContactPair>& pairs) const;
  void add_edge_pairs(const Part& a, const Part& b, const ContactPath& path,
                      std::vector<ContactPair>& pairs) const;
  // Law and limits of a pair; false: it cannot come within reach.
  bool may_meet(const ContactPath& path, const ContactPair& pair) const;
  bool complete(const ContactPath& path, ContactPair& pair) const;
  bool fit_to_rest(ContactPair& pair) const;

  const ContactPoints& m_points;
  std::vector<Part> m_parts;
  double m_margin = 0;  // m: so much farther is looked now
};

}  // namespace exemplar
