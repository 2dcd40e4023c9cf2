#include "core/elastic/tet_elements.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <string>

#include "core/base/errors.h"
#include "core/base/parallel.h"

namespace exemplar {

TetElements::TetElements(const TetMesh& mesh, int first_node, std::span<const int> selection,
                         const Midsides& midsides)
    : m_quadratic(!midsides.empty()) {
  const std::size_t total = selection.empty() ? static_cast<std::size_t>(mesh.tets.rows()) : selection.size();
  Points centroids(static_cast<Eigen::Index>(total), 3);
  nodes.reserve(to_size(nodes_per_tet()) * total);
  for (std::size_t t = 0; t < total; ++t) {
    const Eigen::Index tet = selection.empty() ? static_cast<Eigen::Index>(t) : selection[t];
    centroids.row(static_cast<Eigen::Index>(t)) =
        mesh.vertices.row(mesh.tets(tet, 0)) +
        edge_matrix(mesh.vertices, &mesh.tets(tet, 0)).rowwise().sum().transpose() / 4;
    for (int a = 0; a < 4; ++a) nodes.push_back(mesh.tets(tet, a));
    for (int a = 4; a < nodes_per_tet(); ++a) nodes.push_back(midsides.of_tet(tet, a - 4));
    for (std::size_t e = t * points_per_tet(); e < (t + 1) * points_per_tet(); ++e) {
      const Mat3 rest = edges(mesh.vertices, e);
      const double det = rest.determinant();
      if (!(det > 0)) throw InputError("tetrahedron " + std::to_string(tet) + " has no positive volume");
      rest_inverse.push_back(rest.inverse());
      volume.push_back(det / (6 * static_cast<double>(points_per_tet())));
    }
  }
  for (int& node : nodes) node += first_node;
  colouring = ElementColouring(nodes, nodes_per_tet(), spatial_order(centroids));
}

void TetElements::connect(const BlockPattern& pattern, std::span<const int> column_of_node) {
  const int n = nodes_per_tet();
  const std::size_t pairs = to_size(n * (n + 1) / 2);
  slots.resize(pairs * tet_count());
  parallel_for(tet_count(), [&](std::size_t t) {
    const int* at = nodes.data() + to_size(n) * t;
    std::size_t k = pairs * t;
    for (int a = 0; a < n; ++a) {
      for (int b = 0; b <= a; ++b, ++k)
        slots[k] = pattern.slot(column_of_node[to_size(at[a])], column_of_node[to_size(at[b])]);
    }
  });
}

namespace {

// ψ times volume of elements 4 i to 4 i + 3, as far as there are so many.
template <class Energy>
void values_of_four(const Energy& psi, const TetElements& elements, const Points& x, std::size_t i,
                    std::span<double> values) {
  const int first = static_cast<int>(4 * i);
  const std::array<int, 4> four{first, first + 1, first + 2, first + 3};
  const std::span<const int> group(four.data(), std::min<std::size_t>(4, values.size() - 4 * i));
  if constexpr (k_works_in_lanes<Energy>) {
    const TetGroup<Lanes> tets = elements.gather<Lanes>(x, group);
    const Lanes value = tets.volume * psi.density(tets.f);
    for (std::size_t k = 0; k < group.size(); ++k) values[4 * i + k] = lane(value, static_cast<int>(k));
  } else {
    for (const int e : group)
      values[to_size(e)] = elements.volume[to_size(e)] * psi.value(elements.deformation(x, to_size(e)));
  }
}

}  // namespace

double elastic_energy(const ElasticEnergy& energy, const TetElements& elements, const Points& x) {
  std::vector<double> values(elements.count());
  std::visit(
      [&](const auto& psi) {
        parallel_for((values.size() + 3) / 4,
                     [&](std::size_t i) { values_of_four(psi, elements, x, i, values); });
      },
      energy);
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

void add_elastic_gradient(const ElasticEnergy& energy, const TetElements& elements, const Points& x,
                          Points& gradient) {
  const auto add = [&](const auto& psi) {
    using Energy = std::decay_t<decltype(psi)>;
    elements.for_each_group<Energy>([&]<class S>(std::span<const int> group) {
      const TetGroup<S> tets = elements.gather<S>(x, group);
      const Eigen::Matrix<S, 3, 4> g = tet_gradient(psi, tets.f, tets.rest_inverse, tets.volume);
      elements.scatter(group, g, gradient);
    });
  };
  std::visit(add, energy);
}

void add_elastic_hessian(const ElasticEnergy& energy, const TetElements& elements, const Points& x,
                         bool project, BlockMatrix& hessian) {
  const auto add = [&](const auto& psi) {
    using Energy = std::decay_t<decltype(psi)>;
    const auto add_group = [&]<class S>(std::span<const int> group) {
      elements.prefetch(group, hessian);
      const TetGroup<S> tets = elements.gather<S>(x, group);
      BlocksOf<S> blocks;
      tet_blocks(psi, tets.f, tets.rest_inverse, tets.volume, project, blocks);
      elements.scatter(group, blocks, hessian);
    };
    elements.for_each_group<Energy>(add_group, project);
  };
  std::visit(add, energy);
}

int count_inverted(const TetElements& elements, const Points& x) {
  std::vector<char> inverted(elements.tet_count(), 0);
  for (std::size_t e = 0; e < elements.count(); ++e) {
    if (!(elements.edges(x, e).determinant() > 0)) inverted[elements.tet_of(e)] = 1;
  }
  return static_cast<int>(std::count(inverted.begin(), inverted.end(), 1));
}

double way_without_inversion(const TetElements& elements, const Points& x0, const Points& x1) {
  std::vector<double> ways(elements.count(), 1);
  parallel_for(elements.count(), [&](std::size_t e) {
    const Mat3 d0 = elements.edges(x0, e), d = elements.edges(x1, e) - d0;
    // det(D₀ + αD) = c₀ + c₁α + c₂α² + c₃α³, and a bound of its slope on [0, 1]: advance as far as that is safe.
    const double c0 = d0.determinant(), c1 = cofactor(d0).cwiseProduct(d).sum(),
                 c2 = cofactor(d).cwiseProduct(d0).sum(), c3 = d.determinant();
    const double slope = std::abs(c1) + 2 * std::abs(c2) + 3 * std::abs(c3);
    double alpha = 0;
    for (int k = 0; k < 50 && alpha < 1; ++k) {
      const double left = c0 + alpha * (c1 + alpha * (c2 + alpha * c3)) - 0.1 * c0;
      if (!(left > 1e-3 * c0)) break;
      alpha = left < slope * (1 - alpha) ? alpha + left / slope : 1;
    }
    ways[e] = alpha;
  });
  return ways.empty() ? 1 : *std::min_element(ways.begin(), ways.end());
}

VecX lumped_mass(const TetElements& elements, double density, Eigen::Index node_count) {
  VecX mass = VecX::Zero(node_count);
  const double corner = elements.quadratic() ? quadratic_tet::k_corner_mass : 0.25;
  for (std::size_t e = 0; e < elements.count(); ++e) {
    for (int a = 0; a < elements.nodes_per_tet(); ++a)
      mass[elements.nodes_of(e)[a]] +=
          (a < 4 ? corner : quadratic_tet::k_midside_mass) * density * elements.volume[e];
  }
  return mass;
}

void add_consistent_mass(const TetElements& elements, double density, BlockMatrix& mass, bool one_point) {
  assert(!elements.quadratic());
  for (std::size_t e = 0; e < elements.count(); ++e) {
    std::size_t k = 10 * e;
    for (int a = 0; a < 4; ++a) {
      for (int b = 0; b <= a; ++b, ++k) {
        const double divisor = one_point ? 16 : a == b ? 10 : 20;
        mass.add(elements.slots[k], density * elements.volume[e] / divisor * Mat3::Identity());
      }
    }
  }
}

}  // namespace exemplar
