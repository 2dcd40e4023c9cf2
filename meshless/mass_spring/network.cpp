#include "meshless/mass_spring/network.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "core/base/errors.h"

namespace exemplar::mass_spring {

namespace {

using Pair = std::array<int, 2>;

Pair ordered(int a, int b) {
  return a < b ? Pair{a, b} : Pair{b, a};
}

double length(const Points& x, const Pair& pair) {
  return (x.row(pair[0]) - x.row(pair[1])).norm();
}

struct Accumulated {
  std::map<Pair, double> structural;  // Σ E V per edge [J]
  std::map<Pair, double> cross;       // likewise for springs across faces or edges
};

// Springs in a fixed order: structural ones, then cross ones that are not already structural.
void add_springs(const Accumulated& sums, const NetworkOptions& options, SpringKind cross_kind, double volume,
                 Network& network) {
  std::vector<Pair> pairs;
  std::vector<double> energies;
  const double share = sums.cross.empty() ? 0.0 : options.cross_share;
  for (const auto& [pair, sum] : sums.structural) {
    pairs.push_back(pair);
    energies.push_back((1.0 - share) * sum);
    network.kinds.push_back(SpringKind::structural);
  }
  // Σ k l² of the cross springs is the share of what all springs have together.
  double structural_total = 0.0, cross_total = 0.0;
  for (const auto& [pair, sum] : sums.structural) structural_total += sum;
  for (const auto& [pair, sum] : sums.cross)
    if (!sums.structural.count(pair)) cross_total += sum;
  for (const auto& [pair, sum] : sums.cross) {
    if (share <= 0.0 || sums.structural.count(pair)) continue;
    pairs.push_back(pair);
    energies.push_back(share * structural_total / cross_total * sum);
    network.kinds.push_back(cross_kind);
  }
  const auto count = static_cast<Eigen::Index>(pairs.size());
  network.springs.resize(count, 2);
  network.rest_lengths.resize(count);
  network.stiffness.resize(count);
  const double uniform =
      options.spring_constant > 0.0 ? options.spring_constant : 0.1 * options.young * std::cbrt(volume);
  for (Eigen::Index s = 0; s < count; ++s) {
    const double l = length(network.rest_positions, pairs[s]);
    if (!(l > 0.0)) throw InputError("a spring has no length: two connected vertices are at the same place");
    network.springs.row(s) << pairs[s][0], pairs[s][1];
    network.rest_lengths(s) = l;
    network.stiffness(s) = options.rule == StiffnessRule::uniform ? uniform : energies[s] / (l * l);
  }
}

void require_masses(const Network& network) {
  if (network.masses.size() == 0 || !(network.masses.minCoeff() > 0.0))
    throw InputError("a vertex of the spring network has no mass: it belongs to no element");
}

}  // namespace

Network make_tet_network(const TetMesh& mesh, const VecX& fill, const NetworkOptions& options) {
  Network network;
  network.rest_positions = mesh.vertices;
  network.masses = VecX::Zero(mesh.vertices.rows());
  Accumulated sums;
  std::map<std::array<int, 3>, std::array<int, 2>> faces;  // face → first tet's opposite vertex and tet
  double volume = 0.0;
  std::vector<double> energies(static_cast<std::size_t>(mesh.tets.rows()));
  for (Eigen::Index t = 0; t < mesh.tets.rows(); ++t) {
    const Vec3 a = mesh.vertices.row(mesh.tets(t, 0));
    Mat3 edges;
    for (int i = 0; i < 3; ++i) edges.col(i) = mesh.vertices.row(mesh.tets(t, i + 1)).transpose() - a;
    const double filled = (fill.size() > 0 ? fill(t) : 1.0) * std::abs(edges.determinant()) / 6.0;
    volume += filled;
    energies[static_cast<std::size_t>(t)] = options.young * filled;
    for (int i = 0; i < 4; ++i) {
      network.masses(mesh.tets(t, i)) += 0.25 * options.density * filled;
      for (int j = 0; j < i; ++j)
        sums.structural[ordered(mesh.tets(t, i), mesh.tets(t, j))] += options.young * filled;
      std::array<int, 3> face{mesh.tets(t, (i + 1) % 4), mesh.tets(t, (i + 2) % 4),
                              mesh.tets(t, (i + 3) % 4)};
      std::sort(face.begin(), face.end());
      const auto [other, is_new] =
          faces.try_emplace(face, std::array<int, 2>{mesh.tets(t, i), static_cast<int>(t)});
      if (!is_new && options.cross_share > 0.0)
        sums.cross[ordered(mesh.tets(t, i), other->second[0])] +=
            options.young * filled + energies[static_cast<std::size_t>(other->second[1])];
    }
  }
  require_masses(network);
  add_springs(sums, options, SpringKind::shear, volume, network);
  network.guard = guard_tets(mesh, energies);
  std::map<Pair, int> spring_of;
  for (Eigen::Index s = 0; s < network.springs.rows(); ++s)
    spring_of[ordered(network.springs(s, 0), network.springs(s, 1))] = static_cast<int>(s);
  for (Eigen::Index t = 0; t < mesh.tets.rows(); ++t) {
    std::array<int, 6> edges{};
    int next = 0;
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < i; ++j) edges[next++] = spring_of.at(ordered(mesh.tets(t, i), mesh.tets(t, j)));
    network.tet_springs.push_back(edges);
  }
  return network;
}

Network make_sheet_network(const TriMesh& sheet, const NetworkOptions& options) {
  Network network;
  network.rest_positions = sheet.vertices;
  network.masses = VecX::Zero(sheet.vertices.rows());
  Accumulated sums;
  std::map<Pair, std::pair<int, double>> sides;  // edge → first triangle's opposite vertex and energy
  double volume = 0.0;
  for (Eigen::Index t = 0; t < sheet.triangles.rows(); ++t) {
    const Vec3 a = sheet.vertices.row(sheet.triangles(t, 0)), b = sheet.vertices.row(sheet.triangles(t, 1)),
               c = sheet.vertices.row(sheet.triangles(t, 2));
    const double filled = 0.5 * (b - a).cross(c - a).norm() * options.thickness,
                 energy = options.young * filled;
    volume += filled;
    for (int i = 0; i < 3; ++i) {
      const Pair edge = ordered(sheet.triangles(t, (i + 1) % 3), sheet.triangles(t, (i + 2) % 3));
      network.masses(sheet.triangles(t, i)) += options.density * filled / 3.0;
      sums.structural[edge] += energy;
      const auto [other, is_new] = sides.try_emplace(edge, std::make_pair(sheet.triangles(t, i), energy));
      if (!is_new && options.cross_share > 0.0)
        sums.cross[ordered(sheet.triangles(t, i), other->second.first)] += energy + other->second.second;
    }
  }
  require_masses(network);
  add_springs(sums, options, SpringKind::bend, volume, network);
  return network;
}

double critical_step(const Network& network) {
  VecX sums = VecX::Zero(network.masses.size());
  for (Eigen::Index s = 0; s < network.springs.rows(); ++s)
    for (int end = 0; end < 2; ++end) sums(network.springs(s, end)) += 2.0 * network.stiffness(s);
  // The guard acts rarely and alone where a tet is nearly flat: not on top of the springs at their stiffest.
  VecX guarded = VecX::Zero(sums.size());
  add_guard_rows(network.guard, network.rest_positions, guarded);
  sums = sums.cwiseMax(guarded);
  const double omega_squared = sums.cwiseQuotient(network.masses).maxCoeff();
  return omega_squared > 0.0 ? 2.0 / std::sqrt(omega_squared) : std::numeric_limits<double>::infinity();
}

}  // namespace exemplar::mass_spring
