// exemplar coupons as a user calls it, and the README's scorecard.
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace exemplar::testing {
namespace {

namespace fs = std::filesystem;

class Coupons : public ProgramTest {};

TEST_F(Coupons, WritesATableAPageAndNumbers) {
  const Outcome outcome =
      run("EXEMPLAR coupons rigid --coupon slide --coupon hanging-bar --resolution 1 -o out --threads 1");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_NE(outcome.output.find("does not model elasticity: elongation of rigid"), std::string::npos);
  const std::string table = read_text(m_folder / "out/coupons.csv"),
                    page = read_text(m_folder / "out/coupons.html");
  EXPECT_NE(table.find("slide,slide,rigid,1,measured,0.42978"), std::string::npos) << table;
  EXPECT_NE(page.find("\"quantity\":\"slide\""), std::string::npos);
  for (const char* mark : {"%DATA%", "%STYLE%", "%SCRIPT%"})
    EXPECT_EQ(page.find(mark), std::string::npos) << mark;
}

TEST_F(Coupons, ASceneThatIsWrittenRunsByHand) {
  ASSERT_EQ(run("EXEMPLAR coupons rigid fem --coupon slide --resolution 1 --write scenes").exit_code, 0);
  ASSERT_TRUE(fs::exists(m_folder / "scenes/slide-rigid-1.json"));
  ASSERT_TRUE(fs::exists(m_folder / "scenes/slide-fem-1.json"));
  EXPECT_EQ(run("EXEMPLAR -q run scenes/slide-rigid-1.json --method rigid -o run").exit_code, 0);
  const Outcome checked = run("EXEMPLAR check scenes/slide-fem-1.json --method fem");
  EXPECT_EQ(checked.exit_code, 0) << checked.output << checked.errors;
}

TEST_F(Coupons, NamesThatAreNearlyRightAreHintedAt) {
  const Outcome coupon = run("EXEMPLAR coupons --coupon slid");
  EXPECT_EQ(coupon.exit_code, 2);
  EXPECT_NE(coupon.errors.find("did you mean 'slide'"), std::string::npos) << coupon.errors;
  const Outcome method = run("EXEMPLAR coupons peridynamic");
  EXPECT_EQ(method.exit_code, 2);
  EXPECT_NE(method.errors.find("did you mean 'peridynamics'"), std::string::npos) << method.errors;
}

// Of the table in the repository; it has a row for every method and quantity that there is.
TEST_F(Coupons, TheReadmesScorecardIsCurrent) {
  const std::string file = EXEMPLAR_SOURCE_DIR "/docs/coupons.csv";
  const Outcome outcome = run("EXEMPLAR coupons --scorecard '" + file + "'");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.errors;
  const std::string readme = read_text(EXEMPLAR_SOURCE_DIR "/README.md");
  EXPECT_NE(readme.find("<!-- coupons -->\n" + outcome.output + "<!-- /coupons -->"), std::string::npos)
      << "run scripts/docs";
  const std::string table = read_text(file), listed = run("EXEMPLAR coupons --list").output;
  const Outcome methods = run("EXEMPLAR list methods");
  for (const char* method : {"fem", "shell", "rigid-bend", "peridynamics"}) {
    EXPECT_NE(table.find(std::string(",slide,") + method + ","), std::string::npos) << method;
    EXPECT_NE(methods.output.find(method), std::string::npos);
  }
  for (const char* quantity : {"elongation", "thick-sag", "limit-load", "crack", "spin"}) {
    EXPECT_NE(table.find(std::string(",") + quantity + ","), std::string::npos) << quantity;
    EXPECT_NE(listed.find(quantity), std::string::npos) << quantity;
  }
}

}  // namespace
}  // namespace exemplar::testing
