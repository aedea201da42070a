#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "query/commands/completion/completion.h"
#include "query/render/shell_text.h"

namespace memoir::query {
namespace {

// Escapes the special characters of zsh's completion specifications.
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

std::string zsh_option(Option option, const std::string& name, const Command& command) {
  const OptionText& text = option_text(option);
  std::string spec = fmt::format("{}[{}]", name, zsh_text(text.help));
  if (option == Option::filter || option == Option::kind) spec = "*" + spec;
  if (!text.value.empty()) {
    const std::vector<std::string> words = words_for(option, command);
    const std::string action = is_file(option) ? "_files" : words.empty() ? " " : zsh_action(words);
    spec += fmt::format(":{}:{}", text.value, option == Option::filter ? "_memoir_filter" : action);
  }
  return in_single_quotes(spec);
}

}  // namespace

std::string zsh_completion(const std::vector<Command>& commands) {
  std::string out =
      "#compdef memoir\n"
      "# zsh completion for memoir(1), as `memoir completion zsh` prints it\n\n"
      "_memoir_categories() {\n"
      "  local -a names\n"
      "  # Names come from the file: compadd quotes them, and nothing expands them.\n";
  out += fmt::format("  names=(${{(f)\"$({})\"}})\n", kPrintCategories);
  out +=
      "  compadd -a names\n"
      "}\n\n"
      "_memoir_filter() {\n"
      "  if compset -P 'category='; then\n"
      "    _memoir_categories\n"
      "  else\n";
  out += fmt::format("    compadd -S '' {}\n  fi\n}}\n\n_memoir() {{\n  local -a commands options\n  commands=(\n",
                     fmt::join(filter_words(), " "));
  for (const Command& command : commands) {
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
  for (const Command& command : commands) {
    out += fmt::format("    {})\n      options=(\n", command.name);
    for (const Option option : options_of(command)) {
      for (const std::string& name : spellings_for(option))
        out += fmt::format("        {}\n", zsh_option(option, name, command));
    }
    for (const std::string& form : short_forms(command))
      out += fmt::format("        '{}[short for --format {}]'\n", form, form.substr(2));
    for (std::size_t i = 0; i < command.max_subjects && !command.subject_words.empty(); ++i) {
      out += fmt::format("        {}\n",
                         in_single_quotes(fmt::format("{}::subject:{}", i + 1, zsh_action(command.subject_words))));
    }
    out += "      )\n      ;;\n";
  }
  out +=
      "  esac\n"
      "  options+=({--help,-h}'[options and examples]' {--version,-V}'[the version]')\n"
      "  (( CURRENT > 2 )) && shift words && (( CURRENT-- ))\n"
      "  _arguments $options\n"
      "}\n\n"
      "_memoir \"$@\"\n";
  return out;
}

}  // namespace memoir::query
