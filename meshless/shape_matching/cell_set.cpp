#include "meshless/shape_matching/cell_set.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "core/base/errors.h"
#include "core/base/parallel.h"
#include "meshless/shape_matching/rotation.h"

namespace exemplar::shape_matching {

using namespace lanes;

namespace {

// Positions, rest positions and sums of so many particles fit the first-level cache (96 bytes each of 48 kB).
constexpr int particles_per_block = 384;
constexpr double rank_tolerance = 1e-8;  // eigenvalues of A_qq below this share of the largest count as zero
constexpr int stride = 4;                // doubles per padded point
constexpr int k_wide_overlap = 2;        // layers from which sums over the lattice are quicker (measured)

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
                 const MatchOptions& options, const LatticeRegions& regions)
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
  m_options.owns_rest_shapes |= m_options.quadratic;
  if (!regions.empty() && regions.overlap >= k_wide_overlap && !m_options.owns_rest_shapes) {
    m_lattice.emplace(regions);
    m_lattice_rest = rest_positions.rowwise() - rest_positions.colwise().mean();
  }
  arrange(rest_positions);
  make_entries(n);
  double sum = 0.0;
  for (int c = 0; c < cells.count(); ++c) {
    Points shape(cells.of(c).size(), 3);
    for (std::size_t k = 0; k < cells.of(c).size(); ++k) shape.row(k) = rest_positions.row(cells.of(c)[k]);
    const Points q = centred(c, shape);
    if (m_options.owns_rest_shapes) write_shape(c, q);
    update_rest(c, q);
    double second = 0.0;
    for (std::size_t k = 0; k < cells.of(c).size(); ++k)
      second += m_shares(cells.of(c)[k]) * q.row(k).squaredNorm();
    sum += second * m_batches[m_places[c].batch].inverse_weight[m_places[c].lane] / 3.0;
  }
  m_mean_square_radius = sum / cells.count();
}

// Blocks of cells near each other; within a block cells of like size share batches, so that few slots are
// padding.
void CellSet::arrange(const Points& rest_positions) {
  m_places.resize(m_cells.count());
  std::vector<int> order = spatial_order(m_cells, rest_positions);
  std::vector<std::size_t> block_of(rest_positions.rows(),
                                    order.size());  // where a particle was last counted
  for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
    int particles = 0;
    for (; last < order.size() && (particles < particles_per_block || (last - first) % width != 0); ++last)
      for (const int p : m_cells.of(order[last]))
        if (std::exchange(block_of[p], first) != first) ++particles;
    add_block(std::span(order).subspan(first, last - first), rest_positions);
  }
  const bool keeps_maps = m_options.beta > 0.0 || m_options.conserve_volume || m_options.owns_rest_shapes;
  Maps at_rest;
  for (int i = 0; i < 3; ++i) at_rest.transformation(i, i) = at_rest.linear(i, i) = splat(1.0);
  if (keeps_maps) m_maps.resize(m_batches.size(), at_rest);
  if (m_options.owns_rest_shapes) m_own.resize(stride * m_index.size(), 0.0);
  if (m_options.quadratic) m_quadratic.resize(m_index.size());
  if (m_options.bend_share < 1.0 && !m_options.quadratic && !m_lattice)
    m_bends.resize(stride * m_index.size(), 0.0);
}

void CellSet::add_block(std::span<const int> ordered_cells, const Points& rest_positions) {
  Block block;
  block.first_batch = static_cast<int>(m_batches.size());
  block.first_entry = static_cast<int>(m_entry_particles.size());
  std::vector<int> members;
  for (const int c : ordered_cells) members.insert(members.end(), m_cells.of(c).begin(), m_cells.of(c).end());
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  block.entries = static_cast<int>(members.size());
  for (const int p : members)
    block.rest_origin += rest_positions.row(p).transpose() / static_cast<double>(members.size());
  if (m_lattice) block.rest_origin = rest_positions.colwise().mean().transpose();
  for (const int p : members) {
    const Vec3 rest = rest_positions.row(p).transpose() - block.rest_origin;
    m_entry_particles.push_back(p);
    m_entry_rest.insert(m_entry_rest.end(), {rest.x(), rest.y(), rest.z(), 1.0});
  }
  for (std::size_t first = 0; first < ordered_cells.size(); first += width)
    add_batch(ordered_cells.subspan(first, std::min<std::size_t>(width, ordered_cells.size() - first)),
              members);
  block.last_batch = static_cast<int>(m_batches.size());
  m_blocks.push_back(block);
}

void CellSet::add_batch(std::span<const int> cells_of_batch, std::span<const int> members) {
  Batch batch;
  batch.q.w = splat(1.0);
  for (std::size_t lane = 0; lane < cells_of_batch.size(); ++lane) {
    const int c = cells_of_batch[lane];
    m_places[c] = {static_cast<int>(m_batches.size()), static_cast<int>(lane),
                   static_cast<int>(m_blocks.size())};
    batch.first[lane] = static_cast<int>(m_index.size());
    batch.count[lane] = static_cast<int>(m_cells.of(c).size());
    batch.cell[lane] = c;
    for (const int p : m_cells.of(c)) {
      const auto at = std::lower_bound(members.begin(), members.end(), p) - members.begin();
      m_index.push_back(static_cast<std::uint32_t>(stride * at));
    }
  }
  m_batches.push_back(batch);
}

void CellSet::make_entries(std::size_t particles) {
  if (m_lattice) {  // the sums of a particle's cells come in one
    m_sums.assign(particles * stride, 0.0);
    m_particle_start.resize(particles + 1);
    std::iota(m_particle_start.begin(), m_particle_start.end(), 0);
    m_particle_entries.assign(m_particle_start.begin(), m_particle_start.end() - 1);
    return;
  }
  m_sums.assign(m_entry_particles.size() * stride, 0.0);
  m_particle_start.assign(particles + 1, 0);
  for (const int p : m_entry_particles) ++m_particle_start[p + 1];
  std::partial_sum(m_particle_start.begin(), m_particle_start.end(), m_particle_start.begin());
  m_particle_entries.resize(m_particle_start.back());
  std::vector<int> next(m_particle_start.begin(), m_particle_start.end() - 1);
  for (std::size_t e = 0; e < m_entry_particles.size(); ++e)
    m_particle_entries[next[m_entry_particles[e]]++] = static_cast<int>(e);
}

// Rest positions less their weighted centre.
Points CellSet::centred(int cell, const Points& shape) const {
  const auto particles = m_cells.of(cell);
  assert(shape.rows() == static_cast<Eigen::Index>(particles.size()));
  double weight = 0.0;
  Eigen::RowVector3d centre = Eigen::RowVector3d::Zero();
  for (std::size_t k = 0; k < particles.size(); ++k) {
    weight += m_shares(particles[k]);
    centre += m_shares(particles[k]) * (shape.row(k) - shape.row(0));
  }
  return shape.rowwise() - (centre / weight + shape.row(0));
}

// Rest position of one member of a cell, and a one.
const double* CellSet::rest_row(const double* block_rest, int member) const {
  return m_options.owns_rest_shapes ? m_own.data() + stride * static_cast<std::ptrdiff_t>(member)
                                    : block_rest + m_index[member];
}

Points CellSet::rest_shape(int cell) const {
  const Place place = m_places[cell];
  const int first = m_batches[place.batch].first[place.lane];
  const double* block_rest =
      m_entry_rest.data() + stride * static_cast<std::ptrdiff_t>(m_blocks[place.block].first_entry);
  Points out(m_cells.of(cell).size(), 3);
  for (Eigen::Index k = 0; k < out.rows(); ++k) {
    const double* rest = rest_row(block_rest, first + static_cast<int>(k));
    out.row(k) << rest[0], rest[1], rest[2];
  }
  return m_options.owns_rest_shapes ? out : centred(cell, out);
}

void CellSet::set_rest_shape(int cell, const Points& shape) {
  assert(m_options.owns_rest_shapes);
  const Points q = centred(cell, shape);
  write_shape(cell, q);
  update_rest(cell, q);
}

void CellSet::write_shape(int cell, const Points& q) {
  const Place place = m_places[cell];
  double* row = m_own.data() + stride * static_cast<std::ptrdiff_t>(m_batches[place.batch].first[place.lane]);
  for (Eigen::Index k = 0; k < q.rows(); ++k, row += stride) {
    row[0] = q(k, 0), row[1] = q(k, 1), row[2] = q(k, 2), row[3] = 1.0;
  }
}

// What follows from the rest shape: centre and weight, A_qq⁺, the directions without extent.
void CellSet::update_rest(int cell, const Points& q) {
  const Place place = m_places[cell];
  Batch& batch = m_batches[place.batch];
  double weight = 0.0;
  Mat3 a_qq = Mat3::Zero();
  Vec3 centre = Vec3::Zero();
  const double* block_rest =
      m_entry_rest.data() + stride * static_cast<std::ptrdiff_t>(m_blocks[place.block].first_entry);
  for (Eigen::Index k = 0; k < q.rows(); ++k) {
    const double* rest = rest_row(block_rest, batch.first[place.lane] + static_cast<int>(k));
    const double w = m_shares(m_cells.of(cell)[k]);
    weight += w;
    centre += w * Vec3(rest[0], rest[1], rest[2]);
    a_qq += w * q.row(k).transpose() * q.row(k);
  }
  centre /= weight;
  batch.inverse_weight[place.lane] = 1.0 / weight;
  batch.rest_centre.x[place.lane] = centre.x();
  batch.rest_centre.y[place.lane] = centre.y();
  batch.rest_centre.z[place.lane] = centre.z();
  if (!m_bends.empty()) update_bends(cell, q);
  if (m_maps.empty()) return;
  const PseudoInverse<3> parts = pseudo_inverse<3>(a_qq);
  Maps& maps = m_maps[place.batch];
  insert(maps.inverse, place.lane, parts.inverse);
  insert(maps.null_space, place.lane, parts.null_space);
  maps.has_null_space = false;
  for (const Lane& entry : maps.null_space.m) maps.has_null_space |= any(entry != 0.0);
  if (m_options.quadratic) update_quadratic(cell, q);
}

namespace {

// Takes out of `term` what the columns of `basis` have of it under the weights; twice, for round-off.
void make_orthogonal(const MatX& basis, Eigen::Index columns, const VecX& weights, VecX& term) {
  for (int round = 0; round < 2; ++round)
    for (Eigen::Index k = 0; k < columns; ++k)
      term -= basis.col(k).dot(weights.cwiseProduct(term)) * basis.col(k);
}

}  // namespace

// Flat and thin cells have fewer bends: what the others say already is left out.
void CellSet::update_bends(int cell, const Points& q) {
  constexpr double least_share = 1e-6;  // of a term that must be its own
  const Place place = m_places[cell];
  double* rows =
      m_bends.data() + stride * static_cast<std::ptrdiff_t>(m_batches[place.batch].first[place.lane]);
  VecX weights(q.rows());
  for (Eigen::Index k = 0; k < q.rows(); ++k) weights(k) = m_shares(m_cells.of(cell)[k]);
  MatX terms(q.rows(), 8), basis(q.rows(), 8);
  terms << VecX::Ones(q.rows()), q, q.col(0).cwiseProduct(q.col(1)), q.col(1).cwiseProduct(q.col(2)),
      q.col(2).cwiseProduct(q.col(0)), q.rowwise().prod();
  for (Eigen::Index k = 0; k < 8; ++k) {
    VecX term = terms.col(k);
    const double whole = term.dot(weights.cwiseProduct(term));
    make_orthogonal(basis, k, weights, term);
    const double own = term.dot(weights.cwiseProduct(term));
    basis.col(k).setZero();
    if (own > least_share * whole) basis.col(k) = term / std::sqrt(own);
    if (k < 4) continue;
    for (Eigen::Index row = 0; row < q.rows(); ++row) rows[stride * row + (k - 4)] = basis(row, k);
  }
}

// Terms are scaled by the cell's radius while the pseudo-inverse is formed, so that its rank does not depend
// on units.
void CellSet::update_quadratic(int cell, const Points& q) {
  const Place place = m_places[cell];
  const double radius = std::sqrt(std::max(1e-300, q.rowwise().squaredNorm().maxCoeff()));
  Eigen::Matrix<double, 9, 1> units;
  units.head<3>().setConstant(radius);
  units.tail<6>().setConstant(radius * radius);
  Eigen::Matrix<double, 9, Eigen::Dynamic> terms(9, q.rows());
  VecX weights(q.rows());
  for (Eigen::Index k = 0; k < q.rows(); ++k) {
    terms.col(k) = quadratic_terms(q.row(k).transpose()).cwiseQuotient(units);
    weights(k) = m_shares(m_cells.of(cell)[k]);
  }
  const Eigen::Matrix<double, 9, 1> mean = terms * weights / weights.sum();
  terms.colwise() -= mean;
  const Eigen::Matrix<double, 9, 9> a_qq = terms * weights.asDiagonal() * terms.transpose();
  const Eigen::Matrix<double, 9, Eigen::Dynamic> dual = pseudo_inverse<9>(a_qq).inverse * terms;
  for (Eigen::Index k = 0; k < q.rows(); ++k) {
    QuadraticRow& row = m_quadratic[m_batches[place.batch].first[place.lane] + k];
    for (int i = 0; i < 6; ++i) row.terms[i] = terms(3 + i, k) * units(3 + i);
    for (int i = 0; i < 9; ++i) row.dual[i] = dual(i, k) / units(i);
  }
}

namespace {

// A vector per cell from three numbers of four cells.
struct CellColumns {
  Lane cell[width];
};

CellColumns columns_of(Lane x, Lane y, Lane z) {
  CellColumns out{{x, y, z, Lane{}}};
  transpose(out.cell[0], out.cell[1], out.cell[2], out.cell[3]);
  return out;
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

namespace {

// From Σ w x (x⁰, 1)ᵀ of four cells (a row of each cell a vector) to A_pq and the cells' centres.
LaneMat centred_sums(Lane (&rows)[3][width], const LaneVec& at_rest, Lane inverse_weight, LaneVec& centre) {
  LaneMat a;
  Lane means[3];
  for (int r = 0; r < 3; ++r) {
    transpose(rows[r][0], rows[r][1], rows[r][2], rows[r][3]);
    const Lane total = rows[r][3];
    a(r, 0) = rows[r][0] - total * at_rest.x;
    a(r, 1) = rows[r][1] - total * at_rest.y;
    a(r, 2) = rows[r][2] - total * at_rest.z;
    means[r] = total * inverse_weight;
  }
  centre = {means[0], means[1], means[2]};
  return a;
}

}  // namespace

// A_pq = Σ w x (x⁰ − x⁰_cm)ᵀ and the centres of one batch. A row of Σ w x (x⁰, 1)ᵀ is one vector: the fourth
// lane adds up the centre.
LaneMat CellSet::sum(Batch& batch, const double* weighted, const double* rest) const {
  Lane rows[3][width];
  for (int lane = 0; lane < width; ++lane) {
    Lane a0{}, a1{}, a2{};
    const int end = batch.first[lane] + batch.count[lane];
    for (int member = batch.first[lane]; member < end; ++member) {
      const Lane q = load(rest_row(rest, member));
      const double* x = weighted + m_index[member];
      a0 += x[0] * q, a1 += x[1] * q, a2 += x[2] * q;
    }
    rows[0][lane] = a0, rows[1][lane] = a1, rows[2][lane] = a2;
  }
  return centred_sums(rows, batch.rest_centre, batch.inverse_weight, batch.centre);
}

// A and T (eq. 2.17, 2.19).
void CellSet::blend(Maps& maps, const LaneMat& a_pq, const LaneMat& r) const {
  maps.linear = a_pq * maps.inverse;
  if (maps.has_null_space) {
    const LaneMat kept = r * maps.null_space;
    for (int i = 0; i < 9; ++i) maps.linear.m[i] += kept.m[i];
  }
  const double beta = m_options.beta;
  for (int i = 0; i < 9; ++i) maps.transformation.m[i] = beta * maps.linear.m[i] + (1.0 - beta) * r.m[i];
  if (m_options.conserve_volume) {
    const Lane factor = volume_factor(maps.transformation);
    for (int i = 0; i < 9; ++i) maps.transformation.m[i] *= factor;
  }
}

// Adds the goals T (x⁰ − x⁰_cm) + x_cm of a batch to its particles' sums.
void CellSet::scatter(const Batch& batch, const LaneMat& t, const double* rest, double* sums) const {
  const LaneVec turned = t * batch.rest_centre;
  const CellColumns shift =
      columns_of(batch.centre.x - turned.x, batch.centre.y - turned.y, batch.centre.z - turned.z);
  const CellColumns t0 = columns_of(t(0, 0), t(1, 0), t(2, 0)), t1 = columns_of(t(0, 1), t(1, 1), t(2, 1)),
                    t2 = columns_of(t(0, 2), t(1, 2), t(2, 2));
  for (int lane = 0; lane < width; ++lane) {
    const int end = batch.first[lane] + batch.count[lane];
    for (int member = batch.first[lane]; member < end; ++member) {
      const double* q = rest_row(rest, member);
      double* to = sums + m_index[member];
      store(to, load(to) +
                    (shift.cell[lane] + t0.cell[lane] * q[0] + t1.cell[lane] * q[1] + t2.cell[lane] * q[2]));
    }
  }
}

// What quadratic mode adds: T̃ = β Ã + (1 − β) [R 0 0]. T holds β A + (1 − β) R, so the linear block of the
// 3×9 matrix Ã takes the place of A.
void CellSet::add_quadratic(const Batch& batch, const Maps& maps, const double* weighted,
                            double* sums) const {
  for (int lane = 0; lane < width; ++lane) {
    const int end = batch.first[lane] + batch.count[lane];
    Lane a[9]{};
    for (int member = batch.first[lane]; member < end; ++member) {
      const Lane x = load(weighted + m_index[member]);
      for (int i = 0; i < 9; ++i) a[i] += x * m_quadratic[member].dual[i];
    }
    const Mat3 linear = extract(maps.linear, lane);
    for (int i = 0; i < 3; ++i) a[i] -= Lane{linear(0, i), linear(1, i), linear(2, i), 0.0};
    for (int member = batch.first[lane]; member < end; ++member) {
      const double* q = rest_row(nullptr, member);
      Lane extra = a[0] * q[0] + a[1] * q[1] + a[2] * q[2];
      for (int i = 0; i < 6; ++i) extra += a[3 + i] * m_quadratic[member].terms[i];
      double* to = sums + m_index[member];
      store(to, load(to) + m_options.beta * extra);
    }
  }
}

void CellSet::add_bends(const Batch& batch, const double* weighted, double* sums) const {
  const double kept = (1.0 - m_options.beta) * m_options.bend_share,
               kept_twist = std::min(1.0, 2.0 * m_options.bend_share * kept);
  const Lane followed{1.0 - kept, 1.0 - kept, 1.0 - kept, 1.0 - kept_twist};
  for (int lane = 0; lane < width; ++lane) {
    const int end = batch.first[lane] + batch.count[lane];
    Lane a0{}, a1{}, a2{}, a3{};
    for (int member = batch.first[lane]; member < end; ++member) {
      const Lane b = load(m_bends.data() + stride * static_cast<std::ptrdiff_t>(member));
      const double* x = weighted + m_index[member];
      a0 += x[0] * b, a1 += x[1] * b, a2 += x[2] * b;
    }
    a0 *= followed, a1 *= followed, a2 *= followed;
    transpose(a0, a1, a2, a3);  // a vector per bend
    for (int member = batch.first[lane]; member < end; ++member) {
      const double* b = m_bends.data() + stride * static_cast<std::ptrdiff_t>(member);
      double* to = sums + m_index[member];
      store(to, load(to) + (a0 * b[0] + a1 * b[1] + a2 * b[2] + a3 * b[3]));
    }
  }
}

// Rotations of a batch; returns T, which is r itself where T is no more than R.
const LaneMat& CellSet::fit_batch(std::size_t batch, const LaneMat& a_pq, LaneMat& r) {
  r = extract_rotations(a_pq, m_batches[batch].q);
  if (m_maps.empty()) return r;
  blend(m_maps[batch], a_pq, r);
  return m_maps[batch].transformation;
}

// A particle's numbers are the rows of w x (x⁰, 1)ᵀ, a cell's the rows of (T, x_cm − T x⁰_cm).
void CellSet::fit_lattice(const Points& positions, const Vec3& origin) {
  constexpr std::size_t numbers = LatticeSums::width;
  const auto particles = static_cast<std::size_t>(positions.rows());
  const Lane from{origin.x(), origin.y(), origin.z(), 0.0};
  m_particle_values.resize(numbers * particles);
  parallel_for(
      particles,
      [&](std::size_t i) {
        const double* q = m_lattice_rest.data() + 3 * i;
        const Lane rest{q[0], q[1], q[2], 1.0},
            x = m_shares(static_cast<Eigen::Index>(i)) * (load_three(positions.data() + 3 * i) - from);
        for (std::size_t r = 0; r < 3; ++r)
          store(m_particle_values.data() + numbers * i + 4 * r, x[r] * rest);
      },
      1024);
  m_lattice->over_cells(m_particle_values, m_cell_values);
  parallel_for(
      m_batches.size(), [&](std::size_t b) { fit_lattice_batch(b, origin); }, 64);
  m_lattice->over_particles(m_cell_values, m_particle_values);
  parallel_for(
      particles,
      [&](std::size_t i) {
        const double *q = m_lattice_rest.data() + 3 * i, *t = m_particle_values.data() + numbers * i;
        for (std::size_t r = 0; r < 3; ++r)
          m_sums[stride * i + r] = t[4 * r] * q[0] + t[4 * r + 1] * q[1] + t[4 * r + 2] * q[2] + t[4 * r + 3];
      },
      1024);
}

// Reads the sums of a batch's cells and writes their transformations in their place.
void CellSet::fit_lattice_batch(std::size_t b, const Vec3& origin) {
  Batch& batch = m_batches[b];
  Lane rows[3][width]{};
  double* const values = m_cell_values.data();
  for (int lane = 0; lane < width; ++lane)
    for (int r = 0; r < 3 && batch.count[lane] > 0; ++r)
      rows[r][lane] = load(values + LatticeSums::width * std::ptrdiff_t{batch.cell[lane]} + 4 * r);
  const LaneMat a_pq = centred_sums(rows, batch.rest_centre, batch.inverse_weight, batch.centre);
  LaneMat rotation;
  const LaneMat& t = fit_batch(b, a_pq, rotation);
  const LaneVec turned = t * batch.rest_centre;
  const Lane shift[3]{batch.centre.x - turned.x, batch.centre.y - turned.y, batch.centre.z - turned.z};
  for (int r = 0; r < 3; ++r) {
    Lane columns[width]{t(r, 0), t(r, 1), t(r, 2), shift[r]};
    transpose(columns[0], columns[1], columns[2], columns[3]);
    for (int lane = 0; lane < width; ++lane)
      if (batch.count[lane] > 0)
        store(values + LatticeSums::width * std::ptrdiff_t{batch.cell[lane]} + 4 * r, columns[lane]);
  }
  batch.centre.x += origin.x(), batch.centre.y += origin.y(), batch.centre.z += origin.z();
}

void CellSet::match_block(const Block& block, const Points& positions, const Vec3& origin) {
  thread_local PaddedPoints buffer;
  buffer.resize(std::max(buffer.size(), static_cast<std::size_t>(block.entries) * stride));
  double* const weighted = buffer.data();  // w (x − origin) of the block's particles
  const double* rest = m_entry_rest.data() + stride * static_cast<std::ptrdiff_t>(block.first_entry);
  const int* particles = m_entry_particles.data() + block.first_entry;
  const Lane from{origin.x(), origin.y(), origin.z(), 0.0};
  for (int e = 0; e < block.entries; ++e) {
    const double* x = positions.data() + 3 * static_cast<std::ptrdiff_t>(particles[e]);
    store(weighted + stride * e, m_shares(particles[e]) * (load_three(x) - from));
  }
  double* sums = m_sums.data() + stride * static_cast<std::ptrdiff_t>(block.first_entry);
  std::fill(sums, sums + stride * static_cast<std::ptrdiff_t>(block.entries), 0.0);
  for (int b = block.first_batch; b < block.last_batch; ++b) {
    Batch& batch = m_batches[b];
    const LaneMat a_pq = sum(batch, weighted, rest);
    LaneMat r;
    const LaneMat& t = fit_batch(static_cast<std::size_t>(b), a_pq, r);
    scatter(batch, t, rest, sums);
    if (m_options.quadratic) add_quadratic(batch, m_maps[b], weighted, sums);
    if (m_follows_bends && !m_bends.empty()) add_bends(batch, weighted, sums);
    batch.centre.x += origin.x(), batch.centre.y += origin.y(), batch.centre.z += origin.z();
  }
}

void CellSet::fit(const Points& positions, const Vec3& origin) {
  if (m_lattice) {
    fit_lattice(positions, origin);
  } else {
    parallel_for(
        m_blocks.size(), [&](std::size_t b) { match_block(m_blocks[b], positions, origin); }, 4);
  }
  m_origin = Lane{origin.x(), origin.y(), origin.z(), 0.0};
}

void CellSet::match(const Points& positions, const Vec3& origin, Points& goals) {
  fit(positions, origin);
  goals.resize(positions.rows(), 3);
  parallel_for(
      static_cast<std::size_t>(positions.rows()),
      [&](std::size_t i) { store_three(goals.data() + 3 * i, goal(i)); }, 1024);
}

void CellSet::match_unbent(const Points& positions, const Vec3& origin, Points& goals) {
  m_follows_bends = false;
  match(positions, origin, goals);
  m_follows_bends = true;
}

namespace {

struct CellVolume {
  double weight = 0.0, det = 0.0;  // W_c and det A_c
  Points gradient;                 // w_i cof(A) A_qq⁻¹ q_i of its particles, times W_c
};

// `w` shares of the particles, `x` their positions, `q` the rest shape. Flat cells have no volume to keep.
CellVolume cell_volume(const VecX& w, const Points& x, const Points& q) {
  CellVolume out;
  const Mat3 a_qq = q.transpose() * w.asDiagonal() * q;
  if (a_qq.determinant() < 1e-9 * std::pow(a_qq.trace() / 3.0, 3)) return out;
  const Mat3 inverse = a_qq.inverse();
  const Eigen::RowVector3d centre = w.transpose() * x / w.sum();
  const Mat3 a = (x.rowwise() - centre).transpose() * w.asDiagonal() * q * inverse;
  Mat3 cofactor;
  cofactor << a.col(1).cross(a.col(2)), a.col(2).cross(a.col(0)), a.col(0).cross(a.col(1));
  out.weight = w.sum();
  out.det = a.determinant();
  out.gradient = out.weight * w.asDiagonal() * (q * inverse * cofactor.transpose());
  return out;
}

}  // namespace

double CellSet::volume(const Points& positions, Points& gradient, double& rest) const {
  std::vector<CellVolume> parts(static_cast<std::size_t>(m_cells.count()));
  parallel_for(
      parts.size(),
      [&](std::size_t c) {
        const auto particles = m_cells.of(static_cast<int>(c));
        VecX w(static_cast<Eigen::Index>(particles.size()));
        Points x(w.size(), 3);
        for (Eigen::Index k = 0; k < w.size(); ++k) {
          w(k) = m_shares(particles[static_cast<std::size_t>(k)]);
          x.row(k) = positions.row(particles[static_cast<std::size_t>(k)]);
        }
        parts[c] = cell_volume(w, x, rest_shape(static_cast<int>(c)));
      },
      16);
  gradient = Points::Zero(positions.rows(), 3);
  double sum = 0.0;
  rest = 0.0;
  for (int c = 0; c < m_cells.count(); ++c) {
    const CellVolume& part = parts[static_cast<std::size_t>(c)];
    sum += part.weight * part.det;
    rest += part.weight;
    for (Eigen::Index k = 0; k < part.gradient.rows(); ++k)
      gradient.row(m_cells.of(c)[static_cast<std::size_t>(k)]) += part.gradient.row(k);
  }
  return sum;
}

Mat3 CellSet::rotation(int cell) const {
  return extract(to_matrix(m_batches[m_places[cell].batch].q), m_places[cell].lane);
}

Mat3 CellSet::linear(int cell) const {
  assert(!m_maps.empty());
  return extract(m_maps[m_places[cell].batch].linear, m_places[cell].lane);
}

Mat3 CellSet::transformation(int cell) const {
  return m_maps.empty() ? rotation(cell)
                        : extract(m_maps[m_places[cell].batch].transformation, m_places[cell].lane);
}

Vec3 CellSet::centre(int cell) const {
  const LaneVec& c = m_batches[m_places[cell].batch].centre;
  const int lane = m_places[cell].lane;
  return {c.x[lane], c.y[lane], c.z[lane]};
}

CellSet::State CellSet::state() const {
  State out;
  if (m_options.owns_rest_shapes) out.rest_shapes.resize(to_row(m_cells.particles.size()), 3);
  Eigen::Index row = 0;
  for (int c = 0; c < m_cells.count(); ++c) {
    const LaneQuat& q = m_batches[m_places[c].batch].q;
    const int lane = m_places[c].lane;
    out.rotations.emplace_back(q.w[lane], q.x[lane], q.y[lane], q.z[lane]);
    if (!m_options.owns_rest_shapes) continue;
    const Points shape = rest_shape(c);
    out.rest_shapes.middleRows(row, shape.rows()) = shape;
    row += shape.rows();
  }
  return out;
}

void CellSet::set_state(const State& state) {
  const Eigen::Index members = m_options.owns_rest_shapes ? to_row(m_cells.particles.size()) : 0;
  if (to_int(state.rotations.size()) != m_cells.count() || state.rest_shapes.rows() != members)
    throw InputError("saved shape-matching cells do not fit this body");
  Eigen::Index row = 0;
  for (int c = 0; c < m_cells.count(); ++c) {
    LaneQuat& q = m_batches[m_places[c].batch].q;
    const int lane = m_places[c].lane;
    const Quat& turn = state.rotations[to_size(c)];
    q.w[lane] = turn.w(), q.x[lane] = turn.x(), q.y[lane] = turn.y(), q.z[lane] = turn.z();
    if (!m_options.owns_rest_shapes) continue;
    // Written back as they were, without centring again, so that a resumed run has the same bits.
    const Points shape = state.rest_shapes.middleRows(row, to_row(m_cells.of(c).size()));
    row += shape.rows();
    write_shape(c, shape);
    update_rest(c, shape);
  }
}

}  // namespace exemplar::shape_matching
