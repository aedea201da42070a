#pragma once

// What identifies a process in an answer: the same columns in every command that lists processes.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "query/report/report.h"
#include "store/reader.h"

namespace memoir::query {

// The command as a table shows it: the program without its directory, and its state where that says more ("[sh]
// (zombie)").
std::string shown_command(const ProcessInfo& info, char state);

// A command line as a table shows it: without the directory of its program.
std::string short_command(std::string command);

// How a process ended: ended (nothing tells why), exec, unknown (nothing was recorded then); empty while it lives.
std::string ending(const StoredProcess& process);

// How long before the tick the values were read. Absent where none are known.
std::optional<std::int64_t> age_ms(const ProcessState& state, std::int64_t tick_ms);

// What an identity is sorted under: its unit and its normalised command (model/identity.h).
std::string identity_name(const std::string& unit, const std::string& command);

// What people read in its place, of the process of it that began last: "java -jar service.jar in app.service".
std::string identity_title(const ProcessInfo& newest);
// "… (pid 812)" where it is one process.
std::string with_pid(std::string title, std::optional<std::int64_t> pid);

// Of the identities that are sorted under these names.
Result<std::map<std::string, std::string>> load_titles(Reader& reader, const std::set<std::string>& names);

// People see titles where machines get what an identity is sorted under, and the title in a column of its own.
Status show_titles(Reader& reader, Table& table);

// What containers are called, by their labels (model/container.h); those without a name are left out.
Result<std::map<std::string, std::string>> container_names(Reader& reader);

// What containers are called stands beside their ids, where that of one is known.
Status show_container_names(Reader& reader, Table& table);

// What --group takes.
std::vector<std::string> process_groups();

// The key that one of them puts a process under. Empty: it has none, as a process outside of containers.
std::string group_key(const StoredProcess& process, std::string_view group);

// The pid, and for machines when the process started and what it is: "comm", "command", "user", "category" … `info`
// finds the ProcessInfo of a row.
template <typename Row, typename GetInfo>
void add_process(Columns<Row>& columns, GetInfo info, int least_useful = 0) {
  columns.add({"pid", "PID", Kind::count, least_useful}, [info](const Row& row) { return info(row)->key.pid; });
  columns.add(for_machines("start_ms", Kind::time), [info](const Row& row) { return info(row)->start_ms; });
  const auto text = [&](const char* name, std::string ProcessInfo::*member) {
    columns.add(for_machines(name), [info, member](const Row& row) { return info(row)->*member; });
  };
  text("comm", &ProcessInfo::comm);
  text("command", &ProcessInfo::command);
  text("exe", &ProcessInfo::exe);
  text("user", &ProcessInfo::user);
  text("category", &ProcessInfo::category);
  text("cgroup", &ProcessInfo::cgroup);
}

// For people alone: whose it is.
template <typename Row, typename GetInfo>
void add_owner(Columns<Row>& columns, GetInfo info, int least_useful_user, int least_useful_category) {
  columns.add(for_people("USER", Kind::text, least_useful_user), [info](const Row& row) { return info(row)->user; });
  columns.add(for_people("CATEGORY", Kind::text, least_useful_category),
              [info](const Row& row) { return info(row)->category; });
}

// The last column: what the members of a group share. People see a command line as of a process.
template <typename Row>
void add_group_name(Columns<Row>& columns, const std::string& group) {
  std::string header = group;
  for (char& c : header) c = static_cast<char>(c - 'a' + 'A');
  if (group != "command") {
    columns.add({group, header, Kind::text}, &Row::name);
    return;
  }
  columns.add(for_machines(group), &Row::name);
  columns.add(for_people(header), [](const Row& row) { return short_command(row.name); });
}

}  // namespace memoir::query
