#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "query/commands.h"
#include "query/completion.h"

namespace memoir::query {
namespace {

// Those that each command takes, besides its own.
constexpr std::string_view kEverywhere = "--help --version";

std::string names_of(const Command& command) {
  std::string names;
  for (const Option option : options_of(command)) names += fmt::format("{} ", option_text(option).name);
  return names + std::string(kEverywhere);
}

bool differs_by_command(Option option) {
  return option == Option::by || option == Option::group || option == Option::format;
}

// An option's words for bash, where the categories are a command.
std::string bash_words(std::vector<std::string> words) {
  const auto category = std::find(words.begin(), words.end(), kCategoryNames);
  const bool categories = category != words.end();
  if (categories) words.erase(category);
  return fmt::format("words=\"{}\"{}", fmt::join(words, " "), categories ? " names=category" : "");
}

}  // namespace

std::string bash_completion() {
  std::string out =
      "# bash completion for memoir(1), as `memoir completion bash` prints it\n\n"
      "_memoir_categories() {\n"
      "  memoir categories --limit 0 --format csv 2>/dev/null | sed -e 1d -e 's/.*,//'\n"
      "}\n\n"
      "_memoir() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= word words= names=\n"
      "  # --by=rss comes as three words\n"
      "  if [[ $current == \"=\" ]]; then\n"
      "    current=\n"
      "  elif [[ $previous == \"=\" ]]; then\n"
      "    previous=${COMP_WORDS[COMP_CWORD-2]}\n"
      "  fi\n"
      "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n";
  out += fmt::format("    case $word in\n      {}) command=$word; break ;;\n    esac\n  done\n",
                     fmt::join(command_names(), "|"));
  out += "  case \"$command $previous\" in\n";
  for (const OptionText& text : option_texts()) {
    if (text.value.empty()) continue;
    if (is_file(text.option)) {
      out += fmt::format(
          "    *\" {}\") compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$current\"); return ;;\n",
          text.name);
      continue;
    }
    if (!differs_by_command(text.option)) {
      out += fmt::format("    *\" {}\") {}{} ;;\n", text.name, bash_words(words_for(text.option, commands().front())),
                         text.option == Option::filter ? "; compopt -o nospace" : "");
      continue;
    }
    for (const Command& command : commands()) {
      const std::vector<std::string> words = words_for(text.option, command);
      if (words.empty()) continue;
      out += fmt::format("    \"{} {}\") {} ;;\n", command.name, text.name, bash_words(words));
    }
  }
  out += "    *\" category\") names=category ;;\n    *)\n      case \"$command $current\" in\n";
  out += fmt::format("        \" -\"*) words=\"{}\" ;;\n", names_of(*find_command(kDefaultCommand)));
  out += fmt::format("        \" \"*) words=\"{}\" ;;\n", fmt::join(command_names(), " "));
  for (const Command& command : commands()) {
    out += fmt::format("        \"{} -\"*) words=\"{}\" ;;\n", command.name, names_of(command));
    out += fmt::format("        \"{} \"*) {} ;;\n", command.name,
                       command.subject_words.empty() ? fmt::format("words=\"{}\"", names_of(command))
                                                     : bash_words(command.subject_words));
  }
  out += fmt::format("        \"help \"*) words=\"{}\" ;;\n", fmt::join(command_names(), " "));
  out +=
      "      esac\n"
      "      ;;\n"
      "  esac\n"
      "  [[ -n $names ]] && words+=\" $(_memoir_categories)\"\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
      "}\n\n"
      "complete -F _memoir memoir\n";
  return out;
}

}  // namespace memoir::query
