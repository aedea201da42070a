#include "query/process_columns.h"

namespace memoir::query {

std::string shown_command(const ProcessInfo& info, char state) {
  std::string text = info.command.empty() ? info.comm : info.command;
  if (text.starts_with('/')) text.erase(0, text.rfind('/', text.find(' ')) + 1);
  return state == 'Z' || state == 'X' ? text + " (zombie)" : text;
}

std::optional<std::int64_t> age_ms(const ProcessState& state, std::int64_t tick_ms) {
  switch (state.sample.source) {
    case Source::exact:
    case Source::approximate:
      return 0;
    case Source::held:
    case Source::estimated:
      return tick_ms - state.sample_ms;
    case Source::inaccessible:
      break;
  }
  return std::nullopt;
}

const std::string& group_key(const ProcessInfo& info, std::string_view group) {
  if (group == "category") return info.category;
  if (group == "user") return info.user;
  if (group == "cgroup") return info.cgroup;
  return info.command.empty() ? info.comm : info.command;
}

}  // namespace memoir::query
