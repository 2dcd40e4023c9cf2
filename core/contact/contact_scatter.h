// From contact blocks to the Newton solver's bordered system (core/sparse/newton.h): surface points are spread
// to the nodes they hang on, which go to columns of the fixed pattern; dynamic obstacles go to six border
// unknowns each.
//
// Contact of bodies with each other and with themselves fills blocks that the fixed pattern does not have. They
// go to a second block matrix over the touching nodes, made anew in each iteration (add_patch), which the linear
// solver takes beside the first one (core/sparse/patch_matrix.h).
#pragma once

#include <span>
#include <vector>

#include "core/contact/contact_blocks.h"
#include "core/sparse/newton.h"

namespace exemplar {

// Where the unknowns are: z = (3 per free column, border).
struct ContactUnknowns {
  std::span<const int> column_of_node;      // −1: held
  std::span<const int> border_of_obstacle;  // first of its six border unknowns; −1: not an unknown
};

// Groups of nodes (−1 where there are fewer) that contact with obstacles couples: those that one surface
// triangle hangs on. A pattern must hold them; with the identity map tets and shell elements bring them
// anyway, points of a cage may hang on different tets.
struct ContactCliques {
  std::vector<int> nodes;
  int size = 0;  // of a group
};
ContactCliques contact_cliques(const ContactSurface& surface);

// To all nodes (held ones too) and to the border. Returns the largest force of one block on one node, N.
double add_gradient(std::span<const ContactBlock> blocks, const PointMap& map,
                    const ContactUnknowns& unknowns, Points& nodes, VecX& border);
// Blocks of pairs with obstacles, to the fixed pattern and the border.
void add_hessian(std::span<const ContactBlock> blocks, const PointMap& map, const ContactUnknowns& unknowns,
                 BorderedHessian& h);
// Blocks of pairs of two surfaces, of all lists together: h's patch, which must be empty before.
void add_patch(std::span<const std::span<const ContactBlock>> lists, const PointMap& map,
               const ContactUnknowns& unknowns, BorderedHessian& h);

}  // namespace exemplar
