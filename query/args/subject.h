#pragma once

// What an answer can be about: the machine, one process, or the processes that have something in common.
//
//   machine
//   812                  the process of that pid; 812@1795166412 where the pid had several lives
//   category:web  user:www-data  comm:nginx  cgroup:/system.slice  exe:/usr/sbin/nginx  …    (~REGEX instead of :NAME)
//   web                  whatever is called so (query/names/subject_word.h)

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
    "one of category, unit, slice, cgroup (and what is below it), container, identity, exe, comm, command, user "
    "(KEY~REGEX "
    "searches)";

struct Subject {
  enum class Kind { machine, process, group, word } kind = Kind::machine;
  std::string name;                      // as it was written; of a group "category:web"
  std::int32_t pid = 0;                  // process
  std::optional<std::int64_t> start_ms;  // process: which life of the pid
  std::optional<std::string> category;   // group: it is a whole category, which has samples of its own
  Filter members;                        // group
  std::string key;                       // group: of filter_keys()
  std::string value;                     // group, by a name; empty: by a regex
};

// An unreadable one is malformed, and the message shows the forms.
Result<Subject> parse_subject(std::string_view text, std::int64_t now_ms, Zone zone);

// Those that have `value` for `key`, one of filter_keys().
Result<Subject> subject_of(std::string_view key, std::string_view value);

// The processes among `processes` that `subject` (a process or a group) is about. Of a process: its one life, with
// every exec in it; a pid with several lives is malformed, and the message lists them as pid@start. No process is
// ErrorKind::gone, and the message names the nearest.
Result<std::vector<StoredProcess>> members_of(const Subject& subject, const std::vector<StoredProcess>& processes,
                                              Zone zone);

}  // namespace memoir::query
