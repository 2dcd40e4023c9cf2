#include "shells/plasticity.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <bit>

#include "core/base/index.h"
#include "core/base/parallel.h"
#include "core/math/simplex_qp.h"

namespace exemplar::shells {

namespace {

using Shapes = Eigen::Matrix<double, 6, Eigen::Dynamic>;

// What of a symmetric tensor lies beyond ±limit in its principal values; `any` is set when that is not zero.
Mat2 beyond(const Mat2& tensor, double limit, bool& any) {
  Eigen::SelfAdjointEigenSolver<Mat2> eigen;
  eigen.computeDirect(tensor);
  Vec2 excess;
  for (int i = 0; i < 2; ++i) {
    const double v = eigen.eigenvalues()[i];
    excess[i] = v - std::clamp(v, -limit, limit);
    any = any || excess[i] != 0;
  }
  return eigen.eigenvectors() * excess.asDiagonal() * eigen.eigenvectors().transpose();
}

double beyond(double value, double limit) {
  return value - std::clamp(value, -limit, limit);
}

// The displacements from a triangle's undeformed state to its plastic examples.
MatX ways_to_examples(const PlasticSheet<PhysicalTriangle>& plastic, std::size_t t,
                      const PhysicalTriangle::Measures& undeformed) {
  std::vector<std::size_t> here;
  for (std::size_t i = 0; i < plastic.poses.size(); ++i) {
    if (plastic.takes_part[i][t]) here.push_back(i);
  }
  MatX directions(6, to_row(here.size()));
  for (std::size_t k = 0; k < here.size(); ++k)
    directions.col(to_row(k)) = plastic.poses[here[k]].col(to_row(t)) - undeformed;
  return directions;
}

PhysicalTriangle::Measures project_on_examples(const PlasticSheet<PhysicalTriangle>& plastic, std::size_t t,
                                               const PhysicalTriangle& triangle,
                                               const PhysicalTriangle::Measures& undeformed,
                                               const PhysicalTriangle::Measures& rest) {
  const MatX directions = ways_to_examples(plastic, t, undeformed);
  PhysicalTriangle::Measures projected;
  for (const int part : {0, 3}) {  // membrane, bending
    const MatX ways = directions.middleRows<3>(part);
    const Mat3 root = Mat3(Mat3(triangle.stiffness.block<3, 3>(part, part)).llt().matrixU());
    const VecX w = project_on_simplex_hull(root * ways, root * (rest - undeformed).segment<3>(part));
    projected.segment<3>(part) = undeformed.segment<3>(part) + ways * w;
  }
  return projected;
}

}  // namespace

FlowCount flow(const PlasticSheet<PhysicalTriangle>& plastic, const Sheet& sheet,
               const std::vector<PhysicalTriangle>& triangles, const Shapes& q,
               const Rests<PhysicalTriangle>& undeformed, Rests<PhysicalTriangle>& rest) {
  std::vector<char> flowed(triangles.size(), 0);
  parallel_for(triangles.size(), [&](std::size_t t) {
    const PhysicalTriangle::Measures d = triangles[t].measure(q.col(to_row(t))) - rest.col(to_row(t));
    bool any = false;
    const Mat2 strain = beyond(0.5 * sheet.rest(t).stretch(d.head<3>()), plastic.yield_strain, any);
    const Mat2 curvature = beyond(sheet.rest(t).curvature(d.tail<3>()), plastic.yield_curvature, any);
    if (!any) return;
    PhysicalTriangle::Measures now = rest.col(to_row(t));
    now.head<3>() += sheet.rest(t).squared_lengths(2 * strain);
    now.tail<3>() += sheet.rest(t).angles(curvature);
    if (!plastic.poses.empty())
      now = project_on_examples(plastic, t, triangles[t], undeformed.col(to_row(t)), now);
    flowed[t] = (now - rest.col(to_row(t))).norm() > 0;
    rest.col(to_row(t)) = now;
  });
  return {static_cast<int>(std::count(flowed.begin(), flowed.end(), 1)), 0};
}

namespace {

// Distance of `target` to Σ w_i (points_i − base), w cut to what is surely in the simplex.
double distance_to_part(const MatX& edges, const Vec3& target, VecX w) {
  w = w.cwiseMax(0);
  if (w.sum() > 1) w /= w.sum();
  return (edges * w - target).norm();
}

// Of `target` to the hull of 0 and the columns. The quick weights come from products of the columns and leave
// an error of 1e-7 where those are nearly dependent; then all simplices of the hull are tried, as the nearest
// point is in one of them.
double distance_to_hull(const MatX& columns, const Vec3& target) {
  if (columns.cols() == 0) return target.norm();
  double best = distance_to_part(columns, target, project_on_simplex_hull(columns, target));
  const Eigen::Index points = columns.cols() + 1;
  if (best < 1e-11 || points > 16) return best;
  const auto point = [&](int i) { return i == 0 ? Vec3::Zero().eval() : Vec3(columns.col(i - 1)); };
  for (unsigned chosen = 1; chosen < (1U << points); ++chosen) {
    const int count = std::popcount(chosen);
    if (count > 4) continue;
    const int base = std::countr_zero(chosen);
    MatX edges(3, count - 1);
    for (int i = base + 1, k = 0; i < points; ++i) {
      if ((chosen >> i & 1U) != 0) edges.col(k++) = point(i) - point(base);
    }
    const Vec3 rest = target - point(base);
    const VecX w = count == 1 ? VecX(0) : VecX(edges.colPivHouseholderQr().solve(rest));
    best = std::min(best, distance_to_part(edges, rest, w));
  }
  return best;
}

}  // namespace

double outside_examples(const PlasticSheet<PhysicalTriangle>& plastic, const Sheet& sheet,
                        const Rests<PhysicalTriangle>& undeformed, const Rests<PhysicalTriangle>& rest) {
  if (plastic.poses.empty()) return 0;
  double largest = 0;
  for (std::size_t t = 0; t < sheet.triangle_count(); ++t) {
    const PhysicalTriangle::Measures first = undeformed.col(to_row(t));
    PhysicalTriangle::Measures unit;
    unit << sheet.rest(t).length.cwiseAbs2(), Vec3::Ones();
    const MatX ways = unit.cwiseInverse().asDiagonal() * ways_to_examples(plastic, t, first);
    const PhysicalTriangle::Measures moved = (rest.col(to_row(t)) - first).cwiseQuotient(unit);
    for (const int part : {0, 3})
      largest = std::max(largest, distance_to_hull(ways.middleRows<3>(part), moved.segment<3>(part)));
  }
  return largest;
}

namespace {

// The paper's model: rest values belong to edges, and the two triangles of an edge hold the same ones.
class PaperFlow {
 public:
  PaperFlow(const PlasticSheet<PaperTriangle>& plastic, const Sheet& sheet,
            const Rests<PaperTriangle>& undeformed)
      : m_plastic(plastic), m_sheet(sheet), m_undeformed(undeformed) {}

  void update(std::size_t t, const PaperTriangle::Measures& p, Rests<PaperTriangle>& rest) const {
    for (int k = 0; k < 3; ++k) {
      const SheetEdge& edge = m_sheet.edges()[static_cast<std::size_t>(m_sheet.sides(t)[to_size(k)].edge)];
      rest(k, to_row(t)) = confined(
          t, k, rest(k, to_row(t)) + beyond(p[k] - rest(k, to_row(t)), m_plastic.yield_strain * edge.length));
      const int a = 4 + k;
      const double limit = m_plastic.yield_curvature * hinge_area(edge) / edge.length;
      if (edge.has_angle())
        rest(a, to_row(t)) = confined(t, a, rest(a, to_row(t)) + beyond(p[a] - rest(a, to_row(t)), limit));
    }
  }

  double beyond_interval(std::size_t t, const Rests<PaperTriangle>& rest) const {
    double largest = 0;
    for (int k = 0; k < 3; ++k) {
      const double unit = m_undeformed(k, to_row(t));
      largest = std::max(largest, std::abs(rest(k, to_row(t)) - confined(t, k, rest(k, to_row(t)))) / unit);
      largest =
          std::max(largest, std::abs(rest(4 + k, to_row(t)) - confined(t, 4 + k, rest(4 + k, to_row(t)))));
    }
    return largest;
  }

  // Goes back to `before` where three rest lengths make no triangle; their edges' other triangles follow.
  int hold_back(const Rests<PaperTriangle>& before, Rests<PaperTriangle>& rest) const {
    int count = 0;
    for (bool again = true; again;) {
      again = false;
      for (std::size_t t = 0; t < m_sheet.triangle_count(); ++t) {
        const Vec3 l = rest.col(to_row(t)).head<3>();
        if (2 * l.maxCoeff() < 0.999 * l.sum()) continue;
        again = true;
        ++count;
        for (std::size_t k = 0; k < 3; ++k) revert(m_sheet.sides(t)[k].edge, before, rest);
      }
    }
    return count;
  }

 private:
  double hinge_area(const SheetEdge& edge) const {
    double area = 0;
    for (const int t : edge.triangles) area += t < 0 ? 0.0 : m_sheet.rest(to_size(t)).area;
    return area;
  }
  // An example counts at an edge when it takes part on either side.
  double confined(std::size_t t, int measure, double value) const {
    if (m_plastic.poses.empty()) return value;
    double low = m_undeformed(measure, to_row(t)), high = low;
    const SheetEdge& edge =
        m_sheet.edges()[static_cast<std::size_t>(m_sheet.sides(t)[to_size(measure % 4)].edge)];
    for (std::size_t i = 0; i < m_plastic.poses.size(); ++i) {
      bool here = false;
      for (const int side : edge.triangles)
        here = here || (side >= 0 && m_plastic.takes_part[i][to_size(side)]);
      if (!here) continue;
      low = std::min(low, m_plastic.poses[i](measure, to_row(t)));
      high = std::max(high, m_plastic.poses[i](measure, to_row(t)));
    }
    return std::clamp(value, low, high);
  }
  void revert(int e, const Rests<PaperTriangle>& before, Rests<PaperTriangle>& rest) const {
    for (const int t : m_sheet.edges()[to_size(e)].triangles) {
      if (t < 0) continue;
      for (int k = 0; k < 3; ++k) {
        if (m_sheet.sides(to_size(t))[to_size(k)].edge == e) rest(k, t) = before(k, t);
      }
    }
  }

  const PlasticSheet<PaperTriangle>& m_plastic;
  const Sheet& m_sheet;
  const Rests<PaperTriangle>& m_undeformed;
};

}  // namespace

FlowCount flow(const PlasticSheet<PaperTriangle>& plastic, const Sheet& sheet,
               const std::vector<PaperTriangle>& triangles, const Shapes& q,
               const Rests<PaperTriangle>& undeformed, Rests<PaperTriangle>& rest) {
  const Rests<PaperTriangle> before = rest;
  const PaperFlow update(plastic, sheet, undeformed);
  for (std::size_t t = 0; t < triangles.size(); ++t)
    update.update(t, triangles[t].measure(q.col(to_row(t))), rest);
  FlowCount count;
  count.held_back = update.hold_back(before, rest);
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    if (rest.col(to_row(t)) == before.col(to_row(t))) continue;
    rest(3, to_row(t)) = PaperTriangle::area(rest.col(to_row(t)).head<3>().cwiseAbs2());
    ++count.flowed;
  }
  return count;
}

double outside_examples(const PlasticSheet<PaperTriangle>& plastic, const Sheet& sheet,
                        const Rests<PaperTriangle>& undeformed, const Rests<PaperTriangle>& rest) {
  const PaperFlow update(plastic, sheet, undeformed);
  double largest = 0;
  for (std::size_t t = 0; t < sheet.triangle_count(); ++t)
    largest = std::max(largest, update.beyond_interval(t, rest));
  return largest;
}

}  // namespace exemplar::shells
