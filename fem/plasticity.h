// Plastic flow of solids (schumacher2012 §5.1, eq. 6–9), conventional or confined to the space of example
// poses. Per element (integration point of a quadratic tet) F = F_e F_p; stored is F_p⁻¹ with det F_p = 1, and the
// equivalent plastic strain ε, which says how far the material has hardened. Three ways:
//  - within the step (plastic_return.h), where there is no example and no rate: take_over() books what flowed there;
//  - after each step, without delay (no rate): with examples of either kind;
//  - after each step at the paper's rate ν.
// After a step:
//  1. E from the total F. Project: min_w ‖E − Σ w_j E_j‖ over the simplex with E_0 = 0 → E_proj, F_proj = √(2
//  E_proj + I),
//     d = ‖E − E_proj‖_F.
//  2. τ' = τ_y(ε) + η d.
//  3. SVD of F_e = F F_p⁻¹ (conventional) or of F_proj F_p⁻¹ (examples) = U Σ Vᵀ; Σ̂ = det(Σ)^(−1/3) Σ;
//     F_p⁻¹ ← F_p⁻¹ V Σ̂^(−γ) Vᵀ.
//     Without a rate γ is the least for which von Mises' stress of F_e is τ'; at the rate ν
//     γ = clamp(ν Δt (‖σ‖_F − τ')/‖σ‖_F, 0, 1), ν Δt being kept at 0.2 or below by repeating it in shorter pieces.
// With the elastic strain in step 1, or without F_p⁻¹ in step 3, the deformation leaves the example space
// (124° and 154° of a 90° twist were seen).
// Plasticity never makes energy. A flow in the direction of the examples need not lower W_i (11 % of random states and
// examples raised it, by up to 1.7 %): flow goes on only while W_i falls, and may then stop above τ'. It also moves
// example 0; what that does to W_p only the body knows (solid_model.h). As det F_p = 1, what examples change in volume
// is never reached.
// Symbols: τ_y yield stress (Pa), ν flow rate (1/s), η penalty of the distance to the examples (Pa), σ Cauchy stress (Pa).
#pragma once

#include <optional>
#include <vector>

#include "core/elastic/tet_elements.h"
#include "core/elastic/yield_curve.h"
#include "fem/elastic_term.h"

namespace exemplar::fem {

struct PlasticParameters {
  YieldCurve yield;             // τ_y
  std::optional<double> rate;   // ν, 1/s; none: no delay
  double distance_penalty = 0;  // η, Pa
};

// What an update did.
struct FlowSum {
  bool flowed = false;
  double released = 0;  // J, never negative
};

// How far a rate lets the stress rise: means over what flowed in a step, by volume.
struct Overstress {
  double factor = 0;       // ‖σ‖_F/τ'
  double strain_rate = 0;  // of ε, 1/s
};

class Plasticity {
 public:
  // `poses`: positions of the solver's nodes in each plastic example; none: conventional flow.
  // `takes_part[i][t]`: false where example i does not shape tet t (its strain there is that of rest).
  Plasticity(const TetElements& rest, const PlasticParameters& parameters, const std::vector<Points>& poses,
             const std::vector<std::vector<char>>& takes_part = {});

  // One update after a step of length dt; writes B F_p⁻¹ into elements.rest_inverse. `share`: this part of the flow.
  FlowSum update(const Points& x, const ElasticEnergy& energy, double dt, TetElements& elements,
                 double share = 1);
  // Takes over what flowed within a step.
  FlowSum take_over(const std::vector<ElementFlow>& flows, TetElements& elements);

  const PlasticParameters& parameters() const { return m_parameters; }
  bool has_examples() const { return m_count > 0; }
  const std::vector<Mat3>& inverse() const { return m_inverse; }
  const std::vector<double>& strains() const { return m_hardening; }  // ε
  void set(std::vector<Mat3> inverse, std::vector<double> strains, TetElements& elements);
  double largest() const;  // max ‖F_p − I‖_F
  // The largest of any update so far at a rate and without examples.
  const Overstress& overstress() const { return m_overstress; }

 private:
  struct Element;  // what one update knows of an element

  Mat3 projected_root(std::size_t e, const Mat3& strain, double* distance) const;
  double yield(const Element& element, double more) const;
  double share_without_delay(const Element& element) const;
  double share_at_rate(const Element& element, double dt) const;
  void watch(const std::vector<double>& volumes, const std::vector<Overstress>& each);

  PlasticParameters m_parameters;
  std::vector<Mat3> m_rest_inverse;  // Dm⁻¹
  std::vector<Mat3> m_inverse;       // F_p⁻¹
  std::vector<double> m_hardening;   // ε
  std::size_t m_count = 0;
  std::vector<Mat3> m_strains;  // E_j, m_count per element
  Overstress m_overstress;
};

}  // namespace exemplar::fem
