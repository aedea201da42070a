#pragma once

// Names and lifetimes of processes and groups.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/reader.h"

namespace memoir {

// Visits the processes that ran in the range, including those still running, in row order. The visited value is valid
// until `visit` returns.
Status visit_processes(Reader& reader, Range range, const VisitProcess& visit);

// Returns the same processes, but at most the 40,000 with the longest lifetimes. `left_out` gets the number of the
// others.
Result<std::vector<StoredProcess>> load_processes(Reader& reader, Range range, std::int64_t* left_out = nullptr);

// Returns the same processes without their names. If `identity_id` is set, returns only those of this identity.
Result<std::vector<StoredLife>> load_lives(Reader& reader, Range range, std::optional<std::int64_t> identity_id = {});

// Visit or return the processes of the given rows, or those with a pid that ran in the range. In a file with many
// processes, each costs a fraction of load_processes().
Status visit_processes_by_id(Reader& reader, const std::vector<std::int64_t>& ids, const VisitProcess& visit);
Result<std::vector<StoredProcess>> load_processes_by_id(Reader& reader, const std::vector<std::int64_t>& ids);
Result<std::vector<StoredProcess>> load_processes_of_pid(Reader& reader, Range range, std::int32_t pid);

// Returns the distinct command lines of each identity, at most the 64 oldest.
Result<std::map<std::int64_t, std::vector<std::string>>> load_commands_of(
    Reader& reader, const std::vector<std::int64_t>& identity_ids);

// Returns the most recently started process of each identity.
Result<std::vector<StoredProcess>> load_newest_of(Reader& reader, const std::vector<std::int64_t>& identity_ids);

// Returns the names of the categories, identities (unit and command) or cgroups of the file, by row id.
Result<std::map<std::int64_t, std::string>> load_group_names(Reader& reader, SubjectKind kind);

// Visits the identities observed in the range, by row. Without a range it visits all identities of the file, at a
// fraction of the cost; their last_ms may then be as old as the last rollup.
Status visit_identities(Reader& reader, std::optional<Range> range, const std::function<void(StoredIdentity&&)>& visit);
Result<std::vector<StoredIdentity>> load_identities(Reader& reader, std::optional<Range> range);

// Returns all containers of the file, sorted by the paths of their cgroups.
Result<std::vector<CgroupContainer>> load_containers(Reader& reader);

}  // namespace memoir
