#include "core/base/parallel.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/base/random.h"

namespace exemplar {

TEST(Parallel, VisitsEveryIndexOnceForAnyNumberOfThreads) {
  for (int threads : {1, 2, 3}) {
    set_thread_count(threads);
    std::vector<int> visits(10007, 0);
    parallel_for(
        visits.size(), [&](std::size_t i) { ++visits[i]; }, 16);
    for (int count : visits) ASSERT_EQ(count, 1);
  }
  set_thread_count(0);
}

TEST(Random, NormalHasTheRightMomentsAndDependsOnSeedAndKeyOnly) {
  double sum = 0, square = 0;
  const int n = 200000;
  for (int i = 0; i < n; ++i) {
    const double x = normal_random(7, static_cast<std::uint64_t>(i));
    sum += x;
    square += x * x;
  }
  EXPECT_NEAR(sum / n, 0.0, 0.01);
  EXPECT_NEAR(square / n, 1.0, 0.02);
  EXPECT_EQ(normal_random(7, 12), normal_random(7, 12));
  EXPECT_NE(normal_random(7, 12), normal_random(8, 12));
}

}  // namespace exemplar
