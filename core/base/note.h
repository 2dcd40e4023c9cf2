// What is worth telling about a run, once: what was derived, chosen or repaired (note), and what a reader should
// know before trusting the result (warning).
#pragma once

#include <string>
#include <vector>

namespace exemplar {

enum class Severity { note, warning };

struct Note {
  Severity severity = Severity::note;
  std::string text;
};
using Notes = std::vector<Note>;

}  // namespace exemplar
