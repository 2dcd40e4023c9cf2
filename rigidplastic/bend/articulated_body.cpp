#include "rigidplastic/bend/articulated_body.h"

#include <algorithm>
#include <cmath>

#include "rigidplastic/bend/cluster.h"
#include "rigidplastic/bend/piece_skeleton.h"

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
      m_edges(std::make_shared<const SurfaceEdges>(surface_edges(body.surface().triangles))),
      m_elements(std::make_shared<const std::vector<MassProperties>>(mass_elements(body, bends))) {
  m_vertex_weights = weights.surface;
  m_element_weights = skeleton.bones.size() > 1
                          ? weights.elements
                          : MatX::Ones(static_cast<Eigen::Index>(m_elements->size()), 1);
  if (bends && body.settings().pieces && !body.is_sheet()) cut(weights);
  assign();
  for (const BoneJoint& joint : m_skeleton.joints) m_strength.push_back(strength_of(joint));
}

void ArticulatedBody::cut(const BodyWeights& weights) {
  m_cut = rigid::cut_body(*m_body);
  const rigid::PieceSurfaces& surfaces = m_cut.surfaces;
  for (const Bone& bone : bones()) m_piece_of_bone.push_back(piece_at(*m_body, bone.at(0.5)));
  m_piece_of_triangle.resize(static_cast<std::size_t>(m_surface.triangles.rows()));
  m_piece_of_point.resize(surfaces.sources.size());
  std::size_t listed = 0;
  for (std::size_t p = 0; p < surfaces.pieces.size(); ++p) {
    const rigid::PieceSurface& piece = surfaces.pieces[p];
    std::fill(m_piece_of_point.begin() + piece.begin, m_piece_of_point.begin() + piece.end,
              static_cast<int>(p));
    for (int t = 0; t < piece.outer; ++t)
      m_piece_of_triangle[static_cast<std::size_t>(surfaces.input_triangle[listed++])] = static_cast<int>(p);
  }
  for (const int point : surfaces.carrier)
    m_piece_of_vertex.push_back(m_piece_of_point[static_cast<std::size_t>(point)]);
  m_point_weights = MatX::Ones(static_cast<Eigen::Index>(surfaces.sources.size()), m_vertex_weights.cols());
  if (m_vertex_weights.cols() == 1) return;
  for (std::size_t i = 0; i < surfaces.sources.size(); ++i) {
    const rigid::PointSource& source = surfaces.sources[i];
    const MatX& from = source.vertex >= 0 ? m_vertex_weights : weights.nodes;
    m_point_weights.row(static_cast<Eigen::Index>(i)) =
        from.row(source.vertex >= 0 ? source.vertex : source.node);
  }
}

int ArticulatedBody::heaviest(const Eigen::Ref<const Eigen::RowVectorXd>& weights, int piece) const {
  int best = -1;
  for (int b = 0; b < weights.size(); ++b) {
    if (!is_cut() || m_piece_of_bone[static_cast<std::size_t>(b)] != piece) continue;
    if (best < 0 || weights[b] > weights[best]) best = b;
  }
  return best < 0 ? largest(weights) : best;
}

int ArticulatedBody::bone_in_piece(int piece) const {
  return heaviest(m_point_weights.row(m_cut.surfaces.pieces[static_cast<std::size_t>(piece)].begin), piece);
}

bool ArticulatedBody::may_break(std::size_t joint) const {
  if (!is_cut()) return false;
  const BoneJoint& ends = joints()[joint];
  return m_piece_of_bone[static_cast<std::size_t>(ends.a)] !=
         m_piece_of_bone[static_cast<std::size_t>(ends.b)];
}

double ArticulatedBody::joint_area(std::size_t joint) const {
  const BoneJoint& ends = joints()[joint];
  const int a = m_piece_of_bone[static_cast<std::size_t>(ends.a)],
            b = m_piece_of_bone[static_cast<std::size_t>(ends.b)];
  for (const Cut& cut : m_cut.cuts) {
    if (cut.a == std::min(a, b) && cut.b == std::max(a, b)) return cut.area;
  }
  return std::abs(section_at(ends).area());
}

int ArticulatedBody::bone_of_element(std::size_t e) const {
  return heaviest(m_element_weights.row(static_cast<Eigen::Index>(e)),
                  is_cut() ? m_body->pieces().of_tet[e] : 0);
}

void ArticulatedBody::assign() {
  const auto piece = [&](const std::vector<int>& of, std::size_t i) { return is_cut() ? of[i] : 0; };
  m_bone_of_vertex.clear();
  for (Eigen::Index v = 0; v < m_vertex_weights.rows(); ++v)
    m_bone_of_vertex.push_back(
        heaviest(m_vertex_weights.row(v), piece(m_piece_of_vertex, static_cast<std::size_t>(v))));
  m_bone_of_triangle.clear();
  for (Eigen::Index t = 0; t < m_surface.triangles.rows(); ++t) {
    Eigen::RowVectorXd sum = Eigen::RowVectorXd::Zero(m_vertex_weights.cols());
    for (int k = 0; k < 3; ++k) sum += m_vertex_weights.row(m_surface.triangles(t, k));
    m_bone_of_triangle.push_back(heaviest(sum, piece(m_piece_of_triangle, static_cast<std::size_t>(t))));
  }
  std::vector<std::vector<MassProperties>> parts(bones().size());
  for (std::size_t e = 0; e < m_elements->size(); ++e)
    parts[static_cast<std::size_t>(bone_of_element(e))].push_back((*m_elements)[e]);
  m_bone_mass.assign(bones().size(), {});
  for (std::size_t b = 0; b < parts.size(); ++b) {
    if (!parts[b].empty()) m_bone_mass[b] = merged(parts[b]);
  }
}

Vec3 ArticulatedBody::normal_at(const BoneJoint& joint) const {
  if (!joint.normal.isZero(0)) return joint.normal;
  const Bone &a = bones()[static_cast<std::size_t>(joint.a)], &b = bones()[static_cast<std::size_t>(joint.b)];
  Vec3 da = (a.b - a.a).normalized(), db = (b.b - b.a).normalized();
  if (da.dot(db) < 0) db = -db;
  return (da + db).normalized();
}

// Of the two bones' own triangles: other limbs that the plane meets do not count. Of the undented surface, so that a
// strength does not depend on whether the bone was split before or after a dent.
CrossSection ArticulatedBody::section_at(const BoneJoint& joint) const {
  const Bone &a = bones()[static_cast<std::size_t>(joint.a)], &b = bones()[static_cast<std::size_t>(joint.b)];
  const Vec3 normal = normal_at(joint);
  TriMesh near{m_body->initial_surface(), Triangles(m_surface.triangles.rows(), 3)};
  Eigen::Index count = 0;
  for (Eigen::Index t = 0; t < m_surface.triangles.rows(); ++t) {
    const int bone = bone_of_triangle(t);
    if (bone == joint.a || bone == joint.b) near.triangles.row(count++) = m_surface.triangles.row(t);
  }
  near.triangles.conservativeResize(count, 3);
  // A plane through a row of vertices would cut some triangles twice and some not at all.
  const Vec3 point = joint.pivot + 1e-4 * std::min(a.length(), b.length()) * normal;
  return cross_section(near, point, normal);
}

YieldMoments ArticulatedBody::strength_of(const BoneJoint& joint) const {
  YieldMoments result;
  if (m_given_strength) {
    result.moment.setConstant(*m_given_strength);
    return result;
  }
  const CrossSection section = section_at(joint);
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

namespace {

// Weights as far as the bones of one part have them, with sum 1; the part's first bone where they have none.
Eigen::RowVectorXd weights_within(const Eigen::Ref<const Eigen::RowVectorXd>& weights,
                                  const std::vector<int>& part, int which) {
  Eigen::RowVectorXd result = weights;
  Eigen::Index first = -1;
  for (Eigen::Index b = 0; b < result.size(); ++b) {
    if (part[static_cast<std::size_t>(b)] != which)
      result[b] = 0;
    else if (first < 0)
      first = b;
  }
  const double sum = result.sum();
  if (sum > 1e-9) return result / sum;
  return Eigen::RowVectorXd::Unit(result.size(), first);
}

bool is_whole(const std::vector<int>& part) {
  return std::all_of(part.begin(), part.end(), [&](int p) { return p == part.front(); });
}

template <class Weights>
Vec3 blended(const Weights& weights, const BonePoses& poses, const Vec3& u) {
  Vec3 sum = Vec3::Zero();
  for (std::size_t b = 0; b < poses.size(); ++b) {
    const double w = weights[static_cast<Eigen::Index>(b)];
    if (w != 0) sum += w * (poses[b] * u);
  }
  return sum;
}

}  // namespace

Points ArticulatedBody::skinned(const BonePoses& poses, const std::vector<int>& part) const {
  Points result(m_surface.vertices.rows(), 3);
  const bool whole = is_whole(part);
  for (Eigen::Index v = 0; v < result.rows(); ++v) {
    const Vec3 u = m_surface.vertices.row(v);
    const int which = whole ? 0 : part[static_cast<std::size_t>(bone_of_vertex(v))];
    result.row(v) = (whole ? blended(m_vertex_weights.row(v), poses, u)
                           : blended(weights_within(m_vertex_weights.row(v), part, which), poses, u))
                        .transpose();
  }
  return result;
}

Points ArticulatedBody::skinned_by(const BonePoses& poses, const std::vector<int>& part, int which) const {
  if (is_whole(part)) return skinned(poses, part);
  Points result(m_surface.vertices.rows(), 3);
  for (Eigen::Index v = 0; v < result.rows(); ++v)
    result.row(v) =
        blended(weights_within(m_vertex_weights.row(v), part, which), poses, Vec3(m_surface.vertices.row(v)))
            .transpose();
  return result;
}

Points ArticulatedBody::skinned_pieces(const BonePoses& poses, const std::vector<int>& part) const {
  const rigid::PieceSurfaces& surfaces = m_cut.surfaces;
  Points result(surfaces.points.rows(), 3);
  for (std::size_t i = 0; i < surfaces.sources.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    const rigid::PointSource& source = surfaces.sources[i];
    const Points& from = source.vertex >= 0 ? m_surface.vertices : m_body->initial_volume();
    const Vec3 u = from.row(source.vertex >= 0 ? source.vertex : source.node);
    const int bone = heaviest(m_point_weights.row(row), m_piece_of_point[i]);
    result.row(row) =
        blended(weights_within(m_point_weights.row(row), part, part[static_cast<std::size_t>(bone)]), poses,
                u)
            .transpose();
  }
  return result;
}

void ArticulatedBody::displace(const BonePoses& poses, const std::vector<int>& part,
                               const Points& displacements) {
  for (Eigen::Index v = 0; v < displacements.rows(); ++v) {
    if (displacements.row(v).isZero(0)) continue;
    const Eigen::RowVectorXd weights =
        weights_within(m_vertex_weights.row(v), part, part[static_cast<std::size_t>(bone_of_vertex(v))]);
    Mat3 blended = Mat3::Zero();
    for (std::size_t b = 0; b < poses.size(); ++b)
      blended += weights[static_cast<Eigen::Index>(b)] * poses[b].linear();
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

std::vector<WeakPlace> ArticulatedBody::weak_places(int bone) const {
  constexpr int k_places = 64;
  const Bone& segment = bones()[static_cast<std::size_t>(bone)];
  const Vec3 axis = (segment.b - segment.a).normalized();
  std::vector<WeakPlace> places;
  for (int k = 0; k < k_places; ++k) {
    const double t = (k + 0.5) / k_places;
    const std::optional<BoneSplit> found = split_at({bone, t, 0});
    if (!found) continue;
    std::vector<MassProperties> beyond;
    for (std::size_t e = 0; e < m_elements->size(); ++e) {
      if (bone_of_element(e) == bone && segment.parameter((*m_elements)[e].centre) > t)
        beyond.push_back((*m_elements)[e]);
    }
    if (beyond.empty()) continue;
    const Vec3 pivot = segment.at(t);
    places.push_back({*found, pivot, merged(beyond), strength_of({bone, bone, pivot, axis})});
  }
  return places;
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
  for (MatX* weights : {&m_vertex_weights, &m_element_weights, &m_point_weights})
    weights->conservativeResize(Eigen::NoChange, far + 1);
  for (Eigen::Index i = 0; i < m_point_weights.rows(); ++i)
    divide(m_point_weights, i, m_cut.surfaces.points.row(i));
  if (is_cut()) m_piece_of_bone.push_back(m_piece_of_bone[static_cast<std::size_t>(split.bone)]);
  const Points& rest = m_body->initial_surface();
  for (Eigen::Index v = 0; v < rest.rows(); ++v) divide(m_vertex_weights, v, rest.row(v));
  for (std::size_t e = 0; e < m_elements->size(); ++e)
    divide(m_element_weights, static_cast<Eigen::Index>(e), (*m_elements)[e].centre);
  m_skeleton.bones[static_cast<std::size_t>(split.bone)].b = pivot;
  m_skeleton.bones.push_back({pivot, whole.b});
  for (BoneJoint& joint : m_skeleton.joints) {
    for (int* end : {&joint.a, &joint.b}) {
      if (*end == split.bone && whole.parameter(joint.pivot) > split.at) *end = far;
    }
  }
  m_skeleton.joints.push_back({split.bone, far, pivot, Vec3::Zero()});
  m_splits.push_back(split);
  assign();
  m_strength.push_back(strength_of(m_skeleton.joints.back()));
}

}  // namespace exemplar::bend
