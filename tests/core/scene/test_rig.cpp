#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/errors.h"
#include "core/math/rigid_fit.h"
#include "core/mesh/files/files.h"
#include "core/rig/bone_fit.h"
#include "core/rig/refined_fit.h"
#include "core/scene/body_rig.h"
#include "core/scene/json.h"
#include "core/scene/pose_maps.h"
#include "core/scene/rig_file.h"

namespace exemplar {
namespace {

BodySettings rigged_bar() {
  BodySettings body;
  body.name = "bar";
  body.surface.box = BoxParams{{0.2, 0.2, 1.0}, {2, 2, 10}};
  body.volume.grid = IntVec3(2, 2, 10);
  body.rig = RigSettings{};
  body.rig->points = {Vec3(0, 0, -0.5), Vec3(0, 0, 0), Vec3(0, 0, 0.5)};
  return body;
}

ExampleSettings lifted_end() {
  ExampleSettings example;
  example.name = "lifted";
  example.handles = HandlePoseSettings{};
  HandleMove move;
  move.near = Vec3(0, 0, 0.6);
  move.by = Vec3(0, 0.2, 0);
  example.handles->move.push_back(move);
  return example;
}

BendMap bend_about_x(double angle) {
  BendMap map;
  map.axis = Vec3::UnitX();
  map.angle = angle;
  return map;
}

template <class Action>
std::string problems_text_of(const Action& action) {
  try {
    action();
  } catch (const InputError& error) {
    std::string all;
    for (const Problem& problem : error.problems()) all += to_string(problem) + "\n";
    return all;
  }
  return "";
}

TEST(BodyRig, APoseByHandlesIsAnExampleOfSurfaceAndVolume) {
  BodySettings settings = rigged_bar();
  settings.examples.push_back(lifted_end());
  settings.position = Vec3(3, 1, 2);
  settings.rotation = {Vec3::UnitX(), 90};
  const Body body(settings, "", "bodies[0]");
  const Example& example = body.examples()[0];
  const Points& nodes = body.volume_examples()[0].nodes;
  // The surface is carried by the volume's pose: its vertices are vertices of the volume here.
  const Points carried = apply(body.volume().surface, body.volume().mesh.tets, nodes);
  EXPECT_LT((carried - example.surface).cwiseAbs().maxCoeff(), 1e-12);
  // The moved end goes up by what was asked, in the body's own axes; the held middle stays.
  const Vec3 up = body.placement().linear() * Vec3::UnitY();
  for (Eigen::Index v = 0; v < nodes.rows(); ++v) {
    const Vec3 own = body.placement().inverse() * Vec3(body.volume().mesh.vertices.row(v));
    const Vec3 moved = Vec3(nodes.row(v)) - Vec3(body.volume().mesh.vertices.row(v));
    if ((own - Vec3(0, 0, 0.5)).norm() < 1e-9) {
      EXPECT_LT((moved - 0.2 * up).norm(), 1e-12);
    }
    if (own.norm() < 1e-9) {
      EXPECT_LT(moved.norm(), 1e-12);
    }
  }
}

TEST(BodyRig, BonesOfExamplesByHandlesReproduceThemAndOthersAreFitted) {
  BodySettings settings = rigged_bar();
  settings.examples.push_back(lifted_end());
  ExampleSettings bent;
  bent.name = "bent";
  bent.bend = bend_about_x(30);
  settings.examples.push_back(bent);
  settings.position = Vec3(-1, 2, 0.5);
  settings.rotation = {Vec3(1, 1, 0).normalized(), 50};
  const Body body(settings, "", "bodies[0]");
  const RiggedBody rigged = rig_body(body);
  ASSERT_EQ(rigged.examples.size(), 3u);
  const Points lifted = skin(body.surface().vertices, rigged.centres, rigged.surface, rigged.examples[1]);
  EXPECT_LT((lifted - body.examples()[0].surface).cwiseAbs().maxCoeff(), 1e-12);
  const Points& target = body.examples()[1].surface;
  const Points fitted = skin(body.surface().vertices, rigged.centres, rigged.surface, rigged.examples[2]);
  const Points aligned = transform(fit_rigid(fitted, target), fitted);
  EXPECT_LT((aligned - target).rowwise().norm().maxCoeff(), 0.02);  // of a bar of 1 m bent by 30°
  ASSERT_EQ(rigged.notes.size(), 1u);
  EXPECT_NE(rigged.notes[0].text.find("'bent' fitted with 3 bones"), std::string::npos);
  // Skins of both geometries with full weight on an example.
  ExampleWeights e = ExampleWeights::Zero(body.volume().mesh.vertices.rows(), 3);
  e.col(1).setOnes();
  EXPECT_LT((rigged.volume_skin(body).positions(e) - body.volume_examples()[0].nodes).cwiseAbs().maxCoeff(),
            1e-12);
}

TEST(BodyRig, WithoutSettingsHasTwelveAutomaticHandles) {
  BodySettings settings = rigged_bar();
  settings.rig.reset();
  EXPECT_EQ(rig_body(Body(settings, "", "bodies[0]")).surface.bones, 12);
}

TEST(BodyRig, MistakesAreSaidWithTheirPaths) {
  BodySettings settings = rigged_bar();
  settings.examples.push_back(lifted_end());
  settings.examples[0].handles->move[0].near.reset();
  settings.examples[0].handles->move[0].handle = "point-7";
  EXPECT_EQ(
      problems_text_of([&] { Body(settings, "", "bodies[0]").examples(); }),
      "bodies[0].examples[0].handles.move[0].handle: the rig has no handle called 'point-7' (did you mean "
      "'point-0'?)\n");
  settings = rigged_bar();
  settings.examples.push_back(lifted_end());
  settings.examples[0].handles->move.push_back(settings.examples[0].handles->move[0]);
  EXPECT_NE(problems_text_of([&] {
              Body(settings, "", "bodies[0]").examples();
            }).find("bodies[0].examples[0].handles.move[1]: moves 'point-2' a second time"),
            std::string::npos);
  settings.rig->points.push_back(Vec3(0, 7, 0));
  EXPECT_NE(problems_text_of([&] {
              rig_body(Body(settings, "", "bodies[0]"));
            }).find("bodies[0].rig.points[3]: (0, 7, 0)"),
            std::string::npos);
}

class RigFile : public ::testing::Test {
 protected:
  RigFile()
      : m_volume(Body(rigged_bar(), "", "bodies[0]").volume()),
        m_rig(make_rig(m_volume, HandleRequest{{}, {{Vec3(0, 0, -0.4), Vec3(0, 0, 0.4)}}, {}, 5})) {}
  Volume m_volume;
  Rig m_rig;
};

TEST_F(RigFile, ComesBackAsItWasWritten) {
  const Rig read = decode_rig(encode_rig(m_rig, m_volume), "rig.json", m_volume);
  EXPECT_EQ(read.volume.bone, m_rig.volume.bone);
  EXPECT_EQ(read.volume.start, m_rig.volume.start);
  EXPECT_EQ(read.volume.weight, m_rig.volume.weight);
  EXPECT_EQ(read.surface.weight, m_rig.surface.weight);
  EXPECT_EQ(read.fixed, m_rig.fixed);
  ASSERT_EQ(read.bones(), 6);
  for (std::size_t h = 0; h < 6; ++h) {
    EXPECT_EQ(read.handles[h].name, m_rig.handles[h].name);
    EXPECT_EQ(read.handles[h].start, m_rig.handles[h].start);
    EXPECT_EQ(read.handles[h].end, m_rig.handles[h].end);
  }
}

TEST_F(RigFile, OfAnotherMeshIsRefused) {
  Volume other = m_volume;
  other.mesh.vertices(0, 0) += 1e-3;
  EXPECT_NE(problems_text_of([&] {
              decode_rig(encode_rig(m_rig, m_volume), "rig.json", other);
            }).find("rig.json: mesh: is the rig of another mesh"),
            std::string::npos);
}

// What `exemplar rig` wrote fits the same body wherever a scene puts it, and all copies of a body share one
// rig.
TEST_F(RigFile, ServesABodyThatStandsElsewhere) {
  const std::string text = encode_rig(m_rig, m_volume);
  for (int k = 0; k < 20; ++k) {
    const Eigen::Isometry3d place =
        Eigen::Translation3d(0.37 * k, -1.1, 2.3) * Eigen::AngleAxisd(0.3 * k, Vec3(1, 2, 3).normalized());
    Volume moved = m_volume;
    for (const Eigen::Isometry3d& motion : {place, place.inverse()}) {
      for (Eigen::Index v = 0; v < moved.mesh.vertices.rows(); ++v)
        moved.mesh.vertices.row(v) = (motion * Vec3(moved.mesh.vertices.row(v))).transpose();
    }
    EXPECT_NO_THROW(decode_rig(text, "rig.json", moved)) << k;
  }
}

TEST_F(RigFile, DamageIsSaid) {
  const Json good = parse_json(encode_rig(m_rig, m_volume), "rig.json");
  auto problem_with = [&](const std::string& path, const Json& value) {
    Json bad = good;
    set_at_path(bad, path, value);
    return problems_text_of([&] { decode_rig(bad.dump(), "rig.json", m_volume); });
  };
  EXPECT_NE(problem_with("format", "something").find("not a rig"), std::string::npos);
  EXPECT_NE(problem_with("weights.weight[0]", 2).find("row 0 leaves [0, 1]"), std::string::npos);
  EXPECT_NE(problem_with("weights.bone[0]", 99).find("row 0 names handle 99"), std::string::npos);
  EXPECT_NE(problem_with("weights.weight[0]", 1e-3).find("sums to"), std::string::npos);
  EXPECT_NE(problem_with("weights.start[0]", 1).find("do not fit"), std::string::npos);
  EXPECT_NE(problem_with("handles[0].kind", "wheel").find("unknown kind"), std::string::npos);
  EXPECT_NE(problem_with("fixed[0]", -4).find("no vertex -4"), std::string::npos);
  EXPECT_NE(problem_with("objective", "low").find("damaged"), std::string::npos);
  EXPECT_NE(problems_text_of([&] { decode_rig("[1, 2", "rig.json", m_volume); }), "");
  EXPECT_NE(
      problems_text_of([&] { read_rig("/nonexistent/rig.json", m_volume); }).find("there is no such file"),
      std::string::npos);
}

TEST_F(RigFile, AddedHandlesBringTheFitDown) {
  // A bar bent by 120° cannot be followed by two bones.
  const Body body(rigged_bar(), "", "bodies[0]");
  PoseMap map;
  map.bend = bend_about_x(120);
  const Points& rest = body.surface().vertices;
  const Points target = apply_maps({map}, rest, bounds_of(rest));
  const Rig two = make_rig(m_volume, HandleRequest{{Vec3(0, 0, -0.5), Vec3(0, 0, 0.5)}, {}, {}, 0});
  RefineOptions options;
  options.max_handles = 8;
  const RefinedFit refined = fit_adding_handles(m_volume, two, rest, target, options);
  EXPECT_EQ(refined.rig.bones(), 8);
  EXPECT_LT(refined.rms.back(), 0.2 * refined.rms.front());
  options.tolerance = 1.01 * refined.rms[2];
  EXPECT_EQ(fit_adding_handles(m_volume, two, rest, target, options).rms.size(), 3u);
}

}  // namespace
}  // namespace exemplar
