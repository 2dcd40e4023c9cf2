// What bad input gets, through the real program: one test for each kind of it, each with its exit code and
// what is said.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace exemplar::testing {

namespace {

using Json = nlohmann::json;

// The unit cube as OBJ: vertices, then triangles.
constexpr const char* k_cube_vertices =
    "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 0 0 1\nv 1 0 1\nv 0 1 1\nv 1 1 1\n";
constexpr const char* k_cube_faces = "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n";

class BadInput : public ProgramTest {
 protected:
  static Json scene() {
    return Json::parse(R"({"time": {"duration": 0.1, "fps": 20}, "bodies": [{"name": "thing",
      "surface": {"file": "thing.obj"}, "position": [0, 2, 0]}], "obstacles": [{"name": "floor", "plane": {}}]})");
  }
  void write(const std::string& name, const std::string& text) const { write_text(m_folder / name, text); }
  // With this body's "surface" (and more), by run and by check.
  void write_body(const char* changes) const {
    Json made = scene();
    made["bodies"][0].merge_patch(Json::parse(changes));
    write("scene.json", made.dump());
  }
  // Exit code 2 from both, and all words in what is said; nothing is written.
  void expect_refused(const std::vector<std::string>& words, const std::string& method = "fem") const {
    for (const std::string command : {"check", "run"}) {
      const Outcome outcome =
          run("EXEMPLAR " + command + " scene.json --method " + method + (command == "run" ? " -o out" : ""));
      const std::string said = outcome.output + outcome.errors;
      EXPECT_EQ(outcome.exit_code, 2) << command << ": " << said;
      for (const std::string& word : words)
        EXPECT_NE(said.find(word), std::string::npos) << word << "\n" << said;
    }
    EXPECT_FALSE(std::filesystem::exists(m_folder / "out/frames"));
  }
  Outcome expect_good(const std::vector<std::string>& words,
                      const std::string& method = "mass-spring") const {
    Outcome outcome = run("EXEMPLAR run scene.json --frames 1 -o out --overwrite --method " + method);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    for (const std::string& word : words)
      EXPECT_NE(outcome.errors.find(word), std::string::npos) << word << "\n" << outcome.errors;
    return outcome;
  }
};

}  // namespace

TEST_F(BadInput, TextThatIsNotJsonHasALineAndAColumn) {
  write("scene.json", "{\"time\": {},\n  \"bodies\" []}");
  expect_refused({"scene.json: line 2, column 12: not JSON"});
  write("scene.json", scene().dump(1).substr(0, 60));  // cut short
  expect_refused({"scene.json: line 6, column 5: not JSON"});
  write("scene.json", "{\n\"title\": \"\xe9t\xe9\"}");  // Latin-1
  expect_refused({"scene.json: line 2, column 12: not JSON"});
  write("scene.json", std::string("\xff\xfe{\0}\0", 6));  // UTF-16
  expect_refused({"scene.json: line 1, column 1: not JSON"});
  write("scene.json", "");
  expect_refused({"scene.json: "});
}

TEST_F(BadInput, WrongKeysAndValuesHaveAPath) {
  Json made = scene();
  made["bodies"][0] = Json::parse(R"({"name": "thing", "surface": {"box": {"size": [1, 1, 1]}}, "materal": {},
    "position": "up", "material": {"poisson": 0.7}, "initial_pose": "bent",
    "controllers": [{"example": "none of them", "keys": [{"time": 0, "value": 1}]}]})");
  made["bodies"].push_back(made["bodies"][0]);
  made["bodies"].push_back(Json::parse(R"({"name": "other"})"));
  made["methods"] = Json::parse(R"({"fen": {}})");
  write("scene.json", made.dump());
  expect_refused({"bodies[0].materal: unknown key (did you mean 'material'?)",
                  "bodies[0].position: expected three numbers [x, y, z], got \"up\" (a string)",
                  "bodies[0].material.poisson: expected a number in (-1, 0.5), got 0.7",
                  "bodies[2].surface: is missing", "methods.fen: unknown method (did you mean 'fem'?)"});
}

TEST_F(BadInput, NamesTakenTwiceAndReferencesToNothing) {
  Json made = scene();
  made["bodies"][0]["surface"] = Json::parse(R"({"box": {"size": [1, 1, 1], "resolution": [2, 2, 2]}})");
  made["bodies"].push_back(made["bodies"][0]);
  made["bodies"][1]["position"] = {3, 2, 0};
  write("scene.json", made.dump());
  expect_refused({"bodies[1].name: ", "thing"});
  made["bodies"].erase(1);
  made["bodies"][0]["initial_pose"] = "bent";
  write("scene.json", made.dump());
  expect_refused({"bodies[0].initial_pose: ", "bent"});
  made["bodies"][0].erase("initial_pose");
  made["methods"] = Json::parse(R"({"fem": {"examples": {"sets": [{"body": "nobody"}]}}})");
  write("scene.json", made.dump());
  expect_refused({"methods.fem.examples.sets[0]", "nobody"});
}

TEST_F(BadInput, MeshFilesThatAreNone) {
  write_body("{}");
  expect_refused({"thing.obj", "no such file"});
  const std::vector<std::pair<std::string, std::string>> files{
      {"", "is empty"},
      {" \n\n", "is empty"},
      {"ply\nformat ascii 1.0\nend_header\n", "the content looks like .ply, not .obj"},
      {"MZ\x90\x01\x02 a program", "line 1"},
      {std::string("v 0 0 0\nv 1 nan 0\nv 0 1 0\nf 1 2 3\n"), "not a finite number"},
      {std::string("v 0 0 0\nv 1e999 0 0\nv 0 1 0\nf 1 2 3\n"), "not a finite number"},
      {std::string(k_cube_vertices) + "f 1 2 9\n", "uses vertex 8 (counted from 0), but there are 8"},
      {std::string(k_cube_vertices) + "f 1 2 -9\n", "uses vertex -1"},
      {std::string(k_cube_vertices) + "f 1 2 99999999999999999999\n", "expected a vertex of a face"},
      {std::string(k_cube_vertices), "has no faces"},
  };
  for (const auto& [text, words] : files) {
    write("thing.obj", text);
    expect_refused({"thing.obj", words});
  }
  std::filesystem::remove(m_folder / "thing.obj");
  std::filesystem::create_directory(m_folder / "thing.obj");
  expect_refused({"thing.obj", "is a folder"});
  write_body(R"({"surface": {"file": "thing.xyz"}})");
  write("thing.xyz", "0 0 0\n");
  expect_refused({"thing.xyz", "the extension \".xyz\" is not known"});
}

TEST_F(BadInput, EveryFormatThatIsCutShortIsRefused) {
  ASSERT_EQ(
      run("EXEMPLAR mesh sphere --surface-only -o a.vtp && EXEMPLAR mesh sphere --surface-only -o a.ply && "
          "EXEMPLAR mesh sphere -o a.vtu")
          .exit_code,
      0);
  write("a.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n");
  write("a.stl",
        "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 "
        "0\nendloop\nendfacet\nendsolid\n");
  write("a.vtk",
        "# vtk DataFile Version 3.0\na\nASCII\nDATASET POLYDATA\nPOINTS 3 float\n0 0 0 1 0 0 0 1 0\nPOLYGONS "
        "1 4\n3 0 1 2\n");
  write("a.msh",
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 0 1 "
        "0\n$EndNodes\n$Elements\n1\n1 2 2 0 1 1 2 3\n$EndElements\n");
  write("a.mesh",
        "MeshVersionFormatted 2\nDimension 3\nVertices\n3\n0 0 0 0\n1 0 0 0\n0 1 0 0\nTriangles\n1\n1 2 3 "
        "0\nEnd\n");
  write("a.node", "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n");
  write("a.ele", "1 4 0\n1 1 2 3 4\n");
  for (const std::string kind : {"vtp", "ply", "vtu", "off", "stl", "vtk", "msh", "mesh", "node"}) {
    const std::string whole = read_text(m_folder / ("a." + kind));
    ASSERT_GT(whole.size(), 30u) << kind;
    EXPECT_EQ(run("EXEMPLAR mesh --surface-only a." + kind).exit_code, 0)
        << kind << read_text(m_folder / "stderr.txt");
    const std::string name = "cut." + kind;
    write(name, whole.substr(0, kind == "node" ? 30 : 6 * whole.size() / 10));
    const Outcome outcome = run("EXEMPLAR mesh " + name);
    EXPECT_EQ(outcome.exit_code, 2) << kind << outcome.output << outcome.errors;
    EXPECT_NE(outcome.errors.find(name), std::string::npos) << outcome.errors;
  }
}

TEST_F(BadInput, SurfacesThatCannotBeFilledGetACageAndArePointedAt) {
  const std::string cube = std::string(k_cube_vertices) + k_cube_faces;
  const std::string second =
      "v 0.5 0.5 0.5\nv 1.5 0.5 0.5\nv 0.5 1.5 0.5\nv 1.5 1.5 0.5\nv 0.5 0.5 1.5\nv 1.5 0.5 1.5\n"
      "v 0.5 1.5 1.5\nv 1.5 1.5 1.5\nf 9 11 12 10\nf 13 14 16 15\nf 9 10 14 13\nf 11 15 16 12\n"
      "f 9 13 15 11\nf 10 12 16 14\n";
  const std::vector<std::pair<std::string, std::string>> surfaces{
      {cube.substr(0, cube.rfind("f ")), "4 border edges"},                       // no lid
      {cube + "v 0.5 0.5 3\nf 1 2 9\n", "1 edges with more than two triangles"},  // a fin on an edge
      {cube + second, "pairs of triangles that cross"}};  // two cubes through each other
  for (const auto& [text, words] : surfaces) {
    write("thing.obj", text);
    write_body("{}");
    expect_good({words, "embedded in a cage"});
    const Outcome told = run("EXEMPLAR mesh thing.obj --problems odd.vtp");
    EXPECT_EQ(told.exit_code, 0) << told.errors;
    EXPECT_TRUE(std::filesystem::exists(m_folder / "odd.vtp")) << told.output << told.errors;
    write_body(R"({"volume": {"cage": false}})");
    std::filesystem::remove_all(m_folder / "out");
    expect_refused({"bodies[0].volume", "cage"});
  }
}

TEST_F(BadInput, DegenerateTrianglesAndDuplicateVerticesAreCountedAndTheOrderKept) {
  // The second half's vertices are there twice, and two triangles are none.
  write("thing.obj",
        std::string(k_cube_vertices) + "v 0 0 0\nv 1 0 0\n" +
            "f 1 3 4 2\nf 5 6 8 7\nf 9 10 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\nf 1 1 2\nf 1 2 10\n");
  write_body("{}");
  expect_good({"2 duplicate vertices merged", "2 degenerate triangles left out"});
  const Outcome all = run("EXEMPLAR mesh thing.obj --json");
  EXPECT_EQ(all.exit_code, 0) << all.errors;
  const Json report = Json::parse(all.output)["surface"];
  EXPECT_EQ(report["vertices"], 10);
  EXPECT_EQ(report["degenerate_triangles"], 2);
  // More than half of them: not a surface.
  std::string many = std::string(k_cube_vertices) + k_cube_faces;
  for (int i = 0; i < 20; ++i) many += "f 1 1 2\n";
  write("thing.obj", many);
  std::filesystem::remove_all(m_folder / "out");
  expect_refused({"bodies[0].surface: 20 of 32 triangles are degenerate"});
}

TEST_F(BadInput, TetsThatAreInsideOutAreTurned) {
  write("thing.node", "5 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n");
  write("thing.ele", "2 4 0\n1 1 3 2 4\n2 2 3 4 5\n");
  write(
      "thing.obj",
      "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 1 1 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 5\nf 2 5 4\nf 3 4 5\n");
  write_body(R"({"volume": {"file": "thing.node"}})");
  expect_good({"1 tets of thing.node had negative volume and were turned"});
}

TEST_F(BadInput, PosesOfAnotherMeshOrInsideOutAreRefused) {
  write("thing.obj", std::string(k_cube_vertices) + k_cube_faces);
  write("pose.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  write_body(R"({"examples": [{"name": "odd", "file": "pose.obj"}]})");
  expect_refused({"bodies[0].examples[0]: has 3 vertices", "8"});
  write_body(R"({"examples": [{"name": "flat", "stretch": {"axis": "x", "factor": -1}}]})");
  const Outcome flat = run("EXEMPLAR check scene.json --method fem");
  EXPECT_EQ(flat.exit_code, 2) << flat.output << flat.errors;
  write_body(R"({"examples": [{"name": "knot", "twist": {"axis": "x", "angle": 1500}}]})");
  expect_refused({"bodies[0].examples[0]: turns ", "elements inside out (the worst is ", "allow_inverted"});
  write_body(
      R"({"examples": [{"name": "knot", "twist": {"axis": "x", "angle": 1500}, "allow_inverted": true}]})");
  EXPECT_EQ(run("EXEMPLAR check scene.json --method shape-matching").exit_code, 0)
      << read_text(m_folder / "stdout.txt");
}

// A method that needs no examples ran without a word, although check refuses the scene.
TEST_F(BadInput, FilesThatAreNotThereAreRefusedByEveryMethod) {
  for (const std::string method : {"fem", "mass-spring", "shape-matching", "peridynamics"}) {
    write_body(R"({"surface": {"file": null, "box": {"size": [1, 1, 1]}},
                   "examples": [{"name": "bent", "file": "bent.obj"}]})");
    expect_refused({"bent.obj: bodies[0].examples[0]: there is no such file"}, method);
    write_body(
        R"({"surface": {"file": null, "box": {"size": [1, 1, 1]}}, "volume": {"file": "thing.mesh"}})");
    expect_refused({"thing.mesh: bodies[0].volume: there is no such file"}, method);
  }
}

TEST_F(BadInput, StepsAndPlacesThatArithmeticCannotHoldAreRefused) {
  write_body(R"({"surface": {"file": null, "box": {"size": [1, 1, 1]}}, "position": [1e12, 2, 0]})");
  expect_refused({"bodies: ", "thing lies 1e+12 m from the origin"}, "peridynamics");
  Json made = scene();
  made["bodies"][0]["surface"] = Json::parse(R"({"box": {"size": [1, 1, 1]}})");
  made["methods"] = Json::parse(R"({"peridynamics": {"particles": 200, "step": 1e-30},
                                    "shape-matching": {"cell_counts": [-1, 2, 2]}})");
  write("scene.json", made.dump());
  expect_refused({"methods.peridynamics.step: ", "4.2e+27 steps in a step of the scene"}, "peridynamics");
  expect_refused({"methods.shape-matching.cell_counts[0]: "}, "shape-matching");
}

// Each took minutes: the parser walked through a list again for each of its objects, the study compared every
// name with every other one, and every problem was compared with all before it.
TEST_F(BadInput, LargeFilesAreReadInTime) {
  const auto repeated = [](const std::string& text, int count) {
    std::string all = text;
    for (int i = 1; i < count; ++i) all += "," + text;
    return all;
  };
  std::string keys;
  for (int i = 0; i < 100000; ++i) keys += (i ? ",\"k" : "\"k") + std::to_string(i) + "\":0";
  const std::vector<std::pair<std::string, std::string>> files{
      {"{\"bodies\": [" + repeated(R"({"name": "a"})", 60000) + "]}", "and "},
      {"{\"scene\": \"x.json\", \"runs\": [" + repeated("\"rigid\"", 100000) + "]}", "more problems"},
      {"{" + keys + "}", "an object has more than the 20000 keys allowed"}};
  for (const auto& [text, words] : files) {
    write("large.json", text);
    const Outcome outcome = run("ulimit -t 10; ulimit -v 4000000; EXEMPLAR check large.json");
    EXPECT_EQ(outcome.exit_code, 2) << text.substr(0, 40);
    EXPECT_NE(outcome.output.find(words), std::string::npos) << outcome.output.substr(0, 500);
  }
}

TEST_F(BadInput, SizesBeyondMemoryAreRefusedBeforeTheyAreAllocated) {
  write("thing.obj", std::string(k_cube_vertices) + k_cube_faces);
  const std::string limits = "ulimit -v 4000000; ulimit -t 20; ";
  const std::vector<std::pair<std::string, std::string>> sizes{
      {"--method peridynamics --set methods.peridynamics.particles=1000000000000", "particles"},
      {"--method peridynamics --set methods.peridynamics.particles=20000000", "GB"},
      {"--method fem --set bodies[0].volume.max_tet_volume=1e-12", "GB"},
      {"--method fem --set bodies[0].volume.cage_cell=1e-5 --set bodies[0].volume.always_cage=true",
       "1e+15 cells"},
      {"--method shape-matching --set methods.shape-matching.cell_size=1e-5", "1e+15 lattice points"},
      {"--method rigid --set 'bodies[0].repeat={\"count\":[1000,1000,1000],\"spacing\":[2,2,2]}'", "bodies"},
  };
  write_body("{}");
  for (const auto& [options, words] : sizes) {
    const Outcome outcome = run(limits + "EXEMPLAR -q run scene.json -o out " + options);
    EXPECT_EQ(outcome.exit_code, 2) << options << "\n" << outcome.errors;
    EXPECT_NE(outcome.errors.find(words), std::string::npos) << options << "\n" << outcome.errors;
  }
}

TEST_F(BadInput, ARunThatDivergesEndsWithItsLastGoodFrame) {
  // Energies are infinite after the first step; numbers that are not finite were written and the run called
  // done.
  write("thing.obj", std::string(k_cube_vertices) + k_cube_faces);
  Json made = scene();
  made["time"] = {{"duration", 1}, {"fps", 10}};
  made["bodies"][0]["velocity"] = {0, 1e300, 0};
  write("scene.json", made.dump());
  expect_refused({"bodies[0].velocity: expected three numbers [x, y, z] in [-3e+08, 3e+08]"}, "rigid");
  made["bodies"][0].erase("velocity");
  made["gravity"] = {0, 1e200, 0};
  write("scene.json", made.dump());
  for (const std::string method : {"rigid", "mass-spring", "shape-matching", "peridynamics"}) {
    const Outcome outcome = run("EXEMPLAR run scene.json -o out-" + method + " --method " + method);
    EXPECT_EQ(outcome.exit_code, 3) << method << outcome.errors;
    EXPECT_NE(outcome.errors.find("error: "), std::string::npos) << method << outcome.errors;
    EXPECT_EQ(read_text(m_folder / ("out-" + method) / "metrics.csv").find("inf"), std::string::npos)
        << method;
    const Json record = Json::parse(read_text(m_folder / ("out-" + method) / "run.json"));
    EXPECT_EQ(record["status"], "failed") << method;
    EXPECT_FALSE(record["message"].get<std::string>().empty()) << method;
    EXPECT_TRUE(std::filesystem::exists(m_folder / ("out-" + method) / "checkpoints")) << method;
  }
}

TEST_F(BadInput, AKilledRunGoesOnAndListsNoHalfFile) {
  write("thing.obj", std::string(k_cube_vertices) + k_cube_faces);
  Json made = scene();
  made["time"] = {{"duration", 8}, {"fps", 60}};
  write("scene.json", made.dump());
  const std::string call = "EXEMPLAR -q run scene.json --method rigid -o ";
  run("timeout -s KILL 0.4 " + call + "parts");
  const std::string listed = read_text(m_folder / "parts/surface.pvd");
  for (std::size_t at = 0; (at = listed.find("file=\"", at)) != std::string::npos; ++at) {
    const std::string name = listed.substr(at + 6, listed.find('"', at + 6) - at - 6);
    EXPECT_NE(read_text(m_folder / "parts" / name).find("</VTKFile>"), std::string::npos) << name;
  }
  ASSERT_EQ(run(call + "whole").exit_code, 0);
  ASSERT_EQ(run(call + "parts --resume").exit_code, 0) << read_text(m_folder / "stderr.txt");
  EXPECT_EQ(run("cmp parts/metrics.csv whole/metrics.csv && cmp parts/manifest.csv whole/manifest.csv && "
                "diff -rq parts/frames whole/frames")
                .exit_code,
            0);
}

}  // namespace exemplar::testing
