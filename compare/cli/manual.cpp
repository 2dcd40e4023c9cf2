#include "compare/cli/manual.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace exemplar {

namespace {

std::string option_names(const CLI::App& app) {
  std::string names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names += (names.empty() ? "--" : " --") + name;
    for (const std::string& name : option->get_fnames()) {
      if (names.find("--" + name) == std::string::npos) names += (names.empty() ? "--" : " --") + name;
    }
  }
  return names;
}

// A line of troff: a backslash or a dot in front would be a request.
std::string troff(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = i == 0 || text[i - 1] == '\n';
    if (begins && (text[i] == '.' || text[i] == '\'')) out += "\\&";
    if (text[i] == '\\' || text[i] == '-') out += '\\';
    out += text[i];
  }
  return out;
}

std::string option_text(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_description().empty()) continue;
    const std::string shown =
        option->get_positional() ? option->get_name(true) : option->get_name(false, true);
    text += fmt::format(".TP\n.B {}\n{}\n", troff(shown), troff(option->get_description()));
  }
  return text;
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::string commands, cases;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    commands += (commands.empty() ? "" : " ") + command->get_name();
    cases += fmt::format("    {}) options=\"{} --quiet\" ;;\n", command->get_name(), option_names(*command));
  }
  return fmt::format(
      "_exemplar() {{\n"
      "  local word=\"${{COMP_WORDS[COMP_CWORD]}}\" before=\"${{COMP_WORDS[COMP_CWORD-1]}}\" command=\"\" "
      "options=\"\" i\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    [[ ${{COMP_WORDS[i]}} != -* ]] && {{ command=\"${{COMP_WORDS[i]}}\"; break; }}\n"
      "  done\n"
      "  case \"$before\" in\n"
      "    -m|--method|--methods) COMPREPLY=($(compgen -W \"$(exemplar list methods --json 2>/dev/null | "
      "sed -n 's/.*\"name\": \"\\([^\"]*\\)\".*/\\1/p')\" -- \"$word\")); return ;;\n"
      "  esac\n"
      "  case \"$command\" in\n{}"
      "    *) options=\"{} --help --version --quiet\" ;;\n"
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
      "  [[ $word != -* && -n $command ]] && COMPREPLY+=($(compgen -f -- \"$word\"))\n"
      "}}\n"
      "complete -o filenames -F _exemplar exemplar\n",
      cases, commands);
}

std::string manual_page(const CLI::App& app, const std::string& version) {
  std::string text = fmt::format(
      ".TH EXEMPLAR 1 \"\" \"Exemplar {}\"\n.SH NAME\nexemplar \\- {}\n.SH SYNOPSIS\n.B exemplar\n"
      ".I COMMAND\n[options]\n.SH COMMANDS\n",
      troff(version), troff(app.get_description()));
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    text += fmt::format(".SS {}\n{}\n{}", troff(command->get_name()), troff(command->get_description()),
                        option_text(*command));
    if (!command->get_footer().empty())
      text += fmt::format(".PP\n.nf\n{}\n.fi\n", troff(command->get_footer()));
  }
  text +=
      ".SH EXIT STATUS\n0 done, 1 a check failed, 2 the input or the call is wrong, 3 a simulation could not "
      "go on, "
      "70 a defect of the program, 130 interrupted.\n"
      ".SH ENVIRONMENT\n.B EXEMPLAR_CACHE\nwhere volumes and rigs are kept (off: nowhere);\n.B "
      "EXEMPLAR_DATA\nthe folder of "
      "scenes and studies;\n.B NO_COLOR\nno colours.\n";
  return text;
}

}  // namespace exemplar
