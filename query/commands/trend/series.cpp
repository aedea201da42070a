#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "model/metric.h"
#include "query/answer/history.h"
#include "query/answer/process_columns.h"
#include "query/answer/subject_word.h"
#include "query/answer/tier.h"
#include "query/commands/trend/trend.h"

namespace memoir::query {

namespace {

Error wrong_metric(const std::string& by, const std::string& of, SubjectKind kind) {
  return malformed(fmt::format("--by {} is not of {}: choose one of {}", by, of, fmt::join(metric_names(kind), ", ")));
}

Result<Series> machine_series(const Context& context, const TrendSource& source) {
  const std::string by = context.options.by.value_or(std::string(to_string(Metric::used)));
  const auto metric = parse_metric(by, SubjectKind::machine);
  if (!metric) return wrong_metric(by, "the machine", SubjectKind::machine);
  Series series{by, std::string(metric_title(*metric)), {}};
  TRY(context.reader.history({source.tier, SubjectKind::machine, {}, source.range, {*metric}},
                             [&](const SubjectInterval& of) { series.intervals.push_back(of.interval); }));
  return series;
}

std::string title_of(const Subject& subject, Metric metric, const std::vector<StoredProcess>& members) {
  std::string of = subject.category ? "category " + *subject.category : subject.name;
  if (subject.kind == Subject::Kind::process && !members.empty()) {
    const ProcessInfo& info = members.back().info;
    of = fmt::format("process {} ({})", info.key.pid, info.comm);
  }
  if (subject.name.starts_with("identity") && !members.empty()) of = identity_title(members.back().info);
  return fmt::format("{} of {}", metric_title(metric), to_printable(of));
}

void account(const SubjectInterval& of, Tier tier, Series& series) {
  if (holds_groups(tier)) return series.exact.add(of.interval);
  if (of.processes == 0) return;
  series.member_ms += of.interval.covered_ms;
  if (!of.interval.mean) {
    series.unknown_ms += of.interval.covered_ms;
  } else if (of.interval.exact == 0) {
    series.inexact_ms += of.interval.covered_ms;
  }
}

Status sum_members(Reader& reader, const TrendSource& source, const std::vector<StoredProcess>& members,
                   const ProcessHistory& history, Series& series) {
  std::unordered_map<std::int64_t, std::optional<std::int64_t>> gone;
  for (const StoredProcess& member : members) gone[member.id] = member.gone_ms;
  const MakeSum make = TRY(sums_over(reader, source.tier, source.range));
  SubjectSum sum = make();
  TRY(history.visit([&](const SubjectInterval& of) {
    const auto member = gone.find(of.subject_id);
    if (member == gone.end()) return;
    account(of, source.tier, series);
    sum.add(of.subject_id, of.interval, member->second == of.interval.until_ms);
  }));
  series.intervals = sum.intervals();
  return Done{};
}

// A group that has rollups of its own; of a cgroup those below it have too, and are summed.
struct Whole {
  SubjectKind kind = SubjectKind::category;
  std::string name;
};

std::optional<Whole> whole_of(const Subject& subject, Tier tier) {
  if (!holds_groups(tier)) return std::nullopt;
  if (subject.category) return Whole{SubjectKind::category, *subject.category};
  constexpr std::string_view key = "cgroup";
  const std::string& text = subject.name;
  if (!text.starts_with(key) || text.size() <= key.size()) return std::nullopt;
  if (text[key.size()] != ':' && text[key.size()] != '=') return std::nullopt;
  return Whole{SubjectKind::cgroup, text.substr(key.size() + 1)};
}

// False: it has none, or none in this range.
Result<bool> read_whole(Reader& reader, const TrendSource& source, const Subject& subject, Metric metric,
                        Series& series) {
  const std::optional<Whole> whole = whole_of(subject, source.tier);
  if (!whole) return false;
  const std::map<std::int64_t, std::string> names = TRY(reader.group_names(whole->kind));
  std::vector<std::int64_t> parts;
  for (const auto& [id, name] : names) {
    if (whole->kind == SubjectKind::cgroup ? is_in_cgroup(name, whole->name) : name == whole->name) parts.push_back(id);
  }
  if (parts.empty()) return false;
  const MakeSum make = TRY(sums_over(reader, source.tier, source.range));
  SubjectSum sum = make();
  for (const std::int64_t part : parts) {
    TRY(reader.history({source.tier, whole->kind, part, source.range, {metric}}, [&](const SubjectInterval& of) {
      series.exact.add(of.interval);
      parts.size() == 1 ? series.intervals.push_back(of.interval) : sum.add(part, of.interval);
    }));
  }
  if (parts.size() > 1) series.intervals = sum.intervals();
  return !series.intervals.empty();
}

// The processes that the subject may be.
Result<ProcessHistory> candidates_of(Reader& reader, const Subject& subject, const TrendSource& source, Metric metric) {
  HistoryQuestion question{source.tier, SubjectKind::process, {}, source.range, {metric}};
  question.zombies = true;
  if (subject.kind != Subject::Kind::process) return ProcessHistory::load(reader, question);
  std::vector<StoredProcess> processes = TRY(reader.processes_of_pid(source.range, subject.pid));
  return ProcessHistory::of(reader, question, std::move(processes));
}

Result<Series> process_series(const Context& context, Subject subject, const TrendSource& source, Metric metric) {
  Reader& reader = context.reader;
  std::optional<ProcessHistory> candidates;
  if (subject.kind == Subject::Kind::word) {
    candidates = TRY(candidates_of(reader, subject, source, metric));
    subject = TRY(choose_subject(context, std::move(subject), candidates->processes(), source.range));
  }
  Series series{std::string(to_string(metric)), title_of(subject, metric, {}), {}};
  const bool whole = TRY(read_whole(reader, source, subject, metric, series));
  if (whole) return series;
  if (!candidates) candidates = TRY(candidates_of(reader, subject, source, metric));
  const std::vector<StoredProcess> members = TRY(members_of(subject, candidates->processes(), context.options.zone));
  series.title = title_of(subject, metric, members);
  series.members = static_cast<std::int64_t>(members.size());
  TRY(sum_members(reader, source, members, *candidates, series));
  return series;
}

}  // namespace

std::vector<std::string> metric_names(SubjectKind kind) {
  return each_of(metrics_of(kind), [](Metric metric) { return std::string(to_string(metric)); });
}

Result<Series> load_series(const Context& context, Subject subject, const TrendSource& source) {
  if (subject.kind == Subject::Kind::machine) return machine_series(context, source);
  const std::string by = context.options.by.value_or(std::string(to_string(Metric::pss)));
  const std::optional<Metric> metric = parse_metric(by);
  if (!metric) return wrong_metric(by, "a process", SubjectKind::process);
  if (*metric == Metric::hwm && subject.kind != Subject::Kind::process) {
    return malformed("--by hwm is of one process: marks that were reached at different times have no sum");
  }
  if (holds_groups(source.tier) && !info_of(*metric).rolled_up) {
    return malformed("--by hwm is of ticks: rollups do not hold the high-water mark (memoir peaks tells it)");
  }
  return process_series(context, std::move(subject), source, *metric);
}

}  // namespace memoir::query
