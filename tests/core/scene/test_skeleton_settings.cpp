#include "core/scene/skeleton_settings.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/errors.h"
#include "core/scene/json.h"
#include "core/scene/scene.h"

namespace exemplar {

namespace {

BodySettings skeleton_box() {
  BodySettings body;
  body.name = "bar";
  body.surface.box = BoxParams{{1.0, 0.2, 0.2}, {10, 2, 2}};
  return body;
}

SkeletonSettings straight() {
  SkeletonSettings skeleton;
  skeleton.points = {Vec3(-0.4, 0, 0), Vec3(0, 0, 0), Vec3(0.4, 0, 0)};
  skeleton.bones = {{0, 1}, {1, 2}};
  return skeleton;
}

// What the description's rule says about a skeleton.
std::vector<std::string> problems_of(const SkeletonSettings& skeleton) {
  std::vector<std::string> problems;
  description_of<SkeletonSettings>().check(
      &skeleton,
      [&](const std::string& key, const std::string& message) { problems.push_back(key + ": " + message); });
  return problems;
}

std::string path_of_error(const BodySettings& settings, const std::string& directory = "") {
  try {
    const Body body(settings, directory, "bodies[2]");
  } catch (const InputError& error) {
    return error.problems().front().path;
  }
  return "";
}

}  // namespace

TEST(SkeletonSettings, AcceptsATree) {
  EXPECT_TRUE(problems_of(straight()).empty());
  BodySettings body = skeleton_box();
  body.skeleton = straight();
  EXPECT_EQ(path_of_error(body), "");
}

TEST(SkeletonSettings, RefusesLoopsUnlessTheyAreMeant) {
  SkeletonSettings ring = straight();
  ring.bones.push_back({2, 0});
  ASSERT_EQ(problems_of(ring).size(), 1u);
  EXPECT_TRUE(problems_of(ring)[0].starts_with("bones[2]: closes a loop"));
  ring.closed = true;
  EXPECT_TRUE(problems_of(ring).empty());
}

TEST(SkeletonSettings, RefusesBonesThatJoinNothing) {
  SkeletonSettings skeleton = straight();
  skeleton.bones[1].to = 7;
  EXPECT_TRUE(problems_of(skeleton).at(0).starts_with("bones[1]: joins points 1 and 7"));
  skeleton = straight();
  skeleton.bones[1] = {2, 2};
  EXPECT_TRUE(problems_of(skeleton).at(0).starts_with("bones[1]: has no length"));
  skeleton = straight();
  skeleton.points.push_back(Vec3(0, 0, 0.05));
  skeleton.points.push_back(Vec3(0, 0.05, 0));
  skeleton.bones.push_back({3, 4});
  EXPECT_TRUE(problems_of(skeleton).at(0).starts_with("bones[2]: is not connected"));
}

TEST(SkeletonSettings, RefusesBonesOutsideTheBody) {
  BodySettings body = skeleton_box();
  body.skeleton = straight();
  body.skeleton->points[2] = Vec3(0, 0, 3);
  EXPECT_EQ(path_of_error(body), "");  // starts inside
  body.skeleton->points[1] = Vec3(0, 0, 2);
  EXPECT_EQ(path_of_error(body), "bodies[2].skeleton.bones[1]");
}

TEST(DentMapSettings, RefusesWrongSizesAndEmptyMaps) {
  BodySettings body = skeleton_box();
  body.dent_map = DentMapSettings{{1, 2, 3, 4, 5, 6}, 3, 2, {}, 0.1};
  EXPECT_EQ(path_of_error(body), "");
  body.dent_map->columns = 4;
  EXPECT_EQ(path_of_error(body), "bodies[2].dent_map");
  body.dent_map = DentMapSettings{{0, 0, 0, -1}, 2, 2, {}, 0.1};
  EXPECT_EQ(path_of_error(body), "bodies[2].dent_map");
}

TEST(DentMapSettings, ReadsRowsFromAFileAndNamesTheOddOne) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "exemplar-dent-map";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "good.txt") << "0, 1, 0\n1 3 1\n0 1 0\n";
  std::ofstream(folder / "odd.txt") << "0 1 0\n1 3\n";
  const DentMapSettings map =
      read_dent_map({{}, 0, 0, "good.txt", 0.2}, folder.string(), "bodies[0].dent_map");
  EXPECT_EQ(map.columns, 3);
  EXPECT_EQ(map.rows, 3);
  EXPECT_EQ(map.values[4], 3);
  EXPECT_THROW(read_dent_map({{}, 0, 0, "odd.txt", 0.2}, folder.string(), "x"), InputError);
  EXPECT_THROW(read_dent_map({{}, 0, 0, "none.txt", 0.2}, folder.string(), "x"), InputError);
  std::filesystem::remove_all(folder);
}

}  // namespace exemplar
