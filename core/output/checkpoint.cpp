#include "core/output/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "core/base/checksum.h"
#include "core/base/errors.h"

// File: magic, then method, content key, time, frame, number of arrays, (name, bytes) each, number of notes, (severity,
// text) each, where older files end before; then the checksum of all before it. Strings and arrays are preceded by their length (64 bit). Little-endian, like every
// machine we run on.
namespace exemplar {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_magic = "exemplar checkpoint 1\n";

template <class T>
void put(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_block(std::string& out, const void* data, std::size_t size) {
  put(out, static_cast<std::uint64_t>(size));
  if (size > 0) out.append(static_cast<const char*>(data), size);
}

std::string encode(const Checkpoint& checkpoint) {
  std::string out(k_magic);
  put_block(out, checkpoint.method.data(), checkpoint.method.size());
  put_block(out, checkpoint.content_key.data(), checkpoint.content_key.size());
  put(out, checkpoint.time);
  put(out, static_cast<std::int64_t>(checkpoint.frame));
  put(out, static_cast<std::uint64_t>(checkpoint.arrays.size()));
  for (const auto& [name, bytes] : checkpoint.arrays) {
    put_block(out, name.data(), name.size());
    put_block(out, bytes.data(), bytes.size());
  }
  put(out, static_cast<std::uint64_t>(checkpoint.notes.size()));
  for (const Note& note : checkpoint.notes) {
    put(out, static_cast<std::uint8_t>(note.severity));
    put_block(out, note.text.data(), note.text.size());
  }
  put(out, checksum(out));
  return out;
}

class Decoder {
 public:
  Decoder(const fs::path& path, std::string_view bytes) : m_path(path), m_rest(bytes) {}

  std::string_view take(std::uint64_t size) {
    if (size > m_rest.size()) damaged("it ends too early");
    const std::string_view taken = m_rest.substr(0, size);
    m_rest.remove_prefix(size);
    return taken;
  }
  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view block() { return take(number<std::uint64_t>()); }
  bool at_end() const { return m_rest.empty(); }
  [[noreturn]] void damaged(const std::string& how) const {
    throw InputError(Problem{m_path.string(), {}, "the checkpoint is damaged: " + how});
  }

 private:
  fs::path m_path;
  std::string_view m_rest;
};

std::string read_whole_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw InputError(Problem{path.string(), {}, "the checkpoint cannot be read"});
  return bytes;
}

// (frame, file), earliest first.
std::vector<std::pair<int, fs::path>> list_checkpoints(const fs::path& directory) {
  std::vector<std::pair<int, fs::path>> found;
  std::error_code error;
  for (const auto& item : fs::directory_iterator(directory, error)) {
    const std::string name = item.path().filename().string();
    int frame = 0, length = 0;
    if (std::sscanf(name.c_str(), "checkpoint_%9d.bin%n", &frame, &length) == 1 &&
        length == static_cast<int>(name.size())) {
      found.emplace_back(frame, item.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

void save_checkpoint(const fs::path& directory, const Checkpoint& checkpoint) {
  make_writable_directory(directory);
  write_file_atomically(directory / fmt::format("checkpoint_{:05}.bin", checkpoint.frame), encode(checkpoint),
                        Durability::power_failure);
  const auto found = list_checkpoints(directory);
  const auto current = std::find_if(found.begin(), found.end(),
                                    [&](const auto& entry) { return entry.first == checkpoint.frame; });
  for (auto entry = found.begin(); entry != found.end(); ++entry) {
    std::error_code ignored;
    if (entry != current && entry + 1 != current) fs::remove(entry->second, ignored);
  }
}

Checkpoint read_checkpoint(const fs::path& path) {
  const std::string bytes = read_whole_file(path);
  const std::size_t body = bytes.size() - std::min(bytes.size(), sizeof(std::uint64_t));
  Decoder decoder(path, std::string_view(bytes).substr(0, body));
  if (decoder.take(k_magic.size()) != k_magic) decoder.damaged("it does not begin like one");
  std::uint64_t expected = 0;
  std::memcpy(&expected, bytes.data() + body, sizeof expected);
  if (checksum(std::string_view(bytes).substr(0, body)) != expected) decoder.damaged("its checksum is wrong");
  Checkpoint checkpoint;
  checkpoint.method = decoder.block();
  checkpoint.content_key = decoder.block();
  checkpoint.time = decoder.number<double>();
  checkpoint.frame = static_cast<int>(decoder.number<std::int64_t>());
  const auto count = decoder.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string name(decoder.block());
    const std::string_view data = decoder.block();
    checkpoint.arrays[name].assign(data.begin(), data.end());
  }
  const auto notes = decoder.at_end() ? 0 : decoder.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < notes; ++i) {
    const bool is_warning = decoder.number<std::uint8_t>() != 0;
    checkpoint.notes.push_back(
        {is_warning ? Severity::warning : Severity::note, std::string(decoder.block())});
  }
  return checkpoint;
}

LoadedCheckpoint load_latest_checkpoint(const fs::path& directory, int before) {
  LoadedCheckpoint loaded;
  auto found = list_checkpoints(directory);
  std::reverse(found.begin(), found.end());
  for (const auto& [frame, path] : found) {
    if (frame >= before) continue;
    try {
      loaded.checkpoint = read_checkpoint(path);
      return loaded;
    } catch (const InputError& error) {
      loaded.damaged.emplace_back(error.what());
    }
  }
  return loaded;
}

std::vector<fs::path> checkpoint_files(const fs::path& directory) {
  std::vector<fs::path> files;
  for (const auto& [frame, path] : list_checkpoints(directory)) files.push_back(path);
  return files;
}

void remove_checkpoints(const fs::path& directory) {
  for (const auto& [frame, path] : list_checkpoints(directory)) {
    std::error_code error;
    fs::remove(path, error);
    if (error) throw OutputError(path, error.message());
  }
}

}  // namespace exemplar
