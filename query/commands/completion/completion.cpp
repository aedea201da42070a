#include "query/commands/completion/completion.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

#include "base/nearest.h"
#include "base/text.h"
#include "query/args/filter.h"
#include "query/args/times.h"
#include "query/history/event_table.h"
#include "query/history/tier.h"

namespace memoir::query {
namespace {

const std::vector<std::string>& shells() {
  static const std::vector<std::string> names{"bash", "zsh", "fish"};
  return names;
}

Result<std::string> print_completion(const Options& options, const std::vector<Command>& commands) {
  if (options.subjects.empty()) {
    return malformed(fmt::format("which shell? memoir completion {}", fmt::join(shells(), "|")));
  }
  const std::string& shell = options.subjects.front();
  if (shell == "bash") return bash_completion(commands);
  if (shell == "zsh") return zsh_completion(commands);
  if (shell == "fish") return fish_completion(commands);
  return malformed(fmt::format("'{}' is not one of {}{}", to_printable(shell), fmt::join(shells(), ", "),
                               did_you_mean(shell, shells())));
}

}  // namespace

std::vector<std::string> filter_words() {
  return transformed(filter_keys(), [](const std::string& key) { return key + "="; });
}

std::vector<std::string> command_names(const std::vector<Command>& commands) {
  std::vector<std::string> names = transformed(commands, &Command::name);
  names.emplace_back("help");
  return names;
}

bool is_file(Option option) {
  const std::string_view value = option_text(option).value;
  return value == "F" || value == "FILE" || value == "DIR";
}

std::vector<std::string> spellings_for(Option option) {
  const std::string_view name = option_text(option).name;
  std::vector<std::string> all{std::string(name)};
  for (const std::string_view written : spellings_of(name)) all.emplace_back(written);
  return all;
}

std::vector<std::string> short_forms(const Command& command) {
  std::vector<std::string> forms;
  for (const OptionAlias& spelling : option_aliases()) {
    constexpr std::string_view format = "--format=";
    if (command.print || !spelling.means.starts_with(format)) continue;
    const bool own = std::ranges::any_of(
        command.options, [&spelling](Option option) { return option_text(option).name == spelling.written; });
    const std::string_view choice = spelling.means.substr(format.size());
    if (!own && std::ranges::find(command.formats, choice) != command.formats.end())
      forms.emplace_back(spelling.written);
  }
  return forms;
}

std::vector<std::string> words_for(Option option, const Command& command) {
  static const std::map<Option, std::vector<std::string>> words{
      {Option::at, time_words()},       {Option::from, time_words()},
      {Option::to, time_words()},       {Option::day, time_words()},
      {Option::tier, tier_names()},     {Option::last, {"10m", "1h", "2h", "1d", "1w"}},
      {Option::kind, event_kinds()},    {Option::step, {"1m", "5m", "1h", "1d"}},
      {Option::filter, filter_words()}, {Option::limit, {"0", "20", "50", "100"}},
      {Option::units, unit_names()},
  };
  if (option == Option::by) return command.by;
  if (option == Option::group) return command.groups;
  if (option == Option::format) return command.formats;
  if (option == Option::kind && !command.kinds.empty()) return command.kinds;
  const auto found = words.find(option);
  return found == words.end() ? std::vector<std::string>() : found->second;
}

Command completion_command() {
  return {.name = "completion",
          .summary = "shell completion script",
          .subject = "SHELL",
          .examples = {{"memoir completion bash > ~/.local/share/bash-completion/completions/memoir", "for one user"},
                       {"memoir completion fish > ~/.config/fish/completions/memoir.fish", "for one user of fish"}},
          .subject_help = "SHELL: bash, zsh or fish",
          .print = print_completion,
          .subject_words = shells()};
}

}  // namespace memoir::query
