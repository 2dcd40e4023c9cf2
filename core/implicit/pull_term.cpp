#include "core/implicit/pull_term.h"

#include <algorithm>
#include <map>

namespace exemplar {

Vec3 PulledNodes::place(const Points& x) const {
  Vec3 sum = Vec3::Zero();
  for (std::size_t k = 0; k < nodes.size(); ++k) sum += shares[k] * x.row(nodes[k]).transpose();
  return sum;
}

PulledNodes pulled_nodes(const ActivePull& pull, const PointMap& surface, int first_node) {
  std::map<int, double> shares;
  for (int corner = 0; corner < 3; ++corner) {
    const int vertex = pull.point.vertices[to_size(corner)];
    for (int k = surface.begin(vertex); k < surface.end(vertex); ++k)
      shares[first_node + surface.nodes[to_size(k)]] +=
          pull.point.weights[corner] * surface.weights[to_size(k)];
  }
  PulledNodes pulled;
  pulled.spring = pull.spring;
  for (const auto& [node, share] : shares) {
    if (share == 0) continue;
    pulled.nodes.push_back(node);
    pulled.shares.push_back(share);
  }
  return pulled;
}

double pull_work(std::span<const PulledNodes> pulls, const Points& from, const Points& to) {
  double work = 0;
  for (const PulledNodes& pull : pulls)
    work += pull.spring.energy(pull.place(from)) - pull.spring.energy(pull.place(to));
  return work;
}

double PullTerm::value(const StepPoint& at) {
  double sum = 0;
  for (const PulledNodes& pull : m_pulls) sum += pull.spring.energy(pull.place(at.x));
  return sum;
}

void PullTerm::add_gradient(const StepPoint& at, StepGradient& g) {
  m_largest = 0;
  for (const PulledNodes& pull : m_pulls) {
    const Vec3 gradient = pull.spring.gradient(pull.place(at.x));
    for (std::size_t k = 0; k < pull.nodes.size(); ++k)
      g.nodes.row(pull.nodes[k]) += pull.shares[k] * gradient.transpose();
    m_largest = std::max(m_largest, gradient.norm());
  }
}

void PullTerm::add_hessian(const StepPoint& at, bool, BorderedHessian& h) {
  for (const PulledNodes& pull : m_pulls) {
    const Mat3 hessian = pull.spring.hessian(pull.place(at.x));
    for (std::size_t k = 0; k < pull.nodes.size(); ++k) {
      for (std::size_t l = 0; l <= k; ++l) {
        const int row = m_unknowns.column(pull.nodes[k]), column = m_unknowns.column(pull.nodes[l]);
        if (row < 0 || column < 0) continue;
        h.a.add(h.a.pattern().slot(row, column), pull.shares[k] * pull.shares[l] * hessian);
      }
    }
  }
}

}  // namespace exemplar
