#include <gtest/gtest.h>

#include "core/scene/files/json_text.h"

namespace exemplar {
namespace {

std::string at(const std::string& text, const std::vector<std::string>& path) {
  const std::optional<TextSpan> span = find_value(text, path);
  return span ? text.substr(span->begin, span->end - span->begin) : "none";
}

TEST(JsonText, ValuesAreFoundBesideCommentsAndStringsThatLookLikeThem) {
  const std::string text = R"(// "a": 1
{"b\"a": "x, \"a\": 2", /* } */ "list": [1, {"a": [ 3 , 4 ] }, "]" , -2.5e3/**/], "a": true})";
  EXPECT_EQ(at(text, {"a"}), "true");
  EXPECT_EQ(at(text, {"b\"a"}), R"("x, \"a\": 2")");
  EXPECT_EQ(at(text, {"list", "0"}), "1");
  EXPECT_EQ(at(text, {"list", "1", "a"}), "[ 3 , 4 ]");
  EXPECT_EQ(at(text, {"list", "1", "a", "1"}), "4");
  EXPECT_EQ(at(text, {"list", "3"}), "-2.5e3");
  EXPECT_EQ(at(text, {"list", "4"}), "none");
  EXPECT_EQ(at(text, {"a", "b"}), "none");
}

TEST(JsonText, NestingIsCountedOutsideStringsAndComments) {
  EXPECT_EQ(nesting_depth(R"({"[[[": [1, {"a": 2}], "b": [] /* [[[[ */} // [[[[[)"), 3);
  EXPECT_EQ(nesting_depth(std::string(1000000, '[')), 1000000);
  EXPECT_EQ(nesting_depth("\"unfinished \\"), 0);
  EXPECT_EQ(nesting_depth("]]]][["), 0);
}

}  // namespace
}  // namespace exemplar
