#include "rigidplastic/bend/cluster.h"

namespace exemplar::bend {

namespace {

// m (r² 1 − r rᵀ): what a mass at r adds to the inertia about the origin.
Mat3 steiner(double mass, const Vec3& r) {
  return mass * (r.squaredNorm() * Mat3::Identity() - r * r.transpose());
}

}  // namespace

MassProperties merged(std::span<const MassProperties> pieces) {
  MassProperties whole;
  for (const MassProperties& piece : pieces) {
    whole.measure += piece.measure;
    whole.mass += piece.mass;
    whole.centre += piece.mass * piece.centre;
  }
  whole.centre /= whole.mass;
  for (const MassProperties& piece : pieces)
    whole.inertia += piece.inertia + steiner(piece.mass, piece.centre - whole.centre);
  return whole;
}

MassProperties without(const MassProperties& whole, const MassProperties& part) {
  MassProperties rest;
  rest.measure = whole.measure - part.measure;
  rest.mass = whole.mass - part.mass;
  rest.centre = (whole.mass * whole.centre - part.mass * part.centre) / rest.mass;
  rest.inertia = whole.inertia - part.inertia - steiner(part.mass, part.centre - whole.centre) -
                 steiner(rest.mass, rest.centre - whole.centre);
  return rest;
}

MovingPiece merged(std::span<const MovingPiece> pieces) {
  std::vector<MassProperties> masses;
  for (const MovingPiece& piece : pieces) masses.push_back(piece.mass);
  MovingPiece whole;
  whole.mass = merged(masses);
  Vec3 spin = Vec3::Zero();
  for (const MovingPiece& piece : pieces) {
    const Vec3 momentum = piece.mass.mass * piece.velocity;
    whole.velocity += momentum / whole.mass.mass;
    spin +=
        (piece.mass.centre - whole.mass.centre).cross(momentum) + piece.mass.inertia * piece.angular_velocity;
  }
  whole.angular_velocity = whole.mass.inertia.ldlt().solve(spin);
  return whole;
}

MovingPiece opened(const MovingPiece& whole, const MassProperties& piece) {
  const Vec3 arm = piece.centre - whole.mass.centre;
  return {piece, whole.velocity + whole.angular_velocity.cross(arm), whole.angular_velocity};
}

MassProperties moved(const MassProperties& mass, const Mat3& rotation, const Vec3& shift) {
  MassProperties result = mass;
  result.centre = rotation * mass.centre + shift;
  result.inertia = rotation * mass.inertia * rotation.transpose();
  return result;
}

double kinetic_energy(const MovingPiece& piece) {
  return 0.5 * piece.mass.mass * piece.velocity.squaredNorm() +
         0.5 * piece.angular_velocity.dot(piece.mass.inertia * piece.angular_velocity);
}

Vec3 angular_momentum(const MovingPiece& piece) {
  return piece.mass.mass * piece.mass.centre.cross(piece.velocity) +
         piece.mass.inertia * piece.angular_velocity;
}

}  // namespace exemplar::bend
