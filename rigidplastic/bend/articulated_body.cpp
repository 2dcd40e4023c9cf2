#include "rigidplastic/bend/articulated_body.h"

#include <algorithm>
#include <cmath>

#include "rigidplastic/bend/cluster.h"

namespace exemplar::bend {

namespace {

constexpr double k_blend = 1.5;       // length of a split's blend over the root of the cross-section's area
constexpr double k_end_margin = 0.5;  // of the blend length, that a split keeps from the bone's ends

// Each tet as a piece of mass, scaled so that together they weigh what the body weighs.
std::vector<MassProperties> mass_elements(const Body& body, bool bends) {
  if (!bends) return {body.mass_properties()};
  const TetMesh& mesh = body.volume().mesh;
  std::vector<MassProperties> elements(static_cast<std::size_t>(mesh.tets.rows()));
  double mass = 0;
  for (Eigen::Index t = 0; t < mesh.tets.rows(); ++t) {
    MassProperties& element = elements[static_cast<std::size_t>(t)];
    element = solid_mass_properties(mesh.vertices, Tets(mesh.tets.row(t)), body.material().density);
    mass += element.mass;
  }
  const double scale = body.mass_properties().mass / mass;
  for (MassProperties& element : elements) {
    element.mass *= scale;
    element.inertia *= scale;
  }
  return elements;
}

int largest(const Eigen::Ref<const Eigen::RowVectorXd>& weights) {
  Eigen::Index best = 0;
  weights.maxCoeff(&best);
  return static_cast<int>(best);
}

}  // namespace

ArticulatedBody::ArticulatedBody(const Body& body, const Skeleton& skeleton, const BodyWeights& weights,
                                 std::optional<double> strength, bool bends)
    : m_body(&body),
      m_surface{body.initial_surface(), body.surface().triangles},
      m_skeleton(skeleton),
      m_looped(has_loop(skeleton)),
      m_bends(bends),
      m_given_strength(strength),
      m_elements(mass_elements(body, bends)) {
  m_vertex_weights = weights.surface;
  m_element_weights = skeleton.bones.size() > 1 ? weights.elements
                                                : MatX::Ones(static_cast<Eigen::Index>(m_elements.size()), 1);
  assign();
  for (const BoneJoint& joint : m_skeleton.joints) m_strength.push_back(strength_of(joint));
}

void ArticulatedBody::assign() {
  m_bone_of_vertex.clear();
  for (Eigen::Index v = 0; v < m_vertex_weights.rows(); ++v)
    m_bone_of_vertex.push_back(largest(m_vertex_weights.row(v)));
  m_bone_of_triangle.clear();
  for (Eigen::Index t = 0; t < m_surface.triangles.rows(); ++t) {
    Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(m_vertex_weights.cols());
    for (int k = 0; k < 3; ++k) sum += m_vertex_weights.row(m_surface.triangles(t, k));
    m_bone_of_triangle.push_back(largest(sum));
  }
  std::vector<std::vector<MassProperties>> parts(bones().size());
  for (std::size_t e = 0; e < m_elements.size(); ++e)
    parts[static_cast<std::size_t>(largest(m_element_weights.row(static_cast<Eigen::Index>(e))))].push_back(
        m_elements[e]);
  m_bone_mass.assign(bones().size(), {});
  for (std::size_t b = 0; b < parts.size(); ++b) {
    if (!parts[b].empty()) m_bone_mass[b] = merged(parts[b]);
  }
}

// The cross-section of the two bones' own triangles: other limbs that the plane meets do not count.
YieldMoments ArticulatedBody::strength_of(const BoneJoint& joint) const {
  YieldMoments result;
  const Bone &a = bones()[static_cast<std::size_t>(joint.a)], &b = bones()[static_cast<std::size_t>(joint.b)];
  Vec3 da = (a.b - a.a).normalized(), db = (b.b - b.a).normalized();
  if (da.dot(db) < 0) db = -db;
  const Vec3 normal = (da + db).normalized();
  if (m_given_strength) {
    result.moment.setConstant(*m_given_strength);
    return result;
  }
  TriMesh near{m_surface.vertices, Triangles(m_surface.triangles.rows(), 3)};
  Eigen::Index count = 0;
  for (Eigen::Index t = 0; t < m_surface.triangles.rows(); ++t) {
    const int bone = bone_of_triangle(t);
    if (bone == joint.a || bone == joint.b) near.triangles.row(count++) = m_surface.triangles.row(t);
  }
  near.triangles.conservativeResize(count, 3);
  // A plane through a row of vertices would cut some triangles twice and some not at all.
  const Vec3 point = joint.pivot + 1e-4 * std::min(a.length(), b.length()) * normal;
  const CrossSection section = cross_section(near, point, normal);
  if (section.segments.size() < 3) {
    result.moment.setConstant(std::numeric_limits<double>::infinity());
    return result;
  }
  return yield_moments(section,
                       m_body->material().yield_stress.value_or(std::numeric_limits<double>::infinity()));
}

double ArticulatedBody::section_size(int bone, const Vec3& point) const {
  const Bone& segment = bones()[static_cast<std::size_t>(bone)];
  TriMesh own{m_surface.vertices, Triangles(m_surface.triangles.rows(), 3)};
  Eigen::Index count = 0;
  for (Eigen::Index t = 0; t < m_surface.triangles.rows(); ++t) {
    if (bone_of_triangle(t) == bone) own.triangles.row(count++) = m_surface.triangles.row(t);
  }
  own.triangles.conservativeResize(count, 3);
  const Vec3 axis = (segment.b - segment.a).normalized();
  return std::sqrt(std::abs(cross_section(own, point + 1e-4 * segment.length() * axis, axis).area()));
}

Points ArticulatedBody::skinned(const BonePoses& poses) const {
  Points result = Points::Zero(m_surface.vertices.rows(), 3);
  for (Eigen::Index v = 0; v < result.rows(); ++v) {
    const Vec3 u = m_surface.vertices.row(v);
    Vec3 sum = Vec3::Zero();
    for (std::size_t b = 0; b < poses.size(); ++b) {
      const double w = m_vertex_weights(v, static_cast<Eigen::Index>(b));
      if (w != 0) sum += w * (poses[b] * u);
    }
    result.row(v) = sum.transpose();
  }
  return result;
}

void ArticulatedBody::displace(const BonePoses& poses, const Points& displacements) {
  for (Eigen::Index v = 0; v < displacements.rows(); ++v) {
    if (displacements.row(v).isZero(0)) continue;
    Mat3 blended = Mat3::Zero();
    for (std::size_t b = 0; b < poses.size(); ++b)
      blended += m_vertex_weights(v, static_cast<Eigen::Index>(b)) * poses[b].linear();
    m_surface.vertices.row(v) += blended.inverse().eval() * Vec3(displacements.row(v));
  }
}

std::optional<BoneSplit> ArticulatedBody::split_at(const BonePlace& place) const {
  const Bone& bone = bones()[static_cast<std::size_t>(place.bone)];
  const double length = k_blend * section_size(place.bone, bone.at(place.t));
  const double margin = k_end_margin * length / bone.length();
  if (length == 0 || place.t < margin || place.t > 1 - margin) return std::nullopt;
  return BoneSplit{place.bone, place.t, length};
}

void ArticulatedBody::split(const BoneSplit& split) {
  const Bone whole = bones()[static_cast<std::size_t>(split.bone)];
  const int far = static_cast<int>(bones().size());
  const Vec3 pivot = whole.at(split.at);
  const auto divide = [&](MatX& weights, Eigen::Index row, const Vec3& point) {
    const double w = weights(row, split.bone), s = far_share(whole, split.at, split.length, point);
    weights(row, far) = w * s;
    weights(row, split.bone) = w * (1 - s);
  };
  for (MatX* weights : {&m_vertex_weights, &m_element_weights})
    weights->conservativeResize(Eigen::NoChange, far + 1);
  const Points& rest = m_body->initial_surface();
  for (Eigen::Index v = 0; v < rest.rows(); ++v) divide(m_vertex_weights, v, rest.row(v));
  for (std::size_t e = 0; e < m_elements.size(); ++e)
    divide(m_element_weights, static_cast<Eigen::Index>(e), m_elements[e].centre);
  m_skeleton.bones[static_cast<std::size_t>(split.bone)].b = pivot;
  m_skeleton.bones.push_back({pivot, whole.b});
  for (BoneJoint& joint : m_skeleton.joints) {
    for (int* end : {&joint.a, &joint.b}) {
      if (*end == split.bone && whole.parameter(joint.pivot) > split.at) *end = far;
    }
  }
  m_skeleton.joints.push_back({split.bone, far, pivot});
  m_splits.push_back(split);
  assign();
  m_strength.push_back(strength_of(m_skeleton.joints.back()));
}

}  // namespace exemplar::bend
