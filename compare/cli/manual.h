// Shell completion and the manual page, made from the same descriptions as --help.
#pragma once

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace exemplar {

// A script for bash (`source <(exemplar completion)`): commands, options, the choices of options, files.
std::string bash_completion(const CLI::App& app);
// exemplar.1 as troff source.
std::string manual_page(const CLI::App& app, const std::string& version);

}  // namespace exemplar
