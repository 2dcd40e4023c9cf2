// Bond-based peridynamics of any number of bodies: explicit dynamics of particles with brittle bonds
// (levine2014 §3), on plain arrays, without meshes or files.
//
// One step of velocity Verlet is two passes over the particles. The first moves them and reflects velocities
// at obstacles; the second sums bonds, contact, projectile and gravity and finishes the velocities. In both
// passes a particle writes only what it owns, so results are bit-identical for any number of threads.
//
// Particles are in another order inside, row by row of a lattice or along a Hilbert curve (particles.h); everything that
// goes in or out is in the caller's order.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/contact/settling.h"
#include "core/math/types.h"
#include "meshless/peridynamics/bond_kernel.h"
#include "meshless/peridynamics/bonds.h"
#include "meshless/peridynamics/contact.h"
#include "meshless/peridynamics/model.h"
#include "meshless/peridynamics/particles.h"

namespace exemplar::peridynamics {

// A sphere that moves through the bodies and is not slowed by them.
//   levine  force density K_S (16 (d − 3r/4)(d − 3r/2)²)^(2/3) for d in [3r/4, 3r/2] (eq. 7), halfway between
//   the
//           sphere's direction of motion and the direction away from its centre; largest at d = r with K_S
//           r².
//   indent  force density K_S (r − d)² away from the centre for d < r (LAMMPS `fix indent`).
enum class ProjectileModel { levine, indent };
struct Projectile {
  ProjectileModel model = ProjectileModel::levine;
  Vec3 centre = Vec3::Zero();
  Vec3 velocity = Vec3::Zero();
  double radius = 0;
  double stiffness = 0;  // K_S [N/m⁵]
};

// Force density of the projectile at a point.
Vec3 projectile_force(const Projectile& projectile, const Vec3& point);

// What an obstacle says about a place: signed distance (negative inside), outward normal, its own velocity
// there.
struct ObstaclePoint {
  double distance = 0;
  Vec3 normal = Vec3::UnitY();
  Vec3 velocity = Vec3::Zero();
  double restitution = 0.99;
  double friction = 0;
  int obstacle = 0;
  bool yields = false;  // has a finite mass
};
// The obstacle nearest to a particle (the caller's index) at a place; distances must not exceed the true ones. Called
// from several threads.
using ObstacleQuery = std::function<ObstaclePoint(int, const Vec3&)>;

// How obstacles of finite mass answer at a place; impulses act on them at once. Called one after the other.
struct YieldingObstacles {
  std::function<Vec3(int, const Vec3&)> velocity;           // m/s
  std::function<Mat3(int, const Vec3&)> inverse_mass;       // velocity there per impulse there, 1/kg
  std::function<void(int, const Vec3&, const Vec3&)> push;  // N s
};

struct ObstacleImpulse {
  int obstacle = 0;
  Vec3 point;
  Vec3 impulse;  // on the obstacle [N s]
};

// All in joules. Velocity Verlet with step h does not keep kinetic + potential energy but that less
// h²/8 Σ m |a|² (exactly for linear forces, e.g. Hairer, Lubich, Wanner, "Geometric numerical integration",
// §IX): at the default step the term is several per cent of what swings at the highest frequencies, which is
// where fracture leaves its energy. So it has an entry of its own in the balance.
struct Energies {
  double kinetic = 0;
  double elastic = 0;
  double contact = 0;
  double gravity = 0;
  double released = 0;     // of bonds at the moment they broke
  double dissipated = 0;   // at obstacles, by impact and friction
  double work = 0;         // done on the particles by moving obstacles
  double integration = 0;  // −h²/8 Σ m |a|²
  double total() const {
    return kinetic + elastic + contact + gravity + released + dissipated - work + integration;
  }
};

inline constexpr std::uint8_t held_wholly = 7;

class Solver {
 public:
  // Materials are indexed by ParticleSet::body. δ = horizon, λ = spacing [m]. `is_cut`: bonds that cross a
  // surface.
  Solver(const ParticleSet& particles, std::span<const Material> materials, const Rules& rules,
         double horizon, double spacing, const BondCut& is_cut = {});

  // Set-up, in the caller's order of particles.
  void set_positions(const Points& positions);
  void set_velocities(const Points& velocities);
  void drive(const Points& velocities);  // the same, and what kinetic energy it gives is work from outside
  // Coordinates that keep their velocity: bit 0 for x, 1 for y, 2 for z; held_wholly for all three.
  void set_held(std::span<const std::uint8_t> axes);
  void set_accelerations(const Points& accelerations);  // of external forces, beside gravity
  // The same, asked for before every force pass where the particles are then, with the time since the step began.
  void set_pushes(std::function<Points(double)> query) { m_pushes = std::move(query); }
  void set_gravity(const Vec3& gravity) { m_gravity = gravity; }
  // `yielding` is for points that say so: what they take is not among take_impulses.
  void set_obstacles(ObstacleQuery query, double greatest_speed, YieldingObstacles yielding = {});
  void set_projectile(const std::optional<Projectile>& projectile) { m_projectile = projectile; }
  void remove_bonds(const BondCut& cut);                           // a notch that is there from the start
  void weaken_bonds(const std::function<bool(int, int)>& chosen);  // see Rules::weak_factor
  void use_portable_kernel(bool portable);
  void group_bonds();  // of a lattice, for the kernel; the first evaluation does it by itself
  bool is_grouped() const { return !m_groups.empty(); }

  // Forces at the current positions; the first step does it by itself. Bonds may break.
  void evaluate();
  // One step; false if speeds have become infinite or not a number (the step was too large).
  [[nodiscard]] bool step(double dt);
  // Whether particles of each body have met an obstacle since the last call, or those of another body meet it now.
  std::vector<std::uint8_t> take_touches();
  // Damps what a body that lies and has not broken does besides rigid motion, over dt (core/contact/settling.h). Returns the
  // energy that this took, J.
  double settle(int body, const Settling& settling, double dt);
  // The bonds' part of a force pass alone, for measurements.
  void bond_pass();

  // Bound of Silling and Askari, sqrt(2 m / Σ_j w/r0), smallest over particles and with the stiffest contact
  // allowed for. Conservative by about two: the exact limit is 2/ω_max.
  double stable_step() const;

  std::size_t size() const { return m_records.size(); }
  Points positions() const;
  Points velocities() const;
  Points accelerations() const;
  std::vector<double> masses() const;
  std::vector<double> damage() const;            // broken over initial bonds
  std::vector<double> strain_limits() const;     // τ_i as the next pass will use it
  std::vector<double> elastic_energies() const;  // per particle, half of each bond [J]
  Energies energies() const { return energies(elastic_energies()); }
  Energies energies(std::span<const double> elastic) const;  // with elastic_energies() that are known already
  Vec3 momentum() const;
  Vec3 angular_momentum() const;      // about the origin
  std::int64_t broken_bonds() const;  // directed copies / 2
  const std::optional<Projectile>& projectile() const { return m_projectile; }
  double spacing() const { return m_spacing; }
  double horizon() const { return m_horizon; }
  double greatest_speed() const { return m_greatest_speed; }
  std::vector<ObstacleImpulse> take_impulses();  // since the last call, in particle order

  // Is the bond between two particles (caller's indices) unbroken?
  bool bonded(int a, int b) const { return m_bonds.find(m_rank[a], m_rank[b]) >= 0; }
  int bond_count(int particle) const { return m_bonds.alive[m_rank[particle]]; }  // unbroken ones
  // Calls visit(j, r0) for every unbroken bond of a particle (caller's indices).
  void for_each_bond(int particle, const std::function<void(int, double, double)>& visit) const;
  const BondList& bonds() const { return m_bonds; }
  const std::vector<int>& order() const { return m_order; }  // caller's index of each sorted particle
  std::size_t bytes() const;

  // Two particles that may collide from now on and were in each other already: their contact begins where they are, not with a
  // push from nowhere, and reaches its full distance as they part. Both of a pair keep it.
  struct Overlap {
    int other = 0;
    double start = 0;  // m, distance at which their contact begins

    static constexpr auto described() {
      return std::tuple(member("other", &Overlap::other), member("start", &Overlap::start));
    }
  };
  // Everything that changes, in the solver's order. load() needs a solver built from the same input that has not lost bonds.
  struct State {
    AlignedVector<Record> records, velocities, accelerations;
    std::vector<double> released, dissipated, work;  // J, of each particle
    std::vector<Vec3> outside;                       // N; zero where nothing pushes
    std::vector<int> rows;  // of damaged particles: index, bonds left, their neighbours
    std::vector<int> newcomers;
    std::vector<int> overlapping;    // particles, as often as they have overlaps
    std::vector<Overlap> overlaps;   // of these
    Vec3 projectile = Vec3::Zero();  // m, its centre
    double last_step = 0;            // s
    bool evaluated = false;

    static constexpr auto described() {
      return std::tuple(member("records", &State::records), member("velocities", &State::velocities),
                        member("accelerations", &State::accelerations), member("released", &State::released),
                        member("dissipated", &State::dissipated), member("work", &State::work),
                        member("outside", &State::outside), member("rows", &State::rows),
                        member("newcomers", &State::newcomers), member("overlapping", &State::overlapping),
                        member("overlaps", &State::overlaps), member("projectile", &State::projectile),
                        member("last_step", &State::last_step), member("evaluated", &State::evaluated));
    }
  };
  State save() const;
  void load(const State& state);

 private:
  struct Block;                                  // per-block results of a pass
  void load_rows(const std::vector<int>& rows);  // of State
  bool fits(const State& state) const;
  void kick_and_drift(double dt);
  bool kick_at_obstacle(std::size_t i, double half_dt, Block& block);
  Vec3 without_held_axes(std::size_t i, Vec3 value) const;
  Vec3 velocity_change(std::size_t i, const ObstaclePoint& point, const Vec3& kick);
  void kick_at_yielding(std::size_t i, double half_dt);
  bool meets_others(int body) const;
  [[gnu::always_inline]] void drift(std::size_t i, double dt, double first,
                                    Block& block);  // a call cost a twentieth of a step
  void force_pass(double half_dt);
  Vec3 other_forces(std::size_t i) const;
  template <class Visit>
  void for_each_contact(std::size_t i, const Visit& visit) const;
  template <class Visit>
  void for_each_row(double half_dt, const Visit& visit);
  template <class Body>
  void for_each_chunk(const Body& body) const;
  void group_forces(double half_dt);
  void take_out(const std::vector<std::vector<BrokenBond>>& of_chunks, double half_dt);
  void break_row(int i, std::span<const std::pair<int, BrokenBond>> broken, double half_dt);
  void book_broken(std::size_t i, const RowForce& row, double half_dt);
  void set_record(std::size_t i, const Record& record);
  void register_new_contacts();
  void relax_overlaps();
  bool is_acted_on() const { return m_projectile || m_holds_any || !m_external.empty(); }
  Vec3 outside_force(std::size_t i, const Vec3& force, const Vec3& acceleration) const;
  void accumulate_work(std::size_t i, const Vec3& outside, double half_dt);
  void refresh_contacts();
  double contact_range() const;

  Rules m_rules;
  double m_horizon, m_spacing;
  std::vector<int> m_order, m_rank;
  std::vector<std::vector<int>> m_members;  // particles of each body
  std::vector<int> m_body;                  // of each particle
  std::vector<std::uint8_t> m_touches;      // of each body, obstacles
  BondList m_bonds;
  std::vector<double> m_stiffness;        // k_i
  std::vector<double> m_strength;         // τ_i without strengthening
  AlignedVector<Record> m_records;        // x, y, z, τ of the previous pass
  AlignedVector<Record> m_velocities;     // v, 1/m (0: fixed)
  AlignedVector<Record> m_accelerations;  // a, τ for the next pass
  AlignedVector<Record> m_rest;           // X, V
  std::vector<double> m_mass, m_radius;
  std::vector<double> m_released, m_dissipated, m_work;
  std::vector<Vec3> m_external;
  std::function<Points(double)> m_pushes;
  std::vector<std::vector<Overlap>> m_overlaps;  // of every particle; empty: none
  std::vector<int> m_newcomers;                  // may collide from the next step on
  std::vector<Vec3> m_outside;  // N, what supports, loads and the projectile push with; empty: nothing does
  std::vector<std::uint8_t> m_is_pushed;  // whether m_outside counts: most particles are left alone
  bool m_holds_any = false;
  std::vector<std::uint8_t> m_held;      // axes; empty: nothing is held in part
  std::vector<std::uint8_t> m_eligible;  // may collide with others: on the surface or with a broken bond
  std::vector<std::uint8_t> m_listed;    // is in m_contacts if near anything
  Vec3 m_gravity = Vec3::Zero();
  double m_contact_stiffness = 0;
  std::optional<Projectile> m_projectile;
  RowKernel m_kernel;
  GroupKernel m_group_kernel;  // null: rows only
  BondGroups m_groups;         // of lattices; empty: rows
  Columns m_columns;           // m_records again, for the groups
  Columns m_forces;            // of the bonds of groups, and the least e of each particle's
  bool m_has_groups = false;   // m_groups are those of m_bonds, or there are none

  ObstacleQuery m_obstacles;
  YieldingObstacles m_yielding;
  double m_obstacle_speed = 0;
  std::vector<double> m_clear_until;  // value of m_path before which a particle cannot reach an obstacle
  double m_path = 0;                  // Σ dt (greatest speed + obstacle speed)
  std::vector<ObstacleImpulse> m_impulses;

  ContactList m_contacts;
  double m_contact_path = 0;  // path left until the candidate list must be rebuilt
  double m_greatest_speed = 0;
  double m_last_step = 0;  // s
  bool m_evaluated = false;
  bool m_stepped = false;
  std::int64_t m_steps = 0;
};

}  // namespace exemplar::peridynamics
