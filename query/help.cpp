#include "query/help.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "query/args/times.h"
#include "query/commands.h"

namespace memoir::query {
namespace {

constexpr std::size_t kWidth = 80;

// Words of `text` in lines that begin at `indent`; the first line goes on where `head` (padded) ends.
std::string hanging(std::string_view head, std::size_t indent, std::string_view text) {
  std::string out = fmt::format("{:<{}}", head, indent);
  if (head.size() > indent) out += fmt::format("\n{:{}}", "", indent);
  std::size_t column = indent;
  for (std::string_view word = cut_word(text); !word.empty(); word = cut_word(text)) {
    if (column + 1 + word.size() > kWidth && column > indent) {
      out += fmt::format("\n{:{}}", "", indent);
      column = indent;
    }
    if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out + "\n";
}

std::string option_line(Option option, const Command* command) {
  const OptionText& text = option_text(option);
  std::string help_text(text.help);
  if (command != nullptr && option == Option::by) {
    help_text =
        command->by_help.empty() ? fmt::format("{}: {}", text.help, fmt::join(command->by, ", ")) : command->by_help;
  }
  if (command != nullptr && option == Option::kind && !command->kinds.empty())
    help_text = fmt::format("only those of that kind: {}; repeated: or", fmt::join(command->kinds, ", "));
  if (command != nullptr && option == Option::step && !command->step_help.empty()) help_text = command->step_help;
  if (command != nullptr && option == Option::limit && !command->limit_help.empty()) help_text = command->limit_help;
  if (command != nullptr && option == Option::format) help_text = fmt::format("{}", fmt::join(command->formats, ", "));
  if (command != nullptr && option == Option::group) help_text += fmt::format(": {}", fmt::join(command->groups, ", "));
  const std::string others = fmt::format("{}", fmt::join(spellings_of(text.name), ", "));
  return hanging(fmt::format("  {}{}{} {}", others, others.empty() ? "" : ", ", text.name, text.value), 20, help_text);
}

constexpr std::string_view kExitStatus =
    "Exit status: 0 answered; 1 could not (the message says why, and how to fix it); 2 usage; 3 answered, but nothing "
    "was "
    "recorded in the range, or of what was asked for.";

}  // namespace

std::string help() {
  std::string out = "Usage: memoir [COMMAND] [SUBJECT] [options]\n\nAnswers from what memoird recorded.\n\nCommands:\n";
  for (const Command& command : commands()) out += hanging("  " + command.name, 14, command.summary);
  out +=
      "\n" +
      hanging("", 0, fmt::format("Without a command: {}. More: memoir COMMAND --help, man memoir.", kDefaultCommand));
  out += "\nOptions:\n";
  for (const OptionText& text : option_texts()) out += option_line(text.option, nullptr);
  out += "  -h, --help\n  -V, --version\n\n";
  out += hanging("Times: ", 7, kTimeForms) + "\n";
  out += "Examples:\n";
  for (const Command& command : commands()) {
    if (!command.examples.empty())
      out += hanging("  " + command.examples.front().line, 44, command.examples.front().answers);
  }
  return out + "\n" + hanging("", 0, kExitStatus);
}

std::string help(const Command& command) {
  const std::string subject = command.subject.empty() ? "" : " " + command.subject;
  std::string out = fmt::format("Usage: memoir {}{} [options]\n\n", command.name, subject);
  out += hanging("", 0, command.summary);
  if (!command.subject.empty()) {
    const std::string head = command.subject_help.substr(0, command.subject_help.find(": ") + 2);
    out += "\n" + hanging(head, head.size(), command.subject_help.substr(head.size()));
  }
  const std::vector<Option> options = options_of(command);
  out += options.empty() ? "\n" : "\nOptions:\n";
  for (const Option option : options) out += option_line(option, &command);
  if (!options.empty()) out += "\n";
  if (std::find(command.options.begin(), command.options.end(), Option::to) != command.options.end()) {
    out += hanging("Times: ", 7, kTimeForms) + "\n";
  }
  out += "Examples:\n";
  for (const Example& example : command.examples) out += fmt::format("  {}\n      {}\n", example.line, example.answers);
  return out;
}

}  // namespace memoir::query
