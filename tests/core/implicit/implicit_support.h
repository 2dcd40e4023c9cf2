// A small world for tests of the implicit solver's pieces: springs between nodes, a sheet, simple obstacles.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "core/base/index.h"
#include "core/base/random.h"
#include "core/contact/contact_surface.h"
#include "core/implicit/node_term.h"
#include "core/implicit/step_term.h"
#include "core/world/obstacle.h"

namespace exemplar::testing {

// Springs with rest length 1 + w (one weight): ½ k Σ (|x_a − x_b| − 1 − w)², smooth away from |x_a − x_b| =
// 0.
class SpringTerm : public NodeTerm {
 public:
  explicit SpringTerm(std::vector<int> pairs, double stiffness = 3)
      : m_pairs(std::move(pairs)), m_stiffness(stiffness) {}

  int weight_count() const override { return 1; }
  bool weights_on_simplex() const override { return on_simplex; }
  void append_cliques(std::vector<BlockPattern::CliqueList>& lists) const override {
    lists.push_back({m_pairs, 2});
  }
  void connect(const BlockPattern& pattern, std::span<const int> column_of_node) override {
    m_slots.clear();
    m_columns.assign(column_of_node.begin(), column_of_node.end());
    for (std::size_t k = 0; k < m_pairs.size(); k += 2) {
      const int a = m_columns[to_size(m_pairs[k])], b = m_columns[to_size(m_pairs[k + 1])];
      m_slots.push_back({pattern.slot(a, a), pattern.slot(b, a), pattern.slot(b, b)});
    }
  }
  double value(const Points& x, const VecX& w) override {
    double sum = 0;
    for (std::size_t k = 0; k < m_pairs.size(); k += 2) {
      const double stretch = edge(x, k).norm() - 1 - w[0];
      sum += 0.5 * m_stiffness * stretch * stretch;
    }
    return sum;
  }
  void add_gradient(const Points& x, const VecX& w, Points& g, Eigen::Ref<VecX> g_w) override {
    for (std::size_t k = 0; k < m_pairs.size(); k += 2) {
      const Vec3 e = edge(x, k);
      const double stretch = e.norm() - 1 - w[0];
      const Vec3 force = m_stiffness * stretch * e.normalized();
      g.row(m_pairs[k]) -= force.transpose();
      g.row(m_pairs[k + 1]) += force.transpose();
      g_w[0] -= m_stiffness * stretch;
    }
  }
  void add_hessian(const Points& x, const VecX& w, bool project, BlockMatrix& a, Eigen::Ref<MatX> c,
                   Eigen::Ref<MatX> d) override {
    for (std::size_t k = 0; k < m_pairs.size(); k += 2) {
      const Vec3 e = edge(x, k), n = e.normalized();
      double across = 1 - (1 + w[0]) / e.norm();
      if (project) across = std::max(across, 0.0);
      const Mat3 h = m_stiffness * (n * n.transpose() + across * (Mat3::Identity() - n * n.transpose()));
      const auto& slots = m_slots[k / 2];
      a.add(slots[0], h);
      a.add(slots[1], -h);
      a.add(slots[2], h);
      for (std::size_t end = 0; end < 2; ++end) {
        const int column = m_columns[to_size(m_pairs[k + end])];
        if (column >= 0) c.block<3, 1>(3 * column, 0) += (end == 0 ? 1 : -1) * m_stiffness * n;
      }
      d(0, 0) += m_stiffness;
    }
  }

  // What the solver has told.
  void begin_step(const RateBase&) override { told += 'b'; }
  void accepted(const Points& x, const VecX&) override {
    told += 'a';
    last_accepted = x;
  }
  void end_step(const Points& x, const VecX&) override {
    told += 'e';
    ended = x;
  }
  double max_step(const Points&, const Points&) override { return limit; }

  bool on_simplex = false;
  double limit = 1;
  std::string told;
  Points last_accepted, ended;

 private:
  Vec3 edge(const Points& x, std::size_t k) const {
    return (x.row(m_pairs[k + 1]) - x.row(m_pairs[k])).transpose();
  }

  std::vector<int> m_pairs;
  double m_stiffness;
  std::vector<int> m_columns;
  std::vector<std::array<BlockSlot, 3>> m_slots;
};

inline Points random_points(Eigen::Index rows, std::uint64_t seed, double size = 1) {
  Points x(rows, 3);
  for (Eigen::Index i = 0; i < x.size(); ++i)
    x.data()[i] = size * normal_random(seed, static_cast<std::uint64_t>(i));
  return x;
}

inline Obstacle ball(double radius, double mass, const Vec3& position) {
  Obstacle o;
  o.name = "ball";
  o.kind = mass > 0 ? ObstacleKind::dynamic : ObstacleKind::fixed;
  o.shape.kind = ShapeKind::sphere;
  o.shape.radius = radius;
  o.mass = mass;
  o.position = position;
  return o;
}

// One triangle in the plane y = 0 around the origin: nodes 0, 1, 2.
inline ContactSurface triangle() {
  ContactSurface s;
  s.map = PointMap::identity(3);
  s.rest.resize(3, 3);
  s.rest << -1, 0, -1, 1, 0, -1, 0, 0, 1.5;
  s.triangles.resize(1, 3);
  s.triangles << 0, 2, 1;
  return s;
}

}  // namespace exemplar::testing
