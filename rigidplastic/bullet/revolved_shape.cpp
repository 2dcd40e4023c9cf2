#include "rigidplastic/bullet/revolved_shape.h"

#include <algorithm>

#include "rigidplastic/bullet/hull_shape.h"
#include "rigidplastic/bullet/vectors.h"

namespace exemplar::rigid {

namespace {

constexpr btScalar k_upright = 1e-4;  // rad: less tilted, which point of a circle is lowest is chance

// sin of the angle to the axis below which rounding decides what lies across it: a cylinder that stood upright had its lowest
// point above its middle, and fell through the floor.
constexpr btScalar k_along = 1e-9;

// Towards the middle by the margin, in height and in radius.
std::vector<Circle> shrunk_circles(const std::vector<Circle>& circles, double margin) {
  const double middle = 0.5 * (circles.front().height + circles.back().height),
               half = circles.back().height - middle;
  double largest = 0;
  for (const Circle& circle : circles) largest = std::max(largest, circle.radius);
  std::vector<Circle> result;
  for (const Circle& circle : circles)
    result.push_back(
        {middle + (circle.height - middle) * (1 - margin / half), circle.radius * (1 - margin / largest)});
  return result;
}

}  // namespace

RevolvedShape::RevolvedShape(const Revolution& revolution, double margin)
    : m_axis(to_bullet(revolution.axis)),
      m_across(to_bullet(Vec3(revolution.axis.unitOrthogonal()))),
      m_circles(revolution.circles),
      m_shrunk(shrunk_circles(revolution.circles, margin)) {
  m_shapeType = CUSTOM_CONVEX_SHAPE_TYPE;
  setMargin(margin);
}

void RevolvedShape::corners(const btVector3& down, std::vector<btVector3>& result) const {
  btVector3 out = down - m_axis * m_axis.dot(down);
  out = out.length() < k_upright * down.length() ? m_across : out.normalized();
  const btVector3 side = m_axis.cross(out);
  result.clear();
  for (const Circle& circle : m_circles) result.push_back(m_axis * circle.height + out * circle.radius);
  for (const Circle& end : {m_circles.front(), m_circles.back()}) {
    const btVector3 centre = m_axis * end.height;
    for (const btVector3& way : {side, btVector3(-out), btVector3(-side)})
      result.push_back(centre + way * end.radius);
  }
}

void RevolvedShape::bounds(const btTransform& transform, btVector3& low, btVector3& high) const {
  low = high = transform.getOrigin();
  for (int k = 0; k < 3; ++k) {
    const btScalar along = transform.getBasis().getRow(k).dot(m_axis);
    const btScalar across = btSqrt(std::max(btScalar(0), 1 - along * along));
    btScalar least = BT_LARGE_FLOAT, most = -least;
    for (const Circle& circle : m_circles) {
      least = std::min(least, along * circle.height - across * circle.radius);
      most = std::max(most, along * circle.height + across * circle.radius);
    }
    low[k] += least;
    high[k] += most;
  }
}

// Spinning about its axis it stays where it is.
btVector3 RevolvedShape::turning(const btTransform& world, const btVector3& spin) const {
  const btVector3 axis = world.getBasis() * m_axis;
  return spin - axis * axis.dot(spin);
}

btVector3 RevolvedShape::localGetSupportingVertexWithoutMargin(const btVector3& direction) const {
  const btScalar along = m_axis.dot(direction);
  const btVector3 across = direction - m_axis * along;
  const btScalar length = across.length();
  const Circle* best = &m_shrunk.front();
  const auto reach = [&](const Circle& circle) { return along * circle.height + length * circle.radius; };
  for (const Circle& circle : m_shrunk) {
    if (reach(circle) > reach(*best)) best = &circle;
  }
  btVector3 point = m_axis * best->height;
  if (length > k_along * direction.length()) point += across * (best->radius / length);
  return point;
}

void RevolvedShape::batchedUnitVectorGetSupportingVertexWithoutMargin(const btVector3* directions,
                                                                      btVector3* supports, int count) const {
  for (int i = 0; i < count; ++i) supports[i] = localGetSupportingVertexWithoutMargin(directions[i]);
}

// Bullet asks for it where nobody gives an inertia; bodies here always have theirs.
void RevolvedShape::calculateLocalInertia(btScalar, btVector3& inertia) const {
  inertia.setZero();
}

const CornerShape& corner_shape(const btCollisionShape& shape) {
  if (shape.getShapeType() == CUSTOM_CONVEX_SHAPE_TYPE) return static_cast<const RevolvedShape&>(shape);
  return static_cast<const HullShape&>(shape);
}

}  // namespace exemplar::rigid
