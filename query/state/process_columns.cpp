#include "query/state/process_columns.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "base/text.h"
#include "model/identity.h"
#include "query/args/filter.h"
#include "query/render/layout.h"
#include "store/names.h"

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
  const Source source = state.sample.source;
  if (source == Source::inaccessible) return std::nullopt;
  return source == Source::exact || source == Source::approximate ? 0 : tick_ms - state.sample_ms;
}

std::vector<std::string> process_groups() {
  return {"process", "identity", "command", "category", "user", "cgroup", "unit", "slice", "comm", "container"};
}

std::string identity_name(const std::string& unit, const std::string& command) {
  return unit.empty() || command.empty() ? unit + command : unit + " " + command;
}

std::string identity_title(const ProcessInfo& newest) {
  constexpr std::size_t most = 64;  // columns of the command, so that the unit is seen too
  const std::string command = shorten(to_printable(shown_command(newest, '?')), most);
  const std::string place = place_of(newest.cgroup);
  return place.empty() || place == "/" ? command : fmt::format("{} in {}", command, place);
}

std::string with_pid(std::string title, std::optional<std::int64_t> pid) {
  return pid ? fmt::format("{} (pid {})", title, *pid) : title;
}

Result<std::map<std::string, std::string>> load_titles(Reader& reader, const std::set<std::string>& names) {
  const std::vector<StoredIdentity> identities = TRY(load_identities(reader, std::nullopt));
  std::vector<std::int64_t> ids;
  for (const StoredIdentity& identity : identities) {
    if (names.contains(identity_name(identity.unit, identity.command))) ids.push_back(identity.id);
  }
  std::vector<StoredProcess> newest = TRY(load_newest_of(reader, ids));
  // Identities of one name may differ in the program's path.
  std::ranges::sort(newest, {}, &StoredProcess::id);
  std::map<std::string, std::string> titles;
  for (const StoredProcess& process : newest) titles[group_key(process, "identity")] = identity_title(process.info);
  return titles;
}

Status show_titles(Reader& reader, Table& table) {
  const auto named = std::ranges::find(table.columns, "identity", &Column::name);
  if (named == table.columns.end()) return Done{};
  const std::size_t at = static_cast<std::size_t>(named - table.columns.begin());
  std::set<std::string> names;
  for (const auto& row : table.rows) {
    if (const auto* name = std::get_if<std::string>(&row[at])) names.insert(*name);
  }
  const auto titles = TRY(load_titles(reader, names));
  Column title = *named;
  named->shown = Shown::machines;
  title.name = "title";
  table.columns.insert(table.columns.begin() + static_cast<std::ptrdiff_t>(at) + 1, title);
  for (auto& row : table.rows) {
    const auto* name = std::get_if<std::string>(&row[at]);
    const auto found = name == nullptr ? titles.end() : titles.find(*name);
    row.insert(row.begin() + static_cast<std::ptrdiff_t>(at) + 1, found == titles.end() ? row[at] : found->second);
  }
  return Done{};
}

Result<std::map<std::string, std::string>> container_names(Reader& reader) {
  std::map<std::string, std::string> names;
  const auto containers = TRY(load_containers(reader));
  for (const CgroupContainer& of : containers) {
    if (!of.container.name.empty()) names[container_label(of.container)] = of.container.name;
  }
  return names;
}

Status show_container_names(Reader& reader, Table& table) {
  const auto labels = std::ranges::find(table.columns, "container", &Column::name);
  if (labels == table.columns.end()) return Done{};
  const std::map<std::string, std::string> names = TRY(container_names(reader));
  if (names.empty()) return Done{};
  const std::ptrdiff_t at = labels - table.columns.begin();
  table.columns.insert(labels, {"container_name", "NAME", Kind::text, 9});
  for (auto& row : table.rows) {
    const auto* const label = std::get_if<std::string>(&row[static_cast<std::size_t>(at)]);
    const auto name = label == nullptr ? names.end() : names.find(*label);
    row.insert(row.begin() + at, name == names.end() ? Value() : Value(name->second));
  }
  return Done{};
}

std::string group_key(const StoredProcess& process, std::string_view group) {
  if (group == "command") return process.info.command.empty() ? process.info.comm : process.info.command;
  if (group != "identity") return filter_value(process.info, group);
  if (process.identity_id != 0) return identity_name(process.unit, process.identity);
  // Files of the first schema hold none.
  const Identity identity = identity_of(process.info);
  return identity_name(identity.unit, identity.command);
}

}  // namespace memoir::query
