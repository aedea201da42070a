#pragma once

// The columns that identify a process, the same in every command that lists processes.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "query/args/filter.h"
#include "query/report/report.h"
#include "store/reader.h"

namespace memoir::query {

// Returns the command for a table: the program without its directory, and its state if that is informative ("[sh]
// (zombie)").
std::string shown_command(const ProcessInfo& info, char state);

// Returns a command line for a table, without the directory of its program.
std::string short_command(std::string command);

// Returns how a process ended: ended (reason unknown), exec, unknown (nothing was recorded at that time); empty while
// it runs.
std::string ending(const StoredProcess& process);

// Returns the age of the values at `boot_ms`, the boot clock of a tick; nullopt if they were never read.
std::optional<std::int64_t> value_age_ms(const ProcessSample& sample, std::int64_t boot_ms);

// Returns the sort key of an identity: its unit and its normalised command (model/identity.h).
std::string identity_name(const std::string& unit, const std::string& command);

// Returns the newest of several processes. In its command line, "…" replaces varying words: "worker.py 60 … …".
StoredProcess newest_of(const std::vector<const StoredProcess*>& processes);

// Returns the human-readable name of an identity, from one of its processes: "java -jar service.jar in app.service".
std::string identity_title(const ProcessInfo& process);
// Returns the name made from all command lines of the identity, with "…" for varying words: "worker.py 60 … … in
// app.service".
std::string identity_title(ProcessInfo newest, const std::vector<std::string>& commands);
// Returns titles by identity, from the given processes only, with "…" for varying words.
std::map<std::string, std::string> titles_of(const std::vector<const StoredProcess*>& processes);
// Returns whether `word` is a title of the identity of a process, also one with "…".
bool is_identity_title(std::string_view word, const ProcessInfo& process);
// Appends the pid to a title: "… (pid 812)".
std::string with_pid(std::string title, std::optional<std::int64_t> pid);

// Returns the titles of the identities with these sort keys.
Result<std::map<std::string, std::string>> load_titles(Reader& reader, const std::set<std::string>& names);

// Human-readable output shows titles; machine-readable output has the sort key, and the title in a separate column.
// Identities without a title in the report are titled from all their processes.
Status show_titles(Reader& reader, Report& report);

// Returns the names of containers by their labels (model/container.h). Omits containers without a name.
Result<std::map<std::string, std::string>> container_names(Reader& reader);

// Adds the known names of containers next to their ids.
Status show_container_names(Reader& reader, Table& table);

// Values of --group.
std::vector<std::string> process_groups();

// Returns the group of a process; empty if it has none, such as a process outside of containers.
std::string group_key(const StoredProcess& process, std::string_view group);

// Adds the pid and, only for data formats, the start of the process and its properties: "comm", "command", "user",
// "category" … `info` returns the ProcessInfo of a row.
template <typename Row, typename GetInfo>
void add_process(Columns<Row>& columns, GetInfo info, int drop_order = 0) {
  columns.add({"pid", "PID", Kind::count, drop_order}, [info](const Row& row) { return info(row)->key.pid; });
  columns.add(data_column("start_ms", Kind::time), [info](const Row& row) { return info(row)->start_ms; });
  const auto text = [&](const char* name, std::string ProcessInfo::*member) {
    columns.add(data_column(name), [info, member](const Row& row) { return info(row)->*member; });
  };
  text("comm", &ProcessInfo::comm);
  text("command", &ProcessInfo::command);
  text("exe", &ProcessInfo::exe);
  text("user", &ProcessInfo::user);
  text("category", &ProcessInfo::category);
  text("cgroup", &ProcessInfo::cgroup);
  for (const char* key : {"unit", "identity"})  // values for --filter
    columns.add(data_column(key), [info, key](const Row& row) { return filter_value(*info(row), key); });
}

// Adds the user and the category, human-readable only.
template <typename Row, typename GetInfo>
void add_owner(Columns<Row>& columns, GetInfo info, int drop_order_of_user, int drop_order_of_category) {
  columns.add(display_column("USER", Kind::text, drop_order_of_user),
              [info](const Row& row) { return info(row)->user; });
  columns.add(display_column("CATEGORY", Kind::text, drop_order_of_category),
              [info](const Row& row) { return info(row)->category; });
}

// Adds the last column: the common property of a group's members. Command lines are shortened as for a process.
template <typename Row>
void add_group_name(Columns<Row>& columns, const std::string& group) {
  std::string header = group;
  for (char& c : header) c = static_cast<char>(c - 'a' + 'A');
  if (group != "command") {
    columns.add({group, header, Kind::text}, &Row::name);
    return;
  }
  columns.add(data_column(group), &Row::name);
  columns.add(display_column(header), [](const Row& row) { return short_command(row.name); });
}

}  // namespace memoir::query
