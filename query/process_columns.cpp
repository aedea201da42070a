#include "query/process_columns.h"

#include "model/identity.h"

namespace memoir::query {

std::string short_command(std::string command) {
  if (command.starts_with('/')) command.erase(0, command.rfind('/', command.find(' ')) + 1);
  return command;
}

std::string shown_command(const ProcessInfo& info, char state) {
  const std::string text = short_command(info.command.empty() ? info.comm : info.command);
  return state == 'Z' || state == 'X' ? text + " (zombie)" : text;
}

std::string ending(const StoredProcess& process) {
  if (process.end == "exited") return "ended";
  return process.end == "execed" ? "exec" : process.end;
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

std::string identity_name(const std::string& unit, const std::string& command) {
  return unit.empty() || command.empty() ? unit + command : unit + " " + command;
}

std::string group_key(const StoredProcess& process, std::string_view group) {
  if (group != "identity") return group_key(process.info, group);
  if (process.identity_id != 0) return identity_name(process.unit, process.identity);
  // Files of the first schema hold none.
  const Identity identity = identity_of(process.info);
  return identity_name(identity.unit, identity.command);
}

}  // namespace memoir::query
