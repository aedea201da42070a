// memoir exits: exited processes, unsampled ones included.

#include "query/history/exits.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "query/args/subject.h"
#include "query/report/format.h"
#include "query/state/command.h"
#include "query/state/filter_values.h"
#include "query/state/limit.h"
#include "query/state/moment.h"
#include "query/state/process_columns.h"

namespace memoir::query {
namespace {

struct GroupRow {
  std::string name;
  ExitSum sum;

  std::int64_t mean_lived_ms() const { return sum.lived_ms / std::max<std::int64_t>(sum.count, 1); }
  std::optional<std::int64_t> peak_kib() const { return sum.peak_kib > 0 ? std::optional(sum.peak_kib) : std::nullopt; }
};

Columns<ExitedProcess> process_columns() {
  using Row = const ExitedProcess&;
  const auto info = [](Row row) { return &row.process.info; };
  const auto held = [](std::int64_t MemoryAtExit::*kib) {
    return [kib](Row row) { return row.record.held ? Value((*row.record.held).*kib) : Value(); };
  };
  Columns<ExitedProcess> columns;
  columns.add({"peak_kib", "PEAK", Kind::size}, [](Row row) { return row.record.peak_kib; });
  columns.add({"ended_ms", "ENDED", Kind::time, 1}, [](Row row) { return row.record.exited_ms; });
  columns.add({"lived_ms", "LIFETIME", Kind::duration, 3}, [](Row row) { return row.record.lived_ms; });
  columns.add(display_column("HOW", Kind::text, 2), [](Row row) { return format_exit_status(row.record.exit_code); });
  columns.add(data_column("status", Kind::count), [](Row row) { return status_of(row.record.exit_code); });
  columns.add(data_column("signal", Kind::count), [](Row row) { return signal_of(row.record.exit_code); });
  columns.add(data_column("anon_kib", Kind::size), held(&MemoryAtExit::anon_kib));
  columns.add(data_column("file_kib", Kind::size), held(&MemoryAtExit::file_kib));
  columns.add(data_column("shmem_kib", Kind::size), held(&MemoryAtExit::shmem_kib));
  columns.add(data_column("swap_kib", Kind::size), held(&MemoryAtExit::swap_kib));
  add_process(columns, info, 4);
  columns.add(data_column("parent_pid", Kind::count), [](Row row) { return row.process.info.parent_pid; });
  columns.add(display_column("USER", Kind::text, 5), [](Row row) { return row.process.info.user; });
  columns.add(display_column("COMMAND"), [](Row row) { return shown_command(row.process.info, '?'); });
  return columns;
}

Columns<GroupRow> group_columns(const std::string& group) {
  Columns<GroupRow> columns;
  columns.add({"peak_kib", "MAX PEAK", Kind::size}, [](const GroupRow& row) { return row.peak_kib(); });
  columns.add({"peak_ms", "ENDED", Kind::time, 1},
              [](const GroupRow& row) { return row.peak_kib() ? row.sum.peak_ms : Value(); });
  columns.add({"processes", "PROCESSES", Kind::count}, [](const GroupRow& row) { return row.sum.count; });
  columns.add({"mean_lived_ms", "MEAN LIFETIME", Kind::duration, 2}, &GroupRow::mean_lived_ms);
  add_group_name(columns, group);
  return columns;
}

// Sums of exits have the name of the program, not its arguments.
std::string key_of(const StoredProcess& process, const std::string& group) {
  return group == "command" ? process.info.comm : group_key(process, group);
}

Result<std::vector<GroupRow>> fold(const Context& context, const Exited& ended, const Filter& filter,
                                   const std::string& group) {
  std::map<std::string, ExitSum> sums;
  TRY(visit_kept(context.reader, ended.kept, filter,
                 [&](const ExitedProcess& of) { sums[key_of(of.process, group)].add(sum_of(of.record)); }));
  for (const auto& [process, sum] : ended.others) sums[key_of(process, group)].add(sum);
  std::vector<GroupRow> rows = transformed(sums, [](const auto& of) { return GroupRow{of.first, of.second}; });
  std::ranges::stable_sort(rows, [](const GroupRow& a, const GroupRow& b) { return a.sum.peak_kib > b.sum.peak_kib; });
  return rows;
}

void describe(const Exited& ended, std::int64_t kept, Units units, Report& report) {
  ExitSum others;
  for (const ExitedOthers& of : ended.others) others.add(of.sum);
  report.totals = {{"ended", "", Kind::count, kept + others.count},
                   {"summed", "", Kind::count, others.count},
                   {"summed_peak_kib", "", Kind::size, others.peak_kib > 0 ? Value(others.peak_kib) : Value()},
                   {"lost_events", "", Kind::count, ended.totals.lost}};
  if (ended.totals.exits == 0 && ended.totals.ticks_reported > 0) report.notes.emplace_back("No process exited.");
  if (others.count == 0) return;
  const std::string largest =
      others.peak_kib > 0 ? fmt::format("; the largest peak was {}", format_size(others.peak_kib, units)) : "";
  report.notes.push_back(fmt::format("{} with small peaks, which ran between ticks, {}{} (--group command).",
                                     format_count(others.count, "other process", "other processes"),
                                     others.count == 1 ? "is only counted" : "are only summed", largest));
}

// Without a filter, names are loaded only for the shown processes.
Status show_processes(Exited& ended, const Filter& filter, const Context& context, Report& report) {
  Truncation cut{.of = "peak", .adds_up = false};
  cut.all = ended.kept.size();
  std::vector<ExitedProcess> rows;
  const auto keep = [&rows](const ExitedProcess& of) { rows.push_back(of); };
  if (filter.takes_all()) {
    cut.shown = limited(context, cut.all);
    if (cut.shown < cut.all) cut.kib = ended.kept[cut.shown].record.peak_kib.value_or(0);
    ended.kept.resize(cut.shown);
  }
  TRY(visit_kept(context.reader, ended.kept, filter, keep));
  describe(ended, static_cast<std::int64_t>(filter.takes_all() ? cut.all : rows.size()), context.options.units, report);
  if (filter.takes_all()) {
    note_cut(report, cut, context.options.units);
  } else {
    limit_rows(
        rows, report, context, [](const ExitedProcess& row) { return row.record.peak_kib; }, cut);
  }
  report.rows = make_table<ExitedProcess>(process_columns(), rows, [](const ExitedProcess& row) {
    return row.record.exit_code == 0 ? Tone::plain : Tone::warning;
  });
  return Done{};
}

Status show_groups(const Exited& ended, const Filter& filter, const std::string& group, const Context& context,
                   Report& report) {
  std::vector<GroupRow> rows = TRY(fold(context, ended, filter, group));
  std::int64_t kept = 0;
  for (const GroupRow& row : rows) kept += row.sum.count;
  for (const ExitedOthers& of : ended.others) kept -= of.sum.count;
  describe(ended, kept, context.options.units, report);
  limit_rows(rows, report, context, &GroupRow::peak_kib, {.of = "peak", .adds_up = false});
  report.rows = make_table(group_columns(group), rows);
  return Done{};
}

Result<Report> show_exits(const Context& context) {
  const std::string group = context.options.group.value_or("process");
  const Recorded recorded{context.file.first_tick_ms, context.file.last_tick_ms};
  const Range range = range_or_last(context.when, recorded, kLastHourMs);
  const Filter filter = TRY(filter_over(context, range));
  Report report = TRY(begin_range_report(context, range));
  report.title = group == "process" ? "exited processes, by peak" : "exited processes by " + group;
  report.facts = {{"group", "", Kind::text, group}};
  Exited ended = TRY(load_exited(context.reader, range, filter));
  if (!report.nothing_recorded) {
    const std::vector<std::string> missing = exit_gaps(ended.totals);
    report.warnings.insert(report.warnings.end(), missing.begin(), missing.end());
  }
  TRY(group == "process" ? show_processes(ended, filter, context, report)
                         : show_groups(ended, filter, group, context, report));
  report.rows.own_units = true;
  mark_sorted(report.rows, "peak_kib");
  note_filter(filter, "in the range", report);
  return report;
}

}  // namespace

Command exits_command() {
  return {
      .name = "exits",
      .summary = "exited processes: status and peak, unsampled ones included",
      .subject = "[SUBJECT]",
      .options = {Option::from, Option::to, Option::last, Option::day, Option::group, Option::filter, Option::limit},
      .groups = {"process", "command", "user", "cgroup", "container", "unit", "slice"},
      .examples = {{"memoir processes --exited --last 10m", "exits in the last ten minutes, by peak"},
                   {"memoir processes --exited --day yesterday --group command",
                    "how many of each program, and the largest"}},
      .run = show_exits,
      .subject_help = subject_help("all processes"),
      .subject_filters = true,
      .full_name = "processes --exited"};
}

}  // namespace memoir::query
