#include "query/completion.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "base/text.h"
#include "query/commands.h"
#include "query/events.h"
#include "query/filter.h"
#include "query/shell_text.h"

namespace memoir::query {
namespace {

const std::vector<std::string>& shells() {
  static const std::vector<std::string> names{"bash", "zsh", "fish"};
  return names;
}

std::vector<std::string> filter_words() {
  std::vector<std::string> words;
  for (const std::string& key : filter_keys()) words.push_back(key + "=");
  return words;
}

// Those that each command takes, besides its own.
constexpr std::string_view kEverywhere = "--help --version";

std::string names_of(const Command& command) {
  std::string names;
  for (const Option option : options_of(command)) names += fmt::format("{} ", option_text(option).name);
  return names + std::string(kEverywhere);
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : commands()) names.push_back(command.name);
  names.emplace_back("help");
  return names;
}

bool is_file(Option option) {
  return option_text(option).value == "F" || option_text(option).value == "DIR";
}

bool differs_by_command(Option option) {
  return option == Option::by || option == Option::group || option == Option::format;
}

Result<std::string> run(const Options& options) {
  if (options.subjects.empty()) {
    return malformed(fmt::format("which shell? memoir completion {}", fmt::join(shells(), "|")));
  }
  const std::string& shell = options.subjects.front();
  if (shell == "bash") return bash_completion();
  if (shell == "zsh") return zsh_completion();
  if (shell == "fish") return fish_completion();
  return malformed(fmt::format("'{}' is not one of {}{}", to_printable(to_utf8(shell)), fmt::join(shells(), ", "),
                               did_you_mean(shell, shells())));
}

// An option's words for bash, where the categories are a command.
std::string bash_words(std::vector<std::string> words) {
  const auto category = std::find(words.begin(), words.end(), kCategoryNames);
  const bool categories = category != words.end();
  if (categories) words.erase(category);
  return fmt::format("words=\"{}\"{}", fmt::join(words, " "), categories ? " names=category" : "");
}

// What zsh takes for a part of a specification is escaped.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_action(std::vector<std::string> words) {
  const auto category = std::find(words.begin(), words.end(), kCategoryNames);
  if (category == words.end()) return fmt::format("({})", fmt::join(words, " "));
  words.erase(category);
  return fmt::format("{{_alternative 'words:word:({})' 'categories:category:_memoir_categories'}}",
                     fmt::join(words, " "));
}

std::string zsh_option(Option option, const Command& command) {
  const OptionText& text = option_text(option);
  std::string spec = fmt::format("{}[{}]", text.name, zsh_text(text.help));
  if (option == Option::filter || option == Option::kind) spec = "*" + spec;
  if (!text.value.empty()) {
    const std::vector<std::string> words = words_for(option, command);
    const std::string action = is_file(option) ? "_files" : words.empty() ? " " : zsh_action(words);
    spec += fmt::format(":{}:{}", text.value, option == Option::filter ? "_memoir_filter" : action);
  }
  return in_single_quotes(spec);
}

std::string fish_words(std::vector<std::string> words) {
  const auto category = std::find(words.begin(), words.end(), kCategoryNames);
  if (category != words.end()) *category = "(__memoir_categories)";
  return fmt::format("\"{}\"", fmt::join(words, " "));
}

std::string fish_option(Option option, const std::string& condition, const Command& command) {
  const OptionText& text = option_text(option);
  std::string line = fmt::format("complete -c memoir -n {} -l {}", in_single_quotes(condition), text.name.substr(2));
  if (is_file(option)) {
    line += " -r -F";
  } else if (option == Option::filter) {
    line += " -x -a \"" + fmt::format("{}", fmt::join(filter_words(), " ")) + " (__memoir_categories category=)\"";
  } else if (!text.value.empty()) {
    const std::vector<std::string> words = words_for(option, command);
    line += words.empty() ? " -x" : " -x -a " + fish_words(words);
  }
  return line + " -d " + in_single_quotes(text.help) + "\n";
}

}  // namespace

std::vector<std::string> words_for(Option option, const Command& command) {
  switch (option) {
    case Option::at:
    case Option::from:
    case Option::to:
    case Option::day:
      return {"now",       "today",    "yesterday", "monday",   "tuesday",
              "wednesday", "thursday", "friday",    "saturday", "sunday"};
    case Option::last:
      return {"10m", "1h", "2h", "1d", "7d"};
    case Option::write_missing:
      return {};
    case Option::step:
      return {"1m", "5m", "1h", "1d"};
    case Option::limit:
      return {"0", "20", "50", "100"};
    case Option::by:
      return command.by;
    case Option::group:
      return command.groups;
    case Option::format:
      return command.formats;
    case Option::units:
      return {"kib", "mib", "auto"};
    case Option::kind:
      return event_kinds();
    case Option::filter:
      return filter_words();
    default:
      return {};
  }
}

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

std::string zsh_completion() {
  std::string out =
      "#compdef memoir\n"
      "# zsh completion for memoir(1), as `memoir completion zsh` prints it\n\n"
      "_memoir_categories() {\n"
      "  local -a names\n"
      "  names=(${(f)\"$(memoir categories --limit 0 --format csv 2>/dev/null | sed -e 1d -e 's/.*,//')\"})\n"
      "  compadd -a names\n"
      "}\n\n"
      "_memoir_filter() {\n"
      "  if compset -P 'category='; then\n"
      "    _memoir_categories\n"
      "  else\n";
  out += fmt::format("    compadd -S '' {}\n  fi\n}}\n\n_memoir() {{\n  local -a commands options\n  commands=(\n",
                     fmt::join(filter_words(), " "));
  for (const Command& command : commands()) {
    out += fmt::format("    {}\n", in_single_quotes(command.name + ":" + command.summary));
  }
  out +=
      "  )\n"
      "  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  case $words[2] in\n"
      "    help) _describe command commands; return ;;\n";
  for (const Command& command : commands()) {
    out += fmt::format("    {})\n      options=(\n", command.name);
    for (const Option option : options_of(command)) out += fmt::format("        {}\n", zsh_option(option, command));
    for (std::size_t i = 0; i < command.most_subjects && !command.subject_words.empty(); ++i) {
      out += fmt::format("        {}\n",
                         in_single_quotes(fmt::format("{}::subject:{}", i + 1, zsh_action(command.subject_words))));
    }
    out += "      )\n      ;;\n";
  }
  out +=
      "  esac\n"
      "  options+=('--help[options and examples]' '--version[the version]')\n"
      "  (( CURRENT > 2 )) && shift words && (( CURRENT-- ))\n"
      "  _arguments $options\n"
      "}\n\n"
      "_memoir \"$@\"\n";
  return out;
}

std::string fish_completion() {
  std::string out =
      "# fish completion for memoir(1), as `memoir completion fish` prints it\n\n"
      "function __memoir_categories\n"
      "    memoir categories --limit 0 --format csv 2>/dev/null | sed -e 1d -e 's/.*,//' -e \"s/^/$argv[1]/\"\n"
      "end\n\n";
  out += fmt::format("set -l commands {}\n\ncomplete -c memoir -f\n", fmt::join(command_names(), " "));
  for (const Command& command : commands()) {
    out += fmt::format("complete -c memoir -n \"not __fish_seen_subcommand_from $commands\" -a {} -d {}\n",
                       command.name, in_single_quotes(command.summary));
  }
  out += fmt::format("complete -c memoir -n '__fish_seen_subcommand_from help' -a \"{}\"\n",
                     fmt::join(command_names(), " "));
  out += "complete -c memoir -l help -d 'Options and examples'\ncomplete -c memoir -l version -d 'The version'\n";
  for (const Command& command : commands()) {
    const std::string condition = "__fish_seen_subcommand_from " + command.name;
    out += "\n";
    if (!command.subject_words.empty()) {
      out += fmt::format("complete -c memoir -n {} -a {}\n", in_single_quotes(condition),
                         fish_words(command.subject_words));
    }
    for (const Option option : options_of(command)) out += fish_option(option, condition, command);
  }
  return out;
}

Command completion_command() {
  Command command;
  command.name = "completion";
  command.summary = "the completion script of a shell";
  command.subject = "SHELL";
  command.subject_help = "SHELL: bash, zsh or fish";
  command.subject_words = shells();
  command.examples = {{"memoir completion bash > ~/.local/share/bash-completion/completions/memoir", "for one user"},
                      {"memoir completion fish > ~/.config/fish/completions/memoir.fish", "for one user of fish"}};
  command.print = run;
  return command;
}

}  // namespace memoir::query
