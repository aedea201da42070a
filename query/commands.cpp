#include "query/commands.h"

#include <algorithm>
#include <array>

namespace memoir::query {

namespace {

// What every command takes that answers from a file.
constexpr std::array kCommon{Option::db,  Option::format,   Option::units,
                             Option::utc, Option::no_color, Option::no_pager};

}  // namespace

std::vector<Option> options_of(const Command& command) {
  std::vector<Option> options;
  for (const OptionText& text : option_texts()) {
    const bool common = !command.print && std::find(kCommon.begin(), kCommon.end(), text.option) != kCommon.end();
    const bool own = std::find(command.options.begin(), command.options.end(), text.option) != command.options.end();
    if (common || own) options.push_back(text.option);
  }
  return options;
}

const std::vector<Command>& commands() {
  static const std::vector<Command> all{
      status_command(), top_command(),     trend_command(),     peaks_command(),      leaks_command(),
      diff_command(),   summary_command(), processes_command(), categories_command(), events_command(),
      export_command(), extract_command(), backup_command(),    doctor_command(),     completion_command(),
  };
  return all;
}

const Command* find_command(std::string_view name) {
  const auto found = std::find_if(commands().begin(), commands().end(),
                                  [name](const Command& command) { return command.name == name; });
  return found == commands().end() ? nullptr : &*found;
}

}  // namespace memoir::query
