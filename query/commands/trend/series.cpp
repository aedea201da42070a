#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unordered_map>

#include "base/text.h"
#include "model/metric.h"
#include "query/commands/trend/trend.h"
#include "query/history/history.h"
#include "query/history/tier.h"
#include "query/names/subject_word.h"
#include "query/state/process_columns.h"
#include "store/names.h"

namespace memoir::query {

namespace {

Error wrong_metric(const std::string& by, const std::string& of, SubjectKind kind) {
  return malformed(fmt::format("--by {} is not of {}: choose one of {}", by, of, fmt::join(metric_names(kind), ", ")));
}

Result<Series> machine_series(const Context& context, const TrendQuestion& question) {
  const std::string by = context.options.by.value_or(std::string(to_string(Metric::used)));
  const auto metric = parse_metric(by, SubjectKind::machine);
  if (!metric) return wrong_metric(by, "the machine", SubjectKind::machine);
  Series series{by, std::string(metric_title(*metric)), {}};
  TRY(context.reader.history({question.tier, SubjectKind::machine, {}, question.range, {*metric}},
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

Status sum_members(Reader& reader, const TrendQuestion& question, const std::vector<StoredProcess>& members,
                   const ProcessHistory& history, Series& series) {
  std::unordered_map<std::int64_t, std::optional<std::int64_t>> gone;
  for (const StoredProcess& member : members) gone[member.id] = member.gone_ms;
  const MakeSum make = TRY(sums_over(reader, question.tier, question.range));
  SubjectSum sum = make();
  TRY(history.visit([&](const SubjectInterval& of) {
    const auto member = gone.find(of.subject_id);
    if (member == gone.end()) return;
    series.exactness.add(question.tier, of);
    sum.add(of.subject_id, of.interval, member->second == of.interval.until_ms);
  }));
  series.intervals = sum.intervals();
  return Done{};
}

// A group that has a history of its own; of a cgroup those below it have too, and are summed.
std::optional<SubjectKind> whole_kind(const Subject& subject, Tier tier) {
  if (subject.category) return kept_kind(tier, "category");
  return subject.name.starts_with("cgroup:") ? kept_kind(tier, "cgroup") : std::nullopt;
}

// False: it has none, or none in this range.
Result<bool> read_whole(Reader& reader, const TrendQuestion& question, const Subject& subject, Metric metric,
                        Series& series) {
  const std::optional<SubjectKind> kind = whole_kind(subject, question.tier);
  if (!kind) return false;
  const std::map<std::int64_t, std::string> names = TRY(load_group_names(reader, *kind));
  std::vector<std::int64_t> parts;
  for (const auto& [id, name] : names) {
    if (*kind == SubjectKind::cgroup ? is_in_cgroup(name, subject.value) : name == subject.value) parts.push_back(id);
  }
  if (parts.empty()) return false;
  const MakeSum make = TRY(sums_over(reader, question.tier, question.range));
  SubjectSum sum = make();
  for (const std::int64_t part : parts) {
    TRY(reader.history({question.tier, *kind, part, question.range, {metric}}, [&](const SubjectInterval& of) {
      series.exactness.add(question.tier, of);
      parts.size() == 1 ? series.intervals.push_back(of.interval) : sum.add(part, of.interval);
    }));
  }
  if (parts.size() > 1) series.intervals = sum.intervals();
  return !series.intervals.empty();
}

// The processes that the subject may be.
Result<ProcessHistory> candidates_of(Reader& reader, const Subject& subject, const TrendQuestion& question,
                                     Metric metric) {
  HistoryQuestion history{question.tier, SubjectKind::process, {}, question.range, {metric}};
  history.zombies = true;
  if (subject.kind != Subject::Kind::process) return ProcessHistory::load(reader, history);
  return ProcessHistory::of(reader, history, TRY(load_processes_of_pid(reader, question.range, subject.pid)));
}

Result<Series> process_series(const Context& context, Subject subject, const TrendQuestion& question, Metric metric) {
  Reader& reader = context.reader;
  std::optional<ProcessHistory> candidates;
  if (subject.kind == Subject::Kind::word) {
    candidates = TRY(candidates_of(reader, subject, question, metric));
    subject = TRY(choose_subject(context, std::move(subject), candidates->processes(), question.range));
  }
  Series series{std::string(to_string(metric)), title_of(subject, metric, {}), {}};
  const bool whole = TRY(read_whole(reader, question, subject, metric, series));
  if (whole) return series;
  if (!candidates) candidates = TRY(candidates_of(reader, subject, question, metric));
  const std::vector<StoredProcess> members = TRY(members_of(subject, candidates->processes(), context.options.zone));
  series.title = title_of(subject, metric, members);
  series.members = static_cast<std::int64_t>(members.size());
  TRY(sum_members(reader, question, members, *candidates, series));
  return series;
}

}  // namespace

std::vector<std::string> metric_names(SubjectKind kind) {
  return names_of(metrics_of(kind));
}

Result<Series> load_series(const Context& context, Subject subject, const TrendQuestion& question) {
  if (subject.kind == Subject::Kind::machine) return machine_series(context, question);
  const std::string by = context.options.by.value_or(std::string(to_string(Metric::pss)));
  const std::optional<Metric> metric = parse_metric(by);
  if (!metric) return wrong_metric(by, "a process", SubjectKind::process);
  if (*metric == Metric::hwm && subject.kind != Subject::Kind::process) {
    return malformed("--by hwm is of one process: marks that were reached at different times have no sum");
  }
  if (!holds_metric(question.tier, *metric)) {
    return malformed("--by hwm is of ticks: rollups do not hold the high-water mark (memoir peaks tells it)");
  }
  return process_series(context, std::move(subject), question, *metric);
}

}  // namespace memoir::query
