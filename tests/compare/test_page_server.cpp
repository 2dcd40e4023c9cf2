#include <gtest/gtest.h>
#include <httplib.h>

#include <chrono>

#include "compare/watch/page_server.h"
#include "core/base/errors.h"

namespace exemplar {
namespace {

int port_of(const PageServer& server) {
  const std::string address = server.address();
  return std::stoi(address.substr(address.rfind(':') + 1));
}

TEST(PageServer, AnOpenPageNoticesANewVersion) {
  PageServer server(0);
  httplib::Client browser("127.0.0.1", port_of(server));
  server.show("<html><body>one</body></html>");
  const auto first = browser.Get("/");
  ASSERT_TRUE(first);
  EXPECT_NE(first->body.find("one"), std::string::npos);
  const std::string number = browser.Get("/version")->body;
  EXPECT_NE(first->body.find("!== " + number + ")"), std::string::npos) << first->body;
  server.show("<html><body>two</body></html>");
  EXPECT_NE(browser.Get("/version")->body, number);
  EXPECT_NE(browser.Get("/")->body.find("two"), std::string::npos);
}

TEST(PageServer, NothingElseIsServedAndOtherNamesAreRefused) {
  const PageServer server(0);
  EXPECT_EQ(server.address().rfind("http://127.0.0.1:", 0), 0u);
  httplib::Client browser("127.0.0.1", port_of(server));
  EXPECT_EQ(browser.Get("/run.json")->status, 404);
  EXPECT_EQ(browser.Get("/../etc/passwd")->status, 404);
  EXPECT_EQ(browser.Post("/", "", "text/plain")->status, 404);
  EXPECT_EQ(browser.Get("/", {{"Host", "elsewhere.example"}})->status, 403);
  EXPECT_EQ(browser.Get("/version", {{"Host", "elsewhere.example"}})->status, 403);
}

TEST(PageServer, ATakenPortIsTold) {
  const PageServer server(0);
  EXPECT_THROW(PageServer{port_of(server)}, InputError);
}

}  // namespace
}  // namespace exemplar
