#include "rigidplastic/dent/dent_map.h"

#include <algorithm>
#include <cmath>

#include "rigidplastic/dent/envelope.h"

namespace exemplar::dent {

namespace {

constexpr double k_footprint_depth = 8;  // dent distances behind the plane; attenuation there is below 1e-3
constexpr double k_front_full = 2, k_front_none = 4;  // dent distances in front of the plane
constexpr double k_taper = 3.7;                       // widths until a Gaussian has fallen to a thousandth

}  // namespace

double attenuation(const Falloff& falloff, double z, double distance) {
  const double s = z / distance;
  if (s < 0) return std::clamp((k_front_none + s) / (k_front_none - k_front_full), 0.0, 1.0);
  if (falloff.kind == FalloffKind::linear) return std::max(0.0, 1 - falloff.steepness * s);
  return 2 / (1 + std::exp(falloff.steepness * s));
}

bool may_fold(const Falloff& falloff) {
  return falloff.steepness > (falloff.kind == FalloffKind::linear ? 1 : 2);
}

Vec3 DentMap::displacement(const Vec3& local, double share) const {
  const double depth = share * grid.sample(local.x(), local.y());
  const double raised = rim.depth.empty() ? 0 : share * rim.sample(local.x(), local.y());
  if (depth == 0 && raised == 0) return Vec3::Zero();
  const double f = attenuation(falloff, local.z(), distance);
  const double lateral = 2 * std::sin(frame.angle) * depth / (1 + std::exp(widening * local.x()));
  return f * Vec3(-lateral, 0, std::cos(frame.angle) * depth - raised);
}

void DentMap::apply(Points& points, double share, Eigen::Index begin, Eigen::Index end) const {
  for (Eigen::Index v = begin; v < end; ++v) {
    const Vec3 moved = displacement(frame.to_local(Vec3(points.row(v))), share);
    if (!moved.isZero(0)) points.row(v) += (frame.axes * moved).transpose();
  }
}

namespace {

// The vertex that lies foremost along `direction`, found uphill from the one nearest to `start`.
int nose_of(const Points& local, const Adjacency& neighbours, const Vec3& start, const Vec3& direction) {
  Eigen::Index at = 0;
  (local.rowwise() - start.transpose()).rowwise().squaredNorm().minCoeff(&at);
  for (;;) {
    Eigen::Index best = at;
    for (const int v : neighbours[at]) {
      if (local.row(v).dot(direction) > local.row(best).dot(direction)) best = v;
    }
    if (best == at) return static_cast<int>(at);
    at = best;
  }
}

// Moved on by a along the velocity, a point at (x, y, z ≤ 0) crosses the collision plane at (x + z tan θ, y) and goes
// a + z/cos θ beyond it.
Points pierced(const Points& local, double a, double theta) {
  Points result = local;
  result.col(0) += std::tan(theta) * local.col(2);
  result.col(2) = (a + local.col(2).array() / std::cos(theta)).matrix();
  return result;
}

// The paper's map of a glancing impact: depths perpendicular to the velocity, measured from the nose (the point
// foremost along it), rotated onto the collision plane about the nose and stretched by 1/cos θ along x. It lies at the
// impact point when the nose does not reach the plane, and where the nose is when that touches already (the leading
// edge of a box that lands flat); in between it moves from one to the other.
Points seen_along_velocity(const Points& local, int nose, double a, double theta) {
  const double s = std::sin(theta), c = std::cos(theta);
  const Vec3 q = local.row(nose);
  const double towards_impact = std::clamp(-q.z() / (a * c), 0.0, 1.0);
  Points result(local.rows(), 3);
  for (Eigen::Index v = 0; v < local.rows(); ++v) {
    const Vec3 r = Vec3(local.row(v)) - q;
    result.row(v) << (1 - towards_impact) * q.x() + (r.x() * c + r.z() * s) / c,
        (1 - towards_impact) * q.y() + r.y(), a - r.x() * s + r.z() * c;
  }
  return result;
}

}  // namespace

// Two views of the projectile, whichever goes deeper. The paper's alone leaves of a flat face that comes at an angle
// only the wedge at its leading edge (a barrel that slides into a wall would hardly be dented), and of a floor under
// a moving body nothing; the exact sweep alone leaves no stretched mark. For head-on impacts both are the same.
DepthGrid imprint(const Projectile& projectile, const Impact& impact, const DentFrame& frame, double distance,
                  const Rectangle& footprint, const ProfileOptions& options) {
  Points local = frame.to_local(*projectile.points);
  const Vec3 contact = frame.to_local(impact.point_on_projectile);
  local.rowwise() -= contact.transpose();  // just touching at the origin
  const Points straight = pierced(local, distance, frame.angle);
  Rectangle struck = area_above(straight, *projectile.triangles, 0);
  Points oblique;
  if (frame.angle > 0) {
    const Vec3 direction(-std::sin(frame.angle), 0, std::cos(frame.angle));
    const int nose = nose_of(local, *projectile.neighbours, Vec3::Zero(), direction);
    oblique = seen_along_velocity(local, nose, distance, frame.angle);
    const Rectangle wide = area_above(oblique, *projectile.triangles, 0);
    if (!wide.empty()) struck.extend(wide.low), struck.extend(wide.high);
  }
  const Rectangle area = struck.intersection(footprint);
  if (area.empty()) return {};
  const Rectangle padded = area.padded(k_taper * options.width + 2 * options.spacing);
  const double side = (padded.high - padded.low).maxCoeff();
  DepthGrid grid = DepthGrid::over(padded, std::max(options.spacing, side / options.max_cells), 0);
  rasterise(straight, *projectile.triangles, grid);
  if (frame.angle > 0) rasterise(oblique, *projectile.triangles, grid);
  for (double& d : grid.depth) d = std::clamp(d, 0.0, distance);
  return grid;
}

// The heat steps lower narrow ridges by more than rescaling gives back; raising the profile to the imprint before the
// steps that only deepen makes sure that the projectile fits into its dent.
DepthGrid finished_profile(DepthGrid imprint, double distance, const ProfileOptions& options) {
  DepthGrid profile = imprint;
  broaden(profile, options.width);
  smooth(profile, {options.smoothing.heat_steps, 0});
  for (std::size_t k = 0; k < profile.depth.size(); ++k) {
    profile.depth[k] = std::max(profile.depth[k], imprint.depth[k]);
  }
  smooth(profile, {0, options.smoothing.raise_steps});
  const double largest = profile.largest();
  if (largest > 0) {
    for (double& d : profile.depth) d *= distance / largest;
  }
  return profile;
}

Rectangle target_footprint(const Points& target, const DentFrame& frame, double distance) {
  Rectangle area;
  for (Eigen::Index v = 0; v < target.rows(); ++v) {
    const Vec3 p = frame.to_local(Vec3(target.row(v)));
    if (p.z() > -k_front_none * distance && p.z() < k_footprint_depth * distance) area.extend(p.head<2>());
  }
  return area;
}

}  // namespace exemplar::dent
