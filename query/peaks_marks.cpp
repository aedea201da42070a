#include <algorithm>
#include <unordered_map>

#include "query/peaks.h"

namespace memoir::query {

namespace {

std::vector<Peak> ranked(const std::vector<HighWater>& marks, MarkSubject subject, std::string_view metric) {
  std::vector<Peak> peaks;
  for (const HighWater& mark : marks) {
    if (mark.subject == subject && mark.metric == metric) {
      peaks.push_back({mark.subject_id, mark.value_kib, mark.at_ms, mark.before_ms});
    }
  }
  return rank_peaks(peaks, metric == "available" ? Extreme::lowest : Extreme::highest);
}

std::optional<std::int64_t> machine_now(const MachineMemory& memory, std::string_view metric) {
  if (metric == "used") return used_kib(memory);
  if (metric == "swap") return swap_used_kib(memory);
  return memory.get(MachineField::mem_available);
}

void add_machine(const std::vector<HighWater>& marks, const Snapshot* now, Peaks& peaks) {
  for (const char* metric : {"used", "available", "swap"}) {
    const std::vector<Peak> found = ranked(marks, MarkSubject::machine, metric);
    if (found.empty()) continue;
    PeakRow row{metric, std::nullopt, found.front(), std::nullopt, 0};
    if (now != nullptr) {
      row.now_kib = machine_now(now->machine.memory, metric);
      row.now_ms = now->tick.begin.wall_ms;
    }
    peaks.machine.push_back(row);
  }
}

std::vector<PeakRow> category_rows(const std::vector<HighWater>& marks, Metric by, const Snapshot* now) {
  std::unordered_map<std::int64_t, std::string> names;
  for (const HighWater& mark : marks) {
    if (mark.subject == MarkSubject::category) names[mark.subject_id] = mark.name;
  }
  std::vector<PeakRow> rows;
  for (const Peak& peak : ranked(marks, MarkSubject::category, to_string(by))) {
    PeakRow row{names[peak.subject], std::nullopt, peak, std::nullopt, 0};
    if (now != nullptr) {
      // A category without a process is not in the snapshot, and holds nothing.
      const auto sample = std::ranges::find(now->categories, row.name, &CategorySample::category);
      row.now_kib = sample == now->categories.end() ? 0 : metric_kib(*sample, by);
      row.now_ms = now->tick.begin.wall_ms;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// What is resident beside a mark; for another metric the metric itself.
std::optional<std::int64_t> held_kib(const ProcessMemory& memory, Metric by) {
  return metric_kib(memory, by == Metric::hwm ? Metric::rss : by);
}

// A process that is gone is taken at its last tick.
Status add_last_sight(PeakRow& row, const PeakQuestion& question, Reader& reader) {
  const auto tick = reader.tick_at(std::min(row.process->last_ms, question.range.to_ms));
  if (!tick) return tick.error();
  if (!*tick) return Done{};
  const auto state = reader.process_at((*tick)->id, row.process->id);
  if (!state) return state.error();
  if (!*state) return Done{};
  row.now_kib = held_kib((*state)->sample.memory, question.by);
  row.now_ms = (*tick)->begin.wall_ms;
  return Done{};
}

Status add_processes(const Context& context, const PeakQuestion& question, const std::vector<HighWater>& marks,
                     Peaks& peaks) {
  const Result<std::vector<StoredProcess>> processes = context.reader.processes(question.range);
  if (!processes) return processes.error();
  std::unordered_map<std::int64_t, const StoredProcess*> by_id;
  for (const StoredProcess& process : *processes) by_id[process.id] = &process;
  for (const Peak& peak : ranked(marks, MarkSubject::process, to_string(question.by))) {
    const auto process = by_id.find(peak.subject);
    if (process == by_id.end() || !question.filter.matches(process->second->info)) continue;
    peaks.rows.push_back(
        {peak_name(process->second->info, question.group), *process->second, peak, std::nullopt, peak.at_ms});
  }
  limit_peaks(context, question, peaks);
  for (PeakRow& row : peaks.rows) {
    const Status added = add_last_sight(row, question, context.reader);
    if (!added) return added.error();
  }
  return Done{};
}

}  // namespace

Result<Peaks> peaks_from_marks(const Context& context, const PeakQuestion& question, Snapshots& snapshots) {
  const Result<std::vector<HighWater>> marks =
      context.reader.high_water(question.all_time ? std::nullopt : std::optional(question.range));
  if (!marks) return marks.error();
  const Result<const Snapshot*> now = snapshots.at(question.range.to_ms);
  if (!now) return now.error();
  Peaks peaks;
  add_machine(*marks, *now, peaks);
  if (question.group == "category") {
    peaks.rows = category_rows(*marks, question.by, *now);
    limit_peaks(context, question, peaks);
    return peaks;
  }
  peaks.categories = category_rows(*marks, Metric::pss, *now);
  const Status added = add_processes(context, question, *marks, peaks);
  if (!added) return added.error();
  return peaks;
}

}  // namespace memoir::query
