// memoir peaks: high-water marks, when they were reached, and other memory users at that time.

#include "query/commands/peaks/peaks.h"

#include <algorithm>
#include <fmt/format.h>

#include "query/args/subject.h"
#include "query/args/times.h"
#include "query/history/tier.h"
#include "query/state/filter_values.h"
#include "query/state/moment.h"
#include "query/state/process_columns.h"
#include "query/state/state.h"
#include "store/exits.h"

namespace memoir::query {

namespace {

constexpr std::size_t kMaxPeaks = 4;

// Heading (2), the table's header, the machine's table (6), notes (6), coverage, and the prompt.
constexpr std::size_t kFixedLines = 17;
constexpr std::size_t kOfRollups = 4;  // lines of further notes about rollups
constexpr std::size_t kOthersLines = 2 * kMaxPeaks + 2;
constexpr std::size_t kCategoriesHead = 3;
constexpr std::size_t kFewestRows = 2;

// The store keeps marks by UTC days. A day that is not over counts as a full day.
bool is_whole_days(Range range, const FileInfo& file) {
  return range.from_ms % kDayMs == 0 && ((range.to_ms + 1) % kDayMs == 0 || range.to_ms >= file.last_tick_ms);
}

// Returns whether the store has the marks that the query needs. It has marks of processes, categories, identities and
// cgroups, by UTC day. For other groups and ranges, peaks_from_steps() is used; also for the VmHWM of a process in
// days, because it may have been reached before.
bool store_has(const PeakQuery& question) {
  if (!question.all_time && !question.whole_days) return false;
  if (question.group == "process") return question.all_time || question.by != Metric::hwm;
  if (question.by == Metric::hwm) return marks_members(question);
  return group_kind(question.group) && question.filter.takes_all();
}

// Metrics of --by, the default first.
constexpr auto kPeakMetrics = [] {
  auto metrics = metrics_with([](const MetricInfo& info) {
    return info.marked != SubjectKinds{} && !info.marked.contains(SubjectKind::machine);
  });
  auto* const hwm = std::ranges::find(metrics, Metric::hwm);
  std::rotate(metrics.begin(), hwm, hwm + 1);
  return metrics;
}();

Result<Metric> metric_of(const std::string& name, const std::string& group) {
  if (const auto metric = parse_metric(name)) return *metric;
  const std::vector<Metric>& counters = sampled_marks(SubjectKind::cgroup);
  const auto found = std::ranges::find(counters, name, [](Metric metric) { return to_string(metric); });
  if (found == counters.end()) return Metric::pss;
  if (group != "cgroup") return malformed(fmt::format("--by {} needs --group cgroup", name));
  return *found;
}

Result<PeakQuery> ask(const Context& context) {
  const Options& options = context.options;
  PeakQuery question;
  question.filter = TRY(Filter::parse(options.filters));
  question.group = options.group.value_or("process");
  const bool process = question.group == "process";
  question.by = TRY(metric_of(options.by.value_or(process ? "hwm" : "pss"), question.group));
  if (process && question.by == Metric::rss) {
    return malformed("--by rss: the high-water mark of a process's RSS is hwm");
  }
  question.all_time = !context.when.range;
  question.range = context.when.range.value_or(Range{context.file.first_tick_ms, context.file.last_tick_ms});
  question.whole_days = is_whole_days(question.range, context.file);
  if (info_of(question.by).counted && !store_has(question)) {
    return malformed(fmt::format(
        "--by {}: the marks of cgroups' own counters are kept by UTC days: use --day or all time, without --filter",
        to_string(question.by)));
  }
  if (question.all_time && !store_has(question)) {
    question.all_time = false;
    question.range.from_ms = std::max(question.range.from_ms, question.range.to_ms - kDayMs);
  }
  question.filter = TRY(filter_over(context, question.range));
  return question;
}

// Kernel events are checked at the end of the range only: counting the ticks of the full range takes longer than the
// answer.
Status add_ends(const Context& context, const PeakQuery& question, Peaks& peaks) {
  constexpr std::int64_t lately_ms = 60'000;
  Reader& reader = context.reader;
  const std::int64_t to_ms = std::min(question.range.to_ms, context.file.last_tick_ms);
  const ExitTotals exits = TRY(load_exit_totals(reader, {std::max(to_ms - lately_ms, question.range.from_ms), to_ms}));
  peaks.has_events = exits.ticks_reported > 0;
  for (PeakRow& row : peaks.rows) {
    if (!row.process || !row.process->exited_ms || question.by != Metric::hwm) continue;
    const auto end = TRY(load_exit_of(reader, row.process->id));
    row.exit_reported = end && end->peak_kib && end->exited_ms <= question.range.to_ms;
  }
  if (question.filter.takes_all()) {
    peaks.unseen = TRY(load_sum_of_exits(reader, question.range));
    return Done{};
  }
  const auto sums = TRY(load_exit_sums(reader, question.range));
  for (const ExitSum& sum : sums) {
    if (question.filter.matches(stand_in(sum))) peaks.unseen.add(sum);
  }
  return Done{};
}

Result<Report> run_peaks(const Context& context) {
  const PeakQuery question = TRY(ask(context));
  Report report = TRY(begin_range_report(context, question.range));
  if (report.nothing_recorded) {
    fill_peaks(context, question, {}, {}, report);
    return report;
  }
  const bool from_marks = store_has(question) && !context.options.tier;
  Peaks peaks = TRY(from_marks ? peaks_from_marks(context, question) : peaks_from_steps(context, question));
  TRY(add_ends(context, question, peaks));
  const std::vector<Others> others = TRY(find_others(context, question, peaks));
  fill_peaks(context, question, peaks, others, report);
  note_filter(question.filter, "in the range", report);
  return report;
}

}  // namespace

RowLimits row_limits_for(const Context& context, const PeakQuery& question, Tier tier) {
  const auto lines = lines_to_fit(context);
  if (!lines || context.options.limit) return {kDefaultRows, std::nullopt, kMaxPeaks};
  RowLimits room;
  const std::size_t fixed = kFixedLines + (holds_groups(tier) ? kOfRollups : 0);
  std::size_t spare = *lines - std::min(*lines, fixed);
  room.others = spare >= 2 * kOthersLines ? kMaxPeaks : 1;
  spare -= std::min(spare, 2 * room.others + 2);
  const bool has_categories = question.group != "category" && spare >= 3 * (kCategoriesHead + 1);
  room.categories = has_categories ? (spare - kCategoriesHead) / 3 : 0;
  if (has_categories) spare -= kCategoriesHead + *room.categories;
  room.rows = std::max(spare, kFewestRows);
  return room;
}

void limit_peaks(const Context& context, const PeakQuery& question, Peaks& peaks) {
  const std::size_t made = peaks.rows.size();
  const LeftOutRows& more = peaks.left_out;
  const std::size_t shown = limited(context.options, made, row_limits_for(context, question, peaks.tier).rows);
  peaks.cut = {.shown = shown,
               .all = made + more.count,
               .kib = shown < made ? peaks.rows[shown].peak.value_kib : more.highest_kib,
               .of = {},
               .adds_up = false,
               .beyond_memory = more.count};
  peaks.rows.resize(shown);
}

std::string peak_name(const StoredProcess& process, const std::string& group) {
  return group == "process" ? shown_command(process.info, '?') : group_key(process, group);
}

Command peaks_command() {
  return {.name = "peaks",
          .summary = "high-water marks, when reached, and other users then",
          .subject = "[SUBJECT]",
          .options = {Option::from, Option::to, Option::last, Option::day, Option::group, Option::filter, Option::by,
                      Option::tier, Option::limit},
          .by = names_of(kPeakMetrics),
          .groups = process_groups(),
          .examples = {{"memoir peaks", "all-time high-water marks, short-lived processes included"},
                       {"memoir peaks --group category --day yesterday", "the peak of each category"},
                       {"memoir peaks --group cgroup --by usage", "by the cgroups' own counters, page cache included"}},
          .run = run_peaks,
          .subject_help = subject_help("all processes"),
          .subject_filters = true};
}

}  // namespace memoir::query
