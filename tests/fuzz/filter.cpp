#include "query/args/filter.h"

#include "fuzz/require.h"
#include "fuzz/targets.h"
#include "query/args/subject.h"

namespace memoir::fuzz {
namespace {

constexpr std::int64_t kAsked = 1'795'166'412'000;

std::vector<StoredProcess> some_processes() {
  std::vector<StoredProcess> processes(3);
  for (std::size_t i = 0; i < processes.size(); ++i) {
    ProcessInfo& info = processes[i].info;
    info.key.pid = static_cast<std::int32_t>(7 + i);
    info.comm = i == 0 ? "nginx" : "postgres";
    info.command = info.comm + ": worker";
    info.user = "web";
    info.category = i == 0 ? "web" : "database";
    info.cgroup = "/system.slice/" + info.comm + ".service";
  }
  return processes;
}

void require_subject(std::string_view text, const std::vector<StoredProcess>& processes) {
  const auto subject = query::parse_subject(text, kAsked, query::Zone::utc);
  if (!subject) return require_shown(subject.error());
  if (subject->kind != query::Subject::Kind::process && subject->kind != query::Subject::Kind::group) return;
  const auto members = query::members_of(*subject, processes, query::Zone::utc);
  if (members) return require(!members->empty(), "an empty group is an error");
  require(to_printable(members.error().message) == members.error().message, "the error is printable");
}

}  // namespace

// Each line is tried as an expression and as a subject.
void filter(std::string_view text) {
  static const std::vector<StoredProcess> processes = some_processes();
  std::vector<std::string> expressions;
  while (!text.empty() && expressions.size() < 8) {
    const std::string_view line = cut_line(text);
    require_subject(line, processes);
    expressions.emplace_back(line);
  }
  const auto filter = query::Filter::parse(expressions);
  if (!filter) return require_shown(filter.error());
  for (const StoredProcess& process : processes) {
    const bool taken = filter->matches(process);
    require(taken || !filter->takes_all(), "a filter that accepts all accepts each");
  }
  for (const query::Filter::Miss& miss : filter->misses(processes)) {
    require(to_printable(miss.sentence) == miss.sentence, "names of missing values are printable");
  }
}

}  // namespace memoir::fuzz
