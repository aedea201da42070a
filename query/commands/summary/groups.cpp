// Memory of categories and identities over the day.

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "query/args/times.h"
#include "query/commands/summary/summary.h"
#include "query/history/history.h"
#include "query/history/marks.h"
#include "query/history/tier.h"
#include "query/state/process_columns.h"
#include "store/names.h"

namespace memoir::query {

namespace {

// A day may have more identities than fit into memory: the largest are kept, up to these numbers.
constexpr std::size_t kMaxSubjects = 20'000;
constexpr std::size_t kMaxIntervals = 200'000;
// Brief programs such as compilers have an identity for each command line: more than kMaxBriefRows of a program become
// one row.
constexpr std::int64_t kBriefMs = 15 * 60'000;
constexpr std::size_t kMaxBriefRows = 5;

using UsageById = std::map<std::int64_t, Usage>;

std::int64_t peak_of(const Usage& of) {
  std::int64_t peak = 0;
  for (const Interval& interval : of.series) peak = std::max(peak, interval.max.value_or(interval.mean.value_or(0)));
  return peak;
}

// Memory of the subjects over time. If there are too many, the smaller half is dropped.
class UsageKeeper {
 public:
  void add(const SubjectInterval& held) {
    auto of = usage_.find(held.subject_id);
    if (of == usage_.end()) {
      if (std::ranges::binary_search(dropped_, held.subject_id)) return;
      if (count_ >= kMaxIntervals || usage_.size() >= kMaxSubjects) drop_smaller_half();
      of = usage_.try_emplace(held.subject_id).first;
    }
    of->second.max_processes = std::max(of->second.max_processes, held.processes);
    of->second.series.push_back(held.interval);
    ++count_;
  }
  std::size_t kept() const { return usage_.size(); }
  std::size_t dropped() const { return dropped_.size(); }
  UsageById take() { return std::move(usage_); }

 private:
  void drop_smaller_half() {
    std::vector<std::int64_t> peaks = transformed(usage_, [](const auto& of) { return peak_of(of.second); });
    const auto middle = peaks.begin() + static_cast<std::ptrdiff_t>(peaks.size() / 2);
    std::ranges::nth_element(peaks, middle);
    std::size_t left = peaks.size() / 2;
    std::erase_if(usage_, [&](const auto& of) {
      if (left == 0 || peak_of(of.second) > *middle) return false;
      --left;
      count_ -= of.second.series.size();
      dropped_.push_back(of.first);
      return true;
    });
    std::ranges::sort(dropped_);
  }

  UsageById usage_;
  std::vector<std::int64_t> dropped_;  // sorted
  std::size_t count_ = 0;              // number of intervals
};

// Loads the memory of each group's members over the day.
Result<UsageById> load_usage(Reader& reader, SubjectKind kind, DaySummary& summary) {
  UsageKeeper keeper;
  const Range range{summary.day.begin_ms, summary.day.end_ms - 1};
  TRY(reader.history({summary.tier, kind, {}, range, {Metric::pss}, true},
                     [&keeper](const SubjectInterval& held) { keeper.add(held); }));
  if (keeper.dropped() > 0)
    summary.warnings.push_back(fmt::format("{} programs ran on this day: the smallest {} are left out",
                                           keeper.kept() + keeper.dropped(), keeper.dropped()));
  UsageById usage = keeper.take();
  for (auto& [id, of] : usage) std::ranges::stable_sort(of.series, {}, &Interval::from_ms);
  return usage;
}

// Returns the mean over recorded time: an absent subject counts as 0.
std::int64_t mean_within(const std::vector<Interval>& series, Range span, std::int64_t recorded_ms) {
  const SpanStats figures = span_stats_of(series, span.from_ms, span.to_ms);
  if (!figures.mean) return 0;
  if (recorded_ms <= 0) return *figures.mean;
  const double held = static_cast<double>(*figures.mean) * static_cast<double>(figures.covered_ms);
  return mean_of_held(held, figures.covered_ms, recorded_ms);
}

// Returns whether at least half of the hour was recorded, which is enough to compare it with other hours.
bool comparable(const DaySummary& summary, Range hour) {
  return 2 * covered_ms_of(summary.used, hour.from_ms, hour.to_ms) >= kHourMs;
}

// Returns the first comparable hour of the seven days ending with this day; nullopt if there is none before the day.
std::optional<Range> first_hour_of_week(const DaySummary& summary) {
  const std::int64_t from_ms = summary.days[1].day.begin_ms;
  for (const Interval& bucket : summary.used) {
    if (bucket.until_ms <= from_ms || bucket.from_ms >= summary.day.begin_ms) continue;
    const std::int64_t begin_ms = std::max(bucket.from_ms, from_ms);
    const Range hour{begin_ms, begin_ms + kHourMs};
    if (comparable(summary, hour)) return hour;
  }
  return std::nullopt;
}

Status add_week(Reader& reader, SubjectKind kind, const DaySummary& summary, UsageById& usage) {
  const auto hour = first_hour_of_week(summary);
  if (!hour) return Done{};
  const Tier tier = TRY(finest_rollup(reader, hour->from_ms));
  std::map<std::int64_t, std::vector<Interval>> series;
  TRY(reader.history({tier, kind, {}, *hour, {Metric::pss}, true}, [&](const SubjectInterval& of) {
    if (usage.contains(of.subject_id)) series[of.subject_id].push_back(of.interval);
  }));
  const std::int64_t recorded_ms = covered_ms_of(summary.used, hour->from_ms, hour->to_ms);
  for (auto& [id, of] : usage) of.week_kib = mean_within(series[id], *hour, recorded_ms);
  return Done{};
}

void add_figures(const DaySummary& summary, UsageById& usage) {
  const auto within = [&summary](Range span, const Usage& of) {
    return mean_within(of.series, span, covered_ms_of(summary.used, span.from_ms, span.to_ms));
  };
  const Range begin{summary.first_ms, std::min(summary.first_ms + kHourMs, summary.last_ms)};
  const Range end{std::max(summary.last_ms - kHourMs, summary.first_ms), summary.last_ms};
  for (auto& [id, of] : usage) {
    of.pss = span_stats_of(of.series, summary.day.begin_ms, summary.day.end_ms);
    if (of.pss.mean) of.pss.mean = within({summary.day.begin_ms, summary.day.end_ms}, of);
    // Within less than two hours, the first and the last hour overlap.
    if (summary.last_ms - summary.first_ms < 2 * kHourMs) continue;
    if (comparable(summary, begin)) of.begin_kib = within(begin, of);
    if (comparable(summary, end)) of.end_kib = within(end, of);
  }
}

// Adds a row to a sum, whose extremes are unknown.
void add_folded(Usage& sum, const Usage& of) {
  const auto add = [](std::optional<std::int64_t>& to, const std::optional<std::int64_t>& kib) {
    to = to && kib ? std::optional(*to + *kib) : std::nullopt;
  };
  add(sum.pss.mean, of.pss.mean);
  sum.pss.highest.reset();
  sum.pss.lowest.reset();
  sum.series.insert(sum.series.end(), of.series.begin(), of.series.end());
  add(sum.begin_kib, of.begin_kib);
  add(sum.end_kib, of.end_kib);
  add(sum.week_kib, of.week_kib);
  if (of.hwm_kib) sum.hwm_kib = std::max(sum.hwm_kib.value_or(0), *of.hwm_kib);
  sum.folded += 1;
}

// Makes one row of many brief identities of one program.
void fold_brief(std::vector<Usage>& list) {
  std::map<std::string, std::vector<std::size_t>> brief;
  for (std::size_t i = 0; i < list.size(); ++i) {
    std::int64_t covered_ms = 0;
    for (const Interval& of : list[i].series) covered_ms += of.covered_ms;
    if (!list[i].program.empty() && covered_ms < kBriefMs) brief[list[i].program].push_back(i);
  }
  for (const auto& [program, rows] : brief) {
    if (rows.size() <= kMaxBriefRows) continue;
    Usage& sum = list[rows.front()];
    sum.folded = 1;
    for (std::size_t i = 1; i < rows.size(); ++i) {
      add_folded(sum, list[rows[i]]);
      list[rows[i]].name.clear();
    }
    sum.name = sum.title = fmt::format("{} …, {} command lines", program, sum.folded);
  }
  std::erase_if(list, [](const Usage& of) { return of.name.empty(); });
}

// Returns the largest first. Omits subjects without a name or a value.
std::vector<Usage> ranked(const UsageById& usage) {
  std::vector<Usage> list;
  for (const auto& [id, of] : usage) {
    if (!of.name.empty() && of.pss.highest) list.push_back(of);
  }
  fold_brief(list);
  std::ranges::stable_sort(list, std::greater(), [](const Usage& of) {
    return of.pss.highest ? of.pss.highest->value : of.pss.mean.value_or(0);
  });
  return list;
}

// "unit program": the common part of the identities of one program.
std::string program_of(const StoredIdentity& identity) {
  const std::string& path = identity.exe.empty() ? identity.command : identity.exe;
  const std::string name = path.substr(path.rfind('/') + 1);
  return identity.unit.empty() ? name : identity.unit + " " + name;
}

// Names only the groups in `usage`: there may be very many others.
Status name_groups(Reader& reader, SubjectKind kind, UsageById& usage) {
  const auto name = [&usage](std::int64_t id, std::string text) {
    if (const auto of = usage.find(id); of != usage.end()) of->second.name = of->second.title = std::move(text);
  };
  if (kind == SubjectKind::identity) {
    return visit_identities(reader, std::nullopt, [&](StoredIdentity&& identity) {
      const auto of = usage.find(identity.id);
      if (of == usage.end()) return;
      name(identity.id, identity_name(identity.unit, identity.command));
      of->second.program = program_of(identity);
    });
  }
  std::map<std::int64_t, std::string> names = TRY(load_group_names(reader, kind));
  for (auto& [id, text] : names) name(id, std::move(text));
  return Done{};
}

Result<std::vector<Usage>> load_usages(Reader& reader, SubjectKind kind, DaySummary& summary) {
  UsageById usage = TRY(load_usage(reader, kind, summary));
  TRY(add_week(reader, kind, summary, usage));
  add_figures(summary, usage);
  TRY(name_groups(reader, kind, usage));
  for (const HighWater& mark : TRY(reader.high_water(Range{summary.day.begin_ms, summary.day.end_ms - 1}, {kind}))) {
    if (mark.metric != Metric::hwm || !reached_on(mark, summary.day)) continue;
    const auto of = usage.find(mark.subject_id);
    if (of != usage.end()) of->second.hwm_kib = std::max(of->second.hwm_kib.value_or(0), mark.value_kib);
  }
  return ranked(usage);
}

void warn_of_inexact(DaySummary& summary) {
  ExactShare exact;
  for (const Usage& of : summary.categories) {
    for (const Interval& interval : of.series) exact.add(interval);
  }
  if (auto line = inexact_line(exact)) summary.warnings.push_back(*std::move(line));
}

}  // namespace

bool reached_on(const HighWater& mark, const Day& day) {
  return day.holds(mark.at_ms) && !stood(mark);
}

Status load_groups(const Context& context, DaySummary& summary) {
  summary.categories = TRY(load_usages(context.reader, SubjectKind::category, summary));
  warn_of_inexact(summary);
  summary.identities = TRY(load_usages(context.reader, SubjectKind::identity, summary));
  return Done{};
}

}  // namespace memoir::query
