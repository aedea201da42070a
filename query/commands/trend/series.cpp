#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unordered_map>

#include "analysis/span_stats.h"
#include "base/text.h"
#include "model/metric.h"
#include "query/commands/trend/trend.h"
#include "query/history/history.h"
#include "query/history/tier.h"
#include "query/names/name_lookup.h"
#include "query/state/process_columns.h"
#include "store/names.h"

namespace memoir::query {

namespace {

Error wrong_metric(const std::string& by, const std::string& of, SubjectKind kind) {
  return malformed(
      fmt::format("--by {} does not apply to {}: choose one of {}", by, of, fmt::join(metric_names(kind), ", ")));
}

// Returns the share of the time from `from_ms` to `until_ms` in which tasks stalled, in thousandths of a percent.
Interval pressure_share(std::int64_t from_ms, std::int64_t until_ms, std::int64_t stalled_us) {
  const std::int64_t length_ms = std::max<std::int64_t>(until_ms - from_ms, 1);
  const double share = std::min(1.0, static_cast<double>(stalled_us) / 1000 / static_cast<double>(length_ms));
  return constant(from_ms, until_ms, std::llround(share * 100 * static_cast<double>(kPerPercent)));
}

// Returns the share of the time between ticks by which the counter increased. While it does not change, the share is 0.
std::vector<Interval> shares_of_ticks(std::span<const Interval> counter, std::int64_t interval_ms) {
  std::vector<Interval> shares;
  const Interval* before = nullptr;
  for (const Interval& at : counter) {
    if (before != nullptr && before->until_ms == at.from_ms && before->last && at.last && *at.last >= *before->last) {
      const std::int64_t since_ms = std::max(before->from_ms, at.from_ms - interval_ms);
      if (since_ms < at.from_ms) shares.push_back(pressure_share(since_ms, at.from_ms, *at.last - *before->last));
    }
    if (at.last && at.until_ms - interval_ms > at.from_ms)
      shares.push_back(pressure_share(at.from_ms, at.until_ms - interval_ms, 0));
    before = &at;
  }
  return shares;
}

Result<Series> pressure_series(const Context& context, const TrendQuery& question) {
  Series series{std::string(kPressure), "share of the time with tasks waiting for memory (PSI some)", {}};
  std::vector<Interval> counter;
  TRY(context.reader.history(
      {question.tier, SubjectKind::machine, {}, question.range, {metric_of(MachineField::psi_some_total)}},
      [&counter](const SubjectInterval& of) { counter.push_back(of.interval); }));
  if (!holds_groups(question.tier)) {
    series.intervals = shares_of_ticks(counter, question.interval_ms);
    return series;
  }
  for (const Increase& of : increases_of(counter)) {
    Interval share = pressure_share(0, of.covered_ms, of.by);
    share.from_ms = of.from_ms;
    share.until_ms = of.until_ms;
    share.covered_ms = of.covered_ms;
    if (of.covered_ms > 0) series.intervals.push_back(share);
  }
  return series;
}

Result<Series> machine_series(const Context& context, const TrendQuery& question) {
  const std::string by = context.options.by.value_or(std::string(to_string(Metric::used)));
  if (by == kPressure) return pressure_series(context, question);
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
  if (subject.name.starts_with("identity") && !members.empty()) {
    of = identity_title(members.back().info,
                        transformed(members, [](const StoredProcess& member) { return member.info.command; }));
  }
  return fmt::format("{} of {}", metric_title(metric), to_printable(of));
}

Status sum_members(Reader& reader, const TrendQuery& question, const std::vector<StoredProcess>& members,
                   const ProcessHistory& history, Series& series) {
  std::unordered_map<std::int64_t, std::optional<std::int64_t>> gone;
  for (const StoredProcess& member : members) gone[member.id] = member.exited_ms;
  const MakeSum make = TRY(sums_over(reader, question.tier, question.range));
  SubjectSum sum = make();
  TRY(history.visit([&](const SubjectInterval& of) {
    const auto member = gone.find(of.subject_id);
    if (member == gone.end()) return;
    series.exactness.add(question.tier, of);
    sum.add(of, member->second == of.interval.until_ms);
  }));
  series.intervals = sum.intervals();
  return Done{};
}

// Returns the kind of a group with its own history. For a cgroup, the histories of its descendants are summed.
std::optional<SubjectKind> whole_kind(const Subject& subject, Tier tier) {
  if (subject.category) return kept_kind(tier, "category");
  return subject.name.starts_with("cgroup:") ? kept_kind(tier, "cgroup") : std::nullopt;
}

// Reads a group's own history. Returns false if there is none in this range.
Result<bool> read_whole(Reader& reader, const TrendQuery& question, const Subject& subject, Metric metric,
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
      parts.size() == 1 ? series.intervals.push_back(of.interval) : sum.add(of);
    }));
  }
  if (parts.size() > 1) series.intervals = sum.intervals();
  return !series.intervals.empty();
}

Result<ProcessHistory> candidates_of(Reader& reader, const Subject& subject, const TrendQuery& question,
                                     Metric metric) {
  HistoryQuery history{question.tier, SubjectKind::process, {}, question.range, {metric}};
  history.zombies = true;
  if (subject.kind != Subject::Kind::process) return ProcessHistory::load(reader, history);
  return ProcessHistory::of(reader, history, TRY(load_processes_of_pid(reader, question.range, subject.pid)));
}

// Returns the RSS of a process if it exceeds `series` by an unusual amount.
Result<std::optional<Summary>> find_rss_spike(Reader& reader, const TrendQuery& question,
                                              const std::vector<StoredProcess>& members, const Series& series) {
  const HistoryQuery of_rss{question.tier, SubjectKind::process, {}, question.range, {Metric::rss}};
  Fold fold;
  TRY(ProcessHistory::of(reader, of_rss, members).visit([&fold](const SubjectInterval& of) { fold.add(of.interval); }));
  const Summary rss = fold.summary();
  const Summary own = summarise(series.intervals);
  if (!rss.max || !own.max) return std::optional<Summary>();
  const double usual_kib = *rss.mean - *own.mean + static_cast<double>(*rss.max) / 64;
  return static_cast<double>(*rss.max - *own.max) > usual_kib ? std::optional(rss) : std::nullopt;
}

Result<Series> process_series(const Context& context, Subject subject, const TrendQuery& question, Metric metric) {
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
  if (subject.kind == Subject::Kind::process && info_of(metric).of_smaps)
    series.rss_spike = TRY(find_rss_spike(reader, question, members, series));
  return series;
}

}  // namespace

std::vector<std::string> metric_names(SubjectKind kind) {
  std::vector<std::string> names = names_of(metrics_of(kind));
  if (kind == SubjectKind::machine) names.emplace_back(kPressure);
  return names;
}

Result<Series> load_series(const Context& context, Subject subject, const TrendQuery& question) {
  if (subject.kind == Subject::Kind::machine) return machine_series(context, question);
  const std::string by = context.options.by.value_or(std::string(to_string(Metric::pss)));
  const std::optional<Metric> metric = parse_metric(by);
  if (!metric) return wrong_metric(by, "a process", SubjectKind::process);
  if (*metric == Metric::hwm && subject.kind != Subject::Kind::process) {
    return malformed("--by hwm needs one process: marks reached at different times have no sum");
  }
  if (!holds_metric(question.tier, *metric)) {
    return malformed("--by hwm needs ticks: rollups have no high-water mark (see memoir peaks)");
  }
  return process_series(context, std::move(subject), question, *metric);
}

}  // namespace memoir::query
