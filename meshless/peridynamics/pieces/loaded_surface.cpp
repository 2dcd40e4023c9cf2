#include "meshless/peridynamics/pieces/loaded_surface.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "core/base/index.h"
#include "core/base/parallel.h"

namespace exemplar::peridynamics {

namespace {

// Of the trace, below which a direction counts as one without bonds: blue noise in a plate one particle thick is not quite flat,
// and the smaller the extent, the larger the pairs of forces that would make up a moment.
constexpr double k_least_extent = 0.02;

}  // namespace

CarriedSurface own_surface(const Elements& elements) {
  CarriedSurface out;
  std::vector<std::array<int, 3>> triangles;
  std::vector<Vec3> arms;
  const double one = 1;
  for (const Face& face : elements.faces) {
    if (face.other >= 0) continue;
    const int first = out.points.size();
    for (int k = 0; k < face.count; ++k) {
      out.points.add(std::span(&face.particle, 1), std::span(&one, 1));
      arms.push_back(elements.corner(face, k) - Vec3(elements.particles.positions.row(face.particle)));
      if (k >= 2) triangles.push_back({first, first + k - 1, first + k});
    }
  }
  out.arms.resize(static_cast<Eigen::Index>(arms.size()), 3);
  for (std::size_t i = 0; i < arms.size(); ++i)
    out.arms.row(static_cast<Eigen::Index>(i)) = arms[i].transpose();
  out.triangles.resize(static_cast<Eigen::Index>(triangles.size()), 3);
  for (std::size_t t = 0; t < triangles.size(); ++t)
    out.triangles.row(static_cast<Eigen::Index>(t)) << triangles[t][0], triangles[t][1], triangles[t][2];
  return out;
}

LoadedSurface::LoadedSurface(const Elements& elements) : m_rest(elements.particles.positions) {
  std::vector<int> owner_of(elements.particles.size(), -1);
  std::vector<int> vertex_of(to_size(to_int(elements.vertices.rows())), -1);
  std::vector<Vec3> vertices;
  std::vector<std::pair<int, int>> points;  // vertex, which of the owners around it
  for (const Face& face : elements.faces) {
    if (face.other >= 0) continue;
    int& owner = owner_of[to_size(face.particle)];
    if (owner < 0) {
      owner = to_int(m_owners.size());
      m_owners.emplace_back().particle = face.particle;
    }
    for (int k = 0; k < face.count; ++k) {
      int& vertex = vertex_of[to_size(elements.corners[to_size(face.begin + k)])];
      if (vertex < 0) {
        vertex = to_int(vertices.size());
        vertices.push_back(elements.corner(face, k));
        m_around.emplace_back();
      }
      std::vector<int>& around = m_around[to_size(vertex)];
      auto place = std::find(around.begin(), around.end(), owner);
      if (place == around.end()) place = around.insert(place, owner);
      points.emplace_back(vertex, to_int(to_size(place - around.begin())));
    }
  }
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    for (const int owner : m_around[v]) {
      const Vec3 centre = m_rest.row(m_owners[to_size(owner)].particle);
      m_shares.push_back({owner, to_int(m_shares.size()), 1, vertices[v] - centre});
    }
    m_begin.push_back(to_int(m_shares.size()));
  }
  for (const auto& [vertex, place] : points) m_points.push_back(m_begin[to_size(vertex)] + place);
}

void LoadedSurface::fit(Owner& owner, const BondsOfBody& bonds) const {
  bonds.find(owner.particle, owner.nodes);
  std::sort(owner.nodes.begin(), owner.nodes.end());
  owner.factors.clear();
  Mat3 shape = Mat3::Zero();
  const auto arm_to = [&](int node) { return Vec3(m_rest.row(node) - m_rest.row(owner.particle)); };
  for (const int node : owner.nodes) {
    const Vec3 from = arm_to(node);
    shape += from * from.transpose() / from.squaredNorm();
  }
  const Eigen::SelfAdjointEigenSolver<Mat3> eigen(shape);
  owner.axes = eigen.eigenvectors();
  if (owner.axes.determinant() < 0) owner.axes.col(2) *= -1;
  owner.missing = 0;
  while (owner.missing < 3 && eigen.eigenvalues()[owner.missing] <= k_least_extent * shape.trace())
    ++owner.missing;
  Mat3 inverse = Mat3::Zero();
  for (int k = owner.missing; k < 3; ++k)
    inverse += owner.axes.col(k) * owner.axes.col(k).transpose() / eigen.eigenvalues()[k];
  for (const int node : owner.nodes) {
    const Vec3 from = arm_to(node);
    owner.factors.push_back(inverse * from / from.squaredNorm());
  }
}

// Owners around a vertex that bonds hold together, if only by way of others of them, have one place for it.
void LoadedSurface::join(std::size_t vertex, const BondsOfBody& bonds) {
  const std::span<Share> shares =
      std::span(m_shares).subspan(to_size(m_begin[vertex]), m_around[vertex].size());
  const auto particle = [&](const Share& share) { return m_owners[to_size(share.owner)].particle; };
  for (std::size_t k = 0; k < shares.size(); ++k) {
    shares[k].part = m_begin[vertex] + to_int(k);
    for (std::size_t other = 0; other < k; ++other) {
      if (shares[k].part == shares[other].part || !bonds.has(particle(shares[k]), particle(shares[other])))
        continue;
      const int kept = std::min(shares[k].part, shares[other].part);
      const int gone = std::max(shares[k].part, shares[other].part);
      for (Share& share : shares)
        if (share.part == gone) share.part = kept;
    }
  }
  for (Share& share : shares)
    share.of = to_int(to_size(
        std::count_if(shares.begin(), shares.end(), [&](const Share& s) { return s.part == share.part; })));
}

void LoadedSurface::follow_bonds(const BondsOfBody& bonds) {
  std::vector<char> is_new(m_owners.size(), 0);
  parallel_for(m_owners.size(), [&](std::size_t o) {
    Owner& owner = m_owners[o];
    const int count = bonds.count(owner.particle);
    if (count == owner.bonds) return;
    owner.bonds = count;
    is_new[o] = 1;
    fit(owner, bonds);
  });
  if (std::none_of(is_new.begin(), is_new.end(), [](char c) { return c != 0; })) return;
  parallel_for(m_around.size(), [&](std::size_t v) {
    if (std::any_of(m_around[v].begin(), m_around[v].end(), [&](int o) { return is_new[to_size(o)] != 0; }))
      join(v, bonds);
  });
}

Mat3 LoadedSurface::map_of(const Owner& owner, const Points& particles) {
  Mat3 map = Mat3::Zero();
  const Vec3 centre = particles.row(owner.particle);
  for (std::size_t k = 0; k < owner.nodes.size(); ++k)
    map += (Vec3(particles.row(owner.nodes[k])) - centre) * owner.factors[k].transpose();
  return map;
}

LoadedSurface::Plane LoadedSurface::plane_of(const Owner& owner, const Mat3& map) {
  Plane plane{map * owner.axes.col(1), map * owner.axes.col(2), Vec3::Zero(), 0};
  plane.normal = plane.a.cross(plane.b);
  plane.area = plane.normal.norm();
  if (plane.area > 0) plane.normal /= plane.area;
  return plane;
}

Points LoadedSurface::points(const Points& particles, const std::function<Mat3(int)>& rotation) const {
  std::vector<Mat3> maps(m_owners.size());
  parallel_for(m_owners.size(), [&](std::size_t o) {
    const Owner& owner = m_owners[o];
    Mat3& map = maps[o] = map_of(owner, particles);
    if (owner.missing == 0) return;
    const auto axes = owner.axes.leftCols(owner.missing);
    if (owner.missing == 1)
      map += plane_of(owner, map).normal * axes.transpose();
    else
      map += rotation(owner.particle) * axes * axes.transpose();
  });
  std::vector<Vec3> places(m_shares.size(), Vec3::Zero());  // of a part of a vertex, where its first share is
  parallel_for(m_around.size(), [&](std::size_t v) {
    for (int k = m_begin[v]; k < m_begin[v + 1]; ++k) {
      const Share& share = m_shares[to_size(k)];
      const int i = m_owners[to_size(share.owner)].particle;
      places[to_size(share.part)] +=
          (Vec3(particles.row(i)) + maps[to_size(share.owner)] * share.arm) / share.of;
    }
  });
  Points out(static_cast<Eigen::Index>(m_points.size()), 3);
  for (std::size_t p = 0; p < m_points.size(); ++p)
    out.row(static_cast<Eigen::Index>(p)) = places[to_size(m_shares[to_size(m_points[p])].part)].transpose();
  return out;
}

// With an owner's plane: what its normal, which turns with the bonds, passes on of the forces on arms along it.
void LoadedSurface::add_normal_moment(const Owner& owner, const Points& particles, Mat3& moment) {
  const Plane plane = plane_of(owner, map_of(owner, particles));
  Vec3 across = moment * owner.axes.col(0);
  across -= across.dot(plane.normal) * plane.normal;
  if (plane.area > 0) across /= plane.area;
  moment += plane.b.cross(across) * owner.axes.col(1).transpose() +
            across.cross(plane.a) * owner.axes.col(2).transpose();
}

Points LoadedSurface::spread(const Points& on_points, const Points& particles, bool is_joined) const {
  // Of a part of a vertex, where its first share is; of every share where they are not joined.
  std::vector<Vec3> sums(m_shares.size(), Vec3::Zero());
  for (std::size_t p = 0; p < m_points.size(); ++p) {
    const int own = m_points[p];
    sums[to_size(is_joined ? m_shares[to_size(own)].part : own)] +=
        on_points.row(static_cast<Eigen::Index>(p)).transpose();
  }
  Points out = Points::Zero(particles.rows(), 3);
  std::vector<Mat3> moments(m_owners.size(), Mat3::Zero());  // Σ force armᵀ
  for (std::size_t k = 0; k < m_shares.size(); ++k) {
    const Share& share = m_shares[k];
    const Vec3 force = is_joined ? Vec3(sums[to_size(share.part)] / share.of) : sums[k];
    if (force.isZero(0)) continue;
    out.row(m_owners[to_size(share.owner)].particle) += force.transpose();
    moments[to_size(share.owner)] += force * share.arm.transpose();
  }
  for (std::size_t o = 0; o < m_owners.size(); ++o) {
    const Owner& owner = m_owners[o];
    if (moments[o].isZero(0)) continue;
    if (owner.missing == 1) add_normal_moment(owner, particles, moments[o]);
    Vec3 sum = Vec3::Zero();
    for (std::size_t k = 0; k < owner.nodes.size(); ++k) {
      const Vec3 force = moments[o] * owner.factors[k];
      out.row(owner.nodes[k]) += force.transpose();
      sum += force;
    }
    out.row(owner.particle) -= sum.transpose();
  }
  return out;
}

}  // namespace exemplar::peridynamics
