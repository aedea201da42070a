#pragma once

// What identifies a process in an answer: the same columns in every command that lists processes.

#include <optional>
#include <string>

#include "query/report.h"

namespace memoir::query {

// The command as a table shows it: the program without its directory, and its state where that says more ("[sh]
// (zombie)").
std::string shown_command(const ProcessInfo& info, char state);

// How long before the tick the values were read. Absent where none are known.
std::optional<std::int64_t> age_ms(const ProcessState& state, std::int64_t tick_ms);

// The key that a group puts a process under: category, command, user or cgroup.
const std::string& group_key(const ProcessInfo& info, std::string_view group);

// "comm", "command", "user", "category", "cgroup" and "pid" for machines. `info` finds the ProcessInfo of a row, or
// null.
template <typename Row, typename GetInfo>
void add_identity_for_machines(std::vector<ColumnOf<Row>>& columns, GetInfo info) {
  const auto text = [&](const char* name, std::string ProcessInfo::*member) {
    columns.push_back({{name, "", Kind::text, 0, Shown::machines}, [info, member](const Row& row) {
                         const ProcessInfo* found = info(row);
                         return found == nullptr ? Value() : Value(found->*member);
                       }});
  };
  columns.push_back({{"start_ms", "", Kind::time, 0, Shown::machines}, [info](const Row& row) {
                       const ProcessInfo* found = info(row);
                       return found == nullptr ? Value() : Value(found->start_ms);
                     }});
  text("comm", &ProcessInfo::comm);
  text("command", &ProcessInfo::command);
  text("exe", &ProcessInfo::exe);
  text("user", &ProcessInfo::user);
  text("category", &ProcessInfo::category);
  text("cgroup", &ProcessInfo::cgroup);
}

}  // namespace memoir::query
