#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <map>
#include <thread>

#include "core/base/errors.h"
#include "core/output/frame_writer.h"
#include "core/output/geometry_file.h"
#include "output_support.h"

namespace exemplar::test {

namespace {

namespace fs = std::filesystem;

std::vector<Geometry> frame_of(int frame) {
  Geometry surface = small_geometry(CellKind::triangles, frame);
  surface.series = "surface";
  Geometry tets = small_geometry(CellKind::tets, frame);
  tets.series = "tets";
  return {surface, tets};
}

void write_frames(const fs::path& directory, int begin, int end) {
  FrameWriter writer(directory, begin);
  for (int frame = begin; frame < end; ++frame) writer.write(frame, frame / 120.0, frame_of(frame));
  writer.close();
}

std::map<std::string, std::string> all_files(const fs::path& directory) {
  std::map<std::string, std::string> files;
  for (const auto& item : fs::recursive_directory_iterator(directory)) {
    if (item.is_regular_file()) files[fs::relative(item.path(), directory)] = bytes_of(item.path());
  }
  return files;
}

// Every listed file is there, is whole, and is the frame it should be.
void expect_valid(const fs::path& directory, const std::string& series, std::size_t frames) {
  const auto entries = read_pvd(directory / (series + ".pvd"));
  ASSERT_EQ(entries.size(), frames);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(entries[i].time, static_cast<double>(i) / 120.0);
    const auto expected = frame_of(static_cast<int>(i))[series == "surface" ? 0 : 1];
    expect_equal(read_geometry(entries[i].file), expected);
  }
}

TEST(FrameWriter, CollectionIsValidAfterEveryFrame) {
  const TemporaryFolder folder;
  FrameWriter writer(folder.path() / "new" / "run");
  for (int frame = 0; frame < 5; ++frame) {
    writer.write(frame, frame / 120.0, frame_of(frame));
    writer.flush();
    expect_valid(folder.path() / "new" / "run", "surface", static_cast<std::size_t>(frame) + 1);
    expect_valid(folder.path() / "new" / "run", "tets", static_cast<std::size_t>(frame) + 1);
  }
  writer.close();
  EXPECT_TRUE(fs::exists(folder.path() / "new/run/frames/surface_00004.vtp"));
  EXPECT_TRUE(fs::exists(folder.path() / "new/run/frames/tets_00004.vtu"));
}

// Checkpoints: what they belong to is on disk when they are written, and who asks for one does not wait.
TEST(FrameWriter, TasksComeAfterTheFramesBeforeThem) {
  const TemporaryFolder folder;
  FrameWriter writer(folder.path());
  std::vector<int> seen;
  for (int frame = 0; frame < 6; ++frame) {
    writer.write(frame, frame / 120.0, frame_of(frame));
    writer.after_sync([&, frame] {
      seen.push_back(frame);
      expect_valid(folder.path(), "surface", static_cast<std::size_t>(frame) + 1);
    });
  }
  writer.close();
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(writer.last_written(), 5);
}

TEST(FrameWriter, ATaskThatFailsEndsTheWriting) {
  const TemporaryFolder folder;
  FrameWriter writer(folder.path());
  writer.write(0, 0, frame_of(0));
  writer.after_sync([&] { throw OutputError(folder.path() / "checkpoint", "No space left"); });
  EXPECT_THROW(writer.flush(), OutputError);
  EXPECT_THROW(writer.write(1, 1, frame_of(1)), OutputError);
  EXPECT_EQ(writer.last_written(), 0);
  expect_valid(folder.path(), "surface", 1);
}

// A watcher reads while the run writes: it never sees a collection that lists a missing or damaged file.
TEST(FrameWriter, CanBeWatchedWhileItWrites) {
  const TemporaryFolder folder;
  std::atomic<bool> done = false;
  std::thread watcher([&] {
    while (!done) {
      if (!fs::exists(folder.path() / "surface.pvd")) continue;
      const auto entries = read_pvd(folder.path() / "surface.pvd");
      ASSERT_FALSE(entries.empty());
      expect_equal(read_geometry(entries.back().file), frame_of(static_cast<int>(entries.size()) - 1)[0]);
    }
  });
  write_frames(folder.path(), 0, 60);
  done = true;
  watcher.join();
}

TEST(FrameWriter, SameDataGivesTheSameBytes) {
  const TemporaryFolder a, b;
  write_frames(a.path(), 0, 6);
  write_frames(b.path(), 0, 6);
  EXPECT_EQ(all_files(a.path()), all_files(b.path()));
}

TEST(FrameWriter, ResumedRunEqualsUndisturbedOne) {
  const TemporaryFolder undisturbed, resumed;
  write_frames(undisturbed.path(), 0, 9);
  write_frames(resumed.path(), 0, 7);
  std::ofstream(resumed.path() / "frames" / "surface_00007.vtp.1234-5.tmp") << "half a file";
  write_frames(resumed.path(), 4, 9);
  EXPECT_EQ(all_files(undisturbed.path()), all_files(resumed.path()));
}

TEST(FrameWriter, StartingAnewRemovesOldFramesAndNothingElse) {
  const TemporaryFolder folder;
  write_frames(folder.path(), 0, 6);
  std::ofstream(folder.path() / "notes.txt") << "mine";
  std::ofstream(folder.path() / "frames" / "mine.vtp") << "mine";
  std::ofstream(folder.path() / "frames" / "mine.tmp") << "mine";
  std::ofstream(folder.path() / "frames" / "mine_00001.vtu") << "mine";
  PvdFile other(folder.path() / "side_by_side.pvd");
  other.add(0, "side_by_side/frame_00000.vtm");
  other.save();
  {
    FrameWriter writer(folder.path());
    EXPECT_FALSE(fs::exists(folder.path() / "surface.pvd"));
    writer.write(0, 0, {frame_of(0)[0]});
    writer.close();
  }
  expect_valid(folder.path(), "surface", 1);
  EXPECT_FALSE(fs::exists(folder.path() / "tets.pvd"));
  EXPECT_FALSE(fs::exists(folder.path() / "frames/tets_00000.vtu"));
  EXPECT_TRUE(fs::exists(folder.path() / "notes.txt"));
  for (const char* name : {"mine.vtp", "mine.tmp", "mine_00001.vtu"})
    EXPECT_TRUE(fs::exists(folder.path() / "frames" / name)) << name;
  EXPECT_EQ(read_pvd(folder.path() / "side_by_side.pvd").size(), 1u);
}

TEST(FrameWriter, MissingArraysAreFilledAlsoAfterResuming) {
  const TemporaryFolder folder;
  Geometry bare = frame_of(1)[0];
  bare.arrays.clear();
  {
    FrameWriter writer(folder.path());
    writer.write(0, 0, {frame_of(0)[0]});
    writer.write(1, 1, {bare});
    writer.close();
  }
  {
    FrameWriter writer(folder.path(), 2);
    writer.write(2, 2, {bare});
    writer.close();
  }
  for (const PvdEntry& entry : read_pvd(folder.path() / "surface.pvd")) {
    const Geometry geometry = read_geometry(entry.file);
    ASSERT_EQ(geometry.arrays.size(), 6u);
    if (entry.time == 0) continue;
    EXPECT_EQ(geometry.arrays[0].values, std::vector<double>(30, 0.0));
    EXPECT_TRUE(geometry.arrays[5].integer);
  }
}

TEST(FrameWriter, UnusableDirectoryIsSaidAtOnce) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "not a folder";
  EXPECT_THROW(FrameWriter(folder.path() / "file"), OutputError);
  EXPECT_THROW(FrameWriter(folder.path() / "file" / "run"), OutputError);
  EXPECT_THROW(FrameWriter("/proc/exemplar-run"), OutputError);
}

// A limit on the size of files stands for a full disk: write(2) fails in the middle of a file in the same
// way.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    m_handler = std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &m_before);
    rlimit limit = m_before;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &m_before);
    std::signal(SIGXFSZ, m_handler);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit m_before{};
  void (*m_handler)(int) = nullptr;
};

TEST(FrameWriter, FullDiskLeavesEveryFinishedFrameReadable) {
  const TemporaryFolder folder;
  FrameWriter writer(folder.path());
  for (int frame = 0; frame < 3; ++frame) writer.write(frame, frame / 120.0, frame_of(frame));
  writer.flush();
  {
    const FileSizeLimit limit(1000);
    writer.write(3, 3 / 120.0, frame_of(3));
    EXPECT_THROW(writer.flush(), OutputError);
    EXPECT_THROW(writer.write(4, 4 / 120.0, frame_of(4)), OutputError);
    EXPECT_THROW(writer.close(), OutputError);
  }
  expect_valid(folder.path(), "surface", 3);
  expect_valid(folder.path(), "tets", 3);
  for (const auto& item : fs::directory_iterator(folder.path() / "frames"))
    EXPECT_NE(item.path().extension(), ".tmp");
  write_frames(folder.path(), 3, 6);
  expect_valid(folder.path(), "surface", 6);
}

TEST(FrameWriter, FolderThatVanishesIsReportedByClose) {
  const TemporaryFolder folder;
  FrameWriter writer(folder.path() / "run");
  fs::remove_all(folder.path() / "run");
  writer.write(0, 0, frame_of(0));
  EXPECT_THROW(writer.close(), OutputError);
}

TEST(PvdFile, EscapesNamesAndKeepsTimesExactly) {
  const TemporaryFolder folder;
  PvdFile file(folder.path() / "a.pvd");
  file.add(0.1, "x & \"y\" <z>.vtp");
  file.add(1.0 / 3.0, "b.vtp");
  file.save();
  const auto entries = read_pvd(file.path());
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].file, folder.path() / "x & \"y\" <z>.vtp");
  EXPECT_EQ(entries[1].time, 1.0 / 3.0);
}

TEST(PvdFile, WhatIsNotACollectionIsRefused) {
  const TemporaryFolder folder;
  EXPECT_THROW(read_pvd(folder.path() / "missing.pvd"), InputError);
  std::ofstream(folder.path() / "a.pvd") << "<VTKFile><Else/></VTKFile>";
  EXPECT_THROW(read_pvd(folder.path() / "a.pvd"), InputError);
  std::ofstream(folder.path() / "b.pvd") << "";
  EXPECT_THROW(read_pvd(folder.path() / "b.pvd"), InputError);
}

}  // namespace

}  // namespace exemplar::test
