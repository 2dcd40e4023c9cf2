#include "compare/cli/record_context.h"

#include <array>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/base/parallel.h"
#include "core/run/run_directory.h"

namespace exemplar {

namespace {

std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model name")) return line.substr(std::min(line.find(':') + 2, line.size()));
  }
  return "unknown";
}

std::string date_text() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

}  // namespace

Json record_context() {
  double load = 0;
  const bool is_known = ::getloadavg(&load, 1) == 1;
  return {{"version", program_version()},
          {"commit", EXEMPLAR_COMMIT},
          {"processor", processor_name()},
          {"processors", std::thread::hardware_concurrency()},
          {"threads", thread_count()},
          {"date", date_text()},
          {"load", is_known ? Json(load) : Json(nullptr)}};
}

}  // namespace exemplar
