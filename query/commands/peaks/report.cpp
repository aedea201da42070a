#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/text.h"
#include "query/commands/peaks/peaks.h"
#include "query/history/marks.h"
#include "query/history/tier.h"
#include "query/render/layout.h"
#include "query/report/format.h"
#include "query/state/process_columns.h"

namespace memoir::query {

namespace {

void add_peak_columns(Columns<PeakRow>& columns, const char* header, const char* now_header) {
  columns.add({"peak_kib", header, Kind::size}, [](const PeakRow& row) { return row.peak.value_kib; });
  add_reached(columns, [](const PeakRow& row) -> const Peak& { return row.peak; }, {1, 4, 6});
  columns.add({"now_kib", now_header, Kind::size, 2}, &PeakRow::now_kib);
  columns.add(data_column("now_ms", Kind::time), [](const PeakRow& row) { return row.now_kib ? row.now_ms : Value(); });
}

void add_ratio(Columns<PeakRow>& columns) {
  const auto ratio = [](const PeakRow& row) { return peak_ratio(row.peak.value_kib, row.now_kib); };
  columns.add(data_column("ratio", Kind::count), [ratio](const PeakRow& row) {
    const auto found = ratio(row);
    return found ? std::round(*found * 1000) / 1000 : Value();
  });
  columns.add(display_column("RATIO", Kind::count, 3), [ratio](const PeakRow& row) {
    const auto found = ratio(row);
    return found ? fmt::format("{:.2f}", *found) : Value();
  });
}

// Returns whether the process still ran at the end of the range.
bool lives(const PeakRow& row, std::int64_t to_ms) {
  return !row.process->exited_ms || *row.process->exited_ms > to_ms;
}

// Returns the note on exits with small peaks, which are only summed.
std::string summed_note(const PeakQuery& question, const Peaks& peaks, Units units) {
  const ExitSum& unseen = peaks.unseen;
  if (unseen.count == 0) return "All processes that exited in the range are included.";
  const bool ranked = question.group != "process" && question.by == Metric::hwm && !marks_members(question);
  return fmt::format("{} between two ticks, with peaks of up to {} ({}; see memoir exits).",
                     format_count(unseen.count, "process ran", "processes ran"), format_size(unseen.peak_kib, units),
                     ranked ? "counted by name" : "not included");
}

// Returns the note on unsampled processes. It has no number, because the kernel's count of forks includes threads.
std::string unseen_note(const PeakQuery& question, const Peaks& peaks, Units units) {
  if (peaks.has_events) return summed_note(question, peaks, units);
  const bool ended = std::ranges::any_of(
      peaks.rows, [&](const PeakRow& row) { return row.process && !lives(row, question.range.to_ms); });
  return fmt::format("Not included: processes that ran between two ticks (exits are not recorded){}.",
                     ended ? "; the peak of an exited process is a minimum" : "");
}

Columns<PeakRow> process_columns(std::int64_t to_ms) {
  Columns<PeakRow> columns;
  add_process(columns, [](const PeakRow& row) { return &row.process->info; });
  add_peak_columns(columns, "PEAK", "LAST");
  add_ratio(columns);
  columns.add({"alive", "ALIVE", Kind::text, 5}, [to_ms](const PeakRow& row) { return lives(row, to_ms); });
  columns.add(data_column("at_least"),
              [to_ms](const PeakRow& row) { return !lives(row, to_ms) && !row.exit_reported; });
  columns.add(display_column("COMMAND"), &PeakRow::name);
  return columns;
}

Columns<PeakRow> group_columns(const std::string& group, const std::vector<PeakRow>& rows) {
  Columns<PeakRow> columns;
  add_peak_columns(columns, "PEAK", "NOW");
  add_ratio(columns);
  if (std::ranges::any_of(rows, [](const PeakRow& row) { return row.processes.has_value(); }))
    columns.add({"processes", "PROCESSES", Kind::count, 5}, &PeakRow::processes);
  std::string header = group;
  for (char& c : header) c = static_cast<char>(c - 'a' + 'A');
  columns.add({group, header, Kind::text}, &PeakRow::name);
  return columns;
}

Columns<PeakRow> machine_peak_columns() {
  Columns<PeakRow> columns;
  add_peak_columns(columns, "MARK", "NOW");
  columns.add(data_column("metric"), &PeakRow::name);
  columns.add(display_column("OF THE MACHINE"), [](const PeakRow& row) {
    if (row.name == "used") return "highest in use";
    if (row.name == "swap") return "highest swap in use";
    return "lowest MemAvailable";
  });
  return columns;
}

struct OtherRow {
  const Others* others;
  const RankedProcess* holder;
};

Section other_section(const std::vector<Others>& all) {
  using Row = OtherRow;
  Columns<Row> columns{{{"of", "", Kind::text}, [](const Row& row) { return row.others->of; }},
                       {{"at_ms", "", Kind::time}, [](const Row& row) { return row.others->at_ms; }},
                       {{"pss_kib", "", Kind::size}, [](const Row& row) { return row.holder->kib; }}};
  add_process(columns, [](const Row& row) { return &row.holder->process.info; });
  std::vector<Row> rows;
  for (const Others& others : all) {
    for (const RankedProcess& holder : others.largest) rows.push_back({&others, &holder});
  }
  return {"others", "", make_table(columns, rows)};
}

struct GroupRow {
  const Others* others;
  const char* group;
  std::string name;  // empty: all the others
  std::int64_t processes = 0;
  std::int64_t kib = 0;
};

std::int64_t pss_of(const GroupState& group) {
  return group.kib[Metric::pss].value_or(0);
}

// Returns the largest groups, and the others in one row: the rows add up to the total.
std::vector<GroupRow> group_rows(const Others& others, const char* group, const std::vector<GroupState>& states) {
  std::vector<GroupRow> rows;
  for (const GroupState& state : states) {
    if (rows.size() <= kMaxGroups) rows.push_back({&others, group, rows.size() < kMaxGroups ? state.name : ""});
    rows.back().processes += state.processes;
    rows.back().kib += pss_of(state);
  }
  return rows;
}

Section made_by_section(const std::vector<Others>& all) {
  using Row = GroupRow;
  const Columns<Row> columns{
      {{"of", "", Kind::text}, [](const Row& row) { return row.others->of; }},
      {{"at_ms", "", Kind::time}, [](const Row& row) { return row.others->at_ms; }},
      {{"group", "", Kind::text}, &Row::group},
      {{"name", "", Kind::text}, [](const Row& row) { return row.name.empty() ? Value() : row.name; }},
      {{"processes", "", Kind::count}, &Row::processes},
      {{"pss_kib", "", Kind::size}, &Row::kib}};
  std::vector<Row> rows;
  for (const Others& others : all) {
    for (Row& row : group_rows(others, "identity", others.identities)) rows.push_back(std::move(row));
    for (Row& row : group_rows(others, "category", others.categories)) rows.push_back(std::move(row));
  }
  return {"made_by", "", make_table(columns, rows)};
}

// "java (812) 1.2 GiB, postgres (33) 800.0 MiB"
std::string holders_line(const Others& others, Units units) {
  std::string line;
  for (const RankedProcess& holder : others.largest) {
    const ProcessInfo& info = holder.process.info;
    line += fmt::format("{}{} ({}) {}", line.empty() ? "" : ", ", to_printable(info.comm), info.key.pid,
                        format_size(holder.kib, units));
  }
  return line;
}

// "    by identity, 9.8 GiB: app.service worker (1000) 9.2 GiB, … , others (12) 40.0 MiB"
std::vector<std::string> group_lines(const Others& others, Units units) {
  constexpr std::size_t name_columns = 40;
  std::vector<std::string> lines;
  const auto add = [&](const char* group, const std::vector<GroupState>& states) {
    std::string line;
    std::int64_t sum_kib = 0;
    for (const GroupRow& row : group_rows(others, group, states)) {
      sum_kib += row.kib;
      line += fmt::format("{}{} ({}) {}", line.empty() ? "" : ", ",
                          row.name.empty() ? "others" : shorten(to_printable(row.name), name_columns), row.processes,
                          format_size(row.kib, units));
    }
    if (!line.empty()) lines.push_back(fmt::format("    by {}, {}: {}", group, format_size(sum_kib, units), line));
  };
  add("identity", others.identities);
  add("category", others.categories);
  return lines;
}

// Returns whether the largest processes used less than half of the memory, so that they explain little.
bool many_made_it(const Others& others) {
  std::int64_t all_kib = 0;
  for (const GroupState& group : others.categories) all_kib += pss_of(group);
  std::int64_t largest_kib = 0;
  for (const RankedProcess& holder : others.largest) largest_kib += holder.kib;
  return 2 * largest_kib < all_kib;
}

// If `brief`, returns only the more informative line for each peak.
std::vector<std::string> other_lines(const std::vector<Others>& all, const Options& options, bool brief) {
  std::vector<std::string> lines;
  for (const Others& others : all) {
    const std::string line = holders_line(others, options.units);
    if (line.empty()) continue;
    lines.push_back(fmt::format("  {}, {}{}:", to_printable(others.of), format_time(others.at_ms, options.zone),
                                others.means ? " (means of its bucket)" : ""));
    std::vector<std::string> more{"    " + line};
    if (many_made_it(others)) {
      const std::vector<std::string> groups = group_lines(others, options.units);
      more.insert(brief ? more.begin() : more.end(), groups.begin(), groups.end());
    }
    if (brief) more.resize(1);
    lines.insert(lines.end(), more.begin(), more.end());
  }
  if (!lines.empty()) lines.insert(lines.begin(), {"", "Other memory users at each peak (PSS):"});
  return lines;
}

std::string title_of(const PeakQuery& question) {
  return fmt::format("{}{}, {}", question.all_time ? "all-time peaks" : "peaks",
                     question.group == "process" ? "" : " by " + question.group,
                     question.by == Metric::hwm ? "VmHWM" : metric_title(question.by));
}

}  // namespace

void fill_peaks(const Context& context, const PeakQuery& question, const Peaks& peaks,
                const std::vector<Others>& others, Report& report) {
  report.title = title_of(question);
  report.facts = {{"group", "", Kind::text, question.group},
                  {"metric", "", Kind::text, std::string(to_string(question.by))},
                  {"all_time", "", Kind::text, question.all_time}};
  report.rows = make_table(
      question.group == "process" ? process_columns(question.range.to_ms) : group_columns(question.group, peaks.rows),
      peaks.rows);
  mark_sorted(report.rows, "peak_kib");
  // A filter cannot apply to the machine and the categories, so they are shown only without one.
  const bool all = question.filter.takes_all();
  if (all) report.sections = {{"machine", "Machine", make_table(machine_peak_columns(), peaks.machine)}};
  std::vector<PeakRow> categories = peaks.categories;
  const auto room = row_limits_for(context, question, peaks.tier).categories;
  if (room && *room < categories.size()) categories.resize(*room);
  if (all && question.group != "category") {
    report.sections.push_back(
        {"categories", "Categories (PSS)", make_table(group_columns("category", categories), categories)});
    mark_sorted(report.sections.back().table, "peak_kib");
  }
  report.sections.push_back(other_section(others));
  report.sections.push_back(made_by_section(others));
  if (auto line = inexact_line(peaks.exact)) report.warnings.push_back(*std::move(line));
  report.notes = other_lines(others, context.options, lines_to_fit(context) && !context.options.limit);
  Truncation cut = peaks.cut;
  const std::string metric(question.by == Metric::hwm ? "VmHWM" : metric_title(question.by));
  cut.of = metric;
  note_cut(report, cut, context.options.units);
  if (all && categories.size() < peaks.categories.size()) {
    report.notes.push_back(fmt::format("{} of {} categories shown (--group category shows all).", categories.size(),
                                       peaks.categories.size()));
  }
  report.notes.push_back(unseen_note(question, peaks, context.options.units));
  if (peaks.means)
    report.notes.emplace_back("Rollups do not have the maximum of a group's sum: each peak is the highest mean.");
  report_tier(peaks.tier, report);
  if (!question.all_time && !context.when.range) {
    report.notes.push_back(fmt::format(
        "Each peak by {} is the maximum of the sum over its processes in the last 24 hours of recording; use "
        "--from, --last or --day for another range.",
        question.group));
  }
}

}  // namespace memoir::query
