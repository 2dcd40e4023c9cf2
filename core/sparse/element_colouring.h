// Runs over elements in parallel so that each may add directly into shared nodal arrays and matrix slots:
// elements are grouped into chunks of neighbours, chunks into colours, and two chunks of one colour share no
// node. Sums at a node are always taken in the same order (colour by colour, within a chunk by element): the
// same bits for any number of threads, without per-element buffers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "core/base/parallel.h"
#include "core/math/types.h"

namespace exemplar {

class ElementColouring {
 public:
  ElementColouring() = default;
  // `nodes`: the elements' nodes, `per_element` each. `order`: a permutation of the elements in which
  // neighbours are near each other (see spatial_order); empty for the given order.
  ElementColouring(std::span<const int> nodes, int per_element, std::vector<int> order);

  // Calls body(element) for every element.
  template <class Body>
  void for_each(const Body& body) const {
    for_each_group<1>([&](std::span<const int> group) { body(static_cast<std::size_t>(group[0])); });
  }
  // Calls body(elements) for groups of up to Size elements, which are neighbours and may share nodes.
  template <std::size_t Size, class Body>
  void for_each_group(const Body& body) const {
    for (const std::vector<Chunk>& colour : m_colours) {
      parallel_for(
          colour.size(),
          [&](std::size_t c) {
            for (std::size_t k = colour[c].begin; k < colour[c].end; k += Size)
              body(std::span(m_order).subspan(k, std::min(Size, colour[c].end - k)));
          },
          1);
    }
  }
  std::size_t colours() const { return m_colours.size(); }

 private:
  struct Chunk {
    std::size_t begin, end;
  };
  std::vector<int> m_order;
  std::vector<std::vector<Chunk>> m_colours;
};

// Elements sorted along a space-filling curve through their centroids.
std::vector<int> spatial_order(const Points& centroids);

}  // namespace exemplar
