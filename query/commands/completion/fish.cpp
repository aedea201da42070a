#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "query/commands/completion/completion.h"
#include "query/render/shell_text.h"

namespace memoir::query {
namespace {

std::string fish_words(std::vector<std::string> words) {
  const auto category = std::find(words.begin(), words.end(), kCategoryNames);
  if (category != words.end()) *category = "(__memoir_categories)";
  return fmt::format("\"{}\"", fmt::join(words, " "));
}

std::string fish_option(Option option, const std::string& condition, const Command& command) {
  const OptionText& text = option_text(option);
  std::string line = fmt::format("complete -c memoir -n {}", in_single_quotes(condition));
  for (const std::string& name : spellings_for(option)) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
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

std::string fish_completion(const std::vector<Command>& commands) {
  std::string out =
      "# fish completion for memoir(1), as `memoir completion fish` prints it\n\n"
      "function __memoir_categories\n"
      "    for name in (";
  out += kPrintCategories;
  out +=
      ")\n"
      "        printf '%s%s\\n' \"$argv[1]\" \"$name\"\n"
      "    end\n"
      "end\n\n";
  out += fmt::format("set -l commands {}\n\ncomplete -c memoir -f\n", fmt::join(command_names(commands), " "));
  for (const Command& command : commands) {
    out += fmt::format("complete -c memoir -n \"not __fish_seen_subcommand_from $commands\" -a {} -d {}\n",
                       command.name, in_single_quotes(command.summary));
  }
  out += fmt::format("complete -c memoir -n '__fish_seen_subcommand_from help' -a \"{}\"\n",
                     fmt::join(command_names(commands), " "));
  out +=
      "complete -c memoir -l help -s h -d 'Options and examples'\n"
      "complete -c memoir -l version -s V -d 'The version'\n";
  for (const Command& command : commands) {
    const std::string condition = "__fish_seen_subcommand_from " + command.name;
    out += "\n";
    if (!command.subject_words.empty()) {
      out += fmt::format("complete -c memoir -n {} -a {}\n", in_single_quotes(condition),
                         fish_words(command.subject_words));
    }
    for (const Option option : options_of(command)) out += fish_option(option, condition, command);
    for (const std::string& form : short_forms(command)) {
      out += fmt::format("complete -c memoir -n {} -l {} -d 'Short for --format {}'\n", in_single_quotes(condition),
                         form.substr(2), form.substr(2));
    }
  }
  return out;
}

}  // namespace memoir::query
