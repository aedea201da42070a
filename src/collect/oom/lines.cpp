#include "collect/oom/lines.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "collect/oom/log_record.h"

namespace memoir {
namespace {

constexpr std::size_t kMaxCommBytes = 15;  // TASK_COMM_LEN
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Removes the text before `mark`, and `mark` itself, from the front of `text`. Returns the text before it.
std::optional<std::string_view> take_until(std::string_view& text, std::string_view mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view before = text.substr(0, at);
  text.remove_prefix(at + mark.size());
  return before;
}

// Removes the last `mark` and the text after it from the end of `text`. Returns the text after it.
std::optional<std::string_view> take_behind(std::string_view& text, std::string_view mark) {
  const std::size_t at = text.rfind(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view behind = text.substr(at + mark.size());
  text = text.substr(0, at);
  return behind;
}

template <typename Int>
std::optional<Int> natural(std::optional<std::string_view> text) {
  const auto value = text ? parse_number<Int>(*text) : std::nullopt;
  return value && *value >= 0 ? value : std::nullopt;
}

// Returns the number after a key: "anon-rss:50944kB" has the key "anon-rss:".
std::optional<std::int64_t> kib_of(std::string_view text, std::string_view key) {
  if (!take_until(text, key)) return std::nullopt;
  return natural<std::int64_t>(take_until(text, "kB"));
}

std::optional<std::int64_t> kib_of_pages(std::string_view text, std::int64_t page_kib) {
  const auto pages = natural<std::int64_t>(text);
  if (!pages || *pages > kMost / page_kib) return std::nullopt;
  return *pages * page_kib;
}

std::optional<OomScope> scope_of(std::string_view constraint) {
  if (constraint == "CONSTRAINT_NONE") return OomScope::machine;
  if (constraint == "CONSTRAINT_MEMCG") return OomScope::cgroup;
  if (constraint == "CONSTRAINT_CPUSET" || constraint == "CONSTRAINT_MEMORY_POLICY") return OomScope::nodes;
  return std::nullopt;
}

// Removes the cause from the front of a line. It is "Memory cgroup out of memory: ", "Out of memory: " or "Out of
// memory (…): ".
std::optional<OomScope> take_cause(std::string_view& line) {
  if (take(line, "Memory cgroup out of memory: ")) return OomScope::cgroup;
  if (take(line, "Out of memory: ")) return OomScope::machine;
  if (take(line, "Out of memory (") && take_until(line, "): ")) return OomScope::machine;
  return std::nullopt;
}

}  // namespace

std::optional<std::string_view> parse_oom_invoked(std::string_view line) {
  const auto comm = take_until(line, " invoked oom-killer: gfp_mask=");
  // A longer text is not a process name, but the path of a cgroup with such a name.
  if (!comm || unescape_log(*comm).size() > kMaxCommBytes) return std::nullopt;
  return comm;
}

std::optional<OomUsage> parse_oom_usage(std::string_view line, std::int64_t page_kib) {
  if (!line.starts_with("memory: usage ")) return std::nullopt;
  const auto usage = kib_of(line, "usage ");
  auto limit = kib_of(line, ", limit ");
  if (!usage || !limit) return std::nullopt;
  const std::int64_t unlimited_kib = kMost / (page_kib * 1024) * page_kib;  // PAGE_COUNTER_MAX
  if (*limit >= unlimited_kib) limit.reset();
  return OomUsage{*usage, limit};
}

std::optional<OomColumns> parse_oom_columns(std::string_view line) {
  if (!take(line, "[")) return std::nullopt;
  const auto pid = take_until(line, "]");
  if (!pid || trim(*pid) != "pid") return std::nullopt;
  std::optional<std::size_t> tgid;
  std::optional<std::size_t> rss;
  OomColumns columns;
  for (std::string_view word = cut_word(line); !word.empty(); word = cut_word(line)) {
    if (word == "name") return tgid && rss ? std::optional(columns) : std::nullopt;
    if (word == "tgid") tgid = columns.tgid = columns.numbers;
    if (word == "rss") rss = columns.rss = columns.numbers;
    if (word == "swapents") columns.swap = columns.numbers;
    ++columns.numbers;
  }
  return std::nullopt;
}

std::optional<OomRow> parse_oom_row(std::string_view line, const OomColumns& columns, std::int64_t page_kib) {
  if (!take(line, "[")) return std::nullopt;
  const auto thread = take_until(line, "]");
  const auto number = thread ? natural<std::int32_t>(trim(*thread)) : std::nullopt;
  if (!number) return std::nullopt;
  OomRow row;
  row.thread = *number;
  for (std::size_t i = 0; i < columns.numbers; ++i) {
    // The last number is followed by one space and then by a name, which may start with spaces.
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const std::string_view word = cut(line, ' ');
    if (!parse_number<std::int64_t>(word)) return std::nullopt;
    if (i == columns.tgid) {
      const auto pid = natural<std::int32_t>(word);
      if (!pid) return std::nullopt;
      row.pid = *pid;
    }
    if (i != columns.rss && i != columns.swap) continue;
    const auto kib = kib_of_pages(word, page_kib);
    if (!kib) return std::nullopt;
    (i == columns.rss ? row.rss_kib : row.swap_kib) = *kib;
  }
  row.name = line;
  return row;
}

std::optional<OomChoice> parse_oom_choice(std::string_view line, std::string_view comm) {
  if (!take(line, kOomChoice)) return std::nullopt;
  const auto uid = natural<std::uint32_t>(take_behind(line, ",uid="));
  const auto pid = natural<std::int32_t>(take_behind(line, ",pid="));
  if (!uid || !pid) return std::nullopt;
  constexpr std::string_view task = ",task=";
  if (line.ends_with(comm) && line.substr(0, line.size() - comm.size()).ends_with(task)) {
    line.remove_suffix(comm.size() + task.size());
  } else if (!take_behind(line, task)) {  // the process has changed its name
    return std::nullopt;
  }
  const auto constraint = take_until(line, ",");
  const auto scope = constraint ? scope_of(*constraint) : std::nullopt;
  if (!scope) return std::nullopt;
  OomChoice choice;
  choice.scope = *scope;
  choice.pid = *pid;
  std::string_view limit = line;
  if (choice.scope == OomScope::cgroup && take_until(limit, ",oom_memcg=")) {
    const auto path = take_until(limit, ",task_memcg=");
    if (!path) return std::nullopt;
    choice.limit_cgroup = *path;
    choice.cgroup = limit;
  } else if (take_until(line, ",task_memcg=")) {  // absent if the kernel has no memory controller
    choice.cgroup = line;
  }
  return choice;
}

std::optional<OomCgroups> parse_oom_cgroups(std::string_view line) {
  if (!take(line, "Task in ")) return std::nullopt;
  const auto cgroup = take_until(line, " killed as a result of limit of ");
  if (!cgroup) return std::nullopt;
  return OomCgroups{*cgroup, line};
}

std::optional<OomKill> parse_oom_kill(std::string_view line) {
  OomKill kill;
  kill.scope = take_cause(line);
  if (!take(line, "Killed process ")) return std::nullopt;
  const auto pid = natural<std::int32_t>(take_until(line, " ("));
  const auto sizes = take_behind(line, ") total-vm:");
  if (!pid || !sizes) return std::nullopt;
  kill.pid = *pid;
  kill.comm = line;
  kill.anon_kib = kib_of(*sizes, "anon-rss:");
  kill.file_kib = kib_of(*sizes, "file-rss:");
  kill.shmem_kib = kib_of(*sizes, "shmem-rss:");
  return kill;
}

std::optional<OomScope> parse_oom_intention(std::string_view line) {
  const auto scope = take_cause(line);
  return line.starts_with("Kill process ") ? scope : std::nullopt;
}

bool is_oom_group(std::string_view line) {
  return line.starts_with("Tasks in ") && line.ends_with(" are going to be killed due to memory.oom.group set");
}

bool is_oom_without_victim(std::string_view line) {
  return line.starts_with("Out of memory and no killable processes");
}

}  // namespace memoir
