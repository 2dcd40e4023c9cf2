#include "core/contact/contact_scatter.h"

#include <gtest/gtest.h>

#include "tests/core/contact/contact_support.h"

namespace exemplar {
namespace {

using namespace exemplar::testing;

TEST(ContactScatter, BorderedSystemHoldsTheSameNumbersAsTheDenseOne) {
  TouchingScene scene(ShapeKind::box);
  const System& s = scene.system;
  const int n = static_cast<int>(scene.surface.rest.rows());
  // Node 0 is held; the others are numbered backwards; obstacle 2 comes first in the border.
  std::vector<int> column(static_cast<std::size_t>(n), -1);
  for (int i = 1; i < n; ++i) column[i] = n - 1 - i;
  const std::vector<int> border{6, -1, 0};
  const ContactUnknowns unknowns{column, border};
  ContactCliques cliques = contact_cliques(scene.surface);
  for (int& node : cliques.nodes) node = node < 0 ? -1 : column[node];
  const BlockPattern pattern(n - 1, cliques.nodes, cliques.size);
  BorderedHessian h;
  h.reset(pattern, 12);
  const auto blocks = scene.contact->blocks(s.x(scene.all), s.q(scene.all), Derivatives::hessian);
  add_hessian(blocks, scene.surface.map, unknowns, h);
  Points g_nodes = Points::Zero(n, 3);
  VecX g_border = VecX::Zero(12), g(3 * (n - 1) + 12);
  add_gradient(blocks, scene.surface.map, unknowns, g_nodes, g_border);
  for (int i = 1; i < n; ++i) g.segment<3>(3 * column[i]) = g_nodes.row(i).transpose();
  g.tail(12) = g_border;

  std::vector<Eigen::Index> where;  // unknown → row of the dense system
  for (int c = 0; c < n - 1; ++c)
    for (int k = 0; k < 3; ++k) where.push_back(3 * (n - 1 - c) + k);
  for (const int o : {2, 0})
    for (int k = 0; k < 6; ++k) where.push_back(3 * n + 6 * o + k);
  const VecX dense_g = s.gradient(scene.all);
  const MatX dense_h = s.hessian(scene.all), a = h.a.to_dense();
  const Eigen::Index f = 3 * (n - 1);
  for (Eigen::Index i = 0; i < f + 12; ++i) {
    EXPECT_NEAR(g[i], dense_g[where[i]], 1e-9);
    for (Eigen::Index j = 0; j < f + 12; ++j) {
      const double value =
          i < f ? (j < f ? a(i, j) : h.c(i, j - f)) : (j < f ? h.c(j, i - f) : h.d(i - f, j - f));
      EXPECT_NEAR(value, dense_h(where[i], where[j]), 1e-9 * dense_h.norm());
    }
  }
}

}  // namespace
}  // namespace exemplar
