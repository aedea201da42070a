#include "query/help.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "query/args/times.h"
#include "query/commands.h"

namespace memoir::query {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kPartIndent = 22;

// Wraps `text` into lines indented by `indent`; the first line follows `head` (padded).
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

std::string option_line(Option option, const Command& command) {
  const OptionText& text = option_text(option);
  std::string help_text(text.help);
  if (option == Option::by) {
    help_text =
        command.by_help.empty() ? fmt::format("{}: {}", text.help, fmt::join(command.by, ", ")) : command.by_help;
  }
  if (option == Option::kind && !command.kinds.empty())
    help_text = fmt::format("only that kind: {}; repeatable", fmt::join(command.kinds, ", "));
  if (option == Option::step && !command.step_help.empty()) help_text = command.step_help;
  if (option == Option::limit && !command.limit_help.empty()) help_text = command.limit_help;
  if (option == Option::format) help_text = fmt::format("{}", fmt::join(command.formats, ", "));
  if (option == Option::group) help_text += fmt::format(": {}", fmt::join(command.groups, ", "));
  const std::string others = fmt::format("{}", fmt::join(spellings_of(text.name), ", "));
  return hanging(fmt::format("  {}{}{} {}", others, others.empty() ? "" : ", ", text.name, text.value), 20, help_text);
}

// The commands that most users need; help() lists the others by name only.
constexpr std::array kMainCommands{"view",  "incident", "top",     "trend", "peaks",
                                   "leaks", "cgroups",  "summary", "status"};

struct CommandGroup {
  const char* about;
  const char* commands;
};
constexpr std::array kGroups{CommandGroup{"Machine", "incidents, memory [shm|tmpfs|mappings|shared], diff, events"},
                             CommandGroup{"Processes", "processes [--exited], process, tree, categories"},
                             CommandGroup{"Data", "export, extract [--all], doctor, completion"}};

const std::array kExamples{Example{"memoir top --at 03:14", "memory by process at 03:14"},
                           Example{"memoir trend nginx --last 1d", "nginx over the last day"},
                           Example{"memoir incident --at 'yesterday 03:14'", "what changed around that time"}};

constexpr std::string_view kExitStatus = "Exit status: 0 success; 1 failure; 2 usage; 3 nothing recorded.";

}  // namespace

std::string help() {
  std::string out = "Usage: memoir [COMMAND] [SUBJECT] [options]\n\n";
  for (const char* name : kMainCommands) out += hanging(fmt::format("  {}", name), 12, find_command(name)->summary);
  out += "\n";
  for (const CommandGroup& group : kGroups) out += hanging(fmt::format("  {}", group.about), 12, group.commands);
  out += "\n";
  for (const Example& example : kExamples) out += hanging("  " + example.line, 44, example.answers);
  return out + "\n" +
         hanging(
             "", 0,
             fmt::format(
                 "Without a command: {}. A SUBJECT is a PID, a name or KEY:NAME. memoir watch COMMAND repeats it at "
                 "each tick. Options: memoir COMMAND --help; all of it: man memoir.",
                 kDefaultCommand));
}

std::string help(const Command& command) {
  const std::string subject = command.subject.empty() ? "" : " " + command.subject;
  const bool part = !command.full_name.empty();
  std::string out = fmt::format("Usage: memoir {}{} [options]\n", part ? command.full_name : command.name, subject);
  if (part) out += fmt::format("Short: memoir {}\n", command.name);
  out += "\n" + hanging("", 0, command.summary);
  for (const Command& other : commands()) {
    if (other.full_name.starts_with(command.name + " "))
      out += hanging(fmt::format("  {}", other.full_name), kPartIndent, other.summary);
  }
  if (!command.subject.empty()) {
    const std::string head = command.subject_help.substr(0, command.subject_help.find(": ") + 2);
    out += "\n" + hanging(head, head.size(), command.subject_help.substr(head.size()));
  }
  const std::vector<Option> options = options_of(command);
  out += options.empty() ? "\n" : "\nOptions:\n";
  for (const Option option : options) out += option_line(option, command);
  if (!options.empty()) out += "\n";
  if (std::find(command.options.begin(), command.options.end(), Option::to) != command.options.end()) {
    out += hanging("Times: ", 7, kTimeForms) + "\n";
  }
  out += "Examples:\n";
  for (const Example& example : command.examples) out += fmt::format("  {}\n      {}\n", example.line, example.answers);
  return out + "\n" + hanging("", 0, kExitStatus);
}

}  // namespace memoir::query
