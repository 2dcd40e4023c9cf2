// exemplar check DIR: the files of a run or of a comparison against their checksums: what is damaged, and by which command
// it is made again.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/errors.h"

namespace exemplar {

struct ResultFindings {
  std::vector<Problem> damages;
  std::vector<Problem> remarks;  // what could not be checked
};

// Throws InputError when the directory is neither a run nor a comparison.
ResultFindings check_results(const std::filesystem::path& directory);

}  // namespace exemplar
