#include "collect/oom/oom_reports.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/text.h"

namespace memoir {
namespace {

// Limit on a choice line. A path may be longer than a record, but without its end the line cannot be parsed.
constexpr std::size_t kMaxChoiceBytes = 16 * 1024;
// Maximum time between two kills of a group, which is long with a slow console.
constexpr std::int64_t kGroupGapUs = 2'000'000;
// The 15 bytes of a name (TASK_COMM_LEN), each escaped as \xNN.
constexpr std::size_t kMaxNameBytes = 15 * 4;

std::string cgroup_of(std::string_view escaped) {
  return escape_bytes(unescape_log(escaped));
}

std::string name_of(std::string_view escaped) {
  return to_utf8(unescape_log(escaped.substr(0, kMaxNameBytes)));
}

}  // namespace

void OomReports::forget() {
  lines_ = {};
  group_ = {};
  in_group_ = false;
}

std::optional<OomReport> OomReports::add(const LogRecord& record) {
  if (!record.kernel) return std::nullopt;
  if (record.fragment) {
    // A fragment may start with any text of a cgroup's name, so it is only used to continue a choice line.
    const bool open = !lines_.choice.empty() && lines_.choice.find(",uid=") == std::string::npos;
    if (open && lines_.choice.size() + record.message.size() <= kMaxChoiceBytes) lines_.choice += record.message;
    return std::nullopt;
  }
  // The line "… invoked oom-killer" is parsed first, because no other line starts with a name.
  if (const auto comm = parse_oom_invoked(record.message)) {
    forget();
    lines_.detail.invoked_by = name_of(*comm);
    return std::nullopt;
  }
  if (const auto kill = parse_oom_kill(record.message)) return finish(*kill, record.boot_us);
  add_line(record.message);
  return std::nullopt;
}

void OomReports::add_line(std::string_view line) {
  if (line.starts_with(kOomChoice)) {
    lines_.choice = line.substr(0, kMaxChoiceBytes);
  } else if (const auto usage = parse_oom_usage(line, page_kib_)) {
    lines_.detail.usage_kib = usage->usage_kib;
    lines_.detail.limit_kib = usage->limit_kib;
  } else if (const auto columns = parse_oom_columns(line)) {
    lines_.columns = columns;
    lines_.largest.clear();
  } else if (const auto row = lines_.columns ? parse_oom_row(line, *lines_.columns, page_kib_) : std::nullopt) {
    add_row(*row);
  } else if (const auto of = parse_oom_cgroups(line)) {
    lines_.cgroup = cgroup_of(of->cgroup);
    lines_.detail.limit_cgroup = cgroup_of(of->limit_cgroup);
    lines_.detail.scope = OomScope::cgroup;
  } else if (const auto scope = parse_oom_intention(line)) {
    lines_.detail.scope = *scope;
  } else if (is_oom_group(line)) {
    in_group_ = true;
  } else if (is_oom_without_victim(line)) {
    forget();
  }
}

void OomReports::add_row(const OomRow& row) {
  std::vector<Row>& largest = lines_.largest;
  const bool full = largest.size() > OomDetail::kMaxTasks;
  if (full && row.rss_kib <= largest.back().task.rss_kib) return;
  if (full) largest.pop_back();
  const auto at = std::ranges::upper_bound(largest, row.rss_kib, std::greater(),
                                           [](const Row& other) { return other.task.rss_kib; });
  largest.insert(at, {row.thread, {row.pid, name_of(row.name), row.rss_kib, row.swap_kib}});
}

// Takes the choice line. If it is about another process, the kernel has omitted the lines of this kill, and no earlier
// line belongs to it.
void OomReports::take_choice(const OomKill& kill, OomReport& report) {
  if (lines_.choice.empty()) return;
  const auto choice = parse_oom_choice(lines_.choice, kill.comm);
  if (!choice) return;
  const auto is_thread = [&](const Row& row) { return row.thread == kill.pid && row.task.pid == choice->pid; };
  if (choice->pid != kill.pid && std::ranges::none_of(lines_.largest, is_thread)) {
    lines_ = {};
    return;
  }
  report.cgroup = cgroup_of(choice->cgroup);
  lines_.detail.scope = choice->scope;
  lines_.detail.limit_cgroup = cgroup_of(choice->limit_cgroup);
}

OomReport OomReports::finish(const OomKill& kill, std::int64_t boot_us) {
  in_group_ = in_group_ && boot_us - killed_us_ <= kGroupGapUs;
  const bool more = !lines_.choice.empty() || lines_.columns || lines_.detail != OomDetail{};
  if (in_group_ && !more) lines_ = group_;
  OomReport report{.pid = kill.pid, .comm = name_of(kill.comm), .cgroup = lines_.cgroup};
  // The kill line has no scope "nodes", which the choice line has. An older kernel reports the scope in an earlier
  // line.
  const bool of_nodes = kill.scope == OomScope::machine && lines_.detail.scope == OomScope::nodes;
  if (kill.scope && !of_nodes) lines_.detail.scope = *kill.scope;
  take_choice(kill, report);
  report.detail = lines_.detail;
  report.detail.anon_kib = kill.anon_kib;
  report.detail.file_kib = kill.file_kib;
  report.detail.shmem_kib = kill.shmem_kib;
  for (const Row& row : lines_.largest) {
    const bool victim = row.thread == kill.pid || row.task.pid == kill.pid;
    if (!victim && report.detail.others.size() < OomDetail::kMaxTasks) report.detail.others.push_back(row.task);
  }
  killed_us_ = boot_us;
  group_ = std::exchange(lines_, {});
  // The choice line and the cgroup belong to the first victim; other victims may be in a descendant cgroup.
  group_.choice.clear();
  group_.cgroup.clear();
  return report;
}

}  // namespace memoir
