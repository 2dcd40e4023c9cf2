// What a long set-up is doing, for whoever listens (the terminal): "plank: filling 4000 triangles with tets".
#pragma once

#include <functional>
#include <string>

namespace exemplar {

using PhaseListener = std::function<void(const std::string& what)>;

// One listener at a time; an empty one: nobody. Called from the thread that does the work.
void set_phase_listener(PhaseListener listener);

// A phase that lasts as long as the object; the one around it goes on afterwards.
class Phase {
 public:
  explicit Phase(const std::string& what);
  ~Phase();
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;

 private:
  std::string m_before;
};

}  // namespace exemplar
