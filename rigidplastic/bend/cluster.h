// Condensation (patkar2014 §4.2): rigid pieces merged into one body and opened again, with mass, centre, inertia and
// both momenta kept. Opening a body into pieces that move with it keeps its energy as well; merging pieces that move
// against each other loses the energy of that motion, as a plastic impact does. Units: m, kg, s.
#pragma once

#include <span>

#include "core/mesh/mass_properties.h"

namespace exemplar::bend {

// A rigid piece in motion, in world coordinates.
struct MovingPiece {
  MassProperties mass;
  Vec3 velocity = Vec3::Zero();          // of its centre
  Vec3 angular_velocity = Vec3::Zero();  // rad/s
};

MassProperties merged(std::span<const MassProperties> pieces);
// What is left of a whole when a part of it is taken away.
MassProperties without(const MassProperties& whole, const MassProperties& part);
MovingPiece merged(std::span<const MovingPiece> pieces);
// A piece of `whole`, moving as a part of it.
MovingPiece opened(const MovingPiece& whole, const MassProperties& piece);

// The same mass turned and shifted: x → R x + t.
MassProperties moved(const MassProperties& mass, const Mat3& rotation, const Vec3& shift);

double kinetic_energy(const MovingPiece& piece);  // J
Vec3 angular_momentum(const MovingPiece& piece);  // about the origin, kg m²/s

}  // namespace exemplar::bend
