// Wall time for reports; nothing is decided by it.
#pragma once

#include <chrono>

namespace exemplar {

class Stopwatch {
 public:
  // Since it was made or since the last lap.
  double seconds() const { return std::chrono::duration<double>(Clock::now() - m_start).count(); }
  // The same, and starts again.
  double lap() {
    const Clock::time_point now = Clock::now();
    const double passed = std::chrono::duration<double>(now - m_start).count();
    m_start = now;
    return passed;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point m_start = Clock::now();
};

}  // namespace exemplar
