#pragma once

// Parsers of single log lines of mm/oom_kill.c and mm/memcontrol.c; oom_reports.h combines the lines. Names of
// processes and cgroups are unquoted and may contain any bytes, so the text after a name is parsed from the end of the
// line. The parsers return nullopt for other lines. Results are views into the line.

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/exit.h"

namespace memoir {

// Returns the name in "my hog,x=1 (y) invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0".
std::optional<std::string_view> parse_oom_invoked(std::string_view line);

struct OomUsage {
  std::int64_t usage_kib = 0;
  std::optional<std::int64_t> limit_kib;  // nullopt if there is no limit
};

// Parses "memory: usage 51200kB, limit 51200kB, failcnt 19".
std::optional<OomUsage> parse_oom_usage(std::string_view line, std::int64_t page_kib);

// Positions of the columns of a row; the first column after the pid has position 0.
struct OomColumns {
  std::size_t numbers = 0;  // number of columns before the name
  std::size_t tgid = 0;
  std::size_t rss = 0;
  std::optional<std::size_t> swap;
};

// Parses the header, whose columns vary between kernels: "[  pid  ]   uid  tgid total_vm      rss pgtables_bytes
// swapents oom_score_adj name".
std::optional<OomColumns> parse_oom_columns(std::string_view line);

struct OomRow {
  std::int32_t thread = 0;  // the number in brackets: the process, or a thread that outlived the main thread
  std::int32_t pid = 0;
  std::int64_t rss_kib = 0;
  std::int64_t swap_kib = 0;
  std::string_view name;
};

// Parses "[  10927]     0 10927    10522    10387    118784        0             0 holder", with sizes in pages.
std::optional<OomRow> parse_oom_row(std::string_view line, const OomColumns& columns, std::int64_t page_kib);

// The line before the kill, since Linux 4.20:
//   oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/a,task_memcg=/a/b,task=x,…
//   oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/a,task=x,…
// Both end with pid=7777,uid=0.
struct OomChoice {
  OomScope scope = OomScope::machine;
  std::int32_t pid = 0;
  std::string_view limit_cgroup;  // empty if there is none
  std::string_view cgroup;        // cgroup of the task
};

inline constexpr std::string_view kOomChoice = "oom-kill:constraint=";

// `comm` is the task's name from the kill line. It is needed to distinguish a name from a path that ends in ",task=x".
std::optional<OomChoice> parse_oom_choice(std::string_view line, std::string_view comm);

struct OomCgroups {
  std::string_view cgroup;
  std::string_view limit_cgroup;
};

// Parses the equivalent line before Linux 4.20: "Task in /a/b killed as a result of limit of /a".
std::optional<OomCgroups> parse_oom_cgroups(std::string_view line);

// The kill line: "Memory cgroup out of memory: Killed process 7777 (x) total-vm:411944kB, anon-rss:50944kB,
// file-rss:960kB, shmem-rss:0kB, UID:0 pgtables:140kB oom_score_adj:0". Before Linux 5.1 it starts with "Killed
// process".
struct OomKill {
  std::optional<OomScope> scope;  // nullopt if the line does not start with a cause
  std::int32_t pid = 0;
  std::string_view comm;
  std::optional<std::int64_t> anon_kib;
  std::optional<std::int64_t> file_kib;
  std::optional<std::int64_t> shmem_kib;
};

std::optional<OomKill> parse_oom_kill(std::string_view line);

// Returns the scope in a line of Linux 5.0 and older: "Memory cgroup out of memory: Kill process 7777 (x) score 994 or
// sacrifice child".
std::optional<OomScope> parse_oom_intention(std::string_view line);

// Recognises "Tasks in /a are going to be killed due to memory.oom.group set".
bool is_oom_group(std::string_view line);

// Recognises "Out of memory and no killable processes...".
bool is_oom_without_victim(std::string_view line);

}  // namespace memoir
