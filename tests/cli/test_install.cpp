// `cmake --install` gives a program that works from any folder.
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace exemplar::testing {

namespace {

namespace fs = std::filesystem;

class Install : public ProgramTest {};

}  // namespace

TEST_F(Install, TheInstalledProgramFindsItsDataFromAnyFolder) {
  const fs::path build = fs::path(EXEMPLAR_PROGRAM).parent_path();
  if (!fs::exists(build / "exemplar-render")) GTEST_SKIP() << "exemplar-render is not built";
  const Outcome installed = run("cmake --install '" + build.string() + "' --prefix \"$PWD/usr\"");
  ASSERT_EQ(installed.exit_code, 0) << installed.errors;
  ::unsetenv("EXEMPLAR_DATA");
  const std::string call = "mkdir -p far/away; cd far/away; ../../usr/bin/exemplar ";
  const Outcome outcome = run(call + "compare plank --methods rigid --frames 2 --no-pictures");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_TRUE(fs::exists(m_folder / "far/away/out/plank/report.html"));
  EXPECT_TRUE(fs::exists(m_folder / "far/away/out/plank/rigid/frames/surface_00002.vtp"));
  EXPECT_EQ(run(call + "run barrels --method rigid --frames 1").exit_code, 0);
  const std::string scenes = run(call + "list scenes").output;
  EXPECT_NE(scenes.find("barrels"), std::string::npos) << scenes;
  EXPECT_TRUE(read_text(m_folder / "usr/share/exemplar/scene.schema.json").starts_with("{"));
  EXPECT_TRUE(read_text(m_folder / "usr/share/exemplar/study.schema.json").starts_with("{"));
}

// Without a display it gets itself a virtual one, or says what to install.
TEST_F(Install, TheInstalledRendererNeedsNoDisplay) {
  const fs::path build = fs::path(EXEMPLAR_PROGRAM).parent_path();
  if (!fs::exists(build / "exemplar-render")) GTEST_SKIP() << "exemplar-render is not built";
  ASSERT_EQ(run("cmake --install '" + build.string() + "' --prefix \"$PWD/usr\"").exit_code, 0);
  ASSERT_EQ(run("EXEMPLAR -q run barrels --method rigid --frames 1 -o out").exit_code, 0);
  const std::string draw =
      "env -u DISPLAY ./usr/bin/exemplar-render out -o sheet.png --size 100x75 --columns 2";
  if (available("xvfb-run")) {
    const Outcome outcome = run(draw);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
    EXPECT_TRUE(read_text(m_folder / "sheet.png").starts_with("\x89PNG"));
    EXPECT_NE(
        run(draw + " --hide wall").errors.find("there is nothing called 'wall'; there are: dock, ground"),
        std::string::npos);
  }
  const std::string away = m_folder.string() + "/empty";
  const Outcome without =
      run("env -u DISPLAY PATH='" + away + "' ./usr/bin/exemplar-render out -o other.png");
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_NE(without.errors.find("install xvfb-run"), std::string::npos) << without.errors;
}

}  // namespace exemplar::testing
