// A sheet with its material, examples and plasticity, in either model: what a scene's body becomes. Makes the
// rest states, the starting unknowns and the terms of the solver, lets the rest state flow after each step,
// and knows what can be shown of a triangle.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/state_member.h"
#include "core/implicit/node_term.h"
#include "shells/sheet.h"

namespace exemplar::shells {

enum class SheetModelKind { physical, paper };

// Poses that share one set of weights.
struct SheetExamples {
  std::vector<Points> poses;     // vertices, one each
  std::vector<int> numbers;      // of the body's examples, for messages
  std::vector<char> takes_part;  // per triangle; empty: all
  double membrane = 1, bending = 1;
  bool on_simplex = true;
  VecX initial_weights;  // empty: zero
};

struct SheetPlasticity {
  double yield_strain = 0;
  bool full_section = true;
  std::vector<Points> poses;
  std::vector<int> numbers;
  std::vector<std::vector<char>> takes_part;  // per pose and triangle
};

struct SheetInput {
  std::string path;              // in the scene, for messages
  TriMesh mesh;                  // at rest
  Points positions, velocities;  // at the start; empty: at rest
  double density = 1000;         // kg/m³
  PlateMaterial material;
  SheetModelKind model = SheetModelKind::physical;
  bool curved_membrane = false;
  std::optional<double> stretching, area,
      bending;  // k_L, k_A, k_B of the paper's model; none: from the material
  double internal_stiffness = 1;
  double damping = 0;  // β, s: viscosity relative to the stiffness of W_i and W_p together
  std::vector<SheetExamples> examples;
  std::optional<SheetPlasticity> plastic;
  Edges clamped_edges = Edges(0, 2);  // border edges that get a ghost
};

// k_L, k_A, k_B that fit the material on a mesh of equilateral triangles: springs give Poisson's ratio 1/3
// and take the shear modulus G h, the area term adds what the bulk modulus lacks, k_B = D/3.
PaperStiffness fitted_stiffness(const PlateMaterial& material, double mean_edge);

// What is shown of each triangle (one entry each).
struct SheetFields {
  VecX membrane_energy, bending_energy;  // J/m²
  MatX curvatures, strains;              // principal values, larger first; 1/m and −
  VecX plastic_curvature;                // largest principal value of K̄ − K̄_0, 1/m
  VecX plastic_strain;
};

struct SheetState {
  MatX rest;    // p̄, one column per triangle
  VecX angles;  // θ of the last step's end
  double dissipation = 0;
  double outside = 0;  // largest outside_examples() of any step
  int held_back = 0;

  static constexpr auto described() {
    return std::tuple(member("rest", &SheetState::rest), member("angles", &SheetState::angles),
                      member("dissipation", &SheetState::dissipation),
                      member("outside", &SheetState::outside), member("held_back", &SheetState::held_back));
  }
};

class SheetBody {
 public:
  virtual ~SheetBody() = default;

  const Sheet& sheet() const { return *m_sheet; }
  const SheetInput& input() const { return m_input; }
  // All nodes of the sheet at the start: vertices, ghosts, angles of the edges.
  const Points& start() const { return m_start; }
  // Which edges are clamped, for these held vertices; before each step.
  void set_clamped(const std::vector<char>& held) { m_sheet->set_clamped(held); }
  // Dihedral angles at the nodes x, continued from the last step's.
  virtual VecX angles(const Points& x) const = 0;
  // W_i with the first set of examples, then one term per further set.
  const std::vector<std::shared_ptr<NodeTerm>>& terms() const { return m_terms; }

  // Plastic flow at the nodes x; true if any rest state has changed. `weights`: of each set of examples,
  // whose undeformed pose flows too.
  virtual bool flow(const Points& x, const std::vector<VecX>& weights) = 0;
  virtual double internal_energy(const Points& x) const = 0;
  virtual double bending_energy(const Points& x) const = 0;  // the part of it in bending
  virtual double example_energy(const Points& x, std::size_t set, const VecX& w) const = 0;
  virtual SheetFields fields(const Points& x) const = 0;
  virtual SheetState state() const = 0;
  // Throws InputError for one that belongs to another sheet.
  virtual void set_state(SheetState state) = 0;
  // Largest plastic change of curvature times half the thickness, or strain: −.
  virtual double plastic_measure() const = 0;
  double dissipation() const { return m_dissipation; }
  int held_back() const { return m_held_back; }
  // How far any rest state has been outside the space of the plastic examples after any step (plasticity.h);
  // none without such examples.
  std::optional<double> outside() const {
    const bool confined = m_input.plastic && !m_input.plastic->poses.empty();
    return confined ? std::optional(m_outside) : std::nullopt;
  }
  // Largest κ l²/h: above 10 the membrane may lock (see triangle_energy.h).
  virtual double locking_measure(const Points& x) const = 0;

 protected:
  explicit SheetBody(SheetInput input) : m_input(std::move(input)) {}
  SheetInput m_input;
  std::shared_ptr<Sheet> m_sheet;
  Points m_start;
  std::vector<std::shared_ptr<NodeTerm>> m_terms;
  double m_dissipation = 0;
  double m_outside = 0;
  int m_held_back = 0;
};

// Throws InputError for surfaces that are no sheet and examples that fold it over or flatten a triangle.
// `first_node`: of this body in the solver.
std::unique_ptr<SheetBody> make_sheet_body(SheetInput input, int first_node);

}  // namespace exemplar::shells
