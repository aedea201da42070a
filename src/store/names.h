#pragma once

// Processes and groups: what they are called, and when they lived.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/reader.h"

namespace memoir {

// Processes that lived in the range, those that still live included, in the order of their rows. What is visited is
// valid until `visit` returns.
Status visit_processes(Reader& reader, Range range, const VisitProcess& visit);
Result<std::vector<StoredProcess>> load_processes(Reader& reader, Range range);
Result<std::vector<StoredLife>> load_lives(Reader& reader, Range range);

// The processes of the rows given, and those with a pid that lived in the range: at a fraction of the cost where a file
// knows of many processes.
Result<std::vector<StoredProcess>> load_processes_by_id(Reader& reader, const std::vector<std::int64_t>& ids);
Result<std::vector<StoredProcess>> load_processes_of_pid(Reader& reader, Range range, std::int32_t pid);

// The process of each identity that began last.
Result<std::vector<StoredProcess>> load_newest_of(Reader& reader, const std::vector<std::int64_t>& identity_ids);

// Names of the categories, identities (unit and command) or cgroups of the file, by their row.
Result<std::map<std::int64_t, std::string>> load_group_names(Reader& reader, SubjectKind kind);

// Identities that were seen in the range, by row; without a range all of the file, at a fraction of the cost: last_ms
// is then that of the last rollup.
Result<std::vector<StoredIdentity>> load_identities(Reader& reader, std::optional<Range> range);

// Containers by the paths of their cgroups, sorted by those: of all of the file.
Result<std::vector<CgroupContainer>> load_containers(Reader& reader);

}  // namespace memoir
