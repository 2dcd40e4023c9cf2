// Supports: nodes of a body that are held or moved as told. A node's place at time t is
//   x(t) = c + d(t) + R(t) (X − c)
// with X its start position, c the support's centre, d and R the keyframes' position and rotation (identity
// for a fixed support). Units: m, s, rad.
#pragma once

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "core/world/curve.h"
#include "core/world/region.h"

namespace exemplar {

struct Support {
  std::string name;  // of its columns; empty: none of its own
  std::string body;  // name of the body; empty: every body
  Region region;
  std::vector<Keyframe>
      keyframes;  // empty: fixed. position: displacement since the start; rotation: about `centre`
  Interpolation interpolation = Interpolation::smooth;
  Vec3 centre = Vec3::Zero();         // m, world
  bool x = true, y = true, z = true;  // which coordinates are held (a roller leaves one or two free)
  bool clamped = false;               // sheets: the direction at a held border is held too
  double release_time = std::numeric_limits<double>::infinity();  // s; nodes are free from then on
};

struct SupportedNode {
  int node = 0;
  std::array<bool, 3> held{true, true, true};
  Vec3 position = Vec3::Zero();  // m
  Vec3 velocity = Vec3::Zero();  // m/s
  // Which support of the list given to the SupportSet holds each coordinate; −1: none of them.
  std::array<int, 3> support = {-1, -1, -1};
};

// The supports of one body.
class SupportSet {
 public:
  SupportSet() = default;
  // Keeps what is for `body`. Throws InputError for impossible numbers and for regions that hold no node.
  // `leader` (one per node; empty: none): nodes that are held wherever another one is, e.g. those that give a
  // clamped border its direction, and are never chosen themselves; −1: an ordinary node.
  SupportSet(const std::vector<Support>& supports, const std::string& body, const Points& start_positions,
             const std::vector<int>& leader = {});

  bool empty() const { return m_supports.empty(); }
  // Ascending by node. Supports that overlap combine axis by axis: a coordinate that several hold goes where the last of
  // them says, and one that a support leaves free stays held by the others.
  std::vector<SupportedNode> at(double time) const;
  // All nodes that are held at some time, ascending.
  const std::vector<int>& nodes() const { return m_nodes; }

 private:
  std::vector<Support> m_supports;
  std::vector<int> m_places;                 // of each in the list that was given
  std::vector<std::vector<int>> m_selected;  // nodes of each support
  std::vector<int> m_nodes;
  Points m_start;
};

}  // namespace exemplar
