#include "core/world/controllers.h"

#include <cmath>

#include "core/base/errors.h"
#include "core/world/region.h"

namespace exemplar {

PreparedController::PreparedController(Controller controller, const Points& start_positions)
    : m_controller(std::move(controller)) {
  check_curve(m_controller.curve);
  if (!(m_controller.direction.norm() > 0)) throw InputError("a controller's direction must not be zero");
  m_controller.direction.normalize();
  if (m_controller.kind != ControllerKind::joint_angle) return;
  for (std::size_t k = 0; k < 3; ++k) {
    Region nearest;
    nearest.kind = RegionKind::nearest;
    nearest.points = {m_controller.points[k]};
    const std::vector<int> found = select_nodes(nearest, start_positions);
    if (found.empty()) throw InputError("a controller's joint needs a body with points");
    m_nodes[k] = found.front();
  }
  if (m_nodes[0] == m_nodes[1] || m_nodes[1] == m_nodes[2])
    throw InputError("a controller's joint needs three different points of the body");
}

double PreparedController::input(const BodySignals& signals) const {
  const Controller& c = m_controller;
  const Vec3 &v = signals.com_velocity, &a = signals.com_acceleration;
  switch (c.kind) {
    case ControllerKind::time:
      return signals.time;
    case ControllerKind::com_velocity:
      return c.direction.dot(v);
    case ControllerKind::turn_angle:
      if (v.norm() < c.minimum_speed || a.norm() < c.minimum_speed) return 0;
      return std::atan2(c.direction.dot(v.cross(a)), v.dot(a));
    case ControllerKind::joint_angle: {
      const Points& x = *signals.positions;
      const Vec3 p = (x.row(m_nodes[0]) - x.row(m_nodes[1])).transpose();
      const Vec3 q = (x.row(m_nodes[2]) - x.row(m_nodes[1])).transpose();
      return std::atan2(p.cross(q).norm(), p.dot(q));
    }
  }
  return 0;
}

}  // namespace exemplar
