// The tetrahedral frame: balls and rods, slightly rounded where they meet.
#include <array>
#include <cmath>

#include "core/mesh/distance_shapes.h"
#include "core/mesh/models/model_frame.h"
#include "core/mesh/models/primitive_checks.h"
#include "core/mesh/models/primitives.h"

namespace exemplar {
namespace {

// Corners of a regular tetrahedron with edge 1, centred, one face down.
std::array<Vec3, 4> tetrahedron_corners() {
  const double r = 1 / std::sqrt(3.0), height = std::sqrt(2.0 / 3.0);
  return {Vec3(r, -0.25 * height, 0), Vec3(-0.5 * r, -0.25 * height, 0.5),
          Vec3(-0.5 * r, -0.25 * height, -0.5), Vec3(0, 0.75 * height, 0)};
}

}  // namespace

TriMesh make_frame(const FrameParams& params) {
  require_positive("frame", "edge", params.edge);
  require_range("frame", "rod_radius", params.rod_radius, 0.03 * params.edge, 0.15 * params.edge);
  require_range("frame", "ball_radius", params.ball_radius, params.rod_radius, 0.3 * params.edge);
  require_resolution("frame", "resolution", params.resolution, 10, 80);
  const double rod = params.rod_radius / params.edge, ball = params.ball_radius / params.edge;
  const std::array<Vec3, 4> corner = tetrahedron_corners();
  const auto field = [&](const Vec3& p) {
    double f = 1e9;
    for (std::size_t a = 0; a < 4; ++a) {
      for (std::size_t b = a + 1; b < 4; ++b) f = std::min(f, shape::limb(p, corner[a], corner[b], rod, rod));
    }
    for (const Vec3& c : corner) f = shape::join(f, (p - c).norm() - ball, 0.5 * rod);
    return f;
  };
  const double room = ball + 0.1;
  return mesh_model(
      field, {Vec3(-0.29 - room, -0.21 - room, -0.5 - room), Vec3(0.58 + room, 0.62 + room, 0.5 + room),
              Vec3::Constant(params.edge), params.edge / params.resolution, 0.5 * rod});
}

}  // namespace exemplar
