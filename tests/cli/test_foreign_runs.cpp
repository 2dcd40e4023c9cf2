// Run directories that somebody else made: collected, exported and taken as poses without trusting a number in them.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "core/output/geometry_file.h"
#include "tests/cli/program.h"

namespace exemplar::testing {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const std::string k_limits = "ulimit -c 0; ulimit -t 20; ulimit -v 4000000; timeout -s KILL 60 ";

class ForeignRun : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write_text(m_folder / "scene.json", R"({"time": {"duration": 0.1, "fps": 20}, "bodies": [
      {"name": "box", "surface": {"box": {"resolution": [2, 2, 2]}}, "volume": {"grid": [2, 2, 2]},
       "material": {"young": 1e6}, "position": [0, 1, 0]}], "obstacles": [{"name": "floor", "plane": {}}]})");
    write_text(m_folder / "study.json", R"({"scene": "scene.json", "runs": ["fem", "rigid"]})");
    write_text(m_folder / "pose.json", R"({"time": {"duration": 0.01, "fps": 100}, "bodies": [
      {"name": "box", "surface": {"box": {"resolution": [2, 2, 2]}}, "volume": {"grid": [2, 2, 2]},
       "examples": [{"name": "a", "frame": {"run": "out/rigid", "frame": 1}}]}]})");
    const Outcome made = run("EXEMPLAR -q compare study.json -o out --no-pictures");
    ASSERT_EQ(made.exit_code, 0) << made.errors;
    m_frame = m_folder / "out/rigid/frames/surface_00001.vtp";
    m_bytes = read_text(m_frame);
    m_surface = read_geometry(m_frame);
  }
  // No crash and no defect (70); where the frame is needed it is said to be unreadable.
  void expect_survived(const std::string& what, bool must_be_refused) const {
    for (const std::string command : {"compare study.json --collect out --no-pictures",
                                      "export out/rigid -o a.glb", "check pose.json --method fem"}) {
      const Outcome outcome = run(k_limits + "EXEMPLAR " + command);
      const int code = outcome.exit_code;
      EXPECT_TRUE(code == 0 || code == 2 || code == 3)
          << what << ": " << command << ": " << code << outcome.errors;
      if (must_be_refused && !command.starts_with("compare")) {
        EXPECT_EQ(code, 2) << what << ": " << command;
      }
    }
    if (!must_be_refused) return;
    const std::string report = read_text(m_folder / "out/report.html");
    EXPECT_NE(report.find("frames from 1 on are left out"), std::string::npos) << what;
  }
  void expect_refused(const std::string& what, const std::function<void(Geometry&)>& change) const {
    Geometry changed = m_surface;
    change(changed);
    write_geometry(m_frame, changed, 0.05);
    expect_survived(what, true);
  }

  fs::path m_frame;
  std::string m_bytes;
  Geometry m_surface;
};

std::string ascii_triangle(const std::string& points, const std::string& polygons,
                           const std::string& connectivity, const std::string& offsets) {
  return "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" "
         "byte_order=\"LittleEndian\">\n<PolyData>"
         "<Piece NumberOfPoints=\"" +
         points + "\" NumberOfPolys=\"" + polygons +
         "\">\n"
         "<Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">0 0 0 1 0 0 0 1 "
         "0</DataArray></Points>\n"
         "<Polys><DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">" +
         connectivity +
         "</DataArray>"
         "<DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">" +
         offsets +
         "</DataArray></Polys>\n"
         "</Piece></PolyData></VTKFile>\n";
}

}  // namespace

TEST_F(ForeignRun, IndicesAndPointsThatLeadNowhereAreRefused) {
  for (const int index :
       {-1, 1 << 30, std::numeric_limits<int>::min(), static_cast<int>(m_surface.points.rows())})
    expect_refused("index " + std::to_string(index), [&](Geometry& g) { g.connectivity[4] = index; });
  expect_refused("not finite",
                 [](Geometry& g) { g.points(2, 1) = std::numeric_limits<double>::quiet_NaN(); });
  expect_refused("infinite", [](Geometry& g) { g.points(2, 1) = std::numeric_limits<double>::infinity(); });
}

TEST_F(ForeignRun, DeclaredSizesAreNotBelieved) {
  for (const auto& [points, polygons, connectivity, offsets] :
       std::vector<std::array<std::string, 4>>{{"3", "1", "0 1 7", "3"},
                                               {"3", "1", "0 1 -2", "3"},
                                               {"3", "1", "0 1 2", "9000000"},
                                               {"3", "2", "0 1 2 0 1 2", "6 3"},
                                               {"4000000000", "1", "0 1 2", "3"},
                                               {"3", "400000000000", "0 1 2", "3"},
                                               {"-5", "1", "0 1 2", "3"}}) {
    write_text(m_frame, ascii_triangle(points, polygons, connectivity, offsets));
    expect_survived(points + "/" + polygons + "/" + connectivity + "/" + offsets, true);
  }
  std::string large = m_bytes;
  const std::string count = "NumberOfPoints=\"";
  large.insert(large.find(count) + count.size(), "9999");
  write_text(m_frame, large);
  expect_survived("points of the program's own format", true);
}

TEST_F(ForeignRun, DamagedBytesCrashNothing) {
  std::mt19937 random(7);
  for (int i = 0; i < 40; ++i) {
    std::string bytes = m_bytes;
    for (int k = 0; k < 1 + i % 4; ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
    write_text(m_frame, bytes);
    const Outcome outcome = run(k_limits + "EXEMPLAR export out/rigid -o a.glb");
    EXPECT_TRUE(outcome.exit_code == 0 || outcome.exit_code == 2)
        << i << ": " << outcome.exit_code << outcome.errors;
  }
}

TEST_F(ForeignRun, DamagedTextsCrashNothing) {
  const std::vector<std::string> values{"\"\"", "-1", "[]", "{}", "null", "1e308", "\"../../etc\"", "true"};
  std::mt19937 random(11);
  for (const std::string file : {"out/comparison.json", "out/rigid/run.json", "out/rigid/surface.pvd",
                                 "out/rigid/metrics.csv", "out/rigid/manifest.csv"}) {
    const std::string text = read_text(m_folder / file);
    for (int i = 0; i < 12; ++i) {
      std::string changed = text;
      const std::size_t at = changed.find_first_of(":,\"", random() % changed.size());
      if (i % 3 == 0) changed[random() % changed.size()] = static_cast<char>(random());
      if (i % 3 == 1) changed.resize(random() % changed.size());
      if (i % 3 == 2 && at != std::string::npos)
        changed.replace(at + 1, changed.find_first_of(",\"}\n", at + 1) - at - 1,
                        values[random() % values.size()]);
      write_text(m_folder / file, changed);
      expect_survived(file + std::to_string(i), false);
      if (file == "out/comparison.json") {
        write_text(m_folder / file, changed);
        const int code = run(k_limits + "EXEMPLAR export out -o a.glb").exit_code;
        EXPECT_TRUE(code == 0 || code == 2 || code == 3)
            << i << ": " << code << read_text(m_folder / "stderr.txt");
      }
    }
    write_text(m_folder / file, text);
  }
}

}  // namespace exemplar::testing
