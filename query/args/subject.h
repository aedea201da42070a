#pragma once

// The subject of a query: the machine, one process, or processes with a common property.
//
//   machine
//   812                  the process with that pid; 812@1795166412 if the pid was reused
//   category:web  user:www-data  comm:nginx  cgroup:/system.slice  exe:/usr/sbin/nginx  …    (~REGEX instead of :NAME)
//   web                  any subject with that name (query/names/name_lookup.h)

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "query/args/filter.h"
#include "query/args/zone.h"
#include "store/types.h"

namespace memoir::query {

inline constexpr std::string_view kSubjectForms =
    "machine, PID, PID@START, a name (of a category, unit, cgroup, identity, program or user), or KEY:NAME with KEY "
    "one of category, unit, slice, cgroup (with its descendants), container, identity, exe, comm, command, script, "
    "user "
    "(KEY~REGEX "
    "searches)";

// Describes SUBJECT for --help.
std::string subject_help(std::string_view by_default);

struct Subject {
  enum class Kind { machine, process, group, word } kind = Kind::machine;
  std::string name;                      // as given; for a group "category:web"
  std::int32_t pid = 0;                  // process: its pid
  std::optional<std::int64_t> start_ms;  // process: its start, if given as PID@START
  std::optional<std::string> category;   // group: set if it is one whole category, which has its own samples
  Filter members;                        // group: accepts its members
  std::string key;                       // group: one of filter_keys()
  std::string value;                     // group: the value of the key; empty for a regex
};

// Returns the equivalent --filter expression; nullopt for the machine and for a plain word.
std::optional<std::string> filter_of(const Subject& subject);

// An unreadable subject is malformed, and the message shows the forms.
Result<Subject> parse_subject(std::string_view text, std::int64_t now_ms, Zone zone);

// Returns the subject of all processes with this value of a key, which is one of filter_keys().
Result<Subject> subject_of(std::string_view key, std::string_view value);

// Returns the processes among `processes` that belong to `subject`, which is a process or a group. For a process,
// returns all its images. If several processes had its pid, the error is malformed and lists them as pid@start. If no
// process belongs to `subject`, the error is not_found and names the most similar one.
Result<std::vector<StoredProcess>> members_of(const Subject& subject, const std::vector<StoredProcess>& processes,
                                              Zone zone);

}  // namespace memoir::query
