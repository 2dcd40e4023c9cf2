// A body with its skeleton at rest (patkar2014 §4): skinning weights, the pieces of its volume that go with each bone,
// and the strength of its joints. Everything is in the body's rest placement; nothing here moves. Units: m, kg, N m.
#pragma once

#include <memory>
#include <optional>

#include "core/mesh/topology.h"
#include "core/scene/scene.h"
#include "rigidplastic/bend/bone_weights.h"
#include "rigidplastic/bend/joint_math.h"
#include "rigidplastic/bend/skeleton.h"
#include "rigidplastic/fracture/piece_bodies.h"

namespace exemplar::bend {

using BonePoses = std::vector<Eigen::Isometry3d>;  // rest → now, one per bone

// Where a bone was split while the simulation ran.
struct BoneSplit {
  int bone = 0;
  double at = 0;      // 0 … 1
  double length = 0;  // m, over which the two parts blend

  static constexpr auto described() {
    return std::tuple(member("bone", &BoneSplit::bone), member("at", &BoneSplit::at),
                      member("length", &BoneSplit::length));
  }
};

// A place where a bone may be split, with what the part beyond it weighs and what a joint there would hold.
struct WeakPlace {
  BoneSplit split;
  Vec3 pivot = Vec3::Zero();  // at rest
  MassProperties far;         // of the bone's own part beyond the place, at rest
  YieldMoments strength;
};

class ArticulatedBody {
 public:
  // `strength`: N m of every joint; none: from the yield stress and the joint's cross-section. A body that cannot bend
  // (one bone, never split) needs no volume and is one piece.
  ArticulatedBody(const Body& body, const Skeleton& skeleton, const BodyWeights& weights,
                  std::optional<double> strength, bool bends);

  const Body& body() const { return *m_body; }
  const TriMesh& surface() const { return m_surface; }
  const SurfaceEdges& edges() const { return *m_edges; }  // of the surface
  const std::vector<Bone>& bones() const { return m_skeleton.bones; }
  const std::vector<BoneJoint>& joints() const { return m_skeleton.joints; }
  const YieldMoments& strength(std::size_t joint) const { return m_strength[joint]; }
  const std::vector<BoneSplit>& splits() const { return m_splits; }
  bool looped() const { return m_looped; }
  bool bends() const { return m_bends; }

  int bone_of_vertex(Eigen::Index v) const { return m_bone_of_vertex[static_cast<std::size_t>(v)]; }
  // The bone with the largest weight over the triangle's corners.
  int bone_of_triangle(Eigen::Index t) const { return m_bone_of_triangle[static_cast<std::size_t>(t)]; }
  // Volume, mass, centre and inertia of the part of the body that goes with a bone.
  const MassProperties& bone_mass(std::size_t bone) const { return m_bone_mass[bone]; }

  // A body cut beforehand: a joint between bones of two pieces may break. `part` is what bones belong to that still
  // hold together (one number per bone; all equal: nothing has parted); what has parted is not blended any more.
  bool is_cut() const { return !m_piece_of_bone.empty(); }
  bool may_break(std::size_t joint) const;
  double joint_area(std::size_t joint) const;  // m², of the cross-section, where it may break
  const rigid::PieceSurfaces& pieces() const { return m_cut.surfaces; }
  int bone_in_piece(int piece) const;  // one that a point of the piece goes with
  Points skinned_pieces(const BonePoses& poses, const std::vector<int>& part) const;

  // Linear blend skinning: x_i = Σ_b w_ib T_b u_i.
  Points skinned(const BonePoses& poses, const std::vector<int>& part) const;
  // All vertices as the bones of one part carry them.
  Points skinned_by(const BonePoses& poses, const std::vector<int>& part, int which) const;
  // The surface moved at rest so that the skinned one moves by `displacements` (dents act on the parent's surface).
  void displace(const BonePoses& poses, const std::vector<int>& part, const Points& displacements);
  void set_rest_points(const Points& points) { m_surface.vertices = points; }

  // Dynamic articulation: a place for a new joint on a bone, unless it is too near to its ends.
  std::optional<BoneSplit> split_at(const BonePlace& place) const;
  // Such places along a bone, evenly spaced.
  std::vector<WeakPlace> weak_places(int bone) const;
  // Makes two bones of one; the weights of all others stay. The far part becomes the last bone, the joint between
  // them the last joint.
  void split(const BoneSplit& split);

 private:
  void cut(const BodyWeights& weights);
  void assign();  // pieces to bones by their largest weight
  // The bone with the largest weight, of the bones in a piece where there are any.
  int heaviest(const Eigen::Ref<const Eigen::RowVectorXd>& weights, int piece) const;
  Vec3 normal_at(const BoneJoint& joint) const;
  CrossSection section_at(const BoneJoint& joint) const;
  YieldMoments strength_of(const BoneJoint& joint) const;
  int bone_of_element(std::size_t element) const;
  double section_size(int bone, const Vec3& point) const;  // m, root of the cross-section's area

  const Body* m_body;
  TriMesh m_surface;
  Skeleton m_skeleton;
  bool m_looped = false, m_bends = true;
  std::optional<double> m_given_strength;
  std::vector<YieldMoments> m_strength;
  std::vector<BoneSplit> m_splits;
  MatX m_vertex_weights, m_element_weights;  // one column per bone
  // What no split changes; copies of a body share it.
  std::shared_ptr<const SurfaceEdges> m_edges;
  std::shared_ptr<const std::vector<MassProperties>> m_elements;
  std::vector<MassProperties> m_bone_mass;
  std::vector<int> m_bone_of_vertex, m_bone_of_triangle;
  // Of a body cut beforehand; empty for others.
  rigid::CutBody m_cut;
  MatX m_point_weights;  // of the pieces' points
  std::vector<int> m_piece_of_bone, m_piece_of_vertex, m_piece_of_triangle, m_piece_of_point;
};

}  // namespace exemplar::bend
