// Pictures of every run at five times, drawn by the program exemplar-render beside this one.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compare/results/collect.h"

namespace exemplar {

struct Picture {
  double time = 0;   // s
  std::string shot;  // name of a close-up; empty: the wide picture
  std::string png;   // bytes
};

// What a body may become: at rest, and as each of its example poses.
struct ExamplePicture {
  std::string name;  // of the example; empty: at rest
  std::string png;
};

struct Pictures {
  std::map<std::string, std::vector<Picture>> by_directory;  // of the run
  // Sheets of the runs that have a rig: handles and skinning weights at the start, example weights over time;
  // PNG bytes, empty when no run has one.
  std::string rigs, examples;
  std::vector<ExamplePicture> poses;  // none without examples
  std::string problem;                // why there are none; empty: all is well
};

// What render_pictures() leaves in the folder `pictures`, there or not.
std::vector<std::filesystem::path> picture_files(const std::filesystem::path& folder);

// Starts a virtual display (xvfb-run) when there is none. Never throws: without pictures the page draws them
// itself.
Pictures render_pictures(const Comparison& comparison, const std::function<bool()>& interrupted);

}  // namespace exemplar
