// ParaView collections (.pvd): which file shows which moment. Times in seconds.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace exemplar {

struct PvdEntry {
  double time = 0;             // s
  std::filesystem::path file;  // relative to the folder of the collection, or absolute
};

// Every entry of a collection, in the order of the file, with `file` resolved against the collection's
// folder. Throws InputError when it is missing or not a collection.
std::vector<PvdEntry> read_pvd(const std::filesystem::path& path);

// A collection that grows: complete and valid on disk after every save().
class PvdFile {
 public:
  explicit PvdFile(std::filesystem::path path) : m_path(std::move(path)) {}

  // `file` relative to the collection's folder; it must exist before save() lists it.
  void add(double time, const std::filesystem::path& file) { m_entries.push_back({time, file}); }
  void save() const;  // throws OutputError
  std::string text() const;

  const std::filesystem::path& path() const { return m_path; }
  const std::vector<PvdEntry>& entries() const { return m_entries; }
  void set_entries(std::vector<PvdEntry> entries) { m_entries = std::move(entries); }

 private:
  std::filesystem::path m_path;
  std::vector<PvdEntry> m_entries;
};

// & < > " as XML entities.
std::string escape_xml(const std::string& text);

}  // namespace exemplar
