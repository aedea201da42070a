#include "query/state/command.h"

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

}  // namespace memoir::query
