// What elements of a body show: stress, change of volume, stretches and how far they are from the examples.
#pragma once

#include <vector>

#include "core/output/fields.h"
#include "fem/solid_model.h"

namespace exemplar::fem {

// One row per tet, of a quadratic one the mean over its integration points. Stress is that of both
// potentials: σ = (P_e F_eᵀ + Σ P_w F_wᵀ)/J, without viscosity.
struct ElementFields {
  MatX cauchy_stress;        // Pa: xx, yy, zz, xy, yz, xz
  MatX von_mises;            // Pa
  MatX volume_ratio;         // J = det F
  MatX principal_stretches;  // singular values of F, descending; the last is negative in an inverted element
  MatX example_energy;       // J/m³: density of W_p, the distance to the examples
};

ElementFields element_fields(const SolidModel& model, std::size_t body);

// ‖F_p − I‖_F of every tet, of a quadratic one the mean over its integration points.
MatX plastic_strains(const SolidModel& model, std::size_t body);

// As cell arrays: von Mises stress and change of volume, or with `all` everything.
std::vector<FieldArray> element_arrays(const SolidModel& model, std::size_t body, bool all);

}  // namespace exemplar::fem
