#include <algorithm>
#include <map>
#include <unordered_map>

#include "query/commands/peaks/peaks.h"
#include "query/history/history.h"
#include "query/history/tier.h"
#include "store/exits.h"

namespace memoir::query {

namespace {

// MemAvailable upside down: its maximum is the low-water mark.
Interval below(const Interval& interval) {
  const auto minus = [](std::optional<std::int64_t> value) { return value ? std::optional(-*value) : std::nullopt; };
  Interval turned = interval;
  std::swap(turned.min, turned.max);
  std::swap(turned.min_at_ms, turned.max_at_ms);
  for (auto* const value : {&turned.min, &turned.mean, &turned.max, &turned.last}) *value = minus(*value);
  return turned;
}

Result<std::vector<PeakRow>> machine_rows(const PeakSource& source) {
  constexpr Metric available = metric_of(MachineField::mem_available);
  const std::vector<Metric> metrics{Metric::used, available, Metric::swap_used};
  std::map<Metric, Fold> folds;
  TRY(source.reader.history({source.tier, SubjectKind::machine, {}, source.range, metrics},
                            [&](const SubjectInterval& of) {
                              folds[of.metric].add(of.metric == available ? below(of.interval) : of.interval);
                            }));
  std::vector<PeakRow> rows;
  for (const Metric metric : metrics) {
    const Summary summary = folds[metric].summary();
    if (!summary.max) continue;
    PeakRow row = row_of(std::string(to_string(metric)), summary, source);
    if (metric == available) {
      row.peak.value_kib = -row.peak.value_kib;
      row.now_kib = -*row.now_kib;
    }
    rows.push_back(row);
  }
  return rows;
}

// `exact` gets how much of what rollups tell was exact.
Result<std::vector<PeakRow>> category_rows(const PeakSource& source, Metric by, ExactShare* exact = nullptr) {
  std::map<std::string, Fold> folds;
  TRY(visit_groups(source.reader, {source.tier, SubjectKind::category, {}, source.range, {by}},
                   [&](const std::string& name, const SubjectInterval& of) {
                     folds[name].add(of.interval);
                     if (exact != nullptr && holds_groups(source.tier)) exact->add(of.interval);
                   }));
  std::vector<PeakRow> rows;
  for (const auto& [name, fold] : folds) {
    const Summary summary = fold.summary();
    if (summary.max) rows.push_back(row_of(name, summary, source));
  }
  rank_rows(rows);
  return rows;
}

// One process in the range.
struct Life {
  const StoredProcess* process = nullptr;
  bool newborn = false;
  HighWaterFold high_water;
  Fold fold;  // of what is resident, or of the metric
};

std::optional<PeakRow> row_of(const Life& life, const PeakQuestion& question, const PeakSource& source) {
  const Summary summary = life.fold.summary();
  const auto mark = life.high_water.found();
  if (!summary.max && !mark) return std::nullopt;
  PeakRow row{peak_name(*life.process, question.group), *life.process, {}, summary.last, summary.last_ms};
  row.peak = mark ? Peak{life.process->id, mark->value_kib, mark->at_ms, mark->at_ms}
                  : peak_of(summary, source, life.process->id);
  if (row.peak.before_ms != row.peak.at_ms) row.within = source.tier;
  return row;
}

using Lives = std::unordered_map<std::int64_t, Life>;

Lives lives_of(const std::vector<StoredProcess>& processes, const PeakQuestion& question) {
  Lives lives;
  for (const StoredProcess& process : processes) {
    if (!question.filter.matches(process)) continue;
    const std::int64_t born_ms = process.info.key.exec_count > 0 ? process.first_ms : process.info.start_ms;
    lives[process.id] = {&process, born_ms >= question.range.from_ms, {}, {}};
  }
  return lives;
}

Status add_intervals(const ProcessHistory& history, Lives& lives) {
  std::optional<std::int64_t> resident;
  return history.visit([&](const SubjectInterval& of) {
    const auto life = lives.find(of.subject_id);
    if (life == lives.end()) return;
    if (of.metric == Metric::hwm) {
      life->second.high_water.add(of.interval.max_at_ms.value_or(of.interval.from_ms), resident, of.interval.max,
                                  life->second.newborn);
      return;
    }
    life->second.fold.add(of.interval);
    resident = of.interval.mean;
  });
}

// Of VmHWM what is resident beside it, and of rollups that alone: the marks of the store stand in for it.
std::vector<Metric> metrics_of(const PeakSource& source, Metric by) {
  if (by != Metric::hwm) return {by};
  return holds_groups(source.tier) ? std::vector{Metric::rss} : std::vector{Metric::rss, Metric::hwm};
}

Result<std::vector<PeakRow>> process_rows(const PeakSource& source, const PeakQuestion& question) {
  const ProcessHistory history = TRY(ProcessHistory::load(
      source.reader, {source.tier, SubjectKind::process, {}, source.range, metrics_of(source, question.by)}));
  Lives lives = lives_of(history.processes(), question);
  TRY(add_intervals(history, lives));
  std::vector<PeakRow> rows;
  rows.reserve(lives.size());
  for (const StoredProcess& process : history.processes()) {
    const auto life = lives.find(process.id);
    if (life == lives.end()) continue;
    if (auto row = row_of(life->second, question, source)) rows.push_back(*std::move(row));
  }
  if (holds_groups(source.tier)) TRY(add_process_marks(source, question, rows));
  rank_rows(rows);
  return rows;
}

// Of ticks: by the time of it.
Status add_seen_by(Reader& reader, PeakRow& row) {
  Peak& peak = row.peak;
  if (peak.seen_by || row.within) return Done{};
  const std::optional<StoredTick> tick = TRY(reader.tick_at(peak.at_ms));
  if (!tick) return Done{};
  peak.seen_by = tick->begin.wall_ms == peak.at_ms ? SeenBy::sample : SeenBy::look;
  if (!row.process || peak.seen_by == SeenBy::sample) return Done{};
  const auto end = TRY(load_exit_of(reader, row.process->id));
  if (end && end->ended_ms == peak.at_ms) peak.seen_by = SeenBy::exit;
  return Done{};
}

// A peak was reached after the tick before; one that stood when the range began, at a time that it does not tell.
Status add_tick_before(Reader& reader, std::int64_t from_ms, PeakRow& row) {
  if (row.peak.at_ms <= from_ms || row.peak.before_ms != row.peak.at_ms) return Done{};
  const std::optional<StoredTick> before = TRY(reader.tick_at(row.peak.at_ms - 1));
  if (before) row.peak.before_ms = before->begin.wall_ms;
  if (row.process)
    row.peak.before_ms = std::max(row.peak.before_ms, std::min(row.process->info.start_ms, row.peak.at_ms));
  return Done{};
}

Status add_ticks_before(Reader& reader, std::int64_t from_ms, std::vector<PeakRow>& rows) {
  for (PeakRow& row : rows) {
    TRY(add_seen_by(reader, row));
    TRY(add_tick_before(reader, from_ms, row));
  }
  return Done{};
}

// In a bucket of which the ticks are kept these tell when the peak was reached. Those of an hour would take too long.
Status refine_by_ticks(const Context& context, Metric by, std::vector<PeakRow>& rows) {
  for (PeakRow& row : rows) {
    if (row.within != Tier::five_minutes) continue;
    const Range bucket{row.peak.before_ms, row.peak.at_ms};
    const Tier finest = TRY(tier_of(context, bucket, Reads::all));
    if (holds_groups(finest)) continue;
    const std::vector<PeakRow> among = TRY(category_rows({context.reader, bucket, finest}, by));
    const auto same = std::ranges::find(among, row.name, &PeakRow::name);
    if (same == among.end() || same->peak.value_kib < row.peak.value_kib) continue;
    row.within.reset();
    row.peak = same->peak;
  }
  return Done{};
}

// As near as can be told when each peak was reached, and what a process of rollups held last.
Status add_exact_times(const Context& context, const PeakQuestion& question, const PeakSource& whole, Peaks& peaks) {
  const std::int64_t from_ms = question.range.from_ms;
  if (holds_groups(whole.tier)) {
    TRY(fold_marks(whole, question, peaks));
    TRY(refine_by_ticks(context, Metric::pss, peaks.categories));
    if (question.group == "category" && !peaks.means) TRY(refine_by_ticks(context, question.by, peaks.rows));
  }
  for (std::vector<PeakRow>* part : {&peaks.machine, &peaks.categories, &peaks.rows}) {
    TRY(add_ticks_before(context.reader, from_ms, *part));
  }
  if (!holds_groups(peaks.tier) || question.group != "process") return Done{};
  return add_last_sights(context, question, nullptr, peaks);
}

Result<std::vector<PeakRow>> asked_rows(const PeakSource& source, const PeakQuestion& question, ExactShare& exact) {
  const bool process = question.group == "process";
  if (question.group == "category" && question.filter.takes_all()) return category_rows(source, question.by, &exact);
  if (!process && question.by == Metric::hwm)
    return marks_members(question) ? identity_marks(source) : member_marks(source, question);
  if (!process) return group_rows(source, question);
  return process_rows(source, question);
}

}  // namespace

Peak peak_of(const Summary& summary, const PeakSource& source, std::int64_t subject) {
  if (!holds_groups(source.tier)) return {subject, *summary.max, summary.max_at_ms, summary.max_at_ms};
  const Range within = max_reached(summary, source.tier);
  return {subject, *summary.max, std::min(within.to_ms, source.range.to_ms), within.from_ms};
}

PeakRow row_of(std::string name, const Summary& summary, const PeakSource& source) {
  const Peak peak = peak_of(summary, source);
  const auto within = peak.before_ms == peak.at_ms ? std::nullopt : std::optional(source.tier);
  return {std::move(name), std::nullopt, peak, summary.last, summary.last_ms, within};
}

Result<Peaks> peaks_from_steps(const Context& context, const PeakQuestion& question) {
  const bool sums = question.group != "process" && !reads_whole_groups(question);
  const Tier tier = TRY(tier_of(context, question.range, sums ? Reads::sums : Reads::all));
  // Of the machine and of categories rollups know the highest too.
  const PeakSource whole{context.reader, question.range, TRY(tier_of(context, question.range, Reads::all))};
  const PeakSource source{context.reader, question.range, tier};
  Peaks peaks;
  peaks.tier = tier;
  peaks.means = holds_groups(tier) && sums;
  peaks.machine = TRY(machine_rows(whole));
  peaks.rows = TRY(asked_rows(source, question, peaks.exact));
  limit_peaks(context, question, peaks);
  if (question.group != "category") {
    peaks.categories = TRY(category_rows(whole, Metric::pss, &peaks.exact));
  }
  TRY(add_exact_times(context, question, whole, peaks));
  return peaks;
}

}  // namespace memoir::query
