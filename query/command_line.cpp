#include "query/command_line.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <variant>

#include <CLI/CLI.hpp>

#include "base/nearest.h"
#include "base/text.h"
#include "query/args/filter.h"
#include "query/args/meant.h"
#include "query/commands.h"
#include "query/history/tier.h"
#include "query/render/shell_text.h"
#include "query/render/terminal.h"
#include "query/report/columns.h"
#include "query/unknown_words.h"

namespace memoir::query {
namespace {

// Short for --format=csv, except in `leaks`, where --csv is an option of its own that takes a file.
constexpr std::string_view kCsv = "--csv";

// Returns the name of an option's value, "T" for "--at"; empty for a flag and for other words.
std::string_view value_of(std::string_view argument) {
  const auto text = std::ranges::find(option_texts(), argument, &OptionText::name);
  return text == option_texts().end() ? std::string_view() : text->value;
}

// Returns whether the argument is a filter key as an option: "--user" is "--filter user=".
bool names_filter_key(std::string_view argument) {
  return argument.starts_with("--") && std::ranges::find(filter_keys(), argument.substr(2)) != filter_keys().end();
}

bool may_be_followed(std::string_view argument) {
  return takes_value(argument) || names_filter_key(argument);
}

bool takes(const Command& command, Option option) {
  return std::find(command.options.begin(), command.options.end(), option) != command.options.end();
}

// Replaces an alias: "--since=T" by "--from=T", "-n5" by "--limit=5". `next` is the following word, which may be the
// value.
std::string spelled_in_full(const std::string& argument, std::string_view next) {
  for (const OptionAlias& spelling : option_aliases()) {
    const std::string_view written = spelling.written;
    if (written == kCsv || !argument.starts_with(written)) continue;
    const std::string_view rest = std::string_view(argument).substr(written.size());
    const bool assigned = rest.starts_with('=');
    const bool letter = written.size() == 2 && may_be_followed(spelling.means);
    if (!rest.empty() && !assigned && !letter) continue;
    if (spelling.fits != nullptr && !spelling.fits(rest.empty() ? next : rest.substr(assigned ? 1 : 0))) continue;
    return fmt::format("{}{}{}", spelling.means, rest.empty() || assigned ? "" : "=", rest);
  }
  return argument;
}

// Returns a time of one to three words, "2 minutes ago" or "yesterday 03:14". Moves `it` to the last word of the time.
std::string time_in_words(std::vector<std::string>::const_iterator& it, std::vector<std::string>::const_iterator end) {
  std::string time = *it;
  std::string words = time;
  constexpr int max_words = 3;
  auto next = it;
  for (int count = 1; count < max_words && ++next != end; ++count) {
    words += " " + *next;
    if (!is_time(words)) continue;
    time = words;
    it = next;
  }
  return time;
}

// Replaces aliases by the full names of the options. Does not change the values.
std::vector<std::string> in_full(const std::vector<std::string>& arguments) {
  std::vector<std::string> full;
  for (auto it = arguments.begin(); it != arguments.end(); ++it) {
    const bool last = it + 1 == arguments.end();
    std::string word = spelled_in_full(*it, last ? std::string_view() : *(it + 1));
    const bool alone = word.find('=') == std::string::npos;
    if (names_filter_key(std::string_view(word).substr(0, word.find('=')))) {
      if (alone && !last) word += "=" + *++it;
      word = alone && last ? "--filter" : "--filter=" + word.substr(2);
    }
    full.push_back(std::move(word));
    if (!takes_value(full.back()) || full.back() == kCsv || last) continue;
    // In "--sort -rss", as in ps(1), "-rss" would count as an option.
    if (full.back() == "--by" && (it + 1)->starts_with('-')) {
      full.back() += "=" + *++it;
      continue;
    }
    const bool time = value_of(full.back()) == "T";
    ++it;
    full.push_back(time ? time_in_words(it, arguments.end()) : *it);
  }
  return full;
}

// Removes the command's name, the first word that is neither an option nor an option's value, from `arguments`.
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

// Returns the command that is a part of another: "memoir memory shm" is the command shm. Removes the part's word from
// `arguments`. Without a part, returns `command`.
const Command& part_of(const Command& command, std::vector<std::string>& arguments) {
  for (const Command& part : commands()) {
    std::string_view word = part.full_name;
    if (word.empty() || cut_word(word) != command.name) continue;
    word = trim(word);
    std::vector<std::string> others = arguments;
    if (word.starts_with('-') ? std::erase(others, word) == 0 : take_command(others) != word) continue;
    arguments = std::move(others);
    return part;
  }
  return command;
}

// Replaces `word`, if it is set, by the choice that it means. Returns an error if no choice fits.
std::optional<Error> check_choice(std::optional<std::string>& word, const std::vector<std::string>& choices,
                                  Option option) {
  const auto is_choice = [&](std::string_view name) { return std::ranges::find(choices, name) != choices.end(); };
  if (!word || is_choice(*word)) return std::nullopt;
  std::string lower = to_lower(*word);
  if (option == Option::by && lower.starts_with('-')) lower.erase(0, 1);  // as in ps(1): the largest first
  const std::string_view meant = choice_meant(lower).value_or(lower);
  if (is_choice(meant)) {
    word = meant;
    return std::nullopt;
  }
  return malformed(fmt::format("{} {} is not one of {}{}", option_text(option).name, in_quotes(*word),
                               fmt::join(choices, ", "), did_you_mean(*word, choices)));
}

// Returns the enumerator that `word` names. `words` has the names in the order of the enum.
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
  // Commands that stream their result write JSON Lines instead of JSON.
  const bool lines = std::ranges::find(command.formats, "json") == command.formats.end();
  if (lines && options.format_given == "json") options.format_given = "jsonl";
  if (auto error = check_choice(options.format_given, command.formats, Option::format)) return error;
  if (auto error = check_choice(options.color_given, color_names(), Option::color)) return error;
  if (auto error = check_choice(options.units_given, unit_names(), Option::units)) return error;
  options.format = meant<Format>(options.format_given.value_or(command.formats.front()), format_names());
  if (options.color_given) options.color = meant<Color>(*options.color_given, color_names());
  if (options.units_given) options.units = meant<Units>(*options.units_given, unit_names());
  if (auto error = check_choice(options.by, command.by, Option::by)) return error;
  if (auto error = check_choice(options.group, command.groups, Option::group)) return error;
  if (auto error = check_choice(options.tier, tier_names(), Option::tier)) return error;
  for (std::string& kind : options.kinds) {
    if (command.kinds.empty()) break;  // any kind is valid: a file may have kinds that this version does not know
    std::optional<std::string> word = kind;
    if (auto error = check_choice(word, command.kinds, Option::kind)) return error;
    kind = *word;
  }
  if (options.limit_given && !options.csv.empty() && parse_size(*options.limit_given).value_or(0) > 0) {
    options.series_limit = static_cast<double>(*parse_size(*options.limit_given));
  } else if (options.limit_given) {
    const auto limit = parse_number<std::int64_t>(*options.limit_given);
    if (!limit || *limit < 0)
      return malformed(fmt::format("--limit {} is not a number of rows", in_quotes(*options.limit_given)));
    options.limit = *limit;
  }
  if (options.limit_kib_given) {
    const auto limit = parse_number<double>(*options.limit_kib_given);
    if (!limit || !(*limit > 0) || !std::isfinite(*limit))
      return malformed(fmt::format("--limit-kib {} is not an amount", in_quotes(*options.limit_kib_given)));
    if (options.csv.empty()) return malformed("--limit-kib is the limit of a series: memoir leaks --csv FILE");
    options.series_limit = *limit;
  }
  options.columns = split_columns(options.columns_given.value_or(""));
  TRY(Filter::parse(options.filters));
  if (options.utc) options.zone = Zone::utc;
  options.ascii = options.ascii || shows_ascii_only();
  return std::nullopt;
}

// Rewords CLI11's messages "--db: 1 required TEXT missing" and "--db: At Most 1 required but received 2".
Error wrong_number(std::string_view said) {
  const std::string_view name = said.substr(0, said.find(':'));
  if (said.find("received") != std::string_view::npos) return malformed(fmt::format("{} can be given only once", name));
  std::string_view value;
  if (name == kCsv) value = ": the file of a series (--format csv writes the answer as CSV)";
  if (name == "--filter") value = ": KEY=VALUE (--user NAME, -p PID)";
  return malformed(fmt::format("{} needs a value{}", name, value));
}

// Rejects `--db=` and `--db ""`. After `--db=`, CLI11 would take the next argument as the value.
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
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 expects them
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
  if (subjects.size() > command.max_subjects)
    return too_much({subjects.begin() + static_cast<std::ptrdiff_t>(command.max_subjects), subjects.end()}, command);
  for (const std::string& subject : subjects) {
    if (command.subjects_are_files && is_time(subject) && !std::filesystem::exists(subject))
      return unknown_argument(subject, command);
  }
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
      const Command* command = find_command(*subject);
      if (command == nullptr) return unknown_command(*subject, {});
      invocation.command = &part_of(*command, rest);
    }
    if (invocation.help || invocation.version) return invocation;
  }
  const Command* command = find_command(name.value_or(std::string(kDefaultCommand)));
  if (command == nullptr) {
    // The word may be the value of an option that another program has.
    const auto option = command_meant(*name) ? std::nullopt : unknown_option(rest);
    return option ? unknown_argument(*option, *find_command(kDefaultCommand)) : unknown_command(*name, rest);
  }
  invocation.command = &part_of(*command, rest);
  if (!takes(*invocation.command, Option::csv)) {
    std::ranges::replace(rest, std::string(kCsv), std::string("--format=csv"));
  }
  if (const auto error = parse_options(std::move(rest), invocation)) return *error;
  return invocation;
}

}  // namespace memoir::query
