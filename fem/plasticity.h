// Plastic flow of solids (schumacher2012 §5.1, eq. 6–9), conventional or confined to the space of example
// poses. Per element (integration point of a quadratic tet) F = F_e F_p; stored is F_p⁻¹ with det F_p = 1.
// After each time step:
//  1. E from the total F. Project: min_w ‖E − Σ w_j E_j‖ over the simplex with E_0 = 0 → E_proj, F_proj = √(2
//  E_proj + I),
//     d = ‖E − E_proj‖_F.
//  2. σ from F_e = F F_p⁻¹; τ' = τ + η d; γ = clamp(ν Δt (‖σ‖_F − τ')/‖σ‖_F, 0, 1).
//  3. SVD of F_e (conventional) or of F_proj F_p⁻¹ (examples) = U Σ Vᵀ; Σ̂ = det(Σ)^(−1/3) Σ;
//     F_p⁻¹ ← F_p⁻¹ V Σ̂^(−γ) Vᵀ.
// With the elastic strain in step 1, or without F_p⁻¹ in step 3, the deformation leaves the example space
// (124° and 154° of a 90° twist were seen). ν Δt is kept at 0.2 or below by repeating the update in shorter
// pieces. A flow in the direction of the examples need not lower W_i (11 % of random states and examples
// raised it, by up to 1.7 %): γ is halved until it does, or nothing flows, so that plasticity never makes
// energy. As det F_p = 1, what examples change in volume is never reached. Symbols: τ yield stress (Pa), ν
// flow rate (1/s), η penalty of the distance to the examples (Pa), σ
// Cauchy stress (Pa).
#pragma once

#include <vector>

#include "core/elastic/tet_elements.h"

namespace exemplar::fem {

struct PlasticParameters {
  double yield_stress = 0;      // τ, Pa
  double rate = 5;              // ν, 1/s
  double distance_penalty = 0;  // η, Pa
};

class Plasticity {
 public:
  // `poses`: positions of the solver's nodes in each plastic example; none: conventional flow.
  // `takes_part[i][t]`: false where example i does not shape tet t (its strain there is that of rest).
  Plasticity(const TetElements& rest, const PlasticParameters& parameters, const std::vector<Points>& poses,
             const std::vector<std::vector<char>>& takes_part = {});

  // One update after a step of length dt; writes B F_p⁻¹ into elements.rest_inverse. True if anything flowed.
  bool update(const Points& x, const ElasticEnergy& energy, double dt, TetElements& elements);

  const std::vector<Mat3>& inverse() const { return m_inverse; }
  void set_inverse(std::vector<Mat3> inverse, TetElements& elements);
  double largest() const;  // max ‖F_p − I‖_F

 private:
  Mat3 projected_root(std::size_t e, const Mat3& strain, double* distance) const;
  bool flow(const Mat3& total, const ElasticEnergy& energy, double dt, std::size_t e);

  PlasticParameters m_parameters;
  std::vector<Mat3> m_rest_inverse;  // Dm⁻¹
  std::vector<Mat3> m_inverse;       // F_p⁻¹
  std::size_t m_count = 0;
  std::vector<Mat3> m_strains;  // E_j, m_count per element
};

}  // namespace exemplar::fem
