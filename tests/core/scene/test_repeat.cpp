#include "core/scene/repeat.h"

#include <gtest/gtest.h>

#include "core/scene/scene_settings.h"

namespace exemplar {

namespace {

BodySettings repeated() {
  BodySettings body;
  body.name = "barrel";
  body.position = Vec3(1, 2, 3);
  body.repeat = RepeatSettings{};
  body.repeat->count = IntVec3(2, 3, 2);
  body.repeat->spacing = Vec3(10, 20, 30);
  return body;
}

}  // namespace

TEST(Repeat, NothingAskedForIsTheThingItself) {
  BodySettings body;
  body.name = "one";
  const std::vector<BodySettings> copies = copies_of(body);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].name, "one");
}

TEST(Repeat, CopiesStandOnTheGridXFirst) {
  BodySettings body = repeated();
  body.repeat->stagger = Vec3(5, 0, 0);
  const std::vector<BodySettings> copies = copies_of(body);
  ASSERT_EQ(copies.size(), 12u);
  EXPECT_EQ(copies[0].name, "barrel-1");
  EXPECT_EQ(copies[0].position, Vec3(1, 2, 3));
  EXPECT_EQ(copies[1].position, Vec3(11, 2, 3));
  EXPECT_EQ(copies[2].position, Vec3(6, 22, 3));  // second layer: staggered
  EXPECT_EQ(copies[6].position, Vec3(1, 2, 33));
  EXPECT_FALSE(copies[0].repeat.has_value());
}

TEST(Repeat, JitterAndTurnStayWithinTheirBoundsAndFollowTheSeed) {
  BodySettings body = repeated();
  body.repeat->jitter = Vec3(1, 0, 2);
  body.repeat->turn = 20;
  const std::vector<BodySettings> plain = copies_of(repeated()), copies = copies_of(body),
                                  again = copies_of(body);
  body.repeat->seed = 2;
  const std::vector<BodySettings> other = copies_of(body);
  double largest = 0;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const Vec3 off = (copies[i].position - plain[i].position).cwiseAbs();
    EXPECT_LE(off.x(), 1);
    EXPECT_EQ(off.y(), 0);
    EXPECT_LE(off.z(), 2);
    largest = std::max(largest, off.x());
    EXPECT_LE(std::abs(Eigen::AngleAxisd(rotation_of(copies[i].rotation)).angle()),
              20.0001 * 3.14159265 / 180);
    EXPECT_EQ(copies[i].position, again[i].position);
    EXPECT_NE(copies[i].position, other[i].position);
  }
  EXPECT_GT(largest, 0.5);
}

TEST(Repeat, AnObstaclesKeyframesMoveWithItsCopy) {
  ObstacleSettings obstacle;
  obstacle.name = "pin";
  obstacle.keyframes = {{0, Vec3(1, 0, 0), {}}, {1, Vec3(2, 0, 0), {}}};
  obstacle.repeat = RepeatSettings{};
  obstacle.repeat->count = IntVec3(1, 1, 2);
  obstacle.repeat->spacing = Vec3(0, 0, 7);
  const std::vector<ObstacleSettings> copies = copies_of(obstacle);
  EXPECT_EQ(copies[1].keyframes[1].position, Vec3(2, 0, 7));
}

}  // namespace exemplar
