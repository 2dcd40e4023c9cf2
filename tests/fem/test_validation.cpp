// The quick validation cases of the time integration, as tests.
#include <gtest/gtest.h>

#include "fem/checks/validation.h"

namespace exemplar::fem {
namespace {

void expect_ok(const std::vector<ValidationRecord>& records) {
  EXPECT_FALSE(records.empty());
  for (const ValidationRecord& r : records)
    EXPECT_TRUE(r.ok) << r.quantity << ": " << r.measured << ", expected " << r.expected << " ± "
                      << r.tolerance;
}

TEST(FemValidation, OrderOfAccuracy) {
  expect_ok(validate_order({}));
}
TEST(FemValidation, Dissipation) {
  expect_ok(validate_dissipation({}));
}

}  // namespace
}  // namespace exemplar::fem
