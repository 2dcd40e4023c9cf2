#include "meshless/peridynamics/input_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "core/mesh/distance.h"
#include "core/mesh/topology.h"

namespace exemplar::peridynamics {

void require_places(const TriMesh& surface, const std::string& body, double spacing) {
  constexpr double most = 1e9;  // spacings; the tolerance of seams is a millionth of one
  const double farthest = surface.vertices.cwiseAbs().maxCoeff();
  if (farthest <= most * spacing) return;
  throw InputError(
      Problem{{},
              "bodies",
              fmt::format("{} lies {:.2g} m from the origin: places there are too coarse for particles "
                          "{:.2g} m apart; at most {:.2g} m would do",
                          body, farthest, spacing, most * spacing)});
}

void require_countable(double steps, double step) {
  constexpr double most = 1e9;
  if (steps <= most) return;
  throw InputError(
      Problem{{},
              "methods.peridynamics.step",
              fmt::format("{:.2g} s are {:.2g} steps in a step of the scene; at most {:.0e} would do", step,
                          steps, most)});
}

void require_closed(const TriMesh& surface, const std::string& body, const std::string& path) {
  const Eigen::Index open = boundary_edges(surface.triangles).rows();
  if (open == 0) return;
  throw InputError(Problem{
      {},
      path,
      fmt::format(
          "the surface of '{}' is open: {} of its edges have only one triangle. Particles fill closed "
          "surfaces: close it, or make the body a sheet with a thickness",
          body, open)});
}

double thin_part(const TriMesh& closed_surface) {
  const SurfaceDistance distance(closed_surface);
  const Points& x = closed_surface.vertices;
  const double size = (x.colwise().maxCoeff() - x.colwise().minCoeff()).norm();
  const double offset = 1e-7 * size;  // of a ray's start below the surface
  const Eigen::Index count = closed_surface.triangles.rows(), stride = 1 + count / 10000;
  std::vector<std::pair<double, double>> samples;  // thickness, area
  double whole = 0;
  for (Eigen::Index t = 0; t < count; t += stride) {
    const Vec3 a = x.row(closed_surface.triangles(t, 0)), b = x.row(closed_surface.triangles(t, 1)),
               c = x.row(closed_surface.triangles(t, 2));
    const Vec3 area = 0.5 * (b - a).cross(c - a);
    if (!(area.norm() > 0)) continue;
    const Vec3 inwards = -area.normalized();
    const Vec3 start = (a + b + c) / 3 + offset * inwards;
    const auto hit = distance.ray_cast(start, inwards);
    // Of a plate thinner than the offset the start is behind the far side.
    const auto back = hit ? std::nullopt : distance.ray_cast(start, -inwards);
    const bool is_through = back && back->t < 0.999 * offset;
    samples.emplace_back(hit ? hit->t + offset : is_through ? offset - back->t : size, area.norm());
    whole += area.norm();
  }
  std::sort(samples.begin(), samples.end());
  double seen = 0;
  for (const auto& [thickness, area] : samples) {
    seen += area;
    if (seen >= 0.1 * whole) return thickness;
  }
  return std::numeric_limits<double>::infinity();
}

namespace {

// How many particles are `finer` times closer, rounded up to three digits: who takes the advice has followed it.
double particles_for(int particles, double finer) {
  const double count = particles * finer * finer * finer * (1 - 1e-5);
  const double digit = std::pow(10, std::max(0.0, std::floor(std::log10(count)) - 2));
  return std::ceil(count / digit) * digit;
}

}  // namespace

std::optional<std::string> check_thickness(double thickness, double spacing, double horizon, int particles,
                                           const std::string& body) {
  constexpr double rounding = 1 - 1e-6;
  const double across = thickness / spacing, needed = horizon / spacing;
  if (across >= needed * rounding) return std::nullopt;
  const double all = particles_for(particles, needed / across);
  if (across < rounding) {
    throw InputError(Problem{
        {},
        "methods.peridynamics.particles",
        fmt::format("{}: its thin parts ({:.3g} m) have less than one particle across, particles are "
                    "{:.3g} m apart: too few; at least {:.0f} would do, and {:.0f} for as many across "
                    "as the horizon spans",
                    body, thickness, spacing, particles_for(particles, 1 / across), all)});
  }
  return fmt::format(
      "{}: its thin parts ({:.3g} m) are {:.2g} particle{} across, and the horizon spans {:.3g}: bonds reach "
      "from one side to the other; about {:.0f} particles or a smaller horizon would do",
      body, thickness, across, across < 1.05 ? "" : "s", needed, all);
}

std::optional<std::string> check_step(double step, double bound) {
  if (!(step > bound * (1 + 1e-9))) return std::nullopt;
  const std::string numbers =
      fmt::format("a step of {:.4g} s is {:.2f} times the stability bound of Silling and Askari, {:.4g} s",
                  step, step / bound, bound);
  if (step > 2.2 * bound) {
    throw InputError(
        Problem{{},
                "methods.peridynamics.step",
                numbers + "; the true limit is about twice the bound: use a smaller step, or 0 to let it "
                          "be chosen"});
  }
  return numbers + "; the true limit is about twice the bound";
}

double horizon_over_spacing(double length, double spacing) {
  const double ratio = length / spacing;
  if (ratio >= 1.01 && ratio <= 12) return ratio;
  throw InputError(Problem{{},
                           "methods.peridynamics.horizon_length",
                           fmt::format("{:.4g} m is {:.3g} particle spacings of {:.4g} m; between 1.01 and "
                                       "12 are possible: change the number of particles",
                                       length, ratio, spacing)});
}

}  // namespace exemplar::peridynamics
