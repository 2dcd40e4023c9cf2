// Checkpoints: a method's complete state in one binary file with a checksum, written atomically and synced to
// the disk. The last two are kept, so that a damaged one costs only the time since the one before.
#pragma once

#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/base/note.h"
#include "core/output/atomic_file.h"
#include "core/output/state.h"

namespace exemplar {

struct Checkpoint {
  std::string method;
  std::string content_key;  // of everything that determines the run; the runner compares it before resuming
  double time = 0;          // s
  int frame = 0;            // the last frame that is part of this state
  StateArrays arrays;
  Notes notes;  // what turned up in the steps so far
};

// Writes checkpoint_<frame>.bin into `directory` (made if needed) and removes all others but the one before
// it: later ones belong to a run that this one replaces. Throws OutputError.
void save_checkpoint(const std::filesystem::path& directory, const Checkpoint& checkpoint);

struct LoadedCheckpoint {
  std::optional<Checkpoint> checkpoint;  // nothing when there is none that can be read
  std::vector<std::string> damaged;      // one sentence for each file that was passed over
};

// The newest checkpoint that is whole and whose frame comes before `before`.
LoadedCheckpoint load_latest_checkpoint(const std::filesystem::path& directory,
                                        int before = std::numeric_limits<int>::max());

// One file; throws InputError when it is damaged.
Checkpoint read_checkpoint(const std::filesystem::path& path);

// Earliest first.
std::vector<std::filesystem::path> checkpoint_files(const std::filesystem::path& directory);
// Before a run that starts anew.
void remove_checkpoints(const std::filesystem::path& directory);

}  // namespace exemplar
