#include "query/unknown_words.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/nearest.h"
#include "base/text.h"
#include "query/args/meant.h"
#include "query/commands.h"
#include "query/render/shell_text.h"
#include "query/report/format.h"

namespace memoir::query {

std::string in_quotes(std::string_view word) {
  return fmt::format("'{}'", to_printable(word));
}

bool takes_value(std::string_view argument) {
  const auto text = std::ranges::find(option_texts(), argument, &OptionText::name);
  return text != option_texts().end() && !text->value.empty();
}

namespace {

// Returns `means` with SUBJECT replaced by the first argument of the command line.
std::string with_subject(std::string_view means, const std::vector<std::string>& arguments) {
  constexpr std::string_view subject = "SUBJECT";
  std::string text(means);
  const std::size_t at = text.find(subject);
  if (at == std::string::npos) return text;
  const auto word = std::ranges::find_if(
      arguments, [](const std::string& of) { return !of.empty() && of.front() != '-' && subject_hint(of).empty(); });
  if (word != arguments.end()) return text.replace(at, subject.size(), shell_word(*word));
  // Without an argument, SUBJECT is removed: most commands have a default for it.
  return means == "memoir summary --day SUBJECT" ? "memoir summary" : text.erase(at - 1, subject.size() + 1);
}

// Suggests a command for an unknown word: the equivalent of another program's command, or a command that takes the word
// as a pid, a metric, a time or a name.
std::string command_for(const std::string& name, const std::vector<std::string>& arguments) {
  if (const auto meant = command_meant(name)) return "; use " + with_subject(*meant, arguments);
  const std::string word = shell_word(name);
  if (parse_number<std::int32_t>(name))
    return fmt::format("; use memoir process {}; memoir watch top repeats top at each tick", word);
  if (is_metric(name)) return fmt::format("; use memoir top --by {}", word);
  if (is_time(name)) return fmt::format("; use memoir incident --at {0} or memoir top --at {0}", word);
  std::vector<std::string> names;
  for (const Command& command : commands()) names.push_back(command.name);
  std::string near = did_you_mean(name, names);
  return near.empty() ? fmt::format("; for processes of that name use memoir top {}", word) : near;
}

}  // namespace

Error unknown_command(const std::string& name, const std::vector<std::string>& arguments) {
  return malformed(fmt::format("there is no command {} (memoir --help lists the commands){}", in_quotes(name),
                               command_for(name, arguments)));
}

namespace {

bool is_option(std::string_view name) {
  return std::ranges::find(option_texts(), name, &OptionText::name) != option_texts().end();
}

}  // namespace

std::optional<std::string> unknown_option(const std::vector<std::string>& arguments) {
  for (auto it = arguments.begin(); it != arguments.end(); ++it) {
    if (it->starts_with('-') && !is_option(std::string_view(*it).substr(0, it->find('=')))) return *it;
    if (takes_value(*it) && ++it == arguments.end()) break;
  }
  return std::nullopt;
}

namespace {

// Returns whether the command has the option. `name` starts with "--".
bool takes(const Command& command, std::string_view name) {
  return std::ranges::any_of(options_of(command), [name](Option option) { return option_text(option).name == name; });
}

// Returns the first few commands with an option: "; these take it: top, trend".
std::string commands_with(std::string_view name) {
  constexpr std::size_t most = 5;
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (takes(command, name)) names.push_back(command.name);
  }
  const bool more = names.size() > most;
  if (more) names.resize(most);
  return fmt::format("; these take it: {}{}", fmt::join(names, ", "), more ? ", …" : "");
}

// Returns the alternatives in `means`, with a command before each option that `command` lacks: "--at T" becomes "memoir
// top --at T".
std::string with_command(std::string_view means, const Command& command) {
  constexpr std::string_view separator = ", ";
  std::vector<std::string> words;
  for (std::size_t at = 0, end = 0; end != std::string_view::npos; at = end + separator.size()) {
    end = means.find(separator, at);
    const std::string_view word = means.substr(at, end == std::string_view::npos ? end : end - at);
    const std::string_view name = word.substr(0, word.find(' '));
    const auto found = std::ranges::find_if(commands(), [name](const Command& one) { return takes(one, name); });
    if (!name.starts_with('-') || takes(command, name) || found == commands().end()) {
      words.emplace_back(word);
    } else {
      const bool by_top = takes(*find_command("top"), name);
      words.push_back(fmt::format("memoir {} {}", by_top ? "top" : found->name, word));
    }
  }
  return fmt::format("{}", fmt::join(words, separator));
}

// Returns the equivalents of "-5", a number of rows as in head(1): options for rows, or for minutes.
std::optional<std::string> count_meant(std::string_view name) {
  const auto number = name.starts_with('-') ? parse_number<std::int32_t>(name.substr(1)) : std::nullopt;
  if (!number || *number <= 0) return std::nullopt;
  return fmt::format("--limit {0} (rows), --last {0}m (time)", *number);
}

}  // namespace

Error unknown_argument(const std::string& argument, const Command& command) {
  if (argument.empty() || argument.front() != '-') {
    const std::vector<Option> own = options_of(command);
    std::string hint;
    for (const Option time : {Option::day, Option::at, Option::from}) {
      if (hint.empty() && is_time(argument) && std::ranges::find(own, time) != own.end())
        hint = fmt::format("; use {} {}", option_text(time).name, shell_word(argument));
    }
    return malformed(fmt::format("'{}' does not take the argument {}{}", command.name, in_quotes(argument), hint));
  }
  const std::string name = argument.substr(0, argument.find('='));
  const std::optional<std::string_view> known = option_meant(name, command.name);
  const std::optional<std::string> meant = known ? std::optional(std::string(*known)) : count_meant(name);
  const std::string use = meant ? fmt::format("; use {}", with_command(*meant, command)) : std::string();
  if (is_option(name)) {
    const bool filters = name == "--filter" && command.subject.empty();
    const std::string others = command.name == "events"
                                   ? "; use memoir incidents SUBJECT or memoir exits SUBJECT (user:NAME, PID)"
                                   : commands_with(name);
    return malformed(fmt::format("'{}' does not take {}{}", command.name, name, meant && !filters ? use : others));
  }
  if (!meant && name.starts_with("--") && is_metric(name.substr(2)))
    return malformed(fmt::format("'{}' has no option {}; use --by {}", command.name, in_quotes(name), name.substr(2)));
  std::vector<std::string> names{"--help", "--version"};
  for (const Option option : options_of(command)) names.emplace_back(option_text(option).name);
  for (const OptionAlias& spelling : option_aliases()) names.emplace_back(spelling.written);
  // The equivalent of another program's option is better than a similar spelling.
  return malformed(
      fmt::format("'{}' has no option {}{}", command.name, in_quotes(name), meant ? use : did_you_mean(name, names)));
}

Error too_much(const std::vector<std::string>& extra, const Command& command) {
  const auto option = std::ranges::find_if(extra, [](const std::string& word) { return word.starts_with('-'); });
  if (option != extra.end() || command.subject.empty())
    return unknown_argument(option != extra.end() ? *option : extra.front(), command);
  const bool repeats = parse_number<std::int64_t>(extra.back()).has_value();
  return malformed(fmt::format("'{}' takes at most {} ({}): leave out {}{}", command.name,
                               format_count(static_cast<std::int64_t>(command.max_subjects), "argument", "arguments"),
                               command.subject, fmt::join(transformed(extra, in_quotes), ", "),
                               repeats ? fmt::format("; memoir watch {} repeats it", command.name) : ""));
}

}  // namespace memoir::query
