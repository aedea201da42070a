#pragma once

// The lines of mm/oom_kill.c and mm/memcontrol.c, each by itself; oom_reports.h puts them together. Names of processes
// and cgroups stand in them without quotes and hold any bytes, so that what stands behind a name is found from the end
// of the line. A line that is not of the kind asked for is nothing. Views point into the line.

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/exit.h"

namespace memoir {

// "my hog,x=1 (y) invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0": the name.
std::optional<std::string_view> parse_oom_invoked(std::string_view line);

struct OomUsage {
  std::int64_t usage_kib = 0;
  std::optional<std::int64_t> limit_kib;  // absent: there is none
};

// "memory: usage 51200kB, limit 51200kB, failcnt 19"
std::optional<OomUsage> parse_oom_usage(std::string_view line, std::int64_t page_kib);

// The columns that a row is read by, numbered from the first behind the pid.
struct OomColumns {
  std::size_t numbers = 0;  // how many there are before the name
  std::size_t tgid = 0;
  std::size_t rss = 0;
  std::optional<std::size_t> swap;
};

// "[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name": other columns with each kernel.
std::optional<OomColumns> parse_oom_columns(std::string_view line);

struct OomRow {
  std::int32_t thread = 0;  // in brackets: of the process, or of a thread that outlived the first
  std::int32_t pid = 0;
  std::int64_t rss_kib = 0;
  std::int64_t swap_kib = 0;
  std::string_view name;
};

// "[  10927]     0 10927    10522    10387    118784        0             0 holder", sizes in pages.
std::optional<OomRow> parse_oom_row(std::string_view line, const OomColumns& columns, std::int64_t page_kib);

// Before the choice is carried out, since Linux 4.20:
//   oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/a,task_memcg=/a/b,task=x,…
//   oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/a,task=x,…
// and at its end pid=7777,uid=0.
struct OomChoice {
  OomScope scope = OomScope::machine;
  std::int32_t pid = 0;
  std::string_view limit_cgroup;  // empty: none
  std::string_view cgroup;        // of the task
};

inline constexpr std::string_view kOomChoice = "oom-kill:constraint=";

// `comm`: the task's name as the line of the kill has it, without which a path that ends in ",task=x" is not told from
// a name.
std::optional<OomChoice> parse_oom_choice(std::string_view line, std::string_view comm);

struct OomCgroups {
  std::string_view cgroup;
  std::string_view limit_cgroup;
};

// The same before Linux 4.20: "Task in /a/b killed as a result of limit of /a".
std::optional<OomCgroups> parse_oom_cgroups(std::string_view line);

// "Memory cgroup out of memory: Killed process 7777 (x) total-vm:411944kB, anon-rss:50944kB, file-rss:960kB,
// shmem-rss:0kB, UID:0 pgtables:140kB oom_score_adj:0", on one line. Before Linux 5.1 it begins with "Killed process".
struct OomKill {
  std::optional<OomScope> scope;  // as far as the words before tell it
  std::int32_t pid = 0;
  std::string_view comm;
  std::optional<std::int64_t> anon_kib;
  std::optional<std::int64_t> file_kib;
  std::optional<std::int64_t> shmem_kib;
};

std::optional<OomKill> parse_oom_kill(std::string_view line);

// "Memory cgroup out of memory: Kill process 7777 (x) score 994 or sacrifice child", until Linux 5.0: the scope alone.
std::optional<OomScope> parse_oom_intention(std::string_view line);

// "Tasks in /a are going to be killed due to memory.oom.group set"
bool is_oom_group(std::string_view line);

// "Out of memory and no killable processes...": there was nobody to choose.
bool is_oom_in_vain(std::string_view line);

}  // namespace memoir
