#include "compare/watch/page_server.h"

#include <fmt/format.h>
#include <httplib.h>

#include <chrono>
#include <mutex>
#include <thread>

#include "core/base/errors.h"

namespace exemplar {

namespace {

constexpr const char* k_loopback = "127.0.0.1";

// Another site's script could otherwise ask through a name of its own that leads to this machine.
bool is_local(const httplib::Request& request) {
  const std::string host = request.get_header_value("Host");
  const std::string name = host.substr(0, host.find(':'));
  return name == k_loopback || name == "localhost";
}

}  // namespace

struct PageServer::State {
  httplib::Server server;
  std::thread thread;
  int port = 0;
  mutable std::mutex mutex;
  std::string page;
  int version = 0;

  void answer_page(const httplib::Request& request, httplib::Response& response) {
    const std::lock_guard lock(mutex);
    if (!is_local(request)) {
      response.status = 403;
      return;
    }
    response.set_header("Cache-Control", "no-store");
    response.set_content(reloading(page, version), "text/html; charset=utf-8");
  }

  void answer_version(const httplib::Request& request, httplib::Response& response) {
    const std::lock_guard lock(mutex);
    if (!is_local(request)) {
      response.status = 403;
      return;
    }
    response.set_header("Cache-Control", "no-store");
    response.set_content(std::to_string(version), "text/plain");
  }
};

PageServer::PageServer(int port) : m_state(std::make_unique<State>()) {
  State& state = *m_state;
  state.page = "<!DOCTYPE html><title>Exemplar</title><p>The first frames are not there yet.</p>";
  state.server.Get("/", [&](const auto& request, auto& response) { state.answer_page(request, response); });
  state.server.Get("/version",
                   [&](const auto& request, auto& response) { state.answer_version(request, response); });
  // A port that was left a moment ago may be had again; one that is taken is not shared.
  state.server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  state.port = port == 0 ? state.server.bind_to_any_port(k_loopback)
                         : (state.server.bind_to_port(k_loopback, port) ? port : -1);
  if (state.port < 0)
    throw InputError(
        Problem{"--port", "", fmt::format("{} is taken on {}; 0 takes any that is free", port, k_loopback)});
  state.thread = std::thread([&] { state.server.listen_after_bind(); });
  // stop() does nothing before.
  while (!state.server.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

PageServer::~PageServer() {
  m_state->server.stop();
  m_state->thread.join();
}

std::string PageServer::address() const {
  return fmt::format("http://{}:{}/", k_loopback, m_state->port);
}

void PageServer::show(const std::string& page) {
  const std::lock_guard lock(m_state->mutex);
  m_state->page = page;
  ++m_state->version;
}

std::string reloading(const std::string& page, int version) {
  const std::string script = fmt::format(
      "<script>setInterval(async () => {{ try {{ const answer = await fetch('/version', {{cache: "
      "'no-store'}}); "
      "if (answer.ok && Number(await answer.text()) !== {}) location.reload(); }} catch {{}} }}, "
      "1500);</script>",
      version);
  const std::size_t end = page.rfind("</body>");
  if (end == std::string::npos) return page + script;
  return page.substr(0, end) + script + page.substr(end);
}

}  // namespace exemplar
