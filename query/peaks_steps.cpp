#include <algorithm>
#include <map>
#include <unordered_map>

#include "query/peaks.h"

namespace memoir::query {

namespace {

PeakRow row_of(std::string name, const Summary& summary) {
  return {std::move(name),
          std::nullopt,
          {0, *summary.max, summary.max_at_ms, summary.max_at_ms},
          summary.last,
          summary.last_ms};
}

Status add_machine(Reader& reader, Range range, Peaks& peaks) {
  Fold used;
  Fold swap;
  Fold below;  // MemAvailable upside down: its maximum is the low-water mark
  const Status read = reader.machine_steps(range, [&](const MachineStep& step) {
    used.add({step.at_ms, step.until_ms, used_kib(*step.memory)});
    swap.add({step.at_ms, step.until_ms, swap_used_kib(*step.memory)});
    const auto available = step.memory->get(MachineField::mem_available);
    below.add({step.at_ms, step.until_ms, available ? std::optional(-*available) : std::nullopt});
  });
  if (!read) return read.error();
  if (used.summary().max) peaks.machine.push_back(row_of("used", used.summary()));
  if (below.summary().max) {
    PeakRow row = row_of("available", below.summary());
    row.peak.value_kib = -row.peak.value_kib;
    row.now_kib = -*row.now_kib;
    peaks.machine.push_back(row);
  }
  if (swap.summary().max) peaks.machine.push_back(row_of("swap", swap.summary()));
  return Done{};
}

void rank(std::vector<PeakRow>& rows) {
  std::ranges::stable_sort(rows, [](const PeakRow& a, const PeakRow& b) {
    if (a.peak.value_kib != b.peak.value_kib) return a.peak.value_kib > b.peak.value_kib;
    return a.peak.at_ms < b.peak.at_ms;
  });
}

Result<std::vector<PeakRow>> category_rows(Reader& reader, Range range, Metric by) {
  std::map<std::string, Fold> folds;
  const Status read = reader.category_steps(range, [&](const CategoryStep& step) {
    folds[step.sample->category].add({step.at_ms, step.until_ms, metric_kib(*step.sample, by)});
  });
  if (!read) return read.error();
  std::vector<PeakRow> rows;
  for (const auto& [name, fold] : folds) {
    const Summary summary = fold.summary();
    if (summary.max) rows.push_back(row_of(name, summary));
  }
  rank(rows);
  return rows;
}

// One process in the range.
struct Life {
  const StoredProcess* process = nullptr;
  bool newborn = false;
  HighWaterFold high_water;
  Fold fold;  // of what is resident, or of the metric
};

void feed(Life& life, const ProcessStep& step, Metric by) {
  const ProcessMemory& memory = step.sample->memory;
  const auto held = metric_kib(memory, by == Metric::hwm ? Metric::rss : by);
  life.fold.add({step.at_ms, step.until_ms, held});
  if (by == Metric::hwm) life.high_water.add(step.at_ms, held, high_water_kib(memory), life.newborn);
}

std::optional<PeakRow> row_of(const Life& life, const PeakQuestion& question) {
  const Summary summary = life.fold.summary();
  const auto mark = life.high_water.found();
  if (!summary.max && !mark) return std::nullopt;
  PeakRow row{peak_name(life.process->info, question.group), *life.process, {}, summary.last, summary.last_ms};
  row.peak = mark ? Peak{life.process->id, mark->value_kib, mark->at_ms, mark->at_ms}
                  : Peak{life.process->id, *summary.max, summary.max_at_ms, summary.max_at_ms};
  return row;
}

Result<std::vector<PeakRow>> process_rows(Reader& reader, const PeakQuestion& question,
                                          const std::vector<StoredProcess>& processes) {
  std::unordered_map<std::int64_t, Life> lives;
  for (const StoredProcess& process : processes) {
    if (!question.filter.matches(process.info)) continue;
    const std::int64_t born_ms = process.info.key.exec_count > 0 ? process.first_ms : process.info.start_ms;
    lives[process.id] = {&process, born_ms >= question.range.from_ms, {}, {}};
  }
  const Status read = reader.process_steps(question.range, [&](const ProcessStep& step) {
    const auto life = lives.find(step.process_id);
    if (life != lives.end()) feed(life->second, step, question.by);
  });
  if (!read) return read.error();
  std::vector<PeakRow> rows;
  for (const StoredProcess& process : processes) {
    const auto life = lives.find(process.id);
    if (life == lives.end()) continue;
    if (auto row = row_of(life->second, question)) rows.push_back(*std::move(row));
  }
  rank(rows);
  return rows;
}

Result<std::vector<PeakRow>> group_rows(Reader& reader, const PeakQuestion& question,
                                        const std::vector<StoredProcess>& processes) {
  std::map<std::string, GroupSum> sums;
  struct Member {
    GroupSum* sum;
    std::optional<std::int64_t> gone_ms;
  };
  std::unordered_map<std::int64_t, Member> members;
  for (const StoredProcess& process : processes) {
    if (!question.filter.matches(process.info)) continue;
    members[process.id] = {&sums[peak_name(process.info, question.group)], process.gone_ms};
  }
  const Status read = reader.process_steps(question.range, [&](const ProcessStep& step) {
    const auto member = members.find(step.process_id);
    if (member == members.end()) return;
    member->second.sum->add(step.process_id, {step.at_ms, step.until_ms, metric_kib(step.sample->memory, question.by)},
                            member->second.gone_ms == step.until_ms);
  });
  if (!read) return read.error();
  std::vector<PeakRow> rows;
  for (const auto& [name, sum] : sums) {
    const Summary summary = sum.summary();
    if (summary.max) rows.push_back(row_of(name, summary));
  }
  rank(rows);
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

Result<std::vector<PeakRow>> asked_rows(Reader& reader, const PeakQuestion& question) {
  if (question.group == "category" && question.filter.takes_all()) {
    return category_rows(reader, question.range, question.by);
  }
  const Result<std::vector<StoredProcess>> processes = reader.processes(question.range);
  if (!processes) return processes.error();
  return question.group == "process" ? process_rows(reader, question, *processes)
                                     : group_rows(reader, question, *processes);
}

}  // namespace

Result<Peaks> peaks_from_steps(const Context& context, const PeakQuestion& question) {
  Reader& reader = context.reader;
  Peaks peaks;
  const Status machine = add_machine(reader, question.range, peaks);
  if (!machine) return machine.error();
  Result<std::vector<PeakRow>> rows = asked_rows(reader, question);
  if (!rows) return rows.error();
  peaks.rows = *std::move(rows);
  limit_peaks(context, question, peaks);
  if (question.group != "category") {
    Result<std::vector<PeakRow>> categories = category_rows(reader, question.range, Metric::pss);
    if (!categories) return categories.error();
    peaks.categories = *std::move(categories);
  }
  for (std::vector<PeakRow>* part : {&peaks.machine, &peaks.rows, &peaks.categories}) {
    const Status added = add_ticks_before(reader, question.range.from_ms, *part);
    if (!added) return added.error();
  }
  return peaks;
}

}  // namespace memoir::query
