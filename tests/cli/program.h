// Runs the real program in a temporary folder and reads what it said.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace exemplar::testing {

struct Outcome {
  int exit_code = -1;
  std::string output;  // standard output
  std::string errors;  // standard error
};

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

// A shell command, as a user types it; EXEMPLAR is replaced by the program.
class ProgramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    m_folder = std::filesystem::temp_directory_path() /
               ("exemplar-cli-" + std::to_string(::getpid()) + "-" + test->name());
    std::filesystem::remove_all(m_folder);
    std::filesystem::create_directories(m_folder);
  }
  void TearDown() override { std::filesystem::remove_all(m_folder); }

  Outcome run(std::string command) const {
    for (std::size_t at; (at = command.find("EXEMPLAR ")) != std::string::npos;)
      command.replace(at, 8, EXEMPLAR_PROGRAM);
    const std::string whole =
        "cd '" + m_folder.string() + "' && { " + command + "; } > stdout.txt 2> stderr.txt";
    const int status = std::system(whole.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
            read_text(m_folder / "stdout.txt"), read_text(m_folder / "stderr.txt")};
  }
  static bool available(const std::string& program) {
    return std::system(("command -v " + program + " > /dev/null 2>&1").c_str()) == 0;
  }

  std::filesystem::path m_folder;
};

}  // namespace exemplar::testing
