#include "meshless/peridynamics/solver.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/math/rigid_velocity.h"

namespace exemplar::peridynamics {

namespace {

// Particles per task; fixed, so that nothing depends on the thread count.
constexpr std::size_t block_size = 512;

// Of four. With fewer the kernel for rows is the quicker one.
constexpr double least_bonds_per_entry = 2.6;

Vec3 vec(const Record& r) {
  return {r.x, r.y, r.z};
}

void store(Record& r, const Vec3& v) {
  r.x = v.x();
  r.y = v.y();
  r.z = v.z();
}

ParticleSet sorted(const ParticleSet& particles, const std::vector<int>& order) {
  ParticleSet result;
  result.positions = particles.positions(order, Eigen::all);
  for (const int i : order) {
    result.volumes.push_back(particles.volumes[i]);
    result.body.push_back(particles.body[i]);
    result.on_surface.push_back(particles.on_surface[i]);
    if (!particles.radii.empty()) result.radii.push_back(particles.radii[i]);
  }
  return result;
}

template <class Function>
Points gather(const AlignedVector<Record>& records, const std::vector<int>& order, const Function& of) {
  Points result(static_cast<Eigen::Index>(records.size()), 3);
  for (std::size_t i = 0; i < records.size(); ++i) result.row(order[i]) = of(records[i]).transpose();
  return result;
}

}  // namespace

struct Solver::Block {
  double speed_squared = 0;
  bool finite = true;
  std::vector<ObstacleImpulse> impulses;
  std::vector<std::size_t> yielding;  // particles that touch obstacles of finite mass
  std::vector<int> touching;          // bodies, that touch others
};

Vec3 projectile_force(const Projectile& projectile, const Vec3& point) {
  const Vec3 away = point - projectile.centre;
  const double r = projectile.radius;
  const double squared = away.squaredNorm();
  if (squared <= 0 || squared > 2.25 * r * r) return Vec3::Zero();  // no model reaches further than 1.5 r
  const double d = std::sqrt(squared);
  if (projectile.model == ProjectileModel::indent) {
    return d < r ? Vec3(projectile.stiffness * (r - d) * (r - d) / d * away) : Vec3::Zero();
  }
  if (d <= 0.75 * r || d >= 1.5 * r) return Vec3::Zero();
  const double rise = 16 * (d - 0.75 * r) * (d - 1.5 * r) * (d - 1.5 * r);
  const double magnitude = projectile.stiffness * std::pow(rise, 2.0 / 3.0);
  const double speed = projectile.velocity.norm();
  const Vec3 halfway = away / d + (speed > 0 ? Vec3(projectile.velocity / speed) : Vec3::Zero());
  const double length = halfway.norm();
  return length > 0 ? Vec3(magnitude / length * halfway) : Vec3::Zero();
}

Solver::Solver(const ParticleSet& particles, std::span<const Material> materials, const Rules& rules,
               double horizon, double spacing, const BondCut& is_cut)
    : m_rules(rules), m_horizon(horizon), m_spacing(spacing), m_order(memory_order(particles, spacing)) {
  const std::size_t count = particles.size();
  const ParticleSet own = sorted(particles, m_order);
  m_rank.resize(count);
  for (std::size_t i = 0; i < count; ++i) m_rank[m_order[i]] = static_cast<int>(i);
  BondCut is_cut_here;
  if (is_cut) is_cut_here = [&](int i, int j) { return is_cut(m_order[i], m_order[j]); };
  BondModel model = build_bonds(own, materials, horizon, spacing, rules.stiffness, is_cut_here);
  m_bonds = std::move(model.bonds);
  m_stiffness = std::move(model.stiffness);
  m_eligible = own.on_surface;
  if (rules.contact == ContactModel::emu) m_eligible.assign(count, 1);
  m_records.resize(count);
  m_velocities.resize(count);
  m_accelerations.resize(count);
  m_rest.resize(count);
  m_mass.resize(count);
  m_strength.resize(count);
  for (const double radius : own.radii) m_radius.push_back(radius);
  if (m_radius.empty()) m_radius.assign(count, 0.5 * spacing);
  m_released.assign(count, 0);
  m_dissipated.assign(count, 0);
  m_work.assign(count, 0);
  double softest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < count; ++i) {
    const Material& material = materials[own.body[i]];
    softest = std::min(softest, material.bulk_modulus);
    const Vec3 x = own.positions.row(static_cast<Eigen::Index>(i));
    m_mass[i] = material.density * own.volumes[i];
    const double spread =
        rules.strength_spread * normal_random(rules.seed, static_cast<std::uint64_t>(m_order[i]));
    m_strength[i] = model.critical_strain[i] * std::max(0.0, 1 + spread);
    const double limit = rules.break_in_first_pass ? m_strength[i] : std::numeric_limits<double>::max();
    m_records[i] = {x.x(), x.y(), x.z(), squared_limit(limit, 1)};
    m_velocities[i] = {0, 0, 0, 1 / m_mass[i]};
    m_accelerations[i] = {0, 0, 0, limit};
    m_rest[i] = {x.x(), x.y(), x.z(), own.volumes[i]};
  }
  m_body = own.body;
  m_members.resize(materials.size());
  for (std::size_t i = 0; i < count; ++i) m_members[to_size(m_body[i])].push_back(static_cast<int>(i));
  m_touches.assign(materials.size(), 0);
  m_contact_stiffness = rules.contact_stiffness > 0
                            ? rules.contact_stiffness
                            : softest / (2 * rules.contact_range * spacing * spacing * spacing);
  m_kernel = choose_kernel(m_bonds, m_rules);
  m_group_kernel = choose_group_kernel(m_rules);
}

void Solver::set_positions(const Points& positions) {
  for (std::size_t i = 0; i < size(); ++i) {
    const Vec3 x = positions.row(m_order[i]);
    set_record(i, {x.x(), x.y(), x.z(), m_records[i].w});
  }
  m_contact_path = -1;
  m_evaluated = false;
}

void Solver::set_velocities(const Points& velocities) {
  for (std::size_t i = 0; i < size(); ++i) store(m_velocities[i], velocities.row(m_order[i]));
}

void Solver::drive(const Points& velocities) {
  for (std::size_t i = 0; i < size(); ++i) {
    const Vec3 before = vec(m_velocities[i]), after = velocities.row(m_order[i]);
    m_work[i] += 0.5 * m_mass[i] * (after.squaredNorm() - before.squaredNorm());
  }
  set_velocities(velocities);
}

void Solver::set_held(std::span<const std::uint8_t> axes) {
  bool in_part = false;
  m_holds_any = false;
  for (std::size_t i = 0; i < size(); ++i) {
    const std::uint8_t held = axes[m_order[i]];
    m_holds_any |= held != 0;
    m_velocities[i].w = held == held_wholly ? 0 : 1 / m_mass[i];
    in_part |= held != 0 && held != held_wholly;
  }
  m_held.clear();
  if (!in_part) return;
  for (const int i : m_order) m_held.push_back(axes[i]);
}

Vec3 Solver::without_held_axes(std::size_t i, Vec3 value) const {
  if (m_held.empty()) return value;
  for (int axis = 0; axis < 3; ++axis) {
    if (m_held[i] >> axis & 1) value[axis] = 0;
  }
  return value;
}

void Solver::set_accelerations(const Points& accelerations) {
  m_external.resize(size());
  for (std::size_t i = 0; i < size(); ++i) m_external[i] = accelerations.row(m_order[i]);
}

void Solver::set_obstacles(ObstacleQuery query, double greatest_speed, YieldingObstacles yielding) {
  m_obstacles = std::move(query);
  m_yielding = std::move(yielding);
  m_obstacle_speed = greatest_speed;
  m_clear_until.assign(size(), -std::numeric_limits<double>::infinity());
}

void Solver::remove_bonds(const BondCut& cut) {
  m_bonds.remove([&](int i, int j) { return cut(m_order[i], m_order[j]); });
  m_has_groups = false;
}

void Solver::weaken_bonds(const std::function<bool(int, int)>& chosen) {
  m_bonds.weaken([&](int i, int j) { return chosen(m_order[i], m_order[j]); });
}

void Solver::use_portable_kernel(bool portable) {
  m_kernel = choose_kernel(m_bonds, m_rules, portable);
  m_group_kernel = portable ? nullptr : choose_group_kernel(m_rules);
  m_has_groups = false;
}

double Solver::contact_range() const {
  return (m_rules.contact == ContactModel::emu ? 1.35 : m_rules.contact_range) * m_spacing;
}

template <class Visit>
void Solver::for_each_contact(std::size_t i, const Visit& visit) const {
  if (!m_eligible[i]) return;
  const Record& self = m_records[i];
  const double range = contact_range();
  for (const int j : m_contacts.near(i)) {
    const Record& other = m_records[j];
    const Vec3 away(self.x - other.x, self.y - other.y, self.z - other.z);
    const double squared = away.squaredNorm();
    if (squared >= range * range || squared == 0 || !m_eligible[j]) continue;
    const double r = std::sqrt(squared);
    const double rest = (vec(m_rest[i]) - vec(m_rest[j])).norm();
    if (m_rules.contact == ContactModel::emu) {
      const double k = 0.5 * (m_stiffness[i] + m_stiffness[j]);
      const double volumes = m_rest[i].w * m_rest[j].w;
      visit(away, r, emu_contact(r, std::min(0.9 * rest, range), k, volumes, m_horizon));
    } else if (m_bonds.find(static_cast<int>(i), j) < 0) {
      const double volume = 0.5 * (m_rest[i].w + m_rest[j].w);
      double start = std::min(rest, range);
      if (!m_overlaps.empty()) {
        for (const Overlap& overlap : m_overlaps[i])
          if (overlap.other == j) start = std::min(start, overlap.start);
      }
      visit(away, r, levine_contact(r, start, m_contact_stiffness, volume));
    }
  }
}

void Solver::register_new_contacts() {
  if (m_rules.contact == ContactModel::levine && !m_newcomers.empty()) {
    m_overlaps.resize(size());
    const double range = contact_range();
    const auto keep = [&](int i, int j, double r) {
      std::vector<Overlap>& own = m_overlaps[static_cast<std::size_t>(i)];
      const auto known = std::find_if(own.begin(), own.end(), [&](const Overlap& o) { return o.other == j; });
      if (known == own.end()) own.push_back({j, r});
    };
    for (const int i : m_newcomers) {
      for (const int j : m_contacts.near(static_cast<std::size_t>(i))) {
        const double r = (vec(m_records[i]) - vec(m_records[j])).norm();
        const double rest = (vec(m_rest[i]) - vec(m_rest[j])).norm();
        if (r >= std::min(rest, range) || !m_eligible[j] || m_bonds.find(i, j) >= 0) continue;
        keep(i, j, r);
        keep(j, i, r);
      }
    }
  }
  m_newcomers.clear();
}

void Solver::relax_overlaps() {
  const double range = contact_range();
  parallel_for(m_overlaps.size(), [&](std::size_t i) {
    if (m_overlaps[i].empty()) return;
    std::erase_if(m_overlaps[i], [&](Overlap& overlap) {
      const int j = overlap.other;
      overlap.start = std::max(overlap.start, (vec(m_records[i]) - vec(m_records[j])).norm());
      return overlap.start >= std::min((vec(m_rest[i]) - vec(m_rest[j])).norm(), range);
    });
  });
}

Vec3 Solver::other_forces(std::size_t i) const {
  Vec3 force = Vec3::Zero();
  for_each_contact(
      i, [&](const Vec3& away, double r, const PairForce& pair) { force += pair.force / r * away; });
  if (m_projectile) force += m_rest[i].w * projectile_force(*m_projectile, vec(m_records[i]));
  return force;
}

// What supports, loads and the projectile push particle i with [N]. Held axes give back what is taken from `force`.
Vec3 Solver::outside_force(std::size_t i, const Vec3& force, const Vec3& acceleration) const {
  const bool is_held = m_velocities[i].w == 0 || (!m_held.empty() && m_held[i] != 0);
  Vec3 outside = Vec3::Zero();
  if (is_held) {
    outside = m_mass[i] * (acceleration - m_gravity) - force;
  } else if (!m_external.empty()) {
    outside = m_mass[i] * m_external[i];
  }
  if (m_projectile) outside += m_rest[i].w * projectile_force(*m_projectile, vec(m_records[i]));
  return outside;
}

// The work of outside forces over a step is exactly that of the mean of its two ends times the way between them (with the
// kinetic energy of Method::diagnostics).
void Solver::accumulate_work(std::size_t i, const Vec3& outside, double half_dt) {
  m_is_pushed[i] = !outside.isZero(0);
  if (!m_is_pushed[i]) return;
  m_outside[i] = outside;
  m_work[i] += half_dt * outside.dot(vec(m_velocities[i]));
}

// Decided before any bond breaks, so that a run that goes on from a saved state adds up in the same order.
void Solver::group_bonds() {
  if (m_has_groups) return;
  m_has_groups = true;
  m_groups = {};
  m_columns = m_forces = {};
  if (!m_group_kernel || m_bonds.kind.empty()) return;
  m_groups.build(m_bonds);
  if (m_groups.bonds_per_entry(m_bonds) < least_bonds_per_entry) {
    m_groups = {};
    return;
  }
  m_columns.resize(size());
  m_forces.resize(size());
  for (std::size_t i = 0; i < size(); ++i) m_columns.set(i, m_records[i]);
}

void Solver::set_record(std::size_t i, const Record& record) {
  m_records[i] = record;
  if (!m_columns.empty()) m_columns.set(i, record);
}

// A row without its bonds that broke, in the order of the row.
void Solver::break_row(int i, std::span<const std::pair<int, BrokenBond>> broken, double half_dt) {
  RowForce row;
  std::int64_t b = m_bonds.begin[i];
  for (const auto& [self, bond] : broken) {
    const int other = bond.i + bond.j - i;
    while (m_bonds.neighbour[b] != other) ++b;
    break_bond(m_bonds, m_records.data(), i, b, bond.e, m_rules, row);
    if (bond.i == i) m_groups.remove(i, other);
  }
  m_bonds.close_row(i);
  book_broken(to_size(i), row, half_dt);
}

// The bonds of groups that broke in a pass: out of both rows, out of the groups and into the books.
void Solver::take_out(const std::vector<std::vector<BrokenBond>>& of_chunks, double half_dt) {
  std::vector<std::pair<int, BrokenBond>> broken;  // by each of its particles
  for (const std::vector<BrokenBond>& chunk : of_chunks) {
    for (const BrokenBond& bond : chunk) {
      broken.emplace_back(bond.i, bond);
      broken.emplace_back(bond.j, bond);
    }
  }
  const auto place = [](const std::pair<int, BrokenBond>& b) {
    return std::pair(b.first, b.second.i + b.second.j - b.first);
  };
  std::sort(broken.begin(), broken.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  std::vector<std::size_t> rows, groups;  // where those of another particle or group begin
  const auto group_of = [&](std::size_t k) { return to_size(broken[k].first) / BondGroups::width; };
  for (std::size_t k = 0; k < broken.size(); ++k) {
    if (k > 0 && broken[k].first == broken[k - 1].first) continue;
    if (k == 0 || group_of(k) != group_of(k - 1)) groups.push_back(rows.size());
    rows.push_back(k);
    if (!m_eligible[to_size(broken[k].first)]) m_newcomers.push_back(broken[k].first);
  }
  parallel_for(
      groups.size(),
      [&](std::size_t g) {
        const std::size_t last = g + 1 < groups.size() ? groups[g + 1] : rows.size();
        for (std::size_t r = groups[g]; r < last; ++r) {
          const std::size_t end = r + 1 < rows.size() ? rows[r + 1] : broken.size();
          break_row(broken[rows[r]].first, std::span(broken).subspan(rows[r], end - rows[r]), half_dt);
        }
        m_groups.close(group_of(rows[groups[g]]));
      },
      16);
}

// A broken bond pulled in the first half of the step and not in the second: what it did less comes out of what it releases, to
// the last digit of the balance.
void Solver::book_broken(std::size_t i, const RowForce& row, double half_dt) {
  m_released[i] += row.released;
  m_released[i] += half_dt * Vec3(row.lost).dot(vec(m_velocities[i]));
}

// body(chunk, its first group, one after its last): see bond_groups.h.
template <class Body>
void Solver::for_each_chunk(const Body& body) const {
  for (std::size_t odd = 0; odd < 2; ++odd) {
    parallel_for((m_groups.chunks() + 1 - odd) / 2,
                 [&](std::size_t k) {
                   const std::size_t chunk = 2 * k + odd, first = chunk * m_groups.chunk;
                   body(chunk, first, std::min(m_groups.size(), first + m_groups.chunk));
                 },
                 1);
  }
}

// Forces of all bonds into m_forces.
void Solver::group_forces(double half_dt) {
  const Record nothing = no_force(m_rules);
  parallel_for(
      size(), [&](std::size_t i) { m_forces.set(i, nothing); }, block_size);
  std::vector<std::vector<BrokenBond>> broken(m_groups.chunks());
  for_each_chunk([&](std::size_t chunk, std::size_t first, std::size_t end) {
    m_group_kernel(m_bonds, m_groups, m_columns, first, end, m_rules, m_forces, broken[chunk]);
  });
  take_out(broken, half_dt);
}

// visit(i, forces of the bonds of particle i); its rows have lost what broke.
template <class Visit>
void Solver::for_each_row(double half_dt, const Visit& visit) {
  if (!m_groups.empty()) {
    group_forces(half_dt);
    parallel_for(
        size(), [&](std::size_t i) { visit(i, group_force(m_forces, i, m_rules)); }, block_size);
    return;
  }
  const std::size_t blocks = (size() + block_size - 1) / block_size;
  std::vector<std::vector<int>> broken(blocks);
  parallel_for(
      blocks,
      [&](std::size_t block) {
        const std::size_t end = std::min(size(), (block + 1) * block_size);
        for (std::size_t i = block * block_size; i < end; ++i) {
          const RowForce row = m_kernel(m_bonds, m_records.data(), static_cast<int>(i), m_rules);
          if (row.broke) {
            book_broken(i, row, half_dt);
            if (!m_eligible[i]) broken[block].push_back(static_cast<int>(i));
          }
          visit(i, row);
        }
      },
      1);
  for (const std::vector<int>& block : broken)
    m_newcomers.insert(m_newcomers.end(), block.begin(), block.end());
}

void Solver::force_pass(double half_dt) {
  if (is_acted_on()) {
    m_outside.resize(size(), Vec3::Zero());
    m_is_pushed.resize(size(), 0);
  }
  const std::size_t known = m_newcomers.size();
  for_each_row(half_dt, [&](std::size_t i, const RowForce& row) {
    Record& v = m_velocities[i];
    const Vec3 force = Vec3(row.x, row.y, row.z) + other_forces(i);
    Vec3 a = v.w * force;
    if (v.w > 0) a += m_gravity;
    if (!m_external.empty() && v.w > 0) a += m_external[i];
    a = without_held_axes(i, a);
    if (!m_is_pushed.empty()) accumulate_work(i, outside_force(i, force, a), half_dt);
    const double limit = m_strength[i] - m_rules.strengthening * row.least_strain;
    m_accelerations[i] = {a.x(), a.y(), a.z(), limit};
    v.x += half_dt * a.x();
    v.y += half_dt * a.y();
    v.z += half_dt * a.z();
  });
  // Who has lost its first bond may collide from the next pass on: not at once, because others are looking
  // at the flags in this pass.
  for (std::size_t k = known; k < m_newcomers.size(); ++k) {
    const std::size_t i = to_size(m_newcomers[k]);
    m_eligible[i] = 1;
    if (!m_listed.empty() && !m_listed[i]) m_contact_path = -1;
  }
}

void Solver::bond_pass() {
  for_each_row(0, [&](std::size_t i, const RowForce& row) {
    m_accelerations[i].x = row.x * m_velocities[i].w;
    m_accelerations[i].y = row.y * m_velocities[i].w;
    m_accelerations[i].z = row.z * m_velocities[i].w;
  });
}

void Solver::evaluate() {
  m_contact_path = -1;
  group_bonds();
  const double look = first_look(m_bonds, m_rules);
  for (std::size_t i = 0; i < size(); ++i) {
    const Record& x = m_records[i];
    set_record(i, {x.x, x.y, x.z, squared_limit(m_accelerations[i].w, look)});
  }
  refresh_contacts();
  if (m_pushes) set_accelerations(m_pushes(0));
  force_pass(0);
  m_evaluated = true;
  if (!m_rules.break_in_first_pass && !m_stepped) {
    for (Record& a : m_accelerations) a.w = std::numeric_limits<double>::max();
  }
}

// The normal velocity is reflected with restitution when a particle touches an obstacle and approaches it
// (levine2014 §3, "bodyforces"). The reflection acts on the velocity at the whole step, and what the following
// half kick adds towards the obstacle is taken out again (in friction too): reflecting the velocity between two steps did work
// against the push of the other particles and heated the body (13 % more energy after one impact). Beyond the
// paper: Coulomb friction and moving obstacles.
Vec3 Solver::velocity_change(std::size_t i, const ObstaclePoint& point, const Vec3& kick) {
  const Vec3 relative = vec(m_velocities[i]) - point.velocity;
  const double approach = std::max(0.0, -relative.dot(point.normal));
  Vec3 change = (1 + point.restitution) * approach * point.normal;
  const double push = std::max(0.0, -(relative + change + kick).dot(point.normal));
  change += push * point.normal;
  // Of the velocity that the particle moves with: without the half kick, what friction holds crept down a slope by half of
  // what a step adds (6 mm/s at 1e-4 s, whatever the coefficient).
  const Vec3 moving = relative + kick, slip = moving - moving.dot(point.normal) * point.normal;
  const double speed = slip.norm();
  if (speed > 0) change -= std::min(1.0, point.friction * change.norm() / speed) * slip;
  change = without_held_axes(i, change);
  // Both changes are as if at the whole step: the half kick that follows is the integrator's own.
  m_dissipated[i] -= m_mass[i] * change.dot(relative + 0.5 * change);
  m_work[i] += m_mass[i] * change.dot(point.velocity);
  return change;
}

// The impulse on a particle that brings the relative velocity to `wanted` along the normal and to nothing across, or as near to
// that as friction can. `inverse`: relative velocity per impulse. It adds no energy if `wanted` is at most the approach.
Vec3 pair_impulse(const Vec3& relative, const Vec3& normal, double wanted, double friction,
                  const Mat3& inverse) {
  const double change = wanted - relative.dot(normal);
  const Vec3 smooth = change / normal.dot(inverse * normal) * normal;
  if (friction <= 0) return smooth;
  const Vec3 stick = inverse.ldlt().solve(wanted * normal - relative);
  const Vec3 across = stick - stick.dot(normal) * normal;
  Vec3 impulse = stick;
  if (across.norm() > friction * stick.dot(normal)) {
    const Vec3 direction = normal + friction * across.normalized();
    const double answer = normal.dot(inverse * direction);
    if (!(answer > 0)) return smooth;
    impulse = change / answer * direction;
  }
  // Where an obstacle turns rather than yields, restitution and friction together can give more than there was.
  return impulse.dot(relative + 0.5 * inverse * impulse) > 0 ? smooth : impulse;
}

// As velocity_change, at an obstacle of finite mass: each particle meets it as those before it left it. All of them at once, as at
// a wall, gave it J²/2M that nobody had lost (16.6 of 16 J after an impact). The push against the following half kick is at most what
// the approach has to give, for the same reason.
void Solver::kick_at_yielding(std::size_t i, double half_dt) {
  const Vec3 kick = half_dt * vec(m_accelerations[i]);
  const Vec3 x = vec(m_records[i]), v = vec(m_velocities[i]);
  const ObstaclePoint point = m_obstacles(m_order[i], x);
  const Vec3 touching = x - m_radius[i] * point.normal;
  const Vec3 relative = v - m_yielding.velocity(point.obstacle, touching);
  const double approach = -relative.dot(point.normal);
  Vec3 change = Vec3::Zero();
  if (approach > 0) {
    const Vec3 own = without_held_axes(i, Vec3::Constant(1 / m_mass[i]));
    Mat3 inverse = m_yielding.inverse_mass(point.obstacle, touching);
    inverse.diagonal() += own;
    const double wanted = std::min(approach, std::max(point.restitution * approach, -kick.dot(point.normal)));
    const Vec3 impulse = pair_impulse(relative, point.normal, wanted, point.friction, inverse);
    change = own.cwiseProduct(impulse);
    const double lost = -impulse.dot(relative + 0.5 * inverse * impulse);  // by both
    m_dissipated[i] += lost;
    m_work[i] += lost + m_mass[i] * change.dot(v + 0.5 * change);  // what the obstacle lost
    m_yielding.push(point.obstacle, touching, -impulse);
  }
  store(m_velocities[i], v + change + kick);
}

bool Solver::kick_at_obstacle(std::size_t i, double half_dt, Block& block) {
  const Vec3 kick = half_dt * vec(m_accelerations[i]);
  const Vec3 x = vec(m_records[i]);
  const ObstaclePoint point = m_obstacles(m_order[i], x);
  const double gap = point.distance - m_radius[i];
  if (gap > 0) {
    m_clear_until[i] = m_path + gap;
    return false;  // the common code kicks it, so that whether we looked here changes no rounding
  }
  if (block.touching.empty() || block.touching.back() != m_body[i]) block.touching.push_back(m_body[i]);
  if (point.yields) {
    block.yielding.push_back(i);
    return true;
  }
  const Vec3 change = velocity_change(i, point, kick);
  store(m_velocities[i], vec(m_velocities[i]) + change + kick);
  if (!change.isZero()) {
    block.impulses.push_back({point.obstacle, x - m_radius[i] * point.normal, -m_mass[i] * change});
  }
  return true;
}

// After the kick; `first`: see first_look.
inline void Solver::drift(std::size_t i, double dt, double first, Block& block) {
  const Record& v = m_velocities[i];
  if (!m_is_pushed.empty() && m_is_pushed[i]) m_work[i] += 0.5 * dt * m_outside[i].dot(vec(v));
  const double speed_squared = v.x * v.x + v.y * v.y + v.z * v.z;
  if (!(speed_squared < 1e100)) block.finite = false;
  block.speed_squared = std::max(block.speed_squared, speed_squared);
  const Record& x = m_records[i];
  set_record(i, {x.x + dt * v.x, x.y + dt * v.y, x.z + dt * v.z, squared_limit(m_accelerations[i].w, first)});
}

void Solver::kick_and_drift(double dt) {
  const std::size_t count = (size() + block_size - 1) / block_size;
  std::vector<Block> blocks(count);
  const double first = first_look(m_bonds, m_rules);
  parallel_for(
      count,
      [&](std::size_t b) {
        Block& block = blocks[b];
        const std::size_t end = std::min(size(), (b + 1) * block_size);
        for (std::size_t i = b * block_size; i < end; ++i) {
          Record& v = m_velocities[i];
          const Record& a = m_accelerations[i];
          // Particles of the interior too: those of a soft body overtake the surface that an obstacle has stopped.
          const bool look = m_obstacles && v.w > 0 && m_path >= m_clear_until[i];
          const std::size_t waiting = block.yielding.size();
          if (!look || !kick_at_obstacle(i, 0.5 * dt, block)) {
            v.x += 0.5 * dt * a.x;
            v.y += 0.5 * dt * a.y;
            v.z += 0.5 * dt * a.z;
          }
          if (block.yielding.size() == waiting) drift(i, dt, first, block);
        }
      },
      1);
  for (Block& block : blocks) {
    for (const int body : block.touching) m_touches[to_size(body)] = 1;
    for (const std::size_t i : block.yielding) {
      kick_at_yielding(i, 0.5 * dt);
      drift(i, dt, first, block);
    }
  }
  double speed_squared = 0;
  for (Block& block : blocks) {
    speed_squared = block.finite ? std::max(speed_squared, block.speed_squared) : INFINITY;
    if (std::isinf(speed_squared)) break;
    m_impulses.insert(m_impulses.end(), block.impulses.begin(), block.impulses.end());
  }
  m_greatest_speed = std::sqrt(speed_squared);
  m_path += dt * (m_greatest_speed + m_obstacle_speed);
  m_contact_path -= dt * m_greatest_speed;
}

void Solver::refresh_contacts() {
  if (m_rules.contact == ContactModel::none || m_contact_path >= 0) return;
  // The list holds pairs up to range + skin and lasts while nothing has moved by half the skin. Particles
  // bonded to a damaged one are listed before they may collide, as they will be next when a crack runs on; if
  // one that is not listed loses a bond, the list is made anew. So it always holds every pair that touches,
  // and when it was made changes no result.
  const double skin = 0.4 * m_spacing;
  m_listed = m_eligible;
  for (std::size_t i = 0; i < size(); ++i) {
    if (m_bonds.alive[i] == m_bonds.initial[i]) continue;
    const std::int64_t begin = m_bonds.begin[i];
    for (std::int64_t b = begin; b < begin + m_bonds.alive[i]; ++b) m_listed[m_bonds.neighbour[b]] = 1;
  }
  std::vector<int> listed;
  for (std::size_t i = 0; i < size(); ++i) {
    if (m_listed[i]) listed.push_back(static_cast<int>(i));
  }
  m_contacts.build(m_records, listed, contact_range() + skin);
  m_contact_path = 0.5 * skin;
}

bool Solver::step(double dt) {
  if (!m_evaluated) evaluate();
  m_last_step = dt;
  kick_and_drift(dt);
  if (!std::isfinite(m_greatest_speed)) return false;
  if (m_projectile) m_projectile->centre += dt * m_projectile->velocity;
  refresh_contacts();
  register_new_contacts();
  relax_overlaps();
  m_stepped = true;
  if (m_pushes) set_accelerations(m_pushes(dt));
  force_pass(0.5 * dt);
  if (++m_steps % 64 == 0) m_bonds.close_gaps();
  return true;
}

bool Solver::meets_others(int body) const {
  if (m_members.size() < 2) return false;
  return std::any_of(m_members[to_size(body)].begin(), m_members[to_size(body)].end(), [&](int i) {
    if (!m_eligible[to_size(i)]) return false;
    const auto near = m_contacts.near(to_size(i));
    return std::any_of(near.begin(), near.end(), [&](int j) {
      return m_body[to_size(j)] != body &&
             (vec(m_records[to_size(i)]) - vec(m_records[to_size(j)])).norm() < contact_range();
    });
  });
}

std::vector<std::uint8_t> Solver::take_touches() {
  std::vector<std::uint8_t> out(m_members.size(), 0);
  for (std::size_t b = 0; b < out.size(); ++b) out[b] = m_touches[b] || meets_others(static_cast<int>(b));
  m_touches.assign(m_members.size(), 0);
  return out;
}

double Solver::settle(int body, const Settling& settling, double dt) {
  const std::vector<int>& members = m_members[to_size(body)];
  const auto has_broken = [&](int i) { return m_bonds.alive[to_size(i)] != m_bonds.initial[to_size(i)]; };
  if (std::any_of(members.begin(), members.end(), has_broken)) return 0;
  const auto particle = [&](std::size_t k) { return to_size(members[k]); };
  const RigidVelocity rigid = rigid_velocity(
      members.size(), [&](std::size_t k) { return m_mass[particle(k)]; },
      [&](std::size_t k) { return vec(m_records[particle(k)]); },
      [&](std::size_t k) { return vec(m_velocities[particle(k)]); });
  if (!settling.settles(rigid.deformation_speed())) return 0;
  const double kept = settling.kept(dt);
  for (const int i : members) {
    Record& v = m_velocities[to_size(i)];
    const Vec3 of_body = rigid.at(vec(m_records[to_size(i)]));
    store(v, of_body + kept * (vec(v) - of_body));
  }
  return (1 - kept * kept) * rigid.deformation;
}

double Solver::stable_step() const {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < size(); ++i) {
    double stiffness = 0;
    for (std::int64_t b = m_bonds.begin[i]; b < m_bonds.begin[i] + m_bonds.alive[i]; ++b) {
      stiffness += m_bonds.kind_of(b).pull;
    }
    if (m_rules.contact == ContactModel::levine) {
      // The slope of eq. 6 at full overlap; more than four such contacts at once do not fit around a
      // particle.
      stiffness = std::max(stiffness, 8 * m_contact_stiffness * contact_range() * m_rest[i].w);
    } else if (m_rules.contact == ContactModel::emu) {
      stiffness += 15 * m_stiffness[i] * m_rest[i].w * m_rest[i].w / m_horizon;
    }
    least = std::min(least, 2 * m_mass[i] / stiffness);
  }
  return std::sqrt(least);
}

Points Solver::positions() const {
  return gather(m_records, m_order, vec);
}
Points Solver::velocities() const {
  return gather(m_velocities, m_order, vec);
}
Points Solver::accelerations() const {
  return gather(m_accelerations, m_order, vec);
}

std::vector<double> Solver::masses() const {
  std::vector<double> result(size());
  for (std::size_t i = 0; i < size(); ++i) result[m_order[i]] = m_mass[i];
  return result;
}

std::vector<double> Solver::damage() const {
  std::vector<double> result(size(), 0);
  for (std::size_t i = 0; i < size(); ++i) {
    const int initial = m_bonds.initial[i];
    if (initial > 0) result[m_order[i]] = static_cast<double>(initial - m_bonds.alive[i]) / initial;
  }
  return result;
}

std::vector<double> Solver::strain_limits() const {
  std::vector<double> result(size());
  for (std::size_t i = 0; i < size(); ++i) result[m_order[i]] = m_accelerations[i].w;
  return result;
}

std::vector<double> Solver::elastic_energies() const {
  std::vector<double> result(size());
  if (m_groups.empty()) {
    parallel_for(size(), [&](std::size_t i) {
      result[m_order[i]] = row_energy(m_bonds, m_records.data(), static_cast<int>(i));
    });
    return result;
  }
  Columns energies;
  energies.resize(size());
  for_each_chunk([&](std::size_t, std::size_t first, std::size_t end) {
    add_group_energies(m_groups, m_columns, first, end, energies);
  });
  for (std::size_t i = 0; i < size(); ++i) result[m_order[i]] = energies.column(0)[i];
  return result;
}

Energies Solver::energies(std::span<const double> elastic) const {
  std::vector<double> contact(size());
  parallel_for(size(), [&](std::size_t i) {
    for_each_contact(i, [&](const Vec3&, double, const PairForce& pair) { contact[i] += 0.5 * pair.energy; });
  });
  Energies sum;
  for (const double energy : elastic) sum.elastic += energy;
  for (std::size_t i = 0; i < size(); ++i) {
    sum.kinetic += 0.5 * m_mass[i] * vec(m_velocities[i]).squaredNorm();
    sum.contact += contact[i];
    sum.gravity -= m_mass[i] * m_gravity.dot(vec(m_records[i]));
    sum.released += m_released[i];
    sum.dissipated += m_dissipated[i];
    sum.work += m_work[i];
    sum.integration -= 0.125 * m_last_step * m_last_step * m_mass[i] * vec(m_accelerations[i]).squaredNorm();
  }
  return sum;
}

Vec3 Solver::momentum() const {
  Vec3 sum = Vec3::Zero();
  for (std::size_t i = 0; i < size(); ++i) sum += m_mass[i] * vec(m_velocities[i]);
  return sum;
}

Vec3 Solver::angular_momentum() const {
  Vec3 sum = Vec3::Zero();
  for (std::size_t i = 0; i < size(); ++i) sum += m_mass[i] * vec(m_records[i]).cross(vec(m_velocities[i]));
  return sum;
}

std::int64_t Solver::broken_bonds() const {
  std::int64_t broken = 0;
  for (std::size_t i = 0; i < size(); ++i) broken += m_bonds.initial[i] - m_bonds.alive[i];
  return broken / 2;
}

std::vector<ObstacleImpulse> Solver::take_impulses() {
  return std::exchange(m_impulses, {});
}

void Solver::for_each_bond(int particle, const std::function<void(int, double, double)>& visit) const {
  const int i = m_rank[particle];
  for (std::int64_t b = m_bonds.begin[i]; b < m_bonds.begin[i] + m_bonds.alive[i]; ++b) {
    const BondKind kind = m_bonds.kind_of(b);
    const double length = 1 / std::sqrt(kind.inverse_square);
    visit(m_order[m_bonds.neighbour[b]], length, kind.pull * length);
  }
}

std::size_t Solver::bytes() const {
  const std::size_t records = m_records.size() + m_velocities.size() + m_accelerations.size() + m_rest.size();
  const std::size_t numbers = m_stiffness.size() + m_strength.size() + m_mass.size() + m_released.size() +
                              m_dissipated.size() + m_work.size() + m_radius.size() + m_clear_until.size() +
                              3 * (m_external.size() + m_outside.size());
  return m_bonds.bytes() + m_groups.bytes() + m_columns.bytes() + m_forces.bytes() + m_contacts.bytes() +
         records * sizeof(Record) + numbers * sizeof(double) +
         (m_order.size() + m_rank.size()) * sizeof(int) + m_eligible.size() + m_listed.size() +
         m_is_pushed.size();
}

Solver::State Solver::save() const {
  State state{m_records,   m_velocities, m_accelerations,
              m_released,  m_dissipated, m_work,
              {},          {},           m_newcomers,
              {},          {},           m_projectile ? m_projectile->centre : Vec3::Zero(),
              m_last_step, m_evaluated};
  for (std::size_t i = 0; i < size(); ++i) {
    const bool is_pushed = !m_is_pushed.empty() && m_is_pushed[i];
    state.outside.push_back(is_pushed ? m_outside[i] : Vec3::Zero());
    if (m_bonds.alive[i] == m_bonds.initial[i]) continue;
    state.rows.insert(state.rows.end(), {static_cast<int>(i), m_bonds.alive[i]});
    const auto row = m_bonds.neighbour.begin() + m_bonds.begin[i];
    state.rows.insert(state.rows.end(), row, row + m_bonds.alive[i]);
  }
  for (std::size_t i = 0; i < m_overlaps.size(); ++i) {
    state.overlapping.insert(state.overlapping.end(), m_overlaps[i].size(), static_cast<int>(i));
    state.overlaps.insert(state.overlaps.end(), m_overlaps[i].begin(), m_overlaps[i].end());
  }
  return state;
}

void Solver::load_rows(const std::vector<int>& rows) {
  for (std::size_t at = 0; at < rows.size();) {
    const int i = rows[at];
    const auto kept = rows.begin() + static_cast<std::ptrdiff_t>(at) + 2;
    const auto kept_end = kept + rows[at + 1];
    for (std::int64_t b = m_bonds.begin[i]; b < m_bonds.begin[i] + m_bonds.alive[i]; ++b) {
      const int j = m_bonds.neighbour[b];
      if (std::binary_search(kept, kept_end, j)) continue;
      m_bonds.mark_broken(i, b);
      if (!m_groups.empty() && j > i) m_groups.remove(i, j);
    }
    m_bonds.close_row(i);
    if (!m_groups.empty()) m_groups.close(to_size(i) / BondGroups::width);
    m_eligible[i] = 1;
    at += 2 + static_cast<std::size_t>(rows[at + 1]);
  }
}

bool Solver::fits(const State& state) const {
  const auto is_one_each = [&](const auto&... lists) { return ((lists.size() == size()) && ...); };
  const auto is_particle = [&](int i) { return i >= 0 && to_size(i) < size(); };
  return is_one_each(state.records, state.velocities, state.accelerations, state.released, state.dissipated,
                     state.work, state.outside) &&
         state.overlapping.size() == state.overlaps.size() &&
         std::all_of(state.newcomers.begin(), state.newcomers.end(), is_particle) &&
         std::all_of(state.overlapping.begin(), state.overlapping.end(), is_particle);
}

void Solver::load(const State& state) {
  if (!fits(state)) throw InputError("the saved state belongs to other particles");
  group_bonds();
  for (std::size_t i = 0; i < size(); ++i) set_record(i, state.records[i]);
  m_velocities = state.velocities;
  m_accelerations = state.accelerations;
  m_released = state.released;
  m_dissipated = state.dissipated;
  m_work = state.work;
  m_outside = state.outside;
  m_is_pushed.resize(size());
  for (std::size_t i = 0; i < size(); ++i) m_is_pushed[i] = !m_outside[i].isZero(0);
  if (m_projectile) m_projectile->centre = state.projectile;
  m_last_step = state.last_step;
  m_evaluated = state.evaluated;
  m_newcomers = state.newcomers;
  m_overlaps.clear();
  if (!state.overlaps.empty()) m_overlaps.resize(size());
  for (std::size_t k = 0; k < state.overlaps.size(); ++k)
    m_overlaps[to_size(state.overlapping[k])].push_back(state.overlaps[k]);
  load_rows(state.rows);
  m_contact_path = -1;
  if (m_evaluated) refresh_contacts();
  if (!m_clear_until.empty()) m_clear_until.assign(size(), -std::numeric_limits<double>::infinity());
}

}  // namespace exemplar::peridynamics
