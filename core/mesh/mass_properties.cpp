#include "core/mesh/mass_properties.h"

#include <array>

namespace exemplar {

namespace {

// Moments of degree 0, 1 and 2 relative to `origin`, which is put near the shape so that nothing cancels.
struct Moments {
  Vec3 origin;
  double zeroth = 0;
  Vec3 first = Vec3::Zero();
  Mat3 second = Mat3::Zero();

  template <std::size_t N>
  void add_simplex(double measure, const std::array<Vec3, N>& corners) {
    constexpr double degree_two = N == 4 ? 20.0 : 12.0;
    Vec3 sum = Vec3::Zero();
    Mat3 squares = Mat3::Zero();
    for (const Vec3& corner : corners) {
      sum += corner;
      squares += corner * corner.transpose();
    }
    zeroth += measure;
    first += measure / static_cast<double>(N) * sum;
    second += measure / degree_two * (squares + sum * sum.transpose());
  }

  MassProperties finish(double density) const {
    MassProperties result;
    result.measure = zeroth;
    result.mass = density * zeroth;
    if (zeroth == 0) {
      result.centre = origin;
      return result;
    }
    const Vec3 offset = first / zeroth;
    const Mat3 about_centre = second - zeroth * offset * offset.transpose();
    result.centre = origin + offset;
    result.inertia = density * (about_centre.trace() * Mat3::Identity() - about_centre);
    return result;
  }
};

Vec3 middle(const Points& points) {
  if (points.rows() == 0) return Vec3::Zero();
  return 0.5 * (points.colwise().minCoeff() + points.colwise().maxCoeff()).transpose();
}

Vec3 corner(const Points& points, int index, const Vec3& origin) {
  return points.row(index).transpose() - origin;
}

}  // namespace

MassProperties solid_mass_properties(const Points& points, const Triangles& triangles, double density) {
  Moments moments{middle(points)};
  for (Eigen::Index t = 0; t < triangles.rows(); ++t) {
    const Vec3 a = corner(points, triangles(t, 0), moments.origin);
    const Vec3 b = corner(points, triangles(t, 1), moments.origin);
    const Vec3 c = corner(points, triangles(t, 2), moments.origin);
    moments.add_simplex<4>(a.dot(b.cross(c)) / 6.0, {Vec3::Zero(), a, b, c});
  }
  return moments.finish(density);
}

MassProperties solid_mass_properties(const Points& points, const Tets& tets, double density) {
  Moments moments{middle(points)};
  for (Eigen::Index t = 0; t < tets.rows(); ++t) {
    std::array<Vec3, 4> x;
    for (int k = 0; k < 4; ++k) x[k] = corner(points, tets(t, k), moments.origin);
    moments.add_simplex<4>(tet_volume(x[0], x[1], x[2], x[3]), x);
  }
  return moments.finish(density);
}

MassProperties sheet_mass_properties(const Points& points, const Triangles& triangles, double thickness,
                                     double density) {
  Moments moments{middle(points)};
  for (Eigen::Index t = 0; t < triangles.rows(); ++t) {
    std::array<Vec3, 3> x;
    for (int k = 0; k < 3; ++k) x[k] = corner(points, triangles(t, k), moments.origin);
    const Vec3 doubled = (x[1] - x[0]).cross(x[2] - x[0]);
    const double length = doubled.norm();
    if (length == 0) continue;
    const double measure = 0.5 * length * thickness;
    const Vec3 normal = doubled / length;
    moments.add_simplex<3>(measure, x);
    moments.second += measure * thickness * thickness / 12.0 * normal * normal.transpose();
  }
  return moments.finish(density);
}

VecX tet_volumes(const Points& points, const Tets& tets) {
  VecX volumes(tets.rows());
  for (Eigen::Index t = 0; t < tets.rows(); ++t) {
    const Vec3 origin = points.row(tets(t, 0));
    volumes[t] = tet_volume(Vec3::Zero(), corner(points, tets(t, 1), origin),
                            corner(points, tets(t, 2), origin), corner(points, tets(t, 3), origin));
  }
  return volumes;
}

VecX triangle_areas(const Points& points, const Triangles& triangles) {
  VecX areas(triangles.rows());
  for (Eigen::Index t = 0; t < triangles.rows(); ++t) {
    const Vec3 origin = points.row(triangles(t, 0));
    areas[t] =
        0.5 * corner(points, triangles(t, 1), origin).cross(corner(points, triangles(t, 2), origin)).norm();
  }
  return areas;
}

VecX lumped_masses(const Points& points, const Tets& tets, double density) {
  VecX masses = VecX::Zero(points.rows());
  const VecX volumes = tet_volumes(points, tets);
  for (Eigen::Index t = 0; t < tets.rows(); ++t) {
    for (int k = 0; k < 4; ++k) masses[tets(t, k)] += density * volumes[t] / 4.0;
  }
  return masses;
}

VecX lumped_masses(const Points& points, const Triangles& triangles, double thickness, double density) {
  VecX masses = VecX::Zero(points.rows());
  const VecX areas = triangle_areas(points, triangles);
  for (Eigen::Index t = 0; t < triangles.rows(); ++t) {
    for (int k = 0; k < 3; ++k) masses[triangles(t, k)] += density * thickness * areas[t] / 3.0;
  }
  return masses;
}

double signed_volume(const Points& points, const Triangles& triangles) {
  const Vec3 origin = middle(points);
  double volume = 0;
  for (Eigen::Index t = 0; t < triangles.rows(); ++t) {
    volume +=
        corner(points, triangles(t, 0), origin)
            .dot(corner(points, triangles(t, 1), origin).cross(corner(points, triangles(t, 2), origin))) /
        6.0;
  }
  return volume;
}

TriMesh facing_outwards(TriMesh closed) {
  if (signed_volume(closed.vertices, closed.triangles) < 0)
    closed.triangles.col(1).swap(closed.triangles.col(2));
  return closed;
}

double surface_area(const Points& points, const Triangles& triangles) {
  const VecX areas = triangle_areas(points, triangles);
  double total = 0;
  for (const double area : areas) total += area;
  return total;
}

}  // namespace exemplar
