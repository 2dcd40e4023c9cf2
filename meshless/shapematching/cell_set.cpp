#include "meshless/shapematching/cell_set.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cassert>
#include <numeric>

#include "core/math/errors.h"
#include "core/math/parallel.h"
#include "meshless/shapematching/rotation.h"

namespace exemplar {

using namespace lanes;

namespace {

constexpr int cells_per_block = 64;
constexpr double rank_tolerance = 1e-8;  // eigenvalues of A_qq below this share of the largest count as zero
constexpr int stride = 4;                // doubles per padded point

// Interleaves the bits of three numbers of up to 21 bits: cells near each other get codes near each other.
std::uint64_t morton_code(const std::array<std::uint32_t, 3>& place) {
  std::uint64_t code = 0;
  for (int bit = 0; bit < 21; ++bit)
    for (int axis = 0; axis < 3; ++axis)
      code |= static_cast<std::uint64_t>((place[axis] >> bit) & 1U) << (3 * bit + axis);
  return code;
}

std::vector<int> spatial_order(const Cells& cells, const Points& rest_positions) {
  Points centres = Points::Zero(cells.count(), 3);
  for (int c = 0; c < cells.count(); ++c) {
    for (const int p : cells.of(c)) centres.row(c) += rest_positions.row(p);
    centres.row(c) /= static_cast<double>(cells.of(c).size());
  }
  const Eigen::RowVector3d low = centres.colwise().minCoeff();
  const double extent = std::max(1e-300, (centres.colwise().maxCoeff() - low).maxCoeff());
  std::vector<std::pair<std::uint64_t, int>> keys(cells.count());
  for (int c = 0; c < cells.count(); ++c) {
    std::array<std::uint32_t, 3> place{};
    for (int axis = 0; axis < 3; ++axis)
      place[axis] = static_cast<std::uint32_t>((centres(c, axis) - low(axis)) / extent * ((1 << 21) - 1));
    keys[c] = {morton_code(place), c};
  }
  std::sort(keys.begin(), keys.end());
  std::vector<int> order(cells.count());
  std::transform(keys.begin(), keys.end(), order.begin(), [](const auto& key) { return key.second; });
  return order;
}

template <int N>
struct PseudoInverse {
  Eigen::Matrix<double, N, N> inverse;     // M⁺
  Eigen::Matrix<double, N, N> null_space;  // I − M M⁺
};

template <int N>
PseudoInverse<N> pseudo_inverse(const Eigen::Matrix<double, N, N>& m) {
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix<double, N, N>> solver(m);
  const auto& v = solver.eigenvectors();
  const double limit = rank_tolerance * solver.eigenvalues().maxCoeff();
  PseudoInverse<N> out;
  out.inverse.setZero();
  out.null_space.setZero();
  for (int i = 0; i < N; ++i) {
    const double value = solver.eigenvalues()(i);
    if (value > limit && value > 0.0) {
      out.inverse += v.col(i) * v.col(i).transpose() / value;
    } else {
      out.null_space += v.col(i) * v.col(i).transpose();
    }
  }
  return out;
}

Eigen::Matrix<double, 9, 1> quadratic_terms(const Vec3& q) {
  Eigen::Matrix<double, 9, 1> out;
  out << q.x(), q.y(), q.z(), q.x() * q.x(), q.y() * q.y(), q.z() * q.z(), q.x() * q.y(), q.y() * q.z(),
      q.z() * q.x();
  return out;
}

}  // namespace

CellSet::CellSet(const Points& rest_positions, const VecX& masses, const Cells& cells,
                 const MatchOptions& options)
    : m_cells(cells), m_options(options) {
  const auto n = static_cast<std::size_t>(rest_positions.rows());
  assert(masses.size() == rest_positions.rows());
  VecX counts = VecX::Zero(static_cast<Eigen::Index>(n));
  for (int c = 0; c < cells.count(); ++c) {
    if (cells.of(c).empty()) throw InputError("a shape-matching cell has no particles");
    for (const int p : cells.of(c)) counts(p) += 1.0;
  }
  if (n == 0 || counts.minCoeff() < 1.0)
    throw InputError("every particle must belong to a shape-matching cell");
  m_inverse_counts = counts.cwiseInverse();
  m_shares = masses.cwiseProduct(m_inverse_counts);
  arrange(rest_positions);
  make_entries(n);
  double sum = 0.0;
  for (int c = 0; c < cells.count(); ++c) {
    Points shape(cells.of(c).size(), 3);
    for (std::size_t k = 0; k < cells.of(c).size(); ++k) shape.row(k) = rest_positions.row(cells.of(c)[k]);
    set_rest_shape(c, shape);
    double weight = 0.0, second = 0.0;
    const Points q = rest_shape(c);
    for (std::size_t k = 0; k < cells.of(c).size(); ++k) {
      weight += m_shares(cells.of(c)[k]);
      second += m_shares(cells.of(c)[k]) * q.row(k).squaredNorm();
    }
    sum += second / weight / 3.0;
  }
  m_mean_square_radius = sum / cells.count();
}

// Blocks of cells near each other; within a block cells of like size share batches, so that few slots are
// padding.
void CellSet::arrange(const Points& rest_positions) {
  m_places.resize(m_cells.count());
  std::vector<int> order = spatial_order(m_cells, rest_positions);
  for (std::size_t first = 0; first < order.size(); first += cells_per_block) {
    const std::size_t last = std::min(order.size(), first + cells_per_block);
    std::stable_sort(order.begin() + first, order.begin() + last,
                     [&](int a, int b) { return m_cells.of(a).size() < m_cells.of(b).size(); });
    add_block(std::span(order).subspan(first, last - first));
  }
  if (m_options.quadratic) m_quadratic_slots.resize(m_slots.size());
}

void CellSet::add_block(std::span<const int> ordered_cells) {
  Block block;
  block.first_batch = static_cast<int>(m_batches.size());
  block.first_entry = static_cast<int>(m_entry_particles.size());
  std::vector<int> members;
  for (const int c : ordered_cells) members.insert(members.end(), m_cells.of(c).begin(), m_cells.of(c).end());
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  // One more entry than particles: padded slots of a batch read and write it.
  block.entries = static_cast<int>(members.size()) + 1;
  m_entry_particles.insert(m_entry_particles.end(), members.begin(), members.end());
  m_entry_particles.push_back(-1);
  for (std::size_t first = 0; first < ordered_cells.size(); first += width) {
    Batch batch;
    batch.first_slot = static_cast<int>(m_slots.size());
    batch.q.w = splat(1.0);
    for (int lane = 0; lane < width && first + lane < ordered_cells.size(); ++lane) {
      const int c = ordered_cells[first + lane];
      m_places[c] = {static_cast<int>(m_batches.size()), lane};
      batch.slots = std::max(batch.slots, static_cast<int>(m_cells.of(c).size()));
    }
    for (int s = 0; s < batch.slots; ++s) {
      Slot slot{};
      for (int lane = 0; lane < width; ++lane) {
        slot.local[lane] = static_cast<std::uint32_t>(members.size());
        if (first + lane >= ordered_cells.size()) continue;
        const auto particles = m_cells.of(ordered_cells[first + lane]);
        if (s >= static_cast<int>(particles.size())) continue;
        slot.local[lane] = static_cast<std::uint32_t>(
            std::lower_bound(members.begin(), members.end(), particles[s]) - members.begin());
        slot.weight[lane] = m_shares(particles[s]);
      }
      m_slots.push_back(slot);
    }
    m_batches.push_back(batch);
  }
  block.last_batch = static_cast<int>(m_batches.size());
  m_blocks.push_back(block);
}

void CellSet::make_entries(std::size_t particles) {
  m_sums.assign(m_entry_particles.size() * stride, 0.0);
  m_particle_start.assign(particles + 1, 0);
  for (const int p : m_entry_particles)
    if (p >= 0) ++m_particle_start[p + 1];
  std::partial_sum(m_particle_start.begin(), m_particle_start.end(), m_particle_start.begin());
  m_particle_entries.resize(m_particle_start.back());
  std::vector<int> next(m_particle_start.begin(), m_particle_start.end() - 1);
  for (std::size_t e = 0; e < m_entry_particles.size(); ++e)
    if (m_entry_particles[e] >= 0) m_particle_entries[next[m_entry_particles[e]]++] = static_cast<int>(e);
}

Points CellSet::rest_shape(int cell) const {
  const Place place = m_places[cell];
  Points out(m_cells.of(cell).size(), 3);
  for (Eigen::Index k = 0; k < out.rows(); ++k) {
    const LaneVec& q = m_slots[m_batches[place.batch].first_slot + k].q;
    out.row(k) << q.x[place.lane], q.y[place.lane], q.z[place.lane];
  }
  return out;
}

void CellSet::set_rest_shape(int cell, const Points& shape) {
  const Place place = m_places[cell];
  const auto particles = m_cells.of(cell);
  assert(shape.rows() == static_cast<Eigen::Index>(particles.size()));
  double weight = 0.0;
  Eigen::RowVector3d centre = Eigen::RowVector3d::Zero();
  for (std::size_t k = 0; k < particles.size(); ++k) {
    weight += m_shares(particles[k]);
    centre += m_shares(particles[k]) * (shape.row(k) - shape.row(0));
  }
  centre = centre / weight + shape.row(0);
  for (std::size_t k = 0; k < particles.size(); ++k) {
    LaneVec& q = m_slots[m_batches[place.batch].first_slot + k].q;
    const Eigen::RowVector3d offset = shape.row(k) - centre;
    q.x[place.lane] = offset(0), q.y[place.lane] = offset(1), q.z[place.lane] = offset(2);
  }
  m_batches[place.batch].inverse_weight[place.lane] = 1.0 / weight;
  update_rest(cell);
}

void CellSet::update_rest(int cell) {
  const Place place = m_places[cell];
  const Points q = rest_shape(cell);
  Mat3 a_qq = Mat3::Zero();
  for (Eigen::Index k = 0; k < q.rows(); ++k)
    a_qq += m_shares(m_cells.of(cell)[k]) * q.row(k).transpose() * q.row(k);
  const PseudoInverse<3> parts = pseudo_inverse<3>(a_qq);
  Batch& batch = m_batches[place.batch];
  insert(batch.inverse, place.lane, parts.inverse);
  insert(batch.null_space, place.lane, parts.null_space);
  batch.has_null_space = false;
  for (const Lane& entry : batch.null_space.m) batch.has_null_space |= any(entry != 0.0);
  if (m_options.quadratic) {
    const double radius = std::sqrt(std::max(1e-300, q.rowwise().squaredNorm().maxCoeff()));
    update_quadratic(place, static_cast<int>(q.rows()), radius);
  }
}

// Terms are scaled by the cell's radius while the pseudo-inverse is formed, so that its rank does not depend
// on units.
void CellSet::update_quadratic(const Place& place, int count, double radius) {
  const int first = m_batches[place.batch].first_slot, lane = place.lane;
  Eigen::Matrix<double, 9, 1> units;
  units.head<3>().setConstant(radius);
  units.tail<6>().setConstant(radius * radius);
  Eigen::Matrix<double, 9, Eigen::Dynamic> terms(9, count);
  VecX weights(count);
  for (int k = 0; k < count; ++k) {
    const Slot& slot = m_slots[first + k];
    terms.col(k) = quadratic_terms({slot.q.x[lane], slot.q.y[lane], slot.q.z[lane]}).cwiseQuotient(units);
    weights(k) = slot.weight[lane];
  }
  const Eigen::Matrix<double, 9, 1> mean = terms * weights / weights.sum();
  terms.colwise() -= mean;
  const Eigen::Matrix<double, 9, 9> a_qq = terms * weights.asDiagonal() * terms.transpose();
  const Eigen::Matrix<double, 9, Eigen::Dynamic> dual =
      pseudo_inverse<9>(a_qq).inverse * terms * weights.asDiagonal();
  for (int k = 0; k < count; ++k) {
    QuadraticSlot& slot = m_quadratic_slots[first + k];
    for (int i = 0; i < 6; ++i) slot.terms[i][lane] = terms(3 + i, k) * units(3 + i);
    for (int i = 0; i < 9; ++i) slot.dual[i][lane] = dual(i, k) / units(i);
  }
}

namespace {

struct PointLanes {
  Lane x, y, z, pad;
};

inline PointLanes gather(const double* points, const std::uint32_t* local) {
  PointLanes p{load(points + stride * local[0]), load(points + stride * local[1]),
               load(points + stride * local[2]), load(points + stride * local[3])};
  transpose(p.x, p.y, p.z, p.pad);
  return p;
}

inline void scatter_add(double* sums, const std::uint32_t* local, PointLanes p) {
  transpose(p.x, p.y, p.z, p.pad);
  store(sums + stride * local[0], load(sums + stride * local[0]) + p.x);
  store(sums + stride * local[1], load(sums + stride * local[1]) + p.y);
  store(sums + stride * local[2], load(sums + stride * local[2]) + p.z);
  store(sums + stride * local[3], load(sums + stride * local[3]) + p.pad);
}

// Factor 1/∛det T. Left alone where the cell is flipped or nearly flat, and bounded, so that goals stay
// finite.
Lane volume_factor(const LaneMat& t) {
  const Lane det = determinant(t);
  Lane out = splat(1.0);
  for (int lane = 0; lane < width; ++lane)
    if (det[lane] > 1e-3) out[lane] = 1.0 / std::cbrt(std::clamp(det[lane], 1.0 / 27.0, 27.0));
  return out;
}

}  // namespace

// Sums of one batch: centres, A_pq and, in quadratic mode, the 3×9 matrices Ã.
void CellSet::fit(Batch& batch, const double* local, Lane* quadratic) const {
  LaneVec centre;
  LaneMat a_pq;
  const Slot* slots = m_slots.data() + batch.first_slot;
  for (int s = 0; s < batch.slots; ++s) {
    const PointLanes p = gather(local, slots[s].local);
    const Lane x = slots[s].weight * p.x, y = slots[s].weight * p.y, z = slots[s].weight * p.z;
    const LaneVec& q = slots[s].q;
    centre.x += x, centre.y += y, centre.z += z;
    a_pq(0, 0) += x * q.x, a_pq(0, 1) += x * q.y, a_pq(0, 2) += x * q.z;
    a_pq(1, 0) += y * q.x, a_pq(1, 1) += y * q.y, a_pq(1, 2) += y * q.z;
    a_pq(2, 0) += z * q.x, a_pq(2, 1) += z * q.y, a_pq(2, 2) += z * q.z;
  }
  batch.centre = {centre.x * batch.inverse_weight, centre.y * batch.inverse_weight,
                  centre.z * batch.inverse_weight};
  if (quadratic) {
    std::fill(quadratic, quadratic + 27, Lane{});
    for (int s = 0; s < batch.slots; ++s) {
      const PointLanes p = gather(local, slots[s].local);
      const QuadraticSlot& terms = m_quadratic_slots[batch.first_slot + s];
      for (int i = 0; i < 9; ++i) {
        quadratic[i] += p.x * terms.dual[i];
        quadratic[9 + i] += p.y * terms.dual[i];
        quadratic[18 + i] += p.z * terms.dual[i];
      }
    }
  }
  blend(batch, a_pq);
}

// R, A and T (eq. 2.17–2.19).
void CellSet::blend(Batch& batch, const LaneMat& a_pq) const {
  const LaneMat r = extract_rotations(a_pq, batch.q);
  batch.linear = a_pq * batch.inverse;
  if (batch.has_null_space) {
    const LaneMat kept = r * batch.null_space;
    for (int i = 0; i < 9; ++i) batch.linear.m[i] += kept.m[i];
  }
  const double beta = m_options.beta;
  for (int i = 0; i < 9; ++i) batch.transformation.m[i] = beta * batch.linear.m[i] + (1.0 - beta) * r.m[i];
  if (m_options.conserve_volume) {
    const Lane factor = volume_factor(batch.transformation);
    for (int i = 0; i < 9; ++i) batch.transformation.m[i] *= factor;
  }
}

// Adds the goals T q + x_cm of a batch to its particles' sums.
void CellSet::scatter(const Batch& batch, const Lane* quadratic, double* sums) const {
  const Slot* slots = m_slots.data() + batch.first_slot;
  const LaneMat& t = batch.transformation;
  for (int s = 0; s < batch.slots; ++s) {
    const LaneVec goal = t * slots[s].q;
    PointLanes p{goal.x + batch.centre.x, goal.y + batch.centre.y, goal.z + batch.centre.z, Lane{}};
    if (quadratic) {
      // T̃ = β Ã + (1 − β) [R 0 0]: T holds β A + (1 − β) R, so the linear block of Ã takes the place of A.
      const QuadraticSlot& terms = m_quadratic_slots[batch.first_slot + s];
      Lane* out[3] = {&p.x, &p.y, &p.z};
      for (int row = 0; row < 3; ++row) {
        const Lane* a = quadratic + 9 * row;
        Lane extra = (a[0] - batch.linear(row, 0)) * slots[s].q.x +
                     (a[1] - batch.linear(row, 1)) * slots[s].q.y +
                     (a[2] - batch.linear(row, 2)) * slots[s].q.z;
        for (int i = 0; i < 6; ++i) extra += a[3 + i] * terms.terms[i];
        *out[row] += m_options.beta * extra;
      }
    }
    scatter_add(sums, slots[s].local, p);
  }
}

void CellSet::match_block(const Block& block, const Points& positions, const Vec3& origin) {
  thread_local std::vector<double> local;
  local.assign(static_cast<std::size_t>(block.entries) * stride, 0.0);
  const int* particles = m_entry_particles.data() + block.first_entry;
  for (int e = 0; e + 1 < block.entries; ++e) {
    const double* x = positions.data() + 3 * static_cast<std::ptrdiff_t>(particles[e]);
    for (int axis = 0; axis < 3; ++axis) local[stride * e + axis] = x[axis] - origin(axis);
  }
  double* sums = m_sums.data() + stride * static_cast<std::ptrdiff_t>(block.first_entry);
  std::fill(sums, sums + stride * static_cast<std::ptrdiff_t>(block.entries), 0.0);
  Lane quadratic[27];
  Lane* const terms = m_options.quadratic ? quadratic : nullptr;
  for (int b = block.first_batch; b < block.last_batch; ++b) {
    fit(m_batches[b], local.data(), terms);
    scatter(m_batches[b], terms, sums);
    LaneVec& centre = m_batches[b].centre;
    centre.x += origin.x(), centre.y += origin.y(), centre.z += origin.z();
  }
}

void CellSet::match(const Points& positions, const Vec3& origin, Points& goals) {
  parallel_for(
      m_blocks.size(), [&](std::size_t b) { match_block(m_blocks[b], positions, origin); }, 4);
  goals.resize(positions.rows(), 3);
  parallel_for(
      static_cast<std::size_t>(positions.rows()),
      [&](std::size_t i) {
        Lane sum{};
        for (int e = m_particle_start[i]; e < m_particle_start[i + 1]; ++e)
          sum += load(m_sums.data() + stride * static_cast<std::ptrdiff_t>(m_particle_entries[e]));
        double* goal = goals.data() + 3 * i;
        for (int axis = 0; axis < 3; ++axis) goal[axis] = sum[axis] * m_inverse_counts[i] + origin(axis);
      },
      1024);
}

Mat3 CellSet::rotation(int cell) const {
  return extract(to_matrix(m_batches[m_places[cell].batch].q), m_places[cell].lane);
}

Mat3 CellSet::linear(int cell) const {
  return extract(m_batches[m_places[cell].batch].linear, m_places[cell].lane);
}

Mat3 CellSet::transformation(int cell) const {
  return extract(m_batches[m_places[cell].batch].transformation, m_places[cell].lane);
}

Vec3 CellSet::centre(int cell) const {
  const LaneVec& c = m_batches[m_places[cell].batch].centre;
  const int lane = m_places[cell].lane;
  return {c.x[lane], c.y[lane], c.z[lane]};
}

std::size_t CellSet::state_size() const {
  return 4 * static_cast<std::size_t>(m_cells.count()) + 3 * m_cells.particles.size();
}

std::vector<double> CellSet::state() const {
  std::vector<double> out;
  out.reserve(state_size());
  for (int c = 0; c < m_cells.count(); ++c) {
    const LaneQuat& q = m_batches[m_places[c].batch].q;
    const int lane = m_places[c].lane;
    out.insert(out.end(), {q.w[lane], q.x[lane], q.y[lane], q.z[lane]});
    const Points shape = rest_shape(c);
    out.insert(out.end(), shape.data(), shape.data() + shape.size());
  }
  return out;
}

void CellSet::set_state(std::span<const double> state) {
  if (state.size() != state_size()) throw InputError("saved shape-matching cells do not fit this body");
  std::size_t at = 0;
  for (int c = 0; c < m_cells.count(); ++c) {
    LaneQuat& q = m_batches[m_places[c].batch].q;
    const int lane = m_places[c].lane;
    q.w[lane] = state[at], q.x[lane] = state[at + 1], q.y[lane] = state[at + 2], q.z[lane] = state[at + 3];
    at += 4;
    // Written back as they were, without centring again, so that a resumed run has the same bits.
    for (std::size_t k = 0; k < m_cells.of(c).size(); ++k, at += 3) {
      LaneVec& rest = m_slots[m_batches[m_places[c].batch].first_slot + k].q;
      rest.x[lane] = state[at], rest.y[lane] = state[at + 1], rest.z[lane] = state[at + 2];
    }
    update_rest(c);
  }
}

}  // namespace exemplar
