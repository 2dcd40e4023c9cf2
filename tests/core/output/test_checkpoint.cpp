#include <gtest/gtest.h>

#include "core/base/errors.h"
#include "core/output/checkpoint.h"
#include "output_support.h"

namespace exemplar::test {

namespace {

namespace fs = std::filesystem;

Checkpoint checkpoint_at(int frame) {
  StateWriter state;
  std::vector<double> positions(100);
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = frame + 0.1 * static_cast<double>(i);
  state.write("positions", std::span<const double>(positions));
  state.write("empty", std::span<const double>());
  state.write("steps", std::vector<int>{frame, -1});
  return {"fem", "key of the scene", frame / 60.0, frame, state.arrays(), {}};
}

std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& item : fs::directory_iterator(directory)) names.push_back(item.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

void expect_frame(const LoadedCheckpoint& loaded, int frame) {
  ASSERT_TRUE(loaded.checkpoint);
  const Checkpoint expected = checkpoint_at(frame);
  EXPECT_EQ(loaded.checkpoint->method, "fem");
  EXPECT_EQ(loaded.checkpoint->content_key, "key of the scene");
  EXPECT_EQ(loaded.checkpoint->time, expected.time);
  EXPECT_EQ(loaded.checkpoint->frame, frame);
  EXPECT_EQ(loaded.checkpoint->arrays, expected.arrays);
}

TEST(Checkpoint, ComesBackExactly) {
  const TemporaryFolder folder;
  save_checkpoint(folder.path(), checkpoint_at(12));
  const LoadedCheckpoint loaded = load_latest_checkpoint(folder.path());
  expect_frame(loaded, 12);
  EXPECT_TRUE(loaded.damaged.empty());
}

TEST(Checkpoint, KeepsTheLastTwo) {
  const TemporaryFolder folder;
  for (int frame : {10, 20, 30, 100000}) save_checkpoint(folder.path() / "checkpoints", checkpoint_at(frame));
  EXPECT_EQ(names_in(folder.path() / "checkpoints"),
            (std::vector<std::string>{"checkpoint_00030.bin", "checkpoint_100000.bin"}));
  expect_frame(load_latest_checkpoint(folder.path() / "checkpoints"), 100000);
}

TEST(Checkpoint, GoingBackReplacesLaterOnes) {
  const TemporaryFolder folder;
  for (int frame : {10, 20, 15}) save_checkpoint(folder.path(), checkpoint_at(frame));
  EXPECT_EQ(names_in(folder.path()),
            (std::vector<std::string>{"checkpoint_00010.bin", "checkpoint_00015.bin"}));
}

TEST(Checkpoint, EveryDamageIsSeenAndThePreviousOneUsed) {
  const TemporaryFolder folder;
  save_checkpoint(folder.path(), checkpoint_at(1));
  save_checkpoint(folder.path(), checkpoint_at(2));
  const fs::path newest = folder.path() / "checkpoint_00002.bin";
  const std::string whole = bytes_of(newest);
  for (std::size_t place = 0; place < whole.size(); place += 3) {
    std::string flipped = whole;
    flipped[place] = static_cast<char>(flipped[place] ^ 1);
    std::ofstream(newest, std::ios::binary) << flipped;
    const LoadedCheckpoint loaded = load_latest_checkpoint(folder.path());
    expect_frame(loaded, 1);
    EXPECT_EQ(loaded.damaged.size(), 1u);
  }
  for (std::size_t size = 0; size < whole.size(); size += 5) {
    std::ofstream(newest, std::ios::binary) << whole.substr(0, size);
    expect_frame(load_latest_checkpoint(folder.path()), 1);
  }
}

TEST(Checkpoint, NoneAndOnlyDamagedOnes) {
  const TemporaryFolder folder;
  EXPECT_FALSE(load_latest_checkpoint(folder.path() / "missing").checkpoint);
  std::ofstream(folder.path() / "checkpoint_00001.bin") << "nonsense";
  const LoadedCheckpoint loaded = load_latest_checkpoint(folder.path());
  EXPECT_FALSE(loaded.checkpoint);
  EXPECT_EQ(loaded.damaged.size(), 1u);
  EXPECT_THROW(read_checkpoint(folder.path() / "checkpoint_00001.bin"), InputError);
  remove_checkpoints(folder.path());
  EXPECT_TRUE(names_in(folder.path()).empty());
}

TEST(Checkpoint, UnusableDirectoryIsAnOutputError) {
  EXPECT_THROW(save_checkpoint("/dev/full/checkpoints", checkpoint_at(1)), OutputError);
}

}  // namespace

}  // namespace exemplar::test
