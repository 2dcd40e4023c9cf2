#include "core/implicit/linked_groups.h"

#include <gtest/gtest.h>

namespace exemplar {
namespace {

TEST(LinkedGroups, TheSmallestMemberIsTheRootWhateverTheOrderOfLinks) {
  LinkedGroups groups(8);
  groups.link(6, 3);
  groups.link(7, 6);
  groups.link(5, 1);
  groups.link(7, 5);
  for (const int i : {1, 3, 5, 6, 7}) EXPECT_EQ(groups.root(i), 1);
  for (const int i : {0, 2, 4}) EXPECT_EQ(groups.root(i), i);
}

TEST(LinkedGroups, ALinkToItselfOrWithinAGroupChangesNothing) {
  LinkedGroups groups(3);
  groups.link(2, 2);
  groups.link(0, 2);
  groups.link(2, 0);
  EXPECT_EQ(groups.root(2), 0);
  EXPECT_EQ(groups.root(1), 1);
}

}  // namespace
}  // namespace exemplar
