// What is damaged after a power failure is noticed, and collections are made again from the manifest.
#include <gtest/gtest.h>

#include "core/base/checksum.h"
#include "core/output/frame_writer.h"
#include "core/output/manifest.h"
#include "output_support.h"

namespace exemplar::test {

namespace {

namespace fs = std::filesystem;

void write_listed_frames(const fs::path& directory, int begin, int end) {
  FrameWriter writer(directory, begin);
  for (int frame = begin; frame < end; ++frame) {
    Geometry surface = small_geometry(CellKind::triangles, frame);
    surface.series = "surface";
    writer.write(frame, frame / 3.0, {surface});
  }
  writer.flush();
  EXPECT_EQ(writer.last_written(), end - 1);
  writer.close();
}

}  // namespace

TEST(Manifest, EveryFrameIsThereWithItsSizeAndChecksum) {
  const TemporaryFolder folder;
  write_listed_frames(folder.path(), 0, 5);
  const auto entries = read_manifest(folder.path());
  ASSERT_EQ(entries.size(), 5u);
  for (int i = 0; i < 5; ++i) {
    const ManifestEntry& entry = entries[static_cast<std::size_t>(i)];
    const std::string bytes = bytes_of(folder.path() / entry.file);
    EXPECT_EQ(entry.frame, i);
    EXPECT_EQ(entry.time, i / 3.0);
    EXPECT_EQ(entry.series, "surface");
    EXPECT_EQ(entry.bytes, bytes.size());
    EXPECT_EQ(entry.checksum, checksum(bytes));
  }
  EXPECT_FALSE(find_damage(folder.path(), 4));
}

TEST(Manifest, DamageOfEachKindIsFound) {
  const TemporaryFolder folder;
  write_listed_frames(folder.path(), 0, 5);
  EXPECT_EQ(find_damage(folder.path(), 5)->frame, 5);  // never written
  const fs::path file = folder.path() / "frames/surface_00003.vtp";
  const std::string whole = bytes_of(file);
  std::string flipped = whole;
  flipped[whole.size() / 2] = static_cast<char>(flipped[whole.size() / 2] ^ 1);
  for (const std::string& damaged : {std::string(), whole.substr(0, 10), flipped}) {
    std::ofstream(file, std::ios::binary) << damaged;
    EXPECT_EQ(find_damage(folder.path(), 4)->frame, 3) << damaged.size();
    EXPECT_FALSE(find_damage(folder.path(), 2));
  }
  fs::remove(file);
  EXPECT_EQ(find_damage(folder.path(), 4)->frame, 3);
  fs::remove(folder.path() / "manifest.csv");
  EXPECT_EQ(find_damage(folder.path(), 4)->frame, 0);
}

TEST(Manifest, HalfALineIsLeftOut) {
  const TemporaryFolder folder;
  write_listed_frames(folder.path(), 0, 5);
  const fs::path file = folder.path() / "manifest.csv";
  fs::resize_file(file, fs::file_size(file) - 5);
  EXPECT_EQ(read_manifest(folder.path()).size(), 4u);
  EXPECT_EQ(find_damage(folder.path(), 4)->frame, 4);
  std::ofstream(file, std::ios::app) << "\n7,x,surface,frames/a.vtp,1,0\n1,0,surface,../../etc/passwd,1,0\n";
  EXPECT_EQ(read_manifest(folder.path()).size(), 4u);
}

TEST(Manifest, LostCollectionsComeBack) {
  const TemporaryFolder folder;
  write_listed_frames(folder.path(), 0, 5);
  const std::string whole = bytes_of(folder.path() / "surface.pvd");
  std::ofstream(folder.path() / "surface.pvd", std::ios::binary) << "";
  repair_collections(folder.path());
  EXPECT_EQ(bytes_of(folder.path() / "surface.pvd"), whole);
  // A resumed run makes them from the manifest too.
  std::ofstream(folder.path() / "surface.pvd", std::ios::binary) << "<half";
  write_listed_frames(folder.path(), 3, 5);
  EXPECT_EQ(bytes_of(folder.path() / "surface.pvd"), whole);
}

}  // namespace exemplar::test
