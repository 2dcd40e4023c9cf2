// Bodies that lie on something come to rest. An elastic body without damping of its own swings for ever where it was put
// down: its weight on the floor goes up and down between nothing and twice itself, friction lets go whenever there is
// little of it, and a block 1° below the critical angle walked down the slope at 45 mm/s. So a body that touches something and
// swings slower than it would if it had just been put there is damped:
//
//     v ← r + (v − r) e^(−2ζω₁h)   where RMS(v − r) < g/ω₁,   ω₁ = π c/2L,   ζ = 0.35
//
//   r rigid part of its velocities, c = √(E/ρ) [m/s], L its largest extent [m], g gravity [m/s²], h step [s]
//
// Rigid motion, sliding and rolling among it, and both momenta are left alone, and the force is at most 0.7 of the body's
// weight. Free swings and impacts keep the damping that the material asks for.
#pragma once

namespace exemplar {

class Settling {
 public:
  Settling() = default;  // never
  Settling(double wave_speed, double extent, double gravity);

  // For how long after a touch a body counts as lying: a period of its slowest swing, s.
  double memory() const { return m_memory; }
  bool settles(double deformation_speed) const { return deformation_speed < m_slow; }
  double kept(double dt) const;  // factor on v − r

 private:
  double m_rate = 0, m_slow = 0, m_memory = 0;
};

}  // namespace exemplar
