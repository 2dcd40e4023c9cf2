// How a text stands in what other programs execute: one function each. Everything that comes from a scene, a study or the
// command line goes through them.
#pragma once

#include <string>
#include <vector>

namespace exemplar {

// As a POSIX shell needs it written. A line of several words: a command.
std::string shell_quoted(const std::string& word);
std::string shell_line(const std::vector<std::string>& command);

// A path that a program cannot take for an option.
std::string as_operand(const std::string& path);

// A Python string literal in ASCII. Bytes that are no UTF-8 become what Python itself makes of them in a path
// (surrogateescape, PEP 383).
std::string python_string(const std::string& text);

// The same for the shell command of a Snakemake rule, which takes braces for names of its own.
std::string snakemake_command(const std::string& shell);

}  // namespace exemplar
