// A bending body in motion: where its bones are, which joints are open, and the rigid bodies (clusters of bones whose
// joints are closed) that stand for it in the simulation (patkar2014 §4.1, §4.2). Units: m, kg, s, rad.
#pragma once

#include <span>
#include <vector>

#include "rigidplastic/bend/articulated_body.h"
#include "rigidplastic/bend/cluster.h"
#include "rigidplastic/simulation/simulation.h"

namespace exemplar::bend {

struct JointState {
  bool open = false;
  bool broken = false;           // for ever open, and holds nothing
  Quat held = Quat::Identity();  // turn of bone b against bone a, since the rest shape, that the joint holds
  Vec3 demand = Vec3::Zero();    // world direction of the moment that it last had to hold
  double still = 0;              // s, since it last turned
  double turned = 0;             // rad, plastic, in total
  Vec3 impulse = Vec3::Zero(), angular_impulse = Vec3::Zero();  // where it may break: see BreakableJoint

  static constexpr auto described() {
    return std::tuple(member("open", &JointState::open), member("broken", &JointState::broken),
                      member("held", &JointState::held), member("demand", &JointState::demand),
                      member("still", &JointState::still), member("turned", &JointState::turned),
                      member("impulse", &JointState::impulse),
                      member("angular_impulse", &JointState::angular_impulse));
  }
};

// Bones that move as one rigid body.
struct Cluster {
  std::vector<int> bones;
  TriMesh collision;  // closed, in the frame of the rigid body
};

// A cluster's collision shape, as it was made last.
struct ClusterShape {
  Points vertices;
  Triangles triangles;

  static constexpr auto described() {
    return std::tuple(member("vertices", &ClusterShape::vertices),
                      member("triangles", &ClusterShape::triangles));
  }
};

struct BendingBodyState {
  std::vector<BoneSplit> splits;
  Points rest;  // m, the dented surface at rest
  std::vector<JointState> joints;
  BonePoses poses;    // rest → world
  BonePoses offsets;  // rest → the frame of the bone's cluster
  std::vector<ClusterShape> shapes;

  static constexpr auto described() {
    return std::tuple(member("splits", &BendingBodyState::splits), member("rest", &BendingBodyState::rest),
                      member("joints", &BendingBodyState::joints), member("poses", &BendingBodyState::poses),
                      member("offsets", &BendingBodyState::offsets),
                      member("shapes", &BendingBodyState::shapes));
  }
};

class BendingBody {
 public:
  // `held`: the middle of what a support holds, at rest.
  BendingBody(ArticulatedBody articulated, const std::optional<Vec3>& held, bool always_open);

  const ArticulatedBody& articulated() const { return m_articulated; }
  ArticulatedBody& articulated() { return m_articulated; }
  const std::vector<Cluster>& clusters() const { return m_clusters; }
  std::vector<JointState>& joints() { return m_joints; }
  const std::vector<JointState>& joints() const { return m_joints; }
  int cluster_of(int bone) const { return m_cluster_of[static_cast<std::size_t>(bone)]; }
  const BonePoses& poses() const { return m_poses; }
  int support_bone() const { return m_support_bone; }  // −1: no support
  const Vec3& held_point() const { return *m_held; }   // the middle of what the support holds, at rest
  bool always_open() const { return m_always_open; }
  Points surface() const { return m_articulated.skinned(m_poses, m_part_of); }
  // Bones that hold together have the same part, the smallest of their numbers.
  const std::vector<int>& parts() const { return m_part_of; }
  bool is_broken() const;
  Points pieces() const { return m_articulated.skinned_pieces(m_poses, m_part_of); }
  void break_joint(std::size_t joint);
  Quat turn(std::size_t joint) const;          // of bone b against bone a since the rest shape
  double bend_angle(std::size_t joint) const;  // between its two bones, against the rest shape
  double largest_angle() const;
  double largest_gap() const;  // m, between the two ends of a joint that holds: what the solver left

  // After a tick: bones follow their clusters.
  void follow(std::span<const RigidState> cluster_states);
  // Splits a bone; the new joint is closed.
  void split(const BoneSplit& split);

  // Rigid bodies for the clusters that the open joints leave, in the state that the bones have now: momenta are those
  // of the old clusters. `old_states`: of the clusters so far (at the start: one state for all).
  std::vector<rigid::RigidBody> rebuild(std::span<const RigidState> old_states, int scene_body,
                                        rigid::CollisionGeometry geometry);
  // An open joint as the simulation knows it; `first`: index of this body's first rigid body there.
  rigid::Joint simulation_joint(std::size_t joint, std::span<const RigidState> states, int first,
                                double damping, bool elastic) const;
  // Vertices carried by the rigid bodies that their heaviest bones belong to.
  rigid::CarriedSurface skin(std::span<const RigidState> states, int first, const LoadSet& loads) const;

  BendingBodyState state() const;
  // Of a body as it was at the start; then reloaded() gives the rigid bodies, whose states the simulation restores.
  void restore(const BendingBodyState& state);
  std::vector<rigid::RigidBody> reloaded(int scene_body, rigid::CollisionGeometry geometry) const;

 private:
  void find_clusters();
  void find_parts();
  void find_support_bone();
  // `skin`: all vertices as the cluster's part carries them.
  TriMesh collision_mesh(const Cluster& cluster, const Points& skin) const;
  TriMesh stand_in(const Cluster& cluster) const;
  bool is_supported(const Cluster& cluster) const;
  rigid::RigidBody rigid_body(const Cluster& cluster, int scene_body,
                              rigid::CollisionGeometry geometry) const;

  ArticulatedBody m_articulated;
  std::optional<Vec3> m_held;
  int m_support_bone = -1;  // the one nearest to what the support holds
  bool m_always_open;
  std::vector<JointState> m_joints;
  std::vector<Cluster> m_clusters;
  std::vector<int> m_cluster_of;  // bone → cluster
  std::vector<int> m_part_of;     // bone → part
  BonePoses m_poses;              // rest → world
  BonePoses m_offsets;            // rest → the frame of the bone's cluster
};

}  // namespace exemplar::bend
