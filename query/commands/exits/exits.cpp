// memoir exits: how processes ended, those included that no tick saw.

#include "query/history/exits.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <sys/wait.h>

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
  EndSum sum;

  std::int64_t mean_lived_ms() const { return sum.lived_ms / std::max<std::int64_t>(sum.count, 1); }
  std::optional<std::int64_t> peak_kib() const { return sum.peak_kib > 0 ? std::optional(sum.peak_kib) : std::nullopt; }
};

std::optional<std::int64_t> status_of(const ProcessEnd& end) {
  return WIFEXITED(end.exit_code) ? std::optional<std::int64_t>(WEXITSTATUS(end.exit_code)) : std::nullopt;
}

std::optional<std::int64_t> signal_of(const ProcessEnd& end) {
  return WIFSIGNALED(end.exit_code) ? std::optional<std::int64_t>(WTERMSIG(end.exit_code)) : std::nullopt;
}

Columns<EndedProcess> process_columns() {
  using Row = const EndedProcess&;
  const auto info = [](Row row) { return &row.process.info; };
  const auto held = [](std::int64_t HeldAtEnd::*kib) {
    return [kib](Row row) { return row.end.held ? Value((*row.end.held).*kib) : Value(); };
  };
  Columns<EndedProcess> columns;
  columns.add({"peak_kib", "PEAK", Kind::size}, [](Row row) { return row.end.peak_kib; });
  columns.add({"ended_ms", "ENDED", Kind::time, 1}, [](Row row) { return row.end.ended_ms; });
  columns.add({"lived_ms", "LIVED", Kind::duration, 3}, [](Row row) { return row.end.lived_ms; });
  columns.add(for_people("HOW", Kind::text, 2), [](Row row) { return how_ended(row.end.exit_code); });
  columns.add(for_machines("status", Kind::count), [](Row row) { return status_of(row.end); });
  columns.add(for_machines("signal", Kind::count), [](Row row) { return signal_of(row.end); });
  columns.add(for_machines("anon_kib", Kind::size), held(&HeldAtEnd::anon_kib));
  columns.add(for_machines("file_kib", Kind::size), held(&HeldAtEnd::file_kib));
  columns.add(for_machines("shmem_kib", Kind::size), held(&HeldAtEnd::shmem_kib));
  columns.add(for_machines("swap_kib", Kind::size), held(&HeldAtEnd::swap_kib));
  add_process(columns, info, 4);
  columns.add(for_machines("parent_pid", Kind::count), [](Row row) { return row.process.info.parent_pid; });
  columns.add(for_people("USER", Kind::text, 5), [](Row row) { return row.process.info.user; });
  columns.add(for_people("COMMAND"), [](Row row) { return shown_command(row.process.info, '?'); });
  return columns;
}

Columns<GroupRow> group_columns(const std::string& group) {
  Columns<GroupRow> columns;
  columns.add({"peak_kib", "PEAK OF ONE", Kind::size}, [](const GroupRow& row) { return row.peak_kib(); });
  columns.add({"peak_ms", "ENDED", Kind::time, 1},
              [](const GroupRow& row) { return row.peak_kib() ? row.sum.peak_ms : Value(); });
  columns.add({"processes", "PROCESSES", Kind::count}, [](const GroupRow& row) { return row.sum.count; });
  columns.add({"mean_lived_ms", "MEAN LIFE", Kind::duration, 2}, &GroupRow::mean_lived_ms);
  add_group_name(columns, group);
  return columns;
}

// The sums know the name of the program, not its arguments.
std::string key_of(const StoredProcess& process, const std::string& group) {
  return group == "command" ? process.info.comm : group_key(process, group);
}

Result<std::vector<GroupRow>> fold(const Context& context, const Ended& ended, const Filter& filter,
                                   const std::string& group) {
  std::map<std::string, EndSum> sums;
  TRY(visit_kept(context.reader, ended.kept, filter,
                 [&](const EndedProcess& of) { sums[key_of(of.process, group)].add(sum_of(of.end)); }));
  for (const auto& [process, sum] : ended.others) sums[key_of(process, group)].add(sum);
  std::vector<GroupRow> rows = each_of(sums, [](const auto& of) { return GroupRow{of.first, of.second}; });
  std::ranges::stable_sort(rows, [](const GroupRow& a, const GroupRow& b) { return a.sum.peak_kib > b.sum.peak_kib; });
  return rows;
}

void describe(const Ended& ended, std::int64_t kept, Units units, Report& report) {
  EndSum others;
  for (const EndedOthers& of : ended.others) others.add(of.sum);
  report.totals = {{"ended", "", Kind::count, kept + others.count},
                   {"summed", "", Kind::count, others.count},
                   {"summed_peak_kib", "", Kind::size, others.peak_kib > 0 ? Value(others.peak_kib) : Value()},
                   {"lost_events", "", Kind::count, ended.told.lost}};
  if (ended.told.ends == 0 && ended.told.ticks_told > 0) report.notes.emplace_back("No process ended.");
  if (others.count == 0) return;
  const std::string largest =
      others.peak_kib > 0 ? fmt::format("; the largest of them had {}", print_size(others.peak_kib, units)) : "";
  report.notes.push_back(fmt::format("{} that no tick saw and that had little memory {}{} (--group command).",
                                     print_count(others.count, "other process", "other processes"),
                                     others.count == 1 ? "is only counted" : "are only summed", largest));
}

// Where all are taken, who they were is asked of those that are shown.
Status show_processes(Ended& ended, const Filter& filter, const Context& context, Report& report) {
  Cut cut{.of = "peak", .adds_up = false};
  cut.all = ended.kept.size();
  std::vector<EndedProcess> rows;
  const auto keep = [&rows](const EndedProcess& of) { rows.push_back(of); };
  if (filter.takes_all()) {
    cut.shown = limited(context, cut.all);
    if (cut.shown < cut.all) cut.kib = ended.kept[cut.shown].end.peak_kib.value_or(0);
    ended.kept.resize(cut.shown);
  }
  TRY(visit_kept(context.reader, ended.kept, filter, keep));
  describe(ended, static_cast<std::int64_t>(filter.takes_all() ? cut.all : rows.size()), context.options.units, report);
  if (filter.takes_all()) {
    note_cut(report, cut, context.options.units);
  } else {
    limit_rows(
        rows, report, context, [](const EndedProcess& row) { return row.end.peak_kib; }, cut);
  }
  report.rows = make_table<EndedProcess>(process_columns(), rows, [](const EndedProcess& row) {
    return row.end.exit_code == 0 ? Tone::plain : Tone::warning;
  });
  return Done{};
}

Status show_groups(const Ended& ended, const Filter& filter, const std::string& group, const Context& context,
                   Report& report) {
  std::vector<GroupRow> rows = TRY(fold(context, ended, filter, group));
  std::int64_t kept = 0;
  for (const GroupRow& row : rows) kept += row.sum.count;
  for (const EndedOthers& of : ended.others) kept -= of.sum.count;
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
  report.title =
      group == "process" ? "processes that ended, the largest peak first" : "processes that ended, by " + group;
  report.facts = {{"group", "", Kind::text, group}};
  Ended ended = TRY(load_ended(context.reader, range, filter));
  if (!report.nothing_recorded) {
    const std::vector<std::string> missing = ends_missing(ended.told);
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
      .summary = "how processes ended and what they had at most, those included that no tick saw",
      .options = {Option::from, Option::to, Option::last, Option::day, Option::group, Option::filter, Option::limit},
      .groups = {"process", "command", "user", "cgroup", "container", "unit", "slice"},
      .examples = {{"memoir exits --last 10m", "who ended in the last ten minutes, the largest peak first"},
                   {"memoir exits --day yesterday --group command", "how many of each program, and the largest"}},
      .run = show_exits};
}

}  // namespace memoir::query
