// The arm and the rabbit: smooth unions of ellipsoids and limbs.
#include <array>
#include <cmath>

#include "core/mesh/distance_shapes.h"
#include "core/mesh/models/model_frame.h"
#include "core/mesh/models/primitive_checks.h"
#include "core/mesh/models/primitives.h"

namespace exemplar {
namespace {

using namespace shape;

// Reference: 0.7 m from the shoulder to the knuckles, along x; biceps towards +y, thumb towards +z.
struct ArmShape {
  double biceps;
  double detail;  // m, rounding of small features

  double upper_arm(const Vec3& p) const {
    double f = limb(p, {0.055, 0, 0}, {0.30, -0.004, 0}, 0.047, 0.036);
    f = join(f, ellipsoid(p, {0.075, 0.004, 0.004}, {0.085, 0.058, 0.058}), 0.045);
    f = join(f, ellipsoid(p, {0.165, -0.024, 0}, {0.105, 0.034, 0.040}), 0.03);
    const double rise = 0.016 * biceps;
    return join(f, ellipsoid(p, {0.195, 0.022 + rise, 0}, {0.080, 0.030 + rise, 0.036 + 0.3 * rise}), 0.024);
  }

  double forearm(const Vec3& p) const {
    double f = limb(p, {0.30, -0.004, 0}, {0.565, 0, 0}, 0.036, 0.025);
    f = join(f, ellipsoid(p, {0.305, -0.022, 0}, {0.026, 0.024, 0.024}), 0.02);
    f = join(f, ellipsoid(p, {0.385, 0.006, 0.014}, {0.085, 0.036, 0.034}), 0.025);
    f = join(f, ellipsoid(p, {0.380, -0.006, -0.014}, {0.080, 0.034, 0.030}), 0.025);
    return join(f, ellipsoid(p, {0.565, 0, 0}, {0.040, 0.022, 0.030}), 0.02);
  }

  // Back of the hand towards −y, fingers curled up in front, thumb across them.
  double fist(const Vec3& p) const {
    double f = box(p, {0.628, 0.003, 0.001}, {0.046, 0.032, 0.040}, 0.016);
    for (const double z : {-0.0325, -0.011, 0.011, 0.0325}) {
      const double size = 0.0125 - 4.0 * std::abs(z - 0.008) * std::abs(z - 0.008) * 0.5;
      const double knuckle = 0.672 - 5.0 * (z - 0.006) * (z - 0.006);
      double finger = limb(p, {knuckle, -0.016, z}, {knuckle + 0.010, 0.022, z}, size + 0.001, size);
      finger =
          join(finger, limb(p, {knuckle + 0.010, 0.022, z}, {0.635, 0.036, z}, size, size - 0.001), 0.004);
      f = join(f, finger, detail);
    }
    double thumb = limb(p, {0.585, 0.008, 0.034}, {0.625, 0.034, 0.047}, 0.017, 0.014);
    thumb = join(thumb, limb(p, {0.625, 0.034, 0.047}, {0.656, 0.048, 0.018}, 0.014, 0.012), 0.006);
    return join(f, thumb, detail);
  }

  double operator()(const Vec3& p) const {
    double f = join(upper_arm(p), forearm(p), 0.02);
    return join(f, fist(p), 0.016);
  }
};

// Reference: 0.4 m high with ears of length 1; looks along +x.
struct RabbitShape {
  double ear_length;
  double detail;  // m, rounding of small features

  double body(const Vec3& p) const {
    double f = ellipsoid(p, {-0.045, 0.105, 0}, {0.105, 0.092, 0.078});
    f = join(f, ellipsoid(p, {0.035, 0.125, 0}, {0.058, 0.080, 0.058}), 0.05);
    f = join(f, ellipsoid(p, {-0.062, 0.070, 0.058}, {0.066, 0.066, 0.036}), 0.012);
    f = join(f, limb(p, {-0.060, 0.020, 0.070}, {0.048, 0.018, 0.078}, 0.020, 0.018), 0.012);
    f = join(f, limb(p, {0.058, 0.125, 0.034}, {0.082, 0.026, 0.036}, 0.027, 0.018), 0.014);
    f = join(f, ellipsoid(p, {0.096, 0.017, 0.036}, {0.028, 0.017, 0.019}), 0.012);
    return join(f, ellipsoid(p, {-0.153, 0.085, 0}, {0.032, 0.034, 0.032}), 0.008);
  }

  double head(const Vec3& p) const {
    double f = ellipsoid(p, {0.080, 0.232, 0}, {0.060, 0.052, 0.050});
    f = join(f, limb(p, {0.035, 0.165, 0}, {0.075, 0.215, 0}, 0.052, 0.042), 0.03);
    f = join(f, ellipsoid(p, {0.125, 0.216, 0.012}, {0.030, 0.025, 0.022}), 0.02);
    f = join(f, ellipsoid(p, {0.150, 0.228, 0}, {0.011, 0.008, 0.011}), 0.006);
    f = cut(f, ellipsoid(p, {0.114, 0.252, 0.047}, {0.020, 0.017, 0.012}), detail);
    return join(f, ellipsoid(p, {0.110, 0.251, 0.037}, {0.014, 0.013, 0.012}), 0.004);
  }

  // A flat ellipsoid that leans back and outwards, hollowed towards the front.
  double ear(const Vec3& p) const {
    const Vec3 along = Vec3(-0.22, 1.0, 0.26).normalized();
    const Vec3 forward = (Vec3(0.92, 0, 0.40) - along * along.dot(Vec3(0.92, 0, 0.40))).normalized();
    const Vec3 across = along.cross(forward);
    const double half = 0.082 * ear_length;
    const Vec3 d = p - Vec3(0.060, 0.262, 0.022) - 0.75 * half * along;
    const Vec3 q(d.dot(forward), d.dot(along), d.dot(across));
    const double outer = ellipsoid(q, Vec3::Zero(), {0.0145, half, 0.027});
    return cut(outer, ellipsoid(q, {0.015, 0.004, 0}, {0.011, 0.74 * half, 0.0165}), detail);
  }

  double operator()(const Vec3& at) const {
    const Vec3 p(at.x(), at.y(), std::hypot(at.z(), 0.002));
    const double f = join(body(p), head(p), 0.025);
    return intersect(join(f, ear(p), 0.012), -p.y() + 0.004, 0.006);
  }
};

}  // namespace

TriMesh make_arm(const ArmParams& params) {
  require_positive("arm", "length", params.length);
  require_range("arm", "girth", params.girth, 0.7, 1.4);
  require_range("arm", "biceps", params.biceps, 0, 1);
  require_resolution("arm", "resolution", params.resolution, 20, 160);
  const double edge = params.length / params.resolution;
  const double unit = params.length / 0.7;
  const Vec3 scale(unit, params.girth * unit, params.girth * unit);
  const ArmShape arm{params.biceps, std::clamp(0.4 * edge / unit, 0.004, 0.010)};
  TriMesh mesh = mesh_model(arm, {{-0.05, -0.1, -0.1}, {0.74, 0.12, 0.1}, scale, edge, 0.008});
  fit_axis(mesh, 0, 0, params.length);
  return mesh;
}

TriMesh make_rabbit(const RabbitParams& params) {
  require_positive("rabbit", "height", params.height);
  require_range("rabbit", "ear_length", params.ear_length, 0.6, 1.3);
  require_resolution("rabbit", "resolution", params.resolution, 24, 160);
  const double reference = 0.25 + 0.15 * params.ear_length;
  const double unit = params.height / reference;
  const double edge = params.height / params.resolution;
  const RabbitShape rabbit{params.ear_length, std::clamp(0.3 * edge / unit, 0.003, 0.006)};
  TriMesh mesh =
      mesh_model(rabbit, {{-0.21, -0.03, -0.13}, {0.19, 0.46, 0.13}, Vec3::Constant(unit), edge, 0.007});
  mesh.vertices.col(1).array() -= mesh.vertices.col(1).minCoeff();
  mesh.vertices *= params.height / mesh.vertices.col(1).maxCoeff();
  return mesh;
}

}  // namespace exemplar
