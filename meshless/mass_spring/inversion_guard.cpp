#include "meshless/mass_spring/inversion_guard.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/parallel.h"

namespace exemplar::mass_spring {

namespace {

constexpr double k_open = 0.2;  // c

struct VolumeRatio {
  double value = 1.0;             // J
  std::array<Vec3, 4> gradients;  // ∂J/∂x of the four corners [1/m]
};

VolumeRatio volume_ratio(const GuardedTets& guard, Eigen::Index t, const Points& x) {
  const Vec3 a = x.row(guard.tets(t, 0)), b = Vec3(x.row(guard.tets(t, 1))) - a,
             c = Vec3(x.row(guard.tets(t, 2))) - a, d = Vec3(x.row(guard.tets(t, 3))) - a;
  const double scale = 1.0 / (6.0 * guard.rest_volumes(t));
  VolumeRatio out;
  out.value = scale * b.dot(c.cross(d));
  out.gradients = {Vec3::Zero(), scale * c.cross(d), scale * d.cross(b), scale * b.cross(c)};
  out.gradients[0] = -out.gradients[1] - out.gradients[2] - out.gradients[3];
  return out;
}

// Tets with J < c, ascending.
std::vector<Eigen::Index> squeezed(const GuardedTets& guard, const std::vector<char>& is_off,
                                   const Points& x) {
  std::vector<char> flags(static_cast<std::size_t>(guard.tets.rows()), 0);
  parallel_for(
      flags.size(),
      [&](std::size_t t) {
        if (!is_off.empty() && is_off[t]) return;
        flags[t] = volume_ratio(guard, static_cast<Eigen::Index>(t), x).value < k_open;
      },
      1024);
  std::vector<Eigen::Index> out;
  for (std::size_t t = 0; t < flags.size(); ++t)
    if (flags[t]) out.push_back(static_cast<Eigen::Index>(t));
  return out;
}

}  // namespace

GuardedTets guard_tets(const TetMesh& mesh, const std::vector<double>& young_volumes) {
  GuardedTets out{mesh.tets, VecX::Ones(mesh.tets.rows()), VecX::Zero(mesh.tets.rows())};
  for (Eigen::Index t = 0; t < mesh.tets.rows(); ++t) {
    // With V₀ = 1 the value is the volume, and with V₀ set the gradients are the inverse altitudes.
    out.rest_volumes(t) = volume_ratio(out, t, mesh.vertices).value;
    const VolumeRatio rest = volume_ratio(out, t, mesh.vertices);
    double steepest = 0.0, edges = 0.0;
    for (const Vec3& g : rest.gradients) steepest = std::max(steepest, g.norm());
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < i; ++j)
        edges += (mesh.vertices.row(mesh.tets(t, i)) - mesh.vertices.row(mesh.tets(t, j))).norm() / 6.0;
    const double slimness = 2.0 / (steepest * edges);
    out.stiffness(t) = young_volumes[static_cast<std::size_t>(t)] * std::min(1.0, slimness * slimness);
  }
  return out;
}

void add_guard_forces(const GuardedTets& guard, const std::vector<char>& is_off, const Points& positions,
                      Points& forces) {
  for (const Eigen::Index t : squeezed(guard, is_off, positions)) {
    const VolumeRatio ratio = volume_ratio(guard, t, positions);
    for (int k = 0; k < 4; ++k)
      forces.row(guard.tets(t, k)) +=
          guard.stiffness(t) * (k_open - ratio.value) * ratio.gradients[k].transpose();
  }
}

double guard_energy(const GuardedTets& guard, const std::vector<char>& is_off, const Points& positions) {
  double sum = 0.0;
  for (const Eigen::Index t : squeezed(guard, is_off, positions)) {
    const double missing = k_open - volume_ratio(guard, t, positions).value;
    sum += 0.5 * guard.stiffness(t) * missing * missing;
  }
  return sum;
}

int count_inverted(const GuardedTets& guard, const std::vector<char>& is_off, const Points& positions) {
  int count = 0;
  for (const Eigen::Index t : squeezed(guard, is_off, positions))
    count += volume_ratio(guard, t, positions).value < 0.0;
  return count;
}

void open_tets(const GuardedTets& guard, const std::vector<char>& is_off, const VecX& inverse_masses,
               Points& positions) {
  for (const Eigen::Index t : squeezed(guard, is_off, positions)) {
    const VolumeRatio ratio = volume_ratio(guard, t, positions);
    double slope = 0.0;
    for (int k = 0; k < 4; ++k) slope += inverse_masses(guard.tets(t, k)) * ratio.gradients[k].squaredNorm();
    if (!(slope > 0.0)) continue;
    for (int k = 0; k < 4; ++k)
      positions.row(guard.tets(t, k)) +=
          (k_open - ratio.value) / slope * inverse_masses(guard.tets(t, k)) * ratio.gradients[k].transpose();
  }
}

void add_guard_rows(const GuardedTets& guard, const Points& rest_positions, VecX& sums) {
  for (Eigen::Index t = 0; t < guard.tets.rows(); ++t) {
    const VolumeRatio rest = volume_ratio(guard, t, rest_positions);
    double all = 0.0;
    for (const Vec3& g : rest.gradients) all += g.norm();
    for (int k = 0; k < 4; ++k) sums(guard.tets(t, k)) += guard.stiffness(t) * rest.gradients[k].norm() * all;
  }
}

}  // namespace exemplar::mass_spring
