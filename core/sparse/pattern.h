// Fixed symmetric sparsity of 3×3 node blocks and the matrix values on it. Built once from the node lists of
// all elements; an element then adds its blocks through precomputed slots, without searching.
//
// Layout: the lower triangle in compressed columns, as CHOLMOD reads it (stype −1) without a copy. Block
// column j holds its diagonal block first, then the blocks of larger rows in ascending order; its values are
// one dense column-major panel of (3·blocks) × 3. Diagonal blocks are stored whole; CHOLMOD ignores their
// upper half.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/math/types.h"

namespace exemplar {

// Where a 3×3 block lives. A negative stride says that the stored block is the transpose; a negative offset
// that the block does not exist because one of its nodes is held.
struct BlockSlot {
  std::int32_t offset = -1;
  std::int32_t stride = 0;
};

class BlockPattern {
 public:
  // `cliques`: nodes that interact, in groups of `clique_size`; entries −1 (held nodes) are skipped. Every
  // column gets its diagonal block.
  BlockPattern(int columns, std::span<const int> cliques, int clique_size);
  // Several kinds of elements at once.
  struct CliqueList {
    std::span<const int> nodes;
    int size;
  };
  BlockPattern(int columns, std::span<const CliqueList> lists);

  int columns() const { return m_columns; }
  int dofs() const { return 3 * m_columns; }
  std::size_t value_count() const { return m_row_index.size(); }

  // Slot of block (row, column) in any order; invalid if either is negative. The block must exist.
  BlockSlot slot(int row, int column) const;
  // Slots of all pairs (a, b), a ≥ b, of one element in the order (0,0) (1,0) (1,1) (2,0) …
  std::vector<BlockSlot> slots(std::span<const int> nodes) const;

  std::span<const int> block_rows(int column) const {
    return {m_block_rows.data() + m_block_start[index(column)],
            static_cast<std::size_t>(m_block_start[index(column) + 1] - m_block_start[index(column)])};
  }
  std::size_t panel_offset(int column) const {
    return 9 * static_cast<std::size_t>(m_block_start[index(column)]);
  }

  // The scalar matrix: compressed columns with 32-bit indices.
  std::span<const int> column_start() const { return m_column_start; }
  std::span<const int> row_index() const { return m_row_index; }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  void build(std::span<const CliqueList> lists);
  void expand_to_scalars();

  int m_columns = 0;
  std::vector<int> m_block_start;
  std::vector<int> m_block_rows;
  std::vector<int> m_column_start;
  std::vector<int> m_row_index;
};

// Values on a pattern. The pattern must outlive the matrix.
class BlockMatrix {
 public:
  BlockMatrix() = default;
  explicit BlockMatrix(const BlockPattern& pattern)
      : m_pattern(&pattern), m_values(pattern.value_count(), 0.0) {}

  const BlockPattern& pattern() const { return *m_pattern; }
  bool empty() const { return m_pattern == nullptr; }
  std::span<double> values() { return m_values; }
  std::span<const double> values() const { return m_values; }
  void set_zero();
  void add_scaled(const BlockMatrix& other, double factor);

  // Adds a block through its slot; does nothing for an invalid slot.
  void add(BlockSlot slot, const Mat3& block) {
    if (slot.offset < 0) return;
    double* at = m_values.data() + slot.offset;
    if (slot.stride > 0) {
      for (int c = 0; c < 3; ++c) {
        for (int r = 0; r < 3; ++r) at[c * slot.stride + r] += block(r, c);
      }
    } else {
      for (int c = 0; c < 3; ++c) {
        for (int r = 0; r < 3; ++r) at[-c * slot.stride + r] += block(c, r);
      }
    }
  }
  // Asks for the memory of a block that is added to soon.
  void prefetch(BlockSlot slot) const {
    const int stride = slot.stride > 0 ? slot.stride : -slot.stride;
    const double* at = m_values.data() + (slot.offset < 0 ? 0 : slot.offset);
    for (int c = 0; c < 3; ++c) __builtin_prefetch(at + c * stride, 1);
  }
  // Adds `value` to the three diagonal entries of a node.
  void add_to_diagonal(int column, double value);
  Mat3 diagonal_block(int column) const;

  // y = A x for one or several columns; the same bits for any number of threads.
  void multiply(const VecX& x, VecX& y) const;
  MatX to_dense() const;

 private:
  const BlockPattern* m_pattern = nullptr;
  std::vector<double> m_values;
};

}  // namespace exemplar
