// memoir incidents: what happened to memory, one line for each incident.

#include "query/incidents/incidents.h"

#include <algorithm>
#include <fmt/format.h>

#include "query/args/subject.h"
#include "query/args/times.h"
#include "query/state/limit.h"
#include "query/state/moment.h"

namespace memoir::query {
namespace {

constexpr std::int64_t kListedMs = 30 * kDayMs;

Columns<IncidentEntry> incident_columns() {
  using Row = const IncidentEntry&;
  Columns<IncidentEntry> columns{{{"number", "N", Kind::count}, &IncidentEntry::number},
                                 {{"at_ms", "AT", Kind::time}, &IncidentEntry::at_ms},
                                 {data_column("from_ms", Kind::time), &IncidentEntry::from_ms},
                                 {data_column("to_ms", Kind::time), &IncidentEntry::to_ms}};
  columns.add({"kind", "KIND"}, [](Row row) { return to_string(row.kind); });
  columns.add({"place", "WHERE", Kind::text, 2}, &IncidentEntry::place);
  columns.add(data_column("cgroup"), [](Row row) { return row.cgroup.empty() ? Value() : Value(row.cgroup); });
  columns.add(data_column("kills", Kind::count), [](Row row) { return row.is_kill() ? Value(row.kills) : Value(); });
  columns.add(data_column("usage_kib", Kind::size), &IncidentEntry::usage_kib);
  columns.add(data_column("limit_kib", Kind::size), &IncidentEntry::limit_kib);
  columns.add(data_column("victim_pid", Kind::count),
              [](Row row) { return row.shown_victim() ? Value(std::int64_t{row.shown_victim()->pid}) : Value(); });
  columns.add(data_column("victim"),
              [](Row row) { return row.shown_victim() ? Value(row.shown_victim()->comm) : Value(); });
  columns.add(data_column("command"), [](Row row) { return command_of(row); });
  columns.add({"text", "WHAT", Kind::sentence, 0, Shown::everywhere, true}, &IncidentEntry::text);
  return columns;
}

Tone tone_of(const IncidentEntry& entry) {
  return entry.is_kill() ? Tone::problem : entry.kind == IncidentKind::growth ? Tone::plain : Tone::warning;
}

Result<Report> list_incidents(const Context& context) {
  const Recorded recorded{context.file.first_tick_ms, context.file.last_tick_ms};
  const Columns<IncidentEntry> columns = incident_columns();
  if (context.file.ticks == 0) return nothing_recorded(context, columns);
  Range range = range_or_last(context.when, recorded, kListedMs);
  if (!context.when.range) range.from_ms = std::max(range.from_ms, recorded.first_ms);
  Report report = TRY(begin_range_report(context, range));
  report.title = "incidents, the latest first";
  std::vector<IncidentEntry> incidents = TRY(load_incidents(context, range));
  if (!context.options.subjects.empty())
    incidents = TRY(incidents_of(context, std::move(incidents), context.options.subjects.front()));
  std::erase_if(incidents, [&](const IncidentEntry& entry) {
    const auto& kinds = context.options.kinds;
    return !kinds.empty() && std::ranges::find(kinds, to_string(entry.kind)) == kinds.end();
  });
  if (!incidents.empty()) {
    report.nothing_recorded = false;  // kills are kept longer than ticks
    report.warnings.clear();
  }
  const std::size_t all = incidents.size();
  const std::size_t shown = limited(context, all);
  incidents.resize(shown);
  add_row_totals(report, all, shown);
  if (shown < all)
    note_left_out(report,
                  fmt::format("{} of {} incidents; the others were earlier (--limit 0 shows all).", shown, all));
  report.rows = make_table<IncidentEntry>(columns, incidents, tone_of);
  if (!incidents.empty()) {
    report.notes.push_back(
        fmt::format("memoir incident N shows one of them: memoir incident {}", incidents.front().number));
  } else if (!report.nothing_recorded) {
    report.notes.emplace_back("No incident is recorded in this range.");
  }
  return report;
}

}  // namespace

Command incidents_command() {
  return {.name = "incidents",
          .summary = "what happened: OOM kills, pressure, full limits",
          .subject = "[SUBJECT]",
          .options = {Option::from, Option::to, Option::last, Option::day, Option::kind, Option::limit},
          .examples = {{"memoir incidents --last 7d", "what went wrong with memory in the last week"},
                       {"memoir incidents nginx --kind oom-kill", "each OOM kill of a service"}},
          .run = list_incidents,
          .subject_help = subject_help("all incidents"),
          .kinds = incident_kinds(),
          .subject_words = {std::string(kCategoryNames)}};
}

}  // namespace memoir::query
