// Writes a run's frames on a thread of its own, so that the simulation does not wait for the disk.
//
// Run directory: frames/<series>_<00000>.vtp|vtu, one file a series and frame, their sizes and checksums in manifest.csv,
// and <series>.pvd at the top, rewritten after every frame: a running simulation can be watched, and no .pvd ever lists a
// file that is missing or half written. Every array that a series once had is in all its later frames (filled with 0 where
// a method left it out).
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/output/atomic_file.h"
#include "core/output/fields.h"
#include "core/output/pvd_file.h"

namespace exemplar {

class FrameWriter {
 public:
  // Makes the folder and checks that it is writable (OutputError). Frames from `first_frame` on that the manifest
  // names are dropped, from the .pvd files first; earlier ones are kept and continued: 0 starts anew, and a resumed run
  // passes the frame after its checkpoint's. Files that no manifest names stay.
  explicit FrameWriter(const std::filesystem::path& directory, int first_frame = 0);
  ~FrameWriter();  // waits for what is queued; errors are lost here, so call close()
  FrameWriter(const FrameWriter&) = delete;
  FrameWriter& operator=(const FrameWriter&) = delete;

  // Queues a frame; blocks while a few are waiting. Frames come in order, starting with the initial state as
  // frame 0. Throws the OutputError of an earlier frame, if any: after one, nothing more is written.
  void write(int frame, double time, std::vector<Geometry> geometries);

  // Waits until everything queued is on disk; throws OutputError when something could not be written.
  void flush();
  // Queues `task` behind the frames so far: the thread runs it when these would survive a power failure, so that the
  // simulation does not wait for the disk. What it throws counts as a frame's error.
  void after_sync(std::function<void()> task);
  // As flush(), and ends the thread.
  void close();

  // The last frame that is complete; first_frame − 1 when there is none.
  int last_written() const;
  // Seconds that the thread has spent encoding and writing.
  double busy_seconds() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> m_implementation;
};

// What a run has made in its folder. Series, by its manifest.
std::set<std::string> series_in(const std::filesystem::path& directory);
// Its frames from `first_frame` on, by its manifest, with what a killed writer left behind: nothing else is ever removed.
std::vector<std::filesystem::path> frame_files(const std::filesystem::path& directory, int first_frame = 0);
// Everything that has the name of a series' collection or of one of its frames, whoever made it.
std::vector<std::filesystem::path> files_of_series(const std::filesystem::path& directory,
                                                   const std::string& series);

// The collections of a finished run as its manifest has them, where one is lost or damaged. Throws OutputError.
void repair_collections(const std::filesystem::path& directory);

}  // namespace exemplar
