#include "core/output/frame_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "core/base/checksum.h"
#include "core/base/errors.h"
#include "core/output/geometry_file.h"
#include "core/output/manifest.h"

namespace exemplar {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_queue_capacity =
    3;  // frames; bounds the memory when the disk is slower than the method

struct FrameName {
  std::string series;
  int frame = 0;
};

// surface_00012.vtp → {surface, 12}; nothing for a name that this writer does not give.
std::optional<FrameName> parse_frame_name(const fs::path& file) {
  const std::string extension = file.extension().string(), stem = file.stem().string();
  const std::size_t underscore = stem.rfind('_');
  if ((extension != ".vtp" && extension != ".vtu") || underscore == std::string::npos) return std::nullopt;
  const std::string digits = stem.substr(underscore + 1);
  const bool number =
      digits.size() >= 5 && digits.size() <= 9 && digits.find_first_not_of("0123456789") == std::string::npos;
  if (!number) return std::nullopt;
  return FrameName{stem.substr(0, underscore), std::stoi(digits)};
}

bool is_name_of(const ManifestEntry& entry) {
  const std::optional<FrameName> name = parse_frame_name(entry.file);
  return name && name->series == entry.series && name->frame == entry.frame;
}

std::vector<fs::path> sorted_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code none;
  for (const auto& item : fs::directory_iterator(folder, none)) {
    if (item.is_regular_file()) files.push_back(item.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Of a writer that was killed in the middle of a file of a run.
bool is_left_over(const fs::path& file) {
  const std::optional<fs::path> target = target_of_temporary(file);
  if (!target) return false;
  static const std::set<std::string> names{"run.json",      "metrics.csv",  "timings.csv", "manifest.csv",
                                           "checksums.csv", "examples.vtp", ".writable"};
  return target->extension() == ".pvd" || names.count(target->filename().string()) > 0 ||
         parse_frame_name(*target);
}

std::vector<fs::path> left_overs(const fs::path& directory) {
  std::vector<fs::path> files;
  for (const fs::path& folder : {directory, directory / "frames"}) {
    for (const fs::path& file : sorted_files(folder)) {
      if (is_left_over(file)) files.push_back(file);
    }
  }
  return files;
}

}  // namespace

class FrameWriter::Implementation {
 public:
  // A frame, or a task that waits for those before it.
  struct Job {
    int frame = 0;
    double time = 0;
    std::vector<Geometry> geometries;
    std::function<void()> task;
  };

  Implementation(const fs::path& directory, int first_frame)
      : m_directory(directory), m_last_written(first_frame - 1) {
    make_writable_directory(directory);
    make_writable_directory(directory / "frames");
    try {
      continue_collections(first_frame);
    } catch (const fs::filesystem_error& error) {
      throw OutputError(error.path1(), error.code().message());
    }
    m_thread = std::thread([this] { run(); });
  }

  ~Implementation() { finish(); }

  void push(Job job) {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [&] { return m_queue.size() < k_queue_capacity || m_error; });
    if (m_error) std::rethrow_exception(m_error);
    assert(!m_finishing && (job.task || job.frame > m_last_frame));
    if (!job.task) m_last_frame = job.frame;
    m_queue.push_back(std::move(job));
    m_changed.notify_all();
  }

  void wait_until_empty() {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [&] { return (m_queue.empty() && !m_busy) || m_error; });
    if (m_error) std::rethrow_exception(m_error);
  }

  int last_written() const {
    std::lock_guard lock(m_mutex);
    return m_last_written;
  }

  void finish() {
    {
      std::lock_guard lock(m_mutex);
      m_finishing = true;
      m_changed.notify_all();
    }
    if (m_thread.joinable()) m_thread.join();
  }

  double busy_seconds() const {
    std::lock_guard lock(m_mutex);
    return m_busy_seconds;
  }

 private:
  struct Series {
    PvdFile collection;
    std::vector<FieldArray> known_arrays;  // without values
  };

  // From the manifest: a collection itself may have been lost. Collections first, so that none lists what is gone.
  void continue_collections(int first_frame) {
    std::vector<ManifestEntry> kept;
    for (const ManifestEntry& entry : read_manifest(m_directory)) {
      if (entry.frame < first_frame && fs::exists(m_directory / entry.file)) kept.push_back(entry);
    }
    for (const ManifestEntry& entry : kept) series_named(entry.series).collection.add(entry.time, entry.file);
    const std::vector<fs::path> dropped = frame_files(m_directory, first_frame);
    for (const std::string& series : series_in(m_directory)) {
      if (!m_series.count(series)) fs::remove(m_directory / (series + ".pvd"));
    }
    for (auto& [name, series] : m_series) {
      series.collection.save();
      remember_arrays(series, read_geometry(m_directory / series.collection.entries().back().file));
    }
    for (const fs::path& file : dropped) fs::remove(file);
    m_manifest = std::make_unique<ManifestFile>(m_directory, kept);
  }

  void run() {
    std::unique_lock lock(m_mutex);
    while (true) {
      m_changed.wait(lock, [&] { return !m_queue.empty() || m_finishing; });
      if (m_queue.empty() || m_error) return;
      Job job = std::move(m_queue.front());
      m_queue.pop_front();
      m_busy = true;
      m_changed.notify_all();
      lock.unlock();
      const auto start = std::chrono::steady_clock::now();
      std::exception_ptr error = try_to_do(job);
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
      lock.lock();
      m_busy_seconds += elapsed.count();
      m_busy = false;
      m_error = error;
      if (!error && !job.task) m_last_written = job.frame;
      m_changed.notify_all();
      if (m_error) return;
    }
  }

  std::exception_ptr try_to_do(Job& job) {
    try {
      if (job.task) {
        sync_written();
        job.task();
      } else {
        write_frame(job);
      }
    } catch (...) {
      return std::current_exception();
    }
    return nullptr;
  }

  void sync_written() {
    std::vector<fs::path> files = std::exchange(m_unsynced, {});
    for (const auto& [name, series] : m_series) files.push_back(series.collection.path());
    files.push_back(m_manifest->path());
    sync_files(m_directory, files);
  }

  // All files of the frame come before any collection lists them.
  void write_frame(Job& frame) {
    std::vector<Series*> changed;
    std::vector<ManifestEntry> written;
    for (Geometry& geometry : frame.geometries) {
      Series& series = series_named(geometry.series);
      assert(std::find(changed.begin(), changed.end(), &series) == changed.end());
      fill_missing_arrays(series, geometry);
      const fs::path file = fs::path("frames") / fmt::format("{}_{:05}{}", geometry.series, frame.frame,
                                                             geometry_extension(geometry.kind));
      const std::string bytes = m_encoder.encode(geometry, frame.time);
      write_file_atomically(m_directory / file, bytes);
      written.push_back({frame.frame, frame.time, geometry.series, file, bytes.size(), checksum(bytes)});
      series.collection.add(frame.time, file);
      changed.push_back(&series);
    }
    m_manifest->append(written);
    for (const ManifestEntry& entry : written) m_unsynced.push_back(m_directory / entry.file);
    for (const Series* series : changed) series->collection.save();
  }

  Series& series_named(const std::string& name) {
    auto found = m_series.find(name);
    if (found == m_series.end()) {
      found = m_series.emplace(name, Series{PvdFile(m_directory / (name + ".pvd")), {}}).first;
    }
    return found->second;
  }

  static void remember_arrays(Series& series, const Geometry& geometry) {
    for (const FieldArray& array : geometry.arrays) {
      const bool known = std::any_of(
          series.known_arrays.begin(), series.known_arrays.end(),
          [&](const FieldArray& other) { return other.name == array.name && other.on == array.on; });
      if (!known) series.known_arrays.push_back({array.name, array.on, array.components, array.integer, {}});
    }
  }

  static void fill_missing_arrays(Series& series, Geometry& geometry) {
    for (const FieldArray& known : series.known_arrays) {
      const bool present = std::any_of(
          geometry.arrays.begin(), geometry.arrays.end(),
          [&](const FieldArray& other) { return other.name == known.name && other.on == known.on; });
      if (present) continue;
      const std::size_t count = known.on == Association::point
                                    ? static_cast<std::size_t>(geometry.points.rows())
                                    : cell_count(geometry);
      geometry.arrays.push_back(known);
      geometry.arrays.back().values.assign(count * static_cast<std::size_t>(known.components), 0.0);
    }
    remember_arrays(series, geometry);
  }

  const fs::path m_directory;
  std::map<std::string, Series> m_series;    // used by the thread only, while it is busy
  std::unique_ptr<ManifestFile> m_manifest;  // likewise
  std::vector<fs::path> m_unsynced;          // likewise
  GeometryEncoder m_encoder;                 // likewise

  mutable std::mutex m_mutex;  // guards what follows
  std::condition_variable m_changed;
  std::deque<Job> m_queue;
  std::exception_ptr m_error;
  bool m_busy = false;
  bool m_finishing = false;
  int m_last_frame = -1;
  int m_last_written;
  double m_busy_seconds = 0;
  std::thread m_thread;
};

FrameWriter::FrameWriter(const fs::path& directory, int first_frame)
    : m_implementation(std::make_unique<Implementation>(directory, first_frame)) {}

FrameWriter::~FrameWriter() = default;

void FrameWriter::write(int frame, double time, std::vector<Geometry> geometries) {
  m_implementation->push({frame, time, std::move(geometries), {}});
}

void FrameWriter::flush() {
  m_implementation->wait_until_empty();
}

void FrameWriter::close() {
  m_implementation->finish();
  m_implementation->wait_until_empty();
}

void FrameWriter::after_sync(std::function<void()> task) {
  m_implementation->push({0, 0, {}, std::move(task)});
}

int FrameWriter::last_written() const {
  return m_implementation->last_written();
}

void repair_collections(const fs::path& directory) {
  std::map<std::string, PvdFile> collections;
  for (const ManifestEntry& entry : read_manifest(directory)) {
    const fs::path path = directory / (entry.series + ".pvd");
    collections.try_emplace(entry.series, path).first->second.add(entry.time, entry.file);
  }
  for (const auto& [series, collection] : collections) {
    if (file_bytes(collection.path()) != collection.text()) collection.save();
  }
  std::error_code ignored;
  for (const fs::path& file : left_overs(directory)) fs::remove(file, ignored);
}

std::set<std::string> series_in(const fs::path& directory) {
  std::set<std::string> series;
  for (const ManifestEntry& entry : read_manifest(directory)) series.insert(entry.series);
  return series;
}

std::vector<fs::path> frame_files(const fs::path& directory, int first_frame) {
  std::vector<fs::path> files;
  int next = 0;  // a writer may be killed before the manifest names what it wrote
  for (const ManifestEntry& entry : read_manifest(directory)) {
    if (!is_name_of(entry)) continue;
    next = std::max(next, entry.frame + 1);
    if (entry.frame >= first_frame) files.push_back(directory / entry.file);
  }
  for (const fs::path& file : sorted_files(directory / "frames")) {
    const std::optional<FrameName> name = parse_frame_name(file);
    if (name && name->frame == next && next >= first_frame) files.push_back(file);
  }
  const std::vector<fs::path> halves = left_overs(directory);
  files.insert(files.end(), halves.begin(), halves.end());
  return files;
}

std::vector<fs::path> files_of_series(const fs::path& directory, const std::string& series) {
  std::vector<fs::path> files;
  if (const fs::path pvd = directory / (series + ".pvd"); fs::exists(fs::symlink_status(pvd)))
    files.push_back(pvd);
  for (const fs::path& file : sorted_files(directory / "frames")) {
    const std::optional<FrameName> name = parse_frame_name(file);
    if (name && name->series == series) files.push_back(file);
  }
  return files;
}

double FrameWriter::busy_seconds() const {
  return m_implementation->busy_seconds();
}

}  // namespace exemplar
