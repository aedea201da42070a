// memoir peaks: high-water marks, when each was reached, and who else held memory then.

#include "query/commands/peaks/peaks.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <span>

#include "query/args/times.h"
#include "query/history/tier.h"
#include "query/state/filter_values.h"
#include "query/state/moment.h"
#include "query/state/process_columns.h"
#include "query/state/state.h"
#include "store/exits.h"

namespace memoir::query {

namespace {

constexpr std::size_t kRowsWithOthers = 3;
constexpr std::size_t kMostOthers = 3;
constexpr std::size_t kMostPeaks = 4;

// Heading (2), the table's header, the machine's table (6), notes (6), coverage, and the prompt.
constexpr std::size_t kFixedLines = 17;
constexpr std::size_t kOfRollups = 4;  // what is said of them besides
constexpr std::size_t kOthersLines = 2 * kMostPeaks + 2;
constexpr std::size_t kCategoriesHead = 3;
constexpr std::size_t kFewestRows = 2;

// The store keeps marks by UTC days. A day that is not over yet counts as whole.
bool is_whole_days(Range range, const FileInfo& file) {
  return range.from_ms % kDayMs == 0 && ((range.to_ms + 1) % kDayMs == 0 || range.to_ms >= file.last_tick_ms);
}

// The store has marks of processes, categories, identities and cgroups; of other groups, and within other ranges, the
// steps tell.
bool store_has(const PeakQuestion& question) {
  if (!question.all_time && !question.whole_days) return false;
  if (question.group != "process" && question.by == Metric::hwm) return marks_members(question);
  return question.group == "process" || (group_kind(question.group) && question.filter.takes_all());
}

// The default first.
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
  if (group != "cgroup") return malformed(fmt::format("--by {} is of cgroups: give --group cgroup as well", name));
  return *found;
}

Result<PeakQuestion> ask(const Context& context) {
  const Options& options = context.options;
  PeakQuestion question;
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
    return malformed(
        fmt::format("--by {}: the marks of cgroups' own counters are kept by days (UTC): ask for whole ones "
                    "(--day), or for all time, without --filter",
                    to_string(question.by)));
  }
  if (question.all_time && !store_has(question)) {
    question.all_time = false;
    question.range.from_ms = std::max(question.range.from_ms, question.range.to_ms - kDayMs);
  }
  question.filter = TRY(filter_over(context, question.range));
  return question;
}

bool is_of(const StoredProcess& process, const PeakRow& row, const std::string& group) {
  return row.process ? process.id == row.process->id : peak_name(process, group) == row.name;
}

// When it was reached, as far as that is known.
std::int64_t moment_of(const PeakRow& row) {
  return row.within ? row.peak.before_ms : row.peak.at_ms;
}

Result<Others> others_at(const Context& context, const PeakRow& row, std::string of,
                         const std::function<bool(const StoredProcess&)>& is_other) {
  const std::int64_t at_ms = moment_of(row);
  Holders holders = TRY(largest_holders(context, at_ms, row.within, kMostOthers, is_other));
  return Others{std::move(of), at_ms, std::move(holders)};
}

Result<std::vector<Others>> find_others(const Context& context, const PeakQuestion& question, const Peaks& peaks) {
  const std::size_t most = room_for(context, question, peaks.tier).others;
  std::vector<Others> all;
  for (const PeakRow& row : peaks.machine) {
    const bool told = !all.empty() && all.front().at_ms == moment_of(row);
    if (row.name == "swap" || told || all.size() == most) continue;
    all.push_back(TRY(others_at(context, row, "machine " + row.name, [](const StoredProcess&) { return true; })));
  }
  for (std::size_t index = 0; index < std::min(kRowsWithOthers, peaks.rows.size()) && all.size() < most; ++index) {
    const PeakRow& row = peaks.rows[index];
    const std::string of = row.process        ? fmt::format("process {}", row.process->info.key.pid)
                           : row.name.empty() ? "without a " + question.group
                                              : row.name;
    const auto is_other = [&](const StoredProcess& process) { return !is_of(process, row, question.group); };
    all.push_back(TRY(others_at(context, row, of, is_other)));
  }
  return all;
}

// As a person knows them, those that are shown.
Status name_identities(Reader& reader, std::vector<Others>& all) {
  std::set<std::string> names;
  const auto each_shown = [&all](const auto& visit) {
    for (Others& others : all) {
      for (GroupState& group :
           std::span(others.holders.identities).first(std::min(kMostGroups, others.holders.identities.size())))
        visit(group.name);
    }
  };
  each_shown([&names](const std::string& name) { names.insert(name); });
  const auto titles = TRY(load_titles(reader, names));
  each_shown([&titles](std::string& name) {
    if (const auto found = titles.find(name); found != titles.end()) name = found->second;
  });
  return Done{};
}

// Whether ends are told is seen at the end of the range: to count the ticks of all of it takes longer than the answer.
Status add_ends(const Context& context, const PeakQuestion& question, Peaks& peaks) {
  constexpr std::int64_t lately_ms = 60'000;
  Reader& reader = context.reader;
  const std::int64_t to_ms = std::min(question.range.to_ms, context.file.last_tick_ms);
  const EndTotals told = TRY(load_exit_totals(reader, {std::max(to_ms - lately_ms, question.range.from_ms), to_ms}));
  peaks.told = told.ticks_told > 0;
  for (PeakRow& row : peaks.rows) {
    if (!row.process || !row.process->gone_ms || question.by != Metric::hwm) continue;
    const auto end = TRY(load_exit_of(reader, row.process->id));
    row.end_told = end && end->peak_kib && end->ended_ms <= question.range.to_ms;
  }
  if (question.filter.takes_all()) {
    peaks.unseen = TRY(load_sum_of_exits(reader, question.range));
    return Done{};
  }
  const auto sums = TRY(load_exit_sums(reader, question.range));
  for (const EndSum& sum : sums) {
    if (question.filter.matches(stand_in(sum))) peaks.unseen.add(sum);
  }
  return Done{};
}

Result<Report> run_peaks(const Context& context) {
  const PeakQuestion question = TRY(ask(context));
  Report report = TRY(begin_range_report(context, question.range));
  if (report.nothing_recorded) {
    fill_peaks(context, question, {}, {}, report);
    return report;
  }
  const bool from_marks = store_has(question) && !context.options.tier;
  Peaks peaks = TRY(from_marks ? peaks_from_marks(context, question) : peaks_from_steps(context, question));
  TRY(add_ends(context, question, peaks));
  std::vector<Others> others = TRY(find_others(context, question, peaks));
  TRY(name_identities(context.reader, others));
  fill_peaks(context, question, peaks, others, report);
  note_filter(question.filter, "in the range", report);
  return report;
}

}  // namespace

Room room_for(const Context& context, const PeakQuestion& question, Tier tier) {
  const auto lines = lines_to_fit(context);
  if (!lines || context.options.limit) return {kDefaultRows, std::nullopt, kMostPeaks};
  Room room;
  const std::size_t fixed = kFixedLines + (holds_groups(tier) ? kOfRollups : 0);
  std::size_t spare = *lines - std::min(*lines, fixed);
  room.others = spare >= 2 * kOthersLines ? kMostPeaks : 1;
  spare -= std::min(spare, 2 * room.others + 2);
  const bool has_categories = question.group != "category" && spare >= 3 * (kCategoriesHead + 1);
  room.categories = has_categories ? (spare - kCategoriesHead) / 3 : 0;
  if (has_categories) spare -= kCategoriesHead + *room.categories;
  room.rows = std::max(spare, kFewestRows);
  return room;
}

void limit_peaks(const Context& context, const PeakQuestion& question, Peaks& peaks) {
  const std::size_t all = peaks.rows.size();
  const std::size_t shown = limited(context.options, all, room_for(context, question, peaks.tier).rows);
  peaks.cut = {shown, all, shown < all ? peaks.rows[shown].peak.value_kib : 0, "", false};
  peaks.rows.resize(shown);
}

std::string peak_name(const StoredProcess& process, const std::string& group) {
  return group == "process" ? shown_command(process.info, '?') : group_key(process, group);
}

Command peaks_command() {
  return {.name = "peaks",
          .summary =
              "high-water marks of the machine, categories and processes, when they were reached, and who else held "
              "memory then",
          .options = {Option::from, Option::to, Option::last, Option::day, Option::group, Option::filter, Option::by,
                      Option::tier, Option::limit},
          .by = names_of(kPeakMetrics),
          .groups = process_groups(),
          .examples = {{"memoir peaks", "the high-water marks of all time, of short-lived processes too"},
                       {"memoir peaks --group category --day yesterday", "what each category needed at most"},
                       {"memoir peaks --group cgroup --by usage", "by the cgroups' own counters, page cache included"}},
          .run = run_peaks};
}

}  // namespace memoir::query
