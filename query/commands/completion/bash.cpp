#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "query/commands/completion/completion.h"

namespace memoir::query {
namespace {

// Options that every command has.
constexpr std::string_view kEverywhere = "--help -h --version -V";

std::string names_of(const Command& command) {
  std::string names;
  for (const Option option : options_of(command)) names += fmt::format("{} ", fmt::join(spellings_for(option), " "));
  for (const std::string& form : short_forms(command)) names += form + " ";
  return names + std::string(kEverywhere);
}

// Returns case patterns for an option: "top --from"|"top --since" for one command, *" --from" for all commands.
std::string patterns(Option option, std::string_view command) {
  std::vector<std::string> all;
  for (const std::string& name : spellings_for(option)) {
    all.push_back(command.empty() ? fmt::format("*\" {}\"", name) : fmt::format("\"{} {}\"", command, name));
  }
  return fmt::format("{}", fmt::join(all, "|"));
}

bool differs_by_command(Option option) {
  return option == Option::by || option == Option::kind || option == Option::group || option == Option::format;
}

// Returns shell code that sets the words of an option. Names of categories come from a command.
std::string bash_words(std::vector<std::string> words) {
  const auto category = std::find(words.begin(), words.end(), kCategoryNames);
  const bool categories = category != words.end();
  if (categories) words.erase(category);
  return fmt::format("words=\"{}\"{}", fmt::join(words, " "), categories ? " names=category" : "");
}

// Completes the value of an option.
std::string bash_case(Option option, const std::vector<Command>& commands) {
  if (is_file(option)) {
    return fmt::format(
        "    {}) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$current\"); return ;;\n",
        patterns(option, ""));
  }
  if (!differs_by_command(option)) {
    return fmt::format("    {}) {}{} ;;\n", patterns(option, ""), bash_words(words_for(option, commands.front())),
                       option == Option::filter ? "; compopt -o nospace" : "");
  }
  std::string out;
  for (const Command& command : commands) {
    const std::vector<std::string> words = words_for(option, command);
    if (words.empty()) continue;
    out += fmt::format("    {}) {} ;;\n", patterns(option, command.name), bash_words(words));
  }
  return out;
}

// Returns the command that runs if none is given.
const Command& default_of(const std::vector<Command>& commands) {
  return *std::ranges::find(commands, kDefaultCommand, &Command::name);
}

}  // namespace

std::string bash_completion(const std::vector<Command>& commands) {
  std::string out =
      "# bash completion for memoir(1), as `memoir completion bash` prints it\n\n"
      "_memoir_categories() {\n";
  out += fmt::format("  {}\n}}\n\n", kPrintCategories);
  out +=
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
                     fmt::join(command_names(commands), "|"));
  out += "  case \"$command $previous\" in\n";
  for (const OptionText& text : option_texts()) {
    if (!text.value.empty()) out += bash_case(text.option, commands);
  }
  out += "    *\" category\") names=category ;;\n    *)\n      case \"$command $current\" in\n";
  out += fmt::format("        \" -\"*) words=\"{}\" ;;\n", names_of(default_of(commands)));
  out += fmt::format("        \" \"*) words=\"{}\" ;;\n", fmt::join(command_names(commands), " "));
  for (const Command& command : commands) {
    out += fmt::format("        \"{} -\"*) words=\"{}\" ;;\n", command.name, names_of(command));
    out += fmt::format("        \"{} \"*) {} ;;\n", command.name,
                       command.subject_words.empty() ? fmt::format("words=\"{}\"", names_of(command))
                                                     : bash_words(command.subject_words));
  }
  out += fmt::format("        \"help \"*) words=\"{}\" ;;\n", fmt::join(command_names(commands), " "));
  return out +
         "      esac\n"
         "      ;;\n"
         "  esac\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
         "  [[ -n $names ]] || return\n"
         "  # Names come from the file: they are quoted, and nothing expands them.\n"
         "  while IFS= read -r word; do\n"
         "    printf -v word %q \"$word\"\n"
         "    [[ $word == \"$current\"* ]] && COMPREPLY+=(\"$word\")\n"
         "  done < <(_memoir_categories)\n"
         "}\n\n"
         "complete -F _memoir memoir\n";
}

}  // namespace memoir::query
