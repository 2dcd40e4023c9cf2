#include "core/contact/impact_stiffening.h"

#include <gtest/gtest.h>

#include "tests/core/contact/contact_support.h"

namespace exemplar {
namespace {

using namespace exemplar::testing;

TEST(ImpactStiffening, StiffensOnlyWhatTheImpactDrives) {
  const ContactSurface surface = sheet(2, 1.0);
  // One ball rests within reach of the sheet, the other comes from above.
  const std::vector<ObstacleBody> bodies =
      make_obstacles({obstacle(ShapeKind::sphere, 0.2, Vec3(-0.25, 0.1005, 0.1)),
                      obstacle(ShapeKind::sphere, 0.2, Vec3(0.2, 0.3, 0.1))});
  const double reach = 1e-3;
  ContactPotential contact(surface, bodies, {reach, 1e4, 1e-3});
  contact.begin_step(states_of(bodies), surface.rest);
  const VecX masses = VecX::Constant(surface.rest.rows(), 0.5), zero = VecX::Zero(12);
  VecX end = zero, touching = zero;
  end[7] = -0.3;
  touching[7] = -0.1995;
  const auto energy = [&](const VecX& q) {
    contact.find_pairs(surface.rest, q, surface.rest, q);
    return contact.value(surface.rest, q);
  };
  const double resting = energy(zero), both = energy(touching);
  ASSERT_GT(resting, 0);
  ASSERT_GT(both, resting);
  contact.find_pairs(surface.rest, zero, surface.rest, end);
  contact.stiffen(surface.rest, zero, surface.rest, end, masses, 1.0 / 600);
  EXPECT_EQ(energy(zero), resting);
  // p = m s/(dt² A): m = 1/(1/2 + 1/0.5) kg, s = 0.1 m.
  EXPECT_GT(energy(touching), resting + 5 * (both - resting));
  contact.begin_step(states_of(bodies), surface.rest);
  EXPECT_EQ(energy(touching), both);
}

}  // namespace
}  // namespace exemplar
