#include "rigidplastic/lbs/deformable.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/math/simplex_qp.h"

namespace exemplar::lbs {

namespace {

constexpr double k_arrived = 1e-3;     // of a weight: E takes E*'s value
constexpr double k_negligible = 1e-6;  // of the accumulator of the paper
constexpr double k_noticeable = 1e-3;  // of the body's diagonal: smaller moves wait

std::span<const double> row_of(const ExampleWeights& weights, Eigen::Index row) {
  return {weights.data() + row * weights.cols(), static_cast<std::size_t>(weights.cols())};
}

void clamp_and_rescale(ExampleWeights& weights, Eigen::Index row) {
  weights.row(row) = weights.row(row).cwiseMax(0);
  weights.row(row) /= weights.row(row).sum();
}

// Rows whose first entry takes what the others leave.
void set_row(ExampleWeights& weights, Eigen::Index row, const VecX& examples) {
  weights.row(row).tail(examples.size()) = examples.transpose();
  weights(row, 0) = 1 - examples.sum();
}

}  // namespace

Deformable::Deformable(Skin skin, Edges edges, const Parameters& parameters, int start)
    : m_skin(std::move(skin)),
      m_edges(std::move(edges)),
      m_graph(m_skin.rest(), m_edges),
      m_parameters(parameters) {
  const Eigen::Index count = m_skin.points();
  m_state.weights = ExampleWeights::Zero(count, m_skin.examples());
  m_state.weights.col(start).setOnes();
  m_state.target =
      parameters.paper ? ExampleWeights(ExampleWeights::Zero(count, m_skin.examples())) : m_state.weights;
  m_change = ExampleWeights::Zero(count, m_skin.examples());
  m_state.points = start == 0 ? m_skin.rest() : m_skin.positions(m_state.weights);
  m_is_changed.assign(static_cast<std::size_t>(count), 0);
  m_is_active.assign(static_cast<std::size_t>(count), 0);
  const Vec3 extent = m_state.points.colwise().maxCoeff() - m_state.points.colwise().minCoeff();
  m_noticeable = k_noticeable * extent.norm();
}

int Deformable::nearest_vertex(const Vec3& point, int begin, int end) const {
  Eigen::Index nearest = 0;
  (m_state.points.middleRows(begin, end - begin).rowwise() - point.transpose())
      .rowwise()
      .squaredNorm()
      .minCoeff(&nearest);
  return begin + static_cast<int>(nearest);
}

void Deformable::hit(int vertex, const Vec3& impulse, double mass, double dt) {
  const double time = m_parameters.paper ? dt : m_parameters.reference_time;
  const Vec3 displacement = asked_displacement(impulse, m_parameters.beta, mass, time);
  if (displacement.isZero()) return;
  const ExampleWeights& at = m_parameters.paper ? m_state.weights : m_state.target;
  const Eigen::Matrix3Xd jacobian = m_skin.jacobian(vertex, row_of(at, vertex));
  const int skipped = m_parameters.paper ? 0 : 1;
  const VecX change =
      weight_change(m_parameters.projection, m_parameters.paper ? jacobian : without_rest(jacobian),
                    at.row(vertex).tail(at.cols() - skipped).transpose(), displacement, m_parameters.alpha);
  if (change.isZero(0)) return;
  for (const EdgeGraph::Reached& reached : m_graph.within(vertex, m_parameters.gamma)) {
    const double share = falloff(reached.distance / m_parameters.gamma);
    m_change.row(reached.vertex).tail(change.size()) += share * change.transpose();
    if (m_is_changed[static_cast<std::size_t>(reached.vertex)]) continue;
    m_is_changed[static_cast<std::size_t>(reached.vertex)] = 1;
    m_changed.push_back(reached.vertex);
  }
}

void Deformable::activate(int row) {
  if (m_is_active[static_cast<std::size_t>(row)]) return;
  m_is_active[static_cast<std::size_t>(row)] = 1;
  m_state.active.push_back(row);
}

void Deformable::add_to_target(const std::vector<int>& rows) {
  for (const int row : rows) {
    if (m_parameters.paper) {
      m_state.target.row(row) += m_change.row(row);
    } else {
      const Eigen::Index examples = m_state.target.cols() - 1;
      set_row(m_state.target, row,
              clamp_to_simplex((m_state.target.row(row) + m_change.row(row)).tail(examples)));
    }
    m_change.row(row).setZero();
    m_is_changed[static_cast<std::size_t>(row)] = 0;
    activate(row);
  }
}

void Deformable::fade(double dt) {
  const double kept = std::pow(m_parameters.lambda, dt / m_parameters.reference_time);
  for (const int row : m_state.active) {
    m_state.weights.row(row) =
        m_state.target.row(row) + kept * (m_state.weights.row(row) - m_state.target.row(row));
    if ((m_state.target.row(row) - m_state.weights.row(row)).cwiseAbs().maxCoeff() < k_arrived)
      m_state.weights.row(row) = m_state.target.row(row);
  }
}

void Deformable::fade_as_in_the_paper() {
  for (const int row : m_state.active) {
    m_state.weights.row(row) += (1 - m_parameters.lambda) * m_state.target.row(row);
    m_state.target.row(row) *= m_parameters.lambda;
    clamp_and_rescale(m_state.weights, row);
    if (m_state.target.row(row).cwiseAbs().maxCoeff() < k_negligible) m_state.target.row(row).setZero();
  }
}

bool Deformable::has_arrived(int row) const {
  return m_parameters.paper ? m_state.target.row(row).isZero(0)
                            : m_state.weights.row(row) == m_state.target.row(row);
}

// A new shape costs a refit of the collision shape: it waits until some point has moved noticeably or all have
// arrived. Rows that have arrived then leave the list.
bool Deformable::skin_again() {
  Points now(static_cast<Eigen::Index>(m_state.active.size()), 3);
  bool noticeable = false, all_arrived = true;
  for (std::size_t k = 0; k < m_state.active.size(); ++k) {
    const int row = m_state.active[k];
    const auto at = static_cast<Eigen::Index>(k);
    now.row(at) = m_skin.position(row, row_of(m_state.weights, row)).transpose();
    noticeable = noticeable || (now.row(at) - m_state.points.row(row)).norm() > m_noticeable;
    all_arrived = all_arrived && has_arrived(row);
  }
  if (!noticeable && !all_arrived) return false;
  bool moved = false;
  std::vector<int> still_active;
  for (std::size_t k = 0; k < m_state.active.size(); ++k) {
    const int row = m_state.active[k];
    const auto at = static_cast<Eigen::Index>(k);
    moved = moved || now.row(at) != m_state.points.row(row);
    m_state.points.row(row) = now.row(at);
    if (has_arrived(row)) {
      m_is_active[static_cast<std::size_t>(row)] = 0;
    } else {
      still_active.push_back(row);
    }
  }
  m_state.active = std::move(still_active);
  return moved;
}

bool Deformable::settle(double dt) {
  if (!m_changed.empty()) {
    std::sort(m_changed.begin(), m_changed.end());
    add_to_target(m_changed);
    m_changed.clear();
    std::sort(m_state.active.begin(), m_state.active.end());
  }
  if (m_state.active.empty()) return false;
  if (m_parameters.paper) {
    fade_as_in_the_paper();
  } else {
    fade(dt);
  }
  return skin_again();
}

void Deformable::cut(const Edges& remaining) {
  m_edges = remaining;
  m_graph = EdgeGraph(m_skin.rest(), m_edges);
}

double Deformable::pending() const {
  double sum = 0;
  for (const int row : m_state.active) {
    sum += m_parameters.paper ? m_state.target.row(row).squaredNorm()
                              : (m_state.target.row(row) - m_state.weights.row(row)).squaredNorm();
  }
  return std::sqrt(sum);
}

double Deformable::largest_weight() const {
  return m_state.weights.rightCols(m_state.weights.cols() - 1).maxCoeff();
}

double Deformable::mean_weight(int example) const {
  return m_state.weights.col(example).mean();
}

void Deformable::restore(DeformableState state) {
  m_state = std::move(state);
  std::fill(m_is_active.begin(), m_is_active.end(), 0);
  for (const int row : m_state.active) m_is_active.at(static_cast<std::size_t>(row)) = 1;
}

}  // namespace exemplar::lbs
