// The cuboid experiments of schumacher2012, used by tests, validation and benches: the twisting cuboid of §6,
// the three plastic cuboids of Fig. 4 and the drift experiment of §6.1 and Fig. 3.
#pragma once

#include "fem/solid_model.h"

namespace exemplar::fem {

// A box along z with one example: a 90° twist about z with axial scale 0.75 (a length-preserving twist is not
// excited by compression under the simplex).
struct CuboidOptions {
  Vec3 size = Vec3(1, 1, 2);
  double twist_degrees = 90;
  double axial_scale = 0.75;
  double mu = 1e4, kappa = 2e4;  // Pa
  double density = 1000;         // kg/m³
  double example_stiffness = 1;
};

Points twisted_pose(const Points& x, double length, double degrees, double axial_scale);
SolidModel make_twisting_cuboid(const Eigen::Vector3i& nodes, ExampleMethod method, LinearMethod linear,
                                const CuboidOptions& options = {}, double compatible_penalty = 1000);
// Equal and opposite axial forces of `total` newton on the end faces, shared by area.
Points compression_forces(const SolidModel& model, double total);
// Best-fit rotation of the upper end face against the lower about z, degrees.
double twist_angle(const SolidModel& model);

enum class PlasticCase { conventional, projected, distance_dependent };

struct CuboidResult {
  double twist_degrees = 0;
  double height_change = 0;                      // relative
  double smallest_width = 0, largest_width = 0;  // of the cross-sections, relative to rest
  double largest_plastic = 0;                    // max ‖F_p − I‖
  int steps = 0, iterations = 0;
  bool ok = false;
  Points positions;
};

// Fig. 4: 5×5×9 nodes, 4000 N ramped up in 0.5 s, held 0.5 s, released, then static equilibrium with
// plasticity frozen.
CuboidResult compress_cuboid(PlasticCase kind, double dt = 0.01);

struct DriftResult {
  double force_ratio = 0;        // max|dW_i/dw| / max|dW_p/dw|
  double weight_of_largest = 0;  // where W_p is largest
  double largest_energy = 0;     // of W_p, J
  double energy_at_examples = 0;
  bool single_bump = false;
  std::vector<double> weights, internal, potential;
};

// §6.1: for w from 0 to 1, minimise W_p(X_w, x) over x and record W_i and W_p (equal stiffness).
DriftResult drift_experiment(const Eigen::Vector3i& nodes, int samples);

}  // namespace exemplar::fem
