// Plastic flow of shape-matching cells: bugbear2009 §3.5 (with rotation) beside Müller et al. 2005 §4.4
// (stretch only).
//
// Stretch only: measure ‖S − I‖_F, S = RᵀA made volume preserving; above `yield` the cell's plastic stretch
// becomes S_p ← [I + λ (S − I)] S_p / ∛det, bounded by ‖S_p − I‖_F ≤ max, and the rest shape S_p q⁰ (Müller
// eq. 15–16).
//
// With rotation: measure ‖(R_ref Q)ᵀ T − I‖_F where R_ref is the rotation of a neighbouring cell (the one that
// differs most) or of the whole body, so that a body that turns as a whole never yields, and Q the turn against
// it that has flowed already. Above `yield` the rest shape takes the goals and Q the turn.
//
// Departures. (1) The thesis keeps one static position per particle, which moves to the goal. That makes a
// bent bar's far ends yield as well, because all static positions live in one frame: a bar that kinks in the
// middle must carry its arms along. Here every cell owns its rest shape, which takes the goals of its
// particles as the cell sees them (Rᵀ (g − ḡ)), trapezoids included; where all cells yield both are the same
// up to a rotation that matching does not see. (2) Only the part of the deformation above the yield limit
// flows (λ = (1 − yield/measure) (1 − e^(−h·creep))): taking all of it, as both sources do, lets a body under a
// steady load flow without end, in every step again. (3) Flow keeps a cell's volume, as that of solids does:
// without it every landing left the body a little smaller, for good. (4) Q. Both sources compare with R_ref
// itself, so that a body that has once been bent counts as bent in every later step: the least load then creeps
// without end (a dropped clay cube lay flat after 8 s, a stamped dent went on growing). (5) With rotation, yield is
// judged by stress: ‖dev P (S − I) P‖_F, P² = F_p F_pᵀ, F_p the linear map that carries the cell's first rest shape to
// its present one. What a cell answers to a strain grows with the square of its extent along it (stiffness.h), so that one
// pressed to half its height gave way at a quarter of the stress, and a dropped barrel ran out over the floor.
// (6) A rest shape's bend and twist (what no linear map does) stay below half of the cell's size: particles of a cell
// that folded further changed places for good, and the body lost a third of its volume.
#pragma once

#include <vector>

#include "meshless/shape_matching/cell_set.h"

namespace exemplar::shape_matching {

enum class PlasticityKind { none, stretch, with_rotation };
enum class PlasticityReference { neighbours, body };

struct PlasticityOptions {
  PlasticityKind kind = PlasticityKind::none;
  PlasticityReference reference = PlasticityReference::neighbours;
  // How much larger a rotation against R_ref may be than a stretch before it counts the same. 1: the thesis'
  // plain norm. A cell of length d and thickness t that turns by θ against its neighbour has the bending
  // strain θ t/2d at its surface, and ‖R − I‖_F = √2 θ: 2√2 d/t makes `yield` a strain for both. Infinite for
  // tetrahedra: whatever their corners do is a linear map, so that a bend is a stretch of theirs already, while their
  // turns follow from shapes that are all different. A cell that yields by its turn flows at any stress until Q has
  // come after, by a seventeenth of its share where that many cells hold a particle: a ball of clay ran out.
  double bend_factor = 1.0;
  double yield = 0.05;  // measure above which a cell flows
  double creep = 0.0;   // rate of flow [1/s]; 0: at once
  double max = 2.0;  // bound of the plastic deformation of a cell (Frobenius norm, or RMS change over radius)
  double reached =
      0.0;  // share of the material's stiffness that `yield` is meant for (StiffnessPlan); 0: any
};

// Coarser cells hold no opinion of their own about what flowed: where finer cells flowed by a share λ, the
// coarser cells that hold their particles take the same share of the goals into their rest shapes, or they
// would straighten the body again; they too keep their volume. `particle_shares`: the largest λ of each particle's cells. Call after
// coarse.match at the same positions.
void follow_flow(CellSet& coarse, const Points& goals, const VecX& particle_shares);

class CellPlasticity {
 public:
  CellPlasticity(const CellSet& cells, const PlasticityOptions& options);

  // After CellSet::match, with the goals it gave. Returns how many cells flowed. `stiffness`: how much stiffer cells
  // of unchanged shape are now than those that `yield` is meant for.
  int update(CellSet& cells, const Points& goals, const Mat3& body_rotation, double dt,
             double stiffness = 1.0);

  const PlasticityOptions& options() const { return m_options; }
  // Which share of its deformation each cell gave up to flow in the last update.
  const std::vector<double>& shares() const { return m_shares; }
  double deformation(int cell) const {
    return m_state.deformation[cell];
  }  // plastic deformation so far, dimensionless
  // How much softer than at first the cells are along their thinnest direction, one over the other: the mean of
  // 1/λ², λ the smallest singular value of F_p. 1: nothing has flowed.
  double softness() const { return m_softness; }
  struct State {
    std::vector<double> deformation;  // of each cell, dimensionless
    std::vector<Mat3> stretch;        // S_p, or F_p with rotation
    std::vector<Quat> turns;          // Q against each neighbour, or against the body

    static constexpr auto described() {
      return std::tuple(member("deformation", &State::deformation), member("stretch", &State::stretch),
                        member("turns", &State::turns));
    }
  };
  const State& state() const { return m_state; }
  // Throws InputError if it is another body's.
  void set_state(State state);

 private:
  double measure(const CellSet& cells, int cell, const Mat3& body_rotation, double stiffness) const;
  template <class Visit>
  void for_each_reference(const CellSet& cells, int cell, const Mat3& body_rotation,
                          const Visit& visit) const;
  bool flow_stretch(CellSet& cells, int cell, double rate);
  bool flow_with_rotation(CellSet& cells, int cell, const Points& goals, double measured, double rate);
  void take_turns(const CellSet& cells, const Mat3& body_rotation);
  void update_softness();

  PlasticityOptions m_options;
  std::vector<std::vector<int>> m_neighbours;
  std::vector<Points> m_original;  // rest shapes before any flow
  State m_state;
  std::vector<double> m_shares;
  std::vector<int> m_first_turn;  // of each cell
  double m_softness = 1.0;
  double m_mean_share = 1.0;  // particles over members of cells: one over how many cells hold a particle
};

// Cells that share the most particles with each cell (face neighbours of cubes, not those that touch in a
// corner).
std::vector<std::vector<int>> neighbouring_cells(const Cells& cells, int particles);

}  // namespace exemplar::shape_matching
