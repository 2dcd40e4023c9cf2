#include "core/base/phase.h"

#include <mutex>

namespace exemplar {

namespace {

std::mutex g_mutex;
PhaseListener g_listener;
std::string g_current;

std::string change_to(const std::string& what) {
  std::lock_guard lock(g_mutex);
  std::string before = g_current;
  g_current = what;
  if (g_listener) g_listener(what);
  return before;
}

}  // namespace

void set_phase_listener(PhaseListener listener) {
  std::lock_guard lock(g_mutex);
  g_listener = std::move(listener);
}

Phase::Phase(const std::string& what) : m_before(change_to(what)) {}

Phase::~Phase() {
  change_to(m_before);
}

}  // namespace exemplar
