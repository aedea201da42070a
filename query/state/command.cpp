#include "query/state/command.h"

#include <algorithm>
#include <array>

namespace memoir::query {
namespace {

// Options of every command that reads a file.
constexpr std::array kCommon{Option::columns, Option::db,    Option::format,  Option::units,
                             Option::utc,     Option::color, Option::no_pager};

bool is_common(Option option, const Command& command) {
  if (command.print || std::ranges::find(kCommon, option) == kCommon.end()) return false;
  const bool writes_file = std::ranges::find(command.options, Option::output) != command.options.end();
  if (option == Option::columns) return command.run && !writes_file;
  return !command.interact || (option != Option::format && option != Option::no_pager);
}

}  // namespace

std::vector<Option> options_of(const Command& command) {
  std::vector<Option> options;
  for (const OptionText& text : option_texts()) {
    const bool common = is_common(text.option, command);
    const bool own = std::find(command.options.begin(), command.options.end(), text.option) != command.options.end();
    if (common || own) options.push_back(text.option);
  }
  return options;
}

}  // namespace memoir::query
