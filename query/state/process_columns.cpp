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
  if (process.exit_kind == "exited") return "ended";
  return process.exit_kind == "execed" ? "exec" : process.exit_kind;
}

std::optional<std::int64_t> value_age_ms(const ProcessSample& sample, std::int64_t boot_ms) {
  if (sample.source == Source::approximate) return 0;
  return sample.read_boot_ms ? std::optional(boot_ms - *sample.read_boot_ms) : std::nullopt;
}

std::vector<std::string> process_groups() {
  return {"process", "identity", "command", "category", "user", "cgroup", "unit", "slice", "comm", "container"};
}

std::string identity_name(const std::string& unit, const std::string& command) {
  return unit.empty() || command.empty() ? unit + command : unit + " " + command;
}

namespace {

constexpr std::string_view kVaries = "…";

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(' ', from), text.size());
    words.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return words;
}

// Returns the common words. "…" replaces each differing word, and all further words if one text has more.
std::string common_command(std::string_view a, std::string_view b) {
  const auto words = words_of(a);
  const auto others = words_of(b);
  std::string common;
  for (std::size_t i = 0; i < std::max(words.size(), others.size()); ++i) {
    const bool both = i < words.size() && i < others.size();
    if (!common.empty()) common += ' ';
    common += both && words[i] == others[i] ? words[i] : kVaries;
    if (!both) break;
  }
  return common;
}

void mark_varying(ProcessInfo& newest, const std::vector<std::string>& commands) {
  newest.command = shown_command(newest, '?');
  for (const std::string& command : commands) {
    if (!command.empty()) newest.command = common_command(newest.command, short_command(command));
  }
}

// "COMMAND in UNIT", with the command in at most `most` columns.
std::string title_of(const ProcessInfo& newest, std::size_t most) {
  const std::string command = shorten(to_printable(shown_command(newest, '?')), most);
  const std::string place = place_of(newest.cgroup);
  return place.empty() || place == "/" ? command : fmt::format("{} in {}", command, place);
}

// Returns whether `text` is `pattern` with any text in place of each "…". A "…" replaces varying words, or the end of a
// text too long for the screen.
bool fits_marks(std::string_view pattern, std::string_view text) {
  const std::size_t first = std::min(pattern.find(kVaries), pattern.size());
  if (!text.starts_with(pattern.substr(0, first))) return false;
  text.remove_prefix(first);
  if (first == pattern.size()) return text.empty();
  pattern.remove_prefix(first + kVaries.size());
  for (std::size_t to = pattern.find(kVaries); to != std::string_view::npos; to = pattern.find(kVaries)) {
    const std::size_t found = text.find(pattern.substr(0, to));
    if (found == std::string_view::npos) return false;
    text.remove_prefix(found + to);
    pattern.remove_prefix(to + kVaries.size());
  }
  return text.ends_with(pattern);
}

}  // namespace

StoredProcess newest_of(const std::vector<const StoredProcess*>& processes) {
  StoredProcess newest = **std::ranges::max_element(processes, {}, &StoredProcess::id);
  mark_varying(newest.info, transformed(processes, [](const StoredProcess* process) { return process->info.command; }));
  return newest;
}

std::string identity_title(ProcessInfo newest, const std::vector<std::string>& commands) {
  mark_varying(newest, commands);
  return identity_title(newest);
}

bool is_identity_title(std::string_view word, const ProcessInfo& process) {
  return word != kVaries && fits_marks(word, title_of(process, std::string::npos));
}

std::string identity_title(const ProcessInfo& newest) {
  constexpr std::size_t most = 64;  // columns of the command, so that the unit is visible too
  return title_of(newest, most);
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
  // Identities with one name may differ in the program's path.
  std::ranges::sort(newest, {}, &StoredProcess::id);
  auto commands = TRY(load_commands_of(reader, ids));
  std::map<std::string, std::string> titles;
  for (const StoredProcess& process : newest) {
    titles[group_key(process, "identity")] = identity_title(process.info, commands[process.identity_id]);
  }
  return titles;
}

std::map<std::string, std::string> titles_of(const std::vector<const StoredProcess*>& processes) {
  std::map<std::string, std::vector<const StoredProcess*>> members;
  for (const StoredProcess* process : processes) members[group_key(*process, "identity")].push_back(process);
  std::map<std::string, std::string> titles;
  for (const auto& [name, of] : members) titles[name] = identity_title(newest_of(of).info);
  return titles;
}

Status show_titles(Reader& reader, Report& report) {
  Table& table = report.rows;
  const auto named = std::ranges::find(table.columns, "identity", &Column::name);
  if (named == table.columns.end()) return Done{};
  const std::size_t at = static_cast<std::size_t>(named - table.columns.begin());
  std::set<std::string> names;
  for (const auto& row : table.rows) {
    const auto* name = std::get_if<std::string>(&row[at]);
    if (name != nullptr && !report.titles.contains(*name)) names.insert(*name);
  }
  auto titles = TRY(load_titles(reader, names));
  titles.merge(report.titles);
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
  // A sum of exits has no stored identity.
  const Identity identity = identity_of(process.info);
  return identity_name(identity.unit, identity.command);
}

}  // namespace memoir::query
