#include "core/contact/carried_contact.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/parallel.h"
#include "core/contact/contact_surface.h"
#include "core/mesh/bvh.h"
#include "core/mesh/topology.h"

namespace exemplar {

namespace {

constexpr double k_body_push_share = 0.2;   // of the depth, in one step
constexpr std::size_t k_samples = 4;        // in every triangle
constexpr double k_farthest_in_step = 0.5;  // of half the width of the thinner body
constexpr int k_most_steps = 32;
constexpr double k_facing = -0.25;  // cosine between the normals of two surfaces that meet

// The middle of every triangle and of its edges (those of inner edges twice, each with a normal of its own).
CarriedPoints with_samples(CarriedPoints points, const Triangles& triangles) {
  const CarriedPoints vertices = points;
  const std::array<Vec3, k_samples> places{Vec3(0.5, 0.5, 0), Vec3(0, 0.5, 0.5), Vec3(0.5, 0, 0.5),
                                           Vec3::Constant(1.0 / 3)};
  for (Eigen::Index t = 0; t < triangles.rows(); ++t) {
    const std::array<int, 3> corners{triangles(t, 0), triangles(t, 1), triangles(t, 2)};
    for (const Vec3& place : places) add_combination(vertices, corners, place, points);
  }
  return points;
}

double half_width_of(const TriMesh& mesh) {
  ContactSurface surface;
  surface.triangles = mesh.triangles;
  surface.rest = mesh.vertices;
  return half_width(surface);
}

// Unit normals at the vertices, weighted by area, then of the triangle at each sample.
Points point_normals(const TriMesh& mesh) {
  const auto samples = to_row(k_samples);
  Points out = Points::Zero(mesh.vertices.rows() + samples * mesh.triangles.rows(), 3);
  for (Eigen::Index t = 0; t < mesh.triangles.rows(); ++t) {
    const auto corner = [&](int k) { return Vec3(mesh.vertices.row(mesh.triangles(t, k))); };
    const Vec3 normal = (corner(1) - corner(0)).cross(corner(2) - corner(0));
    for (int k = 0; k < 3; ++k) out.row(mesh.triangles(t, k)) += normal.transpose();
    for (Eigen::Index k = 0; k < samples; ++k)
      out.row(mesh.vertices.rows() + samples * t + k) = normal.transpose();
  }
  out.rowwise().normalize();
  return out;
}

Box bounds_of(const Points& points, double slack) {
  Box box;
  for (Eigen::Index i = 0; i < points.rows(); ++i) box.extend(Vec3(points.row(i)));
  box.min.array() -= slack;
  box.max.array() += slack;
  return box;
}

}  // namespace

CarriedContacts::CarriedContacts(std::vector<CarriedBody> bodies) : m_bodies(std::move(bodies)) {
  for (const CarriedBody& body : m_bodies) {
    m_surfaces.emplace_back(body.surface);
    m_points.push_back(with_samples(body.vertices, body.surface.triangles));
    m_widths.push_back(body.thickness > 0 ? body.thickness : half_width_of(body.surface));
  }
  m_places.resize(m_bodies.size());
  m_normals.resize(m_bodies.size());
  m_speeds.resize(m_bodies.size());
}

CarriedContacts::Speed CarriedContacts::speed_of(const Points& velocities) {
  const Eigen::RowVector3d mean = velocities.colwise().mean();
  return {mean.transpose(), std::sqrt((velocities.rowwise() - mean).rowwise().squaredNorm().maxCoeff())};
}

void CarriedContacts::place(std::size_t body, const Points& positions) const {
  m_surfaces[body].move_to(m_bodies[body].vertices.apply(positions));
  m_places[body] = m_points[body].apply(positions);
  m_normals[body] = point_normals(m_surfaces[body].mesh());
}

// Fills in the direction away from surface b.
double CarriedContacts::gap_of(std::size_t a, std::size_t b, SurfacePoint& nearest) const {
  // Both sides of a sheet are outside.
  if (m_bodies[b].thickness > 0 && nearest.distance < 0) {
    nearest.distance = -nearest.distance;
    nearest.normal = -nearest.normal;
  }
  return nearest.distance - 0.5 * (m_bodies[a].thickness + m_bodies[b].thickness);
}

void CarriedContacts::find(std::span<const CarriedStep> steps, double dt) {
  m_kept = kept_by_now();
  m_dt = dt;
  m_contacts.clear();
  m_nodes.clear();
  m_has_begun = false;
  m_involved.assign(m_bodies.size(), 0);
  m_touching.assign(m_bodies.size(), 0.0);
  m_neighbours.clear();
  m_inverse.clear();
  for (std::size_t b = 0; b < m_bodies.size(); ++b) {
    place(b, *steps[b].positions);
    m_speeds[b] = speed_of(*steps[b].velocities);
    m_inverse.push_back(steps[b].inverse_masses);
  }
  for (std::size_t a = 0; a < m_bodies.size(); ++a) {
    for (std::size_t b = 0; b < m_bodies.size(); ++b) {
      if (a != b && !m_left_out.contains({a, b})) find(steps, a, b);
    }
  }
}

void CarriedContacts::find(std::span<const CarriedStep> steps, std::size_t a, std::size_t b) {
  const double radii = 0.5 * (m_bodies[a].thickness + m_bodies[b].thickness);
  const double margin = std::max(steps[a].margin, steps[b].margin) + 1e-9;
  const double farthest = 1.5 * m_dt * closing(m_speeds[a], m_speeds[b]) + margin + radii;
  const Points& places = m_places[a];
  const bool are_solid = m_bodies[a].thickness == 0 && m_bodies[b].thickness == 0;
  const Box around = bounds_of(m_surfaces[b].mesh().vertices, farthest);
  if (!around.overlaps(bounds_of(places, 0))) return;
  std::vector<std::vector<Contact>> found(to_size(places.rows()));
  parallel_for(
      found.size(),
      [&](std::size_t i) {
        const Vec3 x = places.row(to_row(i));
        if (around.squared_distance(x) > 0) return;
        SurfacePoint nearest = m_surfaces[b].signed_nearest(x);
        const double gap = gap_of(a, b, nearest);
        if (gap > farthest) return;
        if (are_solid && m_normals[a].row(to_row(i)).dot(nearest.normal) > k_facing) return;
        Contact c{a, b, to_int(i), {}, nearest.barycentric, nearest.normal, gap};
        for (int k = 0; k < 3; ++k)
          c.corners[to_size(k)] = m_bodies[b].surface.triangles(nearest.triangle, k);
        const Vec3 v = relative_velocity(c, *steps[a].velocities, *steps[b].velocities);
        if (gap <= 1.5 * m_dt * v.norm() + margin) found[i].push_back(c);
      },
      64);
  for (const std::vector<Contact>& some : found) {
    for (const Contact& c : some) add(steps, c);
  }
}

// The particles that carry a contact, each once: corners of a triangle share most of theirs.
void CarriedContacts::collect(Contact& c) {
  c.first = m_nodes.size();
  const auto side = [&](const CarriedPoints& map, int point, double share, std::size_t from) {
    for (int k = map.begin(point); k < map.end(point); ++k) {
      const int node = map.nodes[to_size(k)];
      const double weight = share * map.weights[to_size(k)];
      const auto found = std::find_if(m_nodes.begin() + to_row(from), m_nodes.end(),
                                      [&](const Carrier& carrier) { return carrier.node == node; });
      if (found == m_nodes.end()) {
        m_nodes.push_back({node, weight});
      } else {
        found->weight += weight;
      }
    }
  };
  side(m_points[c.a], c.point, 1, c.first);
  c.middle = m_nodes.size();
  for (int k = 0; k < 3; ++k)
    side(m_bodies[c.b].vertices, c.corners[to_size(k)], -c.barycentric[k], c.middle);
  c.last = m_nodes.size();
}

template <class Visit>
void CarriedContacts::for_nodes(const Contact& c, const Visit& visit) const {
  for (std::size_t k = c.first; k < c.last; ++k)
    visit(k < c.middle ? c.a : c.b, m_nodes[k].node, m_nodes[k].weight);
}

void CarriedContacts::add(std::span<const CarriedStep> steps, Contact c) {
  collect(c);
  for_nodes(c, [&](std::size_t body, int node, double weight) {
    c.inverse_mass += weight * weight * steps[body].inverse_masses->row(node).transpose();
  });
  if (!(c.inverse_mass.dot(c.normal.cwiseAbs2()) > 0)) return;  // both sides are held
  const Vec3 v = carried_velocity(c, *steps[c.a].velocities, *steps[c.b].velocities);
  c.start = carried_velocity(c, *steps[c.a].start_velocities, *steps[c.b].start_velocities);
  for (const std::size_t body : {c.a, c.b}) {
    m_involved[body] = 1;
    if (c.gap > -v.dot(c.normal) * m_dt) continue;
    m_touching[body] = std::max({m_touching[body], v.norm(), std::numeric_limits<double>::min()});
    m_neighbours.insert({body, c.a + c.b - body});
  }
  m_contacts.push_back(c);
}

bool CarriedContacts::touches_any(std::size_t body, const std::function<bool(std::size_t)>& is_wanted) const {
  return std::any_of(m_neighbours.begin(), m_neighbours.end(),
                     [&](const auto& pair) { return pair.first == body && is_wanted(pair.second); });
}

Vec3 CarriedContacts::relative_velocity(const Contact& c, const Points& of_a, const Points& of_b) const {
  Vec3 v = m_points[c.a].at(c.point, of_a);
  for (int k = 0; k < 3; ++k) v -= c.barycentric[k] * m_bodies[c.b].vertices.at(c.corners[to_size(k)], of_b);
  return v;
}

Vec3 CarriedContacts::carried_velocity(const Contact& c, const Points& of_a, const Points& of_b) const {
  Vec3 v = Vec3::Zero();
  for (std::size_t k = c.first; k < c.middle; ++k)
    v += m_nodes[k].weight * of_a.row(m_nodes[k].node).transpose();
  for (std::size_t k = c.middle; k < c.last; ++k)
    v += m_nodes[k].weight * of_b.row(m_nodes[k].node).transpose();
  return v;
}

// Returns the change of the contact's velocity.
double CarriedContacts::solve(Contact& c, Points& of_a, Points& of_b) const {
  const Vec3 before = carried_velocity(c, of_a, of_b);
  const double wanted = -std::max(c.gap, 0.0) / m_dt;  // the approach that just reaches the surface
  const double along_normal = c.inverse_mass.dot(c.normal.cwiseAbs2());
  const double sum = std::max(0.0, c.normal_sum + (wanted - c.normal.dot(before)) / along_normal);
  if (sum == 0.0 && c.normal_sum == 0.0) return 0.0;
  Vec3 impulse = (sum - c.normal_sum) * c.normal;
  c.normal_sum = sum;
  const Vec3 slip = before + c.inverse_mass.cwiseProduct(impulse);
  const Vec3 along = slip - c.normal.dot(slip) * c.normal;
  Vec3 friction = c.friction_sum;
  if (along.squaredNorm() > 1e-30) {
    const Vec3 direction = along.normalized();
    const double inverse = c.inverse_mass.dot(direction.cwiseAbs2());
    if (inverse > 0.0) friction -= along.norm() / inverse * direction;
  }
  const double limit = std::sqrt(m_bodies[c.a].friction * m_bodies[c.b].friction) * sum;
  const double size = friction.norm();
  if (size > limit) friction *= limit / size;
  impulse += friction - c.friction_sum;
  c.friction_sum = friction;
  apply(c, impulse, of_a, of_b);
  return c.inverse_mass.cwiseProduct(impulse).norm();
}

void CarriedContacts::apply(const Contact& c, const Vec3& impulse, Points& of_a, Points& of_b) const {
  const auto side = [&](std::size_t begin, std::size_t end, const Points& inverse, Points& of) {
    for (std::size_t k = begin; k < end; ++k)
      of.row(m_nodes[k].node) +=
          m_nodes[k].weight * inverse.row(m_nodes[k].node).cwiseProduct(impulse.transpose());
  };
  side(c.first, c.middle, *m_inverse[c.a], of_a);
  side(c.middle, c.last, *m_inverse[c.b], of_b);
}

// What the last step gave, which the next one starts from.
CarriedContacts::KeptImpulses CarriedContacts::kept_by_now() const {
  if (!m_keeps || m_dt == 0) return m_kept;
  KeptImpulses out;
  for (const Contact& c : m_contacts) {
    const std::array<std::size_t, 3> key{c.a, c.b, to_size(c.point)};
    if (c.normal_sum > 0) out[key] = {key, c.normal_sum / m_dt, c.friction_sum / m_dt};
  }
  return out;
}

void CarriedContacts::begin(std::span<Points* const> velocities) {
  m_has_begun = true;
  if (m_kept.empty()) return;
  for (Contact& c : m_contacts) {
    const auto kept = m_kept.find({c.a, c.b, to_size(c.point)});
    if (kept == m_kept.end()) continue;
    c.normal_sum = kept->second.normal * m_dt;
    const Vec3 friction = kept->second.friction * m_dt;
    c.friction_sum = friction - c.normal.dot(friction) * c.normal;
    apply(c, c.normal_sum * c.normal + c.friction_sum, *velocities[c.a], *velocities[c.b]);
  }
}

CarriedContacts::State CarriedContacts::state() const {
  State out;
  for (const auto& [key, kept] : kept_by_now()) out.push_back(kept);
  return out;
}

void CarriedContacts::set_state(const State& state) {
  m_kept.clear();
  m_contacts.clear();
  m_dt = 0;
  for (const Kept& kept : state) m_kept[kept.key] = kept;
}

double CarriedContacts::sweep(std::span<Points* const> velocities) {
  if (!m_has_begun) begin(velocities);
  double change = 0;
  for (Contact& c : m_contacts) change = std::max(change, solve(c, *velocities[c.a], *velocities[c.b]));
  return change;
}

double CarriedContacts::dissipated(std::span<Points* const> final_velocities) const {
  double sum = 0;
  for (const Contact& c : m_contacts) {
    if (c.normal_sum == 0.0) continue;
    const Vec3 end = carried_velocity(c, *final_velocities[c.a], *final_velocities[c.b]);
    sum -= 0.5 * (c.normal_sum * c.normal + c.friction_sum).dot(c.start + end);
  }
  return sum;
}

void CarriedContacts::push_out(double push_speed, std::span<Points* const> positions) const {
  for (const Contact& c : m_contacts) {
    if (c.gap >= 0) continue;  // it was outside: the plane of its contact says nothing about where it slid to
    Vec3 apart = m_points[c.a].at(c.point, *positions[c.a]);
    for (int k = 0; k < 3; ++k)
      apart -= c.barycentric[k] * m_bodies[c.b].vertices.at(c.corners[to_size(k)], *positions[c.b]);
    const double depth = 0.5 * (m_bodies[c.a].thickness + m_bodies[c.b].thickness) - apart.dot(c.normal);
    if (depth <= 0) continue;
    const double out = std::min(k_body_push_share * depth, push_speed * m_dt);
    const Vec3 push = out / c.inverse_mass.dot(c.normal.cwiseAbs2()) * c.normal;
    for_nodes(c, [&](std::size_t body, int node, double weight) {
      positions[body]->row(node) += weight * m_inverse[body]->row(node).cwiseProduct(push.transpose());
    });
  }
}

int CarriedContacts::substeps(double dt, std::span<const Points* const> velocities) const {
  double count = 1;
  std::vector<Speed> speeds;
  for (const Points* v : velocities) speeds.push_back(speed_of(*v));
  for (std::size_t a = 0; a < m_bodies.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const double speed = closing(speeds[a], speeds[b]);
      const double step = k_farthest_in_step * std::min(m_widths[a], m_widths[b]);
      count = std::max(count, std::ceil(dt * speed / step));
    }
  }
  return static_cast<int>(std::min<double>(count, k_most_steps));
}

double CarriedContacts::deepest(std::span<const Points* const> positions) const {
  double depth = 0;
  for (std::size_t b = 0; b < m_bodies.size(); ++b) place(b, *positions[b]);
  for (std::size_t a = 0; a < m_bodies.size(); ++a) {
    for (std::size_t b = 0; b < m_bodies.size(); ++b) {
      if (a == b || m_bodies[b].thickness > 0) continue;
      const Box around = bounds_of(m_surfaces[b].mesh().vertices, 0);
      for (Eigen::Index i = 0; i < m_places[a].rows(); ++i) {
        const Vec3 x = m_places[a].row(i);
        if (around.squared_distance(x) == 0) depth = std::max(depth, -m_surfaces[b].signed_distance(x));
      }
    }
  }
  return depth;
}

void resolve_together(std::span<ParticleContacts> with_obstacles, CarriedContacts& between,
                      std::span<Points* const> velocities) {
  if (between.empty()) {
    for (std::size_t b = 0; b < with_obstacles.size(); ++b) {
      if (velocities[b] != nullptr) with_obstacles[b].resolve(*velocities[b]);
    }
    return;
  }
  for (int k = 0; k < k_most_contact_sweeps; ++k) {
    double change = between.sweep(velocities);
    for (std::size_t b = 0; b < with_obstacles.size(); ++b) {
      if (velocities[b] != nullptr) change = std::max(change, with_obstacles[b].sweep(*velocities[b]));
    }
    if (change < k_contact_settled) break;
  }
}

}  // namespace exemplar
