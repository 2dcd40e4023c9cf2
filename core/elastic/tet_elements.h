// Tetrahedral elements ready for evaluation: rest edge inverses, volumes, scatter slots and colouring, and
// the sums over elements of an energy, its gradient and its Hessian. Deterministic for any number of threads.
#pragma once

#include <span>
#include <vector>

#include "core/elastic/energies.h"
#include "core/elastic/tet_kernel.h"
#include "core/mesh/mesh.h"
#include "core/sparse/element_colouring.h"
#include "core/sparse/pattern.h"

namespace exemplar {

class TetElements {
 public:
  TetElements() = default;
  // Elements of a mesh; node indices are raised by `first_node` when the mesh is part of a larger set of
  // nodes. `selection`: only these tets (empty: all). Throws InputError for tets without positive volume.
  explicit TetElements(const TetMesh& mesh, int first_node = 0, std::span<const int> selection = {});

  std::size_t count() const { return volume.size(); }
  const int* nodes_of(std::size_t e) const { return nodes.data() + 4 * e; }
  Mat3 deformation(const Points& x, std::size_t e) const {
    return edge_matrix(x, nodes_of(e)) * rest_inverse[e];
  }
  // Precomputes where each element's blocks go. `column_of_node` is −1 for held nodes.
  void connect(const BlockPattern& pattern, std::span<const int> column_of_node);

  std::vector<int> nodes;          // four per element
  std::vector<Mat3> rest_inverse;  // may be replaced by B F_p⁻¹ (plasticity)
  std::vector<double> volume;      // m³
  ElementColouring colouring;
  std::vector<BlockSlot> slots;  // ten per element
};

double elastic_energy(const ElasticEnergy& energy, const TetElements& elements, const Points& x);
void add_elastic_gradient(const ElasticEnergy& energy, const TetElements& elements, const Points& x,
                          Points& gradient);
void add_elastic_hessian(const ElasticEnergy& energy, const TetElements& elements, const Points& x,
                         bool project, BlockMatrix& hessian);

// A quarter of each element's mass on each of its nodes (kg).
VecX lumped_mass(const TetElements& elements, double density, Eigen::Index node_count);
// ∫ρ N_a N_b: volume/10 on the diagonal, volume/20 beside it; with one integration point volume/16
// everywhere.
void add_consistent_mass(const TetElements& elements, double density, BlockMatrix& mass,
                         bool one_point = false);

// Numbers the nodes that are not held: result[node] = column or −1.
std::vector<int> number_free_nodes(Eigen::Index node_count, std::span<const int> held, int* free_count);

}  // namespace exemplar
