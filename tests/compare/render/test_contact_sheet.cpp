#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "compare/render/colours.h"
#include "compare/render/contact_sheet.h"
#include "compare/render/run_frames.h"
#include "compare/stage/visible.h"
#include "core/base/errors.h"
#include "core/output/frame_writer.h"

namespace exemplar::render {

namespace {

namespace fs = std::filesystem;

// A tetrahedron that flies along x; the second run ends halfway.
void write_run(const fs::path& directory, int frames, const std::string& record) {
  FrameWriter writer(directory);
  for (int frame = 0; frame < frames; ++frame) {
    Geometry body;
    body.series = "surface";
    body.points.resize(4, 3);
    body.points << 0, 0.2, 0, 1, 0.2, 0, 0, 1.2, 0, 0, 0.2, 1;
    body.points.col(0).array() += 0.1 * frame;
    body.connectivity = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    body.arrays.push_back(make_array("height", Association::point, MatX(body.points.col(1))));
    Geometry ground;
    ground.series = "obstacles";
    ground.points.resize(4, 3);
    ground.points << -50, 0, -50, -50, 0, 50, 50, 0, 50, 50, 0, -50;
    ground.connectivity = {0, 1, 2, 0, 2, 3};
    ground.arrays.push_back(make_integer_array("obstacle", Association::cell, {0, 0}));
    writer.write(frame, frame / 10.0, {body, ground});
  }
  writer.close();
  std::ofstream(directory / "run.json") << record;
}

class ContactSheet : public testing::Test {
 protected:
  ContactSheet() {
    std::string name = (fs::temp_directory_path() / "exemplar-render-XXXXXX").string();
    m_folder = ::mkdtemp(name.data());
    write_run(m_folder / "fem", 11, R"({"status": "done", "title": "Flight", "method": "fem"})");
    write_run(m_folder / "shell", 6, R"({"status": "failed", "message": "no step"})");
    fs::create_directories(m_folder / "not-a-run");
  }
  ~ContactSheet() override { fs::remove_all(m_folder); }
  fs::path m_folder;
};

TEST_F(ContactSheet, RunsAreFoundWithTheirRecords) {
  const auto runs = find_runs(m_folder, "surface");
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].name, "fem");
  EXPECT_EQ(runs[0].title, "Flight");
  EXPECT_EQ(runs[0].note, "");
  EXPECT_EQ(runs[0].frames.size(), 11u);
  EXPECT_EQ(runs[0].obstacles.size(), 11u);
  EXPECT_EQ(runs[1].note, "failed: no step");
  EXPECT_EQ(find_runs(m_folder / "shell", "surface").size(), 1u);
  EXPECT_EQ(find_runs(m_folder / "shell" / "", "surface")[0].name, "shell");
  EXPECT_THROW(find_runs(m_folder, "particles"), InputError);
  EXPECT_THROW(find_runs(m_folder / "not-a-run", "surface"), InputError);
  EXPECT_THROW(find_runs(m_folder / "missing", "surface"), InputError);
}

// A comparison says in which order, under which names and in which colours its runs are shown.
TEST_F(ContactSheet, RunsFollowTheComparison) {
  std::ofstream(m_folder / "comparison.json")
      << R"({"runs": [{"directory": "gone"}, {"directory": "shell", "name": "thin shell", "colour": "#0072b2"}]})";
  const auto runs = find_runs(m_folder, "surface");
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].name, "shell");
  EXPECT_EQ(runs[0].label, "thin shell");
  EXPECT_EQ(runs[0].colour, (Colour{0, 114, 178}));
  EXPECT_EQ(runs[1].label, "fem");
  EXPECT_EQ(runs[1].colour, std::nullopt);
}

TEST_F(ContactSheet, NearestFrameUntilTheRunEnds) {
  const auto runs = find_runs(m_folder, "surface");
  EXPECT_EQ(frame_at(runs[0].frames, 0.0), 0u);
  EXPECT_EQ(frame_at(runs[0].frames, 0.52), 5u);
  EXPECT_EQ(frame_at(runs[0].frames, 1.04), 10u);
  EXPECT_EQ(frame_at(runs[1].frames, 0.5), 5u);
  EXPECT_EQ(frame_at(runs[1].frames, 0.75), std::nullopt);
  EXPECT_EQ(frame_at({}, 0.0), std::nullopt);
}

std::size_t colour_count(const Image& image) {
  std::set<std::array<int, 3>> colours;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const auto* p = image.pixel(x, y);
      colours.insert({p[0], p[1], p[2]});
    }
  }
  return colours.size();
}

TEST_F(ContactSheet, PicturesAreNotBlankAndFollowTheMotion) {
  if (!std::getenv("DISPLAY")) GTEST_SKIP() << "needs a display (xvfb-run -a)";
  SheetOptions options;
  options.columns = 3;
  options.width = 120;
  options.height = 90;
  for (const char* array : {"", "height"}) {
    options.array = array;
    const Sheet sheet = make_sheet(m_folder, options);
    ASSERT_EQ(sheet.tiles.size(), 6u);
    EXPECT_GT(sheet.image.width, 360);
    for (const Tile& tile : sheet.tiles) {
      EXPECT_EQ(tile.empty, tile.run == "shell" && tile.column == 2);
      EXPECT_EQ(colour_count(tile.image) > 100, !tile.empty);
    }
    EXPECT_EQ(sheet.tiles[1].time, 0.5);
    EXPECT_NE(sheet.tiles[0].image.rgb, sheet.tiles[1].image.rgb);
    EXPECT_EQ(sheet.tiles[0].image.rgb, sheet.tiles[3].image.rgb);  // both runs start the same
  }
  options.array = "heigth";
  EXPECT_THROW(make_sheet(m_folder, options), InputError);
  options.array.clear();
  write_tiles(m_folder / "tiles", make_sheet(m_folder, options));
  EXPECT_TRUE(fs::exists(m_folder / "tiles" / "fem_2.png"));
  EXPECT_FALSE(fs::exists(m_folder / "tiles" / "shell_2.png"));
  EXPECT_TRUE(fs::exists(m_folder / "tiles" / "tiles.json"));
}

// The strongest handle's colour, paler where others have a share; grey without a rig.
TEST(HandleColours, FollowHandleAndWeight) {
  Geometry body;
  body.points = Points::Zero(4, 3);
  EXPECT_FALSE(has_skinning(body));
  body.arrays.push_back(make_integer_array("strongest_handle", Association::point, {2, 2, 3, -1}));
  EXPECT_FALSE(has_skinning(body));
  body.arrays.push_back(make_array("strongest_weight", Association::point, MatX(Vec4(1, 0.5, 0, 0))));
  EXPECT_TRUE(has_skinning(body));
  const Colour full = category_colour(2);
  EXPECT_EQ(handle_colour(body, 0), full);
  const Colour half = handle_colour(body, 1);
  for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(half[c], 0.5 * (255 + full[c]), 0.51);
  EXPECT_EQ(handle_colour(body, 2), (Colour{255, 255, 255}));
  EXPECT_EQ(handle_colour(body, 3), (Colour{190, 190, 194}));
}

// A rig's handles are drawn as balls; runs without one have no row.
TEST_F(ContactSheet, HandlesAreDrawnWhereThereIsARig) {
  if (!std::getenv("DISPLAY")) GTEST_SKIP() << "needs a display (xvfb-run -a)";
  FrameWriter writer(m_folder / "rigid-lbs");
  Geometry body;
  body.series = "surface";
  body.points.resize(4, 3);
  body.points << 0, 0.2, 0, 1, 0.2, 0, 0, 1.2, 0, 0, 0.2, 1;
  body.connectivity = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
  body.arrays.push_back(make_integer_array("strongest_handle", Association::point, {0, 1, 1, 0}));
  body.arrays.push_back(make_array("strongest_weight", Association::point, MatX(Vec4(1, 1, 0.5, 0.5))));
  Geometry handles;
  handles.series = "handles";
  handles.kind = CellKind::points;
  handles.points = body.points.topRows(2);
  writer.write(0, 0, {body, handles});
  writer.close();
  SheetOptions options;
  options.frame = 0;
  options.width = 120;
  options.height = 90;
  options.array = "skinning";
  const Sheet with = make_sheet(m_folder, options);
  ASSERT_EQ(with.tiles.size(), 1u);
  EXPECT_EQ(with.tiles[0].run, "rigid-lbs");
  EXPECT_GT(colour_count(with.tiles[0].image), 100u);
  fs::remove(m_folder / "rigid-lbs" / "handles.pvd");
  EXPECT_NE(make_sheet(m_folder, options).tiles[0].image.rgb, with.tiles[0].image.rgb);
  fs::remove_all(m_folder / "rigid-lbs");
  EXPECT_THROW(make_sheet(m_folder, options), InputError);
}

// What decides where the camera stands sees what VTK draws: the same part of the picture, to one line of pixels.
TEST(TileRenderer, DrawsWhatTheFramingSees) {
  if (!std::getenv("DISPLAY")) GTEST_SKIP() << "needs a display (xvfb-run -a)";
  Geometry body;
  body.points.resize(4, 3);
  body.points << 0, 0.2, 0, 1, 0.2, 0, 0, 1.2, 0, 0, 0.2, 1;
  body.connectivity = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
  const Camera camera = stage::camera_at(Vec3(3, 2, 4), Vec3(0.3, 0.5, 0.3), Vec3::UnitY(), 0.5);
  TileRenderer renderer(320, 240, 1);
  TileStyle style;
  style.subject.include(Vec3::Zero());
  style.subject.include(Vec3::Ones());
  const auto drawn = [&](const TileStyle& with) {
    const Image image = renderer.render(body, nullptr, camera, with);
    int count = 0;
    for (int y = 0; y < image.height; ++y) {
      for (int x = 0; x < image.width; ++x)
        count += !std::equal(k_background.begin(), k_background.end(), image.pixel(x, y));
    }
    return count / (320.0 * 240.0);
  };
  const double share = stage::look(camera, 320.0 / 240, 240, body).share(0);
  ASSERT_GT(share, 0.05);
  EXPECT_NEAR(drawn(style), share, 0.03 * share);
  style.lines = Lines::wireframe;
  EXPECT_LT(drawn(style), 0.5 * share);
  style.lines = Lines::none;
  style.cut = CutSettings{Vec3(0, 0.5, 0), Vec3::UnitY()};  // the tip is not drawn
  EXPECT_LT(drawn(style), 0.9 * share);
  EXPECT_GT(drawn(style), 0.3 * share);
}

// A line around what the body was: there, and not where the body is now.
TEST_F(ContactSheet, OutlineOfTheShapeAtRest) {
  if (!std::getenv("DISPLAY")) GTEST_SKIP() << "needs a display (xvfb-run -a)";
  FrameWriter writer(m_folder / "bent");
  Geometry body;
  body.series = "surface";
  body.points.resize(4, 3);
  body.points << 0, 0.2, 0, 1, 0.2, 0, 0, 1.2, 0, 0, 0.2, 1;
  body.connectivity = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
  Points moved = Points::Zero(4, 3);
  moved(2, 1) = -0.7;
  body.points += moved;
  body.arrays.push_back(make_array("displacement", Association::point, moved));
  writer.write(0, 0, {body});
  writer.close();
  std::ofstream(m_folder / "bent" / "run.json") << "{}";
  SheetOptions options;
  options.frame = 0;
  options.width = 120;
  options.height = 90;
  const Image plain = make_sheet(m_folder / "bent", options).tiles[0].image;
  options.rest_outline = true;
  const Image with = make_sheet(m_folder / "bent", options).tiles[0].image;
  int changed = 0;
  for (std::size_t i = 0; i < plain.rgb.size(); i += 3) changed += plain.rgb[i] != with.rgb[i];
  EXPECT_GT(changed, 200);
  EXPECT_LT(changed, 120 * 90 / 3);
}

}  // namespace

}  // namespace exemplar::render
