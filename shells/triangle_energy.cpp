#include "shells/triangle_energy.h"

namespace exemplar::shells {

PhysicalTriangle::PhysicalTriangle(const RestTriangle& rest, const PlateMaterial& material,
                                   bool curved_membrane)
    : squared_length(rest.length.cwiseAbs2()), curved(curved_membrane) {
  const double nu = material.poisson, h = material.thickness;
  const double lambda = material.young * nu / (1 - nu * nu), mu = material.young / (2 * (1 + nu));
  const double in_plane = rest.area * h / 4, out_of_plane = rest.area * h * h * h / 12;
  stiffness.setZero();
  for (std::size_t k = 0; k < 3; ++k) {
    for (std::size_t l = 0; l < 3; ++l) {
      const auto r = static_cast<Eigen::Index>(k), c = static_cast<Eigen::Index>(l);
      const Mat2 bk = rest.strain_basis(k), bl = rest.strain_basis(l);
      stiffness(r, c) = in_plane * (lambda * bk.trace() * bl.trace() + 2 * mu * bk.cwiseProduct(bl).sum());
      const double cosine = rest.normal[k].dot(rest.normal[l]);
      stiffness(3 + r, 3 + c) =
          out_of_plane * 4 / (rest.height[r] * rest.height[c]) * (lambda + 2 * mu * cosine * cosine);
      arc_of_angle(r, c) = k == l ? 0.0 : 2 * rest.height[c];
    }
  }
}

PaperTriangle::PaperTriangle(const RestTriangle& rest, const PaperStiffness& k, const Vec3& hinge_area,
                             const std::array<bool, 3>& border) {
  stiffness.setZero();
  for (int i = 0; i < 3; ++i) {
    const double share = border[static_cast<std::size_t>(i)] ? 1.0 : 0.5;
    stiffness(i, i) = share * k.stretching / rest.length[i];
    if (hinge_area[i] > 0)
      stiffness(4 + i, 4 + i) = share * k.bending * 3 * rest.length[i] * rest.length[i] / hinge_area[i];
  }
  stiffness(3, 3) = k.area / rest.area;
}

Mat6 PaperTriangle::second(const Vec6& q, const Measures& f) const {
  Mat6 h = Mat6::Zero();
  const Vec3 s = q.head<3>();
  const double a = area(s);
  for (int i = 0; i < 3; ++i) {
    h(i, i) = -0.25 * f[i] / (s[i] * std::sqrt(s[i]));
    for (int j = 0; j < 3; ++j) {
      // From A ∂A/∂s_i = (Σs − 2 s_i)/16.
      h(i, j) += f[3] * ((i == j ? -1.0 : 1.0) / 16 - area_slope(s, i) * area_slope(s, j)) / a;
    }
  }
  return h;
}

}  // namespace exemplar::shells
