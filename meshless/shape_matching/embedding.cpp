#include "meshless/shape_matching/embedding.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/LU>

namespace exemplar::shape_matching {

namespace {

// The occupied cube nearest to a point given in lattice units; the one that holds it where that is occupied.
std::array<int, 3> nearest_cube(const Vec3& local, const Lattice& lattice) {
  std::array<int, 3> cube{};
  for (int axis = 0; axis < 3; ++axis)
    cube[axis] = std::clamp(static_cast<int>(std::floor(local(axis))), 0, lattice.cells[axis] - 1);
  if (lattice.cell_at[lattice.cell_index(cube[0], cube[1], cube[2])] >= 0) return cube;
  // A vertex on the border of its cube may belong to a neighbour; farther ones are rare. Growing shells
  // around it.
  std::array<int, 3> best = cube;
  double best_distance = std::numeric_limits<double>::infinity();
  const int most = std::max({lattice.cells[0], lattice.cells[1], lattice.cells[2]});
  for (int shell = 1; shell <= most && best_distance > shell - 1; ++shell)
    for (int k = std::max(0, cube[2] - shell); k <= std::min(lattice.cells[2] - 1, cube[2] + shell); ++k)
      for (int j = std::max(0, cube[1] - shell); j <= std::min(lattice.cells[1] - 1, cube[1] + shell); ++j)
        for (int i = std::max(0, cube[0] - shell); i <= std::min(lattice.cells[0] - 1, cube[0] + shell);
             ++i) {
          if (lattice.cell_at[lattice.cell_index(i, j, k)] < 0) continue;
          const Vec3 low(i, j, k), nearest = local.cwiseMax(low).cwiseMin(low + Vec3::Ones());
          if ((nearest - local).norm() < best_distance) {
            best_distance = (nearest - local).norm();
            best = {i, j, k};
          }
        }
  return best;
}

Vec3 to_lattice(const Vec3& point, const Lattice& lattice) {
  return (point - lattice.origin).cwiseQuotient(lattice.spacing);
}

}  // namespace

CarriedPoints embed_in_lattice(const Points& points, const Lattice& lattice) {
  CarriedPoints out;
  for (Eigen::Index p = 0; p < points.rows(); ++p) {
    const Vec3 local = to_lattice(points.row(p).transpose(), lattice);
    const std::array<int, 3> cube = nearest_cube(local, lattice);
    std::array<int, 8> nodes{};
    std::array<double, 8> weights{};
    for (int corner = 0; corner < 8; ++corner) {
      double weight = 1.0;
      std::array<int, 3> at = cube;
      for (int axis = 0; axis < 3; ++axis) {
        const double t = local(axis) - cube[axis];
        const int high = (corner >> axis) & 1;
        weight *= high ? t : 1.0 - t;
        at[axis] += high;
      }
      nodes[corner] = lattice.particle_at[lattice.point_index(at[0], at[1], at[2])];
      weights[corner] = weight;
    }
    out.add(nodes, weights);
  }
  return out;
}

std::vector<Mat3> cell_maps(const Cells& cells, const Points& rest, const Points& positions) {
  std::vector<Mat3> out;
  for (int c = 0; c < cells.count(); ++c) {
    const auto members = cells.of(c);
    Eigen::RowVector3d rest_centre = Eigen::RowVector3d::Zero(), centre = rest_centre;
    for (const int p : members) {
      rest_centre += rest.row(p) / static_cast<double>(members.size());
      centre += positions.row(p) / static_cast<double>(members.size());
    }
    Mat3 pq = Mat3::Zero(), qq = Mat3::Zero();
    for (const int p : members) {
      const Eigen::RowVector3d q = rest.row(p) - rest_centre;
      pq += (positions.row(p) - centre).transpose() * q;
      qq += q.transpose() * q;
    }
    const Mat3 regularised = qq + 1e-12 * qq.trace() * Mat3::Identity();
    out.push_back((pq + 1e-12 * qq.trace() * Mat3::Identity()) * regularised.inverse());
  }
  return out;
}

std::vector<Mat3> particle_maps(const Cells& cells, const Points& rest, const Points& positions) {
  const std::vector<Mat3> of_cells = cell_maps(cells, rest, positions);
  std::vector<Mat3> out(static_cast<std::size_t>(rest.rows()), Mat3::Zero());
  std::vector<int> count(out.size(), 0);
  for (int c = 0; c < cells.count(); ++c)
    for (const int p : cells.of(c)) {
      out[p] += of_cells[c];
      ++count[p];
    }
  for (std::size_t p = 0; p < out.size(); ++p) {
    if (count[p] > 0) out[p] /= count[p];
  }
  return out;
}

SurfaceFrames rest_frames(const TriMesh& surface) {
  const Points& x = surface.vertices;
  SurfaceFrames out{Points::Zero(x.rows(), 3), Points::Zero(x.rows(), 3)};
  for (Eigen::Index t = 0; t < surface.triangles.rows(); ++t) {
    const Vec3 a = x.row(surface.triangles(t, 0)), b = x.row(surface.triangles(t, 1)),
               c = x.row(surface.triangles(t, 2));
    for (int k = 0; k < 3; ++k) {
      const int v = surface.triangles(t, k);
      out.normals.row(v) += (b - a).cross(c - a).transpose();
      if (out.tangents.row(v).isZero())
        out.tangents.row(v) = x.row(surface.triangles(t, (k + 1) % 3)) - x.row(v);
    }
  }
  for (Eigen::Index v = 0; v < x.rows(); ++v) {
    const Vec3 n =
        out.normals.row(v).squaredNorm() > 0 ? Vec3(out.normals.row(v).normalized()) : Vec3::UnitY();
    const Vec3 edge = out.tangents.row(v);
    const Vec3 across = edge - edge.dot(n) * n;
    out.normals.row(v) = n.transpose();
    out.tangents.row(v) =
        (across.norm() > 1e-12 * edge.norm() ? Vec3(across.normalized()) : n.unitOrthogonal()).transpose();
  }
  return out;
}

Vec3 transformed_normal(const Mat3& transformation, const Vec3& normal) {
  Mat3 inverse = Mat3::Zero();
  bool is_invertible = false;
  transformation.computeInverseWithCheck(inverse, is_invertible);
  const Vec3 turned = inverse.transpose() * normal;
  return is_invertible && turned.norm() > 0.0 ? Vec3(turned.normalized()) : normal;
}

std::vector<int> owning_cells(const Points& points, const Lattice& lattice) {
  std::vector<int> out;
  for (Eigen::Index p = 0; p < points.rows(); ++p) {
    const std::array<int, 3> cube = nearest_cube(to_lattice(points.row(p).transpose(), lattice), lattice);
    out.push_back(lattice.cell_at[lattice.cell_index(cube[0], cube[1], cube[2])]);
  }
  return out;
}

}  // namespace exemplar::shape_matching
