// exemplar export: what is written is read back and compared with the frames that the run wrote.
#include <gtest/gtest.h>
#include <sys/xattr.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "core/output/geometry_file.h"
#include "core/output/metrics_file.h"
#include "core/output/pvd_file.h"
#include "tests/cli/program.h"

namespace exemplar::testing {

namespace {

using Json = nlohmann::json;

class Export : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write_text(m_folder / "scene.json", R"({"time": {"duration": 0.25, "fps": 20}, "bodies": [
      {"name": "box", "surface": {"box": {"size": [0.2, 0.2, 0.2], "resolution": [2, 2, 2]}}, "position": [100, 3, 0],
       "angular_velocity": [1, 5, 2]}], "obstacles": [{"name": "floor", "plane": {}}]})");
    ASSERT_EQ(run("EXEMPLAR -q run scene.json --method rigid -o out").exit_code, 0);
    for (const PvdEntry& entry : read_pvd(m_folder / "out/surface.pvd")) {
      m_frames.push_back(read_geometry(entry.file).points);
      m_times.push_back(entry.time);
    }
    ASSERT_EQ(m_frames.size(), 6u);
  }
  std::vector<Points> m_frames;
  std::vector<double> m_times;
};

// Just enough of a reader: accessors of four-byte numbers in the binary chunk.
struct Glb {
  explicit Glb(const std::string& file) {
    std::uint32_t length = 0;
    EXPECT_EQ(file.substr(0, 4), "glTF");
    std::memcpy(&length, file.data() + 8, 4);
    EXPECT_EQ(length, file.size());
    std::memcpy(&length, file.data() + 12, 4);
    json = Json::parse(file.substr(20, length));
    bytes = file.substr(28 + length);
    EXPECT_EQ(json["buffers"][0]["byteLength"], bytes.size());
  }
  template <class T>
  std::vector<T> numbers(const Json& index) const {
    const Json& accessor = json["accessors"][index.get<std::size_t>()];
    const Json& view = json["bufferViews"][accessor["bufferView"].get<std::size_t>()];
    std::vector<T> values(view["byteLength"].get<std::size_t>() / sizeof(T));
    std::memcpy(values.data(), bytes.data() + view["byteOffset"].get<std::size_t>(),
                values.size() * sizeof(T));
    const std::size_t width = accessor["type"] == "VEC3" ? 3 : 1;
    EXPECT_EQ(values.size(), width * accessor["count"].get<std::size_t>());
    return values;
  }
  Json json;
  std::string bytes;
};

}  // namespace

TEST_F(Export, GltfHoldsEveryFrame) {
  const Outcome outcome = run("EXEMPLAR export out -o out.glb");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  const Glb glb(read_text(m_folder / "out.glb"));
  const Json& node = glb.json["nodes"][0];
  const Json& primitive = glb.json["meshes"][0]["primitives"][0];
  const std::vector<float> base = glb.numbers<float>(primitive["attributes"]["POSITION"]);
  ASSERT_EQ(base.size(), static_cast<std::size_t>(m_frames[0].size()));
  const Json& channel = glb.json["animations"][0]["channels"][0];
  ASSERT_EQ(channel["target"]["path"], "weights");
  const Json& sampler = glb.json["animations"][0]["samplers"][channel["sampler"].get<std::size_t>()];
  const std::vector<float> times = glb.numbers<float>(sampler["input"]),
                           weights = glb.numbers<float>(sampler["output"]);
  ASSERT_EQ(times.size(), m_frames.size());
  const std::size_t targets = primitive["targets"].size();
  for (std::size_t f = 0; f < times.size(); ++f) {
    EXPECT_NEAR(times[f], m_times[f], 1e-6);
    double worst = 0;
    std::vector<double> x(base.begin(), base.end());
    for (std::size_t t = 0; t < targets; ++t) {
      const std::vector<float> delta = glb.numbers<float>(primitive["targets"][t]["POSITION"]);
      for (std::size_t i = 0; i < x.size(); ++i)
        x[i] += static_cast<double>(weights[f * targets + t]) * delta[i];
    }
    for (std::size_t i = 0; i < x.size(); ++i)
      worst = std::max(worst, std::abs(x[i] + node["translation"][i % 3].get<double>() -
                                       m_frames[f].data()[static_cast<Eigen::Index>(i)]));
    EXPECT_LT(worst, 1e-6 * 0.35) << f;  // of the box's diagonal
  }
}

TEST_F(Export, PointCachesHoldEveryFrame) {
  ASSERT_EQ(run("EXEMPLAR export out -o out.pc2").exit_code, 0);
  const std::string file = read_text(m_folder / "out.pc2");
  std::int32_t numbers[2], samples = 0;
  ASSERT_EQ(file.substr(0, 12), std::string("POINTCACHE2\0", 12));
  std::memcpy(numbers, file.data() + 12, 8);
  std::memcpy(&samples, file.data() + 28, 4);
  EXPECT_EQ(numbers[1], m_frames[0].rows());
  ASSERT_EQ(samples, 6);
  std::vector<float> x((file.size() - 32) / 4);
  std::memcpy(x.data(), file.data() + 32, 4 * x.size());
  ASSERT_EQ(x.size(), 6u * static_cast<std::size_t>(m_frames[0].size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto size = static_cast<std::size_t>(m_frames[0].size());
    EXPECT_NEAR(x[i], m_frames[i / size].data()[i % size], 1e-5);  // single precision 100 m from the origin
  }
  EXPECT_EQ(run("EXEMPLAR mesh out.pc2.obj --surface-only --json -q | grep -c '\"closed\": true'").output,
            "1\n");
}

TEST_F(Export, UsdHoldsEveryFrame) {
  ASSERT_EQ(run("EXEMPLAR export out -o out.usda --from 1 --to 3").exit_code, 0);
  const std::string text = read_text(m_folder / "out.usda");
  EXPECT_NE(text.find("endTimeCode = 2\n"), std::string::npos);
  EXPECT_NE(text.find("timeCodesPerSecond = 20\n"), std::string::npos);
  const std::regex sample("            2: \\[\\(([-0-9.e]+), ([-0-9.e]+), ([-0-9.e]+)\\)");
  std::smatch found;
  ASSERT_TRUE(std::regex_search(text, found, sample));
  for (int k = 0; k < 3; ++k)
    EXPECT_NEAR(std::stod(found[static_cast<std::size_t>(k) + 1]), m_frames[3](0, k), 1e-6);
}

TEST_F(Export, WhatIsNotThereIsRefused) {
  const Outcome frame = run("EXEMPLAR export out -o out.glb --to 6");
  EXPECT_EQ(frame.exit_code, 2);
  EXPECT_NE(frame.errors.find("there is no frame 6: 0 to 5 are there"), std::string::npos) << frame.errors;
  EXPECT_EQ(run("EXEMPLAR export out -o out.glb --from -1").exit_code, 2);
  EXPECT_EQ(run("EXEMPLAR export out -o out.glb --from 4 --to 2").exit_code, 2);
  EXPECT_EQ(run("EXEMPLAR export nothing -o out.glb").exit_code, 2);
  EXPECT_EQ(run("EXEMPLAR export out -o out.fbx").exit_code, 2);
  // Before the work, which takes minutes for a film.
  for (const char* file : {"nowhere/out.mp4", "nowhere/out.glb", "scene.json/out.pc2"}) {
    const Outcome folder = run(std::string("EXEMPLAR export out -o ") + file);
    EXPECT_EQ(folder.exit_code, 2) << file;
    EXPECT_NE(folder.errors.find("there is no folder"), std::string::npos) << folder.errors;
  }
  if (!available("ffmpeg")) {
    const Outcome film = run("EXEMPLAR export out -o out.mp4");
    EXPECT_EQ(film.exit_code, 2);
    EXPECT_NE(film.errors.find("needs ffmpeg"), std::string::npos);
  }
}

// A stand-in for ffmpeg counts the pictures and keeps the first: a run, and runs side by side, at 1920 × 1080.
TEST_F(Export, AFilmHasAPictureForEveryFrame) {
  if (!available("xvfb-run") ||
      !std::filesystem::exists(std::filesystem::path(EXEMPLAR_PROGRAM).parent_path() / "exemplar-render"))
    GTEST_SKIP() << "needs exemplar-render and xvfb-run";
  write_text(
      m_folder / "bin/ffmpeg",
      "#!/bin/sh\nfor last; do :; done\nls \"$(dirname \"$last\")\"/film_*.png | wc -l > pictures.txt\n"
      "cp \"$(dirname \"$last\")/film_00000.png\" \"$last\"\n");
  std::filesystem::permissions(m_folder / "bin/ffmpeg", std::filesystem::perms::owner_all);
  write_text(m_folder / "study.json",
             R"({"scene": "scene.json", "runs": ["rigid", "shape-matching"], "reference": "rigid"})");
  ASSERT_EQ(run("EXEMPLAR -q compare study.json -o both --no-pictures").exit_code, 0);
  for (const std::string made : {"out", "both"}) {
    const Outcome film =
        run("PATH=\"$PWD/bin:$PATH\" EXEMPLAR export " + made + " -o " + made + ".mp4 --from 1");
    ASSERT_EQ(film.exit_code, 0) << film.output << film.errors;
    EXPECT_EQ(std::stoi(read_text(m_folder / "pictures.txt")), 5) << made;
    const std::string png = read_text(m_folder / (made + ".mp4"));
    ASSERT_TRUE(png.starts_with("\x89PNG")) << made;
    EXPECT_EQ(png.substr(16, 8), std::string("\x00\x00\x07\x80\x00\x00\x04\x38", 8))
        << made;  // width, height
  }
}

// docs/tutorial.md: its files are written, its commands run, in order; and once more where that was done before.
TEST_F(Export, TheTutorialWorksAndCanBeRepeated) {
  const std::string page = read_text(EXEMPLAR_SOURCE_DIR "/docs/tutorial.md");
  write_text(m_folder / "probe", "");
  const bool repeats = ::setxattr((m_folder / "probe").c_str(), "user.probe", "x", 1, 0) == 0;
  const std::string text = repeats ? page + page : page;
  const std::regex block("```(sh|json file=(\\S+))\\n([^`]*)```");
  int commands = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), block), none; it != none; ++it) {
    if ((*it)[2].matched) {
      write_text(m_folder / (*it)[2].str(), (*it)[3]);
      continue;
    }
    std::string lines = (*it)[3];
    for (std::size_t at = 0; (at = lines.find("exemplar ", at)) != std::string::npos; at += 9)
      lines.replace(at, 8, "EXEMPLAR");
    std::istringstream each(lines);
    for (std::string line; std::getline(each, line);) {
      const Outcome outcome = run(line);
      EXPECT_EQ(outcome.exit_code, 0) << line << "\n" << outcome.output << outcome.errors;
      ++commands;
    }
  }
  EXPECT_GE(commands, repeats ? 14 : 7);
  EXPECT_GT(std::filesystem::file_size(m_folder / "bars.usda"), 10000u);
}

TEST_F(Export, CompletionAndManualNameEveryCommand) {
  const std::string completion = run("EXEMPLAR completion").output;
  const std::string manual = run("EXEMPLAR manual").output;
  for (const char* command :
       {"run", "compare", "check", "mesh", "rig", "pose", "export", "validate", "bench", "list"}) {
    EXPECT_NE(completion.find(std::string(" ") + command + ")"), std::string::npos) << command;
    EXPECT_NE(manual.find(std::string(".SS ") + command + "\n"), std::string::npos) << command;
  }
  EXPECT_NE(completion.find("--resume"), std::string::npos);
  write_text(m_folder / "completion.sh", completion);
  const Outcome typed =
      run("bash -c '. ./completion.sh; COMP_WORDS=(exemplar run --res); COMP_CWORD=2; _exemplar; echo "
          "${COMPREPLY[@]}'");
  EXPECT_EQ(typed.output, "--resume\n") << typed.errors;
}

// The examples of a body as named morph targets whose weights are those that the run found.
TEST_F(Export, ExamplesAreMorphTargets) {
  write_text(m_folder / "bar.json",
             R"({"time": {"duration": 0.1, "fps": 30}, "gravity": [0, 0, 0], "bodies": [
    {"name": "bar", "surface": {"box": {"size": [1, 0.2, 0.2], "resolution": [5, 1, 1]}}, "material": {"young": 1e5},
     "examples": [{"name": "long", "stretch": {"axis": "x", "factor": 1.5}},
                  {"name": "bent", "bend": {"angle": 60}}],
     "initial_pose": "long"}]})");
  ASSERT_EQ(run("EXEMPLAR -q run bar.json --method fem -o bar").exit_code, 0);
  ASSERT_EQ(run("EXEMPLAR export bar -o bar.glb --from 1").exit_code, 0);
  const Glb glb(read_text(m_folder / "bar.glb"));
  const Json& mesh = glb.json["meshes"].back();
  EXPECT_EQ(mesh["extras"]["targetNames"], Json({"bar_long", "bar_bent"}));
  const Json& primitive = mesh["primitives"][0];
  const std::vector<float> base = glb.numbers<float>(primitive["attributes"]["POSITION"]);
  const std::vector<float> stretched = glb.numbers<float>(primitive["targets"][0]["POSITION"]);
  ASSERT_EQ(stretched.size(), base.size());
  // Half as long again about the middle of the bar, which is the middle of the mesh.
  for (std::size_t i = 0; i < base.size(); i += 3) EXPECT_NEAR(stretched[i], 0.5 * base[i], 1e-6);
  const Json& animation = glb.json["animations"][0];
  const Json& channel = animation["channels"].back();
  EXPECT_EQ(glb.json["nodes"][channel["target"]["node"].get<std::size_t>()]["mesh"],
            glb.json["meshes"].size() - 1);
  const Json& sampler = animation["samplers"][channel["sampler"].get<std::size_t>()];
  const std::vector<float> weights = glb.numbers<float>(sampler["output"]);
  const MetricsTable metrics = read_metrics(m_folder / "bar/metrics.csv");
  ASSERT_EQ(weights.size(), 2 * (metrics.rows.size() - 1));
  for (std::size_t f = 1; f < metrics.rows.size(); ++f)
    EXPECT_FLOAT_EQ(weights[2 * (f - 1)], static_cast<float>(metrics.column("weight_bar_long")[f]));
  EXPECT_GT(weights[0], 0.05);
}

// glb and pc2 as Blender shows them, within a millionth of the body's size.
TEST_F(Export, BlenderShowsTheSamePoints) {
  if (!available("blender")) GTEST_SKIP() << "blender is not installed (scripts/setup --tests)";
  write_text(m_folder / "near.json", R"({"time": {"duration": 0.25, "fps": 20}, "bodies": [
    {"name": "box", "surface": {"box": {"size": [1, 0.8, 0.6], "resolution": [2, 2, 2]}}, "position": [0.1, 0.7, 0],
     "angular_velocity": [1, 5, 2]}], "obstacles": [{"name": "floor", "plane": {}}]})");
  ASSERT_EQ(run("EXEMPLAR -q run near.json --method rigid -o near").exit_code, 0);
  for (const std::string file : {"near.glb", "near.pc2"}) {
    ASSERT_EQ(run("EXEMPLAR export near -o " + file).exit_code, 0);
    const Outcome read = run("blender -b --python-exit-code 1 --python '" EXEMPLAR_SOURCE_DIR
                             "/tests/cli/blender/read_animation.py' -- \"$PWD/" +
                             file + "\" 6 20 points.txt");
    ASSERT_EQ(read.exit_code, 0) << read.output << read.errors;
    std::istringstream lines(read_text(m_folder / "points.txt"));
    std::size_t f = 0;
    double worst = 0;
    for (const PvdEntry& entry : read_pvd(m_folder / "near/surface.pvd")) {
      const Points points = read_geometry(entry.file).points;
      for (Eigen::Index i = 0; i < points.rows(); ++i) {
        std::size_t frame = 99;
        Vec3 p;
        lines >> frame >> p.x() >> p.y() >> p.z();
        ASSERT_EQ(frame, f) << file;
        worst = std::max(worst, (p - points.row(i).transpose()).norm());
      }
      ++f;
    }
    EXPECT_LT(worst, 1e-6 * std::sqrt(2.0)) << file;  // the box's diagonal is √2 m
  }
}

}  // namespace exemplar::testing
