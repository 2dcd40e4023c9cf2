// The folder of a comparison: whose it is, and what is left to do of the runs in it. Nothing of another study, of another
// scene or of another method is replaced unless that was asked for.
#pragma once

#include <filesystem>

#include "compare/cli/commands.h"
#include "compare/study/study.h"

namespace exemplar {

// Throws InputError when the folder holds the comparison of another study, or files that no comparison made.
void check_folder(const std::filesystem::path& output, const Study& study, bool overwrite);
// Says in comparison.json whose it is, before anything is there to compare.
void claim_folder(const std::filesystem::path& output, const Study& study);

enum class Need { nothing, everything, remainder, replacement };

// What is left to do of each run: nothing of one that is complete when what determines it has not changed. Throws InputError
// with every run that is there and may not be replaced.
std::vector<Need> needs_of(const Study& study, const std::filesystem::path& output,
                           const CompareArguments& arguments, const Registry& registry);

// When the run's record was last written; none: there is none.
std::optional<std::filesystem::file_time_type> record_time(const std::filesystem::path& run);

// --set of the run.
std::vector<std::string> assignments_of(const PlannedRun& run);

}  // namespace exemplar
