#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "query/peaks_source.h"
#include "query/tier.h"
#include "query/tier_steps.h"

namespace memoir::query {

namespace {

// MemAvailable upside down: its maximum is the low-water mark.
Step below(const Step& step) {
  const auto minus = [](std::optional<std::int64_t> value) { return value ? std::optional(-*value) : std::nullopt; };
  Step turned = step;
  turned.value = minus(step.value);
  if (step.spread)
    turned.spread =
        Spread{step.spread->covered_ms, minus(step.spread->high), minus(step.spread->low), minus(step.spread->last)};
  return turned;
}

Status add_machine(const PeakSource& source, Peaks& peaks) {
  const auto available = [](const MachineMemory& memory) { return memory.get(MachineField::mem_available); };
  std::array<Fold, 3> folds;
  const Status read = visit_machine(
      source.reader, source.tier, source.range,
      {{"used_kib", used_kib}, {"mem_available_kib", available}, {"swap_used_kib", swap_used_kib}},
      [&](std::size_t metric, const Step& step) { folds.at(metric).add(metric == 1 ? below(step) : step); });
  if (!read) return read.error();
  const std::array names{"used", "available", "swap"};
  for (std::size_t i = 0; i < folds.size(); ++i) {
    const Summary summary = folds.at(i).summary();
    if (!summary.max) continue;
    PeakRow row = row_of(names.at(i), summary, source);
    if (i == 1) {
      row.peak.value_kib = -row.peak.value_kib;
      row.now_kib = -*row.now_kib;
    }
    peaks.machine.push_back(row);
  }
  return Done{};
}

Result<std::vector<PeakRow>> category_rows(const PeakSource& source, Metric by) {
  std::map<std::string, Fold, std::less<>> folds;
  const Status read =
      visit_categories(source.reader, source.tier, source.range, by, [&](const CategoryMetricStep& from) {
        folds.try_emplace(std::string(from.category)).first->second.add(from.step);
      });
  if (!read) return read.error();
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
  return row;
}

Result<std::vector<PeakRow>> process_rows(const PeakSource& source, const PeakQuestion& question,
                                          const std::vector<StoredProcess>& processes) {
  std::unordered_map<std::int64_t, Life> lives;
  for (const StoredProcess& process : processes) {
    if (!question.filter.matches(process.info)) continue;
    const std::int64_t born_ms = process.info.key.exec_count > 0 ? process.first_ms : process.info.start_ms;
    lives[process.id] = {&process, born_ms >= question.range.from_ms, {}, {}};
  }
  const bool by_mark = question.by == Metric::hwm;
  const auto feed = [&](const ProcessMetricStep& from) {
    const auto found = lives.find(from.process_id);
    if (found == lives.end()) return;
    Life& life = found->second;
    life.fold.add(from.step);
    if (by_mark)
      life.high_water.add(from.step.at_ms, from.step.value, high_water_kib(from.sample->memory), life.newborn);
  };
  const Status read = visit_processes(source.reader, source.tier, source.range, by_mark ? Metric::rss : question.by,
                                      std::nullopt, feed);
  if (!read) return read.error();
  std::vector<PeakRow> rows;
  for (const StoredProcess& process : processes) {
    const auto life = lives.find(process.id);
    if (life == lives.end()) continue;
    if (auto row = row_of(life->second, question, source)) rows.push_back(*std::move(row));
  }
  rank_rows(rows);
  return rows;
}

Result<std::vector<PeakRow>> group_rows_of_ticks(const PeakSource& source, const PeakQuestion& question,
                                                 const std::vector<StoredProcess>& processes) {
  std::map<std::string, GroupSum> sums;
  struct Member {
    GroupSum* sum;
    std::optional<std::int64_t> gone_ms;
  };
  std::unordered_map<std::int64_t, Member> members;
  for (const StoredProcess& process : processes) {
    if (!question.filter.matches(process.info)) continue;
    members[process.id] = {&sums[peak_name(process, question.group)], process.gone_ms};
  }
  const auto feed = [&](const ProcessMetricStep& from) {
    const auto member = members.find(from.process_id);
    if (member == members.end()) return;
    member->second.sum->add(from.process_id, from.step, member->second.gone_ms == from.step.until_ms);
  };
  const Status read = visit_processes(source.reader, source.tier, source.range, question.by, std::nullopt, feed);
  if (!read) return read.error();
  std::vector<PeakRow> rows;
  for (const auto& [name, sum] : sums) {
    const Summary summary = sum.summary();
    if (summary.max) rows.push_back(row_of(name, summary, source));
  }
  rank_rows(rows);
  return rows;
}

// A peak was reached after the tick before; one that stood when the range began, at a time that it does not tell.
Status add_ticks_before(Reader& reader, std::int64_t from_ms, std::vector<PeakRow>& rows) {
  for (PeakRow& row : rows) {
    if (row.peak.at_ms <= from_ms) continue;
    const Result<std::optional<StoredTick>> before = reader.tick_at(row.peak.at_ms - 1);
    if (!before) return before.error();
    if (*before) row.peak.before_ms = (*before)->begin.wall_ms;
    if (row.process)
      row.peak.before_ms = std::max(row.peak.before_ms, std::min(row.process->info.start_ms, row.peak.at_ms));
  }
  return Done{};
}

Result<std::vector<PeakRow>> asked_rows(const PeakSource& source, const PeakQuestion& question) {
  const bool process = question.group == "process";
  if (question.group == "category" && question.filter.takes_all()) return category_rows(source, question.by);
  if (!process && question.by == Metric::hwm) return identity_marks(source);
  if (source.tier != Tier::raw)
    return process ? process_rows_of_rollups(source, question) : group_rows_of_rollups(source, question);
  const Result<std::vector<StoredProcess>> processes = source.reader.processes(question.range);
  if (!processes) return processes.error();
  return process ? process_rows(source, question, *processes) : group_rows_of_ticks(source, question, *processes);
}

}  // namespace

Peak peak_of(const Summary& summary, const PeakSource& source, std::int64_t subject) {
  if (source.tier == Tier::raw) return {subject, *summary.max, summary.max_at_ms, summary.max_at_ms};
  return {subject, *summary.max, std::min(summary.max_until_ms, source.range.to_ms), summary.max_at_ms};
}

PeakRow row_of(std::string name, const Summary& summary, const PeakSource& source) {
  return {std::move(name), std::nullopt,    peak_of(summary, source),
          summary.last,    summary.last_ms, source.tier != Tier::raw};
}

Result<Peaks> peaks_from_steps(const Context& context, const PeakQuestion& question) {
  const bool sums = question.group != "process" && !reads_whole_groups(question);
  const Result<Tier> tier = tier_of(context, question.range, sums ? Reads::sums : Reads::all);
  if (!tier) return tier.error();
  const PeakSource source{context.reader, question.range, *tier};
  Peaks peaks;
  peaks.tier = *tier;
  peaks.means = *tier != Tier::raw && sums;
  const Status machine = add_machine(source, peaks);
  if (!machine) return machine.error();
  Result<std::vector<PeakRow>> rows = asked_rows(source, question);
  if (!rows) return rows.error();
  peaks.rows = *std::move(rows);
  limit_peaks(context, question, peaks);
  if (question.group != "category") {
    Result<std::vector<PeakRow>> categories = category_rows(source, Metric::pss);
    if (!categories) return categories.error();
    peaks.categories = *std::move(categories);
  }
  if (*tier != Tier::raw) {
    const Status refined = refine(source, question, peaks);
    if (!refined) return refined.error();
    const Status seen =
        question.group == "process" ? add_last_sights(context, question, nullptr, peaks) : Status(Done{});
    if (!seen) return seen.error();
    return peaks;
  }
  for (std::vector<PeakRow>* part : {&peaks.machine, &peaks.rows, &peaks.categories}) {
    const Status added = add_ticks_before(context.reader, question.range.from_ms, *part);
    if (!added) return added.error();
  }
  return peaks;
}

}  // namespace memoir::query
