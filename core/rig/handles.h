// Handles of a rig (jones2016 §4): points, bones (segments) and cages (closed polygons) given by the user, and
// points found automatically. Each point, each bone and each corner of a cage becomes one bone of the skin.
// The weights' boundary conditions sit on vertices of the tet mesh: a point takes its nearest vertex, a bone
// the nearest vertices along it, a cage's edge likewise with weights that go over linearly from one corner to
// the next. Lengths in metres, body coordinates.
#pragma once

#include <string>
#include <vector>

#include "core/mesh/mesh.h"
#include "core/rig/bbw.h"

namespace exemplar {

enum class HandleKind { point, bone, cage, automatic };
const char* name_of(HandleKind kind);

struct Handle {
  std::string name;
  HandleKind kind = HandleKind::point;
  Vec3 start = Vec3::Zero(), end = Vec3::Zero();  // equal unless it is a bone

  Vec3 centre() const { return 0.5 * (start + end); }
};

// What the user asks for.
struct HandleRequest {
  struct Bone {
    Vec3 start = Vec3::Zero(), end = Vec3::Zero();
  };
  std::vector<Vec3> points;
  std::vector<Bone> bones;
  std::vector<std::vector<Vec3>> cages;
  int automatic = 0;  // how many more are found on the surface of the tet mesh

  bool empty() const { return points.empty() && bones.empty() && cages.empty() && automatic == 0; }
};

struct PlacedHandles {
  std::vector<Handle> handles;
  FixedRows fixed;
  std::vector<std::string> notes;  // parts of the mesh without a handle
};

// Throws InputError (paths such as "points[2]") for handles outside the mesh, two on one vertex, too many.
PlacedHandles place_handles(const TetMesh& mesh, const HandleRequest& request);

// One more point handle at a vertex of the mesh.
void add_handle(PlacedHandles& placed, const TetMesh& mesh, int vertex);

// Which `count` of the candidates remain when, of the two closest points, one is removed again and again: the
// one farther from the boundary of the bounding box, never one of `kept`. Ascending. O(n log n).
std::vector<int> thin_points(const Points& points, const std::vector<int>& candidates, const Points& kept,
                             int count);

Points centres_of(const std::vector<Handle>& handles);

}  // namespace exemplar
