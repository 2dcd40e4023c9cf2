#include "rigidplastic/bend/bending_body.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/mesh/models/primitives.h"
#include "core/mesh/topology.h"
#include "core/mesh/volume/extrude.h"

namespace exemplar::bend {

namespace {

constexpr int k_most_parts = 1 << 12;  // of one body: parts of different bodies have different components
constexpr double k_rate_with_direction = 0.02;  // rad/s: below it the relative rotation has no direction

Eigen::Isometry3d isometry(const RigidState& state) {
  Eigen::Isometry3d result = Eigen::Isometry3d::Identity();
  result.linear() = state.orientation.toRotationMatrix();
  result.translation() = state.position;
  return result;
}

// Some triangles of a surface with only the vertices that they use, and the half-edges at their rim.
struct SurfacePart {
  TriMesh mesh;
  std::vector<std::array<int, 2>> rim;  // as their triangles run along them
};

template <class Belongs>
SurfacePart part_of(const Points& points, const Triangles& triangles, const SurfaceEdges& edges,
                    const Belongs& belongs) {
  std::vector<int> index(static_cast<std::size_t>(points.rows()), -1);
  SurfacePart part{{Points(points.rows(), 3), Triangles(triangles.rows(), 3)}, {}};
  int vertices = 0;
  Eigen::Index count = 0;
  for (Eigen::Index t = 0; t < triangles.rows(); ++t) {
    if (!belongs(t)) continue;
    for (int k = 0; k < 3; ++k) {
      int& at = index[static_cast<std::size_t>(triangles(t, k))];
      if (at < 0) part.mesh.vertices.row(at = vertices++) = points.row(triangles(t, k));
      part.mesh.triangles(count, k) = at;
    }
    for (int k = 0; k < 3; ++k) {
      const std::span<const int> around = edges.triangles[edges.of_triangle(t, (k + 2) % 3)];
      if (std::count_if(around.begin(), around.end(), belongs) == 1)
        part.rim.push_back({part.mesh.triangles(count, k), part.mesh.triangles(count, (k + 1) % 3)});
    }
    ++count;
  }
  part.mesh.vertices.conservativeResize(vertices, 3);
  part.mesh.triangles.conservativeResize(count, 3);
  return part;
}

// Caps every hole with a fan around the middle of its rim.
TriMesh closed(const SurfacePart& part) {
  if (part.rim.empty()) return part.mesh;
  const Eigen::Index first = part.mesh.vertices.rows(), rim = static_cast<Eigen::Index>(part.rim.size());
  Triangles links(rim, 3);
  for (Eigen::Index e = 0; e < rim; ++e) {
    const auto [a, b] = part.rim[static_cast<std::size_t>(e)];
    links.row(e) << a, b, b;
  }
  const Parts holes = connected_parts(links, first);
  std::vector<Vec3> middle(static_cast<std::size_t>(holes.count), Vec3::Zero());
  std::vector<double> count(middle.size(), 0);
  for (Eigen::Index v = 0; v < first; ++v) {
    if (holes.of_vertex[v] < 0) continue;
    middle[static_cast<std::size_t>(holes.of_vertex[v])] += part.mesh.vertices.row(v).transpose();
    count[static_cast<std::size_t>(holes.of_vertex[v])] += 1;
  }
  TriMesh result = part.mesh;
  result.vertices.conservativeResize(first + holes.count, 3);
  for (std::size_t h = 0; h < middle.size(); ++h)
    result.vertices.row(first + static_cast<Eigen::Index>(h)) = middle[h].transpose() / count[h];
  const Eigen::Index old = result.triangles.rows();
  result.triangles.conservativeResize(old + rim, 3);
  for (Eigen::Index e = 0; e < rim; ++e) {
    const auto [a, b] = part.rim[static_cast<std::size_t>(e)];
    result.triangles.row(old + e) << b, a, static_cast<int>(first) + holes.of_vertex[a];
  }
  return result;
}

}  // namespace

BendingBody::BendingBody(ArticulatedBody articulated, const std::optional<Vec3>& held, bool always_open)
    : m_articulated(std::move(articulated)), m_held(held), m_always_open(always_open) {
  m_joints.resize(m_articulated.joints().size());
  for (std::size_t j = 0; j < m_joints.size(); ++j)
    m_joints[j].open = always_open || m_articulated.may_break(j);
  m_poses.assign(m_articulated.bones().size(), Eigen::Isometry3d::Identity());
  m_cluster_of.assign(m_articulated.bones().size(), 0);
  find_support_bone();
  find_parts();
}

bool BendingBody::is_broken() const {
  return std::any_of(m_joints.begin(), m_joints.end(), [](const JointState& joint) { return joint.broken; });
}

void BendingBody::break_joint(std::size_t joint) {
  m_joints[joint].open = m_joints[joint].broken = true;
  find_parts();
}

void BendingBody::find_support_bone() {
  if (m_held) m_support_bone = nearest_bone(m_articulated.bones(), *m_held).bone;
}

Quat BendingBody::turn(std::size_t joint) const {
  const BoneJoint& ends = m_articulated.joints()[joint];
  return Quat(Mat3(m_poses[static_cast<std::size_t>(ends.a)].linear().transpose() *
                   m_poses[static_cast<std::size_t>(ends.b)].linear()));
}

double BendingBody::bend_angle(std::size_t joint) const {
  return std::abs(Eigen::AngleAxisd(turn(joint)).angle());
}

double BendingBody::largest_angle() const {
  double largest = 0;
  for (std::size_t j = 0; j < m_joints.size(); ++j) {
    if (!m_joints[j].broken) largest = std::max(largest, bend_angle(j));
  }
  return largest;
}

double BendingBody::largest_gap() const {
  double largest = 0;
  for (std::size_t j = 0; j < m_joints.size(); ++j) {
    if (m_joints[j].broken) continue;
    const BoneJoint& ends = m_articulated.joints()[j];
    largest = std::max(largest, (m_poses[static_cast<std::size_t>(ends.a)] * ends.pivot -
                                 m_poses[static_cast<std::size_t>(ends.b)] * ends.pivot)
                                    .norm());
  }
  return largest;
}

void BendingBody::follow(std::span<const RigidState> cluster_states) {
  for (std::size_t b = 0; b < m_poses.size(); ++b)
    m_poses[b] = isometry(cluster_states[static_cast<std::size_t>(m_cluster_of[b])]) * m_offsets[b];
}

void BendingBody::split(const BoneSplit& split) {
  const std::size_t bone = static_cast<std::size_t>(split.bone);
  m_articulated.split(split);
  m_poses.push_back(m_poses[bone]);
  m_cluster_of.push_back(m_cluster_of[bone]);
  if (!m_offsets.empty()) m_offsets.push_back(m_offsets[bone]);
  m_joints.push_back({});
  m_joints.back().open = m_always_open;
  m_joints.back().held = turn(m_joints.size() - 1);
  find_support_bone();
  find_parts();
}

namespace {

// The smallest bone that each bone reaches over the joints that `holds` names.
template <class Holds>
std::vector<int> connected_bones(const std::vector<BoneJoint>& joints, std::size_t bones,
                                 const Holds& holds) {
  std::vector<int> label(bones);
  std::iota(label.begin(), label.end(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t j = 0; j < joints.size(); ++j) {
      if (!holds(j)) continue;
      int &a = label[static_cast<std::size_t>(joints[j].a)],
          &b = label[static_cast<std::size_t>(joints[j].b)];
      if (a != b) a = b = std::min(a, b), changed = true;
    }
  }
  return label;
}

}  // namespace

void BendingBody::find_parts() {
  m_part_of = connected_bones(m_articulated.joints(), m_poses.size(),
                              [&](std::size_t j) { return !m_joints[j].broken; });
}

void BendingBody::find_clusters() {
  const std::vector<int> label = connected_bones(m_articulated.joints(), m_poses.size(),
                                                 [&](std::size_t j) { return !m_joints[j].open; });
  m_clusters.clear();
  std::vector<int> cluster(label.size(), -1);
  for (std::size_t b = 0; b < label.size(); ++b) {
    int& at = cluster[static_cast<std::size_t>(label[b])];
    if (at < 0) at = static_cast<int>(m_clusters.size()), m_clusters.emplace_back();
    m_cluster_of[b] = at;
    m_clusters[static_cast<std::size_t>(at)].bones.push_back(static_cast<int>(b));
  }
}

TriMesh BendingBody::collision_mesh(const Cluster& cluster, const Points& skin) const {
  const int own = m_cluster_of[static_cast<std::size_t>(cluster.bones.front())];
  const SurfacePart part =
      part_of(skin, m_articulated.surface().triangles, m_articulated.edges(),
              [&](Eigen::Index t) { return cluster_of(m_articulated.bone_of_triangle(t)) == own; });
  if (part.mesh.triangles.rows() == 0) return stand_in(cluster);
  const Body& body = m_articulated.body();
  return body.is_sheet() ? extruded_surface(part.mesh, body.settings().thickness) : closed(part);
}

// Bones deep inside have no surface of their own: a small cube at their centre of mass collides for them.
TriMesh BendingBody::stand_in(const Cluster& cluster) const {
  const std::size_t bone = static_cast<std::size_t>(cluster.bones.front());
  const MassProperties& mass = m_articulated.bone_mass(bone);
  TriMesh cube = make_box({Vec3::Constant(0.5 * std::cbrt(mass.measure)), {1, 1, 1}});
  cube.vertices.rowwise() += (m_poses[bone] * mass.centre).transpose();
  return cube;
}

std::vector<rigid::RigidBody> BendingBody::rebuild(std::span<const RigidState> old_states, int scene_body,
                                                   rigid::CollisionGeometry geometry) {
  std::vector<MovingPiece> pieces;
  for (std::size_t b = 0; b < m_poses.size(); ++b) {
    const RigidState& old = old_states[static_cast<std::size_t>(m_cluster_of[b])];
    const MassProperties mass =
        moved(m_articulated.bone_mass(b), m_poses[b].linear(), m_poses[b].translation());
    pieces.push_back({mass, old.velocity_at(mass.centre), old.angular_velocity});
  }
  find_clusters();
  m_offsets.resize(m_poses.size());
  const Points whole_skin = is_broken() ? Points() : surface();
  std::vector<rigid::RigidBody> bodies;
  for (Cluster& cluster : m_clusters) {
    std::vector<MovingPiece> own;
    for (const int b : cluster.bones) own.push_back(pieces[static_cast<std::size_t>(b)]);
    const MovingPiece whole = merged(own);
    const rigid::BodyFrame frame = rigid::principal_frame(whole.mass);
    RigidState state;
    state.position = frame.centre;
    state.orientation = Quat(frame.axes);
    // What a support holds takes no momentum from the bones that join it: its joints would follow a body that stands still.
    if (!is_supported(cluster)) {
      state.velocity = whole.velocity;
      state.angular_velocity = whole.angular_velocity;
    }
    for (const int b : cluster.bones)
      m_offsets[static_cast<std::size_t>(b)] =
          isometry(state).inverse() * m_poses[static_cast<std::size_t>(b)];
    const int part = m_part_of[static_cast<std::size_t>(cluster.bones.front())];
    cluster.collision = is_broken()
                            ? collision_mesh(cluster, m_articulated.skinned_by(m_poses, m_part_of, part))
                            : collision_mesh(cluster, whole_skin);
    cluster.collision.vertices = frame.to_local(cluster.collision.vertices);
    rigid::RigidBody body = rigid_body(cluster, scene_body, geometry);
    body.mass = whole.mass.mass;
    body.frame.inertia = frame.inertia;
    body.state = state;
    bodies.push_back(std::move(body));
  }
  return bodies;
}

bool BendingBody::is_supported(const Cluster& cluster) const {
  return std::find(cluster.bones.begin(), cluster.bones.end(), m_support_bone) != cluster.bones.end();
}

rigid::RigidBody BendingBody::rigid_body(const Cluster& cluster, int scene_body,
                                         rigid::CollisionGeometry geometry) const {
  const Body& body = m_articulated.body();
  rigid::RigidBody result;
  result.name = body.name();
  result.scene_body = scene_body;
  result.friction = body.material().friction;
  result.restitution = body.material().restitution;
  result.component = scene_body * k_most_parts + m_part_of[static_cast<std::size_t>(cluster.bones.front())];
  result.shape = rigid::BulletShape::from_mesh(cluster.collision, geometry);
  if (!is_supported(cluster)) return result;
  result.support = &body.supports().front();
  // Where the cluster's frame would have been at the start, for the support's motion.
  const Eigen::Isometry3d start = m_offsets[static_cast<std::size_t>(m_support_bone)].inverse();
  result.start.position = start.translation();
  result.start.orientation = Quat(start.linear());
  return result;
}

// Along the first axis the joint yields at its strength: the relative rotation while it turns, else the direction it
// last had to hold.
rigid::Joint BendingBody::simulation_joint(std::size_t j, std::span<const RigidState> states, int first,
                                           double damping, bool elastic) const {
  const BoneJoint& ends = m_articulated.joints()[j];
  const JointState& joint = m_joints[j];
  const int ca = cluster_of(ends.a), cb = cluster_of(ends.b);
  const RigidState &a = states[static_cast<std::size_t>(ca)], &b = states[static_cast<std::size_t>(cb)];
  const YieldMoments& strength = m_articulated.strength(j);
  const Mat3 rest_to_world = m_poses[static_cast<std::size_t>(ends.a)].linear();
  const Vec3 rate = b.angular_velocity - a.angular_velocity;
  Vec3 axis = rest_to_world * strength.axes.col(0);
  if (rate.norm() > k_rate_with_direction)
    axis = rate.normalized();
  else if (joint.demand.norm() > 0)
    axis = joint.demand.normalized();
  Mat3 axes;
  axes.col(0) = axis;
  axes.col(1) = axis.unitOrthogonal();
  axes.col(2) = axis.cross(Vec3(axes.col(1)));
  rigid::Joint result;
  result.a = first + ca;
  result.b = first + cb;
  result.pivot_a = m_offsets[static_cast<std::size_t>(ends.a)] * ends.pivot;
  result.pivot_b = m_offsets[static_cast<std::size_t>(ends.b)] * ends.pivot;
  result.frame_a = a.orientation.conjugate() * Quat(axes);
  const Quat held(Mat3(m_offsets[static_cast<std::size_t>(ends.a)].linear() * joint.held.toRotationMatrix() *
                       m_offsets[static_cast<std::size_t>(ends.b)].linear().transpose()));
  result.frame_b = held.conjugate() * result.frame_a;
  for (int k = 0; k < 3; ++k)
    result.yield_moment[k] =
        elastic ? 0 : strength.along(rest_to_world.transpose() * axes.col(k)) * (1 + damping * rate.norm());
  return result;
}

rigid::CarriedSurface BendingBody::skin(std::span<const RigidState> states, int first,
                                        const LoadSet& loads) const {
  rigid::CarriedSurface result;
  result.loads = loads;
  result.local = surface();
  for (Eigen::Index v = 0; v < result.local.rows(); ++v) {
    const int cluster = cluster_of(m_articulated.bone_of_vertex(v));
    result.owner.push_back(first + cluster);
    result.local.row(v) = states[static_cast<std::size_t>(cluster)].to_local(result.local.row(v));
  }
  return result;
}

BendingBodyState BendingBody::state() const {
  BendingBodyState state{
      m_articulated.splits(), m_articulated.surface().vertices, m_joints, m_poses, m_offsets, {}};
  for (const Cluster& cluster : m_clusters)
    state.shapes.push_back({cluster.collision.vertices, cluster.collision.triangles});
  return state;
}

void BendingBody::restore(const BendingBodyState& state) {
  for (const BoneSplit& bone : state.splits) split(bone);
  if (state.joints.size() != m_joints.size() || state.poses.size() != m_poses.size() ||
      state.rest.rows() != m_articulated.surface().vertices.rows())
    throw InputError("the saved state belongs to other bodies");
  m_joints = state.joints;
  m_poses = state.poses;
  m_offsets = state.offsets;
  m_articulated.set_rest_points(state.rest);
  find_parts();
  find_clusters();
  for (std::size_t c = 0; c < m_clusters.size(); ++c)
    m_clusters[c].collision = {state.shapes.at(c).vertices, state.shapes[c].triangles};
}

std::vector<rigid::RigidBody> BendingBody::reloaded(int scene_body, rigid::CollisionGeometry geometry) const {
  std::vector<rigid::RigidBody> bodies;
  for (const Cluster& cluster : m_clusters) bodies.push_back(rigid_body(cluster, scene_body, geometry));
  return bodies;
}

}  // namespace exemplar::bend
