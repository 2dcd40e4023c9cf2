// Dents of bending bodies (patkar2014 §4.4): what strikes any part dents the surface of the whole body in its present
// pose; the dent is taken back to the rest shape, so that it bends with the body from then on. Units: m, kg, s.
#pragma once

#include <vector>

#include "rigidplastic/bend/bending_body.h"
#include "rigidplastic/dent/denter.h"

namespace exemplar::bend {

struct ParentDentsState {
  std::vector<dent::ContactPlace> places;
  int count = 0;          // of dents
  double deepest = 0;     // m
  double dissipated = 0;  // J

  static constexpr auto described() {
    return std::tuple(member("places", &ParentDentsState::places), member("count", &ParentDentsState::count),
                      member("deepest", &ParentDentsState::deepest),
                      member("dissipated", &ParentDentsState::dissipated));
  }
};

class ParentDents {
 public:
  ParentDents(const Scene& scene, const dent::DentOptions& options);

  // After a tick of `simulation`: dents its bodies and returns which changed.
  std::vector<char> apply(const rigid::Simulation& simulation, std::vector<BendingBody>& bodies);

  int count() const { return m_count; }
  double deepest() const { return m_deepest; }        // m
  double dissipated() const { return m_dissipated; }  // J

  ParentDentsState state() const { return {m_log.places(), m_count, m_deepest, m_dissipated}; }
  void restore(const ParentDentsState& state);

 private:
  struct Side {
    int object = 0;  // of the simulation
    int place = 0;   // body of the scene, or number of bodies plus obstacle
  };
  // One impact with the rigid bodies that met in it.
  struct Meeting {
    dent::PairImpact impact;  // between places
    Side a, b;
  };
  std::vector<Meeting> meetings(const rigid::Simulation& simulation);
  bool dentable(int place) const;
  std::vector<dent::Strike> strikes(const rigid::Simulation& simulation, const Meeting& meeting,
                                    const std::vector<Points>& surfaces) const;
  dent::ContactMass contact_mass(const rigid::Simulation& simulation, const Side& side,
                                 const Vec3& point) const;
  dent::Strike strike(const rigid::Simulation& simulation, const Meeting& meeting, bool on_a, double energy,
                      const std::vector<Points>& surfaces) const;

  const Scene& m_scene;
  dent::DentOptions m_options;
  std::vector<dent::ObstacleSurface> m_obstacles;
  std::vector<Adjacency> m_neighbours;          // of the bodies
  std::vector<double> m_edge_length, m_extent;  // of the bodies, m
  std::vector<double> m_reach;                  // of all places
  dent::ImpactLog m_log;
  int m_count = 0;
  double m_deepest = 0, m_dissipated = 0;
};

}  // namespace exemplar::bend
