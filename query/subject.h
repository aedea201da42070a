#pragma once

// What an answer can be about: the machine, one process, or the processes that have something in common.
//
//   machine
//   812                  the process of that pid; 812@1795166412 where the pid had several lives
//   category:web         or just web
//   user:www-data  comm:nginx  cgroup:/system.slice  exe:/usr/sbin/nginx  command:…     (~REGEX instead of :VALUE)

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "query/filter.h"
#include "query/zone.h"
#include "store/reader.h"

namespace memoir::query {

inline constexpr std::string_view kSubjectForms =
    "machine, PID, PID@START, a category's name, or category:NAME, user:NAME, comm:NAME, cgroup:PATH, exe:PATH "
    "(KEY~REGEX searches)";

struct Subject {
  enum class Kind { machine, process, group } kind = Kind::machine;
  std::string name;                      // as it was written
  std::int32_t pid = 0;                  // process
  std::optional<std::int64_t> start_ms;  // process: which life of the pid
  std::optional<std::string> category;   // group: it is a whole category, which has samples of its own
  Filter members;                        // group
};

// An unreadable one is malformed, and the message shows the forms.
Result<Subject> parse_subject(std::string_view text, std::int64_t now_ms, Zone zone);

// The processes among `processes` that `subject` (a process or a group) is about. Of a process: its one life, with
// every exec in it; a pid with several lives is malformed, and the message lists them as pid@start. No process, or a
// category that none is in, is malformed too, and the message names the nearest.
Result<std::vector<StoredProcess>> members_of(const Subject& subject, const std::vector<StoredProcess>& processes,
                                              Zone zone);

}  // namespace memoir::query
