#include "query/command_line.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <variant>

#include <CLI/CLI.hpp>

#include "base/nearest.h"
#include "base/text.h"
#include "query/args/filter.h"
#include "query/commands.h"
#include "query/history/tier.h"
#include "query/render/terminal.h"
#include "query/report/format.h"

namespace memoir::query {
namespace {

// Formats for short; in `leaks` --csv takes a file, and is an option of its own.
constexpr std::string_view kCsv = "--csv";

std::string in_quotes(std::string_view word) {
  return fmt::format("'{}'", to_printable(word));
}

bool takes_value(const std::string& argument) {
  return std::ranges::any_of(option_texts(),
                             [&](const OptionText& text) { return text.name == argument && !text.value.empty(); });
}

bool takes(const Command& command, Option option) {
  return std::find(command.options.begin(), command.options.end(), option) != command.options.end();
}

// "--since=T" as "--from=T", "-n5" as "--limit=5".
std::string in_full(const std::string& argument) {
  for (const Spelling& spelling : spellings()) {
    const std::string_view written = spelling.written;
    if (written == kCsv || !argument.starts_with(written)) continue;
    const std::string_view rest = std::string_view(argument).substr(written.size());
    const bool letter = written.size() == 2;
    if (rest.empty() || rest.front() == '=') return fmt::format("{}{}", spelling.means, rest);
    if (letter && takes_value(std::string(spelling.means))) return fmt::format("{}={}", spelling.means, rest);
  }
  return argument;
}

// Every option as memoir calls it; the values of options stay as they are.
std::vector<std::string> in_full(const std::vector<std::string>& arguments) {
  std::vector<std::string> full;
  for (auto it = arguments.begin(); it != arguments.end(); ++it) {
    full.push_back(in_full(*it));
    if (takes_value(full.back()) && full.back() != kCsv && it + 1 != arguments.end()) full.push_back(*++it);
  }
  return full;
}

// Takes the command's name, the first word that is neither an option nor the value of one, out of `arguments`.
std::optional<std::string> take_command(std::vector<std::string>& arguments) {
  for (auto it = arguments.begin(); it != arguments.end(); ++it) {
    if (takes_value(*it) && !(*it == kCsv && it + 1 != arguments.end() && find_command(*(it + 1)) != nullptr)) {
      if (++it == arguments.end()) break;
      continue;
    }
    if (!it->empty() && it->front() == '-') continue;
    std::string name = *it;
    arguments.erase(it);
    return name;
  }
  return std::nullopt;
}

Error unknown_command(const std::string& name) {
  const std::vector<std::string> names = each_of(commands(), &Command::name);
  return malformed(fmt::format("there is no command {}{} (commands: {})", in_quotes(name), did_you_mean(name, names),
                               fmt::join(names, ", ")));
}

Error unknown_argument(const std::string& argument, const Command& command) {
  if (argument.empty() || argument.front() != '-') {
    return malformed(
        fmt::format("'{}' does not take the argument {}{}", command.name, in_quotes(argument),
                    takes(command, Option::filter) ? "; --filter comm=NAME or category=NAME chooses processes" : ""));
  }
  const std::string name = argument.substr(0, argument.find('='));
  for (const OptionText& text : option_texts()) {
    if (text.name == name) return malformed(fmt::format("'{}' does not take {}", command.name, name));
  }
  std::vector<std::string> names{"--help", "--version"};
  for (const Option option : options_of(command)) names.emplace_back(option_text(option).name);
  for (const Spelling& spelling : spellings()) names.emplace_back(spelling.written);
  return malformed(fmt::format("'{}' has no option {}{}", command.name, in_quotes(name), did_you_mean(name, names)));
}

// An unknown option, or more arguments than the command takes.
Error too_much(const std::vector<std::string>& extra, const Command& command) {
  const auto option = std::ranges::find_if(extra, [](const std::string& word) { return word.starts_with('-'); });
  if (option != extra.end() || command.subject.empty())
    return unknown_argument(option != extra.end() ? *option : extra.front(), command);
  return malformed(fmt::format("'{}' takes {} at most ({}): {} {} too much", command.name,
                               print_count(static_cast<std::int64_t>(command.most_subjects), "argument", "arguments"),
                               command.subject, fmt::join(each_of(extra, in_quotes), ", "),
                               extra.size() == 1 ? "is" : "are"));
}

// A word of a list that the command gives; an absent one stays absent.
std::optional<Error> check_choice(const std::optional<std::string>& word, const std::vector<std::string>& choices,
                                  Option option) {
  if (!word || std::find(choices.begin(), choices.end(), *word) != choices.end()) return std::nullopt;
  return malformed(fmt::format("{} {} is not one of {}{}", option_text(option).name, in_quotes(*word),
                               fmt::join(choices, ", "), did_you_mean(*word, choices)));
}

// `words` stand in the order of the enum.
template <typename Enum>
Enum meant(const std::string& word, const std::vector<std::string>& words) {
  return static_cast<Enum>(std::ranges::find(words, word) - words.begin());
}

void add_option(CLI::App& app, const OptionText& text, Options& options) {
  const std::string name(text.name);
  if (const auto* flag = std::get_if<bool Options::*>(&text.place)) {
    app.add_flag(name, options.**flag);
  } else if (const auto* list = std::get_if<std::vector<std::string> Options::*>(&text.place)) {
    app.add_option(name, options.**list)->expected(1)->take_all();
  } else {
    std::visit([&](auto place) { app.add_option(name, options.*place); }, text.place);
  }
}

std::optional<Error> check(const Command& command, Options& options) {
  if (auto error = check_choice(options.format_given, command.formats, Option::format)) return error;
  if (auto error = check_choice(options.units_given, unit_names(), Option::units)) return error;
  options.format = meant<Format>(options.format_given.value_or(command.formats.front()), format_names());
  if (options.units_given) options.units = meant<Units>(*options.units_given, unit_names());
  if (auto error = check_choice(options.by, command.by, Option::by)) return error;
  if (auto error = check_choice(options.group, command.groups, Option::group)) return error;
  if (auto error = check_choice(options.tier, tier_names(), Option::tier)) return error;
  for (const std::string& kind : options.kinds) {
    if (command.kinds.empty()) break;  // of events, of which a file may have others
    if (auto error = check_choice(kind, command.kinds, Option::kind)) return error;
  }
  if (options.limit_given) {
    const auto limit = parse_number<std::int64_t>(*options.limit_given);
    if (!limit || *limit < 0)
      return malformed(fmt::format("--limit {} is not a number of rows", in_quotes(*options.limit_given)));
    options.limit = *limit;
  }
  TRY(Filter::parse(options.filters));
  if (options.utc) options.zone = Zone::utc;
  options.ascii = options.ascii || shows_ascii_only();
  return std::nullopt;
}

// CLI11 says "--db: 1 required TEXT missing" and "--db: At Most 1 required but received 2".
Error wrong_number(std::string_view said) {
  const bool many = said.find("received") != std::string_view::npos;
  const std::string_view name = said.substr(0, said.find(':'));
  return malformed(fmt::format("{} {}{}", name, many ? "can be given only once" : "needs a value",
                               name == kCsv ? ": the file of a series (--format csv writes the answer as CSV)" : ""));
}

// `--db=` and `--db ""`: of the first CLI11 would take the next argument for the value.
std::optional<Error> empty_value(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    const bool assigned = !word.empty() && word.back() == '=' && takes_value(word.substr(0, word.size() - 1));
    const bool followed = takes_value(word) && i + 1 < arguments.size() && arguments[i + 1].empty();
    if (assigned || followed) return malformed(fmt::format("{} needs a value", word.substr(0, word.find('='))));
    if (takes_value(word)) ++i;
  }
  return std::nullopt;
}

std::optional<Error> parse_options(std::vector<std::string> arguments, Invocation& invocation) {
  const Command& command = *invocation.command;
  if (auto error = empty_value(arguments)) return error;
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  for (const Option option : options_of(command)) add_option(app, option_text(option), invocation.options);
  if (!command.subject.empty()) {
    app.add_option("subject", invocation.options.subjects)->expected(0, -1);
  }
  app.add_flag("--help", invocation.help);
  app.add_flag("--version", invocation.version);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  try {
    app.parse(arguments);
  } catch (const CLI::ArgumentMismatch& error) {
    return wrong_number(error.what());
  } catch (const CLI::ParseError& error) {
    return malformed(fmt::format("{} (memoir {} --help)", to_printable(error.what()), command.name));
  }
  if (invocation.help || invocation.version) return std::nullopt;
  if (const auto extra = app.remaining(); !extra.empty()) return too_much(extra, command);
  const std::vector<std::string>& subjects = invocation.options.subjects;
  if (subjects.size() > command.most_subjects)
    return too_much({subjects.begin() + static_cast<std::ptrdiff_t>(command.most_subjects), subjects.end()}, command);
  return check(command, invocation.options);
}

}  // namespace

Result<Invocation> parse_command_line(const std::vector<std::string>& arguments) {
  std::vector<std::string> rest = in_full(arguments);
  const std::optional<std::string> name = take_command(rest);
  Invocation invocation;
  invocation.options.no_pager = std::ranges::find(rest, option_text(Option::no_pager).name) != rest.end();
  if (!name || *name == "help") {
    invocation.help = name || std::ranges::find(rest, "--help") != rest.end();
    invocation.version = std::ranges::find(rest, "--version") != rest.end();
    if (const auto subject = name ? take_command(rest) : std::nullopt) {
      invocation.command = find_command(*subject);
      if (invocation.command == nullptr) return unknown_command(*subject);
    }
    if (invocation.help || invocation.version) return invocation;
  }
  invocation.command = find_command(name.value_or(std::string(kDefaultCommand)));
  if (invocation.command == nullptr) return unknown_command(name.value_or(std::string(kDefaultCommand)));
  if (!takes(*invocation.command, Option::csv)) {
    std::ranges::replace(rest, std::string(kCsv), std::string("--format=csv"));
  }
  if (const auto error = parse_options(std::move(rest), invocation)) return *error;
  return invocation;
}

}  // namespace memoir::query
